"""The loop of methods that move every instance by a step of its own, all instances at once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from allmodes.baselines.counted import Counted
from allmodes.baselines.parallel_run import ParallelRun, Path
from allmodes.checks import number, real_array, whole_number
from allmodes.nva.annealing.schedules import as_schedule, tabulate
from allmodes.status import Status

_MOST_KEPT = 1000  # entries of a trace if the call does not say
_ALL = slice(None)  # as an index: quicker than a mask

Floats = NDArray[np.float64]


def as_starts(given: Any) -> Floats:
    """Starts (K, d) or (H, K, d)."""
    starts = real_array("x0", given, "an array (K, d): one start per instance, or (H, K, d) with replicates")
    if starts.ndim not in (2, 3) or not starts.size:
        raise ValueError(f"x0 has shape {starts.shape}; wanted (K, d), or (H, K, d) with replicates.")
    return starts


def as_generator(rng: Any) -> np.random.Generator:
    """A Generator from None, a seed or a Generator."""
    try:
        return np.random.default_rng(rng)
    except (TypeError, ValueError) as error:
        raise type(error)(f"rng is {rng!r}; wanted None, a seed of at least 0 or a numpy.random.Generator.") from error


def kept_every(trace_every: int | None, steps: int) -> int:
    """Every how many steps the trace has an entry."""
    return max(1, -(-steps // _MOST_KEPT)) if trace_every is None else whole_number("trace_every", trace_every, 1)


class Averages:
    """Means of derivatives over num_samples points around each of the points asked for.

    The points are x + smoothing z with z standard normal, drawn for all instances alike, so that one that has ended
    changes nothing for the others. With smoothing 0 they are all x itself: one is enough, unless the derivatives are
    noisy.
    """

    def __init__(self, functions: list[Counted], num_samples: int, smoothing: float, rng: Any) -> None:
        self.functions = functions
        self.num_samples = whole_number("num_samples", num_samples, 1)
        self.smoothing = number("smoothing", smoothing, at_least=0.0)
        self.rng = as_generator(rng)

    def __call__(self, points: Floats, is_active: NDArray[np.bool_] | slice) -> list[Floats]:
        """The means at the active ones of the points (N, d)."""
        active, B = points[is_active], self.num_samples
        if B == 1 and not self.smoothing:
            return [function(active) for function in self.functions]
        around = np.repeat(active[None], B, axis=0)
        if self.smoothing:
            around += self.smoothing * self.rng.standard_normal((B, *points.shape))[:, is_active]
        results = [function(around.reshape(-1, points.shape[1])) for function in self.functions]
        return [result.reshape(B, len(active), *result.shape[1:]).mean(axis=0) for result in results]


def move(
    name: str, starts: Floats, averages: Averages, direction: Callable[..., Floats], fun: Counted, *,
    learning_rate: Any, steps: int, tolerance: float, end_values: bool, trace_every: int | None,
) -> ParallelRun:  # fmt: skip
    """x <- x + rho_t direction(means of derivatives), for every instance until it stops or diverges."""
    steps = whole_number("steps", steps, 0)
    number("tolerance", tolerance, at_least=0.0)
    rates = tabulate("learning_rate", as_schedule("learning_rate", learning_rate), steps).tolist()
    points = starts.reshape(-1, starts.shape[-1]).copy()
    is_active = np.ones(len(points), dtype=np.bool_)
    path = Path(points, kept_every(trace_every, steps))
    nit = 0
    chosen: NDArray[np.bool_] | slice = _ALL
    with np.errstate(over="ignore", invalid="ignore"):  # an instance that diverges overflows; it is reported
        for nit, rate in enumerate(rates, 1):
            change = rate * direction(*averages(points, chosen))
            points[chosen] += change
            if tolerance or not np.isfinite(points.sum()):  # the cheapest test; NaN remain of those that diverged
                _retire(points, change, is_active, tolerance)
                chosen = is_active
            path.see(nit, points)
            if chosen is is_active and not is_active.any():
                break
        path.keep(nit, points)
        values = _values(fun, points, end_values)
    has_diverged = ~np.isfinite(points).all(axis=1)
    status = Status.CONVERGED if nit and not is_active.any() else Status.STEPS_DONE
    counts = {"fun": fun.count} | {function.name: function.count for function in averages.functions}
    return make_run(name, starts, points, values, Status.DIVERGED if has_diverged.any() else status, nit, counts, path)


def _retire(points: Floats, change: Floats, is_active: NDArray[np.bool_], tolerance: float) -> None:
    """Deactivate instances that diverged (their points become NaN) or hardly moved."""
    has_diverged = np.asarray(~np.isfinite(points).all(axis=1))
    points[has_diverged] = np.nan
    change = change[~has_diverged[is_active]]
    is_active &= ~has_diverged
    if tolerance:
        is_active[is_active] = np.linalg.norm(change, axis=1) > tolerance


def _values(fun: Counted, points: Floats, wanted: bool) -> Floats:
    """Values at the points that are finite, NaN at the others."""
    values = np.full(len(points), np.nan)
    is_finite = np.isfinite(points).all(axis=1)
    if wanted and is_finite.any():
        values[is_finite] = fun(points[is_finite])
    return values


def make_run(
    name: str, starts: Floats, points: Floats, values: Floats, status: Status, nit: int, counts: dict[str, int],
    path: Path,
) -> ParallelRun:  # fmt: skip
    """The result, in the shape of the starts."""
    shape = starts.shape
    return ParallelRun(
        name=name,
        points=points.reshape(shape),
        values=values.reshape(shape[:-1]),
        status=status,
        nit=nit,
        nfev=counts.get("fun", 0),
        njev=counts.get("jac", 0),
        nhev=counts.get("hess", 0),
        trace_steps=np.array(path.steps),
        trace=np.array(path.places).reshape(len(path.steps), *shape),
    )
