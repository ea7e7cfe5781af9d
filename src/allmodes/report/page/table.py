"""The table of modes on the report page."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

from allmodes.report import canvas
from allmodes.report.page.data import MOST_MODES
from allmodes.result import Mode, Result
from allmodes.result.columns import weighed

MOST_COORDINATES = 40  # columns of the table; a wider one cannot be read
_WIDE = 13  # columns: more do not fit a printed page, so that modes are printed as paragraphs
_LONGEST_NAME = 40  # characters of a heading


class Column(NamedTuple):
    """Of the table: its heading, what it means, and its style: "text", "coordinate" or none."""

    heading: str
    meaning: str
    style: str = ""


class Cell(NamedTuple):
    """What is shown, what it is sorted by, and the whole number if less is shown."""

    shown: str
    key: str
    whole: str = ""


class Table(NamedTuple):
    """Modes, one row each; the remark says what is left out."""

    columns: list[Column]
    rows: list[list[Cell]]
    is_wide: bool
    remark: str


Part = tuple[Column, Callable[[Mode], Cell]]  # a column, and what it shows of a mode


def number(value: float, digits: int = 6) -> str:
    """As a table shows it, with a real minus sign.

    >>> number(-0.25), number(float("inf")), number(1234567.0)
    ('\u22120.25', '\u221e', '1.23457e+06')
    """
    if math.isnan(value):
        return "unknown"
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    return f"{value:.{digits}g}".replace("-", "−")


def table(result: Result) -> Table:
    """The modes, best first."""
    modes, names = result.modes[:MOST_MODES], result.coordinate_names[:MOST_COORDINATES]
    parts = [*_leading(result, modes), *_of_search(result, modes)]
    columns = [column for column, _ in parts]
    columns += [Column(_cut(name), f"Coordinate {name}", "coordinate") for name in names]
    rows = [
        [Cell(str(rank), str(rank)), *(cell(mode) for _, cell in parts[1:]), *_coordinates(mode, len(names))]
        for rank, mode in enumerate(modes, 1)
    ]
    return Table(columns, rows, len(columns) > _WIDE, _left_out(result))


def _leading(result: Result, modes: Sequence[Mode]) -> list[Part]:
    """Columns of what a mode is: of roots how well they are known, of others value, kind and weight."""
    rank: Part = (Column("rank", "By coordinates" if result.is_roots else "Best first"), lambda mode: Cell("", ""))
    if result.is_roots:
        return [
            rank,
            (Column("|F|", "Length of F there"), lambda mode: _of_root(mode, "residual_norm", 2)),
            (Column("kind", "An isolated root, or a point of a curve of roots", "text"), _kind),
            (
                Column("condition", "Of the Jacobian, in units of the bounds"),
                lambda mode: _of_root(mode, "condition", 3),
            ),
            (Column("certified", "Proved to be the only root of a box", "text"), _certified),
        ]
    heights = dict(zip(map(id, modes), canvas.heights(result, MOST_MODES).tolist(), strict=True))
    value: Part = (Column("value", "Value of the function"), lambda mode: _value(mode, heights[id(mode)]))
    weight = Column("weight", f"Share at temperature {number(result.temperature, 3)}")
    parts = [rank, value]
    if any(mode.standard_error is not None for mode in modes):
        parts.append((Column("error", "Standard error of the value"), _error))
    parts += [
        (Column("kind", "Minimum or maximum inside, at a bound or constraint, flat, or not verified", "text"), _kind),
        *([(weight, lambda mode: _numeric(mode.weight, 4))] if weighed(result) else []),
    ]
    if not all(math.isnan(mode.flatness) for mode in modes):  # whole numbers have none
        parts.append((Column("flatness", "The larger, the wider"), lambda mode: _numeric(mode.flatness, 4)))
    if any((mode.multiplicity or 1) > 1 for mode in modes):
        images = Column("images", "Modes that it stands for under the symmetry that was stated, itself included")
        parts.append((images, lambda mode: Cell(str(mode.multiplicity), str(mode.multiplicity))))
    if any(mode.multipliers is not None for mode in modes):
        parts.append((Column("active", "Constraints that hold it, by their numbers", "text"), _active))
        violation = Column("violation", "Of the worst constraint, as a share of its scale")
        parts.append((violation, lambda mode: _numeric(mode.violation, 1)))
    return parts


def _of_search(result: Result, modes: Sequence[Mode]) -> list[Part]:
    """Columns of how modes were found."""
    parts: list[Part] = []
    if any(math.isfinite(mode.gradient_norm) for mode in modes):  # without derivatives it is not measured
        parts.append((Column("gradient", "Length of the gradient"), lambda mode: _numeric(mode.gradient_norm, 2)))
    hits = Column("hits", "Local searches that ended here" if result.audit is None else "Runs that ended here")
    found = Column("found at", "Evaluations made by then" if result.audit is None else "The first run that ended here")
    return [
        *parts,
        (hits, lambda mode: Cell(str(mode.hits), str(mode.hits))),
        (found, lambda mode: Cell(str(mode.found_at), str(mode.found_at))),
    ]


def _value(mode: Mode, height: float) -> Cell:
    """Without what rounding makes of equal values; the whole of it is shown when one points at it."""
    return _numeric(mode.fun)._replace(shown=number(height))


def _kind(mode: Mode) -> Cell:
    kind = f"{mode.kind}{', global' if mode.is_global and mode.root is None else ''}"
    return Cell(kind, kind)


def _error(mode: Mode) -> Cell:
    return _numeric(math.nan if mode.standard_error is None else mode.standard_error, 2)


def _of_root(mode: Mode, name: str, digits: int) -> Cell:
    return _numeric(getattr(mode.root, name, math.nan), digits)


def _certified(mode: Mode) -> Cell:
    said = "yes" if mode.root is not None and mode.root.certified else "no"
    return Cell(said, said, "" if mode.root is None else mode.root.reason)


def _active(mode: Mode) -> Cell:
    multipliers = [] if mode.multipliers is None else [float(mode.multipliers[i]) for i in mode.active_constraints]
    whole = "; ".join(
        f"constraint {i}: multiplier {number(each)}"
        for i, each in zip(mode.active_constraints, multipliers, strict=False)
    )
    said = ", ".join(map(str, mode.active_constraints)) or "none"
    return Cell(said, said, whole)


def _coordinates(mode: Mode, count: int) -> list[Cell]:
    """Coordinates as numbers, or as the choices that they stand for."""
    named = {i: str(each) for i, each in mode.choices.items()}
    numbers = enumerate(map(float, mode.x[:count]))
    return [Cell(named[i], named[i]) if i in named else _numeric(entry) for i, entry in numbers]


def _cut(name: str) -> str:
    """A name as long as a heading may be; the whole of it is shown when one points at it."""
    return name if len(name) <= _LONGEST_NAME else f"{name[: _LONGEST_NAME - 1]}…"


def _numeric(value: float, digits: int = 6) -> Cell:
    value = float(value)
    return Cell(number(value, digits), repr(value), repr(value))


def _left_out(result: Result) -> str:
    said = []
    if len(result.modes) > MOST_MODES:
        said.append(f"The best {MOST_MODES} of {len(result.modes)} modes are shown.")
    if len(result.x) > MOST_COORDINATES:
        said.append(f"The first {MOST_COORDINATES} of {len(result.x)} coordinates are shown.")
    return " ".join([*said, "result.modes holds all."]) if said else ""
