"""Results made by hand, for pictures that do not change when the solver does."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from allmodes import Status
from allmodes.modes.coverage import estimate
from allmodes.nva.mixture import Mixture
from allmodes.nva.mixture.covariances import Full
from allmodes.nva.mixture.families.gaussian import GaussianComponents
from allmodes.result import AnnealingTrace, Barriers, History, Mode, Paths, Result, Way, best_of


def mode(x, fun, **changes):
    d = len(x)
    given = {
        "kind": "minimum", "is_global": False, "gradient_norm": 1e-9, "hessian": 4.0 * np.eye(d),
        "eigenvalues": np.full(d, 4.0), "curvature_from": "derivatives", "flatness": 0.25, "weight": 0.25, "hits": 3,
        "found_at": 120,
    }  # fmt: skip
    return Mode(np.asarray(x, dtype=float), float(fun), **given | changes)


def wells(x):
    """Of a point (d,): four minima near x0, x1 = -1, 1, of which the lower left is best; quadratic in the others."""
    x = np.asarray(x)
    return float(((x[:2] ** 2 - 1) ** 2).sum() + 0.3 * x[:2].sum() + (x[2:] ** 2).sum())


def four_modes(d=2):
    rest = [0.0] * (d - 2)
    tilted = np.eye(d) * 8.0
    tilted[0, 1] = tilted[1, 0] = 5.0
    return (
        mode([-1.04, -1.04, *rest], -0.61, is_global=True, hessian=tilted, weight=0.7, flatness=0.2),
        mode([-1.04, 0.96, *rest], -0.01, hessian=8.0 * np.eye(d), weight=0.2, flatness=0.125),
        mode([0.96, -1.04, *rest], 0.02, hessian=3.0 * np.eye(d), weight=0.1, flatness=0.5),
        mode([2.0, 0.96, *rest], 0.59, kind="boundary", active=(0,), weight=0.0, flatness=np.nan),
    )


def some_paths(d=2):
    """Nine local searches from a grid to the modes, of six points each."""
    ends = np.array([[-1.04, -1.04], [-1.04, 0.96], [0.96, -1.04], [2.0, 0.96]])
    share = np.linspace(0.0, 1.0, 6)[:, None] ** 0.5
    starts = [np.array([a, b]) for a in (-1.8, 0.1, 1.7) for b in (-1.7, -0.1, 1.9)]
    points = np.zeros((6 * len(starts), d))
    for i, start in enumerate(starts):
        end = ends[np.argmin(np.hypot(*(ends - start).T))]
        points[6 * i : 6 * i + 6, :2] = start + (end - start) * share
    return Paths(9, np.repeat(np.arange(9), 6), points, np.array([wells(point) for point in points]))


def some_history():
    history = History()
    for row in ((1, 40.0, 0), (12, 3.0, 0), (30, -0.01, 1), (55, -0.4, 2), (60, -0.61, 3), (90, -0.61, 4)):
        history.add(*row)
    return history


def mixture_of(modes, temperature):
    spread = np.stack([temperature * np.linalg.inv(each.hessian) for each in modes])
    log_weights = np.log([max(each.weight, 1e-9) for each in modes])
    means = np.array([each.x for each in modes])
    return Mixture(log_weights - log_weights[-1], GaussianComponents(means, Full().start(spread)))


def some_trace(d=2, steps=12, runs=2):
    """Two components that move apart, shrink, and differ more and more in weight."""
    frames = [(run, step) for run in range(runs) for step in range(steps)]
    cool = [0.7**step for _, step in frames]
    means = [np.array([[-1.0, -1.0], [0.9, 1.0]]) * (1.0 - 0.9 * c) + 0.1 * run for (run, _), c in zip(frames, cool,
             strict=True)]  # fmt: skip
    means = [np.pad(mean, ((0, 0), (0, d - 2))) for mean in means]
    return AnnealingTrace(
        run=np.array([run for run, _ in frames]), step=np.array([step for _, step in frames]),
        nfev=np.arange(len(frames)) * 16 + 32, temperature=10.0 * np.array(cool),
        weights=[np.array([1.0 - 0.5 * c, 0.5 * c]) for c in cool], means=means,
        covariances=[np.tile((0.01 + 0.4 * c) * np.eye(d), (2, 1, 1)) for c in cool],
    )  # fmt: skip


def some_barriers():
    """Of the four modes: a chain of ways, the last of which is no saddle."""
    corners = np.array([each.x for each in four_modes()])
    ways = [
        Way((i + 1, i + 2), value, 0.5 * (corners[i] + corners[i + 1]), value < 1.2, corners[i : i + 2])
        for i, value in enumerate((0.8, 1.0, 1.4))
    ]
    return Barriers(np.array([each.fun for each in four_modes()]), False, tuple(ways), 150, 0, True)


def result(d=2, **changes):
    """A result with all there is, of the wells."""
    modes = changes.pop("modes", four_modes(d))
    x, fun = best_of(modes, np.full(d, 0.5), 7.0, d)
    temperature = 0.1
    given = {
        "x": x, "fun": fun, "success": True, "status": Status.NOTHING_NEW, "message": "Done.", "nfev": 120, "njev": 0,
        "nhev": 0, "nit": 40, "modes": modes, "coverage": estimate(np.array([12, 5, 1])), "temperature": temperature,
        "nfail": 0, "failures": (), "history": some_history(), "method": "auto",
        "mixture": mixture_of(modes, temperature) if modes and "mixture" not in changes else None,
        "bounds": np.array([[-2.0, 2.0]] * d), "paths": some_paths(d) if d > 1 else Paths(),
    }  # fmt: skip
    return Result(**given | changes)


NASTY = ("$a$ and $b", "<script>alert(1)</script>", "x_{1}^2 \\alpha", "line\nbreak", "α_β", "", "%s {0}")


def odd_results():
    nan = np.full((2, 2), np.nan)
    first = four_modes()[0]
    yield "nothing", result(modes=(), x=np.full(2, np.nan), fun=np.nan, history=History(), paths=Paths(), bounds=None)
    yield "no mode", result(modes=())
    yield "one mode", result(modes=(first,), paths=Paths())
    yield "no bounds", result(bounds=None)
    yield "open", result(bounds=np.array([[-np.inf, np.inf], [-2.0, np.inf]]))
    yield "maximise", result(maximise=True, modes=tuple(replace(m, kind="maximum", hessian=-m.hessian) for m in
                                                        four_modes()))  # fmt: skip
    kinds = ("flat", "boundary", "unverified")
    unknown = {"weight": np.nan, "hessian": nan, "flatness": np.inf}
    modes = tuple(replace(m, kind=k, **unknown) for m, k in zip(four_modes(), kinds, strict=False))
    yield "unknown", result(modes=modes, mixture=None, temperature=0.0)
    singular = np.array([[1.0, 1.0], [1.0, 1.0]])
    yield "singular", result(modes=(replace(first, hessian=singular), replace(first, hessian=-singular, fun=np.inf)),
                             mixture=None)  # fmt: skip
    yield "level", result(modes=tuple(replace(m, fun=3.0) for m in four_modes()))
    yield "noisy", result(modes=tuple(replace(m, standard_error=0.05) for m in four_modes()))
    rng = np.random.default_rng(0)
    many = tuple(mode(rng.uniform(-2, 2, 7), i, flatness=10.0**i if i < 9 else 1.0) for i in range(200))
    yield "200 modes in 7-d", result(7, modes=many, names=NASTY)
    yield "all the same place", result(modes=(first,) * 3)
    yield "huge", result(modes=tuple(replace(m, fun=m.fun * 1e300, x=m.x * 1e150) for m in four_modes()), mixture=None,
                         bounds=np.array([[-1e151, 1e151]] * 2), paths=Paths())  # fmt: skip
    yield "fixed", result(3, bounds=np.array([[-2.0, 2.0], [-2.0, 2.0], [0.0, 0.0]]), mixture=None)


ODD = dict(odd_results())
