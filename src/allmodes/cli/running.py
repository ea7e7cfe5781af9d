"""One search from the command line: started, watched, ended in good order, saved and shown."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import click

from allmodes.cli import exits
from allmodes.cli.command import command_of
from allmodes.cli.console import output, say
from allmodes.cli.data import read_data
from allmodes.cli.directory import RunDirectory
from allmodes.cli.errors import point_of, users_traceback
from allmodes.cli.exits import Usage
from allmodes.cli.progress import Watch
from allmodes.cli.settings import SETTINGS
from allmodes.cli.shapes import shape
from allmodes.cli.tables import is_unfinished, show_result, title_of
from allmodes.cli.targets import Target, is_function, load_function

if TYPE_CHECKING:
    from allmodes.result import Result

_OPTIONS = (
    "temperature",
    "width",
    "patience",
    "order",
    "checkpoint_every",
)  # settings that find_minima takes in its argument `options`

_CALLS = 6561  # of the function for contours: as many as the page makes in two dimensions
_WAITED = 20.0  # seconds for them, as many as the page allows


@dataclass(frozen=True)
class How:
    """What is shown of a search, and how.

    Attributes:
        is_json: as JSON.
        is_quiet: without progress.
        is_debug: with whole tracebacks.
        is_new: whether it begins here.
    """

    is_json: bool = False
    is_quiet: bool = False
    is_debug: bool = False
    is_new: bool = True


def run(target: Target, settings: dict[str, Any], directory: RunDirectory | None, how: How) -> NoReturn:
    """Search, save, show, and exit."""
    if settings.get("report"):
        check_report()
    with _terminations(is_forwarded=directory is None) as received:
        result = _search(target, settings, directory, how)
    known = {"function": target.text, "command": command_of(target.text, settings)}
    result = replace(result, settings=result.settings | known)
    is_written = directory is None or _written(result, target, directory, settings)
    if how.is_json:
        from allmodes.report.plain import as_json

        click.echo(as_json(result))
    else:
        show_result(output(), result, title_of(target.text), "RESULT" if directory is None else str(directory.path))
    _say_where(result, directory, how, is_written, bool(received))
    raise click.exceptions.Exit(_exit_code(result, is_written, bool(received)))


def _search(target: Target, settings: dict[str, Any], directory: RunDirectory | None, how: How) -> Result:
    checkpoint = None if directory is None else directory.checkpoint
    watch = Watch(how.is_quiet)
    try:
        with users_output():
            find, given = call_of(target, settings)
        with _plain_warnings(), watch, users_output():
            return find(**given, progress=watch, checkpoint=checkpoint)
    except Exception as error:
        if directory is not None and how.is_new and not watch.has_seen:
            directory.abandon()
            directory = None
        if how.is_debug or isinstance(error, click.ClickException):
            raise
        explain(error, directory)


def call_of(target: Target, settings: dict[str, Any]) -> tuple[Callable[..., Result], dict[str, Any]]:
    """The function of allmodes that searches, and its arguments."""
    import allmodes

    given, task = arguments(target, settings), settings.get("task", "find")
    if task == "roots":
        return allmodes.find_roots, {"F": given.pop("fun")} | given
    if task == "fit" and "data" in settings:
        table = read_data(Path(settings["data"]))
        given |= {"xdata": table.x, "ydata": table.y, "p0": given.pop("x0", None)}
        sigma = {} if table.sigma is None else {"sigma": table.sigma}
        return allmodes.curve_fit, {"f": given.pop("fun")} | given | sigma
    if task == "fit":
        return allmodes.find_fits, {"residuals": given.pop("fun")} | given
    maximise = settings.get("maximise", bool(target.maximise))
    return (allmodes.find_maxima if maximise else allmodes.find_minima), given


def arguments(target: Target, settings: dict[str, Any]) -> dict[str, Any]:
    """The arguments of find_minima: those of the target, and the settings over them."""
    given = dict(target.arguments)
    if "jac" in settings:
        given.pop("hess", None)  # of the problem: it would not be used without its gradient
    for setting in SETTINGS:
        if setting.argument and setting.key in settings:
            given[setting.argument] = settings[setting.key]
    for name in ("jac", "hess"):
        if isinstance(given.get(name), str) and is_function(given[name]):
            given[name] = load_function(given[name])
    if given.get("jac") == "2-point":
        given["jac"] = None
    shape(given, settings)
    options = {key: settings[key] for key in _OPTIONS if key in settings}
    return given | ({"options": options} if options else {})


def check_report() -> None:
    """Say before a long search, rather than after it, that the report cannot be written."""
    from importlib.util import find_spec

    missing = [name for name in ("jinja2", "plotly") if find_spec(name) is None]
    if missing:
        raise Usage(f"the report needs {' and '.join(missing)}: pip install 'allmodes[report]'.")


def explain(error: Exception, directory: RunDirectory | None) -> NoReturn:
    """What went wrong, in the user's terms."""
    where = point_of(error)
    if where is None and isinstance(error, ValueError | TypeError | ImportError | OSError):
        raise Usage(str(error)) from None
    if where is None:
        exits.fail(f"{type(error).__name__}: {error}. This should not happen; --debug shows where it does.")
    trace = users_traceback(error)
    if trace:
        say(trace)
    what = "." if trace else f": {error}"
    kept = "" if directory is None else f" Once it is fixed, resume: allmodes resume {directory.path}."
    exits.fail(f"the function failed at {where}{what}{kept} To count such points and go on: --on-error nan.")


def _written(result: Result, target: Target, directory: RunDirectory, settings: dict[str, Any]) -> bool:
    """Whether the result, and the report if it is wanted, could be written."""
    try:
        directory.finish(result)
        if settings.get("report"):
            _report(result, target, directory, settings)
    except OSError as error:
        say(f"Error: the result could not be written to {directory.path}: {error.strerror}.")
        return False
    return True


def _report(result: Result, target: Target, directory: RunDirectory, settings: dict[str, Any]) -> None:
    """With contours, if the function is quick. Interrupting this, as by Ctrl-C, loses nothing but the page."""
    from allmodes.report.page import write_report

    fun = None if "data" in settings else target.arguments["fun"]
    if fun is not None and is_function(target.text) and not _is_quick(result, settings):
        fun = None
        again = f"allmodes report {directory.path} --fun {title_of(target.text)}"
        say(f"the report has no contours: the function is slow, ended a worker or was interrupted. With them: {again}")
    try:
        with users_output():
            write_report(result, directory.report, fun=fun, title=title_of(target.text))
    except (KeyboardInterrupt, SystemExit):
        say(f"the report was not written. Write it: allmodes report {directory.path}")


def _is_quick(result: Result, settings: dict[str, Any]) -> bool:
    """Whether the function may be called for a plot, in this process: it was quick, and ended no worker."""
    at_once = settings.get("workers", 1)
    seconds = result.seconds / max(1, result.nfev) * ((os.cpu_count() or 1) if at_once == -1 else at_once)
    is_safe = "timeout" not in settings and not any(failure[1] == "lost" for failure in result.failures)
    is_fast = seconds * _CALLS < _WAITED or bool(result.settings.get("constraints"))  # these take time of their own
    return is_safe and not is_unfinished(result) and is_fast


def _say_where(result: Result, directory: RunDirectory | None, how: How, is_written: bool, is_terminated: bool) -> None:
    if is_unfinished(result):
        kept = f" Saved. Resume: allmodes resume {directory.path}" if directory is not None and is_written else ""
        say(f"Ended by {'SIGTERM' if is_terminated else 'Ctrl-C'}.{kept}")
    elif directory is not None and is_written and not how.is_quiet:
        names = [path.name for path in (directory.result, directory.json, directory.report) if path.exists()]
        say(f"written to {directory.path}: {', '.join(names)}")


def _exit_code(result: Result, is_written: bool, is_terminated: bool) -> int:
    if is_terminated:
        return exits.TERMINATED
    if is_unfinished(result):
        return exits.INTERRUPTED
    return exits.FOUND if result.modes and is_written else exits.FAILED


@contextlib.contextmanager
def _terminations(is_forwarded: bool) -> Iterator[list[int]]:
    """Note SIGTERM. The search handles it itself if it has a checkpoint; if not, it is passed on as Ctrl-C."""
    received: list[int] = []

    def receive(number: int, frame: object) -> None:
        received.append(number)
        if is_forwarded:
            os.kill(os.getpid(), signal.SIGINT)

    try:
        previous = signal.signal(signal.SIGTERM, receive)
    except ValueError:  # not the main thread
        yield received
        return
    try:
        yield received
    finally:
        signal.signal(signal.SIGTERM, previous)


@contextlib.contextmanager
def users_output() -> Iterator[None]:
    """What the user's function prints goes to stderr: stdout is for the result. Child processes and C code, too."""
    sys.stdout.flush()
    try:
        is_real = sys.stdout.fileno() == 1
    except (OSError, ValueError, AttributeError):
        is_real = False
    kept = os.dup(1) if is_real else -1
    if is_real:
        os.dup2(2, 1)
    try:
        with contextlib.redirect_stdout(sys.stderr):
            yield
    finally:
        if is_real:
            os.dup2(kept, 1)
            os.close(kept)


@contextlib.contextmanager
def _plain_warnings() -> Iterator[None]:
    """Warnings as messages of one paragraph."""

    def show(message: Warning | str, category: type[Warning], filename: str, lineno: int, *rest: object) -> None:
        said = str(message)
        say(f"Warning: {said}" if "checkpoint" in said else f"Warning: {said} ({filename}, line {lineno})")

    with warnings.catch_warnings():
        warnings.simplefilter("default")
        warnings.showwarning = show  # type: ignore[assignment]
        yield
