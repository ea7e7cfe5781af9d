"""Where launches begin: evenly spread points, around known modes, or given points."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.stats import qmc

from allmodes.storage import stored
from allmodes.strategy.screening import Screen
from allmodes.strategy.search import Search

Array = NDArray[np.float64]

GIVEN, EVEN, NEAR, MIXED, SCREENED, BRIDGE = range(6)  # the arms
_FIRST_LAUNCHES = 8  # before arms compete
_BLOCK = 64  # Sobol points drawn at once
_TRIES = 16  # draws of a start near a mode before giving up
_DISCOUNT = 0.95  # of an arm's record with each launch of it
_REACH = (1.0, 3.0)  # starts near a mode lie at this many radii of its level set


@stored
@dataclass
class Sobol:
    """Scrambled Sobol points; the sequence is remembered as a seed and a position."""

    d: int
    seed: int
    drawn: int = 0
    block: Array = field(default_factory=lambda: np.zeros((0, 0)))

    def next(self) -> Array:
        """The next point, in [0, 1)^d."""
        place = self.drawn % _BLOCK
        if place == 0:
            engine = qmc.Sobol(self.d, seed=np.random.default_rng(self.seed))
            if self.drawn:
                engine.fast_forward(self.drawn)
            self.block = engine.random(_BLOCK)
        self.drawn += 1
        return self.block[place]


class Start(NamedTuple):
    """A point to launch from, the first radius of its trust region, its arm, and the mode it is near, or -1."""

    point: Array
    radius: float
    arm: int
    picked: int = -1


@stored
@dataclass
class Record:
    """What an arm has brought: discounted new modes and evaluations."""

    successes: float = 0.0
    evaluations: float = 0.0

    def draw(self, rng: np.random.Generator) -> float:
        """A plausible rate of new modes per evaluation (Thompson sampling)."""
        return rng.gamma(1.0 + self.successes) / rng.gamma(3.0 + self.evaluations)

    def add(self, is_new: bool, evaluations: int, is_launch: bool = True) -> None:
        """Another launch, or (is_launch False) evaluations that prepared launches."""
        discount = _DISCOUNT if is_launch else 1.0
        self.successes = self.successes * discount + is_new
        self.evaluations = self.evaluations * discount + evaluations


def near_mode(search: Search) -> Start | None:
    """A start on a shell around a known mode, outside the level sets of the others; None when none was found.

    The mode is drawn with probability ~ 1 / (1 + times picked). The shell has one to three times the radius at which
    Laplace's approximation falls to the median level of the function.
    """
    archive, rng, d = search.archive, search.rng, search.box.d
    J = len(archive)
    chances = 1.0 / (1.0 + archive.picks)
    if search.is_global:
        chances /= 1.0 + np.argsort(np.argsort(-archive.values))
    modes = rng.choice(J, _TRIES, p=chances / chances.sum())
    u = rng.standard_normal((_TRIES, d))
    u /= np.sqrt(np.einsum("nd,nd->n", u, u))[:, None]
    heights = np.maximum(archive.values - search.level, 1e-3 * search.scale)
    reach = np.sqrt(2.0 * heights[modes]) * rng.uniform(*_REACH, _TRIES)
    A = archive.components.factors.A
    points = archive.means[modes] + reach[:, None] * (A[modes] @ u[..., None])[..., 0]
    whitened = archive.whitened(points)
    level_sets = archive.values[:, None] - 0.5 * np.einsum("jnd,jnd->jn", whitened, whitened)
    level_sets[modes, np.arange(_TRIES)] = -np.inf
    allowed = search.box.inside(points) & np.isfinite(points).all(axis=1)
    is_free = allowed & ~(level_sets >= search.level).any(axis=0)
    if not allowed.any():
        return None
    which = int(np.argmax(is_free)) if is_free.any() else int(np.flatnonzero(allowed)[-1])
    archive.picks[modes[which]] += 1
    return Start(points[which], 0.0, NEAR, int(modes[which]))


def mixed(search: Search) -> Start | None:
    """A start made of known modes: a + b - c, or coordinates of two; for functions with some symmetry."""
    archive, rng, box = search.archive, search.rng, search.box
    good = np.flatnonzero(archive.values >= archive.best - search.tie) if search.is_global else np.arange(len(archive))
    if len(good) < 3:
        return None
    a, b, c = archive.means[rng.choice(good, 3, replace=False)]
    point = a + b - c if rng.random() < 0.5 else np.where(rng.random(box.d) < 0.5, a, b)
    if not box.inside(point[None])[0] or archive.nearest(point[None])[1][0] < 1e-3:
        return None
    return Start(point, 0.0, MIXED)


def make_records() -> list[Record]:
    """One record for each arm."""
    return [Record() for _ in range(6)]


class HasStarts(Protocol):
    """What `choose_start` needs of the launches."""

    search: Search
    sobol: Sobol
    screen: Screen
    given: list[Start]
    records: list[Record]
    is_plain: bool
    is_passive: bool
    is_screening: bool
    launches: int


def choose_start(launches: HasStarts) -> Start | None:
    """The next start: a given one, or from the arm that promises most new modes per evaluation.

    None when there is none: points must be screened first, or all starts are given ones.
    """
    search = launches.search
    if launches.given:
        return launches.given.pop(0)
    if launches.is_passive or launches.is_screening:
        return None
    if launches.is_plain:
        return Start(search.rng.random(search.box.d), 0.0, EVEN)
    arms = [SCREENED if search.is_global else EVEN]
    if len(search.archive) and launches.launches >= _FIRST_LAUNCHES:
        arms += [NEAR, MIXED]
    rates = [launches.records[arm].draw(search.rng) for arm in arms] if len(arms) > 1 else [1.0]
    arm = arms[int(np.argmax(rates))]
    start = near_mode(search) if arm == NEAR else mixed(search) if arm == MIXED else None
    if start is not None:
        return start
    if arms[0] == EVEN:
        return Start(launches.sobol.next(), 0.0, EVEN)
    point = launches.screen.take(search)
    if point is None:
        launches.is_screening = True
        return None
    return Start(point, 0.0, SCREENED)
