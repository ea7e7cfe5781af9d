"""The cases of the bed: which problem, which derivatives, which settings, and how many evaluations at most."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cache, partial
from typing import Any

import numpy as np

import bed_problems as own
import kinks
from allmodes import problems
from bed_known import Known, from_points, from_problem
from bed_shapes import SHAPES

TOLERANCE = 5e-3  # of the bounds: a listed point this near a mode has found it
NOISY_TOLERANCE = 3e-2  # noise moves the minimum of what was measured
FEW_TOLERANCE = 1e-2  # a model knows positions no better


@dataclass(frozen=True)
class Case:
    """One search.

    Attributes:
        name: group/problem, order of the derivatives, and what is not the default.
        make: the problem.
        cap: evaluations at most; None for the default budget, where the search should end by itself.
        noise: standard deviation that is added to the values.
        is_closed: whether all modes are known, so that whatever else is listed is false.
    """

    name: str
    make: Callable[[], Known]
    order: int = 0
    cap: int | None = None
    noise: float = 0.0
    tolerance: float = TOLERANCE
    settings: dict[str, Any] = field(default_factory=dict)
    is_closed: bool = False

    @property
    def group(self) -> str:
        return self.name.partition("/")[0]


def _case(group: str, problem: str, make: Callable[[], Known], order: int = 0, **given: Any) -> Case:
    """A case; what `Case` does not know is a setting of the search."""
    named = {key: given.pop(key) for key in ("cap", "noise", "tolerance") if key in given}
    shown = [f"order {order}", *(value for value in given.values() if isinstance(value, str))]
    if "noise" in named:
        shown[0] = f"noise {named['noise']:g}"
        given.setdefault("noise", named["noise"])
    return Case(f"{group}/{problem}, {', '.join(shown)}", make, order, settings=given, **named)


def _packaged(make: Callable[..., problems.Problem], *args: Any, is_global: bool = False) -> Callable[[], Known]:
    return cache(lambda: from_problem(make(*args), is_global))


_HIMMELBLAU, _CAMEL = _packaged(problems.himmelblau), _packaged(problems.six_hump_camel)
_STYBLINSKI = _packaged(problems.styblinski_tang, 4)
_TEN, _FIFTY = _packaged(problems.random_mixture, 2, 10, 0.5), _packaged(problems.random_mixture, 2, 50, 0.25)
_TWENTY = _packaged(problems.random_mixture, 5, 20, 0.7)
_FUNNELS = _packaged(problems.rastrigin_funnels, 2)
_FUNNELS_GLOBAL = _packaged(problems.rastrigin_funnels, 2, is_global=True)
_DEEP_FUNNELS = _packaged(problems.rastrigin_funnels, 4, is_global=True)
_SHUBERT = _packaged(problems.shubert, is_global=True)
_PATIENT = {"patience": 10**6}  # no end before the cap: local searches for small basins
_BEST: dict[str, Any] = {"target": "global"}


def _smooth() -> list[Case]:
    smooth = partial(_case, "smooth")
    return [
        *(smooth("Himmelblau", _HIMMELBLAU, order) for order in (0, 1, 2)),
        *(smooth("camel", _CAMEL, order) for order in (0, 1, 2)),
        *(smooth("Styblinski-Tang d=4", _STYBLINSKI, order) for order in (0, 1, 2)),
        *(smooth("mixture d=2 K=10", _TEN, order) for order in (0, 1, 2)),
        *(smooth("mixture d=2 K=50", _FIFTY, order) for order in (0, 1, 2)),
        *(smooth("mixture d=5 K=20", _TWENTY, order) for order in (0, 1, 2)),
        *(smooth("Vincent", _packaged(problems.vincent), order, cap=8000) for order in (0, 1, 2)),
        *(smooth("banana", _packaged(problems.banana), order) for order in (0, 2)),
        smooth("needles d=2", _packaged(problems.needle_basins, 2), 0, cap=10_000, options=_PATIENT),
        smooth("needles d=2", _packaged(problems.needle_basins, 2), 2, cap=8000, options=_PATIENT),
        smooth("needles d=4", _packaged(problems.needle_basins, 4), 1, cap=8000, options=_PATIENT),
        *(smooth("funnels d=2", _FUNNELS, order, cap=10_000) for order in (0, 2)),
    ]


def _global() -> list[Case]:
    best = partial(_case, "global")
    return [
        *(best("funnels d=2", _FUNNELS_GLOBAL, order, cap=10_000, **_BEST) for order in (0, 2)),
        best("funnels d=4", _DEEP_FUNNELS, 0, cap=40_000, **_BEST),
        best("funnels d=4", _DEEP_FUNNELS, 0, cap=40_000, method="black-box", **_BEST),
        *(best("Shubert", _SHUBERT, order, cap=10_000, **_BEST) for order in (0, 1)),
        best("Vincent", _packaged(problems.vincent), 0, cap=10_000, **_BEST),
        best("Vincent", _packaged(problems.vincent), 0, cap=40_000, method="black-box", **_BEST),
        best("Himmelblau", _HIMMELBLAU, 0, **_BEST),
        best("camel", _packaged(problems.six_hump_camel, is_global=True), 0, **_BEST),
        best("camel", _packaged(problems.six_hump_camel, is_global=True), 2, **_BEST),
    ]


def _methods() -> list[Case]:
    given = [("Himmelblau", _HIMMELBLAU), ("mixture d=2 K=10", _TEN), ("Styblinski-Tang d=4", _STYBLINSKI)]
    method = partial(_case, "methods")
    return [
        *(method(name, make, order, method="local") for name, make in given for order in (0, 2)),
        *(method(name, make, order, method="multistart") for name, make in given for order in (0, 1)),
        *(method(name, make, 0, method="black-box", cap=15_000) for name, make in given),
        *(method(name, make, order, method="anneal") for name, make in given[:2] for order in (0, 1, 2)),
        method("Styblinski-Tang d=4", _STYBLINSKI, 2, method="anneal", cap=15_000),
        method("mixture d=5 K=20", _TWENTY, 1, method="local", cap=8000),
    ]


def _hard() -> list[Case]:
    boundary, flat = partial(_case, "boundary"), partial(_case, "degenerate")
    scales, periodic = partial(_case, "scales"), partial(_case, "periodic")
    sets = [("ring", own.ring), ("two rings", own.two_rings), ("sine valley", own.sine_valley), ("line", own.line)]
    edges: list[tuple[str, Callable[[], Known]]] = [
        ("wave d=2", cache(partial(own.wave_in_box, 2))),
        ("vertices d=3", partial(own.vertices, 3)),
        ("saddle", own.saddle),
        ("slope d=4", partial(own.slope, 4)),
    ]
    wrapped: list[tuple[str, Callable[[], Known]]] = [
        ("torsion d=2", cache(partial(own.torsion, 2))),
        ("torsion d=3", cache(partial(own.torsion, 3))),
        ("coupled torsion", cache(own.coupled_torsion)),
    ]
    uneven: list[tuple[str, Callable[[], Known]]] = [
        ("Rosenbrock d=2", partial(own.rosenbrock, 2)),
        ("Rosenbrock d=4", partial(own.rosenbrock, 4)),
        ("bowl d=5, 1e4", partial(own.bowl, 5, 1e4)),
        ("bowl d=10, 1e4", partial(own.bowl, 10, 1e4)),
        ("wells in a valley d=2, 1e3", partial(own.narrow_wells, 2, 1e3)),
        ("wells in a valley d=4, 1e2", partial(own.narrow_wells, 4, 1e2)),
    ]
    return [
        *(boundary(name, make, order) for name, make in edges for order in (0, 2)),
        *(flat(name, cache(make), order, cap=6000) for name, make in sets for order in (0, 1, 2)),
        *(flat("line and point", cache(own.line_and_point), order, cap=6000) for order in (0, 1)),
        *(flat("flat floor", cache(own.floor), order, cap=6000) for order in (0, 1)),
        *(flat("flat and not", _packaged(problems.degenerate), order, tolerance=2e-2) for order in (0, 2)),
        *(periodic(name, make, order, periodic=True) for name, make in wrapped for order in (0, 1)),
        *(scales(name, make, order) for name, make in uneven for order in (0, 1, 2)),
        scales("unequal units", own.unequal_units),
    ]


def _kinked() -> list[Case]:
    def known(problem: kinks.Kinked) -> Known:
        box = [problem.bounds] * problem.minima.shape[1]
        return from_points(problem.fun, box, problem.minima, is_analytic=False)

    caps = {"Alpine 1 d=2": 30_000, "double wells, penalty d=5": 30_000}
    cases = [
        _case("kinked", problem.name, partial(known, problem), cap=caps.get(problem.name))
        for problem in kinks.problems()
    ]
    centre = np.linspace(-0.5, 0.7, 4)
    sums = partial(
        from_points, lambda x: np.abs(x - centre).sum(axis=-1), [(-2.0, 2.0)] * 4, centre,
        is_analytic=False, jac=lambda x: np.sign(x - centre),
    )  # fmt: skip
    return [*cases, *(_case("kinked", "absolute values d=4", sums, order) for order in (0, 1))]


def _rough_and_noisy() -> list[Case]:
    rough, noisy = partial(_case, "rough"), partial(_case, "noisy", tolerance=NOISY_TOLERANCE)
    sizes = ((2, 6, 20_000), (3, 6, 30_000), (5, 4, 50_000), (10, 3, 50_000))
    made = {f"composition d={d} K={K}": cache(partial(own.composition, d, K, 10 * d + K)) for d, K, _ in sizes}
    caps = [cap for _, _, cap in sizes]
    first, *_, last = made.items()
    return [
        *(rough(*pair, cap=cap, **_BEST) for pair, cap in zip(made.items(), caps, strict=True)),
        *(rough(*pair, cap=cap, method="black-box", **_BEST) for pair, cap in zip(made.items(), caps, strict=True)),
        rough(*first, 1, cap=10_000, **_BEST),
        rough(*last, 1, cap=20_000, **_BEST),
        noisy("mixture d=2 K=10", _TEN, noise=0.1, cap=20_000),
        noisy("bowl d=4, 1e1", partial(own.bowl, 4, 10.0), noise=0.1, cap=20_000),
        *(noisy("Himmelblau", _HIMMELBLAU, noise=sigma, cap=20_000) for sigma in (0.1, 1.0)),
        replace(noisy("Himmelblau, unknown", _HIMMELBLAU, noise=1.0), settings={"noise": True}, cap=20_000),
        noisy("Himmelblau", _HIMMELBLAU, noise=0.3, cap=20_000, method="black-box"),
        *(noisy("camel", _CAMEL, noise=sigma, cap=20_000) for sigma in (0.1, 0.3)),
    ]


def _shapes() -> list[Case]:
    return [
        Case(
            f"{group}/{name}, order {order}", make, order, most,
            tolerance=FEW_TOLERANCE if group == "few" else TOLERANCE, is_closed=True,
        )
        for group, name, make, orders, most in SHAPES for order in orders
    ]  # fmt: skip


@cache
def cases() -> dict[str, Case]:
    """All cases by name."""
    every = [*_smooth(), *_global(), *_methods(), *_hard(), *_kinked(), *_rough_and_noisy(), *_shapes()]
    return {case.name: case for case in every}
