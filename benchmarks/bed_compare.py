"""Two runs of the bed beside each other, in one table per group.

Ratios are after / before of evaluations: geometric means over seeds, with standard errors from resampling the seeds of
both. A share of modes that was not reached counts with twice the most evaluations that any run of the case has used, so
that a run that misses modes is never the better one.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

PENALTY = 2.0  # times the most evaluations used: what a share that was not reached counts
_RESAMPLES = 1000
_NOTABLE = 1.1  # a ratio beyond this, and beyond two standard errors, is pointed out
_STANDARD_ERRORS = 2.0

Floats = NDArray[np.float64]
Runs = list[dict[str, Any]]  # of one case, as bed.Run in JSON


class Change(NamedTuple):
    """A mean, and the same of resampled seeds (_RESAMPLES,): of logarithms of ratios, or of differences."""

    mean: float
    resampled: Floats

    @property
    def error(self) -> float:
        return float(self.resampled.std())

    def is_beyond(self, least: float) -> bool:
        """Whether it is larger than this, and than chance makes it."""
        return abs(self.mean) > max(least, _STANDARD_ERRORS * self.error)

    @property
    def ratio(self) -> str:
        return f"{np.exp(self.mean):.2f} ± {np.exp(self.mean) * self.error:.2f}"


class Compared(NamedTuple):
    """One case, or several together: ratios of evaluations, the gain in modes found as a share, and sums over runs."""

    name: str
    ratios: dict[str, Change]
    gain: Change
    medians: dict[str, tuple[float, float]]
    counts: dict[str, tuple[int, int]]

    @property
    def seconds(self) -> float:
        return self.medians["seconds"][1] / max(self.medians["seconds"][0], 1e-9)

    @property
    def remarks(self) -> str:
        """What got worse, or better, beyond chance."""
        said = [("more " if self.gain.mean > 0.0 else "fewer ") + "modes"] if self.gain.is_beyond(0.0) else []
        for key in ("false", "doubles"):
            before, after = self.counts[key]
            said += [f"more {key}"] if after > before else [f"less {key}"] if after < before else []
        for key, (more, less) in {"to90": ("slower", "sooner"), "nfev": ("uses more", "uses less")}.items():
            if self.ratios[key].is_beyond(np.log(_NOTABLE)):
                said.append(more if self.ratios[key].mean > 0.0 else less)
        return ", ".join(said)


def grouped(runs: Runs) -> dict[str, Runs]:
    """Runs by their case."""
    cases: dict[str, Runs] = defaultdict(list)
    for each in runs:
        cases[each["case"]].append(each)
    return cases


def evaluations(runs: Runs, key: str, most: float) -> Floats:
    """Evaluations (runs,), with the penalty where a share was not reached."""
    return np.array([PENALTY * most if each[key] is None else max(1.0, each[key]) for each in runs], dtype=float)


def change(before: Floats, after: Floats, rng: np.random.Generator) -> Change:
    """Of the mean, after less before, each of so many runs."""
    drawn = [rng.choice(runs, (_RESAMPLES, len(runs))).mean(axis=1) for runs in (before, after)]
    return Change(float(after.mean() - before.mean()), drawn[1] - drawn[0])


def ratio(before: Runs, after: Runs, key: str, rng: np.random.Generator) -> Change:
    """Of evaluations, after / before."""
    most = max(each["nfev"] for each in [*before, *after])
    return change(np.log(evaluations(before, key, most)), np.log(evaluations(after, key, most)), rng)


def compared(name: str, before: Runs, after: Runs, rng: np.random.Generator) -> Compared:
    """One case."""

    def both(of: Callable[[Runs], Any]) -> tuple[Any, Any]:
        return of(before), of(after)

    def median(key: str) -> Callable[[Runs], float]:
        return lambda runs: float(np.median([np.inf if each[key] is None else each[key] for each in runs]))

    def total(key: str) -> Callable[[Runs], int]:
        return lambda runs: sum(each[key] for each in runs)

    return Compared(
        name,
        {key: ratio(before, after, key, rng) for key in ("to90", "to100", "nfev")},
        change(*both(lambda runs: np.array([each["found"] / each["known"] for each in runs])), rng),
        {key: both(median(key)) for key in ("to90", "to100", "nfev", "seconds")},
        {key: both(total(key)) for key in ("known", "found", "false", "doubles", "extra")},
    )


def together(name: str, cases: Sequence[Compared]) -> Compared:
    """Geometric means over cases, each of which counts the same, and sums."""

    def mean(changes: list[Change]) -> Change:
        return Change(
            float(np.mean([each.mean for each in changes])), np.mean([each.resampled for each in changes], axis=0)
        )

    ratios = {key: mean([case.ratios[key] for case in cases]) for key in cases[0].ratios}
    sums = {
        key: (sum(case.counts[key][0] for case in cases), sum(case.counts[key][1] for case in cases))
        for key in cases[0].counts
    }
    seconds = float(np.exp(np.mean([np.log(max(case.seconds, 1e-9)) for case in cases])))
    nothing = (np.nan, np.nan)
    medians = {"to90": nothing, "to100": nothing, "nfev": nothing, "seconds": (1.0, seconds)}
    return Compared(name, ratios, mean([case.gain for case in cases]), medians, sums)


# ---- tables

_HEADS = ["", "modes", "before", "after", "false", "doubles"]
_HEADS += ["to 90 %", "", "ratio", "to all", "used", "", "ratio", "time", ""]


def row(case: Compared) -> list[str]:
    """The cells of one line."""

    def number(value: float) -> str:
        return "" if np.isnan(value) else ">" if np.isinf(value) else f"{value:.0f}"

    ends = [number(value) for value in case.medians["to90"]]
    used = [number(value) for value in case.medians["nfev"]]
    wrong = [f"{case.counts[key][0]}/{case.counts[key][1]}" for key in ("false", "doubles")]
    before, after = case.counts["found"]
    return [
        case.name.partition("/")[2] or case.name, str(case.counts["known"][0]), str(before), str(after), *wrong,
        *ends, case.ratios["to90"].ratio, case.ratios["to100"].ratio, *used, case.ratios["nfev"].ratio,
        f"{case.seconds:.2f}", case.remarks,
    ]  # fmt: skip


def print_table(title: str, rows: list[list[str]]) -> None:
    """Cells one below the other: the first and the last to the left, numbers to the right."""
    lines = [[title, *_HEADS[1:]], *rows]
    widths = [max(len(line[i]) for line in lines) for i in range(len(_HEADS))]
    for line in lines:
        cells = [cell.rjust(width) for cell, width in zip(line, widths, strict=True)]
        cells[0], cells[-1] = line[0].ljust(widths[0]), line[-1]
        print("  ".join(cells).rstrip())
    print()


def compare(before: str, after: str) -> None:
    """All that both files have, a table for each group, and one of the groups."""
    files = [json.loads(Path(path).read_text()) for path in (before, after)]
    for path, file in zip((before, after), files, strict=True):
        meta = file["meta"]
        print(f"{path}: {meta['source']} at {meta['commit']}, {meta['runs']} runs from seed {meta['first_seed']}")
    print("before/after; ratios are after / before of evaluations (geometric mean ± standard error)\n")
    one, other = (grouped(file["runs"]) for file in files)
    rng = np.random.default_rng(0)
    groups: dict[str, list[Compared]] = defaultdict(list)
    for name in one:
        if name in other:
            groups[name.partition("/")[0]].append(compared(name, one[name], other[name], rng))
    for group, cases in groups.items():
        print_table(group, [row(case) for case in cases])
    sums = [together(group, cases) for group, cases in groups.items()]
    everything = together("all", [case for cases in groups.values() for case in cases])
    print_table("groups", [row(each) for each in [*sums, everything]])
    missing = set(one) ^ set(other)
    if missing:
        print(f"in one file alone: {', '.join(sorted(missing))}")
