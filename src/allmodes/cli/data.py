"""Tables in text files: data to fit (columns x, y and, if there is a third, the errors of y), and draws to begin at."""

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
_DRAWS = (
    "wanted a line for each draw with a number for every coordinate, separated by commas, semicolons or spaces; the "
    "first line may name the coordinates"
)


class Table(NamedTuple):
    """Data (m,), and their errors or None."""

    x: NDArray[Any]
    y: NDArray[Any]
    sigma: NDArray[Any] | None


def read_data(path: Path) -> Table:
    """The data in a file."""
    _, rows = _read(path, "data", _WANTED, (2, 3))
    import numpy as np

    columns = np.array(rows).T
    return Table(columns[0], columns[1], columns[2] if len(columns) == 3 else None)


def read_draws(path: Path) -> tuple[list[str] | None, NDArray[Any]]:
    """The draws (n, d) in a file, and the names of the coordinates where its first line has them."""
    names, rows = _read(path, "starts", _DRAWS)
    import numpy as np

    return names, np.array(rows)


def _read(
    path: Path, what: str, wanted: str, widths: tuple[int, ...] = ()
) -> tuple[list[str] | None, list[list[float]]]:
    """The heading of a table, if it has one, and its lines, all of one of these widths."""
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except OSError as error:
        raise Usage(f"the {what} {path} cannot be read: {error.strerror}.") from None
    except UnicodeDecodeError:
        raise Usage(f"the {what} {path} are not text; {wanted}.") from None
    rows = [(number, _fields(line)) for number, line in enumerate(lines, 1) if line.split("#")[0].strip()]
    names = rows.pop(0)[1] if rows and not _numbers(rows[0][1]) else None
    if not rows:
        raise Usage(f"the {what} {path} have no line of numbers; {wanted}.")
    width, found = len(rows[0][1]), []
    for number, fields in rows:
        values = _numbers(fields)
        if len(values) != width or (widths and width not in widths):
            raise Usage(f"the {what} {path}, line {number}: {' '.join(fields)!r} was found; {wanted}.")
        found.append(values)
    return names, found


def _fields(line: str) -> list[str]:
    plain = line.split("#")[0].replace(";", ",").strip()
    return [part.strip() for part in plain.split(",")] if "," in plain else plain.split()


def _numbers(fields: list[str]) -> list[float]:
    """The fields as numbers; nothing if one is none."""
    try:
        return [float(field) for field in fields]
    except ValueError:
        return []
