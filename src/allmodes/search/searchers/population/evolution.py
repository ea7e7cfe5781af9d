"""Batched evolution of Gaussian components from values alone: the natural gradient of ranks, with paths and step sizes.

Every component is a Gaussian N(m, s^2 A A^T) that samples a population, ranks it, and moves by the weighted best half
(CMA-ES in factor form). All components of a batch move at once; none waits for another.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from allmodes.storage import stored

Array = NDArray[np.float64]
Indices = NDArray[np.intp]


class Rates(NamedTuple):
    """Constants of CMA-ES for a dimension and a population size."""

    weights: Array  # of the best half, (size // 2,), sum 1
    mass: float  # variance-effective number of the best half
    c_sigma: float  # of the step-size path
    damping: float
    c_path: float  # of the covariance path, of its rank-one and its rank-mu update
    c_one: float
    c_mu: float
    length: float  # expected length of a standard normal vector


@lru_cache(maxsize=64)
def rates(d: int, size: int) -> Rates:
    """The default constants of CMA-ES."""
    half = size // 2
    weights = np.log((size + 1) / 2) - np.log(np.arange(1, half + 1))
    weights /= weights.sum()
    mass = float(1 / np.sum(weights**2))
    c_sigma = (mass + 2) / (d + mass + 5)
    damping = 1 + 2 * max(0.0, np.sqrt((mass - 1) / (d + 1)) - 1) + c_sigma
    c_path = (4 + mass / d) / (d + 4 + 2 * mass / d)
    c_one = 2 / ((d + 1.3) ** 2 + mass)
    c_mu = min(1 - c_one, 2 * (mass - 2 + 1 / mass) / ((d + 2) ** 2 + mass))
    length = np.sqrt(d) * (1 - 1 / (4 * d) + 1 / (21 * d * d))
    return Rates(weights, mass, c_sigma, damping, c_path, c_one, c_mu, float(length))


def population_size(d: int) -> int:
    """Points of one generation: 4 + 3 ln d, six on a line."""
    return 6 if d == 1 else 4 + int(3 * np.log(d))


@stored
class State(NamedTuple):
    """K components N(m, s^2 A A^T)."""

    mean: Array  # m (K, d)
    spread: Array  # s (K,)
    factor: Array  # A (K, d, d)
    step_path: Array  # (K, d), of the step size
    shape_path: Array  # (K, d), of the covariance
    age: NDArray[np.int64]  # generations, (K,)
    best_point: Array  # the best evaluated, (K, d)
    best_value: Array  # (K,)
    recent: Array  # the best values of the last generations, (K, window), in a ring
    earlier: Array  # the best value of all before those, (K,)


@stored
@dataclass
class Evolution:
    """Components that evolve together.

    Attributes:
        size: points per generation and component.
        window: generations over which progress is judged.
        state: the components.
        draws: standard normal, (n, size, d), of the generation in flight, of the components `moving` (n,).
    """

    d: int
    size: int
    window: int = field(init=False)
    state: State = field(init=False)
    draws: Array = field(init=False)
    moving: Indices = field(default_factory=lambda: np.zeros(0, np.intp))

    def __post_init__(self) -> None:
        d = self.d
        self.window = int(10 + 10 * d / self.size)
        none, vectors = np.zeros(0), np.zeros((0, d))
        self.state = State(
            vectors, none, np.zeros((0, d, d)), vectors, vectors, np.zeros(0, np.int64), vectors, none,
            np.zeros((0, self.window)), none,
        )  # fmt: skip
        self.draws = np.zeros((0, self.size, d))

    def add(self, point: Array, spread: float) -> None:
        """Another component, around a point (d,)."""
        zeros, worst = np.zeros(self.d), np.full(self.window, -np.inf)
        new = (point, spread, np.eye(self.d), zeros, zeros, 0, point, -np.inf, worst, -np.inf)
        self.state = State._make(
            np.concatenate([column, np.asarray(value, column.dtype)[None]])
            for column, value in zip(self.state, new, strict=True)
        )

    def keep(self, chosen: NDArray[np.bool_]) -> None:
        """Let go of the components that are not chosen."""
        self.state = State._make(column[chosen] for column in self.state)

    def deviation(self) -> Array:
        """Root mean square over coordinates of each component's standard deviation, (K,)."""
        factor = self.state.factor
        return self.state.spread * np.sqrt(np.einsum("kij,kij->k", factor, factor) / self.d)

    def sample(self, rng: np.random.Generator, moving: Indices) -> Array:
        """The next generation (n size, d) of the components numbered `moving`; it may leave the bounds."""
        state, self.moving = self.state, moving
        self.draws = rng.standard_normal((len(moving), self.size, self.d))
        steps = np.matmul(self.draws, (state.spread[moving, None, None] * state.factor[moving]).mT)
        return (state.mean[moving, None] + steps).reshape(-1, self.d)

    def update(self, points: Array, values: Array) -> None:
        """Move by what came of the last generation: its points (n size, d), inside the bounds, and values (n size,)."""
        moving, d, state = self.moving, self.d, self.state
        if not len(moving):
            return
        values = values.reshape(-1, self.size)
        self._remember(points.reshape(-1, self.size, d), values)
        w, mass, c_sigma, damping, c_path, c_one, c_mu, length = rates(d, self.size)
        order = np.argsort(-values, axis=1)[:, : len(w)]
        best = np.take_along_axis(self.draws, order[:, :, None], axis=1)
        step = np.matmul(w, best)
        A, s = state.factor[moving], state.spread[moving]
        state.mean[moving] += s[:, None] * np.matmul(A, step[:, :, None])[:, :, 0]
        path = (1 - c_sigma) * state.step_path[moving] + np.sqrt(c_sigma * (2 - c_sigma) * mass) * step
        size = np.sqrt(np.einsum("kd,kd->k", path, path))
        # A path that is too long says that the step size lags behind: the covariance waits for it.
        limit = (1.4 + 2 / (d + 1)) * length * np.sqrt(1 - (1 - c_sigma) ** (2 * state.age[moving]))
        is_calm = (size < limit).astype(np.float64)
        shape = (1 - c_path) * state.shape_path[moving]
        shape += (is_calm * np.sqrt(c_path * (2 - c_path) * mass))[:, None] * step
        M = np.matmul((best * w[:, None]).mT, best) * c_mu + c_one * shape[:, :, None] * shape[:, None, :]
        diagonal = np.arange(d)
        M[:, diagonal, diagonal] += (1 - c_one - c_mu + (1 - is_calm) * c_one * c_path * (2 - c_path))[:, None]
        L = np.linalg.cholesky(M)
        state.factor[moving] = np.matmul(A, L)
        state.shape_path[moving] = np.linalg.solve(L, shape[:, :, None])[:, :, 0]
        state.step_path[moving] = path
        # By at most e in a generation, as in CMA-ES; a component wider than the box would only fold over.
        state.spread[moving] = s * np.exp(np.minimum(1.0, c_sigma / damping * (size / length - 1)))
        state.spread[moving] *= np.minimum(1.0, 1.0 / self.deviation()[moving])

    def _remember(self, points: Array, values: Array) -> None:
        """The best of each component, by points (n, size, d) and values (n, size); another generation is over."""
        moving, state = self.moving, self.state
        rows, which = np.arange(len(moving)), values.argmax(axis=1)
        best = values[rows, which]
        better = best > state.best_value[moving]
        state.best_value[moving[better]] = best[better]
        state.best_point[moving[better]] = points[rows, which][better]
        place = state.age[moving] % self.window
        state.earlier[moving] = np.maximum(state.earlier[moving], state.recent[moving, place])
        state.recent[moving, place] = best
        state.age[moving] += 1

    def progress(self) -> tuple[Array, Array]:
        """For each component the range of its last generations' best values, and what they gained on all before.

        Both are infinite for components younger than a window.
        """
        state = self.state
        with np.errstate(invalid="ignore"):  # -inf less -inf where all failed
            span = state.recent.max(axis=1) - state.recent.min(axis=1)
            gain = state.best_value - state.earlier
        is_old = state.age > self.window
        return np.where(is_old, span, np.inf), np.where(is_old, gain, np.inf)
