"""The problems by name: what the command line lists and searches."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from difflib import get_close_matches
from functools import partial

from allmodes.checks import whole_number
from allmodes.problems.applications import APPLICATIONS
from allmodes.problems.banana import banana
from allmodes.problems.cec2013 import cec2013
from allmodes.problems.degenerate import degenerate
from allmodes.problems.gaussian_mixtures import asymmetric_mixture, symmetric_mixture
from allmodes.problems.himmelblau import himmelblau
from allmodes.problems.needle_basins import needle_basins
from allmodes.problems.problem import Problem
from allmodes.problems.random_mixtures import posterior_mixture, random_mixture
from allmodes.problems.rastrigin_funnels import rastrigin_funnels
from allmodes.problems.shubert import shubert
from allmodes.problems.six_hump_camel import six_hump_camel
from allmodes.problems.styblinski_tang import styblinski_tang
from allmodes.problems.vincent import vincent

_SUITE = 20  # functions of CEC2013
_HIGHEST = 8  # dimension of a problem whose modes are all listed: 6^8 of Vincent's are 1.7 million


@dataclass(frozen=True)
class Named:
    """How to make a problem.

    Attributes:
        make: a function of the dimension if `has_dimension`, otherwise without arguments.
        has_dimension: whether dimensions other than the usual one can be asked for.
        needs: a package that it needs.
        lists_global_only: whether local modes are not listed.
    """

    make: Callable[..., Problem]
    has_dimension: bool = False
    needs: str = ""
    lists_global_only: bool = False

    @property
    def text(self) -> str:
        """What it is, in the words of the function that makes it."""
        made_by = self.make.func if isinstance(self.make, partial) else self.make
        lines = (inspect.getdoc(made_by) or "").split("\n\n")
        return " ".join(lines[0].split())


NAMED: dict[str, Named] = {
    "himmelblau": Named(himmelblau),
    "six-hump-camel": Named(six_hump_camel),
    "shubert": Named(shubert),
    "vincent": Named(vincent, has_dimension=True),
    "styblinski-tang": Named(styblinski_tang, has_dimension=True),
    "rastrigin-funnels": Named(rastrigin_funnels, has_dimension=True),
    "needle-basins": Named(needle_basins, has_dimension=True),
    "banana": Named(banana),
    "degenerate": Named(degenerate),
    "symmetric-mixture": Named(symmetric_mixture),
    "asymmetric-mixture": Named(asymmetric_mixture),
    "mixture-2d-10": Named(partial(random_mixture, 2, 10, 0.5)),
    "mixture-2d-50": Named(partial(random_mixture, 2, 50, 0.25)),
    "mixture-5d-20": Named(partial(random_mixture, 5, 20, 0.7)),
    "mixture-10d-50": Named(partial(random_mixture, 10, 50, 0.8)),
    "posterior-mixture": Named(posterior_mixture),
    **{name.replace("_", "-"): Named(make) for name, make in APPLICATIONS.items()},
    **{f"cec2013-f{i}": Named(partial(cec2013, i), needs="ioh", lists_global_only=True) for i in range(1, _SUITE + 1)},
}


def named(name: str, dimension: int | None = None) -> Problem:
    """The problem of this name.

    >>> named("himmelblau").dimension
    2
    >>> len(named("vincent", 3).modes)
    216
    """
    if name not in NAMED:
        close = get_close_matches(name, NAMED, 3)
        meant = f"; did you mean {' or '.join(close)}?" if close else f"; there are {', '.join(NAMED)}."
        raise ValueError(f"there is no problem {name!r}{meant}")
    entry = NAMED[name]
    if dimension is None:
        return entry.make()
    if whole_number("dimension", dimension, 1) > _HIGHEST and entry.has_dimension:
        raise ValueError(f"dimension is {dimension}; wanted at most {_HIGHEST}: the modes are listed one by one.")
    if entry.has_dimension:
        return entry.make(dimension)
    problem = entry.make()
    if problem.dimension != dimension:
        raise ValueError(f"dimension is {dimension}; the problem {name} exists only in {problem.dimension}.")
    return problem
