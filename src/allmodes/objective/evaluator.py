"""Evaluates the user's function: counts, survives failures, uses workers."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from allmodes.checks import number, whole_number
from allmodes.objective.autodiff import check_symmetric
from allmodes.objective.batch import Batch, Interrupted, Rows, Trouble, evaluate_batch
from allmodes.objective.derivatives import Source
from allmodes.objective.evaluation import VALUE, Evaluation, Needs
from allmodes.objective.parts import Counts
from allmodes.objective.workers import Dispatch, Pace, Parcel, open_engine
from allmodes.storage import stored

_MOST_FAILURES = 20  # records kept: enough to see what goes wrong, bounded however long a search runs
_ON_ERROR = ("raise", "nan")

Floats = NDArray[np.float64]


@stored
class Failure(NamedTuple):
    """A point at which something failed; text says what.

    `kind` is "raised", "not finite" (NaN or infinite), "bad value" (no real number of the right shape), "timed out"
    or "lost" (its worker process ended, again and again).
    """

    point: Floats
    kind: str
    text: str


class Partial(NamedTuple):
    """What was finished of a batch that was interrupted: rows of the points, in order, and their evaluation."""

    rows: Rows
    evaluation: Evaluation


class Evaluator:
    """Calls the user's functions, in the user's coordinates and with the user's sign.

    Args:
        source: what to call.
        workers: 1 for this process, a number of processes, -1 for one per core, anything with a method submit,
            apply_async or map (executors, pools, a Dask client), the module ray, or a function like map. The result
            is the same for all of them.
        on_error: "raise" re-raises an exception, and raises on what is no real number of the right shape; "nan"
            counts both and goes on. Values that are NaN or infinite are counted, and the search goes on, in either.
        timeout: seconds for each point; what takes longer is ended and counted. Not in this process nor in threads.
        retries: how often a point is tried again whose worker process ended; then it is counted as lost.

    Attributes:
        nfail: points at which anything failed.
        failures: the first of them, at most 20.
        partial: what was finished of the last batch, if Ctrl-C or an error ended it; None otherwise.

    >>> from allmodes.objective.bounds import Box
    >>> source = Source.make(lambda x: 1.0 / x[0], box=Box.make([(0, 1)]))
    >>> with Evaluator(source, on_error="nan") as evaluator:
    ...     evaluator.evaluate(np.array([[0.5], [1.0]])).value
    array([2., 1.])
    """

    def __init__(
        self, source: Source, *, workers: Any = 1, on_error: str = "raise", timeout: float | None = None,
        retries: int = 1,
    ) -> None:  # fmt: skip
        if on_error not in _ON_ERROR:
            raise ValueError(f'on_error is {on_error!r}; wanted "raise" or "nan".')
        self.source = source
        self.nfail = 0
        self.failures: list[Failure] = []
        self._counts = Counts()
        self._stop = on_error == "raise"
        self._symmetric = False  # whether a Hessian has been seen to be symmetric
        self.partial: Partial | None = None
        self._timeout = None if timeout is None else number("timeout", timeout, above=0.0)
        self._retries = whole_number("retries", retries, 0)
        self._pace, self._parcel = Pace(), Parcel(source)
        self._engine = open_engine(workers, self._timeout)
        if self._engine is not None and self._engine.kills:
            self._parcel.data  # noqa: B018  (an error here says what cannot be sent to processes)

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
        self.partial = None
        if self._engine is None or not len(points):
            return self._taken(self._here(points, needs), points)
        if self._parcel.contents is not self.source:
            self._parcel = Parcel(self.source)
        dispatch = Dispatch(
            self._engine, self._parcel, points, needs, self._pace, stop=self._stop, timeout=self._timeout,
            retries=self._retries, batched=self.source.batched,
        )  # fmt: skip
        try:
            batch = dispatch.run()
        except BaseException:
            self._part(points, *dispatch.finished)
            raise
        return self._taken(batch, points)

    def _here(self, points: Floats, needs: Needs) -> Batch:
        """The batch, evaluated in this process."""
        try:
            return evaluate_batch(points, self.source, needs, self._stop)
        except Interrupted as error:
            self._part(points, error.rows, error.batch)
            raise

    def _part(self, points: Floats, rows: Rows, batch: Batch) -> None:
        """Count and keep what was finished of a batch."""
        self._count(batch, points[rows])
        self.partial = Partial(rows, batch.evaluation)

    def _taken(self, batch: Batch, points: Floats) -> Evaluation:
        """Count what was called, note what failed, raise what is to be raised."""
        self._count(batch, points)
        for trouble in batch.troubles:
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

    def _count(self, batch: Batch, points: Floats) -> None:
        """Add to the counts and to the record of failures."""
        self._counts = self._counts.plus(batch.counts)
        self.nfail += len(batch.troubles)
        for trouble in batch.troubles[: _MOST_FAILURES - len(self.failures)]:
            self.failures.append(Failure(points[trouble.row].copy(), trouble.kind, trouble.text))

    def close(self) -> None:
        """Give back the worker processes, if this opened any."""
        if self._engine is not None:
            self._engine.close()

    def __enter__(self) -> Evaluator:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()


def _raise(trouble: Trouble) -> None:
    error = trouble.error
    if error is None:
        error = RuntimeError(trouble.text) if trouble.origin is None else trouble.origin.rebuilt()
    error.add_note(f"while evaluating {trouble.where}; on_error='nan' counts such points and goes on")
    raise error
