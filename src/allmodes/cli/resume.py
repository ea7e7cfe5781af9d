"""allmodes resume"""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from allmodes.cli import exits
from allmodes.cli.aliases import OfResult
from allmodes.cli.console import say
from allmodes.cli.directory import RunDirectory, driver_of
from allmodes.cli.exits import Usage
from allmodes.cli.running import How, run
from allmodes.cli.settings import SETTINGS, as_before, given, options
from allmodes.cli.targets import check_name, is_function, load, shown

if TYPE_CHECKING:
    from allmodes.driver import Driver

# What ends a search; settings of the same name let it go on.
_LIMITS = ("maxfev", "maxiter", "maxtime", "n_modes")


@click.command("resume", cls=OfResult, short_help="Resume a search exactly where it was.", epilog=exits.TEXT)
@click.argument("directory", metavar="DIR", type=click.Path(path_type=Path))
@options(tuple(as_before(setting) for setting in SETTINGS if setting.goes_on))
@click.option("--fun", "new_target", metavar="FUN", help="Where the function is now, if it has moved.")
@click.option("--json", "is_json", is_flag=True, help="Print the result as JSON and nothing else.")
@click.option("-q", "--quiet", is_flag=True, help="Show no progress.")
@click.option("--debug", is_flag=True, help="Show whole tracebacks.")
def resume_command(
    directory: Path, new_target: str | None, is_json: bool, quiet: bool, debug: bool, **chosen: Any
) -> None:
    """Resume a search that was interrupted, or that is to have a larger budget.

    DIR is the directory of a run. The search goes on exactly where it was: the result is that of a run without
    interruption. The function that run.json names is imported again. Options left out stay as they were.

    \b
    Example:
      allmodes resume run --maxfev 100000
    """
    place = RunDirectory(directory)
    target, settings = place.read()
    target = check_name(new_target or target)
    changes = given(chosen)
    settings |= changes
    if not place.checkpoint.exists():
        raise Usage(f"{directory} has no checkpoint.npz to resume from. Start again: allmodes find {shown(target)}.")
    driver = _driver(place, settings)
    reasons = {} if driver is None else _reasons(driver, changes)
    if driver is not None and reasons:
        say(f"nothing to do: {'; '.join(reasons.values())}. {_advice(reasons, directory)}")
        if not is_json and "report" not in changes and place.result.exists():
            raise click.exceptions.Exit(exits.FOUND if driver.modes_found else exits.FAILED)
    elif not quiet:
        what = f"importing {shown(target)}" if is_function(target) else f"problem {target}"
        say(f"resuming {directory}: {what}")
    if settings.get("report"):
        place.check_report("Move it away.")
    loaded = load(target, None if is_function(target) else settings.get("dimension"))
    try:
        place.write(target, settings)
    except OSError as error:
        raise Usage(f"cannot write to the directory {directory}: {error.strerror}.") from None
    run(loaded, settings, place, How(is_json, quiet, debug, is_new=False))


def _driver(place: RunDirectory, settings: dict[str, Any]) -> Driver | None:
    """The search as it was saved; None if it cannot be read, which is explained when it is resumed."""
    try:
        return driver_of(place, settings)
    except (OSError, ValueError):
        return None


def _reasons(driver: Driver, changes: dict[str, Any]) -> dict[str, str]:
    """Why a search is over even with the changed settings: a name and a sentence for each reason."""
    budget = changes.get("maxfev", math.inf)
    if budget < driver.nfev:
        raise Usage(f"--maxfev is {budget}; {driver.nfev} evaluations have already been made. Wanted more than that.")
    reached = {
        "maxfev": driver.nfev, "maxiter": driver.state.nit, "maxtime": driver.elapsed, "n_modes": driver.modes_found,
    }  # fmt: skip
    return {
        name: why
        for name, why in driver.stop().items()
        if name not in reached or not changes.get(name, -math.inf) > reached[name]
    }


def _advice(reasons: dict[str, str], directory: Path) -> str:
    """What to do about each of the reasons."""
    limits = [f"--{name.replace('_', '-')}" for name in reasons if name in _LIMITS]
    if len(limits) == len(reasons):
        on = f"To search on, raise {' and '.join(limits)}."
    else:
        on = "A larger budget would not change that; for another search, run allmodes find with another --rng."
    return f"{on} What was found: allmodes show {directory}"
