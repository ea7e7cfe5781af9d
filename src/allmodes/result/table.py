"""A result as text of as many columns as the terminal has."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Any

import numpy as np

from allmodes.modes.coverage import counted
from allmodes.result.columns import HELD, LEFT, columns_of, hidden_text, weighed
from allmodes.result.fit_table import fit_table
from allmodes.result.mode import point_text
from allmodes.result.symmetries import in_words
from allmodes.terminal import columns as terminal_columns
from allmodes.terminal import visible, wrapped

if TYPE_CHECKING:
    from collections.abc import Sequence

    from allmodes.result.mode import Mode
    from allmodes.result.result import Result

_SHOWN = 20  # modes
_SHOWN_SYMMETRIES = 3
_SOME = 0.5  # modes that may be missing: fewer are none, most likely
_SHOWN_TEXT = 300  # characters of an error message
_DOTS = "  ..."


def text_of(result: Result) -> str:
    """What was done, why it ended, what may be missing, and the table of modes."""
    found = counted(len(result.modes), "root" if result.is_roots else one_of(result))
    lines = [
        *wrapped(f"{result.method}: {_cost(result)}, {found} in {len(result.x)}-d"),
        *wrapped(f"status {result.status.name}: {result.message}"),
        *(wrapped(f"coverage: {coverage_of(result)}") if result.modes else []),
        *(wrapped(f"seen to be the same under {_symmetries(result)}") if result.symmetries else []),
        "",
        *(
            _shown(result)
            if result.modes
            else wrapped(
                f"best point (result.x) {point_text(result.x, result.named(result.x))}, value {result.fun:.6g}"
            )
        ),
    ]
    if result.nfail:
        lines += ["", *wrapped(f"{counted(result.nfail, 'evaluation')} failed{first_failure(result.failures)}")]
    return visible("\n".join(lines))


def coverage_of(result: Result) -> str:
    """What may be missing: a search of a model is judged by other functions that have the same values."""
    more = result.settings.get("more")
    if more is None:
        return str(result.coverage)
    text = f"random functions that have all these values, too, have {more:.2g} more optima on average"
    return f"{text}: there may be as many that were not found" if more >= _SOME else f"{text}: hardly any is missing"


def one_of(result: Result) -> str:
    """What a mode may be called: of an audit without the function it is a place where runs ended."""
    return "distinct place" if result.audit is not None and not result.audit.is_checked else "mode"


def _cost(result: Result) -> str:
    """What was spent: of an audit runs, too."""
    runs = f"{counted(len(result.audit), 'run')}, " if result.audit is not None else ""
    return f"{runs}{counted(result.nfev, 'evaluation')}"


def legend_of(result: Result) -> str:
    """How to read the table."""
    return f"* global; weights at temperature {result.temperature:.3g}" if weighed(result) else "* best"


def _symmetries(result: Result) -> str:
    """What changes nothing, in words: a few of the maps are enough to make all of them."""
    shown = [in_words(M, result.coordinate_names) for M in result.symmetries[:_SHOWN_SYMMETRIES]]
    more = len(result.symmetries) - len(shown)
    return "; ".join(shown) + (f"; and {more} more" if more else "")


def _shown(result: Result) -> list[str]:
    return fit_table(result) if result.is_fit else _table(result)


def _table(result: Result) -> list[str]:
    """A heading and one line per mode, with as many coordinates as fit, and where the others are."""
    shown = result.modes[:_SHOWN]
    columns = columns_of(result, shown)
    cells = [_padded([title, *own]) if title in LEFT else [title, *own] for title, own in columns]
    lines, fitting = aligned(cells), fitting_columns(cells)
    more = len(result.modes) - _SHOWN
    lines += [f"... and {more} more: result.to_dataframe() has all of them"] if more > 0 else []
    hint = ""
    if fitting < len(columns):
        hidden = hidden_text([title for title, _ in columns[fitting:]])
        hint = f"{hidden} not shown: result[0].x and so on, result.to_dataframe(), or a wider terminal (COLUMNS)"
    if result.is_roots:
        return (
            lines
            + wrapped(hint)
            + [line for reason in reasons_of(shown) for line in wrapped(f"not certified: {reason}")]
        )
    is_constrained = any(mode.multipliers is not None for mode in shown)
    return [*lines, *wrapped(f"{legend_of(result)}{'; ' + HELD if is_constrained else ''}"), *wrapped(hint)]


def reasons_of(modes: Sequence[Mode]) -> list[str]:
    """Why roots are not certified, each reason once."""
    return list(dict.fromkeys(mode.root.reason for mode in modes if mode.root is not None and mode.root.reason))


def _padded(words: list[str]) -> list[str]:
    """Words as a left-aligned column."""
    return [word.ljust(max(map(len, words))) for word in words]


def aligned(columns: list[list[str]]) -> list[str]:
    """Lines of a right-aligned table, cut with dots where columns do not fit."""
    widths, fitting = [max(map(len, column)) for column in columns], fitting_columns(columns)
    lines = []
    for row in zip(*columns[:fitting], strict=True):
        cells = (cell.rjust(width) for cell, width in zip(row, widths, strict=False))
        lines.append("  ".join(cells) + (_DOTS if fitting < len(columns) else ""))
    return lines


def fitting_columns(columns: list[list[str]]) -> int:
    """How many columns of a table fit the terminal."""
    ends = np.cumsum([max(map(len, column)) + 2 for column in columns]) - 2
    width = terminal_columns()
    return len(columns) if ends[-1] <= width else max(1, int((ends <= width - len(_DOTS)).sum()))


def first_failure(failures: tuple[Any, ...]) -> str:
    """The first of them in words, after what is said of all."""
    if not failures:
        return "."
    point, kind, text = tuple(failures[0])[:3]
    said = textwrap.shorten(f"{kind}, {text}", _SHOWN_TEXT, placeholder=" ...")
    return f"; the first at x = {point_text(np.atleast_1d(point))}: {said}"
