"""Verifies candidates of a known function, with searches that are launched for a question made by SciPy."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from allmodes.objective.bounds import Box
from allmodes.search.archive import Archive
from allmodes.search.candidate import LOCAL, SPACE_FILLING, Candidate, Origin
from allmodes.search.context import Context
from allmodes.search.events import Arrived, Continue, Event
from allmodes.search.verify.verifier import Verifier

Array = NDArray[np.float64]
Function = Callable[[Array], float]


def make_context(d: int, order: int = 0, scale: float = 1.0, **settings: object) -> Context:
    """A context that has seen values spread over `scale`."""
    box = Box.make([(0, 1)] * d, periodic=settings.pop("periodic", None))
    context = Context(box, Archive(box), np.random.default_rng(0), order=order, **settings)  # type: ignore[arg-type]
    context.observe_level(np.linspace(-2.0 * scale, 0.0, 9))
    return context


def candidate_at(f: Function, point: object, source: str = "differences", **known: object) -> Candidate:
    """A candidate with gradient and Hessian by central differences."""
    x = np.asarray(point, dtype=np.float64)
    d, h, e = len(x), 1e-4, np.eye(len(x))
    gradient = np.array([(f(x + h * e[i]) - f(x - h * e[i])) / (2 * h) for i in range(d)])
    hessian = np.array(
        [
            [
                f(x + h * (e[i] + e[j]))
                - f(x + h * (e[i] - e[j]))
                - f(x - h * (e[i] - e[j]))
                + f(x - h * (e[i] + e[j]))
                for j in range(d)
            ]
            for i in range(d)
        ]
    ) / (4 * h * h)
    found = {"gradient": gradient, "hessian": hessian, "radius": 0.01} | known
    return Candidate(x, f(x), source=source, origin=Origin(LOCAL, SPACE_FILLING, 0), **found)  # type: ignore[arg-type]


def verify(verifier: Verifier, f: Function, candidate: Candidate) -> list[Event]:
    """All that is said of a candidate until the verifier has nothing left to ask."""
    context, said = verifier.context, []
    waiting = verifier.judge(Arrived(candidate))
    while waiting or len(verifier):
        for event in waiting:
            if isinstance(event, Continue) and event.origin.question >= 0:
                waiting = verifier.judge(Arrived(_climb(context, f, event)))
                break
            said.append(event)
        else:
            waiting = []
            for block in verifier.ask():
                points = block.points[0]
                assert context.box.inside(points).all()
                values = np.array([f(point) for point in points])
                context.observe(points, values, len(values))
                waiting += verifier.tell(block, values[None])
    return said


def _climb(context: Context, f: Function, event: Continue) -> Candidate:
    bounds = list(zip(context.box.lower_unit, context.box.upper_unit, strict=True))
    method, options = "L-BFGS-B", {"ftol": 1e-15, "gtol": 1e-10}
    if event.is_kinked:
        method, options = "Nelder-Mead", {"xatol": 1e-10, "fatol": 1e-14, "maxfev": 4000}
    found = minimize(lambda x: -f(x), event.point, method=method, bounds=bounds, options=options)
    made = candidate_at(f, found.x, is_kinked=event.is_kinked)
    return Candidate(
        made.point, made.value, made.gradient, made.hessian, made.source, event.origin._replace(cost=10), 0.01,
        is_kinked=event.is_kinked, factor=np.eye(len(found.x)),
    )  # fmt: skip
