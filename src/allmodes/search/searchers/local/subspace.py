"""Quadratic models in many dimensions, learnt from the last few steps in the space that these span."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from allmodes.search.curvature import LowRank
from allmodes.search.searchers.local import models
from allmodes.search.searchers.local.models import Model
from allmodes.search.searchers.local.table import Array, Mask
from allmodes.search.tolerances import TINY

_ALIKE = 1e-9  # share of a curvature: one that differs by less from the base was not learnt
_FLATTEST = 1e-8  # of the largest curvature: the least curvature that coordinates are scaled by


class Subspace(NamedTuple):
    """Models of n searches with r eigenvectors each; along all other directions the curvature is -base.

    Attributes:
        model: with eigenvalues (n, r) and vectors (n, d, r), one of which is the remainder of the slope.
        base: (n,), positive.
    """

    model: Model
    base: Array

    def bend(self, s: Array) -> Array:
        """H s for steps (n, d)."""
        vectors, along = self.model.vectors, (s[:, None] @ self.model.vectors)[:, 0]
        rest = s - _combined(vectors, along)
        return _combined(vectors, self.model.eigenvalues * along) - self.base[:, None] * rest

    def sizes(self) -> tuple[Array, Array]:
        """Absolute curvatures, (n, r) and (n,), none of them zero."""
        least = _FLATTEST * np.maximum(np.abs(self.model.eigenvalues).max(axis=1), self.base) + TINY
        return np.maximum(np.abs(self.model.eigenvalues), least[:, None]), np.maximum(self.base, least)

    def scaled(self, vectors: Array, power: float) -> Array:
        """|H|^power times vectors (n, k, d); 1/2 leads to coordinates in which the model is round, -1/2 back."""
        sizes, base = self.sizes()
        axes = self.model.vectors
        inside = (vectors @ axes) * (sizes**power - base[:, None] ** power)[:, None]
        return np.asarray(base[:, None, None] ** power * vectors + inside @ axes.mT)

    def of(self, i: int) -> Subspace:
        """The model of one search."""
        return Subspace(Model(*(part[i : i + 1] for part in self.model)), self.base[i : i + 1])


def learnt(g: Array, steps: Array, changes: Array, base: Array, free: Mask) -> Subspace:
    """Models at slopes (n, d) from steps and changes of slope (n, m, d), oldest first, in the free coordinates (n, d).

    The updates are those of dense models, made in the space of the last steps; pairs that are all zero are skipped.
    """
    m = steps.shape[1]
    steps, changes, g = steps * free[:, None], changes * free[:, None], np.where(free, g, 0.0)
    Q, R = np.linalg.qr(np.concatenate([steps, changes], axis=1).mT)
    H = -base[:, None, None] * np.eye(Q.shape[2])
    for i in range(m):
        is_known = np.asarray(steps[:, i].any(axis=1))
        if is_known.any():
            H = np.where(is_known[:, None, None], models.updated(H, R[:, :, i], R[:, :, m + i]), H)
    eigenvalues, inner = np.linalg.eigh(H)
    vectors = Q @ inner
    rotated = (g[:, None] @ vectors)[:, 0]
    rest = g - _combined(vectors, rotated)
    length = np.sqrt(np.einsum("nd,nd->n", rest, rest))
    length = np.where(length > 1e-12 * np.abs(g).max(axis=1), length, 0.0)  # less is rounding
    unit = np.where(length[:, None] > 0.0, rest / np.maximum(length, TINY)[:, None], 0.0)
    eigenvalues = np.concatenate([eigenvalues, -base[:, None]], axis=1)
    vectors = np.concatenate([vectors, unit[..., None]], axis=2)
    rotated = np.concatenate([rotated, length[:, None]], axis=1)
    order = eigenvalues.argsort(axis=1, kind="stable")
    eigenvalues, rotated = (np.take_along_axis(part, order, axis=1) for part in (eigenvalues, rotated))
    vectors = np.take_along_axis(vectors, order[:, None], axis=2)
    return Subspace(Model(g, eigenvalues, vectors, rotated), base)


def estimate(space: Subspace, level: float) -> LowRank:
    """The Hessian of one search by its model, with curvature -level where the model has learnt nothing."""
    vectors, eigenvalues = space.model.vectors[0], space.model.eigenvalues[0]
    is_learnt = np.abs(eigenvalues + space.base[0]) > _ALIKE * space.base[0]
    return LowRank(-level, eigenvalues[is_learnt], np.ascontiguousarray(vectors[:, is_learnt].T))


def _combined(vectors: Array, shares: Array) -> Array:
    """Sums (n, d) of vectors (n, d, r) weighted by shares (n, r)."""
    return np.asarray((vectors @ shares[..., None])[..., 0])
