"""What a search returns: the modes it found, how it went, and how much may be missing."""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from allmodes import storage
from allmodes.modes.coverage import Coverage
from allmodes.nva.mixture import Mixture
from allmodes.result.history import History
from allmodes.result.masses import Masses
from allmodes.result.mode import Mode
from allmodes.result.paths import Paths
from allmodes.result.table import text_of
from allmodes.result.trace import AnnealingTrace
from allmodes.status import Status
from allmodes.storage import stored

_PLOTS = "allmodes.report.accessor"  # a higher layer: found by name when it is asked for
_PAGE = "allmodes.report.page"  # likewise
_MASSES = "allmodes.masses"  # likewise

Floats = NDArray[np.float64]


@stored
@dataclass(frozen=True, repr=False, eq=False)
class Result:
    """All modes found. Has everything in `scipy.optimize.OptimizeResult`, read as attributes or as from a dict.

    Attributes:
        x, fun: of the best mode, or of the best point evaluated if that is better, by however little, or there is no
            mode; never worse than any value evaluated, unless the function is noisy.
        success, status, message: how the search ended; the message says what was done and why.
        nfev, njev, nhev: points at which the function, its gradient and its Hessian were evaluated.
        nit: rounds.
        modes: best first.
        coverage: how many modes are probably missing, and how many more evaluations would find.
        temperature: of the weights of the modes.
        nfail, failures: evaluations that failed, and (point, kind, text) of some of them.
        history: evaluations, best value and number of modes as the search went on.
        mixture: the modes as Gaussian components in the user's coordinates, or None.
        method: what ran.
        names: of the coordinates.
        maximise: whether large values are good.
        bounds: (D, 2), infinite where open; None if they are not known.
        settings: what was asked for, as plain data that JSON can hold: with the function, the bounds and the names
            enough to search again. "budget" is the number of evaluations allowed.
        versions: of allmodes, python, numpy and scipy.
        seconds: that the search took, over all its parts if it was resumed.
        paths: where some of the local searches went.
        trace: some of the mixtures that annealing went through; None if nothing was annealed.
        symmetries: matrices M (D, D) under which the function was seen to be the same, f(M x) = f(x), modulo periods:
            parts that swap names, signs that do not matter.
        problem: what `find_fits` or `find_roots` was given, for plots; None elsewhere, and after loading.
        constraints: those of the search, for plots; None without any, and after loading.
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
    bounds: Floats | None = None
    settings: dict[str, Any] = field(default_factory=dict)
    versions: dict[str, str] = field(default_factory=dict)
    seconds: float = 0.0
    paths: Paths = field(default_factory=Paths)
    trace: AnnealingTrace | None = None
    symmetries: tuple[Floats, ...] = ()
    problem: Any = field(default=None, metadata={"stored": False})
    constraints: Any = field(default=None, metadata={"stored": False})

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"problem": None, "constraints": None}  # a user's functions need not travel

    @property
    def choices(self) -> dict[int, tuple[Any, ...]]:
        """The named choices of coordinates that have them, by coordinate; their places are the numbers in x."""
        named = self.settings.get("choices") or {}
        return {int(i): tuple(each) for i, each in named.items() if not all(type(one) is float for one in each)}

    def named(self, x: Floats) -> dict[int, Any]:
        """The named choices that a point stands for, by coordinate."""
        return {i: each[int(x[i])] for i, each in self.choices.items() if np.isfinite(x[i])}

    @property
    def is_fit(self) -> bool:
        """Whether the modes are explanations of data."""
        return any(mode.fit is not None for mode in self.modes)

    @property
    def is_roots(self) -> bool:
        """Whether the modes are roots of equations."""
        return any(mode.root is not None for mode in self.modes)

    # ---- as scipy.optimize.curve_fit has them

    @property
    def popt(self) -> Floats:
        """Of fits: the parameters (D,) of the best explanation."""
        return self._best_fit[0]

    @property
    def pcov(self) -> Floats:
        """Of fits: their covariance (D, D); infinite where the data do not determine them."""
        return self._best_fit[1]

    @property
    def _best_fit(self) -> tuple[Floats, Floats]:
        fit = self.modes[0].fit if self.modes else None
        if fit is None:
            raise AttributeError("popt and pcov are those of explanations of data, found by find_fits and curve_fit.")
        return self.modes[0].x, fit.covariance

    # ---- as a dict

    def keys(self) -> tuple[str, ...]:
        """All names."""
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
        """One row per mode, as a pandas DataFrame; named choices by their names."""
        try:
            import pandas as pd
        except ImportError as error:
            raise ImportError("to_dataframe needs pandas: pip install allmodes[dataframe]") from error
        columns = ["fun", "kind", "is_global", "weight", "flatness", "gradient_norm", "hits", "found_at"]
        if any(mode.multipliers is not None for mode in self.modes):
            columns += ["violation", "active_constraints"]
        columns += ["residual_norm", "condition", "certified"] if self.is_roots else []
        columns += ["multiplicity"] if any((mode.multiplicity or 1) > 1 for mode in self.modes) else []
        points = [[mode.choices.get(i, entry) for i, entry in enumerate(mode.x)] for mode in self.modes]
        rows = [[*(getattr(mode, name) for name in columns), *x] for mode, x in zip(self.modes, points, strict=True)]
        return pd.DataFrame(rows, columns=[*columns, *self.coordinate_names])

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

    # ---- what modes weigh

    def masses(
        self, log_density: Callable[..., Any], *, draws: int = 4000, rounds: int = 4, rng: Any = None,
        vectorized: bool = False, args: Any = (), symmetry: Any = None, workers: Any = 1, on_error: str = "raise",
    ) -> Masses:  # fmt: skip
        """How much of a distribution belongs to each mode of its log density, by weighted draws around the modes.

        Draws come from a mixture of Gaussian and Student-t components on the modes, first as wide as the curvature says
        and then fitted to the draws where that helps. They count as much as the density there is above the mixture's;
        the largest of these weights are smoothed, and their tail says whether they can be trusted.

        Args:
            log_density: the logarithm of the density, whatever was searched: after find_maxima(f) that is f, after
                find_minima(f) the function -f; up to a constant, which adds to the evidence. It is called inside the
                bounds alone. Where it is -inf, NaN or fails a draw weighs nothing.
            draws: how many count; if components are fitted each round is a quarter of that more.
            rounds: of fitting, at most; 0 leaves the components as the curvature says.
            rng: a seed or a numpy.random.Generator.
            vectorized, args, workers, on_error: as in `find_minima`, of log_density.
            symmetry: as in `find_minima`, where the search was given a function for it. Draws are around the modes that
                are listed, and masses and evidence are those of all their images.

        Returns:
            Masses: mass and log evidence of each mode with errors, weighted draws, and how good they are.
        """
        masses: Masses = importlib.import_module(_MASSES).masses_of(
            self, log_density, draws=draws, rounds=rounds, rng=rng, vectorized=vectorized, args=args, symmetry=symmetry,
            workers=workers, on_error=on_error,
        )  # fmt: skip
        return masses

    # ---- for people

    @property
    def coordinate_names(self) -> tuple[str, ...]:
        """`names`, or x0, x1, ... where there are none."""
        return self.names or tuple(f"x{i}" for i in range(len(self.x)))

    @property
    def plot(self) -> Any:
        """Plots: `plot.landscape()`, `pairs`, `modes`, `weights`, `convergence`, `parallel`, `animate`; of fits
        `fits`, `profile` and `waterfall`."""
        return importlib.import_module(_PLOTS).Plots(self)

    def report(self, path: str | os.PathLike[str], **options: Any) -> Any:
        """Write a page for a browser, one HTML file; options as in `report.page.write_report`."""
        return importlib.import_module(_PAGE).write_report(self, path, **options)

    def __repr__(self) -> str:
        return text_of(self)
