"""allmodes find"""

from __future__ import annotations

import secrets
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from allmodes.cli import exits
from allmodes.cli.aliases import Understanding
from allmodes.cli.console import say
from allmodes.cli.directory import RunDirectory, free_directory
from allmodes.cli.exits import Usage
from allmodes.cli.offers import Offered, problems
from allmodes.cli.running import How, run
from allmodes.cli.settings import BY_KEY, given, of_task, options
from allmodes.cli.settings_file import read_settings
from allmodes.cli.targets import check_name, is_function, load, shown

_SEED_BITS = 32  # of a seed that nobody chose: short enough to be typed


def searching(task: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """The options of a command that searches."""

    def add(command: Callable[..., Any]) -> Callable[..., Any]:
        for option in reversed(_HOW):
            command = option(command)
        return options(of_task(task))(command)

    return add


_HOW = (
    click.option(
        "--json",
        "is_json",
        is_flag=True,
        help="Print the result as JSON and nothing else; files are written only with --out.",
    ),
    click.option("--force", is_flag=True, help="Replace what is in the directory."),
    click.option("-q", "--quiet", is_flag=True, help="Show no progress."),
    click.option("--debug", is_flag=True, help="Show whole tracebacks."),
)


@click.command("find", cls=Understanding, epilog=exits.TEXT)
@click.argument("target", metavar="FUN", type=Offered("target", problems, or_files=True))
@searching("find")
def find_command(target: str, **chosen: Any) -> None:
    """Find every minimum of a function.

    FUN is FILE.py:FUNCTION or MODULE:FUNCTION (of a point (d,), returns a number), a built-in problem (see:
    allmodes problems), or a settings file run.toml, in which the options below are keys: maxfev = 10000.
    Functions are minimised unless --maximise is given; built-in problems are maximised.

    The modes are printed, and kept with a checkpoint in a directory: see allmodes show, plot, report and resume.

    \b
    Examples:
      allmodes find himmelblau
      allmodes find model.py:energy --bounds -6:6,-6:6 --out run
      allmodes find model.py:energy --bounds -6:6,-6:6 --constraint model.py:disc
      allmodes find run.toml --maxfev 20000
    """
    search("find", target, **chosen)


def search(task: str, target: str, *, is_json: bool, force: bool, quiet: bool, debug: bool, **chosen: Any) -> None:
    """What find, fit and roots do."""
    settings = given(chosen)
    file = Path(target) if target.endswith(".toml") else None
    if file is not None:
        settings = read_settings(file) | settings
        target = settings.pop("target")
        task = settings.pop("task", task)
    target = check_name(target)
    settings = completed(target, settings, file)
    if task != "find":
        check_task(task, target, settings)
        settings["task"] = task
    out = settings.pop("out", None)
    loaded = load(target, None if is_function(target) else settings.get("dimension"))
    directory = None
    if out is not None or not is_json:
        directory = free_directory(loaded.name) if out is None else RunDirectory(Path(out))
        directory.begin(target, settings, force)
    elif settings.get("report"):
        raise Usage("--report writes a file: name a directory for it, --out DIR.")
    if directory is not None and not quiet and not is_json:
        say(f"searching {shown(target)}, rng {settings['rng']}, in {directory.path}")
    run(loaded, settings, directory, How(is_json, quiet, debug))


def check_task(task: str, target: str, settings: dict[str, Any]) -> None:
    """Refuse what does not go with fits and roots."""
    if not is_function(target):
        raise Usage(f"allmodes {task} needs a function, FILE.py:FUNCTION; {target} is a built-in problem: find it.")
    for key in settings:
        if key in BY_KEY and task not in BY_KEY[key].tasks:
            raise Usage(f"{key} is not a setting of allmodes {task}; it is of allmodes {BY_KEY[key].tasks[0]}.")


def completed(target: str, settings: dict[str, Any], file: Path | None = None) -> dict[str, Any]:
    """The settings with a pair of bounds for each coordinate, a seed and whole paths; refused if they do not agree."""
    settings = {"rng": secrets.randbits(_SEED_BITS)} | settings
    for key in ("jac", "hess"):
        if isinstance(settings.get(key), str) and is_function(settings[key]):
            settings[key] = check_name(settings[key])
    if "constraint" in settings:
        settings["constraint"] = [check_name(name) for name in settings["constraint"]]
    for key in ("data", "starts"):
        if key in settings:
            settings[key] = str(Path(settings[key]).resolve())
    bounds, dimension = settings.get("bounds"), settings.get("dimension")
    if bounds is None:
        if is_function(target) and not {"x0", "starts"} & settings.keys():
            raise Usage(_no_bounds(shown(target), file))
        return settings
    if dimension is not None and len(bounds) == 1:
        settings["bounds"] = bounds * dimension
    elif dimension not in (None, len(bounds)):
        raise Usage(f"--bounds has {len(bounds)} pairs and --dimension is {dimension}; wanted as many, or one pair.")
    return settings


def _no_bounds(target: str, file: Path | None) -> str:
    if file is not None:
        return (
            f"{file} has no bounds: where is {target} to be searched? Add the key bounds, as in "
            "bounds = [[-6, 6], [-6, 6]] for two coordinates, a point to search around, x0 = [0, 0], or a file "
            'of draws, starts = "draws.csv".'
        )
    return (
        f"where is {target} to be searched? Give --bounds, as in --bounds -6:6,-6:6 for two coordinates "
        "(or --bounds -6:6 --dimension 2), a point to search around, --x0 0,0, or a file of draws, --starts draws.csv."
    )
