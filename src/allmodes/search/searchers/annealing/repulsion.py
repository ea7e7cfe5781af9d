"""Archived modes as frozen components of q, so that -omega log q repels live components from what is known.

The mixture that is climbed against is q = (1 - a) q_live + a q_known, where q_known has one Gaussian for every mode,
N(m_j, omega A_j^-1), which is where a component that settled on it would be at this temperature. A frozen component
counts as w live ones, a = w J / (w J + K), and does not move.

Paper: eq:potential_decomposition, eq:convergence_sigma_one_gaussian
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from allmodes.arrays import logsumexp_and_shares
from allmodes.nva.mixture import Mixture
from allmodes.nva.mixture.covariances import Full
from allmodes.nva.mixture.families import Family, Gaussian
from allmodes.nva.mixture.families.gaussian import GaussianComponents
from allmodes.nva.mixture.mixture import log_density
from allmodes.objective import Evaluation, Needs
from allmodes.search.archive import Archive
from allmodes.search.searchers.annealing.tuning import TUNING
from allmodes.search.tolerances import TINY

Array = NDArray[np.float64]

_FULL = Full()


def log_share(family: Family, live: Mixture, archive: Archive, omega: float, points: Array, needs: Needs) -> Evaluation:
    """log q_live - log q at points (N, d), with derivatives as needed.

    Added to the objective as a log-prior it turns f = l - omega log q_live into f = l - omega log q. With the log-odds
    u = log (a q_known) - log ((1 - a) q_live) it is -log (1 - a) - log (1 + e^u), whose slope in u is minus the share r
    of q that is known.

    Args:
        family, live: the mixture that moves.
        archive: what is known; at least one mode.
        omega: the temperature, in units of the function.
    """
    J, K, omega = len(archive), len(live.log_ratios), max(omega, TINY)
    known = _log_known(archive, omega, points, needs)
    u = known.plus(
        -1.0, log_density(*_with_full_matrices(family, live, needs), points, needs, keeps_components=False).log_q
    )
    odds = u.value + math.log(TUNING.frozen_weight * J / K)
    log_rest = np.logaddexp(0.0, odds)
    r = np.exp(odds - log_rest)[:, None]
    gradient = None if u.gradient is None else -r * u.gradient
    hessian = None
    if u.hessian is not None:
        outer = u.gradient[:, :, None] * u.gradient[:, None, :]
        hessian = -r[..., None] * (u.hessian + (1.0 - r[..., None]) * outer)
    return Evaluation(math.log1p(TUNING.frozen_weight * J / K) - log_rest, gradient, hessian)


def _with_full_matrices(family: Family, live: Mixture, needs: Needs) -> tuple[Family, Mixture]:
    """The same mixture with Hessians as matrices, whatever the structure of its covariances."""
    if "hessian" not in needs or not isinstance(family, Gaussian) or isinstance(family.structure, Full):
        return family, live
    factors = _FULL.start(np.asarray(family.covariances(live.components)))
    return Gaussian(), Mixture(live.log_ratios, GaussianComponents(live.components.mu, factors))


def _log_known(archive: Archive, omega: float, points: Array, needs: Needs) -> Evaluation:
    """log q_known, with the shortest distances in periodic coordinates.

    Paper: prop:grad_hess_logmixture
    """
    J, d = archive.means.shape
    factors = archive.factors
    y = _FULL.whiten(factors, archive.box.difference(points[None], archive.means[:, None]))  # (J, N, d)
    log_peaks = _FULL.log_det_root_precision(factors, d) - 0.5 * d * math.log(2.0 * math.pi * omega) - math.log(J)
    log_q, r = logsumexp_and_shares(log_peaks[:, None] - 0.5 / omega * np.einsum("jnd,jnd->jn", y, y))
    if not needs:
        return Evaluation(log_q)
    pulls = _FULL.lift(factors, y) / omega  # minus the gradients of log N_j
    pull = np.einsum("jn,jnd->nd", r, pulls)
    if "hessian" not in needs:
        return Evaluation(log_q, -pull)
    centred = (np.sqrt(r)[..., None] * (pulls - pull)).swapaxes(0, 1)
    S = _FULL.precision(factors) / omega
    return Evaluation(log_q, -pull, _FULL.gram(centred, centred) - np.einsum("jn,jde->nde", r, S))
