"""What all parts of a search share: the domain, the archive, random numbers, what is known of the function."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from allmodes.objective import BY_ORDER, Needs
from allmodes.objective.bounds import Box
from allmodes.objective.constraints import Constraints
from allmodes.objective.equations import PER_ROOT
from allmodes.result.records import FrameRecord, PathRecord
from allmodes.search.archive import Archive
from allmodes.search.checked import Checks
from allmodes.search.group import Group
from allmodes.search.starts.drawn import Drawn
from allmodes.search.starts.landings import Landings
from allmodes.search.tolerances import Tolerances
from allmodes.storage import stored

Array = NDArray[np.float64]

_FEW_VALUES = 8  # space-filling values below which their range stands in for the interquartile range
_MOST_VALUES = 4096  # space-filling values kept: more would not change the quartiles


@stored
@dataclass
class Context:
    """Shared state of a search. Parts read it; it changes through its methods alone.

    Attributes:
        box: the domain.
        archive: modes found.
        rng: all randomness.
        order: 0 values, 1 gradients too, 2 Hessians too.
        cost_of_mode: evaluations that each mode costs at the end of the search; None for most functions.
        is_global: whether only the best modes count.
        xtol: wanted accuracy of positions, as a share of the box.
        noise: standard deviation of a value; 0 for exact functions, NaN until it is measured.
        rounding: the relative rounding error of values, if it was measured; 0 if not.
        is_random: whether two values at one point differed.
        maxfev, nfev: the budget, and the evaluations made.
        level, scale: median and interquartile range of the function over space-filling points.
        has_failed: whether the function failed at a point.
        best_point, best_value, best_at: the best point evaluated, and after how many evaluations.
        checks: whether searches are recognised by the right modes.
        group: the symmetry that the user stated.
        within, min_distance: how much worse than the best a mode may be, and how close to a better one as a share of
            the box, to be wanted (see `wanted`).
        paths, frames: where local searches and annealed mixtures went, to be looked at afterwards.
        constraints: of the user, passed again whenever a search is resumed; `ncev`, how often they were evaluated.
        asymmetry: where the function proved not to have that symmetry, in words.
        is_system: whether F and its Jacobian take the place of gradients and Hessians.
        drawn: the draws to begin at, where the user gave some; None where starts fill the box.
        landings: places far away, where the slopes of searches pointed to before they began.
        reserve: evaluations that are kept back for singular roots: see `kept_back`.
    """

    box: Box
    archive: Archive
    rng: np.random.Generator
    order: int = 0
    cost_of_mode: int | None = None
    is_global: bool = False
    xtol: float = 1e-6
    noise: float = 0.0
    rounding: float = 0.0
    is_random: bool = False
    maxfev: int = 10_000
    nfev: int = 0
    sampled: Array = field(default_factory=lambda: np.zeros(0))
    level: float = 0.0
    scale: float = 0.0
    has_failed: bool = False
    best_point: Array | None = None
    best_value: float = -np.inf
    best_at: int = 0
    checks: Checks = field(default_factory=Checks)
    paths: PathRecord = field(default_factory=PathRecord)
    frames: FrameRecord = field(default_factory=FrameRecord)
    group: Group | None = None
    constraints: Constraints | None = field(default=None, metadata={"stored": False})
    ncev: int = 0
    within: float = np.inf
    min_distance: float = 0.0
    asymmetry: str = ""
    is_system: bool = False
    reserve: int = 0
    landings: Landings = field(default_factory=Landings)
    drawn: Drawn | None = None

    def scatter(self, n: int) -> Array:
        """n points (n, d) anywhere in the box, or where the user expects them."""
        return self.rng.random((n, self.box.d)) if self.drawn is None else self.drawn.draw(n)

    @property
    def tolerances(self) -> Tolerances:
        """Every threshold on places and values."""
        return Tolerances(self)

    @property
    def has_model(self) -> bool:
        """Whether gradients come with a model of the Hessian: with residuals, that of Gauss and Newton."""
        return self.cost_of_mode is not None

    @property
    def is_derived(self) -> bool:
        """Whether gradients are made of differences of residuals: then a Jacobian costs evaluations."""
        return self.has_model and self.cost_of_mode != (1 + PER_ROOT if self.is_system else 1)

    @property
    def kept_back(self) -> int:
        """Evaluations that are kept back: residuals are looked at once more at every mode."""
        return (self.cost_of_mode or 0) * len(self.archive.own) + self.reserve

    @property
    def needs(self) -> Needs:
        """What local searches want to know at every point, besides its value."""
        return BY_ORDER[2 if self.has_model else self.order]

    @property
    def left(self) -> int:
        """Evaluations that are left of the budget."""
        return self.maxfev - self.nfev

    @property
    def is_late(self) -> bool:
        """Whether half of the budget is used: time to see to the best modes, whatever else there is to find."""
        return self.left < self.nfev

    @property
    def is_sampled(self) -> bool:
        """Whether anything is known of the function's level and scale."""
        return len(self.sampled) > 0

    @property
    def spread(self) -> float:
        """From the level to the best value, if that is more than the scale: a few starts may not tell how far it is."""
        return max(self.scale, self.best_value - self.level)

    def observe(self, points: Array, values: Array, cost: int) -> None:
        """Points (n, d) were evaluated, which cost so many evaluations; remembers the best."""
        self.nfev += cost
        if not len(values):
            return
        self.has_failed |= bool(values.min() == -np.inf)
        if self.constraints is not None:
            points, values = self._feasible(points, values)
            self.count_constraints()
            if not len(values):
                return
        best = int(values.argmax())
        if values[best] > self.best_value:
            self.best_value, self.best_point, self.best_at = float(values[best]), points[best].copy(), self.nfev

    def count_constraints(self) -> None:
        """Evaluations of the constraints so far. What was evaluated last is forgotten, as where a search is saved."""
        if self.constraints is not None:
            self.constraints.forget()
            self.ncev += self.constraints.taken()

    def _feasible(self, points: Array, values: Array) -> tuple[Array, Array]:
        """Those that are feasible, of the points that would be the best so far."""
        assert self.constraints is not None
        better = np.flatnonzero(values > self.best_value)
        chosen = better[self.constraints.is_feasible(points[better])] if len(better) else better
        return points[chosen], values[chosen]

    def observe_level(self, values: Array) -> None:
        """Values at space-filling points: they tell the level and the scale of the function."""
        finite = values[np.isfinite(values)]
        if len(finite) == 0 or len(self.sampled) >= _MOST_VALUES:
            return
        self.sampled = np.append(self.sampled, finite)
        shares = np.array([0, 2, 4]) if len(self.sampled) < _FEW_VALUES else np.array([1, 2, 3])
        quarters = (len(self.sampled) - 1) * shares // 4
        low, middle, high = np.partition(self.sampled, quarters)[quarters]
        self.level, self.scale = float(middle), float(high - low)

    def keep_back(self, evaluations: int) -> None:
        """So many more are wanted at the end."""
        self.reserve += evaluations

    def deny_symmetry(self, words: str) -> None:
        """The function does not have the symmetry that the user stated."""
        self.group, self.asymmetry = None, words

    def constrain(self, constraints: Constraints) -> None:
        """The user's constraints, passed again: what they cost so far was counted when the search began."""
        self.constraints = constraints
        constraints.taken()

    def take_budget(self, other: Context) -> None:
        """Take over from a search that has not begun its budget, and its group with the user's function."""
        self.maxfev = other.maxfev
        if not self.asymmetry:
            self.group = other.group

    def want_within(self, within: float) -> None:
        """How much worse than the best a mode may be to be wanted, in the size that values have inside."""
        self.within = within

    def learn_noise(self, noise: float) -> None:
        """The standard deviation of a value was measured."""
        self.noise = noise

    def learn_random(self) -> None:
        """Two values at one point differed."""
        self.is_random = True

    def learn_rounding(self, share: float) -> None:
        """Values have this relative error, which limits how well positions can be known.

        A value with a relative error r hides a step of sqrt(r), a gradient one of r, unless it comes from differences.
        """
        self.rounding = share
        self.xtol = max(self.xtol, float(np.sqrt(share)) if self.order == 0 or self.is_derived else share)

    def observe_check(self, is_right: bool) -> None:
        """A recognised search that ran on has ended, in the mode that it was recognised by or elsewhere."""
        self.checks.add(is_right)

    # ---- which modes count

    @property
    def counted(self) -> NDArray[np.intp]:
        """Numbers of the modes that count: all, or those as good as the best."""
        values = self.archive.values
        if not self.is_global:
            return np.arange(len(values))
        return np.flatnonzero(values >= self.archive.best - self.tolerances.tie)

    @property
    def is_best(self) -> NDArray[np.bool_]:
        """Which modes are as good as the best, (J,), given how well their values are known.

        None is if a point was evaluated that beats them all. For a noisy function, those that are not clearly
        worse, by the standard errors of both values.
        """
        archive = self.archive
        if not len(archive):
            return np.zeros(0, bool)
        best = int(archive.values.argmax())
        if self.is_beaten and archive.records[best].kind != "unverified":
            return np.zeros(len(archive), bool)
        return archive.values >= archive.best - self.tolerances.shortfalls(best)

    @property
    def is_beaten(self) -> bool:
        """Whether a point was evaluated that is better than every mode, where values can be compared."""
        archive = self.archive
        error = self.tolerances.value_error(int(archive.values.argmax())) if len(archive) else 0.0
        return self.noise == 0.0 and self.best_value > archive.best + error
