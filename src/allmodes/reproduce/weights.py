"""Limits of mixture weights: trajectories of the means, and the weights against what theory says."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from allmodes import problems
from allmodes.modes.laplace import flatness, limit_weights
from allmodes.nva.annealing import presets, schedules
from allmodes.nva.engine import Run, anneal
from allmodes.objective import HESSIAN
from allmodes.problems import Problem
from allmodes.report.plots import COLOURS, trajectories
from allmodes.reproduce.compare import AGREE, BETTER, DIFFERS, Number, compare_share
from allmodes.reproduce.experiment import Context, Experiment, Outcome

_CHUNK = 25  # replicates of one job
_SNAPSHOTS = 500  # of a run, for the picture
_CLOSE = 0.02  # to a limit: what a run of finite length may leave
_REASON = "a limit, which the weights have nearly reached at the end of the schedule"
Floats = NDArray[np.float64]


def run_chunk(
    settings: dict[str, Any], row: dict[str, Any], count: int, rng: np.random.Generator
) -> tuple[Floats, NDArray[np.bool_], Run | None]:
    """Weight of each mode (count, J), whether each mode was tracked by a mean of its own, and the first such run."""
    problem: Problem = getattr(problems, settings["problem"])()
    own = settings["settings"] | row
    lower, upper = np.array(settings["box"]).T
    means = rng.uniform(lower, upper, (count, own["K"], len(lower)))
    runs = anneal(
        problem.objective, algorithm=presets.nva_gm(order=2), means=means,
        covariances=own["covariance"], temperature=schedules.power(own["omega_1"], own["alpha"]),
        learning_rate=schedules.coupled(own["rho_1"], own["beta"]), num_samples=own["num_samples"], steps=own["steps"],
        rng=rng, replicates=count, driver="jax", trace_every=max(1, own["steps"] // _SNAPSHOTS),
    )  # fmt: skip
    weights = np.stack([mode_weights(problem, run, settings["tolerance"]) for run in runs])
    complete = np.array([bool(problem.found(run.means, settings["tolerance"]).all()) for run in runs])
    shown = runs[int(complete.argmax())] if complete.any() else None
    return weights, complete, shown


def mode_weights(problem: Problem, run: Run, tolerance: float) -> Floats:
    """The weight of all components that ended near each mode, (J,)."""
    apart = np.abs(problem.modes[:, None] - run.means[None]).max(axis=2)
    return np.where((apart <= tolerance) & (apart == apart.min(axis=0)), run.weights, 0.0).sum(axis=1)


def limits(problem: Problem) -> Floats:
    """The weights that theory gives at temperature zero, (J,); a degenerate mode takes all."""
    chosen = problem.modes[problem.is_global]
    eigenvalues = np.linalg.eigvalsh(problem.objective.evaluate(chosen, HESSIAN).hessian)
    is_degenerate = np.isinf(flatness(eigenvalues))
    weights = np.zeros(len(problem.modes))
    if is_degenerate.any():
        weights[problem.is_global] = is_degenerate / is_degenerate.sum()
    else:
        weights[problem.is_global] = limit_weights(np.zeros(len(chosen)), eigenvalues, 0.0)
    return weights


def run(context: Context) -> Outcome:
    """All replicates for every K of the settings."""
    settings = context.settings
    problem: Problem = getattr(problems, settings["problem"])()
    counts = [min(_CHUNK, context.runs - first) for first in range(0, context.runs, _CHUNK)]
    theory = limits(problem)
    numbers: list[Number] = []
    table: list[dict[str, Any]] = []
    shown: Run | None = None
    for row in settings["rows"]:
        label = row["label"]
        parts = context.map(run_chunk, [(settings, row, count) for count in counts], label)
        weights = np.concatenate([part[0] for part in parts])
        complete = np.concatenate([part[1] for part in parts])
        shown = shown or next((part[2] for part in parts if part[2] is not None), None)
        numbers.append(compare_share(f"{label}: share of runs in which every mode is tracked", complete, None))
        if complete.any():
            numbers += _compared(problem, row, weights[complete], theory, settings["published"]["weights"])
        for i, (found, is_complete) in enumerate(zip(weights, complete, strict=True)):
            named = {f"weight of mode {j + 1}": weight for j, weight in enumerate(found)}
            table.append({"row": label, "K": row["K"], "run": i, "all modes tracked": bool(is_complete), **named})
    return Outcome(numbers, table, _text(context, theory), (problem, shown, theory))


def _compared(
    problem: Problem, row: dict[str, Any], weights: Floats, theory: Floats, published: list[float]
) -> list[Number]:
    """The weight of every mode in runs that tracked all of them, beside its printed limit."""
    numbers = []
    for j, (limit, printed) in enumerate(zip(theory, published, strict=True)):
        place = ", ".join(f"{x:.2f}" for x in problem.modes[j])
        what = f"{row['label']}: weight of the mode at ({place}), limit {limit:.3f}"
        number = compare_share(what, weights[:, j], printed, reason=row.get("reason", _REASON))
        if number.verdict != AGREE and abs(number.here - printed) <= _CLOSE:
            number = replace(number, verdict=AGREE, reason=_REASON)
        elif number.verdict == BETTER:  # beyond a limit is off it, on whichever side
            number = replace(number, verdict=DIFFERS, reason=row.get("reason", _REASON))
        numbers.append(replace(number, published=f"tends to {printed:.3f}"))
    return numbers


def _text(context: Context, theory: Floats) -> str:
    limit = ", ".join(f"{weight:.4f}" for weight in theory)
    return (
        f"The paper shows one run in which every mode is tracked by a component of its own. Here {context.runs} runs "
        "are made from means drawn evenly in the box; the picture has the first one that tracks every mode, the table "
        "the mean weights over all that do. Limits computed from the Hessians at the modes, "
        f"best first: {limit}. The improved update rule is used, as in the authors' code."
        f"\n\n{context.settings.get('text', '')}"
    )


def draw(figure: Any, outcome: Outcome) -> None:
    """Trajectories on the left, weights on the right with their limits dashed."""
    problem, shown, theory = outcome.data
    left, right = figure.subplots(1, 2)
    if shown is None:
        left.set(title="no run tracked every mode")
        return
    trajectories(shown, problem, ax=left)
    for k in range(shown.trace.weights.shape[1]):
        colour = COLOURS[k % len(COLOURS)]
        right.plot(shown.trace.step, shown.trace.weights[:, k], color=colour, label=f"component {k + 1}")
    for limit in np.unique(theory):
        right.axhline(limit, linestyle="--", color="0.3", linewidth=1.0)
    right.plot([], [], linestyle="--", color="0.3", linewidth=1.0, label="limits")
    right.set(xlabel="iteration", ylabel="weight", ylim=(-0.03, 1.03), title="weights of the components")
    right.legend(fontsize=8, loc="center right")


def _make(name: str, title: str, label: str, runs: int = 100) -> Experiment:
    return Experiment(name, title, (label,), runs, run, draw, needs=("jax", "matplotlib"), size=(10.4, 5.0))


EXPERIMENTS = {
    "weight-sym": _make("weight-sym", "weights on the symmetric mixture", "fig:weight_sym"),
    "weight-asym": _make("weight-asym", "weights on the asymmetric mixture", "fig:weight_asym"),
    "weight-degenerate": _make("weight-degenerate", "weights with a degenerate mode", "fig:weight_degen", 400),
}
