"""Batches of points on their way through one engine: several at once, the oldest served first."""

from __future__ import annotations

import queue
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from allmodes.objective.batch import Batch, Rows
from allmodes.objective.evaluation import Needs
from allmodes.objective.workers.dispatch import Dispatch, Traffic
from allmodes.objective.workers.engine import Engine
from allmodes.objective.workers.pace import Pace
from allmodes.objective.workers.parcel import Parcel

_TICK = 0.2  # seconds between two checks of time limits and of which workers remain
_PATIENCE = 30.0  # seconds without an answer and without a worker, then it is an error; clusters replace workers faster
_PATIENCE_AT_FIRST = 600.0  # the same before the first answer of all: clusters take their time to start


class Came(NamedTuple):
    """Some rows of a batch and what came of them."""

    number: int
    rows: Rows
    batch: Batch


class Halted(Exception):  # noqa: N818 (it is no error of this program)
    """An exception of the user's function is to be raised: it is in `batch`, the evaluation of some rows."""

    def __init__(self, number: int, rows: Rows, batch: Batch) -> None:
        super().__init__(f"batch {number} is halted by an exception")
        self.number, self.rows, self.batch = number, rows, batch


class Stream:
    """All batches in flight through an engine.

    Args:
        engine: where to.
        stop, timeout, retries: as for `Dispatch`.

    Attributes:
        left: after an exception, results that had come and were not yet returned.
    """

    def __init__(self, engine: Engine, *, stop: bool, timeout: float | None, retries: int) -> None:
        self.engine = engine
        self.stop, self.timeout, self.retries = stop, timeout, retries
        self.left: list[Came] = []
        self._pace, self._traffic = Pace(), Traffic(engine.clock)
        self._open: dict[int, Dispatch] = {}

    def submit(self, number: int, parcel: Parcel, points: NDArray[np.float64], needs: Needs, batched: bool) -> None:
        """Send a batch of points (N, D), which is known by its number."""
        if not self._open:
            self.engine.begin()
            self._traffic = Traffic(self.engine.clock)
        self._open[number] = Dispatch(
            self.engine, self._traffic, parcel, points, needs, self._pace, stop=self.stop, timeout=self.timeout,
            retries=self.retries, batched=batched,
        )  # fmt: skip

    def wait(self) -> list[Came]:
        """Results that have come since the last call; waits until there are some.

        On an exception tasks are given up and `left` is kept. `Halted` is raised once everything before it has come.
        """
        try:
            while self._open and not self.left:
                self._halt()
                self._send()
                self.engine.tend()
                self._receive()
                for dispatch in self._open.values():
                    dispatch.watch()
                self._look_for_workers()
                self._sort()
        except BaseException:
            self.give_up()
            raise
        came, self.left = self.left, []
        return came

    def _halt(self) -> None:
        number, oldest = next(iter(self._open.items()))
        if oldest.halt is not None and not oldest.is_open:
            raise Halted(number, *oldest.halt)

    def withdraw(self) -> None:
        """Send nothing more; what is in flight may still come."""
        for dispatch in self._open.values():
            dispatch.withdraw()
        self._sort()

    def give_up(self) -> None:
        """Take what is there, and let the rest go, the engine's processes as well."""
        while not self._traffic.events.empty():
            dispatch, future = self._traffic.events.get()
            dispatch.salvage(future)
        self._sort()
        for dispatch in self._open.values():
            dispatch.give_up()
        self._open.clear()
        self.engine.abort()

    def _send(self) -> None:
        """The oldest first; where a lost worker takes other tasks with it, suspects are sent alone."""
        suspected = (d for d in self._open.values() if d.has_only_suspects and not self.engine.isolates)
        alone = next(suspected, None)
        if alone is None:
            for dispatch in self._open.values():
                dispatch.send()
        elif not self._traffic.flying:
            alone.send()

    def _receive(self) -> None:
        """Take what has come, waiting for it a while."""
        seconds = max(0.0, min([_TICK, *(dispatch.time_left() for dispatch in self._open.values())]))
        try:
            dispatch, future = self._traffic.events.get(timeout=seconds)
            while True:
                dispatch.take(future)
                dispatch, future = self._traffic.events.get_nowait()
        except queue.Empty:
            return

    def _sort(self) -> None:
        """Note what has come; complete batches are over, those that failed wait for earlier ones."""
        for number, dispatch in list(self._open.items()):
            self.left += [Came(number, rows, batch) for rows, batch in dispatch.drain()]
            if not dispatch.is_open:
                dispatch.give_up()
                if dispatch.halt is None:
                    del self._open[number]

    def _look_for_workers(self) -> None:
        """Do not wait for workers that do not exist."""
        knows = any(self._pace.knows(dispatch.needs) for dispatch in self._open.values())
        patience = _PATIENCE if knows else _PATIENCE_AT_FIRST
        if self.engine.clock() - self._traffic.last_event > patience and self.engine.alive() == 0:
            raise RuntimeError(f"there have been no workers for {patience:g} s; start workers and try again")
