"""One batch of points through the parts of a source; what goes wrong comes back as data."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from allmodes.objective.autodiff import in_float64, is_jax
from allmodes.objective.derivatives import Source
from allmodes.objective.errors import Origin, text_of
from allmodes.objective.evaluation import Evaluation, Needs
from allmodes.objective.objective import BadReturnError, checked
from allmodes.objective.parts import ARGUMENTS, VALUE_NAME, Counts, Given, Part, shape_of

RAISED = "raised"
NOT_FINITE = "not finite"
BAD_VALUE = "bad value"
TIMED_OUT = "timed out"
LOST = "lost"

_ONLY_VALUE: Needs = frozenset({VALUE_NAME})

# sys.exit in a user's function is a failure of that function; Ctrl-C is the user's and passes through.
_CAUGHT = (Exception, SystemExit)

Floats = NDArray[np.float64]
Rows = NDArray[np.intp]


class Trouble(NamedTuple):
    """What went wrong at one point of a batch.

    `where` is set if it is to be raised: `error` in this process, `origin` if it happened in a worker.
    """

    row: int
    kind: str
    text: str
    where: str = ""
    error: BaseException | None = None
    origin: Origin | None = None


class Batch(NamedTuple):
    """An evaluation, NaN where it failed; what was called; the points in trouble; whether JAX arrays were seen."""

    evaluation: Evaluation
    counts: Counts
    troubles: list[Trouble]
    saw_jax: bool


class Interrupted(KeyboardInterrupt):
    """Ctrl-C in the middle of a batch, with the rows that were finished and their batch."""

    def __init__(self, rows: Rows, batch: Batch) -> None:
        super().__init__(f"interrupted after {len(rows)} points of a batch")
        self.rows, self.batch = rows, batch


def evaluate_batch(points: Floats, source: Source, needs: Needs, stop: bool, travels: bool = False) -> Batch:
    """Values and the needed derivatives at points (N, D).

    Args:
        points: where; nothing is written into it.
        source: what to call.
        needs: which derivatives besides the value.
        stop: whether to stop at the first exception or bad value and bring it back in `troubles`.
        travels: whether the result goes to another process: exceptions are replaced by what can be said of them.
    """
    work = _Work(points, stop)
    wanted = needs | _ONLY_VALUE
    parts = [(part, part.provides & wanted) for part in source.parts if part.provides & wanted]
    with in_float64():
        for i, (part, names) in enumerate(parts):
            if not work.stopped:
                work.run(part, names, i + 1 == len(parts))
    troubles = [work.troubles[row] for row in sorted(work.troubles)]
    if travels:
        troubles = [_packed(trouble) for trouble in troubles]
    batch = Batch(work.evaluation(needs), work.counts, troubles, work.saw_jax and source.plain is not None)
    if work.interruption is not None:
        raise Interrupted(work.finished, rows_of(batch, work.finished)) from work.interruption
    return batch


class _Work:
    """A batch being evaluated."""

    def __init__(self, points: Floats, stop: bool) -> None:
        self.points = points
        self.stop = stop
        self.stopped = False
        self.counts = Counts()
        self.troubles: dict[int, Trouble] = {}
        self.saw_jax = False
        self.results: dict[str, Floats] = {}
        self.rows: Rows | None = None  # those with a value; None while all have one
        self.interruption: KeyboardInterrupt | None = None
        self.finished: Rows = np.arange(0)  # after an interruption, the rows that are complete

    def run(self, part: Part, names: Needs, is_last: bool) -> None:
        """Call a part at every point that has not failed."""
        rows = self.rows
        points = (self.points if rows is None else self.points[rows]).copy()  # the user may write into it
        if not len(points):
            return
        if part.batched:
            found, called = self._together(part, names, points)
        elif isinstance(part, Given):
            found, called = self._given(part, points)
        else:
            found, called = self._one_by_one(part, names, points)
        self.counts = self.counts.plus(part.cost(names), called)
        if self.interruption is not None and is_last:
            self.finished = np.arange(called) if rows is None else rows[:called]
        for name in ARGUMENTS:
            if name in found:
                self._keep(name, found[name], rows)

    def _together(self, part: Part, names: Needs, points: Floats) -> tuple[dict[str, Floats], int]:
        """One call for all points; if it fails, one for each, so that only the failing points are lost."""
        N = len(points)
        given = points.copy() if not self.stop and N > 1 else points
        try:
            return self._checked(part(given, names), names, points.shape, f"a batch of {N} points"), N
        except _CAUGHT as error:
            if self.stop or N == 1:
                self._fail(0, error, N)
                return self._nothing(names, points.shape), N
        found = self._nothing(names, points.shape)
        for n in range(N):
            try:
                row = part(points[n : n + 1], names)
                for name, result in self._checked(row, names, (1, points.shape[1]), "a batch of 1 points").items():
                    found[name][n] = result[0]
            except _CAUGHT as error:
                self._fail(n, error, 1)
        return found, N

    def _given(self, part: Given, points: Floats) -> tuple[dict[str, Floats], int]:
        """The most frequent case, with as little overhead as possible."""
        name, function = part.name, part.function
        found = np.full(shape_of(name, points.shape), np.nan)
        shape, raw = found.shape[1:], None
        for n, point in enumerate(points):
            try:
                raw = function(point)
                is_value = isinstance(raw, float) and not shape
                is_right = is_value or (type(raw) is np.ndarray and raw.shape == shape and raw.dtype == np.float64)
                found[n] = raw if is_right else checked(ARGUMENTS[name], raw, shape, "one point")
            except _CAUGHT as error:
                self._fail(n, error, 1)
                if self.stopped:
                    return {name: found}, n + 1
            except KeyboardInterrupt as error:
                self._interrupt(error)
                return {name: found}, n
        self.saw_jax |= is_jax(raw)
        return {name: found}, len(points)

    def _one_by_one(self, part: Part, names: Needs, points: Floats) -> tuple[dict[str, Floats], int]:
        found = self._nothing(names, points.shape)
        for n, point in enumerate(points):
            try:
                for name, result in self._checked(part(point, names), names, point.shape, "one point").items():
                    found[name][n] = result
            except _CAUGHT as error:
                self._fail(n, error, 1)
                if self.stopped:
                    return found, n + 1
            except KeyboardInterrupt as error:
                self._interrupt(error)
                return found, n
        return found, len(points)

    def _checked(self, found: dict[str, Any], names: Needs, shape: tuple[int, ...], what: str) -> dict[str, Floats]:
        """Copies of what was returned, as float64 of the right shapes."""
        arrays = {}
        for name in names:
            self.saw_jax |= is_jax(found[name])
            arrays[name] = checked(ARGUMENTS[name], found[name], shape_of(name, shape), what).copy()
        return arrays

    def _nothing(self, names: Needs, shape: tuple[int, ...]) -> dict[str, Floats]:
        return {name: np.full(shape_of(name, shape), np.nan) for name in names}

    def _fail(self, n: int, error: BaseException, N: int) -> None:
        """Note the exception at the nth point asked for, or at a batch of N that starts with it."""
        row = n if self.rows is None else int(self.rows[n])
        kind = BAD_VALUE if isinstance(error, BadReturnError) else RAISED
        text = str(error) if kind == BAD_VALUE else text_of(error)
        where = (
            f"x = {self.points[row]!r}" if N == 1 else f"a batch of {N} points that starts with {self.points[row]!r}"
        )
        self.troubles.setdefault(row, Trouble(row, kind, text, where, error if self.stop else None))
        self.stopped = self.stop

    def _interrupt(self, error: KeyboardInterrupt) -> None:
        self.interruption, self.stopped = error, True

    def _keep(self, name: str, result: Floats, rows: Rows | None) -> None:
        """Store a result; what is not finite becomes NaN and is noted."""
        finite = np.isfinite(result)
        if not finite.all():
            good = finite.reshape(len(result), -1).all(axis=1)
            for n in () if self.stopped else np.flatnonzero(~good):  # after a stop the rest was not called
                row = int(n if rows is None else rows[n])
                first = result[n][~finite[n]].flat[0]
                text = f"{ARGUMENTS[name]} returned {first}"
                self.troubles.setdefault(row, Trouble(row, NOT_FINITE, text))
            result[~good] = np.nan
            if name == VALUE_NAME:
                self.rows = np.flatnonzero(good)
        if rows is not None:
            whole = np.full((len(self.points), *result.shape[1:]), np.nan)
            whole[rows] = result
            result = whole
        self.results[name] = result

    def evaluation(self, needs: Needs) -> Evaluation:
        """All results; derivatives are NaN where the value is."""
        shape = self.points.shape
        missing = [name for name in needs | _ONLY_VALUE if name not in self.results]
        if missing:  # stopped before, or no point had a value
            self.results |= self._nothing(frozenset(missing), shape)
        if self.rows is not None:
            for name, result in self.results.items():
                if name != VALUE_NAME:
                    result[np.isnan(self.results[VALUE_NAME])] = np.nan
        return Evaluation(*(self.results.get(name) for name in ARGUMENTS))


def _packed(trouble: Trouble) -> Trouble:
    """The same without the exception: some cannot travel to another process."""
    if trouble.error is None:
        return trouble
    return trouble._replace(error=None, origin=Origin.of(trouble.error))


def rows_of(batch: Batch, rows: Rows) -> Batch:
    """The batch of some of its rows, in their order; its counts stay those of the whole."""
    places = {int(row): n for n, row in enumerate(rows)}
    troubles = [t._replace(row=places[t.row]) for t in batch.troubles if t.row in places]
    evaluation = Evaluation(*(None if part is None else part[rows] for part in batch.evaluation))
    return Batch(evaluation, batch.counts, troubles, batch.saw_jax)


def failed(kind: str, text: str, D: int, needs: Needs) -> Batch:
    """The batch of one point that did not come back."""
    parts = {name: np.full(shape_of(name, (1, D)), np.nan) for name in needs | _ONLY_VALUE}
    evaluation = Evaluation(*(parts.get(name) for name in ARGUMENTS))
    return Batch(evaluation, Counts.of(_ONLY_VALUE), [Trouble(0, kind, text)], False)


def joined(pieces: Sequence[tuple[Rows, Batch]], N: int, D: int, needs: Needs) -> Batch:
    """The batch of N points (N, D), put together from batches of some rows; NaN where none has come."""
    arrays = {name: np.full(shape_of(name, (N, D)), np.nan) for name in needs | _ONLY_VALUE}
    counts, troubles, saw_jax = Counts(), [], False
    for rows, batch in pieces:
        for name, part in zip(ARGUMENTS, batch.evaluation, strict=True):
            if name in arrays:
                arrays[name][rows] = part
        counts = counts.plus(batch.counts)
        troubles += [trouble._replace(row=int(rows[trouble.row])) for trouble in batch.troubles]
        saw_jax |= batch.saw_jax
    troubles.sort(key=lambda trouble: trouble.row)
    return Batch(Evaluation(*(arrays.get(name) for name in ARGUMENTS)), counts, troubles, saw_jax)
