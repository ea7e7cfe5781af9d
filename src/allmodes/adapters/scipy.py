"""SciPy: multistarts of `scipy.optimize.minimize` whose ends are audited, and modes as an `OptimizeResult`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import OptimizeResult
from scipy.optimize import minimize as scipy_minimize

from allmodes.auditing import audit
from allmodes.checks import whole_number
from allmodes.objective.bounds import Box
from allmodes.result import Mode, Result
from allmodes.search.starts.space_filling import SpaceFilling

_MOST_SEED = 2**31

Floats = NDArray[np.float64]


def multistart(
    method: Any = None, *, n: int = 100, rng: Any = None, spread: Any = None, check: bool = True,
    workers: Callable[..., Any] = map,
) -> Multistart:  # fmt: skip
    """Local searches of `scipy.optimize.minimize` from space-filling starts, and an audit of where they end.

    It replaces a loop over `minimize`, and is a method of it: `minimize(fun, x0, bounds=bounds, method=multistart())`.
    `multistart()(fun, bounds=bounds)` is the same without a point x0.

    Args:
        method: of every local search, as in `minimize`; None for what SciPy chooses.
        n: how many there are; the first starts from x0, if that is given.
        rng: a seed or a numpy.random.Generator, of the starts: scrambled Sobol points between the bounds.
        spread: how far around x0 to start where there are no bounds, as in `allmodes.find_minima`.
        check: whether ends are followed to see what they are (some 5 to 50 evaluations for each place, counted). With
            constraints, or False, they are only grouped, and all modes are "unverified".
        workers: a function like map that runs the local searches, such as the `map` of an executor or a pool.

    >>> found = scipy_minimize(lambda x: (x[0] ** 2 - 1) ** 2, [0.3], bounds=[(-2, 2)], method=multistart(n=8, rng=0))
    >>> sorted((round(float(mode.x[0]), 3), mode.kind) for mode in found.modes)
    [(-1.0, 'minimum'), (1.0, 'minimum')]
    >>> found.nfev == sum(run.nfev for run in found.runs) + found.allmodes.nfev
    True
    """
    if not callable(workers):
        raise TypeError(f"workers is {workers!r}; wanted a function like map, such as the map of an executor.")
    return Multistart(method, whole_number("n", n, 1), rng, spread, bool(check), workers)


class Runs(list[OptimizeResult]):
    """The results of all local searches, in the order of their starts; printed as how many they are."""

    def __repr__(self) -> str:
        return f"<the results of {len(self)} local searches>"


@dataclass(frozen=True)
class Multistart:
    """A way to minimise, see `multistart`."""

    method: Any = None
    n: int = 100
    rng: Any = None
    spread: Any = None
    check: bool = True
    workers: Callable[..., Any] = map

    def __call__(
        self, fun: Callable[..., Any], x0: Any = None, args: Any = (), *, jac: Any = None, hess: Any = None,
        hessp: Any = None, bounds: Any = None, constraints: Any = (), callback: Any = None, tol: float | None = None,
        **options: Any,
    ) -> OptimizeResult:  # fmt: skip
        """Run the local searches; arguments as in `scipy.optimize.minimize`.

        Returns:
            OptimizeResult: that of the best local search, with `modes` (distinct optima, best first), `allmodes` (the
            `allmodes.Result` of `allmodes.audit`: how many optima are missing, which ends are none), `starts` and
            `runs` (all results of SciPy). `nfev`, `njev` and `nhev` are those of all, the audit's included.
        """
        args = args if isinstance(args, tuple) else (args,)
        starts = self._starts(bounds, x0)
        given = {
            "args": args, "method": self.method, "jac": jac, "hess": hess, "hessp": hessp, "bounds": bounds,
            "constraints": constraints, "callback": callback, "tol": tol, "options": options,
        }  # fmt: skip
        runs = Runs(self.workers(partial(_run, fun, given), starts))
        values = np.array([float(np.squeeze(run.fun)) for run in runs])
        if not np.isfinite(values).any():
            raise ValueError(f"fun was finite at none of the ends of {self.n} local searches; call it at one start.")
        is_checked = self.check and not np.size(constraints)
        function = {"fun": fun, "args": args, "jac": _known(jac), "hess": hess if callable(hess) else None}
        audited = audit(
            np.array([run.x for run in runs]), values, starts=starts, bounds=bounds, rng=0,
            **(function if is_checked else {}),
        )  # fmt: skip
        return _best(runs, values, starts, audited)

    def _starts(self, bounds: Any, x0: Any) -> Floats:
        """Where the local searches begin, (n, d)."""
        box = Box.make(bounds, x0, spread=self.spread)
        seed = int(np.random.default_rng(self.rng).integers(_MOST_SEED))
        points = box.to_user(SpaceFilling(box.d, seed).draw(self.n)) if box.d else np.tile(box.lower, (self.n, 1))
        if x0 is not None:
            points[0] = np.asarray(x0, dtype=np.float64)
        return np.asarray(points)


def _run(fun: Callable[..., Any], given: dict[str, Any], start: Floats) -> OptimizeResult:
    """One local search."""
    return scipy_minimize(fun, start, **given)


def _known(jac: Any) -> Any:
    """A gradient that is given; differences are the audit's own."""
    return jac if callable(jac) or jac is True else None


def _best(runs: Runs, values: Floats, starts: Floats, audited: Result) -> OptimizeResult:
    """The best run, with what is known of all."""
    best = runs[int(np.nanargmin(values))]
    result: Any = OptimizeResult(**best)
    for count in ("nfev", "njev", "nhev"):
        if count in best:
            result[count] = sum(int(run.get(count) or 0) for run in runs) + int(getattr(audited, count))
    result.nit = sum(int(run.get("nit") or 0) for run in runs)
    result.message = f"{len(runs)} local searches, {len(audited.modes)} distinct ends. The best: {best.message}"
    result.modes, result.allmodes, result.starts, result.runs = audited.modes, audited, starts, runs
    return result


def as_optimize_result(mode: Mode, jac: Callable[[Floats], Any] | None = None) -> OptimizeResult:
    """A mode as SciPy returns an optimum: x, fun, hess, success, message, and jac and hess_inv where they are known.

    Args:
        mode: of any `allmodes.Result`.
        jac: the gradient; it is evaluated once, as a mode keeps no more of it than its length.

    `hess_inv` is there for minima of known curvature, with zeros for coordinates that are held at a bound.

    >>> from allmodes import find_minima
    >>> mode = find_minima(lambda x: (x[0] - 1) ** 2, [(-3, 3)], rng=0).modes[0]
    >>> found = as_optimize_result(mode)
    >>> found.success, found.message, found.hess_inv.round(3).tolist()
    (True, 'minimum, global', [[0.5]])
    """
    if isinstance(mode, Result):
        raise TypeError("mode is a Result; wanted one of its modes, such as result[0].")
    rank = ", global" if mode.is_global else ""
    given: dict[str, Any] = {
        "x": mode.x.copy(), "fun": mode.fun, "success": mode.kind != "unverified",
        "status": int(mode.kind == "unverified"), "message": f"{mode.kind}{rank}",
    }  # fmt: skip
    if jac is not None:
        given["jac"] = np.asarray(jac(mode.x.copy()), dtype=np.float64)
    if np.isfinite(mode.hessian).all():
        given["hess"] = mode.hessian.copy()
        inverse = _inverse(mode)
        if inverse is not None:
            given["hess_inv"] = inverse
    return OptimizeResult(**given)


def _inverse(mode: Mode) -> Floats | None:
    """Of the Hessian, along coordinates that may move; None where it is not that of a minimum."""
    free = np.setdiff1d(np.flatnonzero(np.abs(mode.hessian).any(axis=0)), mode.active).astype(int)
    block = mode.hessian[np.ix_(free, free)]
    if not len(free) or not np.linalg.eigvalsh(block)[0] > 0.0:
        return None
    inverse = np.zeros_like(mode.hessian)
    inverse[np.ix_(free, free)] = np.linalg.inv(block)
    return inverse
