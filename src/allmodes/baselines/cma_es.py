"""Parallel CMA-ES: the package `cma` does the work."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from allmodes.baselines.counted import Counted, as_objective
from allmodes.baselines.parallel_run import ParallelRun, Path
from allmodes.baselines.steps import as_generator, as_starts, kept_every, make_run
from allmodes.checks import number, whole_number
from allmodes.objective import Objective
from allmodes.status import Status

_NAME = "pCMA-ES"
_QUIET = -9  # the verbosity at which cma neither prints nor writes files
_OURS = ("CMA_mu", "maxiter", "popsize", "randn", "seed")  # options that arguments stand for

Floats = NDArray[np.float64]


def parallel_cma_es(
    objective: Callable[..., Any] | Objective,
    x0: Any,
    *,
    sigma0: float,
    steps: int = 1000,
    num_samples: int | None = None,
    num_selected: int | None = None,
    rng: Any = None,
    vectorized: bool = False,
    options: Mapping[str, Any] | None = None,
    end_values: bool = True,
    trace_every: int | None = None,
) -> ParallelRun:
    """K independent instances of CMA-ES, by the package cma (extra [reproduce]); maximises.

    In every step the objective is called once, with the populations of all instances that have not stopped. Random
    numbers come from `rng` alone, a stream for every instance; NumPy's global state is left as it is.

    Args:
        objective: of one point (d,) -> number, or with `vectorized` of a batch (N, d) -> (N,), or an Objective. A value
            that is not finite ranks last.
        x0: starts (K, d), or (H, K, d) for H replicates.
        sigma0: initial standard deviation. Hansen's advice is 0.3 times the width of the box of starts.
        steps: how many steps to do at most; an instance may stop earlier by the criteria of cma.
        num_samples: population size B; cma's own choice if left out.
        num_selected: B_0, how many of them are recombined; cma's own choice if left out.
        rng: seed or numpy.random.Generator.
        vectorized: whether the objective takes a batch of points.
        options: further options of cma by their names there, for instance {"tolfun": 1e-8}.
        end_values: whether to evaluate the objective at the final means.
        trace_every: keep every so many steps in the trace; by default at most 1000 are kept.

    Returns:
        points are the means of the final distributions.

    Paper: sec:computational_cost
    """
    starts, steps = as_starts(x0), whole_number("steps", steps, 0)
    rows = starts.reshape(-1, starts.shape[-1])
    fun = Counted("fun", as_objective(objective, None, None, vectorized), starts.shape[-1], _NAME)
    chosen = _options(options, num_samples, num_selected)
    step_size = number("sigma0", sigma0, above=0.0)
    generators = as_generator(rng).spawn(len(rows))
    searches = [_start(row, step_size, chosen, generator) for row, generator in zip(rows, generators, strict=True)]
    path = Path(rows, kept_every(trace_every, steps))
    active, nit = searches, 0
    while active and nit < steps:
        _step(active, fun)
        nit += 1
        if nit % path.every == 0:
            path.see(nit, _means(searches))
        active = [search for search in active if not search.stop()]
    means = _means(searches) if nit else rows
    path.keep(nit, means)
    values = fun(means) if end_values else np.full(len(means), np.nan)
    status = Status.STEPS_DONE if active else Status.CONVERGED
    return make_run(_NAME, starts, means, values, status, nit, {"fun": fun.count}, path)


def _options(given: Mapping[str, Any] | None, num_samples: Any, num_selected: Any) -> dict[str, Any]:
    """Options of cma."""
    options = {"verbose": _QUIET, **(given or {})}
    taken = sorted(set(options) & set(_OURS))
    if taken:
        raise ValueError(
            f"options has {', '.join(taken)}; wanted the arguments of this function in their place: steps, "
            "num_samples, num_selected, rng."
        )
    if num_samples is not None:
        options["popsize"] = whole_number("num_samples", num_samples, 2)
    if num_selected is not None:
        options["CMA_mu"] = whole_number("num_selected", num_selected, 1)
        if num_samples is not None and num_selected > num_samples:
            raise ValueError(f"num_selected is {num_selected} of num_samples {num_samples}; it must not be larger.")
    return options


def _start(start: Floats, sigma0: float, options: dict[str, Any], rng: np.random.Generator) -> Any:
    """One instance of cma, with random numbers of its own."""
    try:
        import cma
    except ImportError as error:
        raise ImportError("parallel_cma_es needs the package cma: pip install 'allmodes[reproduce]'.") from error
    # With seed=nan, and normal numbers from elsewhere, cma leaves NumPy's global random state alone.
    ours = {"seed": np.nan, "randn": lambda *shape: rng.standard_normal(shape), "maxiter": np.inf}
    return cma.CMAEvolutionStrategy(start, sigma0, options | ours)


def _step(searches: list[Any], fun: Counted) -> None:
    """One generation of every instance, evaluated together; cma minimises."""
    populations = [search.ask() for search in searches]
    losses = -fun(np.concatenate([np.asarray(population) for population in populations]))
    first = 0
    for search, population in zip(searches, populations, strict=True):
        search.tell(population, _ranked(losses[first : first + len(population)]))
        first += len(population)


def _ranked(losses: Floats) -> Floats:
    """The losses of one generation; what is not finite ranks behind the worst that is.

    The gap is wide: cma would take values that are nearly equal for convergence.
    """
    is_finite = np.isfinite(losses)
    if is_finite.all():
        return losses
    if not is_finite.any():
        return np.zeros_like(losses)
    best, worst = losses[is_finite].min(), losses[is_finite].max()
    return np.where(is_finite, losses, worst + max(1.0, worst - best, abs(worst)))


def _means(searches: list[Any]) -> Floats:
    return np.array([search.result.xfavorite for search in searches])
