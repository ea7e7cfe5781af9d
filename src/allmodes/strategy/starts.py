"""Where launches begin: evenly spread points, around known modes, on the bounds, or given points."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from allmodes.storage import stored
from allmodes.strategy.screening import Screen
from allmodes.strategy.search import Search

Array = NDArray[np.float64]

GIVEN, EVEN, NEAR, MIXED, SCREENED, BRIDGE, FACE = range(7)  # the arms
_FIRST_LAUNCHES = 8  # before arms compete
_BLOCK = 512  # Sobol points drawn at once
_TRIES = 4  # draws of a start near a mode, of which one is taken
_FEWEST_MIXED = 3  # modes to mix
_MIXTURES = 8  # drawn for each start: many are modes themselves
_SAME = 1e-3  # root mean square distance at which a mixture is a mode itself
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
            from scipy.stats import qmc  # late: it is half of what importing the package would take

            engine = qmc.Sobol(self.d, seed=np.random.default_rng(self.seed))
            if self.drawn:
                engine.fast_forward(self.drawn)
            self.block = engine.random(_BLOCK)
        self.drawn += 1
        return self.block[place]


@stored
class Start(NamedTuple):
    """A point to launch from, the first radius of its trust region (0: the usual one), its arm, and the mode it is
    near, or -1.
    """

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

    def add(self, is_new: bool, evaluations: int, is_launch: bool = True) -> None:
        """Another launch, or (is_launch False) evaluations that prepared launches."""
        discount = _DISCOUNT if is_launch else 1.0
        self.successes = self.successes * discount + is_new
        self.evaluations = self.evaluations * discount + evaluations


def make_records() -> list[Record]:
    """One record for each arm."""
    return [Record() for _ in range(FACE + 1)]


def draw_arms(rng: np.random.Generator, records: list[Record], arms: list[int], n: int) -> NDArray[np.int64]:
    """n arms by Thompson sampling: each time the one with the best plausible rate of new modes per evaluation."""
    if len(arms) == 1:
        return np.full(n, arms[0])
    successes = np.array([records[arm].successes for arm in arms])
    evaluations = np.array([records[arm].evaluations for arm in arms])
    shape = (n, len(arms))
    rates = rng.standard_gamma(1.0 + successes, shape) / rng.standard_gamma(3.0 + evaluations, shape)
    return np.array(arms)[rates.argmax(axis=1)]


def near_modes(search: Search, n: int) -> list[Start]:
    """At most n starts on shells around known modes, outside the level sets of the others where that is possible.

    A mode is drawn with probability ~ 1 / (1 + times picked). The shell has one to three times the radius at which
    Laplace's approximation falls to the median level of the function.
    """
    archive, rng, d = search.archive, search.rng, search.box.d
    chances = 1.0 / (1.0 + archive.picks)
    if search.is_global:
        chances /= 1.0 + np.argsort(np.argsort(-archive.values))
    bounds = (chances / chances.sum()).cumsum()
    modes = (bounds / bounds[-1]).searchsorted(rng.random((n, _TRIES)), side="right")
    u = rng.standard_normal((n, _TRIES, d))
    u /= np.sqrt(np.einsum("ntd,ntd->nt", u, u))[..., None]
    heights = np.maximum(archive.values - search.level, 1e-3 * search.scale)
    reach = np.sqrt(2.0 * heights[modes]) * rng.uniform(*_REACH, (n, _TRIES))
    offsets = (archive.components.factors.A[modes] @ u[..., None])[..., 0]
    points = archive.means[modes] + reach[..., None] * offsets
    flat = points.reshape(-1, d)
    allowed = search.box.inside(flat) & np.isfinite(flat).all(axis=1)
    close = archive.neighbours(flat)
    whitened = archive.whitened_at(flat, close)
    falls = 0.5 * np.einsum("nkd,nkd->nk", whitened, whitened)
    covered = (falls <= archive.values[close] - search.level) & (close != modes.reshape(-1, 1))
    # the first that is allowed and not covered, else the first that is allowed
    score = (2 * (allowed & ~covered.any(axis=1)) + allowed).reshape(n, _TRIES)
    best = score.argmax(axis=1)
    starts = []
    for i in np.flatnonzero(score.max(axis=1) > 0):
        mode = int(modes[i, best[i]])
        archive.picks[mode] += 1
        starts.append(Start(points[i, best[i]], 0.0, NEAR, mode))
    return starts


def mixed(search: Search, n: int) -> list[Start]:
    """At most n starts made of known modes: a + b - c, or coordinates of two; for functions with some symmetry."""
    archive, rng, box = search.archive, search.rng, search.box
    good = np.flatnonzero(archive.values >= archive.best - search.tie) if search.is_global else np.arange(len(archive))
    if len(good) < _FEWEST_MIXED:
        return []
    tries = _MIXTURES * n
    a, b, c = archive.means[good[rng.integers(len(good), size=(3, tries))]]
    sums = rng.random(tries) < 0.5
    points = np.where(sums[:, None], a + b - c, np.where(rng.random((tries, box.d)) < 0.5, a, b))
    is_fine = box.inside(points) & (archive.nearest(points)[1] > _SAME)
    return [Start(point, 0.0, MIXED) for point in points[is_fine][:n]]


def on_faces(search: Search, n: int) -> list[Start]:
    """n starts on the bounds, from faces to corners: basins of modes there may hardly reach into the box."""
    box, rng = search.box, search.rng
    points = rng.random((n, box.d))
    is_held = rng.random((n, box.d)) < rng.random((n, 1))
    is_held[np.arange(n), rng.integers(box.d, size=n)] = True
    ends = np.where(rng.random((n, box.d)) < 0.5, box.lower_unit, box.upper_unit)
    points = np.where(is_held & np.isfinite(ends), ends, points)
    return [Start(point, 0.0, FACE) for point in points]


class HasStarts(Protocol):
    """What `choose_starts` needs of the launches."""

    search: Search
    sobol: Sobol
    screen: Screen
    given: list[Start]
    records: list[Record]
    is_plain: bool
    is_passive: bool
    is_screening: bool
    launches: int


def choose_starts(launches: HasStarts, n: int) -> list[Start]:
    """At most n starts: given ones, then from the arms that promise most new modes per evaluation.

    Fewer when points must be screened first, or when all starts are given ones.
    """
    search = launches.search
    starts, launches.given = launches.given[:n], launches.given[n:]
    n -= len(starts)
    if not n or launches.is_passive or launches.is_screening:
        return starts
    if launches.is_plain:
        return starts + [Start(point, 0.0, EVEN) for point in search.rng.random((n, search.box.d))]
    usual = SCREENED if search.is_global else EVEN
    compete = len(search.archive) > 0 and launches.launches >= _FIRST_LAUNCHES
    others = [NEAR, MIXED, *([FACE] if search.archive.has_boundary else [])] if compete else []
    arms = draw_arms(search.rng, launches.records, [usual, *others], n)
    drawn = arms.tolist()
    for arm, make in ((NEAR, near_modes), (MIXED, mixed), (FACE, on_faces)):
        count = drawn.count(arm)
        if count:
            made = make(search, count)
            starts += made
            n -= len(made)
    if usual == EVEN:
        return starts + [Start(launches.sobol.next(), 0.0, EVEN) for _ in range(n)]
    for _ in range(n):
        point = launches.screen.take(search)
        if point is None:
            launches.is_screening = True
            break
        starts.append(Start(point, 0.0, SCREENED))
    return starts
