"""Points beside a centre at which the function failed: they are asked for again elsewhere.

Differences and verdicts want values at all points of a pattern. Where a function fails now and then, some point of most
patterns fails, and a search would be lost with it although its own place is fine.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from allmodes.objective import Evaluation
from allmodes.objective.bounds import Box
from allmodes.search.searcher import Block
from allmodes.storage import stored

Array = NDArray[np.float64]
Told: TypeAlias = tuple[Block, Evaluation]

MACHINE = "mending"

# Shares of the way from the centre to a point that failed, one after the other.
_NEARER = (0.99, 0.98, 0.97)
_EITHER_SIDE = (0.9, -0.6, 0.8)  # so that the two points of an axis never coincide


@stored
class Gap(NamedTuple):
    """A pattern of one search or verification with points that failed.

    Attributes:
        block: with one row.
        told: value, gradient and Hessian there, (1, points, ...) or None.
        tries: how often the points that failed were asked for elsewhere.
    """

    block: Block
    told: tuple[Array | None, ...]
    tries: int = 0

    @property
    def failed(self) -> NDArray[np.bool_]:
        """Which points did, (points,)."""
        return _failed(self.told)[0]

    def points(self, box: Box) -> Array:
        """Where to try instead, (failed, d), inside the bounds."""
        block = self.block
        assert block.centres is not None
        centre = block.centres[0]
        away = box.difference(block.points[0, self.failed], centre)
        share = (_EITHER_SIDE if block.has_sides else _NEARER)[self.tries]
        moved = centre + share * away
        is_inside = ((moved >= box.lower_unit) & (moved <= box.upper_unit)).all(axis=1)
        return np.where(is_inside[:, None], moved, centre + abs(share) * away)

    def filled(self, points: Array, told: Evaluation) -> Told:
        """The pattern with what was told of other points (failed, d); those that failed again stay where they were."""
        rows = np.flatnonzero(self.failed)
        is_known = ~_failed(told)[0]
        where = self.block.points.copy()
        where[0, rows[is_known]] = points[is_known]
        parts = [None if part is None else part.copy() for part in self.told]
        for mine, new in zip(parts, told, strict=True):
            if mine is not None and new is not None:
                mine[0, rows[is_known]] = new[0, is_known]
        return self.block._replace(points=where), Evaluation(*parts)


@stored
@dataclass
class Mending:
    """Patterns that are held back until their gaps are filled, or were tried often enough.

    Attributes:
        gaps: by number; `asked`, those in flight; `numbered`, how many there were.
    """

    box: Box
    gaps: dict[str, Gap] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    numbered: int = 0

    def ask(self) -> list[Block]:
        """Points in place of those that failed."""
        blocks = []
        for number, gap in self.gaps.items():
            if number not in self.asked:
                self.asked.append(number)
                blocks.append(Block(MACHINE, gap.block.kind, np.array([int(number)]), gap.points(self.box)[None]))
        return blocks

    def told(self, block: Block, told: Evaluation) -> list[Told]:
        """What can be passed on once a block is told: its rows without gaps, or a pattern whose gap is filled."""
        tries = 0
        if block.machine == MACHINE:
            number = str(int(block.rows[0]))
            gap = self.gaps.pop(number)
            self.asked.remove(number)
            tries, (block, told) = gap.tries + 1, gap.filled(block.points[0], told)
        if block.centres is None or tries == len(_NEARER):
            return [(block, told)]
        failed = _failed(told)
        if not failed.any():
            return [(block, told)]
        is_centre = (block.points == block.centres[:, None]).all(axis=2)
        is_held = failed.any(axis=1) & ~(failed & is_centre).any(axis=1)
        for i in np.flatnonzero(is_held):
            one, known = _rows(block, told, slice(i, i + 1))
            self.gaps[str(self.numbered)] = Gap(one, tuple(known), tries)
            self.numbered += 1
        return [] if is_held.all() else [_rows(block, told, ~is_held)]


def _failed(told: Evaluation | tuple[Array | None, ...]) -> NDArray[np.bool_]:
    """Which points (n, points each) are not completely known."""
    parts = [np.isfinite(part) for part in told if part is not None]
    return ~np.logical_and.reduce([part.all(axis=tuple(range(2, part.ndim))) for part in parts])


def _rows(block: Block, told: Evaluation, rows: slice | NDArray[np.bool_]) -> Told:
    assert block.centres is not None
    part = block._replace(rows=block.rows[rows], points=block.points[rows], centres=block.centres[rows])
    return part, Evaluation(*[None if each is None else each[rows] for each in told])
