"""allmodes resume"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from allmodes.cli import exits
from allmodes.cli.console import say
from allmodes.cli.directory import RunDirectory
from allmodes.cli.exits import Usage
from allmodes.cli.running import How, run
from allmodes.cli.settings import SETTINGS, given, options
from allmodes.cli.targets import check_name, is_function, load, shown


@click.command("resume", short_help="Go on with a search, exactly where it was.", epilog=exits.TEXT)
@click.argument("directory", metavar="DIR", type=click.Path(path_type=Path))
@options(tuple(setting for setting in SETTINGS if setting.goes_on))
@click.option("--target", "new_target", metavar="TARGET", help="Where the function is now, if it has moved.")
@click.option("--json", "is_json", is_flag=True, help="Print the result as JSON and nothing else.")
@click.option("-q", "--quiet", is_flag=True, help="Show no progress.")
@click.option("--debug", is_flag=True, help="Show whole tracebacks.")
def resume_command(
    directory: Path, new_target: str | None, is_json: bool, quiet: bool, debug: bool, **chosen: Any
) -> None:
    """Go on with a search that was interrupted, or that is to have a larger budget.

    DIR is the directory of a run. The search goes on exactly where it was: the result is that of a run without
    interruption. The function that run.json names is imported again.

    \b
    Example:
      allmodes resume run --max-evaluations 100000
    """
    place = RunDirectory(directory)
    target, settings = place.read()
    target = check_name(new_target or target)
    settings |= given(chosen)
    if not place.checkpoint.exists():
        raise Usage(f"{directory} has no checkpoint.npz to go on from. Begin anew: allmodes find {shown(target)}.")
    if not quiet:
        what = f"importing {shown(target)}" if is_function(target) else f"problem {target}"
        say(f"resuming {directory}: {what}")
    loaded = load(target, None if is_function(target) else settings.get("dimension"))
    try:
        place.write(target, settings)
    except OSError as error:
        raise Usage(f"cannot write to the directory {directory}: {error.strerror}.") from None
    run(loaded, settings, place, How(is_json, quiet, debug, is_new=False))
