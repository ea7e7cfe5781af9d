"""Where runs ended, in whatever form they come: arrays, SciPy's results, tables, pyPESTO's results."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

# What the value of an end is called in tables, in the order in which it is looked for.
VALUES = ("fun", "value", "fval", "cost", "loss", "objective", "chi2", "nll", "energy", "f", "y")
_SHORT = ("f", "y")  # those that may as well be coordinates
# Columns of tables that are no coordinates.
_ABOUT = (
    "success", "converged", "status", "message", "exitflag", "nfev", "njev", "nhev", "nit", "seed", "run", "id",
    "index", "start", "time", "seconds", "kind", "is_global", "weight", "flatness", "gradient_norm", "hits", "found_at",
)  # fmt: skip
_SAYS = ("success", "converged")
_WANTED = (
    "wanted ends (n, d) and values (n,), a list of scipy.optimize.OptimizeResult, a DataFrame with a column "
    f"{VALUES[0]!r}, or a pypesto.Result"
)


@dataclass(frozen=True, eq=False)
class Ends:
    """Where n runs ended.

    Attributes:
        points: (n, D), NaN where a run gave none.
        values: (n,), NaN likewise; None if they were not given.
        starts: (n, D), where they began; None if that is not known.
        converged: (n,), what their optimisers say; None if they say nothing.
        names: of the coordinates; None if they have none.
        bounds: (D, 2), if what was given knows them.
        column: the column that the values were in; empty if there was none.
    """

    points: Array
    values: Array | None
    starts: Array | None = None
    converged: NDArray[np.bool_] | None = None
    names: tuple[str, ...] | None = None
    bounds: Array | None = None
    column: str = ""


def read(ends: Any, values: Any = None, starts: Any = None, names: Any = None) -> Ends:
    """The ends that a user passed, checked."""
    if hasattr(ends, "optimize_result") and hasattr(ends, "problem"):
        found = _of_pypesto(ends)
    elif hasattr(ends, "columns") or (isinstance(ends, Mapping) and not hasattr(ends, "x")):
        found = _of_table(ends, names, values is not None)
    elif _is_results(ends):
        found = _of_results([ends] if hasattr(ends, "x") else list(ends))
    else:
        found = Ends(_array("ends", ends, 2), None)
    if values is not None:
        if found.values is not None:
            raise ValueError("values are given, and ends have values of their own; leave one of the two out.")
        found = _with(found, values=_array("values", values, 1))
    if starts is not None:
        found = _with(found, starts=_array("starts", starts, 2))
    return _checked(found)


def _with(found: Ends, **changes: Any) -> Ends:
    from dataclasses import replace

    return replace(found, **changes)


def _checked(found: Ends) -> Ends:
    """Refused unless lengths agree and there is something to look at."""
    n, D = found.points.shape
    if not n or not D:
        raise ValueError(f"ends has shape {found.points.shape}: there is nothing to audit; {_WANTED}.")
    if found.values is not None and len(found.values) != n:
        raise ValueError(f"there are {n} ends and {len(found.values)} values; wanted one value for each end.")
    if found.starts is not None and found.starts.shape != (n, D):
        raise ValueError(f"starts has shape {found.starts.shape} and ends {(n, D)}; wanted one start for each end.")
    return found


def _array(name: str, given: Any, ndim: int) -> Array:
    """Numbers, with NaN where there are none."""
    wanted = "(n, d), a row for each run" if ndim == 2 else "(n,), one for each end"
    try:
        array = np.asarray(given)
    except ValueError as error:
        raise ValueError(f"{name} is not an array of numbers ({error}); wanted {wanted}.") from None
    if array.dtype.kind not in "buifO":
        raise TypeError(f"{name} has dtype {array.dtype}; real numbers were wanted, {wanted}.")
    try:
        array = array.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise TypeError(f"{name} has entries that are not numbers ({error}); {_WANTED}.") from None
    if ndim == 1 and array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.ndim != ndim:
        column = f"; of one coordinate, {name}[:, None]" if (array.ndim, ndim) == (1, 2) and array.size else ""
        raise ValueError(f"{name} has shape {array.shape}; wanted {wanted}{column}.")
    return array


# ---- SciPy


def _is_results(ends: Any) -> bool:
    """Whether these are results of optimisers: they have x."""
    if hasattr(ends, "x") and hasattr(ends, "fun"):
        return True
    if isinstance(ends, np.ndarray) and ends.dtype != object:
        return False
    return isinstance(ends, list | tuple | np.ndarray) and len(ends) > 0 and any(hasattr(end, "x") for end in ends)


def _of_results(results: list[Any]) -> Ends:
    """A list of scipy.optimize.OptimizeResult; those of least_squares by their cost."""
    rows, values, says = [], [], []
    for i, result in enumerate(results):
        if not hasattr(result, "x"):
            raise TypeError(f"end {i} is of type {type(result).__name__} and has no x; {_WANTED}.")
        rows.append(np.atleast_1d(np.asarray(result.x, dtype=np.float64)).ravel())
        value = result.cost if getattr(result, "cost", None) is not None else getattr(result, "fun", np.nan)
        if np.size(value) != 1:
            raise ValueError(f"the value of end {i} has {np.size(value)} entries; wanted one number for each end.")
        values.append(float(np.ravel(value)[0]))
        says.append(bool(getattr(result, "success", True)))
    if len({len(row) for row in rows}) > 1:
        other = next(i for i, row in enumerate(rows) if len(row) != len(rows[0]))
        raise ValueError(
            f"end {other} has {len(rows[other])} coordinates and end 0 has {len(rows[0])}; wanted as many."
        )
    return Ends(np.array(rows), np.array(values), converged=np.array(says, dtype=bool))


# ---- tables


def _of_table(table: Any, names: Any, has_values: bool) -> Ends:
    """A DataFrame, or a dict of columns. It has no column of values where they are given, or where names are."""
    table = {str(column): table[column] for column in table}
    columns = list(table)
    plain = {column.lower(): column for column in columns}
    column = next((plain[name] for name in VALUES if name in plain), None)
    column = None if column in (names or ()) or (has_values and column in _SHORT) else column
    if column is None and names is None and not has_values:
        raise ValueError(
            f"the columns are {columns}; wanted one with the values, named {', '.join(VALUES[:6])} ...; or values=, or "
            "names= of the coordinates, which with fun are enough."
        )
    coordinates = list(names) if names is not None else _coordinates(table, columns, column)
    missing = [name for name in coordinates if name not in columns]
    if missing:
        raise ValueError(f"the columns are {columns} and lack {missing}, which names has.")
    if not coordinates:
        beside = "" if column is None else f" beside {column!r}"
        raise ValueError(f"the columns are {columns}; wanted a column of numbers for each coordinate{beside}.")
    x = np.stack([_array(f"column {name!r}", table[name], 1) for name in coordinates], axis=-1)
    said = next((plain[name] for name in _SAYS if name in plain), None)
    says = None if said is None else _truth(table[said])
    values = None if column is None else _array(f"column {column!r}", table[column], 1)
    return Ends(x, values, converged=says, names=tuple(coordinates), column=column or "")


def _coordinates(table: Any, columns: list[str], value: str | None) -> list[str]:
    """The columns of numbers that are not about the run."""
    others = [name for name in columns if name != value and name.lower() not in _ABOUT]
    others = [name for name in others if not name.startswith("Unnamed")]
    return [name for name in others if np.asarray(table[name]).dtype.kind in "uif"]


def _truth(column: Any) -> NDArray[np.bool_]:
    """A column of truth values, which may be words."""
    said = np.asarray(column)
    if said.dtype.kind in "biuf":
        return np.asarray(said, dtype=bool)
    return np.array([str(each).strip().lower() in ("true", "1", "yes") for each in said], dtype=bool)


# ---- pyPESTO


def _of_pypesto(result: Any) -> Ends:
    """A pypesto.Result, of the parameters that are estimated, on the scales on which they are.

    pyPESTO's objective takes them so, too: those on a logarithmic scale are named after it.
    """
    problem = result.problem
    runs = list(getattr(result.optimize_result, "list", result.optimize_result))
    free = np.asarray(problem.x_free_indices, dtype=np.intp)
    D = int(problem.dim_full)
    scales = list(getattr(problem, "x_scales", None) or ["lin"] * D)
    names = [
        name if scale == "lin" else f"{scale}({name})" for name, scale in zip(problem.x_names, scales, strict=True)
    ]

    def reduced(x: Any) -> Array:
        """The estimated ones of a vector that may have the fixed ones, too; NaN without a vector."""
        if x is None:
            return np.full(len(free), np.nan)
        array = np.asarray(x, dtype=np.float64)
        return array[free] if len(array) == D else array

    starts = np.array([reduced(run.get("x0")) for run in runs]).reshape(len(runs), len(free))
    values = [np.nan if run.get("fval") is None else float(run["fval"]) for run in runs]
    bounds = np.stack([reduced(problem.lb_full), reduced(problem.ub_full)], axis=1)
    return Ends(
        np.array([reduced(run.get("x")) for run in runs]).reshape(len(runs), len(free)), np.array(values),
        starts=None if np.isnan(starts).any() else starts, names=tuple(names[i] for i in free), bounds=bounds,
    )  # fmt: skip
