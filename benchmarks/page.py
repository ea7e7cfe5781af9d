"""Write docs/benchmarks.md, all results in `benchmarks/results` on a page, and tables of docs/comparison.md and README.

python benchmarks/page.py
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import overview
from results import FOLDER, HERE, Cell, head, line, made

PAGE = HERE.parent / "docs" / "benchmarks.md"
README = HERE.parent / "README.md"
COMPARISON = HERE.parent / "docs" / "comparison.md"
_BEGIN = """\
# Benchmarks

Every table of `benchmarks/`, with the command, the commit and the seeds it was made with; what follows from them is in
[How it compares](comparison.md), [Large runs](large-runs.md) and [Workers](workers.md). ">" means: not within the
budget. Files are in `benchmarks/results`, and `python benchmarks/page.py` writes this page from them.
"""
# The order of the page; results with other names follow.
_ORDER = (
    "velocities",
    "all_modes",
    "all_modes_values",
    "cec2013",
    "niching2026",
    "niching2026_populations",
    "niching2026_populations_10",
    "applications",
    "known_optima",
    "global_functions",
    "few",
    "few_200",
    "kinks",
    "many_dimensions",
    "fits",
    "roots",
    "whole",
    "constraints",
    "shapes",
    "missing_modes",
    "masses",
    "audit",
    "generators",
    "recognition",
    "recognition_bank",
    "overhead",
    "overhead_slow",
    "engine",
    "memory",
    "workers",
)


def results(folder: Path = FOLDER) -> dict[str, dict[str, Any]]:
    """What the files hold, by name, in the order of the page."""
    found = {path.stem: json.loads(path.read_text(encoding="utf-8")) for path in sorted(folder.glob("*.json"))}
    return {name: found[name] for name in (*_ORDER, *sorted(set(found) - set(_ORDER))) if name in found}


def section(facts: dict[str, Any]) -> str:
    """One file as a section of the page."""
    lines = [f"## {facts['title']}", "", f"{made(facts)}.", ""]
    lines += [facts["note"], ""] if facts["note"] else []
    for table in facts["tables"]:
        lines += [f"**{table['title']}**", ""] if table["title"] else []
        lines += [*head(table["columns"]), *(line(row) for row in aligned(table["rows"])), ""]
    return "\n".join(lines)


def compared(shown: str, folder: Path = FOLDER) -> str:
    """The text of docs/comparison.md with the table of applications as the file has it."""
    return _replaced(shown, "| problem (d; optima, global) |", _applications(results(folder)["applications"]))


def introduced(shown: str, folder: Path = FOLDER) -> str:
    """The text of README with its table as the files have it."""
    return _replaced(shown, overview.BEGIN, overview.table(results(folder)))


def _replaced(shown: str, begin: str, table: str) -> str:
    """A text with the table that begins so replaced by another."""
    before, found, rest = shown.partition(begin)
    if not found:
        raise ValueError(f"there is no table in the text that begins with {begin}.")
    return f"{before}{table}\n\n{rest.partition(chr(10) * 2)[2]}"


def _applications(facts: dict[str, Any]) -> str:
    """Shares found from values and with gradients, the better of two in bold, and the means."""
    columns = ["allmodes", "at half", "multistart", "false"]
    lines = head(["problem (d; optima, global)", *columns, *(f"{column}, jac" for column in columns)])
    tables = [[dict(zip(table["columns"], row, strict=True)) for row in table["rows"]] for table in facts["tables"]]
    for both in zip(*tables, strict=True):
        first = both[0]
        sizes = f" ({first['d']}; {first['optima']}, {first['global optima']})" if first["d"] else ""
        cells: list[Cell] = [f"{first['problem']}{sizes}"]
        for row in both:
            ours, theirs = row["allmodes: found"], row["multistart: found"]
            cells += [_bold(ours, theirs), f"{row['allmodes: at half']:.2f}", _bold(theirs, ours)]
            cells.append(f"{row['allmodes: false']:.1f}, {row['multistart: false']:.1f}")
        lines.append(line(cells))
    return "\n".join(lines)


def _bold(share: float, other: float) -> str:
    return f"**{share:.2f}**" if round(share, 2) > round(other, 2) else f"{share:.2f}"


def aligned(rows: list[list[Cell]]) -> list[list[Cell]]:
    """The rows, numbers of a column with as many digits after the point as the longest of them."""
    most = [max((_digits(cell) for cell in column), default=0) for column in zip(*rows, strict=True)]
    return [
        [f"{cell:.{n}f}" if isinstance(cell, float) else cell for cell, n in zip(row, most, strict=True)]
        for row in rows
    ]


def _digits(cell: Cell) -> int:
    return len(repr(cell).partition(".")[2]) if isinstance(cell, float) else 0


def text(folder: Path = FOLDER) -> str:
    """The page."""
    return "\n".join([_BEGIN, *(section(facts) for facts in results(folder).values())]).rstrip() + "\n"


if __name__ == "__main__":
    PAGE.write_text(text(), encoding="utf-8")
    COMPARISON.write_text(compared(COMPARISON.read_text(encoding="utf-8")), encoding="utf-8")
    README.write_text(introduced(README.read_text(encoding="utf-8")), encoding="utf-8")
    print(f"written: {PAGE}, {COMPARISON}, {README}")
