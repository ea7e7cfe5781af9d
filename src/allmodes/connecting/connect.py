"""Ways between the modes of a result: neighbours first, then what may be lower.

Every way begins straight. Its highest point is moved to the saddle beside it, the ways to and from there are looked
along again, and so on, until the highest point is a saddle (after Fischer and Karplus, 1992). All ways become lower in
turn, so that a small budget gives a rough map of everything rather than a fine one of a corner.
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from allmodes.checks import as_limit
from allmodes.connecting.pairs import Groups, Pair, neighbours
from allmodes.connecting.route import Corner, Route
from allmodes.connecting.surface import SpentError, Surface
from allmodes.connecting.tuning import TUNING
from allmodes.keywords import helpful
from allmodes.objective.bounds import Box
from allmodes.objective.derivatives import Source
from allmodes.objective.evaluation import VALUE
from allmodes.objective.evaluator import Evaluator
from allmodes.objective.residuals import SumOfSquares, sum_of_squares
from allmodes.result import Result
from allmodes.result.barriers import Barriers, Way, ordered

Floats = NDArray[np.float64]

_DIFFERENT = 1e-5  # of the values of modes: by more another function is off
_BUDGET = 10_000  # evaluations for each coordinate and one more, as of a search


@helpful()
def connect(
    result: Result,
    fun: Callable[..., Any] | None = None,
    *,
    maxfev: int | None = None,
    args: Any = (),
    jac: Any = None,
    vectorized: bool | None = None,
    workers: Any = 1,
    rng: Any = None,
) -> Result:
    """See `allmodes.Result.connect`."""
    _check(result)
    values = np.array([mode.fun for mode in result.modes])
    if len(values) < 2:  # nothing to join
        return replace(result, barriers=Barriers(values, result.maximise, (), 0, 0, True))
    box = _box(result)
    limit = _BUDGET * (box.d + 1) if maxfev is None else as_limit("maxfev", maxfev, 0)
    source = _source(result, fun, args, jac, vectorized, box)
    points = box.to_unit(np.array([mode.x for mode in result.modes]))
    with Evaluator(source, workers=workers, on_error="nan") as evaluator:
        surface = Surface(evaluator, box, result.maximise, limit)
        if surface.left >= surface.cost[VALUE]:
            _compare(result, surface, points[0])
        survey = Survey(
            surface, points, surface.sign * values, _curvatures(result, box), np.random.default_rng(rng)
        )  # fmt: skip
        is_complete = survey.run()
        ways = ordered([_way(route, surface) for route in survey.best], result.maximise)
        barriers = Barriers(values, result.maximise, ways, evaluator.nfev, evaluator.njev, is_complete)
    return replace(result, barriers=barriers)


def _compare(result: Result, surface: Surface, best: Floats) -> None:
    """Refuse a function that fails at the best mode, or is not what it was."""
    found, wanted = float(surface.sign * surface.heights(best[None])[0]), result.modes[0].fun
    if not np.isfinite(found):
        said = surface.evaluator.failures[0]
        raise ValueError(
            f"fun failed at the best mode ({said.kind}: {said.text}); wanted the function that was searched."
        )
    values = np.array([mode.fun for mode in result.modes])
    scale = max(float(np.ptp(values)), float(np.abs(values).max()), abs(np.nan_to_num(result.temperature)))
    if abs(found - wanted) > _DIFFERENT * scale:
        hint = ", and of fits the residuals divided by their errors" if result.is_fit else ""
        raise ValueError(
            f"fun is {found:.6g} at the best mode, where the search found {wanted:.6g}; wanted the function as it was "
            f"searched, with the same args{hint}."
        )


def _check(result: Result) -> None:
    """Refuse results between whose modes no way can be found by this."""
    settings = result.settings
    why = ""
    if result.is_roots:
        why = "these are roots, which all lie at the height 0"
    elif settings.get("integrality") or settings.get("choices"):
        why = "some coordinates are whole numbers or choices, between which there is no way"
    elif settings.get("constraints"):
        why = "it was searched under constraints, which ways do not know"
    elif settings.get("noise") or any(mode.standard_error is not None for mode in result.modes):
        why = "the function is noisy: the highest of many values on a way would say more of luck than of the way"
    if why:
        raise ValueError(f"connect finds ways of a smooth function in bounds; {why}.")


def _box(result: Result) -> Box:
    """The bounds in which it was searched."""
    settings = result.settings
    x = np.array([mode.x for mode in result.modes])
    periodic, scale = settings.get("periodic") or None, settings.get("scale")
    return Box.make(result.bounds, x, periodic, scale=scale, names=result.coordinate_names)


def _source(result: Result, fun: Any, args: Any, jac: Any, vectorized: bool | None, box: Box) -> Source:
    """What is evaluated: the function or, of fits, half the sum of squares."""
    is_batch = bool(result.settings.get("vectorized")) if vectorized is None else vectorized
    is_fit = result.is_fit or result.settings.get("task") == "fit"
    if is_fit:
        part = result.problem
        if fun is not None:
            part = sum_of_squares(fun, jac, args, is_batch, box, None, "linear", 1.0)
        if isinstance(part, SumOfSquares):
            return Source((part,), 1, has_model=True)
    if fun is None:
        wanted = "the residuals, divided by their errors" if is_fit else "the function, as it was searched"
        raise TypeError(f"connect needs {wanted}: result.connect(fun).")
    return Source.make(fun, args, jac, None, is_batch, box=box)


def _curvatures(result: Result, box: Box) -> list[Floats | None]:
    """Of the modes in unit coordinates, (d, d) each; None where they are not known."""
    sign = -1.0 if result.maximise else 1.0
    found = []
    for mode in result.modes:
        H = sign * box.hessian_to_unit(mode.hessian, mode.x) if box.d else np.zeros((0, 0))
        found.append(H if np.isfinite(H).all() else None)
    return found


@dataclass
class Survey:
    """All ways between some modes while they are being lowered.

    Attributes:
        surface: of heights.
        points: of the modes, (n, d).
        levels: their heights (n,).
        curvatures: their Hessians, (d, d) each or None.
        rng: for ways that begin aside.
        routes: found so far.
        branches: (height, i, j) of finished routes that make a tree, lowest first.
    """

    surface: Surface
    points: Floats
    levels: Floats
    curvatures: list[Floats | None]
    rng: np.random.Generator
    routes: list[Route] = field(default_factory=list)
    branches: list[tuple[float, int, int]] = field(default_factory=list)

    @property
    def best(self) -> list[Route]:
        """The lowest of each pair; of equally low ones the first, which has fewer corners."""
        lowest: dict[Pair, Route] = {}
        for route in (each for each in self.routes if np.isfinite(each.height)):
            other = lowest.get(route.pair)
            if other is None or route.height < other.height - TUNING.lower * other.climb:
                lowest[route.pair] = route
        return list(lowest.values())

    def run(self) -> bool:
        """Find ways as long as there is something to try; False if the budget ended it."""
        try:
            joining, others = neighbours(self.surface.box, self.points)
            self._lower([self._straight(pair) for pair in joining])
            for pair in others:
                if self._may_be_lower(pair):
                    self._lower([self._straight(pair)])
            for routes in chain(self._turned(), self._further()):
                self._lower(routes)
        except SpentError:
            return False
        return True

    def _straight(self, pair: Pair, corner: Corner | None = None, turn: Floats | float = 0.0) -> Route:
        """A new way, which is straight or bent at a corner; `turn` (d,) is how often more it goes round."""
        i, j = pair
        line = self.surface.box.difference(self.points[j], self.points[i]) + turn
        ends = [Corner(self.points[i], float(self.levels[i]), is_done=True),
                Corner(self.points[i] + line, float(self.levels[j]), is_done=True)]  # fmt: skip
        known = [self.curvatures[k] for k in pair]
        whole = [H for H in known if H is not None]
        guess = sum(whole[1:], whole[0]) / len(whole) if whole else None
        route = Route.through(self.surface, pair, [ends[0], *([corner] if corner else []), ends[1]], guess)
        self.routes.append(route)
        return route

    def _lower(self, routes: list[Route]) -> None:
        """Each in turn, until they are as low as they get, or others are lower."""
        while routes:
            for route in routes:
                route.advance(self.surface)
                if route.is_done:
                    self._keep(route)
            limits = [self._barrier(route.pair) for route in routes]
            routes = [
                route for route, limit in zip(routes, limits, strict=True) if not route.is_done and route.passes < limit
            ]

    def _keep(self, route: Route) -> None:
        """One more finished route; of all only those that make the tree are remembered for comparisons."""
        insort(self.branches, (route.height, *route.pair))
        groups = Groups(len(self.points))
        self.branches = [branch for branch in self.branches if groups.join(*branch[1:])]

    def _barrier(self, pair: Pair) -> float:
        """The lowest known between two modes, by routes that are finished; infinite if there is none."""
        groups = Groups(len(self.points))
        for height, i, j in self.branches:
            groups.join(i, j)
            if groups.of(pair[0]) == groups.of(pair[1]):
                return height
        return np.inf

    def _may_be_lower(self, pair: Pair) -> bool:
        """Whether a way between two modes could be lower than what is known: it passes both."""
        floor = float(self.levels[list(pair)].max())
        known = self._barrier(pair)
        return known > floor + 1e-9 * abs(known - floor) and known - floor > 1e-12 * max(abs(known), abs(floor))

    def _further(self) -> Iterator[list[Route]]:
        """Ways that might be lower than the branches of the tree, worst first: they begin aside."""
        if len(self.points[0]) < 2:
            return
        for n in range(TUNING.around):
            for route in self._branches():
                if n < TUNING.further or not np.isfinite(route.height):
                    yield [self._straight(route.pair, self._aside(route))]

    def _turned(self) -> Iterator[list[Route]]:
        """Ways that go round periodic coordinates the other way, where that is not much longer."""
        for route in self._branches():
            line = self.surface.box.difference(*self.points[list(route.pair)[::-1]])
            for place in self.surface.box.periodic_unit.tolist():
                if abs(line[place]) >= TUNING.round:
                    turn = np.zeros(len(line))
                    turn[place] = -np.sign(line[place])
                    yield [self._straight(route.pair, turn=turn)]

    def _branches(self) -> list[Route]:
        """The routes that make the tree, worst first."""
        groups = Groups(len(self.points))
        return [route for route in sorted(self.routes, key=lambda each: each.height) if groups.join(*route.pair)][::-1]

    def _aside(self, route: Route) -> Corner:
        """A place beside the middle of a way, across it."""
        a, b = route.corners[0].point, route.corners[-1].point
        line = b - a
        aside = self.rng.normal(size=len(a))
        aside -= (aside @ line) / (line @ line) * line
        aside *= TUNING.bend * route.length / max(float(np.linalg.norm(aside)), 1e-300)
        low, high = self.surface.box.lower_unit, self.surface.box.upper_unit
        return Corner(np.clip(0.5 * (a + b) + aside, low, high), np.inf)


def _way(route: Route, surface: Surface) -> Way:
    """In the user's coordinates and with the user's sign."""
    top = route.top
    ranks = (min(route.pair) + 1, max(route.pair) + 1)
    corners = route.corners if route.pair[0] < route.pair[1] else route.corners[::-1]
    points = surface.box.to_user(np.array([corner.point for corner in corners]))
    x = surface.box.to_user(top.point[None])[0]
    return Way(ranks, float(surface.sign * top.height), x, top.is_saddle, points)
