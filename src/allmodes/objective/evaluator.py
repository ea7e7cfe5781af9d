"""Evaluates the user's function: counts, survives failures, uses workers."""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from allmodes.objective.autodiff import check_symmetric
from allmodes.objective.batch import Batch, Trouble, evaluate_batch
from allmodes.objective.derivatives import Source
from allmodes.objective.evaluation import VALUE, Evaluation, Needs
from allmodes.objective.parts import Counts
from allmodes.objective.workers import map_points, open_pool, split

_MOST_FAILURES = 20  # records kept: enough to see what goes wrong, bounded however long a search runs
_ON_ERROR = ("raise", "nan")

Floats = NDArray[np.float64]


class Failure(NamedTuple):
    """A point at which something failed: kind is "raised", "not finite" or "bad value", text says what."""

    point: Floats
    kind: str
    text: str


class Evaluator:
    """Calls the user's functions, in the user's coordinates and with the user's sign.

    Args:
        source: what to call.
        workers: 1 for this process, a number of processes, -1 for one per core, a function like map, or an object
            with a method map. The result is the same for all of them.
        on_error: "raise" re-raises an exception, and raises on what is no real number of the right shape; "nan"
            counts both and goes on. Values that are NaN or infinite are counted, and the search goes on, in either.

    Attributes:
        nfail: points at which anything failed.
        failures: the first of them, at most 20.

    >>> from allmodes.objective.bounds import Box
    >>> source = Source.make(lambda x: 1.0 / x[0], box=Box.make([(0, 1)]))
    >>> with Evaluator(source, on_error="nan") as evaluator:
    ...     evaluator.evaluate(np.array([[0.5], [1.0]])).value
    array([2., 1.])
    """

    def __init__(self, source: Source, *, workers: Any = 1, on_error: str = "raise") -> None:
        if on_error not in _ON_ERROR:
            raise ValueError(f'on_error is {on_error!r}; wanted "raise" or "nan".')
        self.source = source
        self.nfail = 0
        self.failures: list[Failure] = []
        self._counts = Counts()
        self._stop = on_error == "raise"
        self._symmetric = False  # whether a Hessian has been seen to be symmetric
        self._pool = open_pool(workers, source)

    @property
    def nfev(self) -> int:
        """Points at which the function was called."""
        return self._counts.nfev

    @property
    def njev(self) -> int:
        """Points at which the gradient was called, those for differences of gradients included."""
        return self._counts.njev

    @property
    def nhev(self) -> int:
        """Points at which the Hessian was called."""
        return self._counts.nhev

    def evaluate(self, points: Floats, needs: Needs = VALUE) -> Evaluation:
        """Values and the needed derivatives at points (N, D); NaN where they failed."""
        if not needs <= self.source.offers:
            missing = ", ".join(sorted(needs - self.source.offers))
            raise ValueError(f"{missing} needed, which this objective does not offer; pass jac and hess.")
        if self._pool is None or not len(points):
            return self._taken(evaluate_batch(points, self.source, needs, self._stop), points)
        task = partial(evaluate_batch, source=self.source, needs=needs, stop=self._stop, travels=True)
        chunks = split(self._pool, points, self.source.batched)
        return self._taken(_joined(map_points(self._pool, task, chunks)), points)

    def _taken(self, batch: Batch, points: Floats) -> Evaluation:
        """Count what was called, note what failed, raise what is to be raised."""
        self._counts = self._counts.plus(batch.counts)
        self.nfail += len(batch.troubles)
        for trouble in batch.troubles:
            if len(self.failures) < _MOST_FAILURES:
                self.failures.append(Failure(points[trouble.row].copy(), trouble.kind, trouble.text))
            if self._stop and trouble.where:
                _raise(trouble)
        if batch.saw_jax:
            self.source = self.source.compiled(points.shape[1])
        hessian = batch.evaluation.hessian
        if hessian is not None and not self._symmetric:
            seen = hessian[np.isfinite(hessian).all(axis=(1, 2))]
            check_symmetric(seen)
            self._symmetric = len(seen) > 0
        return batch.evaluation

    def close(self) -> None:
        """Give back the worker processes, if this opened any."""
        if self._pool is not None:
            self._pool.close()

    def __enter__(self) -> Evaluator:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()


def _joined(batches: list[Batch]) -> Batch:
    """The batch of all points, from those of the chunks in order."""
    troubles: list[Trouble] = []
    counts, start = Counts(), 0
    for batch in batches:
        troubles += [trouble._replace(row=trouble.row + start) for trouble in batch.troubles]
        counts = counts.plus(batch.counts)
        start += len(batch.evaluation.value)
    columns = zip(*(batch.evaluation for batch in batches), strict=True)
    evaluation = Evaluation(*(None if column[0] is None else np.concatenate(column) for column in columns))
    return Batch(evaluation, counts, troubles, any(batch.saw_jax for batch in batches))


def _raise(trouble: Trouble) -> None:
    error = trouble.error or RuntimeError(trouble.text)
    error.add_note(f"while evaluating {trouble.where}; on_error='nan' counts such points and goes on")
    raise error
