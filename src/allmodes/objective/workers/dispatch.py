"""One batch of points on its way through an engine: sent in chunks, received by row, whatever happens in between."""

from __future__ import annotations

import contextlib
import math
import queue
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from allmodes.objective.batch import LOST, RAISED, TIMED_OUT, Batch, Rows, failed
from allmodes.objective.evaluation import Needs
from allmodes.objective.workers.child import late, lost
from allmodes.objective.workers.engine import Engine, explain, is_loss
from allmodes.objective.workers.pace import Pace
from allmodes.objective.workers.parcel import Parcel
from allmodes.objective.workers.task import DONE, INTERRUPTED, MISSING, UNREADABLE, Reply, Task, run

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


class Traffic:
    """What the batches in flight have in common.

    Attributes:
        events: (dispatch, future) of every task that has ended.
        flying: tasks that were sent and have not come back.
        clock: the engine's.
        last_event: when something last came back.
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        self.clock = clock
        self.events: queue.SimpleQueue[tuple[Dispatch, Any]] = queue.SimpleQueue()
        self.flying = 0
        self.last_event = clock()


class Dispatch:
    """Sends a batch, receives it, and handles what goes wrong.

    Args:
        engine: where to.
        traffic: shared with the other batches in flight.
        parcel: holds the source.
        points: (N, D).
        needs: derivatives wanted.
        pace: of earlier batches; is updated.
        stop: whether the first exception ends it.
        timeout: seconds for each point.
        retries: how often to retry a point whose worker died.
        batched: whether a call takes many points: their chunks then do not depend on measured times, because the last
            bit of a value may depend on the size of its batch.
    """

    def __init__(
        self, engine: Engine, traffic: Traffic, parcel: Parcel, points: Floats, needs: Needs, pace: Pace, *,
        stop: bool, timeout: float | None = None, retries: int = 1, batched: bool = False,
    ) -> None:  # fmt: skip
        self.engine, self.traffic, self.parcel, self.pace = engine, traffic, parcel, pace
        self.points, self.needs = points, needs
        self.stop, self.timeout, self.retries = stop, timeout, retries
        self.halt: tuple[Rows, Batch] | None = (
            None  # the piece with the first exception, by row, if that ends the batch
        )
        self._came: list[tuple[Rows, Batch]] = []
        self._flying: dict[Any, Flight] = {}
        self._suspects: deque[Piece] = deque()
        self._first_error = len(points)  # the row from which nothing matters any more
        self._fresh = 0  # the first row that is in no piece yet
        self._pieces: deque[Piece] = deque()
        if batched and timeout is None:
            self._cut(_even(len(points), engine.size or 1))
        elif pace.knows(needs) or engine.size is None:
            self._plan()

    @property
    def is_open(self) -> bool:
        """Whether anything that matters is still to come."""
        if self._first_error == len(self.points):
            return bool(self._flying or self._suspects or self._pieces) or self._fresh < len(self.points)
        pending = [*self._suspects, *self._pieces, *(flight.piece for flight in self._flying.values())]
        return any(piece.rows[0] < self._first_error for piece in pending) or self._fresh < self._first_error

    @property
    def has_only_suspects(self) -> bool:
        """Whether nothing is left to be sent but points whose worker has died."""
        return bool(self._suspects) and not self._pieces and self._fresh == len(self.points)

    def drain(self) -> list[tuple[Rows, Batch]]:
        """What has come since this was last called: rows, and their batch."""
        came, self._came = self._came, []
        return came

    def withdraw(self) -> None:
        """Send nothing more."""
        self._pieces.clear()
        self._suspects.clear()
        self._fresh = len(self.points)

    def give_up(self) -> None:
        """Let go of what is in flight: nobody needs it."""
        self.engine.abandon(list(self._flying))
        self.traffic.flying -= len(self._flying)
        self._flying.clear()

    # ---- what goes out

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

    def send(self) -> None:
        """As much as the engine takes."""
        while self.engine.room() > 0 and (piece := self._next()) is not None:
            if piece.rows[0] < self._first_error:
                self._submit(piece)

    def _next(self) -> Piece | None:
        """Suspects go alone: at once if a lost worker is certainly their doing, otherwise last and one by one."""
        if self._suspects and self.engine.isolates:
            return self._suspects.popleft()
        if self._pieces:
            return self._pieces.popleft()
        if self._fresh < len(self.points):
            if self.pace.knows(self.needs):
                self._plan()
                return self._pieces.popleft()
            if self.traffic.flying < (self.engine.size or 1):  # single points tell how long one takes
                self._cut([1])
                return self._pieces.popleft()
            return None
        return self._suspects.popleft() if self._suspects and not self.traffic.flying else None

    def _submit(self, piece: Piece, carry: bool = False) -> None:
        limit = None if self.engine.kills else self.timeout
        task = Task(None, self.points[piece.rows], self.needs, self.stop, limit, self.retries)
        try:
            future = self.engine.submit(run, self.parcel, task, carry)
        except Exception as error:
            if is_loss(error):
                explain(error)
            raise
        was_free = self.engine.size is not None and self.traffic.flying < self.engine.size
        self._flying[future] = Flight(piece, future, self.traffic.clock(), was_free)
        self.traffic.flying += 1
        future.add_done_callback(self._announce)

    def _announce(self, future: Any) -> None:
        self.traffic.events.put((self, future))

    # ---- what comes back

    def time_left(self) -> float:
        """Seconds until a task in flight has taken too long."""
        if self.timeout is None or not self.engine.kills:
            return math.inf
        now = self.traffic.clock()
        began = [self.engine.began(future) for future in self._flying]
        return min((since + self.timeout - now for since in began if since is not None), default=math.inf)

    def salvage(self, future: Any) -> None:
        """Before giving up: a reply that has already come, if it is good.

        What was raised now may come from the interruption, and rows after an exception that halts were not evaluated.
        """
        flight = self._flying.pop(future, None)
        if flight is None:
            return
        self.traffic.flying -= 1
        self.engine.done(flight.future, None)
        with contextlib.suppress(Exception):  # one that was lost
            reply = flight.future.result()
            if reply.status == DONE and not any(t.where or t.kind == RAISED for t in reply.batch.troubles):
                self._came.append((flight.piece.rows, reply.batch))

    def take(self, future: Any) -> None:
        """A task has ended."""
        flight = self._flying.pop(future, None)
        if flight is None:  # given up before
            return
        self.traffic.flying -= 1
        self.traffic.last_event = now = self.traffic.clock()
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
            turnaround = now - began if flight.was_free else None
            self.pace.note(self.needs, len(flight.piece.rows), reply.seconds, turnaround)
            self._keep(flight.piece.rows, reply.batch)
        elif reply.status == MISSING:
            self._submit(flight.piece, carry=True)
        elif reply.status == UNREADABLE:
            raise RuntimeError(
                f"a worker cannot load fun, jac, hess or args: {reply.text}. Is everything installed there?"
            )
        elif reply.status == INTERRUPTED:
            raise KeyboardInterrupt
        else:
            raise RuntimeError(reply.text) if reply.origin is None else reply.origin.rebuilt()

    def _keep(self, rows: Rows, batch: Batch) -> None:
        halting = [int(rows[trouble.row]) for trouble in batch.troubles if self.stop and trouble.where]
        if not halting:
            self._came.append((rows, batch))
        elif min(halting) < self._first_error:
            self._first_error, self.halt = min(halting), (rows, batch)

    # ---- what goes wrong

    def _lose(self, piece: Piece, is_to_blame: bool) -> None:
        """The worker of a piece is gone: its points are retried one by one, and given up after enough retries."""
        deaths = piece.deaths + is_to_blame
        if len(piece.rows) == 1 and deaths > self.retries:
            self._fail(piece.rows, LOST, lost(deaths))
        else:
            self._suspects.extend(Piece(piece.rows[n : n + 1], deaths) for n in range(len(piece.rows)))

    def _fail(self, rows: Rows, kind: str, text: str) -> None:
        self._keep(rows, failed(kind, text, self.points.shape[1], self.needs))

    def watch(self) -> None:
        """End what takes too long."""
        if self.timeout is None or not self.engine.kills:
            return
        now = self.traffic.clock()
        for future, flight in list(self._flying.items()):
            began = self.engine.began(future)
            if began is not None and now - began >= self.timeout and not future.done():
                del self._flying[future]
                self.traffic.flying -= 1
                self.engine.kill(future)
                self._fail(flight.piece.rows, TIMED_OUT, late(self.timeout))


def _even(N: int, parts: int) -> list[int]:
    parts = max(1, min(N, parts))
    return [N // parts + (i < N % parts) for i in range(parts)]
