"""A result as text of 80 columns."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Any

import numpy as np

from allmodes.modes.coverage import counted
from allmodes.nva.engine.run import wrapped
from allmodes.result.fit_table import fit_table
from allmodes.result.mode import point_text
from allmodes.result.symmetries import in_words
from allmodes.terminal import visible

if TYPE_CHECKING:
    from allmodes.result.result import Result

_SHOWN = 20  # modes
_SHOWN_SYMMETRIES = 3
_SHOWN_TEXT = 300  # characters of an error message
_LONGEST_NAME = 12  # as long as the longest number in its column, -1.2346e-300
_WIDTH = 79


def text_of(result: Result) -> str:
    """What was done, why it ended, what may be missing, and the table of modes."""
    lines = [
        *wrapped(
            f"{result.method}: {result.nfev} evaluations, {counted(len(result.modes), 'mode')} in {len(result.x)}-d"
        ),
        *wrapped(f"status {result.status.name}: {result.message}"),
        *(wrapped(f"coverage: {result.coverage}") if result.modes else []),
        *(wrapped(f"seen to be the same under {_symmetries(result)}") if result.symmetries else []),
        "",
        *(_shown(result) if result.modes else wrapped(f"best point {point_text(result.x)}, value {result.fun:.6g}")),
    ]
    if result.nfail:
        lines += ["", *wrapped(f"{counted(result.nfail, 'evaluation')} failed{_first(result.failures)}")]
    return visible("\n".join(lines))


def _symmetries(result: Result) -> str:
    """What changes nothing, in words: a few of the maps are enough to make all of them."""
    shown = [in_words(M, result.coordinate_names) for M in result.symmetries[:_SHOWN_SYMMETRIES]]
    more = len(result.symmetries) - len(shown)
    return "; ".join(shown) + (f"; and {more} more" if more else "")


def _shown(result: Result) -> list[str]:
    return fit_table(result) if result.is_fit else _table(result)


def _table(result: Result) -> list[str]:
    """A heading and one line per mode, with as many coordinates as fit."""
    shown = result.modes[:_SHOWN]
    columns = [
        ["", *(f"{i}{'*' if mode.is_global else ' '}" for i, mode in enumerate(shown, 1))],
        ["value", *(f"{mode.fun:.6g}" for mode in shown)],
        _padded(["kind", *(mode.kind for mode in shown)]),
        ["weight", *(f"{mode.weight:.4f}" for mode in shown)],
        ["hits", *(str(mode.hits) for mode in shown)],
    ]
    if any(mode.standard_error is not None for mode in shown):
        errors = ("" if mode.standard_error is None else f"{mode.standard_error:.2g}" for mode in shown)
        columns.insert(2, ["error", *errors])
    for i, name in enumerate(result.coordinate_names):
        columns.append([visible(name)[:_LONGEST_NAME], *(f"{mode.x[i]:.5g}" for mode in shown)])
    more = len(result.modes) - _SHOWN
    legend = f"* global; weights at temperature {result.temperature:.3g}"
    return [*_aligned(columns), *([f"... and {more} more"] if more > 0 else []), legend]


def _padded(words: list[str]) -> list[str]:
    """Words as a left-aligned column."""
    return [word.ljust(max(map(len, words))) for word in words]


def _aligned(columns: list[list[str]]) -> list[str]:
    """Lines of a right-aligned table, cut with dots where columns do not fit."""
    widths = [max(map(len, column)) for column in columns]
    ends = np.cumsum([width + 2 for width in widths]) - 2
    dots = "  ..."
    fitting = len(columns) if ends[-1] <= _WIDTH else int((ends <= _WIDTH - len(dots)).sum())
    lines = []
    for row in zip(*columns[:fitting], strict=True):
        cells = (cell.rjust(width) for cell, width in zip(row, widths, strict=False))
        lines.append("  ".join(cells) + (dots if fitting < len(columns) else ""))
    return lines


def _first(failures: tuple[Any, ...]) -> str:
    if not failures:
        return "."
    point, kind, text = tuple(failures[0])[:3]
    said = textwrap.shorten(f"{kind}, {text}", _SHOWN_TEXT, placeholder=" ...")
    return f"; the first at x = {point_text(np.atleast_1d(point))}: {said}"
