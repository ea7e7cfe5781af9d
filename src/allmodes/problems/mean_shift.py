"""All modes of a Gaussian mixture by mean shift, started at every mean.

(Carreira-Perpinan, IEEE Transactions on Pattern Analysis and Machine Intelligence 22, 2000.)
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from allmodes.checks import whole_number
from allmodes.nva.mixture import Mixture, log_density
from allmodes.nva.mixture.families import Gaussian
from allmodes.nva.mixture.mixture import log_weights
from allmodes.objective import GRADIENT
from allmodes.problems.ascent import climb, distinct
from allmodes.problems.gaussian_mixtures import mixture_objective

_ARRIVED = 1e-6  # a shift of this share of the smallest standard deviation: near enough for Newton's method
_APART = 1e-3  # of the same: two ends this close are one mode

Floats = NDArray[np.float64]


def shift(weights: Floats, means: Floats, covariances: Floats, points: Floats, steps: int = 1000) -> Floats:
    """Where points (N, d) come to rest, or where they are after this many steps of mean shift.

    A step goes to (sum_k r_k S_k)^-1 sum_k r_k S_k mu_k, where r_k are the shares of the components at the point and
    S_k their precisions. The density never falls.
    """
    family = Gaussian()
    mixture = Mixture(np.log(weights) - np.log(weights[-1]), family.start(means, covariances))
    log_pi = log_weights(mixture.log_ratios)[:, None]
    precisions = np.linalg.inv(covariances).reshape(len(means), -1)
    near = _ARRIVED * float(np.sqrt(np.linalg.eigvalsh(covariances).min()))
    points = np.array(points, dtype=np.float64)
    moving = np.arange(len(points))
    for _ in range(whole_number("steps", steps, 1)):
        here = log_density(family, mixture, points[moving], GRADIENT)
        shares = np.exp(log_pi + here.log_components - here.log_q.value)
        mean_precisions = (shares.T @ precisions).reshape(len(moving), *covariances.shape[1:])
        moved = np.linalg.solve(mean_precisions, here.log_q.gradient[..., None])[..., 0]
        points[moving] += moved
        moving = moving[np.abs(moved).max(axis=1) >= near]
        if not len(moving):
            break
    return points


def mixture_modes(weights: Floats, means: Floats, covariances: Floats, more_starts: Floats | None = None) -> Floats:
    """The modes (J, d) of a Gaussian mixture uphill of its means and of more starts (N, d), highest first.

    Mean shift from every start, then Newton's method; what has no negative definite Hessian (a saddle) is dropped, and
    so is what repeats another. A mixture may have modes that no mean leads to: draws from it are good further starts.

    >>> mixture_modes(np.array([0.6, 0.4]), np.array([[-2.0], [2.0]]), np.ones((2, 1, 1))).round(2).tolist()
    [[-2.0], [2.0]]
    """
    objective = mixture_objective(means, covariances, weights)
    starts = means if more_starts is None else np.vstack([means, more_starts])
    narrowest = float(np.sqrt(np.linalg.eigvalsh(covariances).min()))
    ends = climb(objective, shift(weights, means, covariances, starts), narrowest)
    modes = distinct(ends, _APART * narrowest)
    return np.asarray(modes[np.argsort(-objective.fun(modes), kind="stable")])
