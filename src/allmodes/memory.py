"""The points evaluated last, and what was found there: a point that is asked for again costs nothing."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from allmodes.objective import Evaluation, Needs
from allmodes.storage import stored

Array = NDArray[np.float64]
Entry: TypeAlias = tuple[float, Array | None, Array | None]

_MOST_POINTS = 4096  # a point that is asked for again was mostly asked for within the last thousand
_MOST_NUMBERS = 2**17  # of all points together, derivatives included: a megabyte, here and in a checkpoint
_FEWEST_POINTS = 16  # however many numbers they have
_FAILED: Entry = (math.nan, None, None)


@stored
@dataclass(eq=False)
class Memory:
    """Points in the user's coordinates and what was told; the first to be told are the first to be forgotten.

    Args:
        D: coordinates of a point.
        order: of the derivatives that there are: 0 values, 1 gradients, 2 Hessians.

    Attributes:
        entries: value, gradient and Hessian by the key of the point; None for what was not wanted there, and a value of
            NaN where anything was not finite: such a point may be tried again.
        rows: the same as arrays, to be stored: points (n, D), values (n,), and gradients and Hessians, NaN for None.
    """

    D: int
    order: int = 0
    rows: tuple[Array, ...] = ()
    entries: dict[bytes, Entry] = field(default_factory=dict, metadata={"stored": False})

    @property
    def most(self) -> int:
        """How many points are remembered."""
        numbers = 1 + sum(self.D**power for power in range(1, self.order + 1)) + self.D
        return max(_FEWEST_POINTS, min(_MOST_POINTS, _MOST_NUMBERS // numbers))

    def __len__(self) -> int:
        return len(self._known)

    def __contains__(self, key: bytes) -> bool:
        """Whether a point was told, by its key; with success or not."""
        return key in self._known

    @property
    def told(self) -> tuple[Array, Array]:
        """The points that are remembered, (n, D), and the values there, NaN where the function failed."""
        points = np.frombuffer(b"".join(self._known), np.float64).reshape(-1, self.D)
        return points.copy(), np.array([value for value, *_ in self._known.values()])

    @property
    def _known(self) -> dict[bytes, Entry]:
        """The entries, also right after loading."""
        if self.rows:
            if not self.entries:
                points, values, *derivatives = self.rows
                parts = [[None if np.isnan(row).any() else row for row in part] for part in derivatives]
                parts += [[None] * len(values)] * (2 - len(parts))
                self.entries = dict(zip(keys_of(points), zip(values.tolist(), *parts, strict=True), strict=True))
            self.rows = ()
        return self.entries

    def recall(self, points: Array, needs: Needs, is_once: bool = False) -> tuple[NDArray[np.bool_], Evaluation] | None:
        """Which of the points (m, D) are known to the last bit, and what is wanted there, NaN elsewhere; None if none.

        A point is known if all that is wanted there is, or with `is_once` if the function failed there.
        """
        get = self._known.get
        found = [get(key) for key in keys_of(points)]
        if not any(found):
            return None
        places = [place for place, name in enumerate(("gradient", "hessian"), 1) if name in needs]
        is_known = np.array(
            [entry is not None and (_has(entry, places) or (is_once and math.isnan(entry[0]))) for entry in found]
        )
        parts: list[Array | None] = [np.full(len(found), np.nan), None, None]
        for i in places:
            parts[i] = np.full((len(found), *(self.D,) * i), np.nan)
        for row in is_known.nonzero()[0].tolist():
            for i in (0, *places):
                told = found[row][i]  # type: ignore[index]
                parts[i][row] = np.nan if told is None else told  # type: ignore[index]
        return is_known, Evaluation(parts[0], parts[1], parts[2])

    def remember(
        self, points: Array, value: Array, gradient: Array | None = None, hessian: Array | None = None
    ) -> None:
        """Results at points (m, D)."""
        entries, m = self._known, len(value)
        is_fine = np.isfinite(value)
        for part in (gradient, hessian):
            if part is not None:
                is_fine &= np.isfinite(part).all(axis=tuple(range(1, part.ndim)))
        slopes = [None] * m if gradient is None else gradient
        bends = [None] * m if hessian is None else hessian
        for key, is_kept, *entry in zip(keys_of(points), is_fine.tolist(), value.tolist(), slopes, bends, strict=True):
            entries[key] = (entry[0], entry[1], entry[2]) if is_kept else _FAILED
        if len(entries) > self.most:  # half at once: to drop one at a time would cost as much for each
            self.entries = dict(list(entries.items())[-(self.most // 2) :])

    def settle(self) -> None:
        """Put everything into arrays, which can be stored."""
        if not self.entries:
            return
        points = np.frombuffer(b"".join(self.entries)).reshape(-1, self.D)
        values, *derivatives = zip(*self.entries.values(), strict=True)
        parts = [
            np.stack([np.full((self.D,) * i, np.nan) if row is None else row for row in part])
            for i, part in enumerate(derivatives[: self.order], 1)
        ]
        self.rows = (points.copy(), np.array(values), *parts)


def _has(entry: Entry, places: list[int]) -> bool:
    return not math.isnan(entry[0]) and all(entry[i] is not None for i in places)


def keys_of(points: Array) -> list[bytes]:
    """The keys by which points (m, D) are looked up: their bytes.

    >>> keys_of(np.array([[0.0], [-0.0], [1.0]]))[:2] == 2 * [bytes(8)]
    True
    """
    together = np.ascontiguousarray(points + 0.0)  # -0.0 and 0.0 are one place
    keys: list[bytes] = together.view(f"V{8 * together.shape[1]}")[:, 0].tolist()
    return keys
