"""Coordinates that are not real numbers: whole numbers, sizes of a catalogue, named choices."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from allmodes.storage import stored

_EXACT = 2.0**53  # whole numbers beyond are not all float64

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]


@stored
@dataclass(frozen=True, eq=False)
class Grid:
    """The levels of one coordinate, numbered from 0.

    Args:
        count: how many there are.
        first: the first, of whole numbers.
        sizes: (count,), of a catalogue, in ascending order; None otherwise.
        labels: of named choices, which have no order; the coordinate is then the number of the choice.
    """

    count: int
    first: float = 0.0
    sizes: Floats | None = None
    labels: tuple[str | float | bool | None, ...] = ()

    @property
    def is_ordered(self) -> bool:
        """Whether a level has neighbours; of named choices any other is one."""
        return not self.labels

    @property
    def ends(self) -> tuple[float, float]:
        """The lowest and the highest level."""
        both = self.at(np.array([0.0, self.count - 1.0]))
        return float(both[0]), float(both[1])

    def at(self, numbers: Floats) -> Floats:
        """Levels by their numbers."""
        return self.first + numbers if self.sizes is None else self.sizes[numbers.astype(np.intp)]

    def numbers(self, levels: Floats) -> Floats:
        """The numbers of the closest levels."""
        if self.sizes is None:
            return np.clip(np.rint(levels - self.first), 0.0, self.count - 1.0)
        above = np.clip(np.searchsorted(self.sizes, levels), 1, self.count - 1)
        is_above = self.sizes[above] - levels < levels - self.sizes[above - 1]
        return np.where(is_above, above, above - 1).astype(np.float64)

    def units(self, levels: Floats) -> Floats:
        """Levels as shares of the way from the first to the last, by their numbers."""
        return self.numbers(levels) / max(self.count - 1, 1)

    def from_units(self, units: Floats) -> Floats:
        """The levels closest to shares of the way."""
        return self.at(np.clip(np.rint(units * (self.count - 1)), 0.0, self.count - 1.0))

    @property
    def choices(self) -> list[Any]:
        """Sizes or names as plain data; none of whole numbers."""
        return list(self.labels) if self.sizes is None else self.sizes.tolist()

    def is_like(self, other: Grid) -> bool:
        """Whether the levels are the same."""
        return (self.count, self.first, self.choices) == (other.count, other.first, other.choices)

    @property
    def text(self) -> str:
        """What is allowed, in words."""
        if self.labels:
            return f"the number of a choice, 0 to {self.count - 1} ({', '.join(map(repr, self.labels))})"
        return "a whole number" if self.sizes is None else f"one of {self.sizes.tolist()}"


class Steps(NamedTuple):
    """The grids of several coordinates: those of whole numbers and choices all at once.

    Args:
        places: of whole numbers and choices.
        first, last: their first levels, and the numbers of their last.
        others: places of catalogues, with their grids.
    """

    places: NDArray[np.intp]
    first: Floats
    last: Floats
    others: list[tuple[int, Grid]]

    @staticmethod
    def of(levels: list[tuple[int, Grid]]) -> Steps:
        """Of grids with their places."""
        even = [(place, grid) for place, grid in levels if grid.sizes is None]
        places = np.array([place for place, _ in even], dtype=np.intp)
        first, last = np.array([grid.first for _, grid in even]), np.array([grid.count - 1.0 for _, grid in even])
        return Steps(places, first, last, [each for each in levels if each[1].sizes is not None])

    def put(self, units: Floats, x: Floats) -> None:
        """Write the levels closest to shares of the way (N, d) into points (N, d)."""
        x[..., self.places] = self.first + np.clip(np.rint(units[..., self.places] * self.last), 0.0, self.last)
        for place, grid in self.others:
            x[..., place] = grid.from_units(units[..., place])


def without_choices(bounds: Any) -> tuple[Any, dict[int, Grid]]:
    """Bounds with a pair in place of every list of choices, and the grids that the lists stand for.

    >>> pairs, grids = without_choices([(0, 1), [2.5, 1.0, 4.0], ["oak", "ash"]])
    >>> pairs, sorted(grids)
    ([(0, 1), (1.0, 4.0), (0.0, 1.0)], [1, 2])
    """
    if not isinstance(bounds, list | tuple):
        return bounds, {}
    grids = {i: _choices(i, entry) for i, entry in enumerate(bounds) if _is_choice(entry)}
    return ([grids[i].ends if i in grids else entry for i, entry in enumerate(bounds)] if grids else bounds), grids


def _is_choice(entry: Any) -> bool:
    """Whether an entry of bounds is a list of choices: more than two things, or with a word among them."""
    is_word = isinstance(entry, list | tuple | np.ndarray) and any(isinstance(each, str) for each in entry)
    return is_word or (isinstance(entry, list | np.ndarray) and np.size(entry) > 2)


def _choices(i: int, entry: Sequence[Any]) -> Grid:
    if len(entry) < 2:
        raise ValueError(
            f"bounds[{i}] has the only choice {entry[0]!r}; wanted two at least. Leave the coordinate out."
        )
    entry = list(entry)
    if any(entry[j] == entry[k] for j in range(len(entry)) for k in range(j)):
        raise ValueError(f"bounds[{i}] is {entry!r}; every choice must be there once.")
    if all(isinstance(each, Real) and not isinstance(each, bool) for each in entry):
        sizes = np.sort(np.array(entry, dtype=np.float64))
        if not np.isfinite(sizes).all():
            raise ValueError(f"bounds[{i}] is {entry!r}; choices must be finite numbers, or words.")
        return Grid(len(sizes), sizes=sizes)
    if not all(isinstance(each, str | Real | None) for each in entry):
        raise TypeError(f"bounds[{i}] is {entry!r}; choices must be words or numbers: choose by them in fun.")
    return Grid(len(entry), labels=tuple(e.item() if isinstance(e, np.generic) else e for e in entry))


def grids_of(given: Any, choices: dict[int, Grid], lower: Floats, upper: Floats, periodic: Bools) -> tuple[Any, ...]:
    """The grids of all coordinates (D,), None for real ones; () if all are real.

    Args:
        given: integrality, as SciPy has it: True, or D booleans (0 and 1 will do).
        choices: the grids of coordinates whose bounds are lists.
        lower, upper: bounds (D,).
        periodic: (D,).
    """
    D = len(lower)
    whole = _whole(given, D)
    if not whole.any() and not choices:
        return ()
    for i in np.flatnonzero(whole):
        grid = choices.get(int(i))
        if grid is None:
            choices = choices | {int(i): _whole_numbers(int(i), float(lower[i]), float(upper[i]))}
    wrapped = [i for i in choices if periodic[i]]
    if wrapped:
        raise ValueError(
            f"coordinate {wrapped[0]} is periodic and takes {choices[wrapped[0]].text}; wanted a real coordinate. "
            "Leave it out of periodic: for whole numbers, fun may take them modulo the period."
        )
    return tuple(choices.get(i) for i in range(D))


def _whole(given: Any, D: int) -> Bools:
    if given is None:
        return np.zeros(D, np.bool_)
    array = np.asarray(given)
    is_binary = array.dtype.kind in "buif" and bool(((array == 0) | (array == 1)).all())
    if not is_binary or array.shape not in ((), (1,), (D,)):
        raise ValueError(
            f"integrality is {given!r}; wanted True, or {D} booleans, one for each coordinate: 1 for a whole number, 0 "
            "for a real one."
        )
    return np.broadcast_to(array.astype(np.bool_), D).copy()


def _whole_numbers(i: int, lower: float, upper: float) -> Grid:
    if not (np.isfinite(lower) and np.isfinite(upper)):
        raise ValueError(f"coordinate {i} is a whole number with bounds ({lower}, {upper}); give it finite ones.")
    if lower != np.rint(lower) or upper != np.rint(upper):
        inner = f"({np.ceil(lower):g}, {np.floor(upper):g})"
        raise ValueError(
            f"coordinate {i} is a whole number with bounds ({lower}, {upper}); wanted whole ones: {inner}."
        )
    if max(abs(lower), abs(upper)) > _EXACT:
        raise ValueError(f"coordinate {i} is a whole number with bounds ({lower}, {upper}); wanted less than 2^53.")
    return Grid(int(upper - lower) + 1, lower)


def check_levels(name: str, points: Floats, grids: tuple[Grid | None, ...]) -> None:
    """Refuse points (n, D) that lie between the levels of a grid."""
    for i, grid in enumerate(grids):
        if grid is not None:
            off = grid.at(grid.numbers(points[:, i])) != points[:, i]
            if off.any():
                raise ValueError(f"{name} has {points[off.argmax(), i]} in coordinate {i}; wanted {grid.text}.")


@dataclass(frozen=True)
class WithChoices:
    """A function that is called with the choices in place of their numbers: points are then arrays of objects."""

    function: Callable[[Any], Any]
    labels: dict[int, tuple[Any, ...]]

    def __call__(self, x: Floats) -> Any:
        """The function at a point (D,) or points (N, D)."""
        return self.function(with_choices(x, self.labels))


def with_choices(x: Floats, labels: dict[int, tuple[Any, ...]]) -> NDArray[Any]:
    """A point (D,) or points (N, D) with the choices in place of their numbers."""
    named = x.astype(object)
    for i, choices in labels.items():
        column = np.empty(len(choices), object)
        column[:] = choices
        named[..., i] = column[x[..., i].astype(np.intp)]
    return named


def labels_of(grids: tuple[Grid | None, ...]) -> dict[int, tuple[Any, ...]]:
    """The named choices by coordinate."""
    return {i: grid.labels for i, grid in enumerate(grids) if grid is not None and grid.labels}
