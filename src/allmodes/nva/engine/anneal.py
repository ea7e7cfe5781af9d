"""The expert call: any algorithm of the paper with any parts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from allmodes.checks import instance, real_array, whole_number
from allmodes.hints import Random
from allmodes.nva.annealing.algorithm import Algorithm
from allmodes.nva.engine.numpy_driver import Callback, run_numpy
from allmodes.nva.engine.plan import Evaluate, Plan, make_plan
from allmodes.nva.engine.progress import ProgressLine
from allmodes.nva.engine.run import Run, Runs
from allmodes.nva.mixture.families.family import Family, as_means
from allmodes.nva.mixture.mixture import Mixture
from allmodes.objective import Needs, Objective, autodiff
from allmodes.status import Status
from allmodes.terminal import can_show


# fmt: off
@overload
def anneal(
    objective: Callable[..., Any] | Objective, *, algorithm: Algorithm, means: ArrayLike | None = ...,
    covariances: ArrayLike | None = ..., weights: ArrayLike | None = ..., mixture: Mixture | None = ...,
    temperature: Any, learning_rate: Any, num_samples: Any = ...,
    steps: int = ..., first_step: int = ..., rng: Random | None = ..., jac: Callable[..., Any] | None = ...,
    hess: Callable[..., Any] | None = ..., vectorized: bool = ...,
    log_prior: Callable[..., Any] | Objective | None = ..., replicates: None = ..., driver: str = ...,
    tolerance: float = ..., max_evaluations: int | None = ..., trace_every: int | None = ...,
    callback: Callback | None = ..., progress: bool = ...,
) -> Run: ...
@overload
def anneal(
    objective: Callable[..., Any] | Objective, *, algorithm: Algorithm, means: ArrayLike | None = ...,
    covariances: ArrayLike | None = ..., weights: ArrayLike | None = ..., mixture: Mixture | None = ...,
    temperature: Any, learning_rate: Any, num_samples: Any = ...,
    steps: int = ..., first_step: int = ..., rng: Random | None = ..., jac: Callable[..., Any] | None = ...,
    hess: Callable[..., Any] | None = ..., vectorized: bool = ...,
    log_prior: Callable[..., Any] | Objective | None = ..., replicates: int, driver: str = ...,
    tolerance: float = ..., max_evaluations: int | None = ..., trace_every: int | None = ...,
    callback: Callback | None = ..., progress: bool = ...,
) -> Runs: ...
# fmt: on
def anneal(
    objective: Callable[..., Any] | Objective,
    *,
    algorithm: Algorithm,
    means: ArrayLike | None = None,
    covariances: ArrayLike | None = None,
    weights: ArrayLike | None = None,
    mixture: Mixture | None = None,
    temperature: Any,
    learning_rate: Any,
    num_samples: Any = None,
    steps: int = 1000,
    first_step: int = 1,
    rng: Random | None = None,
    jac: Callable[..., Any] | None = None,
    hess: Callable[..., Any] | None = None,
    vectorized: bool = False,
    log_prior: Callable[..., Any] | Objective | None = None,
    replicates: int | None = None,
    driver: str = "numpy",
    tolerance: float = 0.0,
    max_evaluations: int | None = None,
    trace_every: int | None = None,
    callback: Callback | None = None,
    progress: bool = False,
) -> Run | Runs:
    """Run an annealing algorithm on a function to maximise.

    Args:
        objective: of one point (d,) -> number, or with `vectorized` of a batch (N, d) -> (N,), or an Objective.
        algorithm: what to run, for instance presets.nva_gm(order=2).
        means: initial means (K, d); (H, K, d) gives every replicate its own.
        covariances: initial covariances: a number, d variances, a matrix (d, d) or K matrices.
        weights: initial weights (K,) that sum to 1; equal ones if left out.
        mixture: start from run.mixture of an earlier run instead of means, covariances and weights.
        temperature: omega_t: a number, a schedule or a function of the step t = 1, 2, ...
        learning_rate: rho_t, likewise; schedules.coupled follows the temperature.
        num_samples: mini-batch size B, a number or a schedule (rounded); the algorithm's own if left out. The JAX
            driver compiles once for every size.
        steps: how many steps to do.
        first_step: the t at which the schedules begin. To go on from a run pass mixture=run.mixture and
            first_step=run.nit + 1, and the same Generator as rng: the two runs then are one.
        rng: seed or numpy.random.Generator. The same seed gives the same run under both drivers.
        jac, hess: gradient and Hessian of the objective. A function written in JAX needs neither; it is compiled, and
            must be pure: whatever it reads besides its argument is read once.
        vectorized: whether objective, jac and hess take a batch of points.
        log_prior: log-density p of a prior: the target becomes the Gibbs posterior exp(l / omega) p. Its evaluations
            are not counted.
        replicates: H independent runs, returned as Runs; vmapped under JAX, one after the other under NumPy.
        driver: "numpy" for any function, "jax" for functions that JAX can trace (extra [jax]). A program that was
            compiled for the same function objects and settings is used again: as under `jax.jit`, what a function takes
            from outside of its arguments keeps the value that it had then. Pass another function (a lambda or partial
            made anew) where that has changed.
        tolerance: stop when the means move less than this in one step, summed over components.
        max_evaluations: never evaluate the objective at more points than this (per replicate).
        trace_every: keep every so many steps in the trace; by default all that fit 64 MB.
        callback: called with a Snapshot after every step (every chunk of steps under JAX); returning True or raising
            StopIteration stops the run, or all replicates; those not begun are missing from the result.
        progress: show a line on stderr, if that is a terminal, once the run has lasted two seconds.

    Returns:
        Run, or Runs when `replicates` is given. A run that goes wrong does not raise: its status says what happened,
        and it keeps the last good mixture.

    >>> from allmodes.nva import presets, schedules
    >>> run = anneal(lambda x: -(x**4 - x**2).sum(), algorithm=presets.fs_nva_gm(), means=[[-2.0], [2.0]],
    ...              covariances=1.0, temperature=schedules.geometric(0.1, 0.97), learning_rate=0.1, steps=300, rng=0)
    >>> run.means.round(1).tolist()
    [[-0.7], [0.7]]
    """
    instance("algorithm", algorithm, Algorithm, "Write presets.nva_gm(order=2), presets.fs_nva_gm(), ...")
    if driver not in ("numpy", "jax"):
        raise ValueError(f'driver is {driver!r}; wanted "numpy" or "jax".')
    if callback is not None and not callable(callback):
        raise TypeError(f"callback is {callback!r} ({type(callback).__name__}); wanted a function of a Snapshot.")
    count = 1 if replicates is None else whole_number("replicates", replicates, 1)
    target = _as_objective("objective", objective, jac, hess, vectorized)
    prior = None if log_prior is None else _as_objective("log_prior", log_prior, None, None, vectorized)
    mixtures = _starts(algorithm.family, means, covariances, weights, mixture, count)
    K, d = algorithm.family.means(mixtures[0].components).shape
    plan = make_plan(
        algorithm, target, K, d, temperature=temperature, learning_rate=learning_rate, steps=steps, log_prior=prior,
        num_samples=num_samples, first_step=first_step, tolerance=tolerance, max_evaluations=max_evaluations,
        trace_every=trace_every, replicates=count,
    )  # fmt: skip
    generator = _generator(rng)
    generators = [generator] if replicates is None else generator.spawn(count)
    runs = (_run_jax if driver == "jax" else _run_numpy)(plan, mixtures, generators, callback, progress)
    return runs[0] if replicates is None else Runs(runs)


def _generator(rng: Any) -> np.random.Generator:
    try:
        return np.random.default_rng(rng)
    except (TypeError, ValueError) as error:
        raise type(error)(f"rng is {rng!r}; wanted None, a seed of at least 0 or a numpy.random.Generator.") from error


def _run_numpy(
    plan: Plan,
    mixtures: list[Mixture],
    generators: list[np.random.Generator],
    callback: Callback | None,
    progress: bool,
) -> list[Run]:
    """One run after the other; an interrupted or stopped one is the last."""
    evaluate = _evaluator("objective", plan.objective, plan)
    evaluate_prior = None if plan.log_prior is None else _evaluator("log_prior", plan.log_prior, plan)
    line = _progress_line(plan, plan.steps * len(mixtures), progress)
    runs: list[Run] = []
    try:
        for mixture, generator in zip(mixtures, generators, strict=True):
            runs.append(run_numpy(plan, evaluate, evaluate_prior, mixture, generator, callback, line))
            line.offset += plan.steps
            if runs[-1].status in (Status.INTERRUPTED, Status.STOPPED):
                break
    except KeyboardInterrupt:  # between two runs: what is finished is not lost
        if not runs:
            raise
    return runs


def _progress_line(plan: Plan, steps: int, progress: bool) -> ProgressLine:
    return ProgressLine(plan.algorithm.name, steps, progress and can_show())


def _as_objective(name: str, given: Any, jac: Any, hess: Any, vectorized: bool) -> Objective:
    if isinstance(given, Objective):
        if jac is not None or hess is not None or (vectorized and name == "objective"):
            raise ValueError(f"{name} is an Objective, which has its own jac, hess and vectorized; leave these out.")
        return given
    if not callable(given):
        raise TypeError(f"{name} is {given!r} ({type(given).__name__}); wanted a function or an Objective.")
    return Objective(given, jac, hess, vectorized)


def _starts(
    family: Family, means: Any, covariances: Any, weights: Any, mixture: Mixture | None, count: int
) -> list[Mixture]:
    """One initial mixture per replicate."""
    if mixture is not None:
        if means is not None or covariances is not None or weights is not None:
            raise ValueError("mixture was given together with means, covariances or weights; pass one or the other.")
        instance("mixture", mixture, Mixture, "Pass the mixture of an earlier run: mixture=run.mixture.")
        _check_fits(family, mixture)
        return [mixture] * count
    if means is None:
        raise ValueError("means is missing; wanted initial means (K, d), or mixture=run.mixture of an earlier run.")
    array = real_array("means", means, "an array (K, d): one row per component")
    if array.ndim == 3:
        if len(array) != count:
            raise ValueError(
                f"means has shape {array.shape}, {len(array)} replicates, and replicates is {count}; pass "
                f"replicates={len(array)}, or means (K, d) for all."
            )
        stacks = [as_means(part) for part in array]
    else:
        stacks = [as_means(array)] * count
    log_ratios = _log_ratios(weights, len(stacks[0]))
    return [Mixture(log_ratios, family.start(stack, covariances)) for stack in stacks]


def _check_fits(family: Family, mixture: Mixture) -> None:
    """Refuse a mixture whose components are not of this family and structure."""
    try:
        K, d = family.means(mixture.components).shape
        fits = family.covariances(mixture.components).shape == (K, d, d) and np.shape(mixture.log_ratios) == (K,)
    except (AttributeError, IndexError, TypeError, ValueError):
        fits = False
    if not fits:
        raise ValueError(
            f"mixture has components that do not fit {family!r}; pass the mixture of a run of the same family and "
            "covariance structure, or start from means and covariances."
        )


def _log_ratios(weights: Any, K: int) -> NDArray[np.float64]:
    """v_k = log(pi_k / pi_K)."""
    if weights is None:
        return np.zeros(K)
    array = real_array("weights", weights, f"{K} positive weights that sum to 1")
    if array.shape != (K,):
        raise ValueError(f"weights has shape {array.shape}; wanted ({K},), one per component.")
    if not (array > 0).all() or abs(array.sum() - 1.0) > 1e-8:
        raise ValueError(
            f"weights is {array.tolist()} with sum {array.sum():g}; wanted positive weights that sum to 1."
        )
    return np.log(array) - np.log(array[-1])


def _evaluator(name: str, objective: Objective, plan: Plan) -> Evaluate:
    """Points -> Evaluation in NumPy; JAX functions are compiled, and derive what was not given."""
    needs = plan.algorithm.needs
    if not objective.missing(needs):
        return autodiff.compiled_if_jax(objective, needs)
    problem = autodiff.traceable(objective, plan.d, needs)
    if problem is not None:
        raise ValueError(_missing_derivatives(name, objective, plan.algorithm, needs, problem))
    return autodiff.compiled(objective, needs)


def _missing_derivatives(
    name: str, objective: Objective, algorithm: Algorithm, needs: Needs, problem: Exception
) -> str:
    missing = " and ".join(objective.missing(needs))
    how = f"pass {missing}" if name == "objective" else f"pass log_prior=Objective(fun, {missing}=...)"
    return (
        f"{algorithm.name} needs {missing}, which {name} lacks. Either {how}; or write {name} with jax.numpy, so that "
        f"JAX can derive what is missing (now it says: {_first_line(problem)}); or use an algorithm that needs values "
        "alone, presets.nva_gm(order=0) or presets.fs_nva_gm()."
    )


def _first_line(problem: Exception) -> str:
    lines = str(problem).strip().splitlines()
    return f"{type(problem).__name__}: {lines[0]}" if lines else type(problem).__name__


def _run_jax(
    plan: Plan,
    mixtures: list[Mixture],
    generators: list[np.random.Generator],
    callback: Callback | None,
    progress: bool,
) -> list[Run]:
    """All runs at once, compiled."""
    try:
        from allmodes.nva.engine.jax_driver import JaxProgram
    except ImportError as error:
        raise ImportError('driver="jax" needs JAX: pip install \'allmodes[jax]\', or use driver="numpy".') from error
    for name, objective in (("objective", plan.objective), ("log_prior", plan.log_prior)):
        problem = None if objective is None else autodiff.traceable(objective, plan.d, plan.algorithm.needs)
        if problem is not None:
            raise ValueError(
                f'{name} cannot be traced by JAX, which driver="jax" needs. Write it with jax.numpy, or use '
                f'driver="numpy". JAX says: {_first_line(problem)}'
            ) from problem
    return JaxProgram(plan).run(mixtures, generators, callback, _progress_line(plan, plan.steps, progress))
