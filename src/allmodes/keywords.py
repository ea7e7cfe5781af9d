"""Misspelt arguments: an error that says which one was meant, or where else the wanted thing is to be had."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from difflib import get_close_matches
from typing import ParamSpec, TypeVar

# What others call these arguments.
_ELSEWHERE = {
    "bound": "bounds", "categorical": "bounds", "choices": "bounds", "constraint": "constraints", "func": "fun",
    "grad": "jac", "gradient": "jac", "hessian": "hess", "integer": "integrality", "integers": "integrality",
    "log": "scale", "logscale": "scale", "max_evaluations": "maxfev", "max_nfev": "maxfev", "maxeval": "maxfev",
    "maximize": "maximise", "n_jobs": "workers", "p0": "x0", "prior": "starts", "draws": "starts",
    "random_state": "rng", "seed": "rng", "tol": "xtol", "verbose": "progress", "disp": "progress",
}  # fmt: skip

P = ParamSpec("P")
R = TypeVar("R")


def helpful(advice: Mapping[str, str] | None = None) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """A decorator: arguments that a function does not have are refused with what to write instead.

    Args:
        advice: sentences for arguments that it cannot have, by name.

    >>> @helpful({"salt": "salt is for soups: use `soup`."})
    ... def bake(*, sugar=0):
    ...     return sugar
    >>> bake(suger=1)
    Traceback (most recent call last):
    TypeError: bake() has no argument 'suger'; did you mean 'sugar'?
    """

    def wrap(function: Callable[P, R]) -> Callable[P, R]:
        parameters = inspect.signature(function).parameters
        name = function.__qualname__.removesuffix(".__init__")

        @functools.wraps(function)
        def checked(*args: P.args, **kwargs: P.kwargs) -> R:
            unknown = next((key for key in kwargs if key not in parameters), None)
            if unknown is not None:
                raise TypeError(
                    f"{name}() has no argument {unknown!r}{_meant(unknown, list(parameters), advice or {})}"
                )
            return function(*args, **kwargs)

        return checked

    return wrap


def _meant(unknown: str, known: list[str], advice: Mapping[str, str]) -> str:
    if unknown in advice:
        return f"; {advice[unknown]}"
    plain = unknown.lower()
    close = [_ELSEWHERE[plain]] if _ELSEWHERE.get(plain) in known else get_close_matches(plain, known, 1)
    listed = [each for each in known if each != "self"]
    return f"; did you mean {close[0]!r}?" if close else f"; it has {', '.join(listed)}."
