"""How many points go into one chunk: just enough to make the cost of a message small beside the work."""

from __future__ import annotations

import math

from allmodes.objective.evaluation import Needs

_SHARE = 0.03  # of the time of a chunk that its message may cost; 5 % is the aim, and messages vary
_MESSAGE = 1e-3  # seconds that a message costs, until one has been measured
_LONGEST = 1.0  # seconds of work in one chunk: what a lost worker may take with it
_LEAST = 1e-9  # seconds of an evaluation: the clock's own resolution, to divide by
_NEWEST = 0.5  # share of the newest measurement in the running mean of the seconds per evaluation
_NEWEST_MESSAGE = 0.2  # the same for messages, which vary more


class Pace:
    """Measured seconds per evaluation, for each set of derivatives, and per message."""

    def __init__(self) -> None:
        self.per_message: float | None = None
        self._per_point: dict[Needs, float] = {}

    def knows(self, needs: Needs) -> bool:
        """Whether an evaluation of this kind has been timed."""
        return needs in self._per_point

    def note(self, needs: Needs, points: int, seconds: float, turnaround: float | None = None) -> None:
        """A chunk came back: seconds of work in it; seconds from sending to receiving, if it did not have to wait."""
        now = max(seconds / points, _LEAST)
        self._per_point[needs] = _mean(self._per_point.get(needs, now), now, _NEWEST)
        if turnaround is not None:
            cost = max(turnaround - seconds, 0.0)
            self.per_message = _mean(cost if self.per_message is None else self.per_message, cost, _NEWEST_MESSAGE)

    def sizes(self, N: int, workers: int | None, needs: Needs) -> list[int]:
        """The sizes of the chunks of N points, so that all workers have the same amount to do.

        >>> pace = Pace()
        >>> pace.note(frozenset(), points=1, seconds=0.01, turnaround=0.011)
        >>> pace.sizes(6, 2, frozenset())
        [3, 3]
        """
        if N == 0:
            return []
        message = _MESSAGE if self.per_message is None else self.per_message
        work = min(message / _SHARE, _LONGEST)
        most = max(1, math.ceil(work / self._per_point.get(needs, math.inf) - 0.5))
        chunks = math.ceil(N / most)
        if workers is not None:
            chunks = min(N, workers * math.ceil(chunks / workers))
        return [N // chunks + (i < N % chunks) for i in range(chunks)]


def _mean(before: float, now: float, share: float) -> float:
    return (1.0 - share) * before + share * now
