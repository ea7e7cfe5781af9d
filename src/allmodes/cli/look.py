"""allmodes show, plot, report: look at a result."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from allmodes.cli import exits
from allmodes.cli.aliases import OfResult
from allmodes.cli.console import output, say
from allmodes.cli.directory import constraints_of_run, load_result
from allmodes.cli.exits import Usage, fail
from allmodes.cli.kinds import Listed, Whole
from allmodes.cli.running import check_report
from allmodes.cli.tables import is_unfinished, show_mode, show_result, title_of
from allmodes.cli.targets import check_name, is_function, load

if TYPE_CHECKING:
    from allmodes.result import Result

COORDINATES = Listed("numbers, from 0, or names of coordinates, separated by commas", lambda text: _coordinate(text))
KINDS = ("landscape", "pairs", "modes", "weights", "convergence", "parallel", "waterfall", "map", "tree", "animate")
_OF_THE_FUNCTION = ("landscape", "animate")  # those with contours
_IN_OPTIONS = {
    'method="anneal" or an engine assembly such as nva.presets.nva_gm()': "--method anneal",
    "coordinates is ": "--coordinates is ",
    "coordinates has ": "--coordinates has ",
    "fun failed": "the function failed",
    "fun returned": "the function returned",
    "path is ": "--output is ",
    "run is ": "--run is ",
    "None for all runs, or one": "one",
}
_WITHOUT = ", without contours: name the function with --fun, as in --fun model.py:energy"
_PLOTS = re.compile(r"plot\.(\w+)\(\)")
_RESULT = click.argument("place", metavar="RESULT", type=click.Path(path_type=Path))


@click.command("show", epilog=exits.LOOK)
@_RESULT
@click.option("--all", "is_all", is_flag=True, help="All modes, not the first 20.")
@click.option("--mode", "number", type=Whole(1), metavar="N", help="Everything about one mode, by its number.")
@click.option("--json", "is_json", is_flag=True, help="Print the result as JSON and nothing else.")
def show_command(place: Path, is_all: bool, number: int | None, is_json: bool) -> None:
    """Print the modes of a result.

    RESULT is the directory of a run, or its result.npz. A search that was killed shows what it had found at its last
    checkpoint.

    \b
    Example:
      allmodes show run --mode 1
    """
    result, target = load_result(place)
    if is_json:
        from allmodes.report.plain import as_json

        click.echo(as_json(result))
    elif number is None:
        show_result(output(), result, title_of(target or str(place)), str(place), is_all)
        if is_unfinished(result) and place.is_dir():
            say(f"Resume it: allmodes resume {place}")
    elif number > len(result.modes):
        raise Usage(f"--mode is {number}; there are {len(result.modes)} modes.")
    else:
        show_mode(output(), result, number)


@click.command("plot", cls=OfResult, epilog=exits.DRAW)
@_RESULT
@click.argument("kind", metavar="KIND", type=click.Choice(KINDS))
@click.option(
    "-o",
    "--output",
    "file",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="png, svg or pdf; gif for animate. [default: KIND.png]",
)
@click.option("--fun", "target", metavar="FUN", help="The function, for contours (landscape, animate).")
@click.option(
    "--coordinates", type=COORDINATES, metavar="A,B,...", help="By number or name (landscape, pairs, animate)."
)
@click.option("--run", type=Whole(0), metavar="N", help="Which annealing run, from 0 (animate). [default: 0]")
@click.option("--dpi", type=Whole(20), metavar="N", default=150, show_default=True, help="Dots per inch.")
def plot_command(
    place: Path, kind: str, file: Path | None, target: str | None, coordinates: Any, run: int | None, dpi: int
) -> None:
    """Draw a result. KIND is one of

    \b
    landscape    modes in two coordinates, with contours of the function
    pairs        modes in every pair of coordinates
    modes        values, weights and flatness
    weights      weights and temperature while it was annealed
    convergence  modes found and best value against evaluations
    parallel     parallel coordinates of the modes
    waterfall    the values that local searches ended at
    map          modes on the plane in which they differ most (3-d or more)
    tree         barriers between modes, if result.connect has found them
    animate      the annealing as a GIF

    \b
    Example:
      allmodes plot run convergence -o convergence.png
    """
    result, searched = load_result(place)
    file = Path(f"{kind}.{'gif' if kind == 'animate' else 'png'}") if file is None else file
    function = _function(target, searched, result) if kind in _OF_THE_FUNCTION else None
    if kind == "landscape" and target is not None:
        result = replace(result, constraints=constraints_of_run(place, result))
    try:
        _draw(result, kind, file, function, _chosen(kind, coordinates, run), dpi)
    except ImportError as error:
        raise Usage(str(error)) from None
    except (ValueError, TypeError) as error:
        raise Usage(f"{kind} cannot be drawn: {in_options(str(error))}") from None
    except OSError as error:
        fail(f"{file} cannot be written: {error.strerror or error}.")
    say(f"written: {file}{_WITHOUT if kind in _OF_THE_FUNCTION and function is None else ''}")


def _function(target: str | None, searched: str, result: Result) -> Callable[..., Any] | None:
    """The function whose contours are drawn: the one named, or the problem that was searched.

    The user's function is imported only when it is named. It is called the way the search called it.
    """
    if target is None and (not searched or is_function(searched)):
        return None
    loaded = load(check_name(target or searched), len(result.x) if not is_function(target or searched) else None)
    fun = loaded.arguments["fun"]
    is_batch = bool(result.settings.get("vectorized"))
    takes_batch = loaded.arguments.get("vectorized", is_batch)
    if takes_batch == is_batch:
        return fun
    return (lambda x: [fun(point) for point in x]) if is_batch else (lambda x: fun(x[None])[0])


def _chosen(kind: str, coordinates: Any, run: int | None) -> dict[str, Any]:
    """The part that a plot is to show, refused if it always shows everything."""
    if coordinates is not None and kind not in (*_OF_THE_FUNCTION, "pairs"):
        raise Usage(f"--coordinates is for landscape, pairs and animate; {kind} shows all.")
    if run is not None and kind != "animate":
        raise Usage(f"--run is for animate; {kind} shows all runs.")
    return {name: value for name, value in (("coordinates", coordinates), ("run", run)) if value is not None}


def _draw(result: Result, kind: str, file: Path, function: Any, chosen: dict[str, Any], dpi: int) -> None:
    os.environ.setdefault("MPLBACKEND", "Agg")  # a file is drawn, no window
    if kind == "animate":
        result.plot.animate(file, function, **chosen)
        return
    contours = {"fun": function} if kind in _OF_THE_FUNCTION else {}
    axes = getattr(result.plot, kind)(**contours, **chosen)
    while not hasattr(axes, "figure"):
        axes = axes[0]  # a plot of many panels returns them all
    axes.figure.savefig(file, dpi=dpi)


def in_options(text: str) -> str:
    """A message of the library, which names Python arguments, in terms of this command's options."""
    for python, here in _IN_OPTIONS.items():
        text = text.replace(python, here)
    return _PLOTS.sub(r"allmodes plot RESULT \1", text)


def _coordinate(text: Any) -> int | str:
    return int(text) if str(text).isdigit() else str(text)


@click.command("report", cls=OfResult, short_help="Write a page about a result.", epilog=exits.DRAW)
@_RESULT
@click.option(
    "-o",
    "--output",
    "file",
    type=click.Path(path_type=Path),
    metavar="FILE",
    default=Path("report.html"),
    show_default=True,
    help="The page.",
)
@click.option("--fun", "target", metavar="FUN", help="The function, for contours.")
def report_command(place: Path, file: Path, target: str | None) -> None:
    """Write a page about a result: one HTML file that works without a network.

    \b
    Example:
      allmodes report run -o report.html
    """
    check_report()
    result, searched = load_result(place)
    from allmodes.report.page import write_report

    function = _function(target, searched, result)
    if target is not None:
        result = replace(result, constraints=constraints_of_run(place, result))
    try:
        write_report(result, file, fun=function, title=title_of(searched or str(place)))
    except OSError as error:
        fail(f"{file} cannot be written: {error.strerror or error}.")
    say(f"written: {file}{_WITHOUT if function is None else ''}")
