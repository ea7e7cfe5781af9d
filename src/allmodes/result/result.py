"""What a search returns: the modes it found, how it went, and how much may be missing."""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, fields
from typing import Any, SupportsIndex, overload

import numpy as np
from numpy.typing import NDArray

from allmodes.hints import Random, Symmetry
from allmodes.keywords import helpful
from allmodes.modes.coverage import Coverage
from allmodes.nva.mixture import Mixture
from allmodes.result import files
from allmodes.result.audit import Audit
from allmodes.result.barriers import Barriers
from allmodes.result.history import History
from allmodes.result.html import html_of
from allmodes.result.masses import Masses
from allmodes.result.mode import Mode
from allmodes.result.paths import Paths
from allmodes.result.table import text_of
from allmodes.result.trace import AnnealingTrace
from allmodes.status import Status
from allmodes.storage import stored

_PLOTS = "allmodes.report.accessor"  # a higher layer: found by name when it is asked for
_PAGE = "allmodes.report.page"  # likewise
_WAYS = "allmodes.connecting"  # likewise
_MASSES = "allmodes.masses"  # likewise

Floats = NDArray[np.float64]


@stored
@dataclass(frozen=True, repr=False, eq=False)
class Result:
    """All modes found. Has everything in `scipy.optimize.OptimizeResult`, read as attributes or as from a dict.

    Also the sequence of its modes: `result[0]` is the best, `for mode in result` goes through them all.

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
        barriers: between modes, with the ways that `connect` found; None before.
        problem: what `find_fits` or `find_roots` was given, for plots; None elsewhere, and after loading.
        constraints: those of the search, for plots; None without any, and after loading.
        audit: of `allmodes.audit`, what is known of each end (see `allmodes.result.Audit`); None elsewhere.
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
    barriers: Barriers | None = None
    problem: Any = field(default=None, metadata={"stored": False})
    constraints: Any = field(default=None, metadata={"stored": False})
    audit: Audit | None = None

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

    # ---- what is between modes

    def connect(self, fun: Any = None, *, maxfev: int | None = None, **options: Any) -> Result:
        """The same with `barriers`: the lowest ways between modes, by a bounded number of further evaluations.

        Neighbours are joined first, and the highest point of each way is moved to the saddle beside it. A barrier is
        that of the best way found; a better one may exist. `plot.tree()` draws them.

        Args:
            fun: the function, as it was searched; of fits the residuals, which need not be given after the search.
            maxfev: never evaluate fun more often than this; 10,000 (d + 1) unless given, and mostly far less is used.
            options: args, jac, vectorized and workers as in `find_minima`; rng, for ways that begin aside.
        """
        result: Result = importlib.import_module(_WAYS).connect(self, fun, maxfev=maxfev, **options)
        return result

    # ---- as a dict of what it has, and as the sequence of its modes

    def keys(self) -> tuple[str, ...]:
        """All names."""
        return tuple(entry.name for entry in fields(self))

    def __len__(self) -> int:
        """How many modes there are."""
        return len(self.modes)

    def __bool__(self) -> bool:
        """True, as of every result of SciPy; `success` and `len` say whether there are modes."""
        return True

    def __iter__(self) -> Iterator[Mode]:
        """The modes, best first."""
        return iter(self.modes)

    def __contains__(self, key: object) -> bool:
        """Whether there is anything of this name, or this mode."""
        return key in self.keys() if isinstance(key, str) else any(key is mode for mode in self.modes)

    @overload
    def __getitem__(self, key: str) -> Any: ...

    @overload
    def __getitem__(self, key: SupportsIndex) -> Mode: ...

    @overload
    def __getitem__(self, key: slice) -> tuple[Mode, ...]: ...

    def __getitem__(self, key: str | SupportsIndex | slice) -> Any:
        """What has this name; or the mode at this place, from 0: its rank less 1."""
        if not isinstance(key, str):
            return self._mode(key)
        if key not in self.keys():
            raise KeyError(f"a Result has no {key!r}; it has {', '.join(self.keys())}")
        return getattr(self, key)

    def _mode(self, place: SupportsIndex | slice) -> Any:
        try:
            return self.modes[place]
        except IndexError:
            there = f"there are {len(self)}, from result[0]." if self.modes else "none was found: see result.message."
            raise IndexError(f"result[{place}] is no mode; {there}") from None
        except TypeError:
            raise TypeError(f"result[{place!r}]: wanted the name of an attribute, or the number of a mode.") from None

    def get(self, key: str, default: Any = None) -> Any:
        return getattr(self, key) if key in self.keys() else default

    # ---- elsewhere

    def to_dataframe(self) -> Any:
        """One row per mode, as a pandas DataFrame whose index is the rank, from 1; named choices by their names."""
        return files.as_frame(self)

    def to_dict(self) -> dict[str, Any]:
        """Plain data: numbers, texts, lists and dicts; numbers that are not finite are None."""
        return files.as_dict(self)

    def to_json(self) -> str:
        """The same as text that every JSON reader takes."""
        return files.as_json(self)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write to one file, without pickle: .npz, or .json, which other programs can read (see `to_dict`)."""
        files.save(self, path)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Result:
        """Read what `save` wrote, npz or JSON."""
        result = files.load(path)
        if not isinstance(result, cls):
            raise ValueError(f"{os.fspath(path)} holds a {type(result).__name__}; a Result was wanted.")
        return result

    # ---- what modes weigh

    @helpful({"bounds": "masses are of what is inside the bounds of the search."})
    def masses(
        self, log_density: Callable[..., Any], *, draws: int = 4000, rounds: int = 4, rng: Random | None = None,
        vectorized: bool = False, args: Any = (), symmetry: Symmetry | None = None, workers: Any = 1,
        on_error: str = "raise",
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
        """Plots: `plot.landscape()`, `pairs`, `map`, `tree`, `modes`, `waterfall`, `weights`, `convergence`,
        `parallel`, `animate`; of fits `fits` and `profile`."""
        return importlib.import_module(_PLOTS).Plots(self)

    def report(self, path: str | os.PathLike[str], **options: Any) -> Any:
        """Write a page for a browser, one HTML file; options as in `report.page.write_report`."""
        return importlib.import_module(_PAGE).write_report(self, path, **options)

    def __repr__(self) -> str:
        return text_of(self)

    def _repr_html_(self) -> str:
        """For notebooks."""
        return html_of(self)
