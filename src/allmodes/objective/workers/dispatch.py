"""One batch of points on its way through an engine: sent in chunks, received by row, whatever happens in between."""

from __future__ import annotations

import contextlib
import queue
import time
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from allmodes.objective.batch import LOST, TIMED_OUT, Batch, Rows, failed, joined
from allmodes.objective.evaluation import Needs
from allmodes.objective.workers.child import late, lost
from allmodes.objective.workers.engine import Engine, explain, is_loss
from allmodes.objective.workers.pace import Pace
from allmodes.objective.workers.parcel import Parcel
from allmodes.objective.workers.task import DONE, INTERRUPTED, MISSING, UNREADABLE, Reply, Task, run

_TICK = 0.2  # seconds between two looks at time limits and at who is still there
_PATIENCE = 30.0  # seconds without an answer and without a worker, then it is an error; clusters replace workers faster
_PATIENCE_AT_FIRST = 600.0  # the same before the first answer of all: clusters take their time to start

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Piece:
    """Rows to be evaluated together, and how often a worker has died with them."""

    rows: Rows
    deaths: int = 0


@dataclass(frozen=True)
class Flight:
    """A piece on its way, and whether a worker was free for it."""

    piece: Piece
    future: Any
    sent: float
    was_free: bool


class Dispatch:
    """Sends a batch, receives it, and sees to what goes wrong.

    Args:
        engine: where to.
        parcel: holds the source.
        points: (N, D).
        needs: derivatives wanted.
        pace: of earlier batches; is kept up.
        stop: whether the first exception ends it.
        timeout: seconds for each point.
        retries: how often a point is tried again whose worker died.
        batched: whether a call takes many points: their chunks then do not depend on measured times, because the last
            bit of a value may depend on the size of its batch.
    """

    def __init__(
        self, engine: Engine, parcel: Parcel, points: Floats, needs: Needs, pace: Pace, *, stop: bool,
        timeout: float | None = None, retries: int = 1, batched: bool = False,
    ) -> None:  # fmt: skip
        self.engine, self.parcel, self.points, self.needs, self.pace = engine, parcel, points, needs, pace
        self.stop, self.timeout, self.retries = stop, timeout, retries
        self._finished: list[tuple[Rows, Batch]] = []
        self._flying: dict[Any, Flight] = {}
        self._events: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._suspects: deque[Piece] = deque()
        self._last_event = time.monotonic()
        self._first_error = len(points)  # the row from which nothing matters any more
        engine.begin()
        self._fresh = 0  # the first row that is in no piece yet
        self._pieces: deque[Piece] = deque()
        if batched and timeout is None:
            self._cut(_even(len(points), engine.size or 1))
        elif pace.knows(needs) or engine.size is None:
            self._plan()

    def run(self) -> Batch:
        """The whole batch. On any exception, Ctrl-C among them, `finished` has what is done and tasks are given up."""
        try:
            while self._is_open():
                self._send()
                self.engine.tend()
                self._receive(self._waiting_time())
                self._watch()
        except BaseException:
            self._receive_what_is_there()
            self.engine.abandon(list(self._flying))
            self.engine.abort()
            raise
        self.engine.abandon(list(self._flying))  # nobody needs them: an exception comes before them
        return joined(self._finished, len(self.points), self.points.shape[1], self.needs)

    @property
    def finished(self) -> tuple[Rows, Batch]:
        """The rows that are done, in order, and their batch."""
        done = [(rows, batch) for rows, batch in self._finished if len(batch.evaluation.value)]
        rows = np.concatenate([rows for rows, _ in done]) if done else np.arange(0)
        order = np.sort(rows)
        places = [(np.searchsorted(order, rows), batch) for rows, batch in done]
        return order, joined(places, len(order), self.points.shape[1], self.needs)

    # ---- what goes out

    def _is_open(self) -> bool:
        if self._first_error == len(self.points):
            return bool(self._flying or self._suspects or self._pieces) or self._fresh < len(self.points)
        pending = [*self._suspects, *self._pieces, *(flight.piece for flight in self._flying.values())]
        return any(piece.rows[0] < self._first_error for piece in pending) or self._fresh < self._first_error

    def _plan(self) -> None:
        """Cut what is left into pieces."""
        self._cut(self.pace.sizes(len(self.points) - self._fresh, self.engine.size, self.needs))

    def _cut(self, sizes: Iterable[int]) -> None:
        for size in sizes:
            if self.timeout is not None and self.engine.kills:  # a process is ended for one point alone
                self._pieces.extend(Piece(np.arange(row, row + 1)) for row in range(self._fresh, self._fresh + size))
            else:
                self._pieces.append(Piece(np.arange(self._fresh, self._fresh + size)))
            self._fresh += size

    def _send(self) -> None:
        while self.engine.room() > 0 and (piece := self._next()) is not None:
            if piece.rows[0] < self._first_error:
                self._submit(piece)

    def _next(self) -> Piece | None:
        """Suspects go alone: at once if a loss is certain to be their own, otherwise last and one by one."""
        if self._suspects and self.engine.isolates:
            return self._suspects.popleft()
        if self._pieces:
            return self._pieces.popleft()
        if self._fresh < len(self.points):
            if self.pace.knows(self.needs):
                self._plan()
                return self._pieces.popleft()
            if len(self._flying) < (self.engine.size or 1):  # single points tell how long one takes
                self._cut([1])
                return self._pieces.popleft()
            return None
        return self._suspects.popleft() if self._suspects and not self._flying else None

    def _submit(self, piece: Piece, carry: bool = False) -> None:
        limit = None if self.engine.kills else self.timeout
        task = Task(None, self.points[piece.rows], self.needs, self.stop, limit, self.retries)
        try:
            future = self.engine.submit(run, self.parcel, task, carry)
        except Exception as error:
            if is_loss(error):
                explain(error)
            raise
        was_free = self.engine.size is not None and len(self._flying) < self.engine.size
        self._flying[future] = Flight(piece, future, time.monotonic(), was_free)
        future.add_done_callback(self._events.put)

    # ---- what comes back

    def _waiting_time(self) -> float:
        if self.timeout is None or not self.engine.kills:
            return _TICK
        now = time.monotonic()
        began = [self.engine.began(future) for future in self._flying]
        return max(0.0, min([_TICK, *(since + self.timeout - now for since in began if since is not None)]))

    def _receive(self, seconds: float) -> None:
        """Take what has come, waiting for it at most so long."""
        try:
            future = self._events.get(timeout=seconds) if seconds > 0.0 else self._events.get_nowait()
            while True:
                self._take(future)
                future = self._events.get_nowait()
        except queue.Empty:
            return

    def _receive_what_is_there(self) -> None:
        """Before giving up: replies that have already come."""
        while not self._events.empty():
            flight = self._flying.pop(self._events.get(), None)
            if flight is None:
                continue
            self.engine.done(flight.future, None)
            with contextlib.suppress(Exception):  # one that was lost
                reply = flight.future.result()
                if reply.status == DONE:
                    self._finished.append((flight.piece.rows, reply.batch))

    def _take(self, future: Any) -> None:
        flight = self._flying.pop(future, None)
        if flight is None:  # given up before
            return
        self._last_event = time.monotonic()
        try:
            reply: Reply = future.result()
        except BaseException as error:
            is_to_blame = self.engine.done(future, error)
            if not is_loss(error):
                explain(error)
                raise
            self._lose(flight.piece, is_to_blame)
            return
        began = self.engine.began(future) or flight.sent
        self.engine.done(future, None)
        if reply.status == DONE and reply.batch is not None:
            turnaround = self._last_event - began if flight.was_free else None
            self.pace.note(self.needs, len(flight.piece.rows), reply.seconds, turnaround)
            self._keep(flight.piece.rows, reply.batch)
        elif reply.status == MISSING:
            self._submit(flight.piece, carry=True)
        elif reply.status == UNREADABLE:
            raise RuntimeError(
                f"a worker cannot load fun, jac, hess or args: {reply.text}. Is all of it installed there?"
            )
        elif reply.status == INTERRUPTED:
            raise KeyboardInterrupt
        else:
            raise RuntimeError(reply.text) if reply.origin is None else reply.origin.rebuilt()

    def _keep(self, rows: Rows, batch: Batch) -> None:
        self._finished.append((rows, batch))
        for trouble in batch.troubles:
            if self.stop and trouble.where:
                self._first_error = min(self._first_error, int(rows[trouble.row]))

    # ---- what goes wrong

    def _lose(self, piece: Piece, is_to_blame: bool) -> None:
        """The worker of a piece is gone: its points are tried again one by one, and given up when that is enough."""
        deaths = piece.deaths + is_to_blame
        if len(piece.rows) == 1 and deaths > self.retries:
            self._fail(piece.rows, LOST, lost(deaths))
        else:
            self._suspects.extend(Piece(piece.rows[n : n + 1], deaths) for n in range(len(piece.rows)))

    def _fail(self, rows: Rows, kind: str, text: str) -> None:
        self._keep(rows, failed(kind, text, self.points.shape[1], self.needs))

    def _watch(self) -> None:
        """End what takes too long; do not wait for nobody."""
        now = time.monotonic()
        if self.timeout is not None and self.engine.kills:
            for future, flight in list(self._flying.items()):
                began = self.engine.began(future)
                if began is not None and now - began >= self.timeout and not future.done():
                    del self._flying[future]
                    self.engine.kill(future)
                    self._fail(flight.piece.rows, TIMED_OUT, late(self.timeout))
        patience = _PATIENCE if self.pace.knows(self.needs) else _PATIENCE_AT_FIRST
        if now - self._last_event > patience and self.engine.alive() == 0:
            raise RuntimeError(f"no worker is there, and none has come for {patience:g} s; start workers and try again")


def _even(N: int, parts: int) -> list[int]:
    parts = max(1, min(N, parts))
    return [N // parts + (i < N % parts) for i in range(parts)]
