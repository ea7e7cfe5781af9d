"""Data to fit, from a text file: columns x, y and, if there is a third, the errors of y."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from allmodes.cli.exits import Usage

if TYPE_CHECKING:
    from numpy.typing import NDArray

_WANTED = (
    "wanted a line for each datum with x, y and perhaps the error of y, separated by commas, semicolons or spaces; "
    "the first line may name them"
)


class Table(NamedTuple):
    """Data (m,), and their errors or None."""

    x: NDArray[Any]
    y: NDArray[Any]
    sigma: NDArray[Any] | None


def read_data(path: Path) -> Table:
    """The data in a file."""
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except OSError as error:
        raise Usage(f"the data {path} cannot be read: {error.strerror}.") from None
    except UnicodeDecodeError:
        raise Usage(f"the data {path} are not text; {_WANTED}.") from None
    rows = [(number, _fields(line)) for number, line in enumerate(lines, 1) if line.split("#")[0].strip()]
    if rows and not _numbers(rows[0][1]):
        rows = rows[1:]  # a heading
    if not rows:
        raise Usage(f"the data {path} have no line of numbers; {_WANTED}.")
    width, found = len(rows[0][1]), []
    for number, fields in rows:
        values = _numbers(fields)
        if len(values) != width or width not in (2, 3):
            raise Usage(f"the data {path}, line {number}: {' '.join(fields)!r} was found; {_WANTED}.")
        found.append(values)
    import numpy as np

    columns = np.array(found).T
    return Table(columns[0], columns[1], columns[2] if width == 3 else None)


def _fields(line: str) -> list[str]:
    plain = line.split("#")[0].replace(";", ",").strip()
    return [part.strip() for part in plain.split(",")] if "," in plain else plain.split()


def _numbers(fields: list[str]) -> list[float]:
    """The fields as numbers; nothing if one is none."""
    try:
        return [float(field) for field in fields]
    except ValueError:
        return []
