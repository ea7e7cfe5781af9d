"""Gauss-Newton models: how far steps by them may go, and how the part that they leave out is learnt."""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np

from allmodes.search.context import Context
from allmodes.search.geometry import lengths
from allmodes.search.searchers.local import models
from allmodes.search.searchers.local.table import Array, Mask, Rows
from allmodes.search.searchers.local.tuning import TUNING
from allmodes.search.tolerances import EPSILON


class ResidualTable(Protocol):
    """What is learnt from residuals: see `learning.TrustRegionTable`."""

    value: Array
    hessian: Array
    gauss_newton: Array
    second: Array
    missed: Array
    last_step: Array
    is_measured: Mask
    was_measured: Mask


class Pace(NamedTuple):
    """By how much trust regions grow and shrink."""

    growth: float
    shrinkage: float


USUAL = Pace(TUNING.growth, TUNING.shrinkage)


def pace(context: Context) -> Pace:
    """The pace of residual models, or of others."""
    if context.has_model:
        return Pace(TUNING.growth_of_fits, TUNING.shrinkage_of_fits)
    return USUAL


def first_radius(context: Context) -> float:
    """The longest first step: a Gauss-Newton model holds over longer ones than a guess does."""
    share = TUNING.first_radius_of_fits if context.has_model else TUNING.first_radius
    return float(share * np.sqrt(context.box.d))


def slope_errors(value: Array, eigenvalues: Array) -> Array:
    """How far gradients J^T r are off, (n,), where J is made of differences that are off by a share of 1e-8.

    The residuals are as long as sqrt(2 |value|), and no column of J is longer than the root of the largest eigenvalue.
    """
    return np.sqrt(2.0 * EPSILON * np.abs(value) * np.abs(eigenvalues).max(axis=1))


def slowest(context: Context) -> float:
    """Steps that shrink by more are not lengthened: with residuals hundreds of them may creep along a narrow valley."""
    return 1.0 - TUNING.quadratic ** (2 if context.has_model else 1)


def learn_second(context: Context, table: ResidualTable, rows: Rows, s: Array, change: Array, model: Array) -> None:
    """Residuals where searches are after steps s (n, d), with their Gauss-Newton models there, (n, d, d).

    What these leave out is learnt from steps, and put into the model after short ones over which it would have told the
    change of slope better [Dennis, Gay and Welsch, An adaptive nonlinear least-squares algorithm, 1981]: over long ones
    it changes by as much as itself. What was measured nearby is kept. Where residuals vanish nothing is left out.
    """
    old, second = table.gauss_newton[rows], table.second[rows]
    bend = np.einsum("nd,nd->n", s, change)
    without, extra = (np.einsum("nd,nde,ne->n", s, each, s) for each in (old, second))
    is_wanted = np.abs(without + extra - bend) < np.abs(without - bend)
    is_wanted &= lengths(s) < TUNING.first_radius * np.sqrt(context.box.d)
    is_wanted |= table.was_measured[rows]
    learnt = models.updated_part(second, s, change - (model @ s[..., None])[..., 0], change)
    second = np.where(table.was_measured[rows][:, None, None], second, learnt)
    is_exact = np.abs(table.value[rows]) <= context.tolerances.tie
    second[is_exact] = 0.0
    table.gauss_newton[rows], table.second[rows] = model, second
    table.hessian[rows] = model + np.where(is_wanted[:, None, None], second, 0.0)
    table.is_measured[rows] |= is_exact


def is_kept(table: ResidualTable, rows: Rows, length: Array) -> Mask:
    """Where the curvature that was measured still holds after short steps of this length (n,).

    As long as it predicts the slope and steps shrink. In a bent valley it does not: what was measured at its entrance
    holds searches back that would follow it.
    """
    is_shrinking = length <= TUNING.shrinking_of_fits * table.last_step[rows]
    return np.asarray(table.was_measured[rows] & is_shrinking & (table.missed[rows] <= TUNING.agreement))


def is_convincing(table: ResidualTable, rows: Rows) -> Mask:
    """Which models need no measurement where a search arrives, (n,).

    Steps by a model that leaves out a part shrink by the share of that part in the curvature, along the direction in
    which it is largest: small shares say that the optimum is one. Along a level valley a model of residuals is wrong by
    what makes it level; and where the Gauss-Newton model is level, no step along it showed the rest. One that is not
    finite, as where a difference reaches into a region without values, convinces nobody.
    """
    models = np.stack([table.hessian[rows], table.gauss_newton[rows]])
    models = np.where(np.isfinite(models).all(axis=(2, 3), keepdims=True), models, 0.0)
    eigenvalues = np.abs(np.linalg.eigvalsh(models))
    is_round = (eigenvalues.min(axis=2) > TUNING.weakest_of_fits * eigenvalues.max(axis=2)).all(axis=0)
    return np.asarray(is_round & (table.missed[rows] <= TUNING.convincing_of_fits))
