"""Components fitted to weighted draws, mode by mode: rounds of population Monte Carlo.

Expectation maximisation of a mixture of Student-t components, with weighted draws in the place of data, minimises the
divergence of the proposal from the target that punishes tails which are not covered. (Cappé, Douc, Guillin, Marin and
Robert, Adaptive importance sampling in general mixture classes, 2008.)
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from allmodes.arrays import logsumexp_and_shares
from allmodes.masses.proposal import Component
from allmodes.masses.start import uncorrelated
from allmodes.objective.bounds import Box

_MOST = 8  # components of a mode
_DRAWS_EACH = 5.0  # effective draws for each parameter of a mean and of a diagonal, per component
_STEPS = 15  # of expectation maximisation
_FREEDOMS = (3.0, 8.0, 30.0)  # degrees of freedom that are tried
_KEPT = 0.15  # share of the draws of a mode that its first components keep: tails are covered whatever the fit
_LARGEST = 0.5  # power of the number of draws: no weight counts for more than so many average ones

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
    weights = _truncated(log_weights)
    effective = 1.0 / float((weights**2).sum())
    y = base.mean + box.difference(z, base.mean)
    num = int(np.clip(effective / (_DRAWS_EACH * (1 + len(base.mean))), 1, _MOST))
    means = _places(base, y, weights, num, rng)
    fits = [_maximised(box, base, y, weights, effective, means, freedom) for freedom in _FREEDOMS]
    best, shares, _ = max(fits, key=lambda each: each[2])
    return Fitted((*best, base), np.append((1.0 - _KEPT) * shares, _KEPT))


def _truncated(log_weights: Floats) -> Floats:
    """Weights that sum to 1, the largest cut: one draw must not become a component of its own."""
    weights = np.exp(log_weights - log_weights.max())
    most = weights.mean() * len(weights) ** _LARGEST
    weights = np.minimum(weights, most)
    return np.asarray(weights / weights.sum())


def _places(base: Component, y: Floats, weights: Floats, num: int, rng: np.random.Generator) -> Floats:
    """Where components begin (num, d): draws far from each other, the first in the middle."""
    centre = weights @ y
    spread = _covariance(base, y - centre, weights, 0.0)
    whitened = np.linalg.solve(np.linalg.cholesky(spread), (y - centre).T).T
    places = [np.zeros(y.shape[1])]
    while len(places) < num:
        apart = np.min([((whitened - place) ** 2).sum(axis=1) for place in places], axis=0)
        chances = weights * apart
        places.append(whitened[rng.choice(len(y), p=chances / chances.sum())])
    return np.asarray(centre + np.array(places) @ np.linalg.cholesky(spread).T)


def _covariance(base: Component, away: Floats, weights: Floats, prior: float) -> Floats:
    """Weighted second moments (d, d) of steps (n, d), with those of the first component counted `prior` times."""
    d = away.shape[1]
    moments = (away * weights[:, None]).T @ away + (prior + 1e-6) * base.L @ base.L.T
    return (
        uncorrelated(moments / (weights.sum() + prior + 1e-6), base.side) + 1e-12 * np.diag((base.L**2).sum(axis=1)) * d
    )


def _maximised(
    box: Box, base: Component, y: Floats, weights: Floats, effective: float, means: Floats, freedom: float
) -> tuple[tuple[Component, ...], Floats, float]:
    """Components, their shares, and the mean logarithm of their density at the weighted draws."""
    d, centre = y.shape[1], weights @ y
    whole = np.linalg.cholesky(_covariance(base, y - _on_bounds(base, centre), weights, 0.0))
    spread = replace(base, L=whole)
    parts = tuple(replace(base, mean=_on_bounds(base, mean), L=whole, freedom=freedom) for mean in means)
    shares, level = np.full(len(parts), 1.0 / len(parts)), -np.inf
    for step in range(_STEPS + 1):
        logs = np.log(shares)[:, None] + np.array([part.log_density(box, y) for part in parts])
        log_q, each = logsumexp_and_shares(logs)
        level = float(weights @ log_q)
        if step == _STEPS:
            break
        counts = each * weights * effective
        shares = (counts.sum(axis=1) + 1.0) / (counts.sum() + len(parts))
        parts = tuple(_updated(box, spread, part, y, row, d) for part, row in zip(parts, counts, strict=True))
    return parts, shares, level


def _updated(box: Box, spread: Component, part: Component, y: Floats, counts: Floats, d: int) -> Component:
    nu = part.freedom
    pulled = counts * (nu + d) / (nu + part.squared_lengths(box, y))
    if pulled.sum() <= 0.0:
        return part
    mean = _on_bounds(part, (pulled @ y) / pulled.sum())
    prior = d + 2.0
    away = y - mean
    moments = (away * pulled[:, None]).T @ away + prior * spread.L @ spread.L.T
    covariance = uncorrelated(moments / (counts.sum() + prior), part.side)
    return replace(part, mean=mean, L=np.linalg.cholesky(covariance))


def _on_bounds(base: Component, mean: Floats) -> Floats:
    """A mean that stays on the bounds that fold its component."""
    return np.where(base.side == 0.0, mean, base.mean)
