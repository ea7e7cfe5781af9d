"""Noisy functions: measure the noise, search by populations, then judge what was found by fresh values."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from allmodes.objective import Evaluation
from allmodes.search.context import Context
from allmodes.search.events import Arrived, Recognised
from allmodes.search.searcher import LOOSE, Request, Strategy
from allmodes.search.searchers.noisy.tuning import TUNING
from allmodes.search.searchers.population.population import Population
from allmodes.search.verify.noise import NoisyVerifier
from allmodes.storage import stored

Array = NDArray[np.float64]


@stored
@dataclass
class Noisy(Strategy):
    """A search in stages: "measure", unless the noise is known, "search", "verify", "done"."""

    context: Context
    population: Population = field(init=False)
    verifier: NoisyVerifier = field(init=False)
    stage: str = "search"

    def __post_init__(self) -> None:
        self.population, self.verifier = Population(self.context), NoisyVerifier(self.context)
        if math.isnan(self.context.noise):
            self.stage = "measure"

    def ask(self) -> Request:
        context = self.context
        if self.stage == "measure":
            places = context.scatter(TUNING.confirmations // TUNING.repeats)
            return Request(np.repeat(places, TUNING.repeats, axis=0))
        if self.stage == "search":
            is_late = context.nfev >= (1.0 - TUNING.reserve) * context.maxfev
            if not is_late and not self.population.ending:
                return self.population.ask(is_settled=True)
            for candidate in self.population.narrow(TUNING.widest):
                self.verifier.record(candidate)
            self.stage = "verify"
        points = self.verifier.ask()
        if not len(points):
            self.stage = "done"
        return Request(points)

    @property
    def in_turn(self) -> str:
        return ""

    def more(self, n: int) -> Request:
        """Points for populations to begin at."""
        return Request(self.context.scatter(n), ticket=LOOSE)

    def tell(self, evaluation: Evaluation, ticket: int = 0) -> None:
        values = np.asarray(evaluation.value)
        if self.stage == "search":
            self._search(evaluation)
        elif self.stage == "verify":
            self.verifier.tell(values)
        else:
            self.context.learn_noise(measure_noise(values.reshape(-1, TUNING.repeats)))
            self.context.observe_level(values)
            self.stage = "search"

    def _search(self, evaluation: Evaluation) -> None:
        for event in self.population.tell(evaluation):
            if isinstance(event, Arrived):
                self.population.judged(self.verifier.record(event.candidate))
            elif isinstance(event, Recognised):
                self.verifier.hit(event.mode)

    def add_points(self, points: Array, values: Array) -> None:
        self.population.add_points(points, values)

    @property
    def account(self) -> str:
        return f"populations on a noisy function (standard deviation {self.context.noise:.3g} inside)"

    @property
    def ending(self) -> str:
        return "what was found has been evaluated again and judged" if self.stage == "done" else ""


def measure_noise(values: Array) -> float:
    """Standard deviation of repeated values (places, repeats), pooled over places without failures."""
    whole = values[np.isfinite(values).all(axis=1)]
    return float(np.sqrt(whole.var(axis=1, ddof=1).mean())) if len(whole) else 0.0
