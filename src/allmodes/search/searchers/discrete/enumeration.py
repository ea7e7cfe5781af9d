"""All points of a space that is small enough, and the optima among them: nothing is left to chance."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from allmodes.search.archive import Archive, Frozen
from allmodes.search.context import Context
from allmodes.search.searchers.discrete.space import Space
from allmodes.search.searchers.discrete.tuning import TUNING
from allmodes.storage import stored

_LARGEST = 1e300  # differences are finite

Array = NDArray[np.float64]
Levels = NDArray[np.int64]


@stored
@dataclass(eq=False)
class Enumeration:
    """Points by number (see `Space.numbered`).

    Attributes:
        values: (size,), NaN where they are not known.
        asked: numbers in flight.
        reached: points up to here are known or in flight.
    """

    space: Space
    values: Array = field(init=False)
    asked: Levels = field(default_factory=lambda: np.zeros(0, np.int64))
    reached: int = 0

    def __post_init__(self) -> None:
        self.values = np.full(self.space.size, np.nan)

    def know(self, levels: Levels, values: Array) -> None:
        """What is known of combinations (n, m)."""
        self.values[self.space.numbers(levels)] = values

    @property
    def is_whole(self) -> bool:
        """Whether all values are known."""
        return not bool(np.isnan(self.values[self.reached :]).any())

    def ask(self) -> Levels:
        """The next combinations (n, m) that are not known; none if all are."""
        unknown = np.flatnonzero(np.isnan(self.values[self.reached : self.reached + TUNING.together]))
        while not len(unknown) and self.reached < len(self.values):
            self.reached += TUNING.together
            unknown = np.flatnonzero(np.isnan(self.values[self.reached : self.reached + TUNING.together]))
        self.asked = self.reached + unknown
        return self.space.numbered(self.asked)

    def tell(self, values: Array) -> None:
        """Values at the points last asked for."""
        self.values[self.asked] = values

    def optima(self, errors: Array) -> list[Levels]:
        """The points (n,) of each optimum, by number: several where it is a plateau.

        Args:
            errors: (size,), by how much values may be off.
        """
        values = self.values
        is_top = np.isfinite(values)
        values = np.where(is_top, values, -_LARGEST)  # two failures do not differ
        for here, there in self._pairs():
            rise, error = values[there] - values[here], errors[here]
            is_top[here[rise > error]] = False
            is_top[there[rise < -error]] = False
        edges = [np.zeros((2, 0), np.int64)]
        for here, there in self._pairs():
            is_level = np.abs(values[there] - values[here]) <= errors[here]
            is_level &= is_top[here] | is_top[there]
            edges.append(np.stack([here[is_level], there[is_level]]))
        ends = np.concatenate(edges, axis=1)
        graph = coo_array((np.ones(ends.shape[1], np.bool_), (ends[0], ends[1])), (len(values),) * 2)
        number, parts = connected_components(graph, directed=False)
        is_left = np.zeros(number, np.bool_)  # plateaus that lead to something better
        is_left[parts[ends[~is_top[ends]]]] = True
        rows = np.flatnonzero(is_top & ~is_left[parts])
        rows = rows[np.argsort(parts[rows], kind="stable")]
        return np.split(rows, np.flatnonzero(np.diff(parts[rows])) + 1) if len(rows) else []

    def _pairs(self) -> Iterator[tuple[Levels, Levels]]:
        """All pairs of neighbours, by number."""
        counts = self.space.counts.tolist()
        numbers = np.arange(len(self.values)).reshape(counts)
        for i, count in enumerate(counts):
            along = np.moveaxis(numbers, i, 0)
            for step in (1,) if self.space.is_ordered[i] else range(1, count):
                yield along[:-step].ravel(), along[step:].ravel()
        for i, j in self.space.exchanged.tolist():
            yield numbers.ravel(), numbers.swapaxes(i, j).ravel()


def only(optima: list[Levels], values: Array, space: Space, archive: Archive, record: Frozen) -> NDArray[np.bool_]:
    """Make these the modes, and no others; which of the former ones are kept, (J,)."""
    known = {number: j for j, number in enumerate(space.numbers(space.split(archive.means)[0]).tolist())}
    modes = [next((known[number] for number in rows.tolist() if number in known), -1) for rows in optima]
    is_kept = np.isin(np.arange(len(archive)), modes)
    archive.keep(is_kept)
    archive.declare(record.kind)
    new = np.array([rows[0] for rows, mode in zip(optima, modes, strict=True) if mode < 0], dtype=np.int64)
    archive.add_all(space.units(space.numbered(new), np.zeros((len(new), 0))), values[new], record)
    return is_kept


def record_of(context: Context, kind: str) -> Frozen:
    """What is known of a mode that is just a point better than its neighbours."""
    d = context.box.d
    hessian = -max(context.scale, 1e-300) * np.eye(d)
    return Frozen(np.zeros(d), hessian, np.zeros(d, np.bool_), kind, "differences", context.nfev)
