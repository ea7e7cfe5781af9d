"""One call that says what somebody's multistart has found."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from allmodes.audited import Places, checked, finished, unchecked
from allmodes.checks import as_limit, number
from allmodes.ends import Ends, read
from allmodes.hints import Bounds, Derivative, Names, Random, Starts, Wrapped
from allmodes.keywords import helpful
from allmodes.loop import Execution, Function, find
from allmodes.modes.grouping import Groups, group, scatter
from allmodes.objective.evaluator import Evaluator
from allmodes.parting import parted
from allmodes.region import Region, region_of
from allmodes.result import Result
from allmodes.search.context import Context
from allmodes.search.judged import Judged
from allmodes.status import Status
from allmodes.task import Task

Array = NDArray[np.float64]
Indices = NDArray[np.intp]

_COMPARED = 8  # ends whose values are compared with those of fun
_FOR_THAT = 10  # at least so many evaluations for each of them
_PARTED = 1000  # times (d + 1) evaluations between ends of one place, at most; a tenth of maxfev if that is given
_ALIKE = 1e-3  # of max(|value|, 1): values in a table are rounded, and so are the coordinates beside them
_FINEST = 1e-3  # xtol of the searches that check, as a share of that of places; at most that of find_minima
_USUAL = 1e-6

_NOT_HERE = '; options={"check": False} leaves this test out.'  # an advice for searches

_OTHERWISE = {
    "residuals": "pass half their sum of squares as fun: ends of least_squares are compared by their cost.",
    "method": "nothing is searched but what ends lead to; find_minima searches.",
    "x0": "where the runs began are their starts.",
}


@helpful(_OTHERWISE)
def audit(
    ends: Any,
    values: ArrayLike | None = None,
    *,
    starts: Starts | None = None,
    fun: Callable[..., Any] | None = None,
    args: Any = (),
    jac: Derivative | None = None,
    hess: Derivative | None = None,
    bounds: Bounds | None = None,
    maximise: bool = False,
    names: Names | None = None,
    periodic: Wrapped | None = None,
    xtol: float | None = None,
    polish: bool = True,
    maxfev: int | None = None,
    vectorized: bool = False,
    temperature: float | None = None,
    workers: Any = 1,
    on_error: str = "raise",
    rng: Random | None = None,
) -> Result:
    """What the runs of any multistart have found: distinct optima, how often each was reached, how many are missing.

    Ends are first grouped by place and value, without evaluating anything. With `fun` the best end of each place is
    then followed by a local search and judged as `find_minima` judges: is it an optimum, and is it one that is known,
    by what lies between the two? Without `fun` all modes are "unverified".

    Args:
        ends: where n runs ended, (n, d); or a list of scipy.optimize.OptimizeResult (of least_squares by their cost);
            or a pandas.DataFrame with a column for each coordinate and "fun" for the value; or a pypesto.Result, of
            which the estimated parameters are looked at, on their scales.
        values: what the function was there, (n,), where ends are an array. With `fun` they may be left out: it is then
            evaluated at each end, beside `maxfev`.
        starts: where the runs began, (n, d): runs from one start count once for what is missing.
        fun: the function, as in `find_minima`, and likewise args, jac, hess and vectorized.
        bounds: as in `find_minima`: the unit of distances. Without them that is the spread of ends and starts.
        maximise: whether the runs were to maximise.
        names: of the coordinates; of a table, which columns they are.
        periodic: coordinates that wrap around, as in `find_minima`.
        xtol: ends closer than this share of the bounds in every coordinate are one place (with `fun` unless it gets
            worse between them), and ends farther than this from their optimum had not converged. By default 0.001, or
            up to 0.01 if all ends scatter by as much.
        polish: whether ends that had not converged count for the optimum that they lead to. With False they belong to
            none, and optima that no run has reached are not listed.
        maxfev: evaluations of fun for the checks, at most; by default 10,000 (d + 1). Most places take 5 to 50. Places
            where many runs ended come first; those that are not reached are counted as "unchecked".
        temperature: of the weights, as in `find_minima`.
        workers, on_error, rng: as in `find_minima`.

    Returns:
        Result: `modes`, best first, with `hits`; `coverage`, about further runs from where these began; and `audit`
        (see `allmodes.result.Audit`): which mode each end belongs to, how far it is from it, and what is wrong with it.

    >>> ends = [[1.0], [-1.0], [1.0], [1.0002], [0.1]]
    >>> result = audit(ends, fun=lambda x: (x[0] ** 2 - 1) ** 2, bounds=[(-2, 2)], rng=0)
    >>> [(round(float(mode.x[0]), 3), mode.hits) for mode in result.modes]
    [(1.0, 4), (-1.0, 1)]
    >>> result.audit.states.tolist()
    ['arrived', 'arrived', 'arrived', 'arrived', 'unconverged']
    """
    if fun is not None and not callable(fun):
        raise TypeError(f"fun is {fun!r} ({type(fun).__name__}); wanted the function, or None.")
    maxfev = None if maxfev is None else as_limit("maxfev", maxfev, 1)
    found = read(ends, values, starts, names)
    region = region_of(found, bounds, periodic)
    names = found.names if names is None else names
    task = _task(region, maximise, maxfev, periodic, names, temperature, rng)
    task.begin(0)  # refuses arguments that are wrong before fun is called
    found = replace(found, names=None if names is None else tuple(names))
    function = None if fun is None else Function(fun, args, jac, hess, vectorized)
    found, usable, nfev = _valued(found, region, function, on_error)
    places = _places(found, region, usable, maximise, xtol)
    if function is None:
        return unchecked(places)
    odd, looked = ((), 0) if nfev else _compared(function, region, places, on_error, maxfev)
    places, between = _parted(function, region, places, on_error, maxfev)
    task = task if maxfev is None else replace(task, maxfev=maxfev - looked - between)
    nfev += looked + between
    task = replace(task, xtol=min(_USUAL, _FINEST * places.xtol))
    execution = Execution(workers, None, 1, on_error, None, False, None)
    return _checked(places, task, function, execution, polish, odd, nfev)


def _valued(
    found: Ends, region: Region, function: Function | None, on_error: str
) -> tuple[Ends, NDArray[np.bool_], int]:  # fmt: skip
    """Ends with values, which of them can be compared, and the evaluations that this took."""
    if found.values is not None:
        return found, region.is_usable, 0
    if function is None:
        raise ValueError("values are not given; wanted the value of each end, (n,), or fun to compute them.")
    values, nfev = _values(function, region, found.points, region.is_usable, on_error), int(region.is_usable.sum())
    usable = region.is_usable & np.isfinite(values)
    if not usable.any():
        raise ValueError(f"fun gave no finite value at any of the {nfev} ends.")
    return replace(found, values=values), usable, nfev


def _told(found: Ends) -> Array:
    """The values, which are there by now."""
    assert found.values is not None
    return found.values


def _places(found: Ends, region: Region, usable: NDArray[np.bool_], maximise: bool, xtol: float | None) -> Places:
    """The ends, grouped."""
    box, rows = region.box, np.flatnonzero(usable)
    units = box.to_unit(np.clip(found.points[rows], box.lower, box.upper))
    radius = scatter(units, box.periodic_unit) if xtol is None else number("xtol", xtol, above=0.0)
    losses = (-1.0 if maximise else 1.0) * _told(found)[rows]
    groups = group(units, losses, radius, box.periodic_unit)
    return Places(found, box, maximise, rows, units, groups, region.is_outside, radius)


def _task(
    region: Region, maximise: bool, maxfev: Any, periodic: Any, names: Any, temperature: Any, rng: Any
) -> Task:  # fmt: skip
    """The search that checks, before it is known what."""
    return Task(
        bounds=region.bounds, x0=region.centre, warm_start=None, maximise=bool(maximise), target="all",
        method="multistart", n_modes=None, maxfev=maxfev, maxiter=None, maxtime=None, xtol=_USUAL, periodic=periodic,
        noise=None, polish=True, rng=rng, names=names, spread=region.spread,
        options=None if temperature is None else {"temperature": temperature},
    )  # fmt: skip


def _values(function: Function, region: Region, points: Array, rows: Any, on_error: str) -> Array:
    """What the function is at some of the points (n, D); NaN elsewhere."""
    box, values = region.box, np.full(len(points), np.nan)
    with Evaluator(function.source(box), on_error=on_error) as evaluator:
        values[rows] = evaluator.evaluate(np.clip(points[rows], box.lower, box.upper)).value
    return values


def _compared(
    function: Function, region: Region, places: Places, on_error: str, maxfev: int | None
) -> tuple[tuple[int, ...], int]:  # fmt: skip
    """Ends whose value is not that of the function, of a few, and how many were looked at; refused if that is usual."""
    leaders = np.unique(places.groups.leaders)
    leaders = leaders[np.argsort(places.losses[leaders], kind="stable")]
    n = min(len(leaders), _COMPARED if maxfev is None else min(_COMPARED, maxfev // _FOR_THAT))
    some = places.rows[leaders[np.linspace(0, len(leaders) - 1, n).astype(np.intp)]]
    is_some = np.zeros(len(places.values), bool)
    is_some[some] = True
    told, given = _values(function, region, places.ends.points, is_some, on_error)[some], places.values[some]
    is_odd = ~(np.abs(told - given) <= _ALIKE * np.maximum(np.abs(given), 1.0))
    if 2 * is_odd.sum() > len(some):
        i = int(np.argmax(is_odd))
        is_turned = bool((np.abs(told + given) <= _ALIKE * np.maximum(np.abs(given), 1.0)).all())
        said = "is it maximised?" if is_turned else "is it the same function, are its coordinates in this order?"
        raise ValueError(f"the value of end {some[i]} is {given[i]:.6g}, and fun gives {told[i]:.6g}: {said}")
    return tuple(some[is_odd].tolist()), len(some)


def _parted(
    function: Function, region: Region, places: Places, on_error: str, maxfev: int | None
) -> tuple[Places, int]:  # fmt: skip
    """Places by what lies between their ends, too, and the evaluations that this took."""
    box, sign = region.box, -1.0 if places.maximise else 1.0

    def values_at(units: Array) -> Array:
        with Evaluator(function.source(box), on_error=on_error) as evaluator:
            return sign * evaluator.evaluate(box.to_user(units)).value

    most = _PARTED * (box.d + 1) if maxfev is None else maxfev // _FOR_THAT
    groups, nfev = parted(box, places.units, places.losses, places.groups, places.xtol, values_at, most)
    return places._replace(groups=groups), nfev


def _checked(
    places: Places, task: Task, function: Function, execution: Execution, polish: bool, odd: tuple[int, ...], nfev: int
) -> Result:
    """The result of following the best end of each place."""
    leaders, made = _order(places.groups, places.losses), list[Judged]()

    def strategy(context: Context) -> Judged:
        made.append(Judged(context, places.units[leaders]))
        return made[0]

    try:
        result = find(replace(task, strategy=strategy), function, execution)
    except ValueError as error:
        if not str(error).endswith(_NOT_HERE):
            raise
        raise ValueError(f"{str(error).removesuffix(_NOT_HERE)}.") from None
    judged = made[0]
    if judged.context.is_random:
        raise ValueError(
            "fun is noisy: its value at one point differed between two calls. An audit compares exact values: make fun "
            "exact, or leave it out."
        )
    left, is_over = len(leaders) - len(judged.verdicts), len(judged.verdicts) == len(leaders)
    how = "" if result.status is Status.INTERRUPTED else ": allow more evaluations (maxfev)"
    more = f"{left} of {len(leaders)} places are not checked{how}."
    spent = "" if is_over else f"{result.status.message} {more}"
    result = replace(
        result, status=Status.STEPS_DONE if is_over else result.status, message=spent, nfev=result.nfev + nfev
    )
    result, said = checked(places, result, judged, leaders, polish)
    return finished(result, replace(said, odd=odd, nfev=result.nfev), places)


def _order(groups: Groups, losses: Array) -> Indices:
    """Leaders in the order in which they are followed: those that stand for most ends first, then the better ones."""
    leaders, sizes = np.unique(groups.leaders, return_counts=True)
    belongs = groups.joined[leaders] != leaders  # to a place that is followed before
    return leaders[np.lexsort((losses[leaders], -sizes, belongs))]
