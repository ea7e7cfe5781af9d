"""Ends of runs from a file: CSV with a heading, npz or JSON."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

from allmodes.cli.exits import Usage

_WANTED = (
    "wanted a .csv with a heading, a column for each coordinate and one for the value (fun, value, cost, ...); an .npz "
    "with the arrays ends (n, d) and values (n,), perhaps starts; or a .json with a list of "
    '{"x": [...], "fun": ...}'
)
_ENDS, _VALUES = ("ends", "x", "points"), ("values", "fun", "value", "fval", "cost")


def read_runs(path: Path, value: str | None = None) -> dict[str, Any]:
    """The arguments of `allmodes.audit` that a file has: ends and, beside arrays, values, starts.

    `value` is the column of a CSV with the values; None if it is called by one of the usual names.
    """
    if not path.is_file():
        raise Usage(f"there is no file {path}; {_WANTED}.")
    try:
        if path.suffix == ".npz":
            return _of_npz(path)
        if path.suffix == ".json":
            return _of_json(path)
        return {"ends": _of_csv(path, value)}
    except UnicodeDecodeError:
        raise Usage(f"{path} is not text; {_WANTED}.") from None
    except OSError as error:
        raise Usage(f"{path} cannot be read: {error.strerror}.") from None


def _of_csv(path: Path, value: str | None) -> dict[str, Any]:
    """Columns by their names, numbers where all entries are; empty entries are not numbers (NaN)."""
    import numpy as np

    with open(path, encoding="utf-8-sig", newline="") as file:
        first = next((line for line in file if line.strip()), "")
        rest = file.readlines()
    mark = max(",;\t", key=first.count)
    if not first:
        raise Usage(f"{path} is empty; {_WANTED}.")
    if mark not in first:  # columns between spaces, or only one
        lines = [" ".join(line.split()) for line in [first, *rest]]
        mark = " "
    else:
        lines = [first, *rest]
    head, *rows = ([field.strip() for field in row] for row in csv.reader(lines, delimiter=mark) if any(row))
    if not rows or all(_is_number(name) for name in head):
        raise Usage(f"{path} has {'no heading' if rows else 'no line of numbers'}; {_WANTED}.")
    if len(set(head)) < len(head):
        raise Usage(f"{path} has columns of the same name: {', '.join(head)}.")
    for number, row in enumerate(rows, 1):
        if len(row) != len(head):
            raise Usage(f"{path}, line {number} of the table: {len(row)} entries; the heading has {len(head)}.")
    table: dict[str, Any] = {}
    for name, column in zip(head, zip(*rows, strict=True), strict=True):
        is_plain = all(_is_number(entry) or entry in ("", "NA", "null") for entry in column)
        table[name] = np.array(
            [float(entry) if _is_number(entry) else np.nan for entry in column] if is_plain else column
        )
    if value is not None:
        if value not in table:
            raise Usage(f"--value is {value}; {path} has the columns {', '.join(head)}.")
        values = table.pop(value)
        table = {"fun": values} | {name: column for name, column in table.items() if name.lower() != "fun"}
    return table


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _of_npz(path: Path) -> dict[str, Any]:
    import numpy as np

    try:
        with np.load(path, allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
    except ValueError as error:
        raise Usage(f"{path} cannot be read ({error}); {_WANTED}.") from None
    return _picked(path, arrays)


def _picked(path: Path, found: dict[str, Any]) -> dict[str, Any]:
    ends, values = (next((name for name in names if name in found), None) for names in (_ENDS, _VALUES))
    if ends is None:
        raise Usage(f"{path} has {', '.join(found) or 'nothing'}; {_WANTED}.")
    picked = {"ends": found[ends]}
    picked |= {} if values is None else {"values": found[values]}
    return picked | ({"starts": found["starts"]} if "starts" in found else {})


def _of_json(path: Path) -> dict[str, Any]:
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise Usage(f"{path} is no JSON ({error}); {_WANTED}.") from None
    if isinstance(found, dict):
        return _picked(path, found)
    if not isinstance(found, list) or not all(isinstance(run, dict) and "x" in run for run in found) or not found:
        raise Usage(f"{path} holds something else; {_WANTED}.")
    name = next((name for name in _VALUES if name in found[0]), None)
    values = {} if name is None else {"values": [run.get(name) for run in found]}
    starts = {"starts": [run["x0"] for run in found]} if all("x0" in run for run in found) else {}
    return {"ends": [run["x"] for run in found]} | values | starts
