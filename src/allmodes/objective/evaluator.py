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
from allmodes.objective.parts import ARGUMENTS, VALUE_NAME, Counts, shape_of
from allmodes.objective.workers import Came, Halted, Parcel, Stream, open_engine
from allmodes.storage import stored

_MOST_FAILURES = 20  # records kept: enough to see what goes wrong, bounded however long a search runs
_ON_ERROR = ("raise", "nan")

Floats = NDArray[np.float64]


@stored
class Failure(NamedTuple):
    """A point at which something failed; text says what.

    `kind` is "raised", "not finite" (NaN or infinite), "bad value" (not real numbers of the right shape), "timed out"
    or "lost" (its worker process died on every try).
    """

    point: Floats
    kind: str
    text: str


class Told(NamedTuple):
    """Results for some rows of a batch."""

    number: int
    rows: Rows
    evaluation: Evaluation


class Waiting(NamedTuple):
    """A batch that this process is to evaluate."""

    points: Floats
    needs: Needs
    source: Source
    first: int = 0  # the first row that is not evaluated yet


class Evaluator:
    """Calls the user's functions, in the user's coordinates and with the user's sign.

    Args:
        source: what to call.
        workers: 1 for this process, a number of processes, -1 for one per core, anything with a method submit,
            apply_async or map (executors, pools, a Dask client), the module ray, or a function like map. The result
            is the same for all of them.
        on_error: "raise" re-raises an exception, and raises on anything but real numbers of the right shape; "nan"
            counts both and goes on. Values that are NaN or infinite are counted in either case, and the search goes on.
        timeout: seconds for each point; what takes longer is ended and counted. Not in this process nor in threads.
        retries: how often to retry a point whose worker process ended; then it is counted as lost.

    Attributes:
        nfail: points at which anything failed.
        left: after Ctrl-C or an error, results that had come and that `wait` did not return.
        piece: points that this process evaluates in one go; None for a whole batch.
        compiled_from: number of the first batch for which JAX code is compiled; None while no JAX function was seen.

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
        self._records: list[tuple[int, int, Failure]] = []  # the first by batch and row, in whatever order they come
        self._counts = Counts()
        self._stop = on_error == "raise"
        self._symmetric = False  # whether a Hessian has been seen to be symmetric
        self.left: list[Told] = []
        self.piece: int | None = None
        self.compiled_from: int | None = None
        self._waiting: dict[int, Waiting] = {}
        self._submitted: dict[int, tuple[Floats, int]] = {}  # points of batches in flight, and how many are to come
        self._next = 0  # larger than the number of any batch so far
        self._timeout = None if timeout is None else number("timeout", timeout, above=0.0)
        self._retries = whole_number("retries", retries, 0)
        self._parcel = Parcel(source)
        self._compiled: Source | None = None
        self._coarse: tuple[float, Source] | None = None  # the source for values that are off by such a share
        engine = open_engine(workers, self._timeout)
        self._stream = None
        if engine is not None:
            self._stream = Stream(engine, stop=self._stop, timeout=self._timeout, retries=self._retries)
        if engine is not None and engine.kills:
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
        number = self._next
        self.submit(number, points, needs)
        N, D = points.shape
        arrays = {name: np.full(shape_of(name, (N, D)), np.nan) for name in needs | {VALUE_NAME}}
        came: list[Told] = []
        try:
            while number in self._submitted:
                came += self.wait()
        except BaseException:
            self.left = came + self.left
            raise
        for _, rows, evaluation in came:
            for name, part in zip(ARGUMENTS, evaluation, strict=True):
                if name in arrays:
                    arrays[name][rows] = part
        return Evaluation(*(arrays.get(name) for name in ARGUMENTS))

    def submit(self, number: int, points: Floats, needs: Needs = VALUE, rounding: float = 0.0) -> None:
        """Submit points (N, D) as the batch of that number; `wait` returns their results.

        Differences are made over steps that suit values which are off by `rounding` of themselves.
        """
        if not needs <= self.source.offers:
            missing = ", ".join(sorted(needs - self.source.offers))
            raise ValueError(f"{missing} needed, which this objective does not offer; pass jac and hess.")
        self._next, self.left = max(self._next, number + 1), []
        if not len(points):
            return
        source = self._source_for(number, points.shape[1], rounding)
        self._submitted[number] = (points, len(points))
        if self._stream is None:
            self._waiting[number] = Waiting(points, needs, source)
            return
        if self._parcel.contents is not source:
            self._parcel = Parcel(source)
        self._stream.submit(number, self._parcel, points, needs, source.batched)

    def wait(self) -> list[Told]:
        """Results that have come since this was last called; waits until there are some.

        In this process it is the oldest batch, or a piece of it. An exception that is to be raised is raised once
        everything submitted before it has come; everything else in flight is then given up.
        """
        try:
            came = self._here() if self._stream is None else self._stream.wait()
        except Halted as halted:
            self._give_up()
            trouble = next(trouble for trouble in halted.batch.troubles if trouble.where)
        except BaseException:
            self._give_up()
            raise
        else:
            return self._told(came)
        raise _error(trouble)  # outside the block above: its traceback is the user's alone

    def withdraw(self) -> None:
        """Begin no further point: only what is in flight still comes."""
        self._waiting.clear()
        if self._stream is not None:
            self._stream.withdraw()

    def _here(self) -> list[Came]:
        """The next piece of the oldest batch, evaluated in this process."""
        if not self._waiting:
            return []
        number, (points, needs, source, first) = next(iter(self._waiting.items()))
        last = len(points) if self.piece is None or source.batched else min(first + self.piece, len(points))
        try:
            batch = evaluate_batch(points[first:last], source, needs, self._stop)
        except Interrupted as interrupted:
            self.left = self._told([Came(number, first + interrupted.rows, interrupted.batch)])
            raise
        if self._stop and any(trouble.where for trouble in batch.troubles):
            raise Halted(number, np.arange(first, last), batch)
        if last == len(points):
            del self._waiting[number]
        else:
            self._waiting[number] = Waiting(points, needs, source, last)
        return [Came(number, np.arange(first, last), batch)]

    def _source_for(self, number: int, D: int, rounding: float) -> Source:
        """A batch is compiled as a whole or not at all: compiled code may round differently."""
        if self.compiled_from is None or number < self.compiled_from:
            if not rounding:
                return self.source
            if self._coarse is None or self._coarse[0] != rounding:
                self._coarse = rounding, self.source.coarser(rounding)
            return self._coarse[1]
        if self._compiled is None:
            self._compiled = self.source.compiled(D)
        return self._compiled

    def _give_up(self) -> None:
        if self._stream is not None:
            came, self._stream.left = self._stream.left, []
            self.left += self._told(came)
        self._waiting.clear()
        self._submitted.clear()

    def _told(self, came: list[Came]) -> list[Told]:
        """Count what was called, note what failed."""
        for piece in came:
            points, missing = self._submitted[piece.number]
            self._count(*piece)
            missing -= len(piece.rows)
            if missing:
                self._submitted[piece.number] = (points, missing)
            else:
                del self._submitted[piece.number]
                if piece.batch.saw_jax and self.compiled_from is None:
                    self.compiled_from = self._next
            self._check_symmetry(piece.batch.evaluation.hessian)
        return [Told(piece.number, piece.rows, piece.batch.evaluation) for piece in came]

    def _check_symmetry(self, hessian: Floats | None) -> None:
        """Check the symmetry of the first Hessians."""
        if hessian is not None and not self._symmetric and not self.source.is_system:
            seen = hessian[np.isfinite(hessian).all(axis=(1, 2))]
            check_symmetric(seen)
            self._symmetric = len(seen) > 0

    def _count(self, number: int, rows: Rows, batch: Batch) -> None:
        """Add to the counts and to the record of failures."""
        self._counts = self._counts.plus(batch.counts)
        if not batch.troubles:
            return
        self.nfail += len(batch.troubles)
        points, _ = self._submitted[number]
        for trouble in batch.troubles[:_MOST_FAILURES]:
            row = int(rows[trouble.row])
            self._records.append((number, row, Failure(points[row].copy(), trouble.kind, trouble.text)))
        self._records = sorted(self._records, key=lambda record: record[:2])[:_MOST_FAILURES]

    @property
    def failures(self) -> list[Failure]:
        """The first points at which anything failed, at most 20, in the order in which they were submitted."""
        return [failure for _, _, failure in self._records]

    def close(self) -> None:
        """Give back the worker processes, if this opened any."""
        if self._stream is not None:
            self._stream.engine.close()

    def __enter__(self) -> Evaluator:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()


def _error(trouble: Trouble) -> BaseException:
    """The exception of the user's function, with a note that says where."""
    error = trouble.error
    if error is None:
        error = RuntimeError(trouble.text) if trouble.origin is None else trouble.origin.rebuilt()
    error.add_note(f"while evaluating {trouble.where}; on_error='nan' counts such points and goes on")
    return error
