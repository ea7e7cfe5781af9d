"""What modes weigh: their Laplace weights, and the mixture that they make."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from allmodes.arrays import logsumexp
from allmodes.holding import of_active_set
from allmodes.modes import laplace
from allmodes.nva.mixture.covariances import Factors, Full
from allmodes.nva.mixture.families.gaussian import GaussianComponents
from allmodes.nva.mixture.mixture import Mixture
from allmodes.objective.frame import Frame
from allmodes.search.archive import precision
from allmodes.search.context import Context
from allmodes.search.curvature import LowRank

Array = NDArray[np.float64]


def weights_of(context: Context, order: NDArray[np.intp], temperature: float) -> Array:
    """Laplace weights (J,) of modes `order` at the temperature, each for the part inside the bounds.

    They are those of a measure in the user's coordinates, whatever scale these are searched on.
    """
    if not len(order):
        return np.zeros(0)
    archive, real = context.archive, np.flatnonzero(context.box.is_real)  # levels have no width: values alone count
    shape = len(order), len(real)
    eigenvalues, is_free, slopes = np.zeros(shape), np.ones(shape, bool), np.zeros(shape)
    more = np.zeros(len(order))
    below, above = archive.means - context.box.lower_unit, context.box.upper_unit - archive.means
    for row, j in enumerate(order):
        found = archive.records[j]
        if found.held is not None:
            sizes, along = of_active_set(found)
            eigenvalues[row, : len(sizes)], is_free[row, len(sizes) :] = sizes, False
            slopes[row, len(sizes) : len(sizes) + len(along)] = along[: len(real) - len(sizes)]
            continue
        active, hessian = found.active[real], found.hessian[np.ix_(real, real)]
        free, held = np.flatnonzero(~active), np.flatnonzero(active)
        of_free = hessian[np.ix_(free, free)]
        eigenvalues[row, free] = np.linalg.eigvalsh(of_free)
        eigenvalues[row, held] = hessian[held, held]
        is_free[row], slopes[row] = ~active, found.gradient[real]
        sides = below[j, real[free]], above[j, real[free]]
        more[row] = laplace.log_inside(of_free, *sides, temperature)
    logs = laplace.log_weights(archive.values[order], eigenvalues, temperature, is_free=is_free, slopes=slopes)
    if context.box.is_log is not None:  # a measure of x, not of its logarithm
        more += np.log(context.box.slopes(context.box.to_user(archive.means[order]))).sum(axis=1)
    if context.group is not None:  # a mode stands for its images
        more += np.log([len(archive.orbit(int(j))) for j in order])
    logs += more
    return np.exp(logs - logsumexp(logs[np.isfinite(logs)]))


def mixture_of(
    context: Context, frame: Frame, order: NDArray[np.intp], weights: Array, temperature: float
) -> Mixture | None:
    """Laplace's approximation of exp(l / temperature) as a Gaussian mixture in the user's coordinates."""
    is_held = any(record.held for record in context.archive.records)
    if not len(order) or context.box.d < context.box.D or context.box.levels or is_held:
        return None
    if any(isinstance(context.archive.records[j].hessian, LowRank) for j in order):  # estimates of them make no mixture
        return None
    archive, means = context.archive, context.box.to_user(context.archive.means[order])
    scale = np.broadcast_to(context.box.slopes(means), means.shape)[:, :, None]
    precisions = (
        np.stack([precision(np.asarray(archive.records[j].hessian), archive.records[j].active) for j in order])
        / temperature
    )
    factors = Full().start(np.asarray(np.linalg.inv(precisions), dtype=np.float64))
    in_user = Factors(factors.C / scale, factors.A * scale)
    log_weights = np.log(np.maximum(weights, 1e-300))
    return Mixture(log_weights - log_weights[-1], GaussianComponents(means, in_user))
