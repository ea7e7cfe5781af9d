"""The loop of `find_minima`: ask, evaluate, tell, until the search is over; with checkpoints, signals and watchers."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import replace
from signal import SIGTERM
from typing import Any, NamedTuple

from allmodes.callbacks import asking
from allmodes.checkpoints import EVERY, Keeper, Pace, Signals
from allmodes.driver import Driver
from allmodes.journal import LOG
from allmodes.objective.bounds import Box
from allmodes.objective.derivatives import Source
from allmodes.objective.equations import PER_ROOT, Equations
from allmodes.objective.evaluator import Evaluator
from allmodes.objective.residuals import SumOfSquares
from allmodes.progress import Outlook, Progress
from allmodes.result import Result
from allmodes.status import Status
from allmodes.task import Task
from allmodes.terminal import Line, Shown, can_show

_NO_FILE = 'with checkpoint="run.ckpt" the same call could go on'


class Function(NamedTuple):
    """The user's function and its derivatives, as they were given: see `find_minima`."""

    fun: Callable[..., Any]
    args: Any
    jac: Any
    hess: Any
    vectorized: bool

    def source(self, box: Box) -> Source:
        """What the evaluator calls."""
        return Source.make(*self, box=box)


class Residuals(NamedTuple):
    """A user's vector of residuals: see `find_fits`."""

    part: SumOfSquares
    jac: Any
    hess: Any = None
    counts_best: bool = False  # of `find_roots`: only the best modes count for n_modes
    is_system: bool = False  # of `find_roots`: as many equations as unknowns, which are followed each by itself

    @property
    def vectorized(self) -> bool:
        return self.part.batched

    def source(self, box: Box) -> Source:
        """What the evaluator calls: sums of squares, with gradients and a model of the curvature."""
        parts = (Equations(self.part) if self.is_system else self.part,)
        return Source(parts, 1, has_model=True, is_system=self.is_system)


class Execution(NamedTuple):
    """Where the function is evaluated, who watches, and where the search is kept: see `find_minima`."""

    workers: Any
    timeout: float | None
    retries: int
    on_error: str
    callback: Callable[..., Any] | None
    progress: bool | Callable[[Progress], object]
    checkpoint: str | os.PathLike[str] | None


def find(task: Task, function: Function | Residuals, execution: Execution) -> Result:
    """Run the search; what was found so far if it is interrupted."""
    source = function.source(task.box)
    watchers = _Watchers.of(execution)
    is_derived, cost = source.is_derived, source.cost(source.offers) if source.has_model else None
    if cost is not None and source.is_system:
        cost += PER_ROOT
    asked = task.begin(source.order, is_derived, cost, source.is_system)
    keeper = Keeper(execution.checkpoint, (task.options or {}).get("checkpoint_every", EVERY))
    driver = keeper.resumed(asked)
    if driver is not asked and (constraints := asked.state.context.constraints) is not None:
        driver.state.context.constrain(constraints)
    driver.cost = source.cost
    driver.counts_best = isinstance(function, Residuals) and function.counts_best
    with (
        Signals(takes_sigterm=keeper.path is not None) as signals,
        Evaluator(
            source, workers=execution.workers, timeout=execution.timeout, retries=execution.retries,
            on_error=execution.on_error,
        ) as evaluator,
    ):  # fmt: skip
        driver.go_on_with(evaluator)
        is_alone = type(execution.workers) is int and execution.workers == 1
        is_piecewise = is_alone and (keeper.path is not None or watchers.line.is_shown)
        pace = Pace(keeper.every if is_piecewise else None)
        try:
            _search(driver, evaluator, keeper, signals, pace, watchers)
        except BaseException as error:
            if signals.is_whole:
                for number, rows, evaluation in evaluator.left:  # what is finished is not repeated
                    driver.tell_rows(number, rows, *evaluation)
                keeper.save(driver, evaluator)
            if not isinstance(error, KeyboardInterrupt):
                raise
            why = "SIGTERM ended it" if signals.received == SIGTERM else "Ctrl-C ended it"
            kept = _NO_FILE if keeper.path is None else f"the same call goes on from {keeper.path}"
            driver.end(f"{why}; {kept}", Status.INTERRUPTED)
        else:
            keeper.save(driver, evaluator)
        finally:
            watchers.line.close()
        result = _with_settings(driver.result_with(evaluator), function, execution)
    LOG.info("%s: %s", result.status.name, result.message)
    return result


def interrupted(result: Result) -> Result:
    """The result of a search that is over, while modes were still looked at when Ctrl-C came."""
    status = Status.INTERRUPTED
    message = f"{status.message} Ctrl-C ended it while its modes were looked at. {result.message}"
    return result if result.status is status else replace(result, status=status, success=False, message=message)


def _with_settings(result: Result, function: Function | Residuals, execution: Execution) -> Result:
    """The result with the loop's own arguments added; what is not plain data is given by name."""
    given = {
        "jac": function.jac, "hess": function.hess, "vectorized": function.vectorized,
        "workers": execution.workers, "on_error": execution.on_error,
    }  # fmt: skip
    plain = (bool, int, str, type(None))
    said = {
        name: value if isinstance(value, plain) else getattr(value, "__name__", repr(value))
        for name, value in given.items()
    }
    return replace(result, settings=result.settings | said)


class _Watchers(NamedTuple):
    """Everyone who is shown how a search is going.

    Args:
        callback: of the user, after every round; says whether it asks to stop.
        line: in the terminal.
        watch: a function of Progress, whenever evaluations came back.
    """

    callback: Callable[[Driver], bool] | None
    line: Line
    watch: Callable[[Progress], object] | None

    @staticmethod
    def of(execution: Execution) -> _Watchers:
        progress = execution.progress
        line = Line(progress is True and can_show())
        return _Watchers(asking(execution.callback), line, progress if callable(progress) else None)


def _search(
    driver: Driver, evaluator: Evaluator, keeper: Keeper, signals: Signals, pace: Pace, watchers: _Watchers
) -> None:
    """Ask, evaluate, tell, until the search is over; a round that comes back in pieces is told and saved in pieces."""
    rounds, outlook = driver.state.nit, Outlook(driver)
    watchers.line.begin(Shown(f"{driver.nfev} evaluations"))
    while driver.is_in_round or not driver.stop():
        if driver.is_late:
            evaluator.withdraw()
        else:
            for number, points, needs in driver.hand_out():
                evaluator.submit(number, points, needs, driver.state.context.rounding)
        evaluator.piece, begun = pace.size, time.monotonic()
        came = signals.during(evaluator.wait)
        if not came and driver.is_late:
            break
        pace.took(sum(len(rows) for _, rows, _ in came), time.monotonic() - begun)
        for number, rows, evaluation in came:
            driver.tell_rows(number, rows, *evaluation)
        if watchers.watch is not None:
            signals.during(watchers.watch, outlook.progress())
        watchers.line.show(lambda elapsed: outlook.shown(watchers.line.place.width))
        if driver.state.nit > rounds:
            rounds = driver.state.nit
            if watchers.callback is not None and signals.during(watchers.callback, driver):
                driver.end("the callback asked to stop", Status.STOPPED)
        keeper.save_now_and_then(driver, evaluator)
    signals.check()
