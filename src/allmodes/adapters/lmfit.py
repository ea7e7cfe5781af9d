"""lmfit: every explanation of data as a `MinimizerResult`, with standard errors and correlations of its own."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from copy import deepcopy
from typing import Any

import numpy as np
from numpy.typing import NDArray

from allmodes.adapters.peers import peer
from allmodes.finding import find_minima
from allmodes.fitting import find_fits
from allmodes.result import Mode, Result

Floats = NDArray[np.float64]


class Fits(list[Any]):
    """A `MinimizerResult` (of `fit`, a `ModelResult`) for each explanation, best first.

    Attributes:
        allmodes: the `allmodes.Result` they are from; each also has its `mode`, with weight, kind and `undetermined`.
    """

    def __init__(self, fits: list[Any], allmodes: Result) -> None:
        super().__init__(fits)
        self.allmodes = allmodes

    def __repr__(self) -> str:
        return repr(self.allmodes)


def minimize(
    fcn: Callable[..., Any],
    params: Any,
    method: Any = "auto",
    args: tuple[Any, ...] | None = None,
    kws: Mapping[str, Any] | None = None,
    *,
    scale_covar: bool = True,
    Dfun: Callable[..., Any] | None = None,
    spread: Any = None,
    **options: Any,
) -> Fits:
    """Find every minimum: `lmfit.minimize` with all explanations in place of one.

    Args:
        fcn: `fcn(params, *args, **kws)` -> residuals, or one number to be minimised.
        params: `lmfit.Parameters`. Those that vary are searched between `min` and `max`; where these are infinite the
            values say where to look. Fixed ones and expressions are what they are in lmfit; `brute_step` is not used.
            A local search starts from the values, too.
        method: of the search, as in `allmodes.find_minima`; lmfit's methods are for one minimum.
        args, kws: further arguments of fcn.
        scale_covar: whether errors of the data are estimated from the residuals; False if residuals have been divided
            by them.
        Dfun: the Jacobian `Dfun(params, *args, **kws)` -> (m, n) along the n parameters that vary, in order.
        spread: how far around their values to look for parameters without bounds: one number, or a dict by names; by
            default five times the value, at least 5.
        options: everything else that `allmodes.find_fits` takes (for one number, `find_minima`): rng, maxfev, scale,
            loss, workers, ...

    Returns:
        Fits: a list of `MinimizerResult`, best first. Statistics are lmfit's; `covar`, `stderr` and `correl` follow
        from the Jacobian at the mode, and of one number from its Hessian, as if it were a chi-square. `nfev` is that
        of the whole search.
    """
    lmfit = peer("lmfit")
    if not isinstance(params, lmfit.Parameters):
        raise TypeError(f"params is a {type(params).__name__}; wanted lmfit.Parameters.")
    minimizer = lmfit.Minimizer(fcn, params, fcn_args=args, fcn_kws=kws, nan_policy="propagate")
    begun = minimizer.prepare_fit()
    names = begun.var_names
    if not names:
        raise ValueError("no parameter varies: all of params are fixed or expressions; set vary=True for some.")
    function = _Called(fcn, begun.params, names, args or (), kws or {})
    given = _where(begun.params, names, spread) | {"names": names, "method": method} | options
    x = np.array(begun.init_vals, dtype=np.float64)
    if function(x).size > 1:
        jac = None if Dfun is None else _Called(Dfun, deepcopy(begun.params), names, args or (), kws or {}, ravel=False)
        found = find_fits(function, jac=jac, **{"absolute_sigma": not scale_covar} | given)
    elif Dfun is not None:
        raise ValueError("Dfun is the Jacobian of residuals, and fcn returned one number: leave Dfun out, or pass jac.")
    else:
        found = find_minima(_One(function), **given)
    told = [_told(minimizer.prepare_fit(params), function, found, mode) for mode in found.modes]
    return Fits(told, found)


def fit(
    model: Any, data: Any, params: Any = None, weights: Any = None, fit_kws: Mapping[str, Any] | None = None, **kws: Any
) -> Fits:
    """Fit a `lmfit.Model` in every way that it fits: `model.fit` with all explanations in place of one.

    Args:
        model, data, params, weights: as in `lmfit.Model.fit`.
        fit_kws: what `minimize` takes beside the function, such as {"rng": 0, "scale_covar": False}.
        kws: the independent variables, and initial values of parameters.

    Returns:
        Fits: a list of `lmfit.model.ModelResult`, best first.
    """
    results = peer("lmfit.model").ModelResult
    params = model.make_params() if params is None else deepcopy(params)
    for name in set(kws) & set(model.param_names):
        params[name].set(value=kws.pop(name))
    data = np.asarray(data)
    settings = dict(fit_kws or {})
    fits = minimize(model._residual, params, args=(data, weights), kws=kws, **settings)
    told = []
    for each in fits:
        result = results(model, params, fcn_kws=dict(kws), scale_covar=settings.get("scale_covar", True))
        result.minimize = lambda each=each, **_: each  # in place of a local fit, this once
        result.fit(data=data, weights=weights)
        del result.minimize
        result.components = model.components
        told.append(result)
    return Fits(told, fits.allmodes)


class _Called:
    """A function of lmfit's Parameters as one of the values (n,) of those that vary."""

    def __init__(
        self, fcn: Callable[..., Any], params: Any, names: list[str], args: tuple[Any, ...], kws: Mapping[str, Any],
        ravel: bool = True,
    ) -> None:  # fmt: skip
        self.fcn, self.params, self.names, self.args, self.kws, self.ravel = fcn, params, names, args, kws, ravel

    def __call__(self, x: Floats) -> Floats:
        put(self.params, self.names, x)
        given = self.fcn(self.params, *self.args, **self.kws)
        floats: Floats = peer("lmfit.minimizer").coerce_float64(given, nan_policy="propagate", ravel=self.ravel)
        return floats


class _One:
    """The number that a function returns as an array of one."""

    def __init__(self, function: _Called) -> None:
        self.function = function

    def __call__(self, x: Floats) -> float:
        return float(self.function(x)[0])


def put(params: Any, names: list[str], x: Floats) -> None:
    """Give the parameters of some names values (n,); expressions follow."""
    for name, value in zip(names, x.tolist(), strict=True):
        params[name].value = value
    params.update_constraints()


def _where(params: Any, names: list[str], spread: Any) -> dict[str, Any]:
    """Bounds, the values to start from, and how far to look around them."""
    bounds = [(float(params[name].min), float(params[name].max)) for name in names]
    x0 = [float(params[name].value) for name in names]
    for name, value in zip(names, x0, strict=True):
        if not np.isfinite(value):
            raise ValueError(
                f"parameter {name!r} has value {value} and open bounds; give it a value to look around "
                f"(params[{name!r}].value = ..., and spread= to say how far), or min and max."
            )
    if isinstance(spread, Mapping):
        unknown = sorted(set(spread) - set(names))
        if unknown:
            raise ValueError(f"spread names {unknown[0]!r}; the parameters that vary are {', '.join(names)}.")
        spread = [spread.get(name) for name in names]
    return {"bounds": bounds, "x0": x0} | ({} if spread is None else {"spread": spread})


def _told(result: Any, function: _Called, found: Result, mode: Mode) -> Any:
    """A mode in the result that lmfit has prepared for it."""
    put(result.params, result.var_names, mode.x)
    result.x, result.mode, result.method = mode.x, mode, "allmodes"
    result.nfev, result.message = found.nfev, f"{mode.kind}, weight {mode.weight:.3g}. {found.message}"
    result.success, result.status = mode.kind != "unverified", int(found.status)
    fit = mode.fit
    is_seen = fit is not None and fit.residuals.size and found.settings["loss"] == "linear"
    result.residual = fit.residuals if fit is not None and is_seen else function(mode.x)
    result._calculate_statistics()
    covariance = _twice_inverse(mode) if fit is None else fit.covariance
    errors = np.sqrt(np.diagonal(covariance))
    is_known = np.isfinite(errors) & (errors > 0.0)
    result.errorbars, result.uvars = bool(is_known.all() and np.isfinite(covariance).all()), None
    for i in np.flatnonzero(is_known):
        parameter = result.params[result.var_names[i]]
        parameter.stderr = float(errors[i])
        others = [j for j in np.flatnonzero(is_known) if j != i and np.isfinite(covariance[i, j])]
        parameter.correl = {result.var_names[j]: float(covariance[i, j] / errors[i] / errors[j]) for j in others}
    if result.errorbars:
        for parameter in result.params.values():
            parameter.stderr = parameter.stderr or 0.0  # as lmfit has it for those that are fixed
        result.covar = covariance
        result.uvars = result.params.create_uvars(covar=covariance)
    return result


def _twice_inverse(mode: Mode) -> Floats:
    """The covariance at a minimum of a chi-square: 2 H^-1 along parameters that are not at a bound, else unknown."""
    covariance = np.full_like(mode.hessian, np.nan)
    free = [i for i in range(len(mode.x)) if i not in mode.active]
    H = mode.hessian[np.ix_(free, free)]
    if np.isfinite(H).all() and len(free) and np.linalg.eigvalsh(H)[0] > 0.0:
        covariance[np.ix_(free, free)] = 2.0 * np.linalg.inv(H)
    return covariance
