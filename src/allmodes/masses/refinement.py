"""Components fitted to weighted draws, mode by mode: rounds of population Monte Carlo.

Expectation maximisation of a mixture of Student-t components, with weighted draws in the place of data, minimises the
divergence of the proposal from the target that punishes tails which are not covered. (Cappé, Douc, Guillin, Marin and
Robert, Adaptive importance sampling in general mixture classes, 2008.)
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular

from allmodes.arrays import logsumexp_and_shares
from allmodes.masses.proposal import Component
from allmodes.masses.start import factor, uncorrelated
from allmodes.objective.bounds import Box

_MOST = 8  # components of a mode
_DRAWS_EACH = 5.0  # effective draws for each parameter of a mean and of a diagonal, per component
_STEPS = 15  # of expectation maximisation
_FREEDOMS = (3.0, 8.0)  # degrees of freedom that are tried; with more of them tails are heavier than the proposal's
_WIDER = 1.3  # times: variances of fitted components, for draws say little of what lies beyond them
# Shares of the draws of a mode that its first Student-t component keeps, and that one as wide as all its draws gets,
# with so many times their variance: what the fitted ones miss is seen, and weighs little enough.
_KEPT, _BROAD = 0.2, 0.1
_BROADER = 6.0
_TRIFLE = 1e-6  # of the covariance of the first component: draws may all lie in a plane
_LEAST = 4.0  # effective draws per coordinate: weights of fewer are flattened
_HALVINGS = 30  # of the power by which they are

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Fitted:
    """Components of one mode, and their shares (C,) of its draws."""

    components: tuple[Component, ...]
    shares: Floats


def fit(box: Box, first: tuple[Component, ...], z: Floats, log_weights: Floats, rng: np.random.Generator) -> Fitted:
    """Components for one mode.

    Args:
        first: its first components, of Laplace's approximation; the last of them has the heaviest tails.
        z: its draws, (n, d).
        log_weights: (n,), of which at least one is finite.
        rng: for the places where components begin.
    """
    base = first[-1]
    weights = _flattened(log_weights, min(_LEAST * (1 + len(base.mean)), 0.5 * len(z)))
    effective = 1.0 / float((weights**2).sum())
    y = base.mean + box.difference(z, base.mean)
    num = int(np.clip(effective / (_DRAWS_EACH * (1 + len(base.mean))), 1, _MOST))
    whole = _as_wide_as_all(base, y, weights)
    means = _places(whole, y, weights, num, rng)
    fits = [_maximised(box, whole, y, weights, means, freedom) for freedom in _FREEDOMS]
    best, shares, _ = max(fits, key=lambda each: each[2])
    best = tuple(replace(part, L=np.sqrt(_WIDER) * part.L) for part in best)
    broad = replace(whole, L=np.sqrt(_BROADER) * whole.L)
    return Fitted((*best, base, broad), np.concatenate([(1.0 - _KEPT - _BROAD) * shares, [_KEPT, _BROAD]]))


def _as_wide_as_all(base: Component, y: Floats, weights: Floats) -> Component:
    """The first component with the mean and the covariance of all draws."""
    mean = _on_bounds(base, weights @ y)
    return replace(base, mean=mean, L=factor(_covariance(base, y - mean, weights)))


def _flattened(log_weights: Floats, least: float) -> Floats:
    """Weights that sum to 1, to the power (at most 1) at which as many draws count: none becomes a component alone."""
    weights = _shares(log_weights)
    if 1.0 / float((weights**2).sum()) >= least:
        return weights
    below, above = 0.0, 1.0
    for _ in range(_HALVINGS):
        power = 0.5 * (below + above)
        weights = _shares(power * log_weights)
        below, above = (power, above) if 1.0 / float((weights**2).sum()) >= least else (below, power)
    return _shares(below * log_weights)


def _shares(log_weights: Floats) -> Floats:
    weights = np.exp(log_weights - log_weights.max())
    return np.asarray(weights / weights.sum())


def _places(whole: Component, y: Floats, weights: Floats, num: int, rng: np.random.Generator) -> Floats:
    """Where components begin (num, d): draws far from each other, the first in the middle."""
    whitened = solve_triangular(whole.L, (y - whole.mean).T, lower=True).T
    places = [np.zeros(y.shape[1])]
    while len(places) < num:
        apart = np.min([((whitened - place) ** 2).sum(axis=1) for place in places], axis=0)
        chances = weights * apart
        places.append(whitened[rng.choice(len(y), p=chances / chances.sum())])
    return np.asarray(whole.mean + np.array(places) @ whole.L.T)


def _covariance(base: Component, away: Floats, weights: Floats) -> Floats:
    """Weighted second moments (d, d) of steps (n, d), and a trifle of the first component's."""
    moments = (away * weights[:, None]).T @ away + _TRIFLE * base.L @ base.L.T
    return uncorrelated(moments, base.side)


def _maximised(
    box: Box, whole: Component, y: Floats, weights: Floats, means: Floats, freedom: float
) -> tuple[tuple[Component, ...], Floats, float]:
    """Components, their shares, and the mean logarithm of their density at the weighted draws."""
    effective = 1.0 / float((weights**2).sum())
    parts = tuple(replace(whole, mean=_on_bounds(whole, mean), freedom=freedom) for mean in means)
    shares = np.full(len(parts), 1.0 / len(parts))
    for _ in range(_STEPS):
        counts = effective * weights * _joint(box, parts, shares, y)[1]
        shares = (counts.sum(axis=1) + 1.0) / (counts.sum() + len(parts))
        parts = tuple(_updated(box, whole, part, y, row) for part, row in zip(parts, counts, strict=True))
    return parts, shares, float(weights @ _joint(box, parts, shares, y)[0])


def _joint(box: Box, parts: tuple[Component, ...], shares: Floats, y: Floats) -> tuple[Floats, Floats]:
    """Log density of a mixture (n,), and the share that each component has in it (C, n)."""
    logs = np.log(shares)[:, None] + np.array([part.log_density(box, y) for part in parts])
    log_q, each = logsumexp_and_shares(logs)
    return np.asarray(log_q), np.asarray(each)


def _updated(box: Box, whole: Component, part: Component, y: Floats, counts: Floats) -> Component:
    """A component that fits effective draws (n,); the covariance of all counts as a few more of them."""
    d = y.shape[1]
    pulled = counts * (part.freedom + d) / (part.freedom + part.squared_lengths(box, y))
    if not pulled.sum() > 0.0:
        return part
    mean = _on_bounds(part, (pulled @ y) / pulled.sum())
    away, prior = y - mean, d + 2.0
    moments = (away * pulled[:, None]).T @ away + prior * whole.L @ whole.L.T
    covariance = uncorrelated(moments / (counts.sum() + prior), part.side)
    return replace(part, mean=mean, L=factor(covariance))


def _on_bounds(base: Component, mean: Floats) -> Floats:
    """A mean that stays on the bounds that fold its component."""
    return np.where(base.side == 0.0, mean, base.mean)
