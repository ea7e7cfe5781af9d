"""Starts in large spaces of bits: a Bernoulli component that climbs while its temperature falls."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from allmodes.nva.annealing.algorithm import Algorithm
from allmodes.nva.annealing.estimators import FitnessShaped
from allmodes.nva.engine.step import Settings, ask, tell
from allmodes.nva.mixture import Mixture
from allmodes.nva.mixture.families import Bernoulli
from allmodes.nva.mixture.families.family import Rates
from allmodes.objective import Evaluation
from allmodes.search.context import Context
from allmodes.search.searchers.discrete.nodes import Nodes
from allmodes.search.searchers.discrete.tuning import TUNING
from allmodes.storage import stored

Array = NDArray[np.float64]
Levels = NDArray[np.int64]

_FAMILY = Bernoulli()
_ALGORITHM = Algorithm(family=_FAMILY, estimator=FitnessShaped(), num_samples=TUNING.drawn, name="Bernoulli")
_END = 1e-3  # of the first temperature


@stored
@dataclass(eq=False)
class Annealed:
    """One run of the paper's black-box algorithm, shaped by ranks, with points of bits.

    It moves all bits at once, by what good points share, while walks change one bit at a time.

    Args:
        m: bits.
        length: evaluations that it may make.
        scale: of the function; the temperature begins at a share of it.

    Attributes:
        mixture: the component.
        noise: of the step in flight.
        spent: evaluations made.
        idle: steps in a row whose points were all known.
    """

    m: int
    length: int
    scale: float
    mixture: Mixture = field(init=False)
    noise: Array | None = None
    spent: int = 0
    idle: int = 0

    def __post_init__(self) -> None:
        components = _FAMILY.start(np.full((1, self.m), 0.5), None)
        self.mixture = Mixture(np.zeros(1), components)

    @property
    def is_over(self) -> bool:
        return self.spent >= self.length or self.idle >= TUNING.width

    def ask(self, rng: np.random.Generator, nodes: Nodes) -> Levels:
        """Points (n, m) whose values it wants to know; none if it has ended."""
        while not self.is_over:
            if self.noise is None:
                self.noise = _ALGORITHM.proposal.noise(rng, _FAMILY, 1, TUNING.drawn, self.m)
            levels = np.rint(ask(_ALGORITHM, self.mixture, self.noise).points).astype(np.int64)
            rows = nodes.find_all(levels)
            if (rows < 0).any():
                unknown = {each.tobytes(): each for each in levels[rows < 0]}
                self.spent, self.idle = self.spent + len(unknown), 0
                return np.stack(list(unknown.values()))
            self.idle += 1
            self._step(nodes.values[rows])
        return np.zeros((0, self.m), np.int64)

    def _step(self, values: Array) -> None:
        """The component moves, by the values (n,) at the points of the step."""
        proposed, omega = ask(_ALGORITHM, self.mixture, self.noise), self._temperature
        is_fine = np.isfinite(values)
        values = np.where(is_fine, values, values[is_fine].min(initial=0.0) - self.scale)
        rate = np.float64(TUNING.way * TUNING.drawn / self.length)
        settings = Settings(omega, Rates(rate, rate))
        with np.errstate(all="ignore"):
            mixture, _ = tell(_ALGORITHM, self.mixture, proposed, Evaluation(values), None, settings)
        surest = np.log(2.0 * self.m)  # every other point still has a bit that is unlikely
        natural = np.clip(np.nan_to_num(mixture.components.natural), -surest, surest)
        self.mixture, self.noise = Mixture(np.zeros(1), mixture.components._replace(natural=natural)), None

    @property
    def _temperature(self) -> np.float64:
        return np.float64(TUNING.warmth * max(self.scale, 1e-300) * _END ** min(1.0, self.spent / self.length))

    def starts(self, rng: np.random.Generator, n: int) -> Levels:
        """Points (n, m) to walk from: the most likely one, and some that are drawn."""
        p = _FAMILY.means(self.mixture.components)[0]
        drawn = rng.random((n - 1, self.m)) < p
        return np.concatenate([(p > 0.5)[None], drawn]).astype(np.int64)


@stored
@dataclass(eq=False)
class Annealings:
    """One run after another, with walks between them.

    With a budget the first takes an eighth of it, after walks have made a quarter. If it or the walks that began where
    it ended found something better than those before, the second takes half. Without a budget a run is as long as walks
    have been, and twice as long as the one before, as long as that helped.

    Attributes:
        runs, spent: how many are over, and the evaluations that they made.
        before: the best value when the run began.
    """

    annealed: Annealed | None = None
    runs: int = 0
    spent: int = 0
    before: float = -np.inf

    def ask(self, context: Context, nodes: Nodes, budget: int | None) -> tuple[Levels, Levels]:
        """Points (n, m) whose values a run wants, if it is its turn; and points to walk from, where one has ended."""
        none = np.zeros((0, nodes.m), np.int64)
        if self.annealed is None:
            length, walked = self._next(context, budget), context.nfev - self.spent
            after = length if budget is None else budget // 4 + self.runs * (budget // 16)
            if not length or walked < after or context.left < length or not context.is_sampled:
                return none, none
            self.annealed, self.before = Annealed(nodes.m, length, context.scale), context.best_value
        levels = self.annealed.ask(context.rng, nodes)
        if len(levels):
            return levels, none
        starts = self.annealed.starts(context.rng, TUNING.drawn // 4)
        self.runs, self.spent = self.runs + 1, self.spent + self.annealed.spent
        self.annealed = None
        return none, starts

    def _next(self, context: Context, budget: int | None) -> int:
        """Evaluations of the next run; 0 if there is none."""
        if self.runs and context.best_value <= self.before:
            return 0
        if budget is None:
            return TUNING.first_run * 2**self.runs
        return (max(budget // 8, TUNING.first_run // 8), budget // 2, 0)[min(self.runs, 2)]
