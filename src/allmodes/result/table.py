"""A result as text of 80 columns."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Any

import numpy as np

from allmodes.modes.coverage import counted
from allmodes.nva.engine.run import wrapped
from allmodes.objective.constraints import FEASIBILITY
from allmodes.result.fit_table import fit_table
from allmodes.result.mode import Mode, point_text, share_text
from allmodes.result.symmetries import in_words
from allmodes.terminal import visible

if TYPE_CHECKING:
    from collections.abc import Sequence

    from allmodes.result.mode import Mode
    from allmodes.result.result import Result

_SHOWN = 20  # modes
_SHOWN_SYMMETRIES = 3
_SOME = 0.5  # modes that may be missing: fewer are none, most likely
_SHOWN_ACTIVE = 4  # constraints of a mode
_SHOWN_TEXT = 300  # characters of an error message
_LONGEST_NAME = 12  # as long as the longest number in its column, -1.2346e-300
_WIDTH = 79
HELD = "held by: constraints that are active, by their numbers from 0"


def text_of(result: Result) -> str:
    """What was done, why it ended, what may be missing, and the table of modes."""
    found = counted(len(result.modes), "root" if result.is_roots else "mode")
    lines = [
        *wrapped(f"{result.method}: {_cost(result)}, {found} in {len(result.x)}-d"),
        *wrapped(f"status {result.status.name}: {result.message}"),
        *(wrapped(f"coverage: {coverage_of(result)}") if result.modes else []),
        *(wrapped(f"seen to be the same under {_symmetries(result)}") if result.symmetries else []),
        "",
        *(
            _shown(result)
            if result.modes
            else wrapped(f"best point {point_text(result.x, result.named(result.x))}, value {result.fun:.6g}")
        ),
    ]
    if result.nfail:
        lines += ["", *wrapped(f"{counted(result.nfail, 'evaluation')} failed{_first(result.failures)}")]
    return visible("\n".join(lines))


def coverage_of(result: Result) -> str:
    """What may be missing: a search of a model is judged by other functions that have the same values."""
    more = result.settings.get("more")
    if more is None:
        return str(result.coverage)
    text = f"random functions that have all these values, too, have {more:.2g} more optima on average"
    return f"{text}: there may be as many that were not found" if more >= _SOME else f"{text}: hardly any is missing"


def _cost(result: Result) -> str:
    """What was spent: of an audit runs, too."""
    runs = f"{counted(len(result.audit), 'run')}, " if result.audit is not None else ""
    return f"{runs}{counted(result.nfev, 'evaluation')}"


def weighed(result: Result) -> bool:
    """Whether anything is known of weights; of an audit without the function nothing is."""
    return not result.modes or any(np.isfinite(mode.weight) for mode in result.modes)


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
    """A heading and one line per mode, with as many coordinates as fit."""
    shown = result.modes[:_SHOWN]
    columns = [
        ["", *(f"{i}{'*' if mode.is_global and not result.is_roots else ' '}" for i, mode in enumerate(shown, 1))],
        ["value", *(f"{mode.fun:.6g}" for mode in shown)],
        _padded(["kind", *(mode.kind for mode in shown)]),
        ["weight", *(share_text(mode.weight) for mode in shown)],
        ["hits", *(str(mode.hits) for mode in shown)],
    ]
    if result.is_roots:
        columns[1:4] = _of_roots(shown)
    if not weighed(result):
        del columns[3]
    if any(mode.standard_error is not None for mode in shown):
        errors = ("" if mode.standard_error is None else f"{mode.standard_error:.2g}" for mode in shown)
        columns.insert(2, ["error", *errors])
    if any((mode.multiplicity or 1) > 1 for mode in shown) and not result.is_roots:
        columns.append(["images", *(str(mode.multiplicity) for mode in shown)])
    is_constrained = any(mode.multipliers is not None for mode in shown)
    if any(mode.violation > FEASIBILITY for mode in shown):  # where the user allows more than usual
        columns.append(["violation", *(f"{mode.violation:.1g}" for mode in shown)])
    if is_constrained:
        columns.append(_padded(["held by", *(active_text(mode.active_constraints) for mode in shown)]))
    for i, name in enumerate(result.coordinate_names):
        columns.append([visible(name)[:_LONGEST_NAME], *(_entry(mode, i) for mode in shown)])
    more = len(result.modes) - _SHOWN
    if result.is_roots:
        return [*aligned(columns), *([f"... and {more} more"] if more > 0 else []), *_unproved(shown)]
    legend = f"{legend_of(result)}{'; ' + HELD if is_constrained else ''}"
    return [*aligned(columns), *([f"... and {more} more"] if more > 0 else []), *wrapped(legend)]


def _entry(mode: Mode, i: int) -> str:
    """A coordinate of a mode, or the choice it stands for."""
    return visible(str(mode.choices[i]))[:_LONGEST_NAME] if i in mode.choices else f"{mode.x[i]:.5g}"


def active_text(constraints: tuple[int, ...]) -> str:
    """Active constraints in a few characters."""
    dots = ",..." if len(constraints) > _SHOWN_ACTIVE else ""
    return ",".join(map(str, constraints[:_SHOWN_ACTIVE])) + dots if constraints else "-"


def _of_roots(shown: Sequence[Mode]) -> list[list[str]]:
    """What is known of roots, in columns."""
    roots = [mode.root for mode in shown if mode.root is not None]
    words = ("flat" if mode.kind == "flat" else "yes" if mode.root and mode.root.certified else "no" for mode in shown)
    return [
        ["|F|", *(f"{root.residual_norm:.2g}" for root in roots)],
        ["condition", *(f"{root.condition:.3g}" for root in roots)],
        ["certified", *words],
    ]


def _unproved(shown: Sequence[Mode]) -> list[str]:
    """Why roots are not certified."""
    reasons = dict.fromkeys(mode.root.reason for mode in shown if mode.root is not None and mode.root.reason)
    return [line for reason in reasons for line in wrapped(f"not certified: {reason}")]


def _padded(words: list[str]) -> list[str]:
    """Words as a left-aligned column."""
    return [word.ljust(max(map(len, words))) for word in words]


def aligned(columns: list[list[str]]) -> list[str]:
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
