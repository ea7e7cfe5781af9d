"""Turns what a search has found into what the user is told."""

from __future__ import annotations

import copy
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from allmodes import storage
from allmodes.holding import held_outside
from allmodes.known import Known
from allmodes.modes import coverage, laplace
from allmodes.nva.mixture.mixture import Mixture
from allmodes.objective.frame import Frame
from allmodes.objective.grids import labels_of
from allmodes.recorded import paths_of, symmetries_of, trace_of
from allmodes.result import History, Mode, Result, best_of
from allmodes.rounds import Rounds
from allmodes.search.archive import Frozen
from allmodes.search.context import Context
from allmodes.search.fresh import Fresh
from allmodes.search.orbits import change, listed
from allmodes.search.searcher import Strategy
from allmodes.search.wanted import is_wanted, left_out
from allmodes.settings import Settings
from allmodes.status import Status
from allmodes.weighing import mixture_of, weights_of

Array = NDArray[np.float64]


class State(Protocol):
    """What a summary reads of a search."""

    settings: Settings
    frame: Frame
    context: Context
    search: Strategy
    rounds: Rounds
    known: Known
    history: History
    nit: int
    nfail: int
    njev: int
    nhev: int
    stopped_status: int

    @property
    def account(self) -> str: ...


_NEARLY = 0.9  # of the budget: a search that runs out of things to try beyond this share has spent it
_STUCK = 50  # times (d + 1) evaluations after which a local search would have got farther
_FEW = 50  # times (d + 1) evaluations: with fewer a model finds more (benchmarks/few.py)
_SAME = 1e-3  # of the box: a better point this close to a mode is the same mode, located more accurately
_CLOSE = 10.0  # xtol: within this distance the mode's verification holds for the point, too
BEYOND = "x is the best point evaluated, better than every mode, and not verified"
_AS_THEY_COME = "points were told in the order of completion: another run may differ"
_REASONS = {
    "stopped": Status.STOPPED,
    "n_modes": Status.ENOUGH_MODES,
    "nothing_new": Status.NOTHING_NEW,
    "maxfev": Status.BUDGET_SPENT,
    "maxiter": Status.STEPS_DONE,
    "maxtime": Status.TIME_SPENT,
}


def build_result(state: State, reasons: dict[str, str], seconds: float) -> Result:
    """The result of a search as it stands. Points already told of an unfinished round count, too."""
    context, frame, settings = _with_best(_seen(state), state.settings), state.frame, state.settings
    summary = summarise(context, frame, settings.options.get("temperature"), state.search.fresh)
    status = _status(context, state, reasons)
    best_point = context.best_point if status is not Status.NO_FEASIBLE_POINT else state.search.violated
    best = None if best_point is None else frame.box.to_user(best_point[None])[0]
    is_point = _is_better(context)
    x, fun = best_of(() if is_point else summary.modes, best, frame.value(context.best_value), frame.box.D)
    fun = fun if np.isfinite(fun) else float("nan")
    beyond = BEYOND if is_point and summary.modes else ""
    left = left_out(context, settings.within)
    why = "; ".join(reason for reason in reasons.values() if reason.lower() not in status.message.lower())
    order = _AS_THEY_COME if settings.options.get("order") == "completion" else ""
    said = " ".join(
        f"{part[0].upper()}{part[1:]}." for part in (context.asymmetry, state.account, left, order, beyond, why) if part
    )
    pending = [(round_, round_.pending) for round_ in state.rounds.flying if round_.is_begun]
    return Result(
        x=x, fun=fun, success=status.success and bool(summary.modes), status=status,
        message=f"{_said_of(status, state)} {said} {_advice(status, context, settings)}".strip(), nfev=context.nfev,
        njev=state.njev + sum(len(rows) for round_, rows in pending if "gradient" in round_.needs),
        nhev=state.nhev + sum(len(rows) for round_, rows in pending if "hessian" in round_.needs),
        nit=state.nit, modes=summary.modes, coverage=summary.coverage, temperature=summary.temperature,
        nfail=state.nfail + sum(int((~np.isfinite(round_.value[rows])).sum()) for round_, rows in pending),
        failures=(),
        history=_history(state, context), mixture=summary.mixture, method=settings.method, names=settings.names,
        maximise=frame.maximise, bounds=np.stack([frame.box.lower, frame.box.upper], axis=1),
        settings=settings.asked(frame.box, context.order, len(state.known)) | state.search.noted,
        versions=storage.versions(), seconds=seconds, paths=paths_of(context, frame), trace=trace_of(context, frame),
        symmetries=symmetries_of(state.search.symmetries, frame), constraints=context.constraints,
    )  # fmt: skip


def _history(state: State, context: Context) -> History:
    """How the search went, up to the points already told of unfinished rounds."""
    history = state.history.copy()
    if context.nfev > state.context.nfev:
        best = state.frame.value(context.best_value) if np.isfinite(context.best_value) else np.nan
        history.add(context.nfev, best, len(state.context.archive.own))
    return history


def _with_best(context: Context, settings: Settings) -> Context:
    """The context, with the best point where it belongs if it beats every mode.

    Right beside a mode it is that mode, located better. Elsewhere it is an unverified mode, once it has long not been
    improved on: that happens to local searches that end at a kink. Without any mode, nothing suggests that it is one.
    """
    if context.best_point is None or not len(context.archive) or not _is_better(context) or not settings.polish:
        return context
    if context.constraints is not None:
        return context
    j, apart = context.archive.closest(context.best_point)
    near = context.archive.records[j]
    is_held = np.array_equal(context.best_point[near.active], context.archive.means[j][near.active])
    is_same = apart < _CLOSE * context.xtol and is_held
    is_stuck = context.nfev - context.best_at >= _STUCK * (context.box.d + 1)
    if not is_same and not (context.is_beaten and is_stuck):
        return context
    archive = copy.deepcopy(context.archive)
    if is_same or apart < _SAME:
        step = context.box.difference(context.best_point, archive.means[j])
        moved = replace(near, gradient=near.gradient + near.hessian @ step)
        found = moved if is_same else replace(moved, kind="unverified")
        change(archive, context.group, j, context.best_point, context.best_value, found)
    else:
        d = context.box.d
        hessian = -max(context.scale, 1e-300) * np.eye(d)
        found = Frozen(np.full(d, np.nan), hessian, np.zeros(d, bool), "unverified", "component", context.best_at)
        archive.add(context.best_point, context.best_value, found)
    return replace(context, archive=archive)


def _is_better(context: Context) -> bool:
    """Whether a point was evaluated that is better than every mode, by however little; unknown if values are noisy."""
    if context.constraints is not None and len(context.archive):  # feasible up to a tolerance, which is worth a little
        return context.is_beaten
    return context.noise == 0.0 and (not len(context.archive) or context.best_value > context.archive.best)


def _seen(state: State) -> Context:
    """The context as if it had seen the points already told of unfinished rounds."""
    context, frame = replace(state.context), state.frame
    for round_ in state.rounds.flying:
        rows = round_.pending
        values = frame.sign * (frame.factor or 1.0) * round_.value[rows]
        values[~np.isfinite(values)] = -np.inf
        context.observe(round_.units[rows], values, round_.cost * len(rows))
    return context


def _said_of(status: Status, state: State) -> str:
    """The message of a status."""
    is_whole = status is Status.NOTHING_NEW and state.search.fresh.whole
    return "There is nothing else to be found." if is_whole else status.message


def _advice(status: Status, context: Context, settings: Settings) -> str:
    """What to change; methods are for real coordinates alone."""
    if status is Status.BUDGET_SPENT and settings.method in ("auto", "local") and _is_for_models(context):
        return f'With {settings.maxfev} evaluations method="surrogate" often finds more; it takes seconds of its own.'
    if status is Status.NO_MODE and context.box.levels:
        return "Allow more evaluations (maxfev) or time (maxtime)."
    if status is Status.INTERRUPTED:  # whoever ended the search has said how to go on
        return ""
    return status.advice


def _is_for_models(context: Context) -> bool:
    """Whether a model of the function would find more than local searches: few values, and nothing else given."""
    box = context.box
    is_plain = context.order == 0 and context.constraints is None and context.group is None and not box.levels
    is_few = context.maxfev <= _FEW * (box.d + 1)
    return is_few and is_plain and context.drawn is None and not context.has_model and box.is_bounded


def _status(context: Context, state: State, reasons: dict[str, str]) -> Status:
    if state.search.violated is not None:
        return Status.NO_FEASIBLE_POINT
    if context.nfev and not np.isfinite(context.best_value):
        return Status.ALL_FAILED
    if not reasons:
        return Status.RUNNING
    if "stopped" in reasons:
        return Status(state.stopped_status)
    if not len(context.archive):
        return Status.NO_MODE
    if state.search.fresh.whole:
        return Status.NOTHING_NEW  # whatever is left of the budget
    is_nearly_spent = context.nfev >= _NEARLY * state.settings.maxfev
    if is_nearly_spent and "nothing_new" in reasons and "n_modes" not in reasons:
        return Status.BUDGET_SPENT
    return next(status for reason, status in _REASONS.items() if reason in reasons)


@dataclass(frozen=True)
class Summary:
    """Modes best first, the temperature at which their weights are stated, and the mixture they make."""

    modes: tuple[Mode, ...]
    temperature: float
    mixture: Mixture | None
    coverage: coverage.Coverage


def summarise(context: Context, frame: Frame, temperature: float | None, fresh: Fresh) -> Summary:
    """What was found, in the user's coordinates and sign."""
    archive = context.archive
    is_global = context.is_best
    order = np.lexsort((np.arange(len(archive)), -archive.values))
    if context.is_global:
        order = order[is_global[order]]
    order = order[(archive.primary[order] == order) & is_wanted(context)[order]]
    order = order[[not _is_plateau(context, int(j)) for j in order]]
    covered = coverage.estimate(
        fresh.of(len(archive))[order], fresh.searches, lost=fresh.lost, nfev=context.nfev, cost=fresh.cost(context.nfev)
    )
    checks = context.checks
    covered = replace(covered, checked=checks.right + checks.wrong, misjudged=checks.wrong, whole=fresh.whole)
    covered = covered if context.drawn is None else replace(covered, draws=len(context.drawn.points))
    spread = max(archive.best - context.level, 0.0) if len(archive) else 0.0
    inside = laplace.temperature_for(spread) if temperature is None else temperature * frame.factor
    weights = weights_of(context, order, inside)
    modes = tuple(
        _mode(context, frame, int(j), bool(is_global[j]), float(weight))
        for j, weight in zip(order, weights, strict=True)
    )
    outside = inside / (frame.factor or 1.0)
    return Summary(modes, outside, mixture_of(context, frame, order, weights, inside), covered)


def _is_plateau(context: Context, j: int) -> bool:
    """Level in all directions and below the best value known by now: nothing says that it is an optimum."""
    archive, tolerances = context.archive, context.tolerances
    is_below = bool(archive.values[j] < max(archive.best, context.best_value) - tolerances.tie)
    return is_below and tolerances.is_plateau(j)


def _mode(context: Context, frame: Frame, j: int, is_global: bool, weight: float) -> Mode:
    archive, box = context.archive, context.box
    orbit = archive.orbit(j)
    hits, j = int(archive.hits[j]), int(listed(context, orbit))
    found = archive.records[j]
    x = box.to_user(archive.means[j][None])[0]
    hessian = frame.hessian(np.asarray(found.hessian), x, found.gradient)
    places = np.flatnonzero(box.free)
    free = places[~found.active & box.is_real]
    eigenvalues = np.asarray(np.linalg.eigvalsh(hessian[np.ix_(free, free)]), dtype=np.float64)
    if box.grids:
        levels = [i for i, grid in enumerate(box.grids) if grid is not None]
        hessian[levels, :] = hessian[:, levels] = np.nan
    held = held_outside(found, frame, hessian)
    if held is not None:
        eigenvalues = held.eigenvalues
    ordinary, norm = "maximum" if frame.maximise else "minimum", _gradient_norm(context, frame, found, x)
    return Mode(
        x=x,
        fun=frame.value(archive.values[j]),
        kind=ordinary if found.kind == "optimum" else found.kind,
        is_global=is_global,
        gradient_norm=norm,
        hessian=hessian,
        eigenvalues=eigenvalues,
        curvature_from=found.source,
        flatness=float("inf") if found.kind == "flat" else float(laplace.flatness(eigenvalues)),
        weight=weight,
        hits=hits,
        found_at=found.found_at,
        standard_error=found.standard_error / (frame.factor or 1.0) if context.noise else None,
        active=tuple(int(i) for i in places[found.active]),
        named=tuple((i, labels[int(x[i])]) for i, labels in labels_of(box.grids).items()),
        multiplicity=len(orbit),
        violation=0.0 if held is None else held.violation,
        active_constraints=() if held is None else held.constraints,
        multipliers=None if held is None else held.multipliers,
        gradient=frame.gradient(np.where(found.active | np.isfinite(norm), found.gradient, np.nan), x),
    )


def _gradient_norm(context: Context, frame: Frame, found: Frozen, x: Array) -> float:
    """Norm of the gradient along the coordinates not held at a bound; NaN where nobody has measured it.

    From values alone the last step of a local search leads to where its own model is level: the gradient of that model
    is zero there, whatever the function's is. Slopes at kinks are measured.
    """
    if found.held is not None:
        return float("nan") if context.order == 0 else float(np.hypot.reduce(frame.gradient(found.held.residual)))
    if found.active.all():
        return 0.0
    if context.order == 0 and (found.source == "differences" or not found.gradient.any()):
        return float("nan")
    gradient = frame.gradient(np.where(found.active, 0.0, found.gradient), x)
    return float(np.hypot.reduce(gradient))
