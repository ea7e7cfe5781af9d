"""One call that finds every mode."""

from __future__ import annotations

import functools
import inspect
import os
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, ParamSpec

from allmodes.finder import ModeFinder
from allmodes.objective.bounds import Box
from allmodes.objective.derivatives import Source
from allmodes.objective.evaluator import Evaluator
from allmodes.result import Result
from allmodes.status import Status
from allmodes.terminal import Line

_CHECKPOINT_EVERY = 60.0  # seconds
_OF_THE_FUNCTION = ("fun", "args", "jac", "hess", "vectorized")
_OF_THE_LOOP = ("workers", "on_error", "callback", "progress", "checkpoint")

P = ParamSpec("P")


def find_minima(
    fun: Callable[..., Any],
    bounds: Any = None,
    *,
    x0: Any = None,
    args: Any = (),
    jac: Any = None,
    hess: Any = None,
    target: str = "all",
    method: Any = "auto",
    n_modes: int | None = None,
    maxfev: int | None = None,
    maxiter: int | None = None,
    maxtime: float | None = None,
    xtol: float = 1e-6,
    vectorized: bool = False,
    periodic: Any = None,
    noise: Any = None,
    workers: Any = 1,
    on_error: str = "raise",
    polish: bool = True,
    rng: Any = None,
    callback: Callable[..., Any] | None = None,
    progress: bool = False,
    checkpoint: str | os.PathLike[str] | None = None,
    names: Any = None,
    options: dict[str, Any] | None = None,
) -> Result:
    """Find every minimum of a function: distinct, verified, best first.

    Args:
        fun: of a point (d,) -> number, or with `vectorized` of points (N, d) -> (N,).
        bounds: (lower, upper) for each coordinate, None or inf for open sides, or a scipy.optimize.Bounds. A
            coordinate open on both sides needs `x0`. No point outside is ever evaluated.
        x0: a point or points (n, d) to launch from first; they say where to look when there are no bounds.
        args: further arguments of fun, jac and hess.
        jac: the gradient: a function; True if fun returns (value, gradient); "jax", "torch" or "autograd" if fun is
            written in it; "2-point" or None for differences of values.
        hess: the Hessian, likewise; "2-point" for differences of gradients.
        target: "all" modes, or the "global" ones.
        method: "auto"; "launch" (local ascents with an archive of modes that stops them early); "black-box"
            (populations, for rough functions); "anneal" (natural variational annealing with an automatic schedule);
            "multistart" (the baseline: no archive); or an engine assembly such as presets.nva_gm(order=1).
        n_modes: stop when so many distinct modes are found.
        maxfev: never evaluate fun more often, everything included; by default 10,000 (d + 1).
        maxiter: stop after so many rounds of evaluations.
        maxtime: stop after so many seconds, at the end of a round.
        xtol: accuracy of positions, as a share of the width of the bounds.
        vectorized: whether fun, jac and hess take points (N, d).
        periodic: coordinates that wrap around: True, d booleans, or their numbers.
        noise: True, or the standard deviation of a value, if fun is noisy.
        workers: 1, a number of processes, -1 for all cores, a function like map, or an object with .map. The result
            is the same for all.
        on_error: "raise" passes an exception of fun on; "nan" counts it as a failure and goes on. Values that are not
            finite are counted and survived in either case.
        polish: False reports where annealing ends as it is, unverified. (The other methods polish as they go.)
        rng: a seed or a numpy.random.Generator; the same seed gives the same result.
        callback: called with the keyword intermediate_result after every round; True or StopIteration stops.
        progress: show a line on stderr, if that is a terminal, once the search has lasted two seconds.
        checkpoint: a file to which the search is saved now and then and at the end, and from which it goes on if it
            exists: pass the same function and settings.
        names: of the coordinates, for tables and plots.
        options: "temperature" (of the weights), "width" (launches under way at once, at least), "patience" (launches
            without a new mode before the search ends), "checkpoint_every" (seconds).

    Returns:
        Result: `modes`, best first, and all that scipy.optimize.OptimizeResult has. Ctrl-C returns what is found so
        far.

    >>> result = find_minima(lambda x: (x[0] ** 2 - 1) ** 2 + x[1] ** 2, [(-2, 2), (-2, 2)], rng=0)
    >>> sorted(round(float(mode.x[0]), 3) for mode in result.modes)
    [-1.0, 1.0]
    """
    return _find(dict(locals()), maximise=False)


def _for_maxima(minima: Callable[P, Result]) -> Callable[P, Result]:
    signature = inspect.signature(minima)

    @functools.wraps(minima)
    def find_maxima(*args: P.args, **kwargs: P.kwargs) -> Result:
        given = signature.bind(*args, **kwargs)
        given.apply_defaults()
        return _find(given.arguments, maximise=True)

    find_maxima.__name__ = find_maxima.__qualname__ = "find_maxima"
    find_maxima.__doc__ = """Find every maximum of a function: distinct, verified, best first.

    Arguments and result are those of `find_minima`; values, gradients and Hessians keep the sign of the function.

    >>> result = find_maxima(lambda x: -((x[0] ** 2 - 1) ** 2), [(-2, 2)], rng=0)
    >>> sorted(round(float(mode.x[0]), 3) for mode in result.modes)
    [-1.0, 1.0]
    """
    return find_maxima


find_maxima = _for_maxima(find_minima)


def _find(given: dict[str, Any], maximise: bool) -> Result:
    """The loop over a ModeFinder."""
    own = {name: given[name] for name in given if name not in (*_OF_THE_FUNCTION, *_OF_THE_LOOP, "bounds")}
    box = Box.make(given["bounds"], given["x0"], given["periodic"])
    source = Source.make(*(given[name] for name in _OF_THE_FUNCTION), box=box)
    if given["callback"] is not None and not callable(given["callback"]):
        raise TypeError(f"callback is {given['callback']!r}; wanted a function of intermediate_result.")
    finder = ModeFinder(given["bounds"], jac=source.order > 0, hess=source.order > 1, maximise=maximise, **own)
    keeper = _Keeper(given["checkpoint"], (own["options"] or {}).get("checkpoint_every", _CHECKPOINT_EVERY))
    finder = keeper.resumed(finder)
    if given["jac"] is True and given["hess"] == "2-point":
        finder.cost_per_hessian = 1 + box.d  # differences of gradients call the function, too
    line = Line(given["progress"] and sys.stderr.isatty())
    with Evaluator(source, workers=given["workers"], on_error=given["on_error"]) as evaluator:
        try:
            while not finder.stop():
                points = finder.ask()
                evaluation = evaluator.evaluate(points, finder.needs)
                finder.tell_round(*evaluation)
                _tell_others(finder, given["callback"], line)
                keeper.save_now_and_then(finder)
        except KeyboardInterrupt:
            finder.end("interrupted from the keyboard", Status.INTERRUPTED)
        finally:
            line.close()
        keeper.save(finder)
        return finder.result_with(evaluator)


def _tell_others(finder: ModeFinder, callback: Callable[..., Any] | None, line: Line) -> None:
    """The callback, which may stop the search, and the line on the terminal."""
    line.show(finder.progress_text)
    if callback is None:
        return
    try:
        is_over = callback(intermediate_result=finder.result) is True
    except StopIteration:
        is_over = True
    if is_over:
        finder.end("the callback asked to stop", Status.STOPPED)


class _Keeper:
    """Writes checkpoints, and resumes from one."""

    def __init__(self, path: str | os.PathLike[str] | None, every: float) -> None:
        self.path = None if path is None else Path(path)
        self.every = every
        self.last = time.monotonic()

    def resumed(self, finder: ModeFinder) -> ModeFinder:
        """The search in the file, if there is one and it is the same search."""
        if self.path is None or not self.path.exists():
            return finder
        saved = ModeFinder.load(self.path)
        saved.check_same(finder, self.path)
        return saved

    def save_now_and_then(self, finder: ModeFinder) -> None:
        if self.path is not None and time.monotonic() - self.last >= self.every:
            self.save(finder)

    def save(self, finder: ModeFinder) -> None:
        if self.path is None:
            return
        self.last = time.monotonic()
        try:
            finder.save(self.path)
        except OSError as error:
            warnings.warn(f"the checkpoint {self.path} could not be written: {error}", RuntimeWarning, stacklevel=2)
