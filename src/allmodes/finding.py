"""One call that finds every mode."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from numpy.typing import ArrayLike

from allmodes.hints import Bounds, Constraints, Derivative, Names, Per, Random, Scales, Starts, Symmetry, Table, Wrapped
from allmodes.keywords import helpful
from allmodes.loop import Execution, Function, find
from allmodes.nva.annealing import Algorithm
from allmodes.progress import Progress
from allmodes.result import Result
from allmodes.task import Task

_OTHERWISE = {
    "residuals": "residuals are for find_fits(residuals, bounds), and equations for find_roots.",
    "sigma": "errors of data are for find_fits and curve_fit.",
    "loss": "losses are for find_fits and curve_fit.",
    "maximise": "find_maxima finds maxima, find_minima minima.",
}  # arguments that there are elsewhere


@helpful(_OTHERWISE)
def find_minima(
    fun: Callable[..., Any],
    bounds: Bounds | None = None,
    *,
    x0: ArrayLike | None = None,
    starts: Starts | None = None,
    warm_start: tuple[ArrayLike, ArrayLike] | Table | Result | None = None,
    args: Any = (),
    jac: Derivative | None = None,
    hess: Derivative | None = None,
    target: str = "all",
    method: str | Algorithm = "auto",
    n_modes: int | None = None,
    maxfev: int | None = None,
    maxiter: int | None = None,
    maxtime: float | None = None,
    effort: float | None = None,
    cost: float | None = None,
    xtol: float = 1e-6,
    vectorized: bool = False,
    periodic: Wrapped | None = None,
    noise: bool | float | None = None,
    workers: Any = 1,
    timeout: float | None = None,
    retries: int = 1,
    on_error: str = "raise",
    polish: bool = True,
    rng: Random | None = None,
    callback: Callable[..., Any] | None = None,
    progress: bool | Callable[[Progress], object] = False,
    checkpoint: str | os.PathLike[str] | None = None,
    names: Names | None = None,
    integrality: Wrapped | None = None,
    scale: Scales | None = None,
    spread: Per | None = None,
    symmetry: Symmetry | None = None,
    constraints: Constraints | None = None,
    within: float | None = None,
    min_distance: float | None = None,
    options: dict[str, Any] | None = None,
) -> Result:
    """Find every minimum of a function: distinct, verified, best first.

    Args:
        fun: a function of a point (d,) -> number, or with `vectorized` of points (N, d) -> (N,).
        bounds: (lower, upper) for each coordinate, None or inf for open sides, as in [(0, 1), (-5, None)], or a
            scipy.optimize.Bounds; ([0, 0, 0], [1, 1, 1]), as in least_squares, is accepted where it is unambiguous. A
            coordinate open on both sides needs `x0`. No point outside is ever evaluated. A list of more than two
            numbers, or of words, is a list of choices; with words fun is called with object arrays that contain them.
        x0: a point or points (n, d) to start from first; they determine where to look when there are no bounds.
        starts: draws (n, d) from a prior that say where to look, or a sampler `starts(rng, n)` -> (n, d), which is
            called once for 4,096. Local searches from new places begin at the draws, in random order, in place of
            space-filling points; once all are used, they are used again, slightly perturbed. Without bounds their
            median and scale (half of the distance between the 16 % and 84 % quantiles of each coordinate) say how far
            to look, and nothing is a bound; with bounds, draws outside are left out. `result.coverage` then refers to
            the prior mass.
        warm_start: points whose values are known: a pair (x, values) of arrays (n, d) and (n,), a table with a column
            for each of `names` (x0, x1, ...) and "fun", or an earlier Result. They cost nothing: they are not counted,
            nor evaluated again (unless derivatives are needed or fun is noisy), and the search may start from the best.
        args: further arguments of fun, jac and hess.
        jac: the gradient: a function; True if fun returns (value, gradient); "jax", "torch" or "autograd" if fun is
            written with that package; "2-point" or None for differences of values.
        hess: the Hessian, likewise; "2-point" for differences of gradients. Before the search jac and hess are compared
            with differences at two points, and refused if they disagree at both.
        target: "all" modes, or the "global" ones.
        method: "auto"; "local" (local searches, stopped early by an archive of known modes); "black-box"
            (populations, for rough functions); "anneal" (natural variational annealing with an automatic schedule);
            "surrogate" (a model of the function, for at most 1,000 evaluations of values; "auto" uses it where maxfev
            is at most 25 (d + 1), or `cost` is a second or more); "multistart" (the baseline: no archive); or an engine
            assembly such as nva.presets.nva_gm(order=1).
        n_modes: stop when this many distinct modes have been found.
        maxfev: never evaluate fun more often than this, for any purpose; by default 10,000 (d + 1). A search ends
            earlier when fewer than 0.1 new modes are expected from as many evaluations again or, if maxfev is given,
            from all that are left.
        maxiter: stop after this many rounds of evaluations.
        maxtime: stop after this many seconds and the evaluations in flight.
        effort: how hard to look for missing modes when no maxfev is given: 1 is normal, with 2 the search looks twice
            as far ahead before it ends. If both are given, maxfev is only a limit, not a budget to be used up.
        cost: approximate duration of an evaluation in seconds; from one second on, "auto" searches a model of the
            function.
        xtol: accuracy of positions, as a share of the width of the bounds, or of the scale of `starts` without bounds.
        vectorized: whether fun, jac and hess take points (N, d).
        periodic: coordinates that wrap around: True, d booleans, or their numbers, such as [0, 2].
        noise: True, or the standard deviation of a value, if fun is noisy; for the methods "auto", "black-box" and
            "surrogate". By default they behave as with True if two values at one point differ; False says that fun is
            exact.
        workers: 1, a number of processes on this machine, -1 for one per core, anything with a method submit,
            apply_async or map (executors, pools, a Dask client), the module ray, or a function like map. The result
            does not depend on it; options={"width": ...} keeps many workers busy.
        timeout: seconds for each evaluation; one that takes longer is terminated and counted as a failure. Not
            available with workers=1 or threads, where evaluations cannot be terminated.
        retries: how often to retry a point whose worker has died, before it is counted as lost.
        on_error: "raise" passes on an exception of fun; "nan" counts it as a failure and continues. Values that are not
            finite are counted as failures, and the search continues, in either case.
        polish: False reports the points where annealing or populations end, without a local search from there.
        rng: a seed or a numpy.random.Generator; the same seed gives the same result.
        callback: called after every round, as in scipy.optimize.minimize: with the result so far if it takes
            intermediate_result, or else with the best point (d,). Returning True or raising StopIteration stops the
            search.
        progress: show a line on stderr, if that is a terminal, once the search has lasted two seconds; or a function
            that is called with an `allmodes.progress.Progress` whenever evaluations come back.
        checkpoint: a file to which the search is saved every minute, at the end, on Ctrl-C and on SIGTERM, and from
            which it resumes exactly if the file exists: pass the same function and settings. Evaluations in it are not
            repeated. The previous file is kept with `.previous` appended to its name. A file that is damaged or not a
            checkpoint is refused and left alone; failing to write one is only a warning.
        names: of the coordinates, for tables and plots, such as ["mass", "rate"].
        integrality: which coordinates are whole numbers, as in scipy.optimize.differential_evolution: True, or d
            booleans such as [1, 0]. A mode is then a point that cannot be improved by changing one of them by one, or
            by a small change of the real coordinates. For sizes of a catalogue or named choices, put their list in
            place of a pair into `bounds`, such as [0.5, 0.75, 1.0] or ["steel", "wood"]. If there are no real
            coordinates and no more points than maxfev (or 65,536 by default), all points are evaluated, and nothing is
            missing.
            options={"swap": True} makes the exchange of two whole numbers or choices of the same bounds a small
            change, too.
        scale: "log" to search coordinates in logarithms: starts, steps and xtol are then factors, and positions,
            derivatives and weights stay in your units. Either one for all coordinates, or "log" or "linear" for each,
            or a dict from names or numbers to "log", such as {"rate": "log"}. Needs lower bounds above 0.
        spread: how far around `x0` to look where sides are open: one number or one for each coordinate, on a
            logarithmic scale a factor; by default five times the size of x0, or a factor of 1,000.
        symmetry: blocks of coordinates that may be exchanged without changing fun, such as [[0, 1], [2, 3]] for two
            interchangeable peaks, or a list of several such lists; {"sign": [0, 2]} for coordinates that may change
            sign together; {"exchange": ..., "sign": ...}; or a function x -> representative. One mode is listed for all
            its images, with their number as `multiplicity`. The symmetry is tested by a few values, and refused if they
            differ; if it fails at a mode, the search continues without it, and the result says where.
        constraints: which points are feasible, as in scipy.optimize.minimize: a LinearConstraint, NonlinearConstraint,
            old dict such as {"type": "ineq", "fun": lambda x: 1 - x[0] - x[1]}, or a list of them; with `vectorized`
            their functions take points (N, d) and return (N, m). They are evaluated in this process, as often as is
            useful. Only feasible points are modes; fun is evaluated at feasible points and right beside them, and with
            keep_feasible only at feasible ones. The local searches are smooth; from the best places where they get
            stuck, as on kinks, a small population of feasible points continues, and what it finds is "unverified". For
            the methods "auto" and "local".
        within: how much worse than the best a mode may be, in units of fun, such as 0.5; worse ones are not listed, and
            the search does not continue for their sake.
        min_distance: least distance between listed modes, in the coordinate in which they differ most, as a share of
            the width of the bounds, or of the scale of `starts`; of closer ones the best is kept.
        options: "feasibility" (by how much a mode may violate a constraint, as a share of its scale, by default 1e-8),
            "temperature" (of the weights), "width" (least number of local searches in flight), "swap" (see
            integrality), "patience" (least number of local searches without a new mode before the end),
            "checkpoint_every" (seconds), "order" ("fixed" or "completion"), "check" (False to skip the examination of
            the function before the search), "shadow" (share of recognised local searches that run to the end, by
            default 0.02; `result.coverage.checked` and `.misjudged` count them). With a width of 8 or more, ideally a
            few times the number of workers, rounds overlap: half of the local searches are in flight while the others
            receive their values, in a fixed order, so that the result is the same for any workers. Where evaluation
            times vary widely, the order "completion" lets every local search continue as soon as its own points are
            known: no worker waits, but no two runs are the same.

    Returns:
        Result: `modes`, best first, and everything in scipy.optimize.OptimizeResult. Ctrl-C returns what has been found
        so far, and so does SIGTERM if there is a checkpoint.

    >>> result = find_minima(lambda x: (x[0] ** 2 - 1) ** 2 + x[1] ** 2, [(-2, 2), (-2, 2)], rng=0)
    >>> sorted(round(float(mode.x[0]), 3) for mode in result.modes)
    [-1.0, 1.0]
    >>> right = {"type": "ineq", "fun": lambda x: x[0] - 0.5}
    >>> find_minima(lambda x: (x[0] ** 2 - 1) ** 2, [(-2, 2)], constraints=right, rng=0).modes[0].x.round(3).tolist()
    [1.0]
    >>> find_minima(lambda x: (x[0] - 1.4) ** 2 + (x[1] - 1.4) ** 2, [(-2, 2)] * 2, integrality=[1, 0], rng=0).modes
    (Mode(0.16 at [1, 1.4], minimum, global),)
    """
    task = Task(
        bounds=bounds, x0=x0, starts=starts, warm_start=warm_start, maximise=False, target=target, method=method,
        n_modes=n_modes, maxfev=maxfev, maxiter=maxiter, maxtime=maxtime, xtol=xtol, periodic=periodic, noise=noise,
        polish=polish, rng=rng, names=names, options=options, effort=effort, cost=cost,
        integrality=integrality,
        scale=scale, spread=spread, symmetry=symmetry, within=within, min_distance=min_distance,
        constraints=constraints, vectorized=vectorized,
    )  # fmt: skip
    function = Function(fun, args, jac, hess, vectorized)
    execution = Execution(workers, timeout, retries, on_error, callback, progress, checkpoint)
    return find(task, function, execution)


@helpful(_OTHERWISE)
def find_maxima(
    fun: Callable[..., Any],
    bounds: Bounds | None = None,
    *,
    x0: ArrayLike | None = None,
    starts: Starts | None = None,
    warm_start: tuple[ArrayLike, ArrayLike] | Table | Result | None = None,
    args: Any = (),
    jac: Derivative | None = None,
    hess: Derivative | None = None,
    target: str = "all",
    method: str | Algorithm = "auto",
    n_modes: int | None = None,
    maxfev: int | None = None,
    maxiter: int | None = None,
    maxtime: float | None = None,
    effort: float | None = None,
    cost: float | None = None,
    xtol: float = 1e-6,
    vectorized: bool = False,
    periodic: Wrapped | None = None,
    noise: bool | float | None = None,
    workers: Any = 1,
    timeout: float | None = None,
    retries: int = 1,
    on_error: str = "raise",
    polish: bool = True,
    rng: Random | None = None,
    callback: Callable[..., Any] | None = None,
    progress: bool | Callable[[Progress], object] = False,
    checkpoint: str | os.PathLike[str] | None = None,
    names: Names | None = None,
    integrality: Wrapped | None = None,
    scale: Scales | None = None,
    spread: Per | None = None,
    symmetry: Symmetry | None = None,
    constraints: Constraints | None = None,
    within: float | None = None,
    min_distance: float | None = None,
    options: dict[str, Any] | None = None,
) -> Result:
    """Find every maximum of a function: distinct, verified, best first.

    Arguments and result are those of `find_minima`; values, gradients and Hessians keep the sign of the function.

    >>> result = find_maxima(lambda x: -((x[0] ** 2 - 1) ** 2), [(-2, 2)], rng=0)
    >>> sorted(round(float(mode.x[0]), 3) for mode in result.modes)
    [-1.0, 1.0]
    """
    task = Task(
        bounds=bounds, x0=x0, starts=starts, warm_start=warm_start, maximise=True, target=target, method=method,
        n_modes=n_modes, maxfev=maxfev, maxiter=maxiter, maxtime=maxtime, xtol=xtol, periodic=periodic, noise=noise,
        polish=polish, rng=rng, names=names, options=options, effort=effort, cost=cost,
        integrality=integrality,
        scale=scale, spread=spread, symmetry=symmetry, within=within, min_distance=min_distance,
        constraints=constraints, vectorized=vectorized,
    )  # fmt: skip
    function = Function(fun, args, jac, hess, vectorized)
    execution = Execution(workers, timeout, retries, on_error, callback, progress, checkpoint)
    return find(task, function, execution)
