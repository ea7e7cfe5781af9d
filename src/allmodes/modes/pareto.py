"""Pareto smoothing of importance weights: how heavy their tail is, and what the largest would be on average.

The largest weights above a threshold follow a generalised Pareto distribution, 1 - (1 + k y / s)^(-1/k). Its shape k
says how many moments the weights have: with k below 1/2 their variance is finite, with k above 0.7 no usual number of
draws is enough. (Vehtari, Simpson, Gelman, Yao and Gabry, Pareto smoothed importance sampling; k and s by Zhang and
Stephens, A new and efficient estimation method for the generalized Pareto distribution, 2009.)
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

_GRID = 30  # values of the profile, and as many more as the root of the number of exceedances
_SPREAD = 3.0  # of the prior of Zhang and Stephens, in quartiles of the exceedances
_PRIOR_DRAWS = 10.0  # exceedances that the prior guess of k counts for
_PRIOR_SHAPE = 0.5
_FEWEST = 5  # exceedances from which a shape can be told
_SHARE, _PER_ROOT = 0.2, 3.0  # length of the tail: of the draws, and times their root

Floats = NDArray[np.float64]


class Smoothed(NamedTuple):
    """Logarithms of weights with a smoothed tail, in their order, and the shape k.

    NaN where there are too few draws to tell, -inf where the largest weights are equal: there is no tail.
    """

    log_weights: Floats
    k: float


def smooth(log_ratios: Floats) -> Smoothed:
    """Replace the largest weights by the quantiles of the Pareto tail that fits them, none above the largest ratio.

    The scale is kept: the exponentials of `log_weights` sum to what those of the ratios do, up to the smoothing.

    Args:
        log_ratios: log (p / q) at draws from q, (N,); -inf where p is 0.

    >>> uniform = (np.arange(4000) + 0.5) / 4000
    >>> round(smooth(-0.5 * np.log(uniform)).k, 1)  # a power-law tail of shape 1/2
    0.5
    """
    n = len(log_ratios)
    length = int(np.ceil(min(_SHARE * n, _PER_ROOT * np.sqrt(n))))
    if length < _FEWEST:
        return Smoothed(log_ratios, np.nan)
    order = np.argsort(log_ratios, kind="stable")
    tail, below = order[n - length :], log_ratios[order[n - length - 1]]
    top = log_ratios[order[-1]]
    if not np.isfinite(top):
        return Smoothed(log_ratios, np.nan)
    threshold = np.exp(below - top)
    exceedances = np.exp(log_ratios[tail] - top) - threshold
    is_above = exceedances > 0.0  # equal weights are none
    tail, exceedances = tail[is_above], exceedances[is_above]
    if len(tail) < _FEWEST:
        return Smoothed(log_ratios, -np.inf)
    k, scale = tail_of(exceedances)
    if not np.isfinite(k):
        return Smoothed(log_ratios, k)
    expected = threshold + quantiles((np.arange(len(tail)) + 0.5) / len(tail), k, scale)
    smoothed = log_ratios.copy()
    smoothed[tail] = np.minimum(np.log(expected), 0.0) + top
    return Smoothed(smoothed, k)


def tail_of(exceedances: Floats) -> tuple[float, float]:
    """Shape k and scale of the generalised Pareto distribution of exceedances, positive and in ascending order.

    The posterior mean of b = -k / s over a grid, with the likelihood profiled over s; k is drawn a little towards 1/2.
    """
    n = len(exceedances)
    grid = _GRID + int(np.sqrt(n))
    quartile = exceedances[int(n / 4 + 0.5) - 1]
    steps = 1.0 - np.sqrt(grid / (np.arange(grid) + 0.5))
    with np.errstate(all="ignore"):  # exceedances that differ by more than float64 can hold have an infinite k
        b = 1.0 / exceedances[-1] + steps / (_SPREAD * quartile)
        shapes = np.log1p(-b[:, None] * exceedances).mean(axis=1)
        profile = n * (np.log(-b / shapes) - shapes - 1.0)
        weights = np.exp(profile - np.nanmax(profile))
        weights = np.where(np.isfinite(weights), weights, 0.0)
        best = float((b * weights).sum() / weights.sum())
        k = float(np.log1p(-best * exceedances).mean())
        scale = -k / best
    if not np.isfinite(k) or not np.isfinite(scale):
        return np.inf, np.nan
    return (n * k + _PRIOR_DRAWS * _PRIOR_SHAPE) / (n + _PRIOR_DRAWS), scale


def quantiles(levels: Floats, k: float, scale: float) -> Floats:
    """Of the generalised Pareto distribution: s ((1 - level)^-k - 1) / k, an exponential one if k is 0.

    >>> quantiles(np.array([0.5]), 1.0, 2.0)
    array([2.])
    """
    if abs(k) < 1e-12:
        return np.asarray(-scale * np.log1p(-levels))
    return np.asarray(scale * np.expm1(-k * np.log1p(-levels)) / k)
