"""The posterior of a mixture of Gaussians."""

from __future__ import annotations

import numpy as np

from allmodes.arrays import logsumexp_and_shares
from allmodes.problems.applications.application import Floats, minimised
from allmodes.problems.problem import Problem

# Velocities of 82 galaxies in the Corona Borealis region, km/s.
_VELOCITIES = [
    9172, 9350, 9483, 9558, 9775, 10227, 10406, 16084, 16170, 18419, 18552, 18600, 18927, 19052, 19070, 19330, 19343,
    19349, 19440, 19473, 19529, 19541, 19547, 19663, 19846, 19856, 19863, 19914, 19918, 19973, 19989, 20166, 20175,
    20179, 20196, 20215, 20221, 20415, 20629, 20795, 20821, 20846, 20875, 20986, 21137, 21492, 21701, 21814, 21921,
    21960, 22185, 22209, 22242, 22249, 22314, 22374, 22495, 22746, 22747, 22888, 22914, 23206, 23241, 23263, 23484,
    23538, 23542, 23666, 23706, 23711, 24129, 24285, 24289, 24366, 24717, 24990, 25633, 26960, 26995, 32065, 32789,
    34279,
]  # fmt: skip
_DATA = np.array(_VELOCITIES)[:, None] / 1000.0
_BOUNDS = [[-5.0, 5.0]] * 2 + [[8.0, 35.0]] * 3 + [[-1.5, 2.5]] * 3


def _parts(x: Floats) -> tuple[Floats, Floats, Floats, Floats, Floats]:
    """Logarithms of the weights and their shares, logarithms of the deviations, standardised data, joint densities."""
    logits = np.concatenate([x[:, :2], np.zeros((len(x), 1))], axis=1)
    total, weights = logsumexp_and_shares(logits, axis=1)
    log_weights, log_sd = logits - total[:, None], x[:, 5:]
    z = (_DATA - x[:, None, 2:5]) * np.exp(-log_sd)[:, None]
    return log_weights, weights, log_sd, z, (log_weights - log_sd)[:, None] - 0.5 * z * z


def _fun(x: Floats) -> Floats:
    log_weights, _, log_sd, _, joint = _parts(x)
    likelihood = logsumexp_and_shares(joint, axis=2)[0].sum(axis=1)
    prior = log_weights.sum(axis=1) - (4.0 * log_sd + np.exp(-2.0 * log_sd)).sum(axis=1)
    return -likelihood - prior


def _jac(x: Floats) -> Floats:
    _, weights, log_sd, z, joint = _parts(x)
    share = logsumexp_and_shares(joint, axis=2)[1]  # of each component in each galaxy
    taken = share.sum(axis=1)
    by_logit = (len(_DATA) + 3.0) * weights - taken - 1.0
    by_mean = -(share * z).sum(axis=1) * np.exp(-log_sd)
    by_log_sd = taken - (share * z * z).sum(axis=1) + 4.0 - 2.0 * np.exp(-2.0 * log_sd)
    return np.concatenate([by_logit[:, :2], by_mean, by_log_sd], axis=1)


def galaxies() -> Problem:
    """A mixture of three Gaussians for the velocities of 82 galaxies: the log-posterior has 99 known modes, 6 global.

    Unknown are two logits of weights (the third is 0), three means in 1000 km/s and the logarithms of three standard
    deviations. Priors keep it bounded: Dirichlet (2, 2, 2) for the weights, inverse gamma (2, 1) for the variances with
    the density taken by their logarithms. Components may be exchanged, which makes six modes of one, or three where two
    components are the same: 18 of different value are known, and there may be more. Data: Roeder, J. Amer. Statist.
    Assoc. 85:617, 1990.
    """
    return minimised("galaxies", _fun, _jac, _BOUNDS)
