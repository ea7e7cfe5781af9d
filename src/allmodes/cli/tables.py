"""Results as tables that fit the terminal."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table

from allmodes.cli.console import GAP, table, width_of, wrapped
from allmodes.cli.progress import duration
from allmodes.modes.coverage import counted
from allmodes.result.columns import HELD, LEFT, Column, columns_of, hidden_text
from allmodes.result.fit_table import fit_table
from allmodes.result.table import coverage_of, legend_of
from allmodes.terminal import visible

if TYPE_CHECKING:
    from allmodes.result import Mode, Result

SHOWN = 20  # modes, unless all are asked for
_DOTS = "..."
# What makes room for a coordinate, in this order.
_LESS = ("hits", "weight", "kind", "condition", "images", "violation", "held by")

# Advice names arguments of find_minima; here they are options.
_OPTIONS = {
    "(maxfev)": "(--maxfev)",
    "(maxtime)": "(--maxtime)",
    'method="black-box"': "--method black-box",
    "result.failures": "the failures in result.json",
}
_UNFINISHED = {
    "INTERRUPTED": "Interrupted: this is what was found so far.",
    "RUNNING": "Not finished: this is what was found by the last checkpoint.",
}


def show_result(console: Console, result: Result, title: str, place: str = "RESULT", is_all: bool = False) -> None:
    """What was found, the table of modes, why the search ended and what may be missing.

    Args:
        console: where to.
        result: to be shown.
        title: what was searched.
        place: the directory or file of the result, as the user names it.
        is_all: all modes, not the first 20.
    """
    width = width_of(console)
    console.print(wrapped(headline(result, title), width), style="bold")
    if result.is_fit:
        console.print("\n".join(fit_table(result, width - 1)), soft_wrap=True)
    elif result.modes:
        shown = result.modes if is_all else result.modes[:SHOWN]
        fitting, left_out = _fitting(console, columns_of(result, shown), len(result.x))
        console.print(fitting)
        more = len(result.modes) - len(shown)
        rest = f"... and {more} more (allmodes show {place} --all). " if more else ""
        legend = "" if result.is_roots else legend_of(result)
        if any(mode.multipliers is not None for mode in shown):
            legend += f"; {HELD}"
        if rest + legend:
            console.print(wrapped(rest + legend, width), style="dim")
        if left_out:
            console.print(
                wrapped(f"{left_out} not shown: allmodes show {place} --mode N, or --json", width), style="dim"
            )
    elif math.isfinite(result.fun):
        named = result.named(result.x)
        point = ", ".join(str(named[i]) if i in named else f"{entry:.6g}" for i, entry in enumerate(result.x))
        console.print(wrapped(f"best point [{point}], value {result.fun:.6g}", width))
    for text in _remarks(result):
        console.print(wrapped(text, width), soft_wrap=True)


def title_of(target: str) -> str:
    """What was searched, without the path to its file."""
    return Path(target).name


def headline(result: Result, title: str) -> str:
    """One line: what, how many, at what cost."""
    count, one = len(result.modes), "maximum" if result.maximise else "minimum"
    names = {"roots": ("root", "roots"), "fit": ("explanation", "explanations")}
    names_of = names.get(result.settings.get("task", ""), (one, f"{one[:-2]}a"))
    found = counted(count, *names_of) if count else f"no {names_of[0]}"
    is_global = sum(mode.is_global for mode in result.modes)
    proved = sum(mode.root is not None and mode.root.certified for mode in result.modes)
    of_these = f" ({proved} certified)" if result.is_roots else f" ({is_global} global)" if count > 1 else ""
    if result.audit is not None:
        found = found if result.audit.is_checked else counted(count, "distinct place")
        return f"{found} in {counted(len(result.audit), 'run')} of {title}, {counted(result.nfev, 'evaluation')}"
    return f"{found}{of_these} of {title}, {result.nfev} evaluations in {duration(result.seconds)}"


def _remarks(result: Result) -> list[str]:
    message = result.message if result.audit is not None else _UNFINISHED.get(result.status.name, result.message)
    for argument, option in _OPTIONS.items():
        message = message.replace(argument, option)
    remarks = [message]
    if result.modes:
        said = coverage_of(result)
        remarks.append(f"{said[0].upper()}{said[1:]}.")
    if result.nfail:
        first = f"; the first: {result.failures[0][1]}, {result.failures[0][2]}" if len(result.failures) else ""
        remarks.append(f"Failed evaluations: {result.nfail}{first}")
    return remarks


def _fitting(console: Console, columns: list[Column], D: int) -> tuple[Table, str]:
    """The table with as many columns as fit, the last D of which are coordinates, and what is left out.

    Dots stand for coordinates that do not fit. Other columns make room until at least one coordinate fits.
    """
    width = width_of(console)
    others, coordinates, dropped = columns[:-D], columns[-D:], []
    if _width(columns) > width:
        columns, hidden = _narrowed(others, coordinates, width)
        dropped = [title for title, _ in others if title not in [kept for kept, _ in columns]]
        dropped += [hidden] if hidden else []
    fitting = table(console)
    for title, _ in columns:
        fitting.add_column(title, justify="left" if title in (*LEFT, _DOTS) else "right", no_wrap=True)
    for row in zip(*(cells for _, cells in columns), strict=True):
        fitting.add_row(*row)
    return fitting, ", ".join(dropped)


def _narrowed(others: list[Column], coordinates: list[Column], width: int) -> tuple[list[Column], str]:
    """Columns that fit, and the coordinates that do not, in words."""
    dots = (_DOTS, ["" for _ in coordinates[0][1]])
    kept = others
    for title in _LESS:
        if _width([*kept, coordinates[0], dots]) <= width:
            break
        kept = [column for column in kept if column[0] != title]
    count = 0
    while count < len(coordinates) and _width([*kept, *coordinates[: count + 1], dots]) <= width:
        count += 1
    if count == len(coordinates):
        return [*kept, *coordinates], ""
    hidden = [title for title, _ in coordinates[count:]]
    return [*kept, *coordinates[:count], dots], hidden_text(hidden)


def _width(columns: list[Column]) -> int:
    return sum(max(len(title), *map(len, cells)) + GAP for title, cells in columns)


def show_mode(console: Console, result: Result, number: int) -> None:
    """Everything about one mode."""
    mode = result.modes[number - 1]
    what = "global " if mode.is_global and mode.root is None else ""
    lines = [
        f"mode {number} of {len(result.modes)}: {what}{mode.kind}, value {mode.fun:.10g}",
        f"weight {mode.weight:.6g} at temperature {result.temperature:.6g}, flatness {mode.flatness:.6g}, "
        f"length of the gradient {'not measured' if math.isnan(mode.gradient_norm) else f'{mode.gradient_norm:.3g}'}",
        f"found after {mode.found_at} evaluations; {counted(mode.hits, 'local search')} ended here",
        "eigenvalues of the Hessian: " + ", ".join(f"{entry:.6g}" for entry in mode.eigenvalues),
        "",
    ]
    lines[-1:-1] = [*_of_constraints(mode), *_of_root(mode), *_of_fit(mode)]
    console.print(wrapped("\n".join(lines), width_of(console)), soft_wrap=True)
    names = [visible(name) for name in result.coordinate_names]
    longest = max(map(len, names))
    for i, (name, entry) in enumerate(zip(names, mode.x, strict=True)):
        held = "  (at a bound)" if i in mode.active else ""
        error = "" if mode.fit is None else f" ± {mode.fit.standard_errors[i]:.3g}"
        said = visible(str(mode.choices[i])) if i in mode.choices else f"{entry:.10g}{error}"
        console.print(f"  {name:{longest}}  {said}{held}", soft_wrap=True)


def _of_constraints(mode: Mode) -> list[str]:
    if mode.multipliers is None:
        return []
    held = ", ".join(f"{i} (multiplier {mode.multipliers[i]:.6g})" for i in mode.active_constraints)
    return [f"held by constraints: {held or 'none'}; violation {mode.violation:.2g}"]


def _of_root(mode: Mode) -> list[str]:
    if mode.root is None:
        return []
    proved = "certified" if mode.root.certified else f"not certified: {mode.root.reason}"
    return [f"|F| {mode.root.residual_norm:.3g}, condition {mode.root.condition:.3g}, {proved}"]


def _of_fit(mode: Mode) -> list[str]:
    if mode.fit is None:
        return []
    said = f"chi2 {mode.fit.chi2:.6g}, {mode.fit.dof} degrees of freedom, reduced chi2 {mode.fit.reduced_chi2:.4g}"
    return [said, *(f"the data determine {words}" for words in mode.fit.undetermined)]


def is_unfinished(result: Result) -> bool:
    """Whether the search was interrupted, or killed."""
    return result.status.name in _UNFINISHED
