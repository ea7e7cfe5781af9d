"""Whether two points at the same height are joined by a bent level path: points between them climb across the way."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from allmodes.objective.bounds import Box
from allmodes.storage import stored
from allmodes.strategy.geometry import room

_REACH = 0.75  # of the way: how far across it a point between may climb
_FIRST = 7  # points on a line at first, and ...
_NEXT = np.array([-0.5, 0.5])  # ... later, as shares of the way to the neighbours of the best
_ROUNDS = 12  # on one line
_SWEEPS = 4  # over all directions across the way, where there are several
_HOPELESS = 0.02  # gain of a round, as a share of what is missing, ...
_IDLE = 3  # ... that one of so many rounds must exceed, or a line is left
_THIN = 1e-9  # of a line: where it is not divided further
_LEVELS = 3  # halvings of the way: seven points between, at least
_MOST_LEVELS = 5  # and of pieces that are not straight enough then
_FIRST_LOOK = 2  # halvings before pieces are looked at
_BETWEEN = np.array([0.25, 0.5, 0.75])  # of the pieces, to see that they bridge no valley
_VALLEY = 0.1  # fall between neighbours, as a share of the fall on the straight way, that would be one
_CLEFT = 0.5  # the same that no halving will mend
_EXACT = 1e-6  # the same where a point should be level: lines end that close to a crease

Floats = NDArray[np.float64]


@stored
@dataclass
class Line:
    """A point that climbs in directions across a way, one after the other.

    Attributes:
        centre, value: the best point so far; `first` is the value where it began.
        axes: (n, d), the directions, and `reach` how far to go.
        target: the value at which it is done.
        places, values: of the points evaluated on the present line, sorted; `at` is the best of
            them on the hill where it began, `limits` are where the line leaves the box.
        turn, rounds, idle: how many directions are done, rounds on the present one, and those of them in a row that
            gained little.
    """

    box: Box
    centre: Floats
    axes: Floats
    reach: float
    target: float
    value: float = -np.inf
    first: float = np.nan
    places: Floats = field(default_factory=lambda: np.zeros(0))
    values: Floats = field(default_factory=lambda: np.zeros(0))
    asked: Floats = field(default_factory=lambda: np.zeros(0))
    limits: Floats = field(default_factory=lambda: np.zeros(2))
    at: float = 0.0
    turn: int = 0
    rounds: int = 0
    idle: int = 0

    @property
    def is_level(self) -> bool:
        return self.value >= self.target

    @property
    def is_over(self) -> bool:
        sweeps = _SWEEPS if len(self.axes) > 1 else 1
        return self.is_level or self.turn == sweeps * len(self.axes)

    def ask(self) -> Floats:
        """Points on the present line, (n, d)."""
        axis = self.axes[self.turn % len(self.axes)]
        if not self.rounds:
            self.limits = np.array([-1.0, 1.0]) * room(self.box, self.centre, np.stack([-axis, axis]))
            low, high = np.clip(self.limits, -self.reach, self.reach).tolist()
            wanted = np.append(np.linspace(low, high, _FIRST), 0.0)
        else:
            i = self._best()
            near = self.places[[max(i - 1, 0), min(i + 1, len(self.places) - 1)]] - self.places[i]
            steps = np.where(_NEXT < 0.0, -_NEXT * near[0], _NEXT * near[1])
            wanted = np.append(self.places[i] + steps, [top for top, _ in self._tops(i)])
            if i in (0, len(self.places) - 1):  # it may rise beyond the end
                wanted = np.append(wanted, np.clip(self.places[i] - near.sum(), *self.limits))
        self.asked = _apart(wanted, self.places, _THIN * self.reach)
        return self.box.project(self.centre + self.asked[:, None] * axis)

    def _best(self) -> int:
        """The number of the place at the top of the hill that the line began on."""
        i = int(np.abs(self.places - self.at).argmin())
        while True:
            j = max((j for j in (i - 1, i, i + 1) if 0 <= j < len(self.places)), key=lambda j: self.values[j])
            if not self.values[j] > self.values[i]:
                return i
            i = j

    def _tops(self, i: int) -> list[tuple[float, float]]:
        """Where a top next to the best place, the i-th, may be, and how high: that of a parabola, or of a crease."""
        return _vertex(self.places, self.values, i) + _tents(self.places, self.values, i)

    def tell(self, values: Floats) -> None:
        """Values at the points last asked for."""
        places, values = np.append(self.places, self.asked), np.append(self.values, values)
        order = np.argsort(places, kind="stable")
        self.places, self.values = places[order], values[order]
        self.rounds += 1
        if self.turn == 0 and self.rounds == 1:
            self.first = float(self.values[np.abs(self.places).argmin()])
        i = self._best()
        self.at = float(self.places[i])
        gain, self.value = float(self.values[i]) - self.value, float(self.values[i])
        self.idle = self.idle + 1 if self.rounds > 1 and gain <= _HOPELESS * (self.target - self.value) else 0
        width = self.places[min(i + 1, len(order) - 1)] - self.places[max(i - 1, 0)]
        is_done = self.is_level or self.rounds == _ROUNDS
        if self.idle >= _IDLE:
            is_done |= max((height for _, height in self._tops(i)), default=-np.inf) < self.target
        if is_done or width <= _THIN * self.reach or not np.isfinite(self.value):
            self.centre = self.box.project(self.centre + self.places[i] * self.axes[self.turn % len(self.axes)])
            self.turn, self.rounds, self.idle, self.at = self.turn + 1, 0, 0, 0.0
            self.places, self.values = np.zeros(0), np.zeros(0)


def _apart(wanted: Floats, known: Floats, least: float) -> Floats:
    """Those of the wanted places that are apart from known ones and from each other."""
    chosen: list[float] = []
    for place in wanted[::-1]:
        if min((abs(place - other) for other in (*known, *chosen)), default=np.inf) > least:
            chosen.append(float(place))
    return np.array(chosen)


def _vertex(places: Floats, values: Floats, i: int) -> list[tuple[float, float]]:
    """The top of the parabola through the best place, the i-th, and its neighbours, and its height; if it has both."""
    if i in (0, len(places) - 1):
        return []
    (a, b, c), (u, v, w) = places[i - 1 : i + 2], values[i - 1 : i + 2]
    first, second = (v - u) / (b - a), (w - v) / (c - b)
    bend = (second - first) / (c - a)
    if not np.isfinite(bend) or bend >= 0.0:
        return []
    top = float(np.clip(0.5 * (a + b) - 0.5 * first / bend, a, c))
    return [(top, float(u + first * (top - a) + bend * (top - a) * (top - b)))]


def _tents(places: Floats, values: Floats, i: int) -> list[tuple[float, float]]:
    """Where the straight lines on both sides of the best place, the i-th, meet next to it, and at what height."""
    found = []
    for j in (i, i + 1):  # between j - 1 and j
        if j < 2 or j > len(places) - 2:
            continue
        a, b, c, d = places[j - 2 : j + 2]
        left, right = (values[j - 1] - values[j - 2]) / (b - a), (values[j + 1] - values[j]) / (d - c)
        if np.isfinite(left - right) and left > right:
            top = (values[j] - values[j - 1] + left * b - right * c) / (left - right)
            if b < top < c:
                found.append((float(top), float(values[j - 1] + left * (top - b))))
    return found


@stored
@dataclass
class Path:
    """A way between two points at the same height, halved again and again; every new point climbs across it.

    Attributes:
        nodes: points on the way so far, (n, d).
        target: the height that is level, less what does not count.
        drop: how far the function was seen to fall below it on straight ways.
        lines: points that climb, one in each of these `pieces` between two nodes; without any a look at all is due.
        verdict: 1 for one level path, 0 for none, -1 while that is open.
    """

    box: Box
    nodes: Floats
    target: float
    drop: float = 0.0
    lines: list[Line] = field(default_factory=list)
    pieces: NDArray[np.intp] = field(default_factory=lambda: np.zeros(0, np.intp))
    levels: int = 0
    verdict: int = -1

    def __post_init__(self) -> None:
        self._halve(np.zeros(1, np.intp))

    def _halve(self, pieces: NDArray[np.intp]) -> None:
        """Let a point climb from the middle of each of these pieces."""
        ways = self.box.difference(self.nodes[1:], self.nodes[:-1])
        self.pieces, self.levels = pieces, self.levels + 1
        self.lines = [
            Line(
                self.box, self.box.project(self.nodes[i] + 0.5 * ways[i]), _across(ways[i]),
                _REACH * float(np.linalg.norm(ways[i])), self.target - _EXACT * self.drop,
            )
            for i in pieces
        ]  # fmt: skip

    def ask(self) -> Floats:
        """The next points, (n, d)."""
        if self.lines:
            return np.concatenate([line.ask() for line in self.lines if not line.is_over])
        ways = self.box.difference(self.nodes[1:], self.nodes[:-1])
        points = self.nodes[:-1, None] + _BETWEEN[:, None] * ways[:, None]
        return self.box.project(points.reshape(-1, self.box.d))

    def tell(self, values: Floats) -> None:
        """Values at these."""
        if not self.lines:
            is_bad = (values.reshape(-1, len(_BETWEEN)) < self.target - _VALLEY * self.drop).any(axis=1)
            if (values < self.target - _CLEFT * self.drop).any():
                self.verdict = 0
            elif self.levels < _LEVELS:
                self._halve(np.arange(len(self.nodes) - 1))
            elif is_bad.any() and self.levels < _MOST_LEVELS:
                self._halve(np.flatnonzero(is_bad))
            else:
                self.verdict = int(not is_bad.any())
            return
        first = 0
        for line in self.lines:
            if not line.is_over:
                last = first + len(line.asked)
                line.tell(values[first:last])
                first = last
        falls = [self.target - line.first for line in self.lines]
        self.drop = max(self.drop, *(fall for fall in falls if np.isfinite(fall)), 0.0)
        for line in self.lines:
            line.target = self.target - _EXACT * self.drop
        if any(line.is_over and not line.is_level for line in self.lines):
            self.verdict = 0
        elif all(line.is_level for line in self.lines):
            middles = np.stack([line.centre for line in self.lines])
            self.nodes, self.lines = np.insert(self.nodes, self.pieces + 1, middles, axis=0), []
            if self.levels < _FIRST_LOOK:
                self._halve(np.arange(len(self.nodes) - 1))


def _across(way: Floats) -> Floats:
    """Directions (d - 1, d) of length one across a way."""
    return np.asarray(np.linalg.svd(way[None])[2][1:])
