"""allmodes problems"""

from __future__ import annotations

from importlib.util import find_spec
from itertools import groupby
from typing import TYPE_CHECKING, Any

import click

from allmodes.cli.console import output, say, table, width_of, wrapped
from allmodes.cli.exits import Usage
from allmodes.cli.kinds import Whole
from allmodes.cli.offers import Offered, problems

if TYPE_CHECKING:
    from numpy.typing import NDArray

_SHOWN = 20  # modes of a problem
_WIDEST = 25  # text of bounds in the list, which fits 80 columns


@click.command("problems", short_help="List the built-in problems, or show one.")
@click.argument("name", required=False, type=Offered("name", problems))
@click.option("--dimension", type=Whole(1), metavar="N", help="Of the problem NAME, if it comes in several.")
def problems_command(name: str | None, dimension: int | None) -> None:
    """List the built-in problems, whose modes are known; with NAME, show one and where its modes are.

    They are maximised. Maxima on the bounds are known of applications alone, from stewart-platform on; a search may
    find them of others, too.

    \b
    Example:
      allmodes problems six-hump-camel
    """
    if name is None:
        if dimension is not None:
            raise click.UsageError("--dimension needs the NAME of a problem.")
        _list()
    else:
        _show(name.lower().replace("_", "-"), dimension)


def _list() -> None:
    from allmodes.problems.named import NAMED

    console = output()
    listed = table(console)
    for title, side in (("name", "left"), ("d", "right"), ("bounds", "left"), ("modes", "right"), ("global", "right")):
        listed.add_column(title, justify=side, no_wrap=True)  # type: ignore[arg-type]
    missing = set()
    for name, entry in NAMED.items():
        if entry.needs and find_spec(entry.needs) is None:
            missing.add(entry.needs)
            continue
        problem = entry.make()
        is_global = int(problem.is_global.sum())
        count = len(problem.modes)
        dimension = f"{problem.dimension}{'+' if entry.has_dimension else ' '}"
        all_modes = "" if entry.lists_global_only else str(count)
        listed.add_row(name, dimension, _short(bounds_text(problem.bounds)), all_modes, str(is_global))
    console.print(listed)
    console.print(wrapped("+ also in other dimensions: --dimension. Search one: allmodes find NAME", width_of(console)))
    if missing:
        say(f"CEC2013 is not listed: it needs {', '.join(missing)}, pip install 'allmodes[reproduce]'.")


def _show(name: str, dimension: int | None) -> None:
    from allmodes.objective import VALUE
    from allmodes.problems.named import NAMED, named

    try:
        problem = named(name, dimension)
    except (ValueError, ImportError) as error:
        raise Usage(str(error)) from None
    console = output()
    width = width_of(console)
    console.print(f"{name}: {problem.name}", style="bold")
    console.print(wrapped(NAMED[name].text, width))
    console.print(wrapped(f"bounds {bounds_text(problem.bounds)}", width))
    if problem.periodic:
        console.print(wrapped(f"periodic {', '.join(map(str, problem.periodic))}", width))
    values = problem.objective.evaluate(problem.modes[:_SHOWN], VALUE).value
    console.print(f"{len(problem.modes)} known maxima, best first (* global):")
    for value, point, is_global in zip(values, problem.modes, problem.is_global, strict=False):
        shown = ", ".join(f"{entry:.5g}" for entry in point)
        console.print(wrapped(f"{'*' if is_global else ' '} {value:.6g} at [{shown}]", width))
    if len(problem.modes) > _SHOWN:
        console.print(f"  ... and {len(problem.modes) - _SHOWN} more")


def bounds_text(bounds: NDArray[Any]) -> str:
    """[low, high]^d, with one interval after the other where they differ.

    >>> import numpy as np
    >>> bounds_text(np.array([[-6.0, 6.0], [-6.0, 6.0]])), bounds_text(np.array([[-3.0, 3.0], [0.0, 1.0], [0.0, 1.0]]))
    ('[-6, 6]^2', '[-3, 3] x [0, 1]^2')
    """
    runs = [(pair, len(list(equal))) for pair, equal in groupby(f"[{low:g}, {high:g}]" for low, high in bounds)]
    return " x ".join(pair if n == 1 else f"{pair}^{n}" for pair, n in runs)


def _short(text: str) -> str:
    """The first interval alone, if all are too many for a table."""
    return text if len(text) <= _WIDEST else f"{text.partition(' x ')[0]} x ..."
