"""A way between two modes while it is being lowered: corners, with heights between them."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from allmodes.connecting.saddles import Lowered, lower
from allmodes.connecting.surface import Surface
from allmodes.connecting.tuning import TUNING

Floats = NDArray[np.float64]

_SAME = 1e-3  # of the length: corners closer than this are one
_SLACK = 1e-9  # of the climb: how much higher than its saddle a point beside it may be by rounding


@dataclass
class Corner:
    """A point (d,) of a way, its height, whether it is a saddle, and whether it is as low as could be got."""

    point: Floats
    height: float
    is_saddle: bool = False
    is_done: bool = False


@dataclass
class Piece:
    """Points (n, d) between two corners, and their heights (n,)."""

    points: Floats
    heights: Floats


@dataclass
class Route:
    """A way from one mode to another. Its highest point is lowered until it is a saddle.

    Attributes:
        pair: numbers of both modes.
        corners: the first and the last are the modes.
        pieces: one fewer than corners.
        length: of the straight way.
        guess: a Hessian (d, d), or None.
        lowerings: done so far.
        is_done: whether the highest point is as low as could be got.
    """

    pair: tuple[int, int]
    corners: list[Corner]
    pieces: list[Piece]
    length: float
    guess: Floats | None = None
    lowerings: int = 0
    is_done: bool = False

    @classmethod
    def through(
        cls, surface: Surface, pair: tuple[int, int], corners: list[Corner], guess: Floats | None = None
    ) -> Route:
        """Straight from corner to corner, with heights between."""
        length = float(np.linalg.norm(corners[-1].point - corners[0].point))
        spacing = length / TUNING.samples
        between = [_between(a.point, b.point, spacing) for a, b in pairwise(corners)]
        bent = [corner for corner in corners[1:-1] if not np.isfinite(corner.height)]
        heights = surface.heights(np.concatenate([*between, *(corner.point[None] for corner in bent)]))
        parts = np.split(heights, np.cumsum([len(points) for points in between]))
        for corner, height in zip(bent, parts[-1], strict=True):
            corner.height = float(height)
        pieces = [Piece(points, part) for points, part in zip(between, parts, strict=False)]
        return cls(pair, corners, pieces, length, guess)

    @property
    def height(self) -> float:
        """The highest on the way."""
        return max(*(corner.height for corner in self.corners), *(piece.heights.max() for piece in self.pieces))

    @property
    def climb(self) -> float:
        """From the lower of its ends to its highest point."""
        return self.height - min(self.corners[0].height, self.corners[-1].height)

    @property
    def passes(self) -> float:
        """The highest of the saddles on it, which it will not get below."""
        return max((corner.height for corner in self.corners if corner.is_saddle), default=-np.inf)

    @property
    def top(self) -> Corner:
        """The pass: a corner, or a point between."""
        piece = max(self.pieces, key=lambda piece: piece.heights.max())
        k = int(piece.heights.argmax())
        corner = max(self.corners, key=lambda corner: (corner.height, corner.is_saddle))
        if corner.height >= piece.heights[k] - self._slack:
            return corner
        return Corner(piece.points[k], float(piece.heights[k]))

    @property
    def _slack(self) -> float:
        """Differences of heights that mean nothing."""
        foot = min(self.corners[0].height, self.corners[-1].height)
        top = max(corner.height for corner in self.corners)
        return _SLACK * (top - foot) + 1e-14 * abs(top)

    def advance(self, surface: Surface) -> None:
        """Lower the highest point once."""
        at = self._peak() if self.lowerings < TUNING.lowerings else None
        if at is None:
            self._finish(surface)
            return
        i, j, point, along = at
        settled = self._settled
        found = self._lowered(surface, point, along)
        self.lowerings += 1
        corner = None if found is None else Corner(found.point, found.height, found.is_saddle, is_done=True)
        is_better = corner is not None and self._insert(surface, i, j, corner)
        if not is_better and self._settled == settled:
            self._finish(surface)

    @property
    def _settled(self) -> int:
        """How many corners are saddles, or as low as could be got."""
        return sum(corner.is_saddle + corner.is_done for corner in self.corners)

    def _finish(self, surface: Surface) -> None:
        """Look closer where parabolas say that the way is higher than what was seen, and around its top."""
        self.is_done = True
        if not np.isfinite(self.height):  # the function fails on the way
            return
        for _ in range(TUNING.looks):
            lines = [self._line(n) for n in range(len(self.pieces))]
            n, found = max(enumerate(_highest(*line) for line in lines), key=lambda each: each[1][2])
            if not found[2] > self.height + TUNING.seen * self.climb:
                break
            self._add(surface, n, found[0], found[1])
        for _ in range(TUNING.halvings):
            if not self._halve(surface):
                break

    def _halve(self, surface: Surface) -> bool:
        """Look in the middle of both stretches beside the top; False if that is a saddle or a mode."""
        heights = [self._line(n)[1][:-1] for n in range(len(self.pieces))]
        n = max(range(len(heights)), key=lambda n: float(heights[n].max()))
        k = int(heights[n].argmax())
        if (k == 0 and (n == 0 or self.corners[n].is_saddle)) or heights[n][k] < self.corners[-1].height:
            return False
        points, _ = self._line(n)
        self._add(surface, n, k, 0.5 * (points[k] + points[k + 1]))
        if k == 0:
            n, points, k = n - 1, self._line(n - 1)[0], len(self.pieces[n - 1].points) + 1
        self._add(surface, n, k - 1, 0.5 * (points[k] + points[k - 1]))
        return True

    def _line(self, n: int) -> tuple[Floats, Floats]:
        """A piece with its corners: points (m, d) and heights (m,)."""
        piece, a, b = self.pieces[n], self.corners[n], self.corners[n + 1]
        return np.stack([a.point, *piece.points, b.point]), np.array([a.height, *piece.heights, b.height])

    def _add(self, surface: Surface, n: int, place: int, point: Floats) -> None:
        """A height more in a piece, after so many others."""
        piece, height = self.pieces[n], surface.heights(point[None])
        piece.points = np.insert(piece.points, place, point, axis=0)
        piece.heights = np.insert(piece.heights, place, height)

    def _peak(self) -> tuple[int, int, Floats, Floats] | None:
        """The highest point that may be lowered, the corners that it is between, and the direction there."""
        limit = max(corner.height for corner in self.corners if corner.is_done) + self._slack
        best: tuple[int, int, Floats, Floats] | None = None
        for n, (piece, a, b) in enumerate(zip(self.pieces, self.corners[:-1], self.corners[1:], strict=True)):
            k = int(piece.heights.argmax())
            if piece.heights[k] > limit:
                limit = float(piece.heights[k])
                heights = np.concatenate([[a.height], piece.heights, [b.height]])[k : k + 3]
                line = b.point - a.point
                best = n, n + 1, _vertex(piece.points[k], heights, line / (len(piece.points) + 1)), line
        for n, corner in enumerate(self.corners):
            if not corner.is_done and corner.height > limit:
                limit = corner.height
                best = n - 1, n + 1, corner.point, self.corners[n + 1].point - self.corners[n - 1].point
        return best

    def _lowered(self, surface: Surface, point: Floats, along: Floats) -> Lowered | None:
        """A saddle or, where there is none beside the point, the lowest across the way; None if it is on it already."""
        found = self._new(lower(surface, point, along, self.length, self.guess))
        if found is not None:
            return found
        across = self._new(lower(surface, point, along, self.length, self.guess, across_only=True))
        if across is None:
            return None
        return self._new(lower(surface, across.point, along, self.length, self.guess)) or across

    def _new(self, found: Lowered | None) -> Lowered | None:
        """What was found, if the way has no corner there; a corner that proves to be a saddle is marked as one."""
        if found is None:
            return None
        nearest = min(self.corners, key=lambda corner: float(np.linalg.norm(corner.point - found.point)))
        if np.linalg.norm(nearest.point - found.point) > _SAME * self.length:
            return found
        if found.is_saddle and not any(nearest is end for end in (self.corners[0], self.corners[-1])):
            nearest.point, nearest.height, nearest.is_saddle, nearest.is_done = *found[:2], True, True
        return None

    def _insert(self, surface: Surface, i: int, j: int, corner: Corner) -> bool:
        """A corner in place of all that is between the corners i and j, unless the function fails on the way to it."""
        spacing = self.length / TUNING.samples
        a, b = self.corners[i].point, self.corners[j].point
        between = [_between(a, corner.point, spacing), _between(corner.point, b, spacing)]
        heights = surface.heights(np.concatenate(between))
        if not np.isfinite(heights).all():
            return False
        cut = len(between[0])
        self.pieces[i:j] = [Piece(between[0], heights[:cut]), Piece(between[1], heights[cut:])]
        self.corners[i + 1 : j] = [corner]
        return True


def _between(a: Floats, b: Floats, spacing: float) -> Floats:
    """Points (n, d) evenly between two."""
    n = int(np.clip(np.ceil(np.linalg.norm(b - a) / spacing) - 1, TUNING.fewest_samples, TUNING.most_samples))
    return a + np.linspace(0.0, 1.0, n + 2)[1:-1, None] * (b - a)


def _vertex(point: Floats, heights: Floats, step: Floats) -> Floats:
    """The highest point of the parabola through three heights, the second of which is the highest, a step apart."""
    before, here, after = heights
    if not np.isfinite(heights).all():
        return point
    bend = before - 2.0 * here + after
    if bend >= 0.0:
        return point
    return point + float(np.clip(0.5 * (before - after) / bend, -0.5, 0.5)) * step


def _highest(points: Floats, heights: Floats) -> tuple[int, Floats, float]:
    """Where points (n, d) in a line are expected to be highest between: after how many inner ones, there, how high."""
    places = np.linalg.norm(points - points[0], axis=1)
    best = 0, points[0], -np.inf
    for k in range(1, len(points) - 1):
        before, here, after = heights[k - 1 : k + 2]
        if not (
            np.isfinite([before, here, after]).all() and here >= before and here >= after and here > min(before, after)
        ):
            continue
        left, right = places[k] - places[k - 1], places[k + 1] - places[k]
        fall, rise = (here - before) / left, (after - here) / right
        bend = 2.0 * (rise - fall) / (left + right)
        slope = (fall * right + rise * left) / (left + right)
        shift = float(np.clip(-slope / bend, -0.5 * left, 0.5 * right)) if bend < 0.0 else 0.0
        height = float(here + slope * shift + 0.5 * bend * shift**2)
        if shift != 0.0 and height > best[2]:
            line = (points[k + 1] - points[k - 1]) / (left + right)
            best = k - 1 + int(shift > 0.0), points[k] + shift * line, height
    return best
