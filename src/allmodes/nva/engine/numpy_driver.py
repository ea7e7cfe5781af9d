"""The loop in Python: for any function, with nothing to compile."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from allmodes.arrays import Array, logsumexp_and_shares, namespace
from allmodes.checks import says_true
from allmodes.nva.annealing.updates import NaturalGradient
from allmodes.nva.engine.plan import Evaluate, Plan
from allmodes.nva.engine.progress import ProgressLine, Snapshot
from allmodes.nva.engine.run import Run
from allmodes.nva.engine.step import ask, is_finite, tell
from allmodes.nva.engine.trace import Recorder
from allmodes.nva.mixture.families import Family
from allmodes.nva.mixture.mixture import Mixture
from allmodes.objective import Evaluation
from allmodes.status import Status

Callback = Callable[[Snapshot], Any]


def run_numpy(
    plan: Plan,
    evaluate: Evaluate,
    evaluate_prior: Evaluate | None,
    mixture: Mixture,
    rng: np.random.Generator,
    callback: Callback | None,
    line: ProgressLine,
) -> Run:
    """One run, step by step."""
    algorithm, family, proposal = plan.algorithm, plan.algorithm.family, plan.algorithm.proposal
    status = Status.BUDGET_SPENT if plan.is_cut_short else Status.STEPS_DONE
    best_value, best_x, failure_point = -np.inf, np.full(plan.d, np.nan), None
    recorder = Recorder(plan)
    recorder.start(mixture)
    evaluated, nit = 0, 0
    try:
        for t, (B, settings) in enumerate(zip(plan.num_samples.tolist(), plan.each_settings(), strict=True)):
            noise = proposal.noise(rng, family, plan.K, B, plan.d)
            proposed = ask(algorithm, mixture, noise)
            evaluated += len(proposed.points)
            evaluation = evaluate(proposed.points)
            log_prior = None if evaluate_prior is None else evaluate_prior(proposed.points)
            with np.errstate(all="ignore"):  # what overflows here is found and reported below
                new, info = tell(algorithm, mixture, proposed, evaluation, log_prior, settings)
                is_good = is_finite(new)
            if info.best_value > best_value:
                best_value, best_x = float(info.best_value), info.best_point.copy()
            if not is_good:
                status, failure_point = diagnose(plan, new, proposed.points, evaluation, log_prior)
                break
            has_converged = plan.tolerance > 0 and displacement(family, new, mixture) <= plan.tolerance
            mixture, nit = new, t + 1
            recorder.see(nit, mixture, info.mean_value, best_value)
            line.update(nit, settings.omega, best_value)
            if callback is not None and wants_to_stop(callback, snapshot(plan, nit, mixture, evaluated, best_value)):
                status = Status.STOPPED
                break
            if has_converged:
                status = Status.CONVERGED
                break
    except KeyboardInterrupt:
        status = Status.INTERRUPTED
    finally:
        line.close()
    return make_run(plan, mixture, recorder, status, nit, evaluated, best_x, best_value, failure_point)


def displacement(family: Family, new: Mixture, old: Mixture) -> Array:
    """How far the means moved, summed over components.

    Paper: app:hyperparameters
    """
    moved = family.means(new.components) - family.means(old.components)
    return namespace(moved).sqrt((moved**2).sum(axis=-1)).sum()


def snapshot(plan: Plan, step: int, mixture: Mixture, evaluated: int, best_value: float) -> Snapshot:
    """What a callback sees; under JAX with replicates all arrays have the replicate as their first axis."""
    weights = logsumexp_and_shares(np.asarray(mixture.log_ratios), axis=-1)[1]
    means = np.asarray(plan.algorithm.family.means(mixture.components))
    return Snapshot(step, float(plan.temperatures[step - 1]), means, weights, evaluated, best_value)


def wants_to_stop(callback: Callback, snapshot: Snapshot) -> bool:
    """Whether a callback returned True or raised StopIteration, as SciPy's may."""
    try:
        return says_true(callback(snapshot))
    except StopIteration:
        return True


def diagnose(
    plan: Plan, new: Mixture, points: Any, evaluation: Evaluation, log_prior: Evaluation | None
) -> tuple[Status, Any]:
    """Why a mixture is not finite, and at which point if the objective is the cause."""
    for status, known in ((Status.OBJECTIVE_NOT_FINITE, evaluation), (Status.PRIOR_NOT_FINITE, log_prior or ())):
        for part in known:
            if part is not None:
                wrong = ~np.isfinite(np.asarray(part).reshape(len(points), -1)).all(axis=1)
                if wrong.any():
                    return status, np.array(points[int(np.argmax(wrong))])
    if isinstance(plan.algorithm.rule, NaturalGradient) and np.isfinite(new.log_ratios).all():
        return Status.LEFT_DOMAIN, None
    return Status.DIVERGED, None


def make_run(
    plan: Plan,
    mixture: Mixture,
    recorder: Recorder,
    status: Status,
    nit: int,
    evaluated: int,
    best_x: Any,
    best_value: float,
    failure_point: Any,
) -> Run:
    """The result of a run that made so many evaluations."""
    needs = plan.algorithm.needs
    return Run(
        algorithm=plan.algorithm,
        mixture=mixture,
        trace=recorder.finish(),
        status=status,
        nit=nit,
        nfev=evaluated,
        njev=evaluated if "gradient" in needs else 0,
        nhev=evaluated if "hessian" in needs else 0,
        best_x=np.asarray(best_x),
        best_value=float(best_value),
        failure_point=failure_point,
    )
