"""Experiments written down: CSV, PNG and Markdown."""

from __future__ import annotations

import csv
from collections import Counter
from pathlib import Path

import numpy as np

from allmodes.report.plots import save_figure
from allmodes.reproduce.compare import VERDICTS, Number
from allmodes.reproduce.experiment import Experiment, Outcome


def write(experiment: Experiment, outcome: Outcome, directory: Path) -> list[Path]:
    """NAME.csv, NAME.png and NAME.md in the directory."""
    directory.mkdir(parents=True, exist_ok=True)
    table, picture, text = (directory / f"{experiment.name}.{kind}" for kind in ("csv", "png", "md"))
    with table.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, fieldnames=list(outcome.table[0]))
        writer.writeheader()
        writer.writerows(outcome.table)
    save_figure(picture, experiment.size, lambda figure: experiment.draw(figure, outcome))
    text.write_text(section(experiment, outcome), encoding="utf-8")
    return [table, picture, text]


def section(experiment: Experiment, outcome: Outcome) -> str:
    """One experiment as Markdown."""
    lines = [f"## {experiment.name}", "", f"**{experiment.title[0].upper()}{experiment.title[1:]}.**", ""]
    lines += [f"Paper: {', '.join(f'`{label}`' for label in experiment.labels)}. {verdicts(outcome.numbers)}", ""]
    if outcome.text:
        lines += [outcome.text.strip(), ""]
    lines += [f"![{experiment.title}]({experiment.name}.png)", ""]
    if outcome.numbers:
        lines += [
            "| what | published | here | 95 % interval | runs | verdict |",
            "| --- | --- | --- | --- | --- | --- |",
        ]
        lines += [row(number) for number in outcome.numbers] + [""]
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


def verdicts(numbers: list[Number]) -> str:
    """How many agree, are better, differ."""
    counts = Counter(number.verdict for number in numbers)
    told = [f"{counts[verdict]} {verdict}" for verdict in VERDICTS if verdict and counts[verdict]]
    return (", ".join(told) + ".") if told else ""
