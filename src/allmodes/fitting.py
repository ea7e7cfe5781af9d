"""Two calls that find every explanation of data: fits of residuals, and of a curve."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from allmodes.checks import real_array
from allmodes.explaining import explained
from allmodes.hints import Bounds, Derivative, Names, Per, Random, Scales, Starts, Symmetry, Table, Wrapped
from allmodes.keywords import helpful
from allmodes.loop import Execution, Residuals, find, interrupted
from allmodes.nva.annealing import Algorithm
from allmodes.objective.residuals import sum_of_squares
from allmodes.progress import Progress
from allmodes.result import Result
from allmodes.task import Task

Floats = NDArray[np.float64]


# What a search says of functions whose differences say nothing of errors.
_NOISY = "the function is noisy"
_SUM = "use find_minima with the sum of squares, which takes them."
_OTHERWISE = {
    "constraints": f"fits are searched between bounds alone: {_SUM}",
    "integrality": f"fits are searched over real parameters: {_SUM}",
    "hess": "the curvature follows from jac, the Jacobian of the residuals: leave hess out.",
}  # arguments that fits cannot have


_OF_CURVES = {
    "x0": "the point to start from is p0 here.",
    "residuals": "residuals are for find_fits; here it is f(xdata, *parameters).",
    "fun": "the model is f here, f(xdata, *parameters).",
    "args": "what f needs beside parameters is in xdata, or in a lambda.",
}


@helpful(_OTHERWISE)
def find_fits(
    residuals: Callable[..., Any],
    bounds: Bounds | None = None,
    *,
    jac: Derivative | None = None,
    args: Any = (),
    sigma: ArrayLike | None = None,
    absolute_sigma: bool | None = None,
    loss: str | Callable[..., Any] = "linear",
    f_scale: float = 1.0,
    x0: ArrayLike | None = None,
    starts: Starts | None = None,
    warm_start: tuple[ArrayLike, ArrayLike] | Table | Result | None = None,
    target: str = "all",
    method: str | Algorithm = "auto",
    n_modes: int | None = None,
    maxfev: int | None = None,
    maxiter: int | None = None,
    maxtime: float | None = None,
    effort: float | None = None,
    xtol: float = 1e-6,
    vectorized: bool = False,
    periodic: Wrapped | None = None,
    noise: bool | float | None = None,
    workers: Any = 1,
    timeout: float | None = None,
    retries: int = 1,
    on_error: str = "raise",
    polish: bool = True,
    rng: Random | None = None,
    callback: Callable[..., Any] | None = None,
    progress: bool | Callable[[Progress], object] = False,
    checkpoint: str | os.PathLike[str] | None = None,
    names: Names | None = None,
    scale: Scales | None = None,
    spread: Per | None = None,
    symmetry: Symmetry | None = None,
    within: float | None = None,
    min_distance: float | None = None,
    options: dict[str, Any] | None = None,
) -> Result:
    """Find every parameter vector that fits data well: all minima of a sum of squares, with errors of the parameters.

    Local searches make Levenberg-Marquardt steps on the model of Gauss and Newton; what that leaves out is learnt, and
    at an optimum measured.

    Args:
        residuals: a function of parameters (d,) -> residuals (m,), as in scipy.optimize.least_squares; with
            `vectorized` of points (N, d) -> (N, m).
        bounds: (lower, upper) for each parameter, as in `find_minima`.
        jac: the Jacobian of the residuals: a function -> (m, d), or with `vectorized` (N, m, d); "jax" if residuals are
            written with JAX; "2-point" or None for differences of residuals, which cost d evaluations more wherever a
            Jacobian is wanted, all of them counted.
        args: further arguments of residuals and jac.
        sigma: errors of the data that residuals are divided by: one number, (m,), or a covariance (m, m). None: they
            are equal and not known, and are estimated from the residuals.
        absolute_sigma: False if sigma says only how errors compare with each other, as in scipy.optimize.curve_fit;
            True, without sigma, if residuals have been divided by their errors.
        loss: "linear" for squares; "soft_l1", "huber", "cauchy" or "arctan" where there are outliers; or a function, as
            in scipy.optimize.least_squares.
        f_scale: residuals (divided by sigma) above it are outliers to the loss.
        x0, starts, warm_start, target, method, n_modes, maxfev, maxiter, maxtime, effort, xtol, vectorized, periodic,
            noise: as in `find_minima`; evaluations are those of the residuals.
        workers, timeout, retries, on_error, polish, rng, callback, progress, checkpoint, names: likewise.
        scale, spread, symmetry, within, min_distance, options: likewise;
            a parameter over several decades, such as a rate, wants scale="log".

    Returns:
        Result: as of `find_minima`. The value `fun` of a mode is its `cost`, half the sum of squares (or of the loss).
        Modes have also `residuals`, `chi2`, `reduced_chi2`, `dof`, `covariance`, `standard_errors`, `correlations`,
        `undetermined` (what the data do not tell, in words), `aic` and `bic`. Their `weight` is the share of the
        posterior, with a prior that is flat between the bounds, by Laplace's approximation. Residuals and Jacobian are
        evaluated once more at each mode, within `maxfev`.

    >>> t = np.linspace(0, 3, 20)
    >>> data = np.exp(-0.5 * t) + np.exp(-2.0 * t)
    >>> fits = find_fits(lambda k: np.exp(-k[0] * t) + np.exp(-k[1] * t) - data, [(0, 5), (0, 5)], rng=0)
    >>> sorted(np.round(mode.x, 3).tolist() for mode in fits.modes)  # rates may exchange names
    [[0.5, 2.0], [2.0, 0.5]]
    """
    if not isinstance(absolute_sigma, bool | None):
        raise TypeError(f"absolute_sigma is {absolute_sigma!r}; wanted True or False.")
    task = Task(
        bounds=bounds, x0=x0, starts=starts, warm_start=warm_start, maximise=False, target=target, method=method,
        n_modes=n_modes, maxfev=maxfev, maxiter=maxiter, maxtime=maxtime, xtol=xtol, periodic=periodic, noise=noise,
        polish=polish, rng=rng, names=names, options=options, effort=effort,
        scale=scale, spread=spread, symmetry=symmetry, within=within, min_distance=min_distance,
    )  # fmt: skip
    part = sum_of_squares(residuals, jac, args, vectorized, task.box, sigma, loss, f_scale)
    execution = Execution(workers, timeout, retries, on_error, callback, progress, checkpoint)
    result = find(task, Residuals(part, jac), execution)
    said = {"loss": loss if isinstance(loss, str) else getattr(loss, "__name__", repr(loss)), "f_scale": f_scale}
    result = replace(result, settings=result.settings | said | {"task": "fit"})
    left = result.settings["budget"] - result.nfev
    is_absolute = sigma is not None if absolute_sigma is None else absolute_sigma
    is_noisy = bool(noise) or _NOISY in result.message.lower()
    try:
        return explained(result, part, is_absolute, left, is_noisy)
    except KeyboardInterrupt:  # once more, or only now: nothing more is evaluated
        return explained(interrupted(result), part, is_absolute, 0, is_noisy)


@helpful(_OTHERWISE | _OF_CURVES, also=find_fits)
def curve_fit(
    f: Callable[..., Any],
    xdata: Any,
    ydata: ArrayLike,
    p0: ArrayLike | None = None,
    sigma: ArrayLike | None = None,
    absolute_sigma: bool = False,
    bounds: Bounds = (-np.inf, np.inf),
    jac: Derivative | None = None,
    *,
    names: Names | None = None,
    vectorized: bool = False,
    **options: Any,
) -> Result:
    """Fit a curve to data in every way that it fits: scipy.optimize.curve_fit with all explanations in place of one.

    Args:
        f: the model, `f(xdata, *parameters)` -> (m,); with `vectorized` parameters are arrays (N, 1) and it returns
            (N, m).
        xdata: whatever f takes, often (m,).
        ydata: the data (m,).
        p0: a point to start from, or several (n, d); where to look if there are no bounds.
        sigma: errors of the data: one number, (m,), or their covariance (m, m).
        absolute_sigma: whether sigma is in units of the data; False if it says only how errors compare: then they are
            estimated, as without sigma.
        bounds: a tuple (lower, upper) of numbers or arrays (d,), as in SciPy; a list of (lower, upper) for each
            parameter; or a scipy.optimize.Bounds. Parameters without bounds need p0.
        jac: the Jacobian of f, `jac(xdata, *parameters)` -> (m, d); "jax" if f is in JAX; None for differences.
        names: of the parameters; by default those of f.
        vectorized: whether f and jac take many parameter vectors at once.
        options: everything else that `find_fits` takes: loss, f_scale, maxfev, workers, rng, ...

    Returns:
        Result: as of `find_fits`. `print(result)` shows every explanation with the errors of its parameters;
        `result.plot.fits(f, xdata, ydata)` draws them. What SciPy returns is `result.popt, result.pcov`, of the best.

    >>> t = np.linspace(0, 3, 20)
    >>> def decay(t, a, b):
    ...     return np.exp(-a * t) + np.exp(-b * t)
    >>> fits = curve_fit(decay, t, decay(t, 0.5, 2.0), bounds=(0, 5), rng=0)
    >>> sorted(np.round(mode.x, 3).tolist() for mode in fits.modes)  # a and b may exchange names
    [[0.5, 2.0], [2.0, 0.5]]
    """
    if not callable(f):
        raise TypeError(f"f is {f!r} ({type(f).__name__}); a function f(xdata, *parameters) was wanted.")
    data = real_array("ydata", ydata, "the data (m,)")
    if data.ndim != 1 or not data.size:
        raise ValueError(f"ydata has shape {data.shape}; wanted the data as (m,): flatten them, and what f returns.")
    if not np.isfinite(data).all():
        raise ValueError(f"ydata has {int((~np.isfinite(data)).sum())} values that are not finite; leave them out.")
    if isinstance(bounds, bool):
        raise TypeError(f"bounds is {bounds}; check_finite, which SciPy has in its place, is not needed here.")
    own = _parameters(f)
    d = _dimension(bounds, p0, names, own)
    if names is None and len(own) == d:
        names = own
    pairs = _pairs(bounds, d)
    is_open = pairs is None or any(_is_open(*pair) for pair in pairs if len(pair) == 2)
    if is_open and p0 is None and options.get("starts") is None:
        raise ValueError("a parameter has no bounds; give bounds=(lower, upper), or a point p0 to search around.")
    if sigma is not None and np.size(sigma) not in (1, data.size, data.size**2):
        raise ValueError(f"sigma has shape {np.shape(sigma)} for {data.size} data; wanted one error for each.")
    x = np.asarray(xdata) if isinstance(xdata, list | tuple) else xdata
    model = Curve(f, x, data, vectorized)
    derived = Curve(jac, x, None, vectorized) if callable(jac) else jac
    return find_fits(
        model, pairs, jac=derived, sigma=sigma, absolute_sigma=absolute_sigma, x0=p0, names=names,
        vectorized=vectorized, **options,
    )  # fmt: skip


@dataclass(frozen=True)
class Curve:
    """A model at parameters: what it says less the data, or its Jacobian if there are no data."""

    function: Callable[..., Any]
    xdata: Any
    ydata: Floats | None
    vectorized: bool

    def __call__(self, x: Any) -> Any:
        """At parameters (d,), or at several (N, d)."""
        found = self.function(self.xdata, *(x.T[:, :, None] if self.vectorized else x))
        if self.ydata is None:
            return found
        shape, m = np.shape(found), len(self.ydata)
        if shape[-1:] != (m,):
            raise ValueError(f"f returned shape {shape} for {m} data; wanted a value for each of ydata.")
        return found - self.ydata


def _parameters(f: Callable[..., Any]) -> tuple[str, ...]:
    """The names of the parameters of a model, after its first argument; none if they cannot be told."""
    try:
        given = list(inspect.signature(f).parameters.values())
    except (TypeError, ValueError):
        return ()
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    if any(each.kind is inspect.Parameter.VAR_POSITIONAL for each in given):
        return ()
    return tuple(each.name for each in given if each.kind in kinds)[1:]


def _dimension(bounds: Any, p0: Any, names: Any, own: tuple[str, ...]) -> int:
    """How many parameters there are: by p0, the bounds, the names, or the arguments of the model."""
    if p0 is not None:
        return int(np.shape(np.atleast_1d(p0))[-1])
    if isinstance(bounds, tuple) and len(bounds) == 2:
        sizes = [np.size(side) for side in bounds if np.ndim(side)]
        if sizes:
            return sizes[0]
    elif hasattr(bounds, "lb"):
        if max(np.size(bounds.lb), np.size(bounds.ub)) > 1:
            return max(np.size(bounds.lb), np.size(bounds.ub))
    elif bounds is not None:
        return len(bounds)
    if names is not None:
        return len(names)
    if own:
        return len(own)
    raise ValueError("the number of parameters is not known; give p0, names, or bounds for each parameter.")


def _pairs(bounds: Any, d: int) -> Any:
    """SciPy's (lower, upper) as a pair for each parameter; other bounds as they are."""
    if bounds is None:
        return None
    if hasattr(bounds, "lb"):
        bounds = (bounds.lb, bounds.ub)
    if not (isinstance(bounds, tuple) and len(bounds) == 2):
        return bounds
    sides = []
    for name, side in zip(("lower", "upper"), bounds, strict=True):
        array = np.asarray(side, dtype=np.float64)
        if array.ndim > 1 or array.size not in (1, d):
            raise ValueError(
                f"bounds has {array.size} {name} bounds for {d} parameters; wanted (lower, upper), each a number or "
                f"({d},), or a list of {d} pairs."
            )
        sides.append(np.broadcast_to(array, d))
    return list(zip(*sides, strict=True))


def _is_open(lower: Any, upper: Any) -> bool:
    return all(side is None or np.isinf(side) for side in (lower, upper))
