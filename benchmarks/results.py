"""What a benchmark measured: printed as it comes, and written as JSON with the command and the commit it came from.

Every script has `--json FILE`; files in `benchmarks/results` are shown on one page by `python benchmarks/page.py`.
A file is one command and holds no date. Cells are numbers, text or null; ">" says that a limit was not enough.
"""

from __future__ import annotations

import argparse
import json
import math
import platform
import shlex
import subprocess
import sys
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
FOLDER = HERE / "results"
BEYOND = ">"  # more than the budget allowed
# What a commit says nothing about: a change here makes it "dirty", a new result or page does not.
_SOURCES = (":(top)src", ":(top,glob)benchmarks/*.py")

Cell = str | float | None


def arguments(text: str, *, runs: int | None = None, first_seed: int = 0) -> argparse.ArgumentParser:
    """The arguments that all scripts have; `--runs` where there is a usual number of them."""
    parser = argparse.ArgumentParser(description=text, formatter_class=argparse.RawDescriptionHelpFormatter)
    if runs is not None:
        parser.add_argument("--runs", type=int, default=runs, help=f"how often, each with its own seed ({runs})")
    parser.add_argument("--first-seed", type=int, default=first_seed, help=f"the others follow it ({first_seed})")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write what is printed to this file as well")
    return parser


def seeds_of(given: argparse.Namespace) -> range:
    """As many seeds as runs, one where there is no number of runs."""
    return range(given.first_seed, given.first_seed + getattr(given, "runs", 1))


def reached(number: float) -> Cell:
    """An evaluation count, whole; ">" where it is infinite, nothing where it is NaN."""
    if math.isnan(number):
        return None
    return BEYOND if math.isinf(number) else round(number)


def digits(number: float, n: int) -> Cell:
    """A measurement with so many digits after the point, nothing where it is NaN or infinite."""
    return round(float(number), n) if math.isfinite(number) else None


class Results:
    """Tables of one command.

    Args:
        title: what was measured, the heading on the page.
        given: the parsed arguments of `arguments`.
        note: how to read it, in a sentence or a few.
    """

    def __init__(self, title: str, given: argparse.Namespace, note: str = "") -> None:
        self._path: Path | None = given.json
        seeds = seeds_of(given)
        self._facts: dict[str, Any] = {
            "title": title, "command": command(sys.argv), "commit": commit(), "seeds": list(seeds), "runs": len(seeds),
            "versions": versions(), "note": note, "tables": [],
        }  # fmt: skip
        print(f"{title}\n{made(self._facts)}\n{note}", flush=True)

    def table(self, columns: Sequence[str], title: str = "") -> None:
        """Begin a table: rows that follow belong to it."""
        self._facts["tables"].append({"title": title, "columns": list(columns), "rows": []})
        print(*([f"\n{title}"] if title else []), "", *head(columns), sep="\n", flush=True)

    def row(self, *cells: Cell) -> None:
        """One row of the table begun last."""
        table = self._facts["tables"][-1]
        if len(cells) != len(table["columns"]):
            raise ValueError(f"{len(cells)} cells; the table has {len(table['columns'])} columns.")
        table["rows"].append(list(cells))
        print(line(cells), flush=True)

    def say(self, text: str) -> None:
        """A sentence on what came out."""
        self._facts["note"] = f"{self._facts['note']} {text}".strip()
        print(f"\n{text}", flush=True)

    def write(self) -> None:
        """Write the file, if one was asked for."""
        if self._path is not None:
            self._path.write_text(dumped(self._facts), encoding="utf-8")
            print(f"written: {self._path}")


def dumped(facts: dict[str, Any]) -> str:
    """The facts as JSON, a row of a table on a line: changes of one show as one."""
    empty = facts | {"tables": [table | {"rows": []} for table in facts["tables"]], "seeds": []}
    text = json.dumps(empty, indent=1, ensure_ascii=False, allow_nan=False)
    text = text.replace('"seeds": []', f'"seeds": {json.dumps(facts["seeds"])}')
    for table in facts["tables"]:
        rows = ",\n".join("    " + json.dumps(row, ensure_ascii=False, allow_nan=False) for row in table["rows"])
        text = text.replace('"rows": []', f'"rows": [\n{rows}\n   ]', 1)
    return text + "\n"


def line(cells: Sequence[Cell]) -> str:
    """A row in Markdown."""
    return "| " + " | ".join("" if cell is None else str(cell).replace("|", "\\|") for cell in cells) + " |"


def head(columns: Sequence[str]) -> list[str]:
    """The first two lines of a table in Markdown."""
    return [line(columns), line(["---"] * len(columns))]


def made(facts: dict[str, Any]) -> str:
    """What it was made with, in a line."""
    told = [f"`{facts['command']}`", f"commit {facts['commit']}"]
    seeds = facts["seeds"]
    if seeds:
        told.append(f"seed {seeds[0]}" if len(seeds) == 1 else f"{facts['runs']} runs with seeds {spoken(seeds)}")
    told += [f"{name} {number}" for name, number in facts["versions"].items()]
    return ", ".join(told)


def spoken(seeds: Sequence[int]) -> str:
    """Seeds that follow each other by their ends, others one by one."""
    if list(seeds) == list(range(seeds[0], seeds[0] + len(seeds))):
        return f"{seeds[0]} to {seeds[-1]}"
    return ", ".join(map(str, seeds))


def command(argv: Sequence[str]) -> str:
    """The command line as one would type it at the root; where its results were written is left out."""
    kept: list[str] = []
    words = iter(argv[1:])
    for word in words:
        if word == "--json":
            next(words, None)
        elif not word.startswith("--json="):
            kept.append(word)
    return " ".join(["python", f"benchmarks/{Path(argv[0]).name}", *map(shlex.quote, kept)])


def commit() -> str:
    """Short hash of the tree that is measured, "-dirty" if sources differ from it, or "unknown" outside of git."""
    try:
        shown = _git("rev-parse", "--short", "HEAD").stdout.strip()
        is_dirty = bool(_git("status", "--porcelain", "--", *_SOURCES).stdout.strip())
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
    return f"{shown}-dirty" if is_dirty else shown


def _git(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["git", *words], capture_output=True, text=True, check=True, cwd=HERE)


def versions() -> dict[str, str]:
    """Of Python and of what the numbers depend on; JAX where a script has imported it."""
    packages = ["numpy", "scipy", *(name for name in ("jax",) if name in sys.modules)]
    return {"python": platform.python_version()} | {name: version(name) for name in packages}
