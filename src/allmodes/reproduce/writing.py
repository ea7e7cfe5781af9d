"""Experiments written down: CSV, PNG, JSON and Markdown."""

from __future__ import annotations

import csv
import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from allmodes.report.plots import save_figure
from allmodes.reproduce.compare import VERDICTS, Number
from allmodes.reproduce.experiment import Experiment, Outcome


def write(experiment: Experiment, outcome: Outcome, directory: Path, made: str = "", *, with_page: bool = True) -> None:
    """NAME.csv, NAME.png and NAME.json, which has all that a section shows, and if it is to have a page, NAME.md.

    `made` says by which command and commit.
    """
    directory.mkdir(parents=True, exist_ok=True)
    table, picture, told = (directory / f"{experiment.name}.{kind}" for kind in ("csv", "png", "json"))
    with table.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, fieldnames=list(outcome.table[0]))
        writer.writeheader()
        writer.writerows(outcome.table)
    save_figure(picture, experiment.size, lambda figure: experiment.draw(figure, outcome))
    facts = facts_of(experiment, outcome, made)
    told.write_text(json.dumps(facts, indent=1, ensure_ascii=False, default=_plain) + "\n", encoding="utf-8")
    if with_page:
        told.with_suffix(".md").write_text(section(facts), encoding="utf-8")


def facts_of(experiment: Experiment, outcome: Outcome, made: str = "") -> dict[str, Any]:
    """What a section shows."""
    return {
        "name": experiment.name, "title": experiment.title, "labels": experiment.labels, "made": made,
        "text": outcome.text.strip(), "numbers": [asdict(number) for number in outcome.numbers],
    }  # fmt: skip


def _plain(number: Any) -> float | int:
    return int(number) if isinstance(number, np.integer) else float(number)


def section(facts: dict[str, Any], pictures: str = "") -> str:
    """One experiment as Markdown, with its picture in the folder `pictures` ("" for beside it)."""
    name, title, numbers = facts["name"], facts["title"], [Number(**number) for number in facts["numbers"]]
    lines = [f"## {name}", "", f"**{title[0].upper()}{title[1:]}.**", ""]
    lines += [f"Paper: {', '.join(f'`{label}`' for label in facts['labels'])}. {verdicts(numbers)}", ""]
    lines += [f"Made by {facts['made']}.", ""] if facts["made"] else []
    if facts["text"]:
        lines += [facts["text"], ""]
    lines += [f"![{title}]({pictures}{name}.png)", ""]
    if numbers:
        lines += [
            "| what | published | here | 95 % interval | runs | verdict |",
            "| --- | --- | --- | --- | --- | --- |",
        ]
        lines += [row(number) for number in numbers] + [""]
    return "\n".join(lines)


def row(number: Number) -> str:
    """One line of the table."""
    shown = [f"{value:.{number.digits}f}" for value in (number.here, number.low, number.high)]
    verdict = f"{number.verdict}: {number.reason}" if number.verdict and number.reason else (
        number.verdict or number.reason
    )  # fmt: skip
    interval = "" if np.isnan(number.low) else f"{shown[1]} to {shown[2]}"
    cells = [number.what, number.published or "curve only", shown[0], interval, number.runs, verdict]
    return "| " + " | ".join(str(cell).replace("|", "\\|") for cell in cells) + " |"


def verdicts(numbers: Sequence[Number]) -> str:
    """How many agree, are better, differ."""
    counts = Counter(number.verdict for number in numbers)
    told = [f"{counts[verdict]} {verdict}" for verdict in VERDICTS if verdict and counts[verdict]]
    return (", ".join(told) + ".") if told else ""
