"""FS-NVA-GM on the first six functions of CEC2013, and what the library's own search does there."""

from __future__ import annotations

from collections.abc import Callable
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from allmodes.finding import find_maxima
from allmodes.nva.annealing import presets, schedules
from allmodes.nva.annealing.utilities import CMAES
from allmodes.nva.engine import Run, anneal
from allmodes.objective import Objective
from allmodes.problems.cec2013 import NichingProblem, cec2013
from allmodes.problems.extension import pyramidal
from allmodes.report.plots import COLOURS
from allmodes.reproduce.compare import AGREE, DIFFERS, Number, compare_share
from allmodes.reproduce.experiment import Context, Experiment, Outcome, Row

_CHUNK = 5  # runs of one job
_AWAY = 1e3  # a run has diverged if a mean is so many times the width of the box away, or not finite
_FLOOR = 10.0  # a component is on the damping floor if no standard deviation exceeds this many times sqrt(tau)
_MOSTLY = 0.5  # of the components on the floor: that explains a difference
MEANS, POINTS, PLACES = "final means", "all points", "final means by position"
MODES, FINEST = "modes reported", "modes reported, finest accuracy"
OURS = "find_maxima"
_COMPARED = (MEANS, POINTS)
_DIGITS = 2  # to which f-eval is printed

Floats = NDArray[np.float64]


class Trial(NamedTuple):
    """One run: share of the global maxima found for each way of counting, and how the run ended."""

    found: dict[str, float]
    evaluations: int
    diverged: bool = False
    on_floor: float = 0.0


class Group(NamedTuple):
    """All runs of one function with one setting."""

    function: Row
    setting: Row
    trials: list[Trial]

    def found(self, counted: str) -> Floats:
        return np.array([trial.found[counted] for trial in self.trials])

    def mean(self, what: str) -> float:
        return float(np.mean([getattr(trial, what) for trial in self.trials]))


class Watched:
    """An objective that keeps the points whose value reaches a level."""

    def __init__(self, objective: Objective, level: float) -> None:
        self.objective, self.level = objective, level
        self.points: list[Floats] = []
        self.values: list[Floats] = []

    def __call__(self, points: Floats) -> Floats:
        values: Floats = self.objective.fun(points)
        is_good = values >= self.level
        self.points.append(points[is_good])
        self.values.append(values[is_good])
        return values


# ---- jobs


def annealed(function: Row, setting: Row, common: Row, runs: int, rng: np.random.Generator) -> list[Trial]:
    """Runs of FS-NVA-GM on one function, from means drawn evenly in its box."""
    problem = cec2013(function["number"])
    extended = pyramidal(problem.objective, problem.bounds, function["amplitude"])
    lower, upper = problem.bounds.T
    algorithm = presets.fs_nva_gm(
        CMAES(common["fraction"]), damping=common["damping"], burn_in=function["kappa"],
        weight_limit=setting.get("weight_limit"),
    )  # fmt: skip
    trials = []
    for stream in rng.spawn(runs):
        watched = Watched(extended, problem.height - common["accuracy"])
        run = anneal(
            watched, vectorized=True, algorithm=algorithm,
            means=stream.uniform(lower, upper, (function["K"], len(lower))),
            covariances=float((upper - lower).max() ** 2 / 4.0),
            temperature=_cooling(function), learning_rate=_rate(function, setting),
            num_samples=function["num_samples"], steps=function["steps"], rng=stream, trace_every=function["steps"],
        )  # fmt: skip
        trials.append(_trial(problem, extended, watched, run, common))
    return trials


def _cooling(function: Row) -> schedules.Schedule:
    return schedules.power(function["omega_1"], function["alpha"])


def _rate(function: Row, setting: Row) -> schedules.Schedule:
    return schedules.coupled(function["rho_1"], function["beta"], maximum=setting.get("maximum", np.inf))


def _trial(problem: NichingProblem, extended: Objective, watched: Watched, run: Run, common: Row) -> Trial:
    count, accuracy = len(problem.modes), common["accuracy"]
    points, values = np.concatenate(watched.points), np.concatenate(watched.values)
    found = {
        MEANS: problem.peaks(run.means, extended.fun(run.means), accuracy) / count,
        POINTS: problem.peaks(points, values, accuracy) / count,
        PLACES: float(problem.found(run.means, common["tolerance"]).mean()),
    }
    widths = np.ptp(problem.bounds, axis=1)
    is_away = bool((np.abs(run.means - problem.bounds.mean(axis=1)) > _AWAY * widths).any())
    largest = np.sqrt(np.linalg.eigvalsh(run.covariances)[:, -1])
    on_floor = float((largest <= _FLOOR * np.sqrt(common["damping"])).mean())
    return Trial(found, run.nfev, is_away or not run.success, on_floor)


def searched(function: Row, common: Row, runs: int, rng: np.random.Generator) -> list[Trial]:
    """Runs of the library's own search on one function, without extension."""
    problem = cec2013(function["number"])
    trials = []
    for stream in rng.spawn(runs):
        result = find_maxima(
            problem.objective.fun, problem.bounds, vectorized=True, method="auto", target="global",
            maxfev=min(_evaluations(function), problem.budget), rng=stream,
        )  # fmt: skip
        points = np.array([mode.x for mode in result.modes]).reshape(-1, problem.dimension)
        values = np.array([mode.fun for mode in result.modes])
        accuracies = {MODES: common["accuracy"], FINEST: common["finest_accuracy"]}
        found = {name: problem.peaks(points, values, a) / len(problem.modes) for name, a in accuracies.items()}
        trials.append(Trial(found, result.nfev))
    return trials


def _evaluations(function: Row) -> int:
    return int(function["num_samples"] * function["K"] * function["steps"])


# ---- numbers


def run(context: Context) -> Outcome:
    """Both settings of FS-NVA-GM, and find_maxima."""
    common, functions = context.settings, context.settings["functions"]
    chunks = [min(_CHUNK, context.runs - first) for first in range(0, context.runs, _CHUNK)]
    cases = [(function, setting) for function in functions for setting in common["settings"]]
    jobs = [(*case, common, runs) for case in cases for runs in chunks]
    parts = _regrouped(context.map(annealed, jobs, "FS-NVA-GM"), len(chunks))
    groups = [Group(*case, trials) for case, trials in zip(cases, parts, strict=True)]
    searches = [(function, common, runs) for function in functions for runs in chunks]
    parts = _regrouped(context.map(searched, searches, OURS), len(chunks))
    groups += [Group(function, {"label": OURS}, trials) for function, trials in zip(functions, parts, strict=True)]
    groups.sort(key=lambda group: functions.index(group.function))
    numbers = [number for group in groups for number in _numbers(group)]
    return Outcome(numbers, [row for group in groups for row in _rows(group)], _text(common, groups))


def _regrouped(chunks: list[list[Trial]], count: int) -> list[list[Trial]]:
    return [list(chain(*chunks[first : first + count])) for first in range(0, len(chunks), count)]


def _rows(group: Group) -> list[Row]:
    """One row of the table for every way of counting."""
    published, trials = group.function["published"], group.trials
    return [
        {
            "function": f"F{group.function['number']}",
            "setting": group.setting["label"],
            "counted": counted,
            "runs": len(trials),
            "GPR": float(group.found(counted).mean()),
            "GSR": float((group.found(counted) == 1.0).mean()),
            "published GPR": published["gpr"],
            "published GSR": published["gsr"],
            "evaluations": group.mean("evaluations"),
            "published evaluations": published["evaluations"],
            "diverged": group.mean("diverged"),
            "components on the damping floor": group.mean("on_floor"),
        }
        for counted in trials[0].found
    ]


def _numbers(group: Group) -> list[Number]:
    """GPR and GSR beside the published ones; f-eval with the first setting; find_maxima without verdict."""
    name, label, runs = f"F{group.function['number']}", group.setting["label"], len(group.trials)
    published = group.function["published"]
    if label == OURS:
        found, spent = group.found(MODES), group.mean("evaluations")
        evaluations = Number(f"{name} evaluations, {OURS}", "not in the paper", spent, spent, spent, runs, digits=0)
        shares = {"GPR": found, "GSR": (found == 1.0).astype(float)}
        return [evaluations] + [
            compare_share(f"{name} {metric}, {OURS}", share, None, claim="not in the paper")
            for metric, share in shares.items()
        ]
    numbers = [_spent(group)] if "maximum" not in group.setting else []
    for counted in _COMPARED:
        found = group.found(counted)
        shares = {"gpr": found, "gsr": (found == 1.0).astype(float)}
        for metric, share in shares.items():
            what = f"{name} {metric.upper()}, {label}, {counted}"
            numbers.append(compare_share(what, share, published[metric], reason=_reason(group, counted)))
    return numbers


def _spent(group: Group) -> Number:
    """f-eval, printed to two digits."""
    printed, spent = group.function["published"]["evaluations"], float(_evaluations(group.function))
    digits = _DIGITS - 1 - int(np.floor(np.log10(spent)))
    verdict, reason = (AGREE, "") if round(spent, digits) == printed else (DIFFERS, "printed is not B K T")
    what = f"F{group.function['number']} f-eval"
    return Number(what, str(printed), spent, spent, spent, len(group.trials), verdict, reason, digits=0)


def _reason(group: Group, counted: str) -> str:
    """Why the numbers of a function may be lower than printed."""
    function, problem = group.function, cec2013(group.function["number"])
    if (problem.modes == problem.bounds[:, 0]).any() or (problem.modes == problem.bounds[:, 1]).any():
        return "the maxima are on faces of the box, see above; the cause of the printed number is not known"
    diverged, on_floor = group.mean("diverged"), group.mean("on_floor")
    if diverged > _MOSTLY:
        return f"{diverged:.0%} of the runs diverge"
    if on_floor > _MOSTLY:
        rate = _last_rate(group)
        return f"the learning rate reaches {rate:.2g}; {on_floor:.0%} of the components collapse before they arrive"
    if counted == MEANS:
        last = float(_cooling(function)(function["steps"]))
        return f"at the last temperature, {last:.2g}, means are often off by more than the accuracy"
    return ""


def _last_rate(group: Group) -> float:
    return float(_rate(group.function, group.setting).given(_cooling(group.function))(group.function["steps"]))


def _text(common: Row, groups: list[Group]) -> str:
    """The text of the settings, filled in: for every function how the runs with the printed settings ended."""
    first, bounded = common["settings"]
    printed = [group for group in groups if group.setting == first]

    def told(what: Callable[[Group], float], form: str) -> str:
        return ", ".join(f"{what(group):{form}} on F{group.function['number']}" for group in printed)

    return str(common["text"]).format(
        **common, bound=bounded["maximum"], limit=bounded["weight_limit"], rates=told(_last_rate, ".2g"),
        diverged=told(lambda group: group.mean("diverged"), ".0%"),
        floor=told(lambda group: group.mean("on_floor"), ".0%"),
    )  # fmt: skip


# ---- picture


def draw(figure: Any, outcome: Outcome) -> None:
    """Bars of GPR and GSR for every function, published and here."""
    series = {"published": ("published", "0.25", 1.0)}
    settings = dict.fromkeys(row["setting"] for row in outcome.table if row["setting"] != OURS)
    for setting, colour in zip(settings, COLOURS[1::-1], strict=False):
        series |= {f"{setting}, {MEANS}": (setting, colour, 1.0), f"{setting}, {POINTS}": (setting, colour, 0.45)}
    series[f"{OURS}, {MODES}"] = (OURS, COLOURS[2], 1.0)
    functions = list(dict.fromkeys(row["function"] for row in outcome.table))
    bars = {(row["function"], f"{row['setting']}, {row['counted']}"): row for row in outcome.table}
    some = {row["function"]: row for row in outcome.table}
    width = 0.86 / len(series)
    for ax, metric in zip(figure.subplots(2, 1, sharex=True), ("GPR", "GSR"), strict=True):
        for i, (name, (setting, colour, alpha)) in enumerate(series.items()):
            heights = [
                some[f][f"published {metric}"] if setting == "published" else bars[f, name][metric] for f in functions
            ]
            places = np.arange(len(functions)) + (i - 0.5 * (len(series) - 1)) * width
            drawn = ax.bar(
                places, heights, 0.92 * width, color=colour, alpha=alpha, label=name if metric == "GPR" else None
            )
            ax.bar_label(drawn, [f"{h:.2f}".removeprefix("0") if h < 1.0 else "1" for h in heights], fontsize=6)
        ax.set(ylabel=metric, ylim=(0.0, 1.12), xticks=range(len(functions)), xticklabels=functions)
    figure.legend(loc="outside upper center", ncols=3, fontsize=8)


EXPERIMENTS = {
    "cec2013": Experiment(
        "cec2013",
        "FS-NVA-GM on six functions of CEC2013",
        ("tab:hyper_benchmark_cec", "tab:results_benchmark_cec"),
        50,
        run,
        draw,
        needs=("ioh", "matplotlib"),
        size=(10.0, 5.6),
    )
}
