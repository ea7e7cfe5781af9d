"""The density of a mixture of many components that lie apart: pairs of points and components that are far are left out.

What is left out of a sum is below the rounding of the sum: the numbers are those of all pairs.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from allmodes.nva.mixture.covariances import Factors
from allmodes.nva.mixture.families.gaussian import Gaussian, GaussianComponents
from allmodes.objective import Evaluation, Needs

FEWEST = 64  # components: fewer are summed sooner than sorted
_LEAST = (
    float(np.log(np.finfo(np.float64).eps)) - 4.0
)  # log of a share of a sum that is below its rounding, with a margin
_SPARSE = 0.2  # of all pairs: if more are near, sorting them costs more than it saves

Floats = NDArray[np.float64]
Places = NDArray[np.intp]


class Pairs(NamedTuple):
    """Components and points near each other, in the order of the points; `first` is where each point begins."""

    component: Places
    point: Places
    first: Places


def near_pairs(family: Gaussian, components: GaussianComponents, points: Floats, log_pi: Floats) -> Pairs | None:
    """Pairs whose part in q is not below rounding, given log pi_k (K,); None if they are no small share of all.

    pi_k q_k(x) is at most its peak times exp(-|x - mu_k|^2 / 2 lambda_k), with lambda_k the largest variance, and q(x)
    is at least the part of the component whose mean is nearest.
    """
    mu, structure = np.asarray(components.mu), family.structure
    (K, d), N = mu.shape, len(points)
    if K < FEWEST:
        return None
    peaks = log_pi + structure.log_det_root_precision(components.factors, d)
    peaks = np.broadcast_to(peaks - 0.5 * d * np.log(2.0 * np.pi), (K,))
    nearest = np.asarray(cKDTree(mu).query(points)[1], np.intp)
    least = float(_log_parts(family, components, peaks, nearest, points)[0].min())
    if not np.isfinite(least):
        return None
    variances = np.linalg.eigvalsh(structure.matrices(components.factors, d))[..., -1]
    radii = np.sqrt(np.maximum(2.0 * variances * (peaks - least - _LEAST + np.log(K)), 0.0))
    tree = cKDTree(points)
    counts = tree.query_ball_point(mu, radii, return_length=True)
    if counts.sum() > _SPARSE * K * N:
        return None
    point = np.concatenate([np.asarray(each, np.intp) for each in tree.query_ball_point(mu, radii)])
    component = np.repeat(np.arange(K), counts)
    order = np.argsort(point, kind="stable")
    component, point = component[order], point[order]
    return Pairs(component, point, np.searchsorted(point, np.arange(N)))


def log_density_of_pairs(
    family: Gaussian, components: GaussianComponents, points: Floats, log_pi: Floats, pairs: Pairs, needs: Needs
) -> Evaluation:
    """log q at points (N, d), with its gradient and Hessian as needed, from the pairs that count.

    Paper: prop:grad_hess_logmixture
    """
    structure, d = family.structure, points.shape[1]
    component, point, first = pairs
    peaks = log_pi + structure.log_det_root_precision(components.factors, d) - 0.5 * d * np.log(2.0 * np.pi)
    log_parts, z, factors = _log_parts(
        family, components, np.broadcast_to(peaks, log_pi.shape), component, points[point]
    )
    top = np.maximum.reduceat(log_parts, first)
    r = np.exp(log_parts - top[point])
    total = np.add.reduceat(r, first)
    log_q = top + np.log(total)
    if not needs:
        return Evaluation(log_q)
    r /= total[point]
    pull = structure.lift(factors, z[:, None])[:, 0]  # -s
    mean_pull = np.add.reduceat(r[:, None] * pull, first)
    if "hessian" not in needs:
        return Evaluation(log_q, -mean_pull)
    centred = (np.sqrt(r)[:, None] * (pull - mean_pull[point]))[:, None]
    spread = structure.gram(centred, centred)
    S = structure.precision(components.factors)[component]
    weights = r.reshape(-1, *(1,) * (spread.ndim - 1))
    return Evaluation(log_q, -mean_pull, np.add.reduceat(spread - weights * S.reshape(spread.shape), first))


def _log_parts(
    family: Gaussian, components: GaussianComponents, peaks: Floats, component: Places, points: Floats
) -> tuple[Floats, Floats, Factors]:
    """log pi_k q_k(x) of pairs (P,), the whitened residuals (P, d), and the factors of each pair's component."""
    factors = Factors(*(each[component] for each in components.factors))
    z = family.structure.whiten(factors, (points - components.mu[component])[:, None])[:, 0]
    return peaks[component] - 0.5 * np.einsum("pd,pd->p", z, z), z, factors
