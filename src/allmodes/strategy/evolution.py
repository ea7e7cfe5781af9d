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

_LARGEST_SPREAD = 1.0  # of a component, as a share of the box: wider ones only fold over
_MOST_GROWTH = 1.0  # largest change of log s in a generation, as in CMA-ES

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]


class Rates(NamedTuple):
    """Constants of CMA-ES for a dimension and a population size.

    Attributes:
        weights: of the best half, (size // 2,), sum 1.
        mass: variance-effective number of the best half.
        c_sigma, damping: of the step-size path.
        c_path, c_one, c_mu: of the covariance path, of its rank-one and its rank-mu update.
        length: expected length of a standard normal vector.
    """

    weights: Floats
    mass: float
    c_sigma: float
    damping: float
    c_path: float
    c_one: float
    c_mu: float
    length: float


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
@dataclass
class Evolution:
    """K components that evolve together.

    Attributes:
        size: points per generation and component.
        window: generations over which progress is judged.
        mean, spread, factor: m (K, d), s (K,) and A (K, d, d) of each component.
        step_path, shape_path: both in whitened coordinates, (K, d).
        age: generations made, (K,).
        best_point, best_value: the best point sampled by each, (K, d) and (K,).
        recent: the best value of each of the last `window` generations, in a ring, (K, window).
        earlier: the best value of all generations before those, (K,).
        arm: the number of the arm that launched each, (K,).
        checks: how often each was taken for converged, (K,).
        target: the value each has to beat, (K,).
        origin: the funnel each hopped from, -1 for none, (K,).
        noise: of the generation under way, (n, size, d) for the components `moving` (n,).
    """

    d: int
    size: int
    window: int = field(init=False)
    mean: Floats = field(init=False)
    spread: Floats = field(init=False)
    factor: Floats = field(init=False)
    step_path: Floats = field(init=False)
    shape_path: Floats = field(init=False)
    age: NDArray[np.int64] = field(init=False)
    best_point: Floats = field(init=False)
    best_value: Floats = field(init=False)
    recent: Floats = field(init=False)
    earlier: Floats = field(init=False)
    arm: NDArray[np.int64] = field(init=False)
    checks: NDArray[np.int64] = field(init=False)
    target: Floats = field(init=False)
    origin: NDArray[np.int64] = field(init=False)
    noise: Floats = field(init=False)
    moving: Indices = field(init=False)

    def __post_init__(self) -> None:
        d = self.d
        self.window = int(10 + 10 * d / self.size)
        self.mean, self.best_point = np.zeros((0, d)), np.zeros((0, d))
        self.step_path, self.shape_path = np.zeros((0, d)), np.zeros((0, d))
        self.spread, self.best_value, self.earlier, self.target = (np.zeros(0) for _ in range(4))
        self.factor, self.recent = np.zeros((0, d, d)), np.zeros((0, self.window))
        self.age, self.arm, self.checks, self.origin = (np.zeros(0, np.int64) for _ in range(4))
        self.noise, self.moving = np.zeros((0, self.size, d)), np.zeros(0, np.intp)

    def __len__(self) -> int:
        return len(self.spread)

    def add(self, point: Floats, spread: float, arm: int, target: float = np.inf, origin: int = -1) -> None:
        """Launch a component at a point (d,)."""
        d = self.d
        new = {
            "mean": point,
            "spread": spread,
            "factor": np.eye(d),
            "step_path": np.zeros(d),
            "shape_path": np.zeros(d),
            "age": 0,
            "best_point": point,
            "best_value": -np.inf,
            "recent": np.full(self.window, -np.inf),
            "earlier": -np.inf,
            "arm": arm,
            "checks": 0,
            "target": target,
            "origin": origin,
        }
        for name, value in new.items():
            array = getattr(self, name)
            setattr(self, name, np.concatenate([array, np.asarray(value, array.dtype)[None]]))

    def keep(self, chosen: NDArray[np.bool_]) -> None:
        """Let go of the components that are not chosen."""
        for name in _PER_COMPONENT:
            setattr(self, name, getattr(self, name)[chosen])

    def deviation(self) -> Floats:
        """Root mean square over coordinates of each component's standard deviation, (K,)."""
        return self.spread * np.sqrt(np.einsum("kij,kij->k", self.factor, self.factor) / self.d)

    def covariance_factor(self, k: int) -> Floats:
        """s A of one component: its covariance is the product with its transpose."""
        return self.spread[k] * self.factor[k]

    def sample(self, rng: np.random.Generator, moving: Indices) -> Floats:
        """The next generation (n size, d) of the components numbered `moving`; it may leave the bounds."""
        self.moving = moving
        self.noise = rng.standard_normal((len(moving), self.size, self.d))
        steps = np.matmul(self.noise, (self.spread[moving, None, None] * self.factor[moving]).mT)
        return (self.mean[moving, None] + steps).reshape(-1, self.d)

    def update(self, points: Floats, values: Floats) -> None:
        """Move by what came of the last generation: its points (n size, d), inside the bounds, and values (n size,)."""
        moving, d = self.moving, self.d
        if not len(moving):
            return
        values = values.reshape(-1, self.size)
        self._remember(moving, points.reshape(-1, self.size, d), values)
        w, mass, c_sigma, damping, c_path, c_one, c_mu, length = rates(d, self.size)
        order = np.argsort(-values, axis=1)[:, : len(w)]
        best = np.take_along_axis(self.noise, order[:, :, None], axis=1)
        step = np.matmul(w, best)
        A, s = self.factor[moving], self.spread[moving]
        self.mean[moving] += s[:, None] * np.matmul(A, step[:, :, None])[:, :, 0]
        path = (1 - c_sigma) * self.step_path[moving] + np.sqrt(c_sigma * (2 - c_sigma) * mass) * step
        size = np.sqrt(np.einsum("kd,kd->k", path, path))
        # A path that is too long says that the step size lags behind: the covariance waits for it.
        limit = (1.4 + 2 / (d + 1)) * length * np.sqrt(1 - (1 - c_sigma) ** (2 * self.age[moving]))
        is_calm = (size < limit).astype(np.float64)
        shape = (1 - c_path) * self.shape_path[moving]
        shape += (is_calm * np.sqrt(c_path * (2 - c_path) * mass))[:, None] * step
        M = np.matmul((best * w[:, None]).mT, best) * c_mu + c_one * shape[:, :, None] * shape[:, None, :]
        diagonal = np.arange(d)
        M[:, diagonal, diagonal] += (1 - c_one - c_mu + (1 - is_calm) * c_one * c_path * (2 - c_path))[:, None]
        L = np.linalg.cholesky(M)
        self.factor[moving] = np.matmul(A, L)
        self.shape_path[moving] = np.linalg.solve(L, shape[:, :, None])[:, :, 0]
        self.step_path[moving] = path
        self.spread[moving] = s * np.exp(np.minimum(_MOST_GROWTH, c_sigma / damping * (size / length - 1)))
        self.spread[moving] *= np.minimum(1.0, _LARGEST_SPREAD / self.deviation()[moving])

    def _remember(self, moving: Indices, points: Floats, values: Floats) -> None:
        rows = np.arange(len(moving))
        which = values.argmax(axis=1)
        best = values[rows, which]
        better = best > self.best_value[moving]
        self.best_value[moving[better]] = best[better]
        self.best_point[moving[better]] = points[rows, which][better]
        place = self.age[moving] % self.window
        self.earlier[moving] = np.maximum(self.earlier[moving], self.recent[moving, place])
        self.recent[moving, place] = best
        self.age[moving] += 1

    def progress(self) -> tuple[Floats, Floats]:
        """For each component the range of its last generations' best values, and what they gained on all before.

        Both are infinite for components younger than a window.
        """
        with np.errstate(invalid="ignore"):  # -inf less -inf where all failed
            span = self.recent.max(axis=1) - self.recent.min(axis=1)
            gain = self.best_value - self.earlier
        is_old = self.age > self.window
        return np.where(is_old, span, np.inf), np.where(is_old, gain, np.inf)

    def go_on(self, k: int, factor: float) -> None:
        """Let a component that had not converged after all go on, wider by a factor."""
        self.checks[k] += 1
        self.spread[k] *= factor
        self.earlier[k] = -np.inf
        self.recent[k] = -np.inf
        self.age[k] = 1


_PER_COMPONENT = (
    "mean", "spread", "factor", "step_path", "shape_path", "age", "best_point", "best_value", "recent", "earlier",
    "arm", "checks", "target", "origin",
)  # fmt: skip
