"""What is to be found, as the user gave it, and the search that it begins."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from allmodes.driver import Driver
from allmodes.known import Known
from allmodes.memory import Memory
from allmodes.objective.bounds import Box
from allmodes.objective.draws_given import Draws, draws_of
from allmodes.search.context import Context
from allmodes.search.diagnosis import Diagnosis
from allmodes.search.searcher import Strategy
from allmodes.search.searchers.surrogate.surrogate import Surrogate
from allmodes.settings import prepare
from allmodes.state import FinderState


@dataclass(frozen=True, kw_only=True)
class Task:
    """What is to be found, and within which budget, as the user gave it: see `find_minima`.

    `strategy` makes a search to be run in place of that of the method.
    """

    bounds: Any
    x0: Any
    warm_start: Any
    maximise: bool
    target: str
    method: Any
    n_modes: int | None
    maxfev: int | None
    maxiter: int | None
    maxtime: float | None
    xtol: float
    periodic: Any
    noise: Any
    polish: bool
    rng: Any
    names: Any
    options: dict[str, Any] | None
    effort: float | None = None
    integrality: Any = None
    scale: Any = None
    spread: Any = None
    symmetry: Any = None
    constraints: Any = None
    vectorized: bool = False
    within: Any = None
    min_distance: Any = None
    strategy: Callable[[Context], Strategy] | None = None
    cost: Any = None
    starts: Any = None

    @cached_property
    def draws(self) -> Draws | None:
        """The draws to begin at; a sampler is asked for them once."""
        return draws_of(self.starts, self.rng, self.bounds)

    @cached_property
    def box(self) -> Box:
        """Where to search."""
        return Box.make(
            self.bounds, self.x0, self.periodic, self.integrality, self.scale, self.names, self.spread, self.draws
        )

    def begin(
        self, order: int, is_derived: bool = False, cost_of_mode: int | None = None, is_system: bool = False
    ) -> Driver:
        """A search that has not evaluated anything.

        Args:
            order: 0 from values alone, 1 with gradients, 2 with Hessians.
            is_derived: whether gradients are made of values already: there is nothing to compare them with.
            cost_of_mode: for residuals, evaluations that each mode costs at the end; None for a function.
            is_system: whether F and its Jacobian take the place of gradients and Hessians.
        """
        settings, frame, context, search = prepare(
            self.box, x0=self.x0, order=order, maximise=self.maximise, target=self.target, method=self.method,
            n_modes=self.n_modes, maxfev=self.maxfev, maxiter=self.maxiter, maxtime=self.maxtime, xtol=self.xtol,
            noise=self.noise, polish=self.polish, rng=self.rng, names=self.names,
            options=self.options, effort=self.effort, cost_of_mode=cost_of_mode,
            starts=self.starts, draws=self.draws, spread=self.spread, symmetry=self.symmetry, within=self.within,
            min_distance=self.min_distance,
            constraints=self.constraints, vectorized=self.vectorized, is_system=is_system,
            cost=self.cost,
        )  # fmt: skip
        search = search if self.strategy is None else self.strategy(context)
        known = Known.of(self.warm_start, frame.box, settings.names)
        is_trusted = settings.noise is not None or not settings.options.get("check", True) or any(frame.box.grids)
        is_trusted |= isinstance(search, Surrogate)  # whose evaluations are too few for a look at anything else
        memory = Memory(frame.box.D, 2 if context.has_model else order)
        diagnosis = Diagnosis(context, is_trusted, compares=order > 0 and not is_derived)
        if context.constraints is not None:
            diagnosis.move_inside()
            context.count_constraints()
        state = FinderState(settings, frame, context, search, known, memory, diagnosis)
        if len(known):
            state.welcome(known.points, known.values, 0)
        return Driver(state)
