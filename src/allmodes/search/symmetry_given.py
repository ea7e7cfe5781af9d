"""What users pass as symmetry: blocks that may be exchanged, signs that may change, or a function; checked."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from allmodes.objective.bounds import Box
from allmodes.objective.scales import coordinate_number
from allmodes.search.group import Group, Map, closure

_WANTED = (
    "wanted blocks of coordinates that may be exchanged, such as [[0, 1], [2, 3]], a list of several such lists, "
    '{"sign": [0, 2]} for coordinates that change sign together, {"exchange": ..., "sign": ...} for both, or a '
    "function x -> representative"
)
_SAMPLES = 400  # places where a user's function is tried: the maps found there generate the others
_STEP = 1e-5  # of the box: for the matrices of these maps
_ALIKE = 1e-6  # of the box: places that are one

Array = NDArray[np.float64]


def group_of(given: Any, box: Box, names: Any = None) -> Group | None:
    """The group of what a user passed; None for none."""
    if given is None or box.d == 0:
        return None
    if callable(given):
        return _of_function(given, box)
    parts = given if isinstance(given, dict) else {"exchange": given}
    unknown = [key for key in parts if key not in ("exchange", "sign")]
    if unknown or not parts:
        raise ValueError(f"symmetry has the keys {list(parts)}; {_WANTED}.")
    known = list(names) if names is not None else [f"x{i}" for i in range(box.D)]

    def number(key: Any) -> int:
        return coordinate_number(f"symmetry has {key!r}; {_WANTED}", key, box.D, known)

    generators: list[Map] = []
    words: list[str] = []
    turned = np.zeros(box.D, np.bool_)
    for blocks in _listed(parts.get("exchange"), 3):
        _exchange([[number(key) for key in block] for block in blocks], box, known, generators, words)
    for coordinates in _listed(parts.get("sign"), 2):
        places = [number(key) for key in coordinates]
        _sign(places, box, known, generators, words)
        turned[places] = True
    if not generators:
        raise ValueError(f"symmetry is {given!r}, which changes nothing; {_WANTED}.")
    return Group.make(box, generators, words, turned)


def _listed(given: Any, depth: int) -> list[Any]:
    """Lists nested to this depth: a coordinate alone is a block of one, and one list of blocks is the only one."""
    if given is None:
        return []
    if isinstance(given, str | bytes) or not hasattr(given, "__iter__"):
        raise TypeError(f"symmetry has {given!r}; {_WANTED}.")
    given = [list(each) if isinstance(each, tuple | np.ndarray) else each for each in given]
    if not given:
        raise ValueError(f"symmetry has an empty list; {_WANTED}.")
    levels = _depth(given)
    if depth == 3:
        given = [[[each] for each in given]] if levels == 1 else [given] if levels == 2 else given
    else:
        given = [given] if levels == 1 else given
    if _depth(given) != depth or any(_depth(each) != depth - 1 for each in given):
        raise ValueError(f"symmetry has {given!r}; {_WANTED}.")
    return given


def _depth(given: Any) -> int:
    return 1 + max((_depth(each) for each in given), default=0) if isinstance(given, list | tuple) else 0


def _exchange(blocks: list[list[int]], box: Box, names: list[Any], generators: list[Map], words: list[str]) -> None:
    """Swaps of neighbouring blocks, which generate all exchanges."""
    everything = [i for block in blocks for i in block]
    if len({len(block) for block in blocks}) > 1 or len(blocks) < 2 or len(set(everything)) < len(everything):
        raise ValueError(
            f"symmetry exchanges the blocks {blocks}; wanted two blocks or more, all of one length, without a "
            "coordinate that is in two of them."
        )
    for first, second in pairwise(blocks):
        said = f"exchange of {_named(first, names)} with {_named(second, names)}"
        for i, j in zip(first, second, strict=True):
            if _traits(box, i) != _traits(box, j):
                raise ValueError(
                    f"symmetry has the {said}, which does not map the box to itself: bounds of {names[i]} are "
                    f"{_bounds(box, i)} and those of {names[j]} {_bounds(box, j)}. Give both the same bounds, scale "
                    "and periodicity."
                )
        M = np.eye(box.D)
        M[[*first, *second]] = M[[*second, *first]]
        generators.append((M, np.zeros(box.D)))
        words.append(said)


def _traits(box: Box, i: int) -> tuple[Any, ...]:
    is_log = box.is_log is not None and bool(box.is_log[i])
    return float(box.lower[i]), float(box.upper[i]), bool(box.periodic[i]), is_log


def _sign(places: list[int], box: Box, names: list[Any], generators: list[Map], words: list[str]) -> None:
    said = f"change of sign of {_named(places, names)}"
    for i in places:
        if box.lower[i] != -box.upper[i]:
            raise ValueError(
                f"symmetry has the {said}, which does not map the box to itself: bounds of {names[i]} are "
                f"{_bounds(box, i)}. Give bounds (-b, b)."
            )
    M = np.eye(box.D)
    M[places, places] = -1.0
    generators.append((M, np.zeros(box.D)))
    words.append(said)


def _named(places: list[int], names: list[Any]) -> str:
    return ", ".join(str(names[i]) for i in places)


def _bounds(box: Box, i: int) -> str:
    return f"({box.lower[i]:g}, {box.upper[i]:g})"


# ---- a function


def _of_function(chooser: Callable[[Any], Any], box: Box) -> Group:
    """The maps that a function x -> representative applies at places all over the box, and all they make."""
    if box.is_log is not None:
        raise ValueError(
            "symmetry is a function and scale has logarithms; state blocks that may be exchanged, or leave out scale."
        )
    rng = np.random.default_rng(0)
    maps: dict[bytes, Map] = {}
    for x in box.to_user(rng.random((_SAMPLES, box.d))):
        M, t = _map_at(chooser, x, box)
        maps.setdefault((M.round(6) + 0.0).tobytes() + (t.round(6) + 0.0).tobytes(), (M, t))
    identity = np.eye(box.D).round(6).tobytes() + np.zeros(box.D).tobytes()
    generators = [each for key, each in maps.items() if key != identity]
    if not generators:
        raise ValueError("symmetry is a function that returns every point as it is; return one point for all images.")
    closure(generators, box.D)  # refused if it belongs to no finite group
    words = ["map of a point to the representative that the function gives"] * len(generators)
    return Group.make(box, generators, words, np.zeros(box.D, np.bool_), chooser)


def _map_at(chooser: Callable[[Any], Any], x: Array, box: Box) -> Map:
    """The map x -> M x + t that the function applies around a point."""
    here = _called(chooser, x, box)
    M = np.eye(box.D)
    for k, i in enumerate(np.flatnonzero(box.free).tolist()):
        step = _STEP * box.scale[k]
        moved = x.copy()
        moved[i] += step if x[i] + step <= box.upper[i] else -step
        M[:, i] = (_called(chooser, moved, box) - here) / (moved[i] - x[i])
    M = np.where(np.abs(M - np.rint(M)) < _ALIKE, np.rint(M), M)
    t = here - M @ x
    width = np.where(box.free, box.start_upper - box.start_lower, 1.0)
    t = np.where(np.abs(t) < _ALIKE * width, 0.0, t)
    if abs(abs(np.linalg.det(M)) - 1.0) > 1e-3:
        raise ValueError(
            f"symmetry is a function that is not one to one around x = {x}: it must only exchange, mirror, turn or "
            "shift points, and map a representative to itself."
        )
    return M, t


def _called(chooser: Callable[[Any], Any], x: Array, box: Box) -> Array:
    try:
        found = np.asarray(chooser(x.copy()), dtype=np.float64)
    except Exception as error:
        raise ValueError(
            f"symmetry raised {type(error).__name__} at x = {x}: {error}; wanted a function of any point in the "
            "bounds -> its representative."
        ) from error
    if found.shape != (box.D,) or not np.isfinite(found).all():
        raise ValueError(f"symmetry returned shape {found.shape} at x = {x}; wanted a point ({box.D},), finite.")
    slack = _ALIKE * (box.start_upper - box.start_lower)
    if ((found < box.lower - slack) | (found > box.upper + slack)).any():
        raise ValueError(f"symmetry maps x = {x} to {found}, outside the bounds; it must map the box to itself.")
    return found
