"""Modes found with K components: NVA-GM and FS-NVA-GM beside parallel SGA and parallel CMA-ES.

Paper: sub:simu_mode, fig:mode_sym, fig:mode_st
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from allmodes.baselines import parallel_cma_es, parallel_sga
from allmodes.nva.annealing import presets, schedules, updates
from allmodes.nva.engine import anneal
from allmodes.problems import Problem, styblinski_tang, symmetric_mixture
from allmodes.problems.metrics import all_peak_ratio, global_peak_ratio
from allmodes.report.plots import COLOURS
from allmodes.reproduce.compare import Number, compare_share, mean_interval
from allmodes.reproduce.experiment import Context, Experiment, Outcome, Row

_PROBLEMS: dict[str, Callable[[], Problem]] = {
    "symmetric mixture": symmetric_mixture,
    "Styblinski-Tang": partial(styblinski_tang, 4),
}
_RULES = {"plain": updates.NaturalGradient(), "iblr": updates.ImprovedBLR()}
_CHUNKS = {"pcma-es": 10}  # runs in one job where runs go one by one; other methods do all runs at once
_METRICS = {"GPR": global_peak_ratio, "APR": all_peak_ratio}
_STYLES = {"solid": "-", "dotted": ":"}

Floats = NDArray[np.float64]
Settings = dict[str, Any]


class Ends(NamedTuple):
    """Where the runs of one method with K components ended, (H, K, d); NaN for what diverged."""

    method: Settings
    K: int
    points: Floats


def run(context: Context) -> Outcome:
    """All methods for all K, from starts that they share."""
    settings = context.settings
    problem = _PROBLEMS[settings["problem"]]()
    ends = _ends(context, problem)
    table = [row(problem, end, settings) for end in ends]
    scores = {
        (metric, end.method["id"], end.K): function(problem, end.points, settings["tolerance"]).per_run
        for metric, function in _METRICS.items()
        for end in ends
    }
    numbers = [number for claim in settings["published"] for number in _numbers(claim, scores, settings, problem)]
    return Outcome(numbers, table, f"{settings['text'].strip()}\n\n{_curves(table)}", {"settings": settings})


def _ends(context: Context, problem: Problem) -> list[Ends]:
    """Where every method ended for every K."""
    settings, runs = context.settings, context.runs
    low, high = problem.bounds.T
    cases = [(method, K) for method in settings["methods"] for K in settings["components"]]
    jobs, sizes = [], []
    for method, K in cases:
        # The same for every method, and for any number of runs and workers.
        starts = np.random.default_rng([context.seed, K]).uniform(low, high, (runs, K, len(low)))
        chunks = np.array_split(starts, -(-runs // _CHUNKS.get(method["kind"], runs)))
        jobs += [(settings["problem"], method | {"driver": settings["driver"]}, chunk) for chunk in chunks]
        sizes.append(len(chunks))
    results = iter(context.map(search, jobs, "searches"))
    return [
        Ends(method, K, np.concatenate([next(results) for _ in range(size)]))
        for (method, K), size in zip(cases, sizes, strict=True)
    ]


def search(problem_name: str, method: Settings, starts: Floats, *, rng: np.random.Generator) -> Floats:
    """Where the runs of one method from starts (H, K, d) end."""
    problem = _PROBLEMS[problem_name]()
    if method["kind"] == "psga":
        rate = schedules.power(**method["rate"])
        return parallel_sga(
            problem.objective, starts, learning_rate=rate, steps=method["steps"], end_values=False,
            trace_every=max(1, method["steps"]),
        ).points  # fmt: skip
    if method["kind"] == "pcma-es":
        return parallel_cma_es(
            problem.objective, starts, sigma0=method["sigma0"], steps=method["steps"], rng=rng,
            num_samples=method["num_samples"], num_selected=method["num_selected"], end_values=False,
            trace_every=max(1, method["steps"]),
        ).points  # fmt: skip
    return _annealed(problem, method, starts, rng)


def _annealed(problem: Problem, method: Settings, starts: Floats, rng: np.random.Generator) -> Floats:
    """Means at the end of NVA-GM or FS-NVA-GM."""
    rule = _RULES[method["rule"]]
    algorithm = presets.nva_gm(order=2, rule=rule) if method["kind"] == "nva-gm" else presets.fs_nva_gm(rule=rule)
    steps = method["steps"]
    runs = anneal(
        problem.objective, algorithm=algorithm, means=starts, covariances=1.0,
        temperature=_temperature(method, steps), learning_rate=schedules.coupled(**method["rate"]),
        num_samples=method["num_samples"], steps=steps, rng=rng, replicates=len(starts), trace_every=steps,
        driver=method["driver"],
    )  # fmt: skip
    return np.array([run.means if run.success else np.full_like(run.means, np.nan) for run in runs])


def _temperature(method: Settings, steps: int) -> Any:
    """omega_t; with `slower` = s the printed schedule for steps / s steps, stretched evenly over all of them."""
    printed = schedules.power(**method["temperature"])
    if "slower" not in method or steps < 2:
        return printed
    pace = (steps / method["slower"] - 1.0) / (steps - 1.0)
    return lambda t: float(printed(1.0 + pace * (t - 1.0)))


def best_possible(problem: Problem, K: int) -> dict[str, float]:
    """GPR and APR when K points are on K different modes, on global ones first."""
    J, global_modes = len(problem.modes), int(problem.is_global.sum())
    return {"GPR": min(K, global_modes) / global_modes, "APR": min(K, J) / J}


def row(problem: Problem, end: Ends, settings: Settings) -> Row:
    """One line of the table: both metrics at both tolerances."""
    runs = len(end.points)
    line: Row = {"method": end.method["name"], "variant": end.method["variant"], "K": end.K, "runs": runs}
    line["diverged"] = float(np.isnan(end.points).any(axis=2).mean())
    for metric, function in _METRICS.items():
        values = function(problem, end.points, settings["tolerance"]).per_run
        mean, low, high = mean_interval(values)
        most = best_possible(problem, end.K)[metric]
        line |= {metric: mean, f"{metric} low": low, f"{metric} high": min(high, most)}
        line[f"{metric} at {settings['strict_tolerance']}"] = function(
            problem, end.points, settings["strict_tolerance"]
        ).mean
        line[f"{metric} maximum"] = most
    return line


def _numbers(claim: Settings, scores: dict[Any, Floats], settings: Settings, problem: Problem) -> list[Number]:
    """What is published about one metric, beside every method that it is about."""
    components = [K for K in claim["components"] if K in settings["components"]]
    if not components:
        return []
    methods = {method["id"]: method for method in settings["methods"]}
    at_most = claim.get("at_most", False)
    numbers = []
    for name in claim["methods"]:
        values = {K: _claimed(claim, name, K, scores, problem) for K in components}
        K = (max if at_most else min)(components, key=lambda K: values[K].mean())
        method = methods[name]
        what = f"{method['name']}, {method['variant']}, K = {K}: {claim['what']}"
        number = compare_share(
            what, values[K], claim["value"], claim=claim.get("claim", ""), reason=method.get("reason", ""),
            higher_is_better=not at_most,
        )  # fmt: skip
        numbers.append(number)
    return numbers


def _claimed(claim: Settings, name: str, K: int, scores: dict[Any, Floats], problem: Problem) -> Floats:
    """The quantity that a claim is about, for every run."""
    values = scores[claim["metric"], name, K]
    if "minus" in claim:
        values = values - scores[claim["metric"], claim["minus"], K]
    if claim.get("per") == "maximum":
        values = values / best_possible(problem, K)[claim["metric"]]
    return values


def _curves(table: list[Row]) -> str:
    """All GPR / APR as a Markdown table."""
    components = sorted({line["K"] for line in table})
    lines = [
        "GPR / APR:", "",
        "| method | " + " | ".join(f"K = {K}" for K in components) + " | diverged |",
        "| --- |" + " --- |" * (len(components) + 1),
    ]  # fmt: skip
    for method, variant in dict.fromkeys((line["method"], line["variant"]) for line in table):
        chosen = [line for line in table if (line["method"], line["variant"]) == (method, variant)]
        cells = [f"{line['GPR']:.2f} / {line['APR']:.2f}" for line in chosen]
        gone = np.mean([line["diverged"] for line in chosen])
        lines.append(f"| {method}, {variant} | " + " | ".join(cells) + f" | {gone:.0%} |")
    return "\n".join(lines)


def draw(figure: Any, outcome: Outcome) -> None:
    """GPR on the left, APR on the right, against K; dashed what is possible."""
    settings = outcome.data["settings"]
    names = list(dict.fromkeys(method["name"] for method in settings["methods"]))
    for ax, metric in zip(figure.subplots(1, 2), _METRICS, strict=True):
        for method in settings["methods"]:
            lines = [r for r in outcome.table if (r["method"], r["variant"]) == (method["name"], method["variant"])]
            K = [line["K"] for line in lines]
            if method is settings["methods"][0]:
                ax.plot(K, [line[f"{metric} maximum"] for line in lines], "k--", linewidth=1.0, label="possible")
            if "line" not in method:
                continue
            colour, style = COLOURS[names.index(method["name"])], _STYLES[method["line"]]
            label = method["name"] if method["line"] == "solid" else f"{method['name']}, {method['variant']}"
            ax.plot(K, [line[metric] for line in lines], style, marker="o", markersize=3.5, color=colour, label=label)
            low, high = ([line[f"{metric} {end}"] for line in lines] for end in ("low", "high"))
            ax.fill_between(K, low, high, color=colour, alpha=0.12, linewidth=0.0)
        ax.set(xlabel="number of components K", ylabel=metric, ylim=(-0.03, 1.04), xticks=settings["components"])
        ax.grid(alpha=0.3)
    figure.legend(*figure.axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=4, fontsize=8)
    figure.suptitle(f"{settings['problem']}: share of the modes found, within {settings['tolerance']}", fontsize=11)


_SIZE = (11.0, 4.8)
_RUNS = 100
EXPERIMENTS = {
    "mode-sym": Experiment(
        "mode-sym", "modes found on the symmetric mixture", ("fig:mode_sym",), _RUNS, run, draw,
        ("jax", "cma"), _SIZE,
    ),
    "mode-st": Experiment(
        "mode-st", "modes found on Styblinski-Tang in 4-d", ("fig:mode_st",), _RUNS, run, draw,
        ("jax", "cma"), _SIZE,
    ),
}  # fmt: skip
