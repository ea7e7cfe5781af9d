"""allmodes audit"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from allmodes.cli import exits
from allmodes.cli.aliases import Understanding
from allmodes.cli.console import output, say
from allmodes.cli.directory import RunDirectory
from allmodes.cli.exits import Usage
from allmodes.cli.running import check_report, explain, users_output
from allmodes.cli.runs import read_runs
from allmodes.cli.settings import BY_KEY, given, options
from allmodes.cli.tables import show_result
from allmodes.cli.targets import check_name, is_function, load, load_function
from allmodes.status import Status

if TYPE_CHECKING:
    from allmodes.result import Result

_KEYS = (
    "bounds", "dimension", "maximise", "names", "periodic", "xtol", "maxfev", "jac", "hess", "vectorized",
    "workers", "on_error", "temperature", "rng",
)  # fmt: skip
_HELP = {
    "bounds": "Where the runs began, as in -6:6,0:1; the unit of distances.",
    "maximise": "The runs were to maximise.",
    "names": "Of the coordinates; of a CSV, which columns they are.",
    "xtol": "Ends this close are one place, as a share of the bounds. [default: 0.001 to 0.01]",
    "maxfev": "Most evaluations of the checks. [default: 10,000 (d + 1)]",
    "rng": "Seed of the random numbers of the checks. [default: 0]",
}
_SETTINGS = tuple(
    replace(BY_KEY[key], help=_HELP.get(key, BY_KEY[key].help), goes_on=False) for key in _KEYS
)  # fmt: skip
_OF_TARGETS = ("fun", "jac", "hess", "vectorized", "bounds", "periodic")


@click.command("audit", cls=Understanding, short_help="What the runs of any multistart have found.", epilog=exits.TEXT)
@click.argument("runs", type=click.Path(path_type=Path))
@click.option("--fun", "target", metavar="FUN", help="The function, FILE.py:FUNCTION, to check with.")
@click.option("--value", metavar="COLUMN", help="Which column of a CSV has the values. [default: fun, value, cost ...]")
@options(_SETTINGS)
@click.option("--no-polish", is_flag=True, help="Ends that had not converged count for no optimum.")
@click.option("--out", type=click.Path(path_type=Path), metavar="DIR", help="Directory to keep the result in.")
@click.option("--report", "has_report", is_flag=True, help="Write report.html there, too.")
@click.option("--json", "is_json", is_flag=True, help="Print the result as JSON and nothing else.")
@click.option("--force", is_flag=True, help="Replace what is in the directory.")
@click.option("-q", "--quiet", is_flag=True, help="Say nothing but the result.")
@click.option("--debug", is_flag=True, help="Show whole tracebacks.")
def audit_command(
    runs: Path, target: str | None, value: str | None, no_polish: bool, out: Path | None, has_report: bool,
    is_json: bool, force: bool, quiet: bool, debug: bool, **chosen: Any,
) -> None:  # fmt: skip
    """Say what the runs of any multistart have found: distinct optima, how often each was reached, what is missing.

    RUNS is a file with the point and the value at which each run ended: a .csv with a heading, a column for each
    coordinate and one for the value (fun, value, cost, ...), an .npz with the arrays ends and values, or a .json with
    a list of {"x": [...], "fun": ...}. With --fun ends are checked, by a few evaluations for each distinct place;
    without it nobody knows which of them are optima.

    \b
    Examples:
      allmodes audit runs.csv --bounds -6:6,-6:6
      allmodes audit runs.csv --bounds -6:6,-6:6 --fun model.py:energy --out run
    """
    if has_report and out is None:
        raise Usage("--report writes a file: name a directory for it, --out DIR.")
    if has_report:
        check_report()
    directory = None if out is None else RunDirectory(out)
    if directory is not None and directory.is_used and not force:
        raise Usage(
            f"{out} is in use. See what it holds: allmodes show {out}. Replace it: --force. Keep it: another --out."
        )
    arguments = read_runs(runs, value)
    arguments |= _asked(target, given(chosen))
    if not (quiet or is_json):
        _say_what(runs, arguments, value)
    result = _audited(arguments | {"polish": not no_polish}, debug)
    if target is not None:
        result = replace(result, settings=result.settings | {"function": check_name(target)})
    _show(result, runs, out, is_json)
    is_written = directory is None or _written(
        result, directory, arguments.get("fun"), runs, has_report, quiet or is_json
    )
    if is_written and result.status is Status.INTERRUPTED:
        raise click.exceptions.Exit(exits.INTERRUPTED)
    raise click.exceptions.Exit(exits.FOUND if result.modes and is_written else exits.FAILED)


def _asked(target: str | None, settings: dict[str, Any]) -> dict[str, Any]:
    """The arguments of `allmodes.audit` that are options; those of a built-in problem below them."""
    arguments: dict[str, Any] = {"rng": 0}
    if target is not None:
        loaded = load(check_name(target), None if is_function(target) else settings.get("dimension"))
        arguments = {name: loaded.arguments[name] for name in _OF_TARGETS if loaded.arguments.get(name) is not None}
        arguments["maximise"] = bool(loaded.maximise)
    bounds, dimension = settings.get("bounds"), settings.get("dimension")
    if bounds is not None and dimension is not None and len(bounds) == 1:
        settings["bounds"] = bounds * dimension
    for key in _KEYS:
        name = BY_KEY[key].argument or key
        if key in settings and key != "dimension":
            arguments[name] = settings[key]
    for name in ("jac", "hess"):
        if isinstance(arguments.get(name), str) and is_function(arguments[name]):
            arguments[name] = load_function(check_name(arguments[name]))
    return arguments


def _say_what(runs: Path, arguments: dict[str, Any], value: str | None) -> None:
    """Which columns were taken for what."""
    from allmodes.ends import read

    try:
        found = read(arguments["ends"], arguments.get("values"), arguments.get("starts"), arguments.get("names"))
    except (ValueError, TypeError) as error:
        raise Usage(f"{runs}: {error}") from None
    named = f", values in {value or found.column}, coordinates {', '.join(found.names or ())}" if found.column else ""
    say(f"{len(found.points):,} runs in {runs}{named}")


def _audited(arguments: dict[str, Any], debug: bool) -> Result:
    import allmodes

    try:
        with users_output():
            return allmodes.audit(**arguments)
    except Exception as error:
        if debug:
            raise
        explain(error, None)


def _show(result: Result, runs: Path, out: Path | None, is_json: bool) -> None:
    if is_json:
        from allmodes.report.plain import as_json

        click.echo(as_json(result))
        return
    show_result(output(), result, runs.name, "RESULT" if out is None else str(out))


def _written(
    result: Result, directory: RunDirectory, fun: Any, runs: Path, has_report: bool, is_quiet: bool
) -> bool:  # fmt: skip
    """Whether the result, and the report if it is wanted, could be written."""
    try:
        directory.path.mkdir(parents=True, exist_ok=True)
        directory.finish(result)
        if has_report:
            with users_output():
                result.report(directory.report, fun=fun, title=runs.name)
    except OSError as error:
        say(f"Error: the result could not be written to {directory.path}: {error.strerror}.")
        return False
    if not is_quiet:
        names = [path.name for path in (directory.result, directory.json, directory.report) if path.exists()]
        say(f"written to {directory.path}: {', '.join(names)}")
    return True
