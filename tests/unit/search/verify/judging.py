"""Verifies candidates of a known function, with the searches that questions want made by SciPy."""

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
                waiting = verifier.judge(Arrived(climb(context, f, event, event.origin)))
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


def climb(context: Context, f: Function, event: Continue, origin: Origin) -> Candidate:
    """Where a local search arrives; across a direction, if it is given one."""
    lower, upper = context.box.lower_unit, context.box.upper_unit
    point, axes = event.point, np.eye(len(event.point))
    method, options, bounds = "L-BFGS-B", {"ftol": 1e-15, "gtol": 1e-10}, list(zip(lower, upper, strict=True))
    if event.is_kinked or event.along is not None:
        method, options = "Nelder-Mead", {"xatol": 1e-10, "fatol": 1e-14, "maxfev": 4000}
    if event.along is not None:
        axes, bounds = np.linalg.svd(event.along[None])[2][1:], None

    def place(moved: Array) -> Array:
        return np.clip(point + moved @ axes, lower, upper)

    shifted = None if bounds is None else [(low - x, high - x) for (low, high), x in zip(bounds, point, strict=True)]
    simplex = None if method == "L-BFGS-B" else event.radius * np.eye(len(axes) + 1, len(axes), -1)
    if simplex is not None:
        options["initial_simplex"] = simplex if shifted is None else np.clip(simplex, *np.array(shifted).T)
    found = minimize(lambda y: -f(place(y)), np.zeros(len(axes)), method=method, bounds=shifted, options=options)
    made = candidate_at(f, place(found.x), is_kinked=event.is_kinked)
    return Candidate(
        made.point, made.value, made.gradient, made.hessian, made.source, origin._replace(cost=10), 0.01,
        is_kinked=event.is_kinked, factor=np.eye(len(point)),
    )  # fmt: skip
