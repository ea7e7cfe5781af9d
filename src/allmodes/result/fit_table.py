"""Explanations of data as text that fits the terminal: a column for each, a line for each parameter with its error."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from allmodes.result.mode import Mode, share_text
from allmodes.terminal import columns as terminal_columns
from allmodes.terminal import visible, wrapped

if TYPE_CHECKING:
    from allmodes.result.result import Result

_SHOWN = 12  # explanations
_LONGEST_NAME = 24
_GAP = 2
_DIGITS = 2  # of an error


def fit_table(result: Result, wide: int | None = None) -> list[str]:
    """Blocks of as many explanations as fit beside each other, best first; then what the data do not tell.

    Args:
        result: of `find_fits` or `curve_fit`.
        wide: columns; as many as the terminal has unless given.
    """
    wide = terminal_columns() if wide is None else wide
    shown = [(i, mode) for i, mode in enumerate(result.modes[:_SHOWN], 1) if mode.fit is not None]
    names = _apart([_shortened(visible(name)) for name in result.coordinate_names])
    heads = ["", "chi2", "reduced chi2", "weight", "hits", *names]
    columns = [_column(i, mode, result.bounds) for i, mode in shown]
    first = max(map(len, heads))
    width = max((len(cell) for column in columns for cell in column), default=0)
    each = max(1, (wide - first) // (width + _GAP))
    lines = []
    for k in range(0, len(columns), each):
        rows = zip(heads, *columns[k : k + each], strict=True)
        lines += [
            head.ljust(first) + "".join(" " * _GAP + cell.rjust(width) for cell in cells) for head, *cells in rows
        ]
        lines.append("")
    more = len(result.modes) - len(shown)
    lines += [f"... and {more} more: result.to_dataframe() has all of them"] if more > 0 else []
    return [*lines, *_legend(result, shown, wide)]


def _shortened(name: str) -> str:
    """A name whose middle is left out if it is long: beginnings are often alike.

    >>> _shortened("amplitude_of_the_second_component")
    'amplitude_o..d_component'
    """
    half = (_LONGEST_NAME - 2) // 2
    return name if len(name) <= _LONGEST_NAME else f"{name[:half]}..{name[-half:]}"


def _apart(names: list[str]) -> list[str]:
    """Names with a number where several are shortened alike.

    >>> _apart(["offset_of_t..e_left_side", "offset_of_t..e_left_side", "width"])
    ['offset_of_t..left_side 1', 'offset_of_t..left_side 2', 'width']
    """
    seen: dict[str, int] = {}
    told = []
    for name in names:
        if names.count(name) == 1:
            told.append(name)
            continue
        seen[name] = number = seen.get(name, 0) + 1
        first, last = name.split("..", 1) if ".." in name else ("", name)
        told.append(f"{first}..{last[len(str(number)) + 1 :]} {number}" if first else f"{name} {number}")
    return told


def _column(i: int, mode: Mode, bounds: NDArray[np.float64] | None) -> list[str]:
    assert mode.fit is not None
    fit = mode.fit
    top = [
        f"{i}{'*' if mode.is_global else ' '}",
        f"{fit.chi2:.6g}",
        f"{fit.reduced_chi2:.4g}",
        share_text(mode.weight),
    ]
    cells = [*top, str(mode.hits), *map(with_error, mode.x.tolist(), fit.standard_errors.tolist())]
    for place in mode.active:
        side = (
            mode.x[place] if bounds is None else min(bounds[place].tolist(), key=lambda end: abs(end - mode.x[place]))
        )
        cells[5 + place] = f"{side:.6g} (bound)"
    return cells


def with_error(x: float, error: float) -> str:
    """A number with its error, to two digits of the error.

    >>> with_error(3.14159, 0.0234)
    '3.142 ± 0.023'
    """
    if not math.isfinite(error) or error <= 0.0:
        return f"{x:.6g}" if error == 0.0 else f"{x:.4g} ± {error:.2g}"
    decimals = _DIGITS - 1 - math.floor(math.log10(error))
    if 0 <= decimals <= 6 and abs(x) < 1e6:
        x = round(x, decimals) + 0.0  # never -0.00
        return f"{x:.{decimals}f} ± {error:.{decimals}f}"
    digits = 1 if x == 0.0 else math.floor(math.log10(abs(x))) + decimals + 1
    return f"{x:.{min(max(digits, 1), 12)}g} ± {error:.2g}"


def _legend(result: Result, shown: list[tuple[int, Mode]], wide: int) -> list[str]:
    fits = [mode.fit for _, mode in shown if mode.fit is not None]
    if not fits:
        return []
    best = fits[0]
    how = "errors of the data given" if best.is_absolute else "errors estimated from the residuals"
    if not best.is_absolute and best.dof <= 0:
        how = f"errors are not known: {best.data} data for {best.parameters} parameters, give absolute errors (sigma)"
    lines = [f"* best; weights: shares of the posterior, flat between the bounds; {how}"]
    for i, mode in shown:
        assert mode.fit is not None
        lines += [f"{i}: the data determine {words}" for words in map(visible, mode.fit.undetermined)]
    return [part for line in lines for part in wrapped(line, wide)]
