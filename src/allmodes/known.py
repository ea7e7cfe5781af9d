"""Points whose values are known before a search begins: free evaluations."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from allmodes.memory import keys_of
from allmodes.objective.bounds import Box
from allmodes.result import Result
from allmodes.round import checked_told
from allmodes.storage import stored

Array = NDArray[np.float64]

_VALUE = "fun"  # the column of values, as in Result.to_dataframe
_WANTED = (
    f"wanted a pair (x, values) of points (n, D) and values (n,), a table with a column for each coordinate and "
    f"{_VALUE!r}, or a Result"
)


@stored
@dataclass(eq=False)
class Known:
    """Points (n, D) and values (n,) in the user's coordinates and sign; NaN where the function is known to fail."""

    points: Array
    values: Array
    table: dict[bytes, float] = field(default_factory=dict, metadata={"stored": False})

    @staticmethod
    def of(given: Any, box: Box, names: tuple[str, ...]) -> Known:
        """What a user passed as warm_start, checked; None means no points.

        >>> box = Box.make([(-1, 1)])
        >>> Known.of(([[0.5], [0.0]], [0.25, 0.0]), box, ("x0",)).values
        array([0.25, 0.  ])
        """
        if given is None:
            return Known(np.zeros((0, box.D)), np.zeros(0))
        x, values = _pair(given, names)
        try:
            points, values, _, _ = checked_told(box, x, values, None, None)
        except (TypeError, ValueError) as error:
            raise type(error)(f"warm_start: {error}") from error
        return Known(box.checked("warm_start", points) if len(points) else points, values)

    def __len__(self) -> int:
        return len(self.values)

    def at(self, points: Array, box: Box) -> tuple[NDArray[np.bool_], Array]:
        """Which of the points (m, D) are known, equal to the last bit, (m,), and their values, NaN for the others."""
        if not self.table:
            there_and_back = box.to_user(box.to_unit(self.points))  # what a search that starts there asks for
            for points_ in (there_and_back, self.points):
                self.table.update(zip(keys_of(points_), self.values.tolist(), strict=True))
        found = [self.table.get(key) for key in keys_of(points)]
        is_known = np.array([value is not None for value in found], dtype=np.bool_)
        return is_known, np.array([np.nan if value is None else value for value in found], dtype=np.float64)


def _pair(given: Any, names: tuple[str, ...]) -> tuple[Any, Any]:
    """Points and values in any of the accepted forms."""
    if isinstance(given, Result):
        return _of_result(given, len(names))
    if isinstance(given, (tuple, list)) and len(given) == 2:
        return given[0], given[1]
    if not (hasattr(given, "keys") and hasattr(given, "__getitem__")):
        raise TypeError(f"warm_start is of type {type(given).__name__}; {_WANTED}.")
    columns = list(given.keys())
    missing = [name for name in (*names, _VALUE) if name not in columns]
    if missing:
        raise ValueError(f"warm_start has the columns {columns} and lacks {missing}; {_WANTED}.")
    x = [np.asarray(given[name]) for name in names]
    lengths = {name: np.shape(column) for name, column in zip(names, x, strict=True)}
    if len({np.shape(given[_VALUE]), *lengths.values()}) > 1:
        raise ValueError(f"warm_start has columns of shapes {lengths} and {np.shape(given[_VALUE])}; wanted one shape.")
    return np.stack(x, axis=-1), np.asarray(given[_VALUE])


def _of_result(result: Result, D: int) -> tuple[Any, Any]:
    """The modes, and the best point if it is not among them."""
    pairs = [(mode.x, mode.fun) for mode in result.modes]
    if np.isfinite(result.fun) and not any(np.array_equal(x, result.x) for x, _ in pairs):
        pairs.append((result.x, result.fun))
    if not pairs:
        return np.zeros((0, D)), np.zeros(0)
    return np.array([x for x, _ in pairs]), np.array([fun for _, fun in pairs])
