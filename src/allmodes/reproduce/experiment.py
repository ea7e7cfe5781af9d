"""What an experiment is: settings, jobs that can run anywhere, numbers to compare, a table and a picture."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from importlib.resources import files
from typing import Any

import numpy as np

from allmodes.objective.workers import open_pool
from allmodes.reproduce.compare import Number

Row = dict[str, Any]  # of a table: plain numbers and words


@dataclass
class Outcome:
    """The outcome of an experiment.

    Attributes:
        numbers: every published number beside ours.
        table: rows of the CSV file; all have the same keys.
        text: Markdown: what is the paper's, what differs and why.
        data: what the picture needs besides the table.
    """

    numbers: list[Number]
    table: list[Row]
    text: str = ""
    data: Any = None


@dataclass(frozen=True)
class Context:
    """How an experiment is run.

    Attributes:
        settings: the experiment's TOML file.
        runs: H, the number of replicates.
        seed: from which every job gets its own stream, so that the number of workers changes nothing.
        workers: as in `find_minima`.
        report: called with the number of jobs done, of all jobs, and what is running.
    """

    settings: dict[str, Any]
    runs: int
    seed: int = 0
    workers: Any = 1
    report: Callable[[int, int, str], None] = lambda done, total, text: None

    def map(self, function: Callable[..., Any], jobs: Sequence[tuple[Any, ...]], label: str = "") -> list[Any]:
        """function(*job, rng=...) for every job, in order; in parallel if there are workers.

        The function has to be importable (no lambda) and its arguments and results picklable.
        """
        streams = np.random.default_rng(self.seed).spawn(len(jobs))
        pool = open_pool(self.workers, (function, jobs))
        tasks = list(zip(jobs, streams, strict=True))
        self.report(0, len(jobs), label)
        results = []
        try:
            for result in _ordered(pool.map if pool else map, partial(_call, function), tasks):
                results.append(result)
                self.report(len(results), len(jobs), label)
        finally:
            if pool:
                pool.close()
        return results


def _ordered(mapping: Callable[..., Iterable[Any]], task: Callable[[Any], Any], tasks: list[Any]) -> Iterator[Any]:
    yield from mapping(task, tasks)


def _call(function: Callable[..., Any], task: tuple[tuple[Any, ...], np.random.Generator]) -> Any:
    arguments, rng = task
    return function(*arguments, rng=rng)


@dataclass(frozen=True)
class Experiment:
    """One table or figure of the paper.

    Attributes:
        name: as typed after `allmodes reproduce`.
        title: a line for lists.
        labels: of the paper's tables and figures.
        runs: replicates in the paper.
        run: does the work.
        draw: draws the outcome into a matplotlib Figure, in the paper's layout.
        needs: packages besides NumPy and SciPy, by their import names.
        size: of the picture, in inches.
    """

    name: str
    title: str
    labels: tuple[str, ...]
    runs: int
    run: Callable[[Context], Outcome]
    draw: Callable[[Any, Outcome], None]
    needs: tuple[str, ...] = ()
    size: tuple[float, float] = field(default=(10.0, 4.0))

    @property
    def settings(self) -> dict[str, Any]:
        """Settings and published numbers, as in the file NAME.toml."""
        return tomllib.loads((files("allmodes.reproduce") / f"{self.name}.toml").read_text(encoding="utf-8"))
