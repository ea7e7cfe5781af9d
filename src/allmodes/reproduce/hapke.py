"""Which surfaces reflect light as a measured one does: modes of a GLLiM posterior, and of the exact likelihood."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from allmodes.finding import find_maxima, find_minima
from allmodes.nva.annealing import presets, schedules
from allmodes.nva.engine import anneal
from allmodes.objective import Objective
from allmodes.problems.gaussian_mixtures import mixture_objective
from allmodes.problems.gllim import GaussianMixture, fit_gllim
from allmodes.problems.hapke import BOX, OBSERVATION, misfit, reflectance
from allmodes.problems.mean_shift import mixture_modes, shift
from allmodes.report.plots import COLOURS
from allmodes.reproduce.experiment import Context, Experiment, Outcome
from allmodes.reproduce.hapke_results import MINIMUM, PLATEAU, SADDLE, Found, Minimum, Training, numbers, table, text

_GRID = 21  # values of a parameter that may have no effect
_ASIDE = 0.01  # a step that shows whether a path leads down: short beside the box, long beside rounding
_ROUNDING = 1e-9  # of a misfit
_PAPER_COLOURS = (COLOURS[1], COLOURS[0], COLOURS[2], COLOURS[3])  # red, blue, green and purple, as in the paper
Floats = NDArray[np.float64]


def train(settings: dict[str, Any], rng: np.random.Generator) -> Training:
    """Simulate pairs, fit GLLiM and find the modes of the posterior at the observation."""
    x = rng.random((settings["pairs"], len(BOX)))
    y = reflectance(x)
    y += settings["noise"] * rng.standard_normal(y.shape)
    model = fit_gllim(x, y, settings["components"], iterations=settings["iterations"], rng=rng)
    posterior = model.posterior(OBSERVATION)
    modes = mixture_modes(*posterior, posterior.draw(settings["draws"], rng))
    values = _log_density(posterior).fun(modes)
    centred, observed = y - y.mean(axis=1, keepdims=True), OBSERVATION - OBSERVATION.mean()
    best = int(np.argmax(centred @ observed / np.linalg.norm(centred, axis=1)))
    return Training(posterior, modes, values, len(mixture_modes(*posterior)), y[best])


def _log_density(posterior: GaussianMixture) -> Objective:
    return mixture_objective(posterior.means, posterior.covariances, posterior.weights)


def annealed(
    training: Training, settings: dict[str, Any], runs: int, tolerance: float, rng: np.random.Generator
) -> tuple[NDArray[np.bool_], int]:
    """Which modes each run of NVA-GM finds (runs, J), and the evaluations of one run."""
    means = rng.random((runs, settings["K"], len(BOX)))
    done = anneal(
        _log_density(training.posterior), algorithm=presets.nva_gm(order=2), means=means,
        covariances=settings["covariance"], temperature=schedules.power(settings["omega_1"], settings["alpha"]),
        learning_rate=schedules.coupled(settings["rho_1"], settings["beta"]), num_samples=settings["num_samples"],
        steps=settings["steps"], rng=rng, replicates=runs, driver="jax", trace_every=settings["steps"],
    )  # fmt: skip
    return np.stack([_hits(training.modes, run.means, tolerance) for run in done]), done[0].nfev


def searched(
    training: Training, box: list[float], tolerance: float, rng: np.random.Generator
) -> tuple[NDArray[np.bool_], int]:
    """Which modes `find_maxima` finds (J,), and its evaluations."""
    density = _log_density(training.posterior)
    bounds = [tuple(box)] * len(BOX)
    result = find_maxima(density.fun, bounds, jac=density.jac, hess=density.hess, vectorized=True, rng=rng)
    found = np.array([mode.x for mode in result.modes]).reshape(-1, len(BOX))
    return _hits(training.modes, found, tolerance), result.nfev


def _hits(modes: Floats, points: Floats, tolerance: float) -> NDArray[np.bool_]:
    """Which modes (J, d) have a point within the tolerance in every coordinate."""
    return np.asarray((np.abs(modes[:, None] - points[None]).max(axis=2) <= tolerance).any(axis=1))


def exact_minima(evaluations: int, rng: np.random.Generator) -> list[Minimum]:
    """What `find_minima` finds on the exact misfit over the unit box, from values alone, best first."""
    result = find_minima(misfit, BOX, vectorized=True, maxfev=evaluations, rng=rng)
    found: list[Minimum] = []
    for mode in result.modes:
        kind = _kind(mode.x, mode.fun)
        if kind == MINIMUM or not any(one.kind == kind and abs(one.value - mode.fun) < _ROUNDING for one in found):
            found.append(Minimum(mode.x, mode.fun, kind))  # one point of a plateau is enough
    return found


def _kind(x: Floats, value: float) -> str:
    """Whether this is a minimum, or a place where the misfit is stationary and from which a path leads down.

    With asymmetry x3 = 0 a grain scatters evenly, with 1 not at all: then the share x4 has no effect, and the plateau
    along it may have an edge. With slope x2 = 0 the first derivative along x2 vanishes, whatever the second is.
    """
    along = np.tile(x, (_GRID, 1))
    along[:, 3] = np.linspace(0.0, 1.0, _GRID)
    if np.abs(misfit(along) - value).max() < _ROUNDING:
        along[:, 2] += _ASIDE if x[2] < 0.5 else -_ASIDE
        return PLATEAU if misfit(along).min() < value - _ROUNDING else MINIMUM
    steps = np.vstack([x + _ASIDE * np.eye(len(x)), x - _ASIDE * np.eye(len(x))])
    inside = ((steps >= BOX[:, 0]) & (steps <= BOX[:, 1])).all(axis=1)
    return SADDLE if misfit(steps[inside]).min() < value - _ROUNDING else MINIMUM


def _do(function: Callable[..., Any], *arguments: Any, rng: np.random.Generator) -> Any:
    """One job of several kinds, with a random stream separate from those of the trainings."""
    return function(*arguments, rng=rng.spawn(1)[0])


def run(context: Context) -> Outcome:
    """Trainings, then all searches on the posterior of the first and on the exact misfit."""
    settings, published = context.settings, context.settings["published"]
    tolerance, box = settings["search"]["tolerance"], settings["search"]["box"]
    trainings = context.map(train, [(settings["training"],)] * settings["training"]["trainings"], "fits of GLLiM")
    first = trainings[0]
    jobs = [
        (annealed, first, settings["annealing"], context.runs, tolerance),
        (exact_minima, settings["search"]["exact_evaluations"]),
    ]
    jobs += [(searched, first, box, tolerance)] * context.runs
    by_nva, minima, *by_search = context.map(_do, jobs, "searches")
    found = Found(
        trainings, [uphill(training, np.array(published["modes"])) for training in trainings],
        by_nva[0], np.stack([hits for hits, _ in by_search]),
        (by_nva[1], float(np.mean([nfev for _, nfev in by_search]))), minima,
    )  # fmt: skip
    return Outcome(numbers(found, published), table(found, published), text(found, settings), (found, settings))


def uphill(training: Training, published: Floats) -> NDArray[np.intp]:
    """The mode that mean shift from each published one leads to; -1 where another one is nearer to that mode."""
    ends = shift(*training.posterior, published)
    reached = np.abs(training.modes[:, None] - ends[None]).max(axis=2).argmin(axis=0)
    apart = np.abs(training.modes[reached] - published).max(axis=1)
    is_nearest = [apart[j] == apart[reached == k].min() for j, k in enumerate(reached)]
    return np.where(is_nearest, reached, -1)


def draw(figure: Any, outcome: Outcome) -> None:
    """Signals against the observation with its band: of the published modes, and of ours."""
    found, settings = outcome.data
    first, band = found.trainings[0], settings["training"]["noise"]
    left, right = figure.subplots(1, 2, sharey=True)
    _draw_signals(left, band, list(np.array(settings["published"]["modes"])), first.signal)
    _draw_signals(right, band, [first.modes[k] if k >= 0 else None for k in found.matched[0]], first.signal)
    index = np.arange(1, len(OBSERVATION) + 1)
    for minimum in found.minima:
        if minimum.kind == MINIMUM:
            signal = reflectance(minimum.x[None])[0]
            right.plot(index, signal, color="0.5", linestyle=":", label="minima of the exact misfit (right)")
    left.set(ylabel="reflectance", title="modes as published")
    right.set(title="modes here, uphill of the published ones")
    for ax in (left, right):
        ax.set(xlabel="geometry index", xticks=index)
    named = {label: line for line, label in zip(*right.get_legend_handles_labels(), strict=True)}
    named = {label: line for line, label in zip(*left.get_legend_handles_labels(), strict=True)} | named
    figure.legend(named.values(), named.keys(), loc="outside lower center", ncols=4, fontsize=8)


def _draw_signals(ax: Any, band: float, modes: list[Floats | None], nearest: Floats) -> None:
    """The observation, its band, the signals of four modes in the paper's colours, and the best training signal."""
    index = np.arange(1, len(OBSERVATION) + 1)
    ax.plot(index, OBSERVATION, color="black", linewidth=2.0, label="observation")
    for sign in (-1.0, 1.0):
        label = f"observation $\\pm$ {band:g}"
        ax.plot(index, OBSERVATION + sign * band, color="black", linestyle="--", linewidth=1.0, label=label)
    for j, (x, colour) in enumerate(zip(modes, _PAPER_COLOURS, strict=True), 1):
        if x is not None:
            ax.plot(index, reflectance(x[None])[0], color=colour, label=f"$\\Psi_{j}$")
    ax.plot(index, nearest, color=COLOURS[1], linestyle="--", label="most correlated training signal")


EXPERIMENTS = {
    "hapke": Experiment(
        "hapke", "inversion of a measured reflectance", ("sec:illustration", "fig:Hapkeobs"), 10, run, draw,
        needs=("jax", "matplotlib"), size=(11.0, 4.6),
    )
}  # fmt: skip
