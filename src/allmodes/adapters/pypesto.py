"""pyPESTO: every optimum of a `pypesto.Problem`, each with its history, as a `pypesto.Result`.

Parameters that are fixed stay fixed; values are on the scales of the problem (`x_scales`), as everywhere in pyPESTO.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from allmodes.adapters.peers import peer
from allmodes.finding import find_minima
from allmodes.fitting import find_fits
from allmodes.result import Result

_NEAR = 0.1  # of the width of all paths: a local search that ends farther off was not on its way to the mode
_EQUAL = 1e-12  # of the values: what values and half sums of squares may differ by, beside a constant
_PLACES = 0.29, 0.62  # of the bounds: where values and residuals are compared; not images of each other

Floats = NDArray[np.float64]


def minimize(problem: Any, *, residuals: bool | None = None, hess: bool = False, **options: Any) -> Any:
    """Find every minimum of a pyPESTO problem: `pypesto.optimize.minimize` with all answers in place of starts.

    Bounds and guesses are those of the problem: local searches start from `x_guesses`, too, and where a bound is
    infinite `lb_init` and `ub_init` say where to look.

    Args:
        problem: a `pypesto.Problem`. Gradients are used if its objective has them.
        residuals: whether to fit residuals with Gauss and Newton's model of the curvature; by default if the objective
            has residuals and half the sum of their squares is its value, up to a constant, at two places.
        hess: whether to use the objective's Hessian. What many objectives give there is Fisher's information, which
            is another matrix away from a perfect fit; it would be refused.
        options: whatever `allmodes.find_minima` takes beside the function and its bounds (with residuals, `find_fits`):
            rng, maxfev, workers, ... Weights are those of a density exp(-value), as in pyPESTO's sampling, unless
            `options={"temperature": ...}` says otherwise.

    Returns:
        pypesto.Result: an `OptimizerResult` for each mode, best first, for waterfalls, parameters, profiles and
        histories. Its `history` has the places that the local search which found it moved through, and `n_fval` (with
        residuals `n_res`) counts those; what the search took in all is `result.allmodes.nfev`, where
        `result.allmodes` is the `allmodes.Result`. `time` is that of the search, in equal shares.
    """
    peer("pypesto")
    if not hasattr(problem, "objective"):
        raise TypeError(f"problem is {problem!r} ({type(problem).__name__}); wanted a pypesto.Problem.")
    objective = problem.objective
    if not problem.dim:
        raise ValueError("all parameters of the problem are fixed; unfix one to search for optima.")
    objective.initialize()
    given = _where(problem) | {"names": [problem.x_names[i] for i in problem.x_free_indices]} | options
    bounds = list(zip(problem.lb.tolist(), problem.ub.tolist(), strict=True))
    offset = _offset(problem) if residuals is None and objective.has_res else None
    if residuals or offset is not None or not objective.has_fun:
        if not objective.has_res:
            raise ValueError("residuals=True, and the objective of the problem has none; leave residuals out.")
        given.setdefault("absolute_sigma", True)
        jac: Any = objective.get_sres if objective.has_sres else None
        found = find_fits(objective.get_res, bounds, jac=jac, **given)
    else:
        fun, jac = (_Both(objective), True) if objective.has_grad else (objective.get_fval, None)
        given["options"] = {"temperature": 1.0} | (given.get("options") or {})  # values are -log of a density
        found = find_minima(fun, bounds, jac=jac, hess=objective.get_hess if hess else None, **given)
    return _told(problem, found, offset or 0.0)


class _Both:
    """Value and gradient of an objective, from one simulation."""

    def __init__(self, objective: Any) -> None:
        self.objective = objective

    def __call__(self, x: Floats) -> Any:
        return self.objective(x, (0, 1))


def _where(problem: Any) -> dict[str, Any]:
    """Where to look, beside the bounds: guesses, and the region of starts where there are no bounds."""
    guesses = problem.x_guesses
    guesses = guesses[np.isfinite(guesses).all(axis=1)] if guesses.size else guesses
    if len(guesses) and ((guesses < problem.lb) | (guesses > problem.ub)).any():
        raise ValueError("x_guesses of the problem leave its bounds lb and ub; move them inside.")
    is_open = np.isinf(problem.lb) | np.isinf(problem.ub)
    if not is_open.any():
        return {"x0": guesses} if len(guesses) else {}
    first, last = problem.lb_init, problem.ub_init
    is_told = np.isfinite(first) & np.isfinite(last)
    if not len(guesses):
        unknown = np.isinf(problem.lb) & np.isinf(problem.ub) & ~is_told
        if unknown.any():
            name = problem.x_names[problem.x_free_indices[int(np.argmax(unknown))]]
            raise ValueError(
                f"parameter {name} has no bounds; give the problem lb and ub, or lb_init and ub_init to look between, "
                "or x_guesses to look around."
            )
        if not is_told.all():
            return {}
        guesses = 0.5 * (first + last)[None]
    with np.errstate(invalid="ignore"):
        half = 0.5 * (last - first)
    spread = [float(h) if opened and told else None for h, opened, told in zip(half, is_open, is_told, strict=True)]
    return {"x0": guesses} | ({"spread": spread} if any(spread) else {})


def _offset(problem: Any) -> float | None:
    """What the value is above half the sum of squares of the residuals, if that is the same at two places."""
    objective = problem.objective
    if not objective.has_fun:
        return 0.0
    lower, upper = np.maximum(problem.lb, -1e3), np.minimum(problem.ub, 1e3)
    places = [lower + share * (upper - lower) for share in _PLACES]
    try:
        values = np.array([float(objective.get_fval(x)) for x in places])
        costs = np.array([0.5 * float((np.asarray(objective.get_res(x)) ** 2).sum()) for x in places])
    except Exception:
        return None  # the search will meet it, and treat it as it is asked to
    offsets = values - costs
    is_same = np.ptp(offsets) <= _EQUAL * max(np.abs(values).max(), np.abs(costs).max())
    return float(offsets[0]) if is_same else None


def _told(problem: Any, found: Result, offset: float) -> Any:
    """The result as pyPESTO has it."""
    pypesto = peer("pypesto")
    result = pypesto.Result(problem)
    for i, (mode, (points, values)) in enumerate(zip(found.modes, _paths(found), strict=True)):
        history = _history(points, values + offset, found.is_fit)
        told = peer("pypesto.result").OptimizerResult(
            id=f"mode{i}", x=mode.x, fval=mode.fun + offset, x0=points[0], fval0=float(values[0]) + offset,
            hess=mode.hessian if np.isfinite(mode.hessian).all() else None,
            res=mode.fit.residuals if mode.fit is not None and mode.fit.residuals.size else None,
            n_fval=history.n_fval, n_grad=0, n_hess=0, n_res=history.n_res, n_sres=0, history=history,
            exitflag=int(found.status), time=found.seconds / len(found.modes), message=mode.kind, optimizer="allmodes",
        )  # fmt: skip
        told.update_to_full(problem)
        result.optimize_result.append(told, sort=False)
    result.optimize_result.sort()
    result.allmodes = found
    return result


def _paths(found: Result) -> list[tuple[Floats, Floats]]:
    """For each mode the places (n, d) and values (n,) that led to it, the mode last; it alone if nothing else is kept.

    Of the local searches that are kept it is the one that came closest: one that found the mode is there, one that was
    stopped because its next steps led there stands before it.
    """
    paths, modes = found.paths, found.modes
    own = [(mode.x[None], np.array([mode.fun])) for mode in modes]
    ends = np.flatnonzero(np.diff(paths.numbers, append=-1))
    if not len(ends) or not modes:
        return own
    widths = np.ptp(paths.points, axis=0)
    places = np.array([mode.x for mode in modes]) / np.where(widths > 0.0, widths, 1.0)
    gaps = np.abs(places[:, None] - paths.points[ends] / np.where(widths > 0.0, widths, 1.0)).max(axis=2)
    gaps[np.arange(len(modes))[:, None] != gaps.argmin(axis=0)] = np.inf  # it came closer to another mode
    for i, mode in enumerate(modes):
        best = int(gaps[i].argmin())
        if gaps[i, best] > _NEAR:
            continue
        rows = paths.numbers == paths.numbers[ends[best]]
        points, values = paths.points[rows], paths.values[rows]
        is_there = bool((points[-1] == mode.x).all())
        own[i] = (
            (points, values) if is_there else (np.concatenate([points, own[i][0]]), np.concatenate([values, own[i][1]]))
        )
    return own


def _history(points: Floats, values: Floats, is_fit: bool) -> Any:
    """A history of values alone, as `visualize.optimizer_history` reads it."""
    constants, histories = peer("pypesto.C"), peer("pypesto.history")
    unseen = ("grad", "hess", "res", "sres")
    options = histories.HistoryOptions(trace_record=True, **{f"trace_record_{name}": False for name in unseen})
    history = histories.MemoryHistory(options)
    kind = constants.MODE_RES if is_fit else constants.MODE_FUN
    for x, value in zip(points, values, strict=True):
        history.update(x, (0,), kind, {constants.FVAL: float(value)})
    history._trace[constants.TIME] = [np.nan] * len(points)  # not measured for a single local search
    return history
