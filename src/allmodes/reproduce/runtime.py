"""Time of one iteration, beside the published times.

Paper: tab:runtime_sym, tab:runtime_st
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binom

from allmodes.baselines import parallel_cma_es, parallel_sga
from allmodes.nva.annealing import presets, schedules
from allmodes.nva.engine import anneal
from allmodes.nva.mixture.covariances import Fixed
from allmodes.problems import Problem, styblinski_tang, symmetric_mixture
from allmodes.report.plots import COLOURS
from allmodes.reproduce.compare import AGREE, BETTER, DIFFERS, Number
from allmodes.reproduce.experiment import Context, Experiment, Outcome, Row

_PROBLEMS: dict[str, Callable[[], Problem]] = {"sym": symmetric_mixture, "st": partial(styblinski_tang, 4)}
_ALGORITHMS = {
    "NVA-GM": presets.nva_gm(2),
    "NVA-GM (fc)": presets.nva_gm(2, Fixed()),
    "FS-NVA-GM": presets.fs_nva_gm(),
    "FS-NVA-GM (fc)": presets.fs_nva_gm(covariance=Fixed()),
}
_SAMPLES, _POPULATION, _SELECTED = 4, 16, 4  # B, that of CMA-ES and fitness shaping, and how many it selects
_MILLI = 1e3
_NEVER = 10**9  # entries of a trace would be timed as well
_DIGITS, _MORE_DIGITS = 2, 4  # as many as are printed, for times above and below 0.1 ms
_TAIL = 0.025  # on either side of a 95 % interval

Floats = NDArray[np.float64]
Settings = dict[str, Any]


class Case(NamedTuple):
    """One entry of a published table."""

    problem: str
    method: str
    K: int
    published: float


def go(case: Case, settings: Settings, steps: int, seed: int) -> None:
    """So many iterations of one method."""
    problem, given = _PROBLEMS[case.problem](), settings["problems"][case.problem]
    low, high = problem.bounds.T
    rng = np.random.default_rng(seed)
    starts = rng.uniform(low, high, (case.K, len(low)))
    if case.method == "pSGA":
        rate = schedules.power(**given["sga_rate"])
        parallel_sga(problem.objective, starts, learning_rate=rate, steps=steps, end_values=False, trace_every=_NEVER)
    elif case.method == "pCMA-ES":
        parallel_cma_es(
            problem.objective, starts, sigma0=given["sigma0"], steps=steps, num_samples=_POPULATION,
            num_selected=_SELECTED, rng=rng, end_values=False, trace_every=_NEVER,
        )  # fmt: skip
    else:
        shapes = case.method.startswith("FS")
        anneal(
            problem.objective, algorithm=_ALGORITHMS[case.method], means=starts, covariances=1.0,
            temperature=schedules.power(**given["temperature"]),
            learning_rate=schedules.coupled(**given["bounded_rate" if shapes else "rate"]),
            num_samples=_POPULATION if shapes else _SAMPLES, steps=steps, rng=rng, trace_every=_NEVER,
            driver="numpy",
        )  # fmt: skip


def time_of(case: Case, settings: Settings, seed: int) -> float:
    """Milliseconds per iteration, the time to set a run up taken off."""
    steps = settings["steps"][case.method]
    times = []
    for count in (0, steps):
        start = perf_counter()
        go(case, settings, count, seed)
        times.append(perf_counter() - start)
    return _MILLI * max(times[1] - times[0], 0.0) / steps


def run(context: Context) -> Outcome:
    """All cases, one after the other in this process, again for every repeat: workers would disturb each other.

    Going round all cases spreads whatever else the machine does over all of them.
    """
    settings = context.settings
    cases = [
        Case(problem, method, K, published)
        for problem, given in settings["problems"].items()
        for method, row in given["published"].items()
        for K, published in zip(given["components"], row, strict=True)
    ]
    for case in {case.method: case for case in cases}.values():
        go(case, settings, 1, context.seed)  # whatever is imported or compiled at the first call
    times = np.empty((context.runs, len(cases)))
    for repeat in range(context.runs):
        for i, case in enumerate(cases):
            times[repeat, i] = time_of(case, settings, context.seed + repeat)
            context.report(repeat * len(cases) + i + 1, times.size, f"{case.method} on {case.problem}")
    numbers = [_number(case, times[:, i], settings) for i, case in enumerate(cases)]
    table = [_row(case, number) for case, number in zip(cases, numbers, strict=True)]
    return Outcome(numbers, table, settings["text"], {"settings": settings})


def median_interval(values: Floats) -> tuple[float, float, float]:
    """The median and its 95 % interval, by order statistics; from the least to the largest where they are few."""
    ordered = np.sort(values)
    n = len(ordered)
    outside = max(int(binom.ppf(_TAIL, n, 0.5)) - 1, 0)
    return float(np.median(ordered)), float(ordered[outside]), float(ordered[n - 1 - outside])


def _number(case: Case, times: Floats, settings: Settings) -> Number:
    """Published beside measured: faster is better."""
    given = settings["problems"][case.problem]
    median, low, high = median_interval(times)
    verdict = AGREE if low <= case.published <= high else BETTER if median < case.published else DIFFERS
    why = settings["slower_cma" if case.method == "pCMA-ES" else "slower"]
    what = f"{given['label']}, {case.method}, K = {case.K}, ms"
    return Number(
        what, f"{case.published:g}", median, low, high, len(times), verdict, why if verdict == DIFFERS else "",
        _DIGITS if case.published >= 0.1 else _MORE_DIGITS,
    )  # fmt: skip


def _row(case: Case, number: Number) -> Row:
    return {
        "problem": case.problem, "method": case.method, "K": case.K, "published ms": case.published,
        "ms": number.here, "ms low": number.low, "ms high": number.high, "repeats": number.runs,
    }  # fmt: skip


def draw(figure: Any, outcome: Outcome) -> None:
    """Both tables as curves: published dashed, here solid."""
    settings = outcome.data["settings"]
    for ax, (problem, given) in zip(figure.subplots(1, 2), settings["problems"].items(), strict=True):
        for colour, method in zip(COLOURS, given["published"], strict=False):
            lines = [line for line in outcome.table if (line["problem"], line["method"]) == (problem, method)]
            K = [line["K"] for line in lines]
            ax.plot(K, [line["published ms"] for line in lines], "--", color=colour, linewidth=1.0)
            ax.plot(K, [line["ms"] for line in lines], "-", marker="o", markersize=3.5, color=colour, label=method)
        ax.set(xlabel="number of components K", ylabel="ms per iteration", yscale="log", xticks=given["components"])
        ax.set_title(given["label"], fontsize=10)
        ax.grid(alpha=0.3)
    figure.axes[0].plot([], [], "k--", linewidth=1.0, label="published")
    shown = figure.axes[0].get_legend_handles_labels()
    figure.legend(*shown, loc="outside lower center", ncols=len(shown[0]), fontsize=8)


_REPEATS = 15  # the paper does not say how many; enough for an interval of the median
EXPERIMENTS = {
    "runtime": Experiment(
        "runtime", "time of one iteration", ("tab:runtime_sym", "tab:runtime_st"), _REPEATS, run, draw, ("cma",),
        (11.0, 4.8),
    ),
}  # fmt: skip
