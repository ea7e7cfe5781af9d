"""What a search returns: the modes it found, how it went, and how much may be missing."""

from __future__ import annotations

import math
import os
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from allmodes import storage
from allmodes.engine.run import wrapped
from allmodes.mixture import Mixture
from allmodes.modes.coverage import Coverage, counted
from allmodes.status import Status
from allmodes.storage import stored

_SHOWN = 20  # modes in a repr
_SHOWN_COORDINATES = 4  # of a single point
_SHOWN_TEXT = 300  # characters of an error message
_LONGEST_NAME = 12  # as long as the longest number in its column, -1.2346e-300
_WIDTH = 79
_ROWS = 1000  # of a history

Floats = NDArray[np.float64]


@stored
@dataclass(frozen=True, repr=False, eq=False)
class Mode:
    """One optimum. Values and derivatives are of the user's function in the user's coordinates.

    Attributes:
        x: where it is, (d,).
        fun: the value there.
        kind: "minimum" (or "maximum"), "boundary" when a bound holds it, "flat" when it is degenerate, or "unverified".
        is_global: whether its value is the best one found, up to the tolerance of the search.
        gradient_norm: length of the gradient, along the coordinates that no bound holds.
        hessian: (d, d), NaN where it is not known.
        eigenvalues: of its block for the coordinates that no bound holds.
        curvature_from: where the Hessian comes from: "derivatives", "differences" or "component".
        flatness: zeta, see `allmodes.modes.laplace.flatness`; infinite for a degenerate mode, NaN if it is not known.
        weight: share of this mode in the Gibbs measure at the temperature that the result states.
        hits: launches that ended here.
        found_at: evaluations made when it was found.
        standard_error: of the value, for noisy functions.
        active: coordinates that sit at a bound.
    """

    x: Floats
    fun: float
    kind: str
    is_global: bool
    gradient_norm: float
    hessian: Floats
    eigenvalues: Floats
    curvature_from: str
    flatness: float
    weight: float
    hits: int
    found_at: int
    standard_error: float | None = None
    active: tuple[int, ...] = ()

    def __repr__(self) -> str:
        return f"Mode({self.fun:.6g} at {_point(self.x)}, {self.kind}{', global' if self.is_global else ''})"


@stored
@dataclass(eq=False)
class History:
    """How a search went: one row per change of the best value or the number of modes, the first and the last state.

    When there are more than 1000, some are dropped so that the others spread evenly over the evaluations.
    """

    rows: list[tuple[int, float, int]] = field(default_factory=list)

    def add(self, nfev: int, best: float, modes: int) -> None:
        """The state after so many evaluations."""
        if len(self.rows) > 1 and _is_same(self.rows[-1], self.rows[-2]):
            self.rows.pop()  # it was there only as the last one
        self.rows.append((int(nfev), float(best), int(modes)))
        if len(self.rows) > _ROWS:
            self._thin()

    def _thin(self) -> None:
        """Keep the first row in every cell of a grid over the evaluations: every other one would empty the beginning.

        The width of a cell is a power of two, so that cells of one thinning are whole in the next.
        """
        first, *inner, last = self.rows
        width = 1
        while (last[0] - first[0]) // width > _ROWS // 2:
            width *= 2
        cells = {(row[0] - first[0]) // width: row for row in reversed([first, *inner])}
        self.rows = [*reversed(cells.values()), last]

    def copy(self) -> History:
        """As it is now; the original may go on."""
        return History(list(self.rows))

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def nfev(self) -> NDArray[np.int64]:
        """Evaluations made, (n,)."""
        return np.array([row[0] for row in self.rows], dtype=np.int64)

    @property
    def best(self) -> Floats:
        """Best value by then, (n,)."""
        return np.array([row[1] for row in self.rows], dtype=np.float64)

    @property
    def modes(self) -> NDArray[np.int64]:
        """Modes found by then, (n,)."""
        return np.array([row[2] for row in self.rows], dtype=np.int64)


def _is_same(a: tuple[int, float, int], b: tuple[int, float, int]) -> bool:
    return a[2] == b[2] and (a[1] == b[1] or (math.isnan(a[1]) and math.isnan(b[1])))


@stored
@dataclass(frozen=True, repr=False, eq=False)
class Result:
    """All modes found. Has what `scipy.optimize.OptimizeResult` has, read as attributes or as from a dict.

    Attributes:
        x, fun: of the best mode, or of the best point evaluated if that is better or there is no mode.
        success, status, message: how the search ended; the message says what was done and why.
        nfev, njev, nhev: points at which the function, its gradient and its Hessian were evaluated.
        nit: rounds.
        modes: best first.
        coverage: the chance that another launch finds a new mode.
        temperature: of the weights of the modes.
        nfail, failures: evaluations that failed, and (point, kind, text) of some of them.
        history: evaluations, best value and number of modes as the search went on.
        mixture: the modes as Gaussian components in the user's coordinates, or None.
        method: what ran.
        names: of the coordinates.
        maximise: whether large values are good.
    """

    x: Floats
    fun: float
    success: bool
    status: Status
    message: str
    nfev: int
    njev: int
    nhev: int
    nit: int
    modes: tuple[Mode, ...]
    coverage: Coverage
    temperature: float
    nfail: int
    failures: tuple[Any, ...]
    history: History
    mixture: Mixture | None
    method: str
    names: tuple[str, ...] = ()
    maximise: bool = False

    # ---- as a dict

    def keys(self) -> tuple[str, ...]:
        """The names of all there is."""
        return tuple(entry.name for entry in fields(self))

    def __iter__(self) -> Iterator[str]:
        return iter(self.keys())

    def __contains__(self, key: object) -> bool:
        return key in self.keys()

    def __getitem__(self, key: str) -> Any:
        if key not in self.keys():
            raise KeyError(f"a Result has no {key!r}; it has {', '.join(self.keys())}")
        return getattr(self, key)

    def get(self, key: str, default: Any = None) -> Any:
        return getattr(self, key) if key in self.keys() else default

    # ---- elsewhere

    def to_dataframe(self) -> Any:
        """One row per mode, as a pandas DataFrame."""
        try:
            import pandas as pd
        except ImportError as error:
            raise ImportError("to_dataframe needs pandas: pip install allmodes[dataframe]") from error
        columns = ["fun", "kind", "is_global", "weight", "flatness", "gradient_norm", "hits", "found_at"]
        rows = [[*(getattr(mode, name) for name in columns), *mode.x] for mode in self.modes]
        return pd.DataFrame(rows, columns=[*columns, *self._names()])

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write to one npz file, without pickle."""
        storage.save(path, self, kind="result", note=f"{self.method}: {len(self.modes)} modes")

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Result:
        """Read what `save` wrote."""
        result = storage.load(path, kind="result")
        if not isinstance(result, cls):
            raise ValueError(f"{os.fspath(path)} holds a {type(result).__name__}; a Result was wanted.")
        return result

    # ---- as text

    def __repr__(self) -> str:
        lines = [
            *wrapped(f"{self.method}: {self.nfev} evaluations, {counted(len(self.modes), 'mode')} in {len(self.x)}-d"),
            *wrapped(f"status {self.status.name}: {self.message}"),
            *wrapped(f"coverage: {self.coverage}"),
            "",
            *(self._table() if self.modes else wrapped(f"best point {_point(self.x)}, value {self.fun:.6g}")),
        ]
        if self.nfail:
            lines += ["", *wrapped(f"{counted(self.nfail, 'evaluation')} failed{_first(self.failures)}")]
        return "\n".join(lines)

    def _names(self) -> tuple[str, ...]:
        return self.names or tuple(f"x{i}" for i in range(len(self.x)))

    def _table(self) -> list[str]:
        """A heading and one line per mode, with as many coordinates as fit."""
        shown = self.modes[:_SHOWN]
        columns = [
            ["", *(f"{i}{'*' if mode.is_global else ' '}" for i, mode in enumerate(shown, 1))],
            ["value", *(f"{mode.fun:.6g}" for mode in shown)],
            _padded(["kind", *(mode.kind for mode in shown)]),
            ["weight", *(f"{mode.weight:.4f}" for mode in shown)],
            ["hits", *(str(mode.hits) for mode in shown)],
        ]
        if any(mode.standard_error is not None for mode in shown):
            errors = ("" if mode.standard_error is None else f"{mode.standard_error:.2g}" for mode in shown)
            columns.insert(2, ["error", *errors])
        for i, name in enumerate(self._names()):
            columns.append([name[:_LONGEST_NAME], *(f"{mode.x[i]:.5g}" for mode in shown)])
        lines = _aligned(columns)
        more = len(self.modes) - _SHOWN
        legend = f"* global; weights at temperature {self.temperature:.3g}"
        return [*lines, *([f"... and {more} more"] if more > 0 else []), legend]


def best_of(modes: Sequence[Mode], x: Floats | None, fun: float | None, d: int) -> tuple[Floats, float]:
    """`x` and `fun` of a Result: those of the first mode or, without modes, the best point given, or NaN."""
    if modes:
        return modes[0].x, modes[0].fun
    if x is None or fun is None:
        return np.full(d, np.nan), math.nan
    return x, float(fun)


def _padded(words: list[str]) -> list[str]:
    """Words as a column that begins at the left."""
    return [word.ljust(max(map(len, words))) for word in words]


def _aligned(columns: list[list[str]]) -> list[str]:
    """Lines of a table that end together, cut with dots where columns do not fit."""
    widths = [max(map(len, column)) for column in columns]
    ends = np.cumsum([width + 2 for width in widths]) - 2
    dots = "  ..."
    fitting = len(columns) if ends[-1] <= _WIDTH else int((ends <= _WIDTH - len(dots)).sum())
    lines = []
    for row in zip(*columns[:fitting], strict=True):
        cells = (cell.rjust(width) for cell, width in zip(row, widths, strict=False))
        lines.append("  ".join(cells) + (dots if fitting < len(columns) else ""))
    return lines


def _point(x: Floats) -> str:
    shown = [f"{entry:.5g}" for entry in x[:_SHOWN_COORDINATES]]
    return f"[{', '.join(shown)}{', ...' if len(x) > _SHOWN_COORDINATES else ''}]"


def _first(failures: tuple[Any, ...]) -> str:
    if not failures:
        return "."
    point, kind, text = tuple(failures[0])[:3]
    said = textwrap.shorten(f"{kind}, {text}", _SHOWN_TEXT, placeholder=" ...")
    return f"; the first at x = {_point(np.atleast_1d(point))}: {said}"
