"""Misspelt arguments: an error that says which one was meant, or where else the wanted thing is to be had."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from difflib import get_close_matches
from typing import Any, ParamSpec, TypeVar

# What others, and the command line, call these arguments.
_ELSEWHERE = {
    "bound": "bounds", "lb": "bounds", "ub": "bounds", "lower": "bounds", "upper": "bounds",
    "categorical": "bounds", "choices": "bounds", "constraint": "constraints", "func": "fun",
    "dfun": "jac", "fprime": "jac", "grad": "jac", "gradient": "jac", "hessian": "hess", "hessp": "hess",
    "integer": "integrality", "integers": "integrality", "log": "scale", "logscale": "scale",
    "max_evaluations": "maxfev", "max_nfev": "maxfev", "maxeval": "maxfev", "maxfun": "maxfev",
    "max_rounds": "maxiter", "niter": "maxiter", "max_iter": "maxiter", "max_time": "maxtime",
    "maximize": "maximise", "modes": "target", "n_jobs": "workers", "p0": "x0", "prior": "starts", "draws": "starts",
    "random_state": "rng", "seed": "rng", "tol": "xtol", "atol": "xtol", "ftol": "xtol", "gtol": "xtol",
    "verbose": "progress", "disp": "progress", "iprint": "progress", "kwargs": "args", "nan_policy": "on_error",
}  # fmt: skip
_CHOSEN = "allmodes chooses that itself: leave it out."
_STEPS = "steps of differences are chosen by how the function is rounded: leave it out."
_WHOLE = "all there is to be returned is in the result: leave it out."
_ADVICE = {
    **dict.fromkeys(
        ("popsize", "strategy", "mutation", "recombination", "init", "updating", "minimizer_kwargs", "stepsize", "T",
         "take_step", "accept_test", "niter_success", "no_local_search", "initial_temp", "visit", "sampling_method",
         "n", "iters", "eps_local", "tr_solver", "tr_options", "jac_sparsity", "col_deriv", "factor", "diag"),
        _CHOSEN,
    ),
    **dict.fromkeys(("diff_step", "eps", "epsfcn", "epsilon", "approx_grad", "finite_diff_rel_step"), _STEPS),
    **dict.fromkeys(("full_output", "return_all", "retall"), _WHOLE),
    **dict.fromkeys(
        ("n_starts", "num_starts", "nstarts", "n_restarts", "n_multistarts"),
        "local searches begin until hardly anything new is expected: limit them by maxfev.",
    ),
    "x_scale": "coordinates are scaled by their bounds: leave it out.",
    "check_finite": "values that are not finite are counted, and the search goes on: leave it out.",
}  # fmt: skip  # what SciPy has and there is no need for

P = ParamSpec("P")
R = TypeVar("R")


def helpful(
    advice: Mapping[str, str] | None = None, also: Callable[..., Any] | None = None
) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """A decorator: arguments that a function does not have are refused with what to write instead.

    Args:
        advice: sentences for arguments that it cannot have, by name.
        also: a function whose arguments it passes on.

    >>> @helpful({"salt": "salt is for soups: use `soup`."})
    ... def bake(*, sugar=0):
    ...     return sugar
    >>> bake(suger=1)
    Traceback (most recent call last):
    TypeError: bake() has no argument 'suger'; did you mean 'sugar'?
    """

    def wrap(function: Callable[P, R]) -> Callable[P, R]:
        parameters = inspect.signature(function).parameters
        is_open = any(each.kind is each.VAR_KEYWORD for each in parameters.values())
        known = [*parameters, *(inspect.signature(also).parameters if also is not None else ())]
        placed = [each.name for each in parameters.values() if each.kind is each.POSITIONAL_OR_KEYWORD]
        name = function.__qualname__.removesuffix(".__init__")

        @functools.wraps(function)
        def checked(*args: P.args, **kwargs: P.kwargs) -> R:
            if len(args) > len(placed):
                shown = [each for each in placed if each != "self"]
                raise TypeError(
                    f"{name}() takes {' and '.join(shown)} by position, and {len(args) - len(placed) + len(shown)} "
                    f"arguments were given so; name the others, as x0=x0."
                )
            twice = next((key for key in placed[: len(args)] if key in kwargs), None)
            if twice is not None:
                start = "; the point to start from is x0=x0" if twice == "bounds" else ""
                raise TypeError(f"{name}() got {twice!r} twice: by position, and by its name{start}.")
            unknown = next(
                (key for key in kwargs if key not in parameters and (key not in known or key in (advice or {}))), None
            )
            if unknown is not None and not (is_open and also is None):
                raise TypeError(f"{name}() has no argument {unknown!r}{_meant(unknown, known, advice or {})}")
            return function(*args, **kwargs)

        return checked

    return wrap


def elsewhere(name: str) -> str:
    """The argument that others call so; the name itself if nobody does."""
    return _ELSEWHERE.get(name.lower(), name)


def _meant(unknown: str, known: list[str], advice: Mapping[str, str]) -> str:
    if unknown in advice:
        return f"; {advice[unknown]}"
    plain = unknown.lower()
    if _ELSEWHERE.get(plain) in known:
        return f"; did you mean {_ELSEWHERE[plain]!r}?"
    if _ELSEWHERE.get(plain) in advice:
        return f"; {advice[_ELSEWHERE[plain]]}"
    if unknown in _ADVICE:
        return f"; {_ADVICE[unknown]}"
    close = get_close_matches(plain, known, 1)
    listed = [each for each in known if each not in ("self", "options")]
    return f"; did you mean {close[0]!r}?" if close else f"; it has {', '.join(listed)}."
