"""The ways of searching by name: assemblies of the same parts."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from allmodes.nva.annealing.algorithm import Algorithm
from allmodes.search.candidate import ANNEALING, EDGES, GIVEN, OVERVIEW, POPULATION, REFINEMENT, SYMMETRY, Start
from allmodes.search.context import Context
from allmodes.search.scheduling.scheduler import Scheduler
from allmodes.search.scheduling.stopping import Stopping
from allmodes.search.scheduling.turns import Turns
from allmodes.search.searcher import Searcher, Strategy
from allmodes.search.searchers.annealing.annealing import Annealing
from allmodes.search.searchers.constrained.constrained import Constrained
from allmodes.search.searchers.discrete.discrete import Discrete
from allmodes.search.searchers.discrete.tuning import TUNING as DISCRETE
from allmodes.search.searchers.local.local_search import LocalSearch
from allmodes.search.searchers.multistart import Multistart
from allmodes.search.searchers.noisy.noisy import Noisy
from allmodes.search.searchers.population.population import Population
from allmodes.search.searchers.population.refinement import Refinement
from allmodes.search.searchers.roots.newton import RootSearches
from allmodes.search.searchers.roots.roots import Roots
from allmodes.search.searchers.surrogate.surrogate import Surrogate
from allmodes.search.searchers.surrogate.tuning import TUNING as SURROGATE
from allmodes.search.searchers.symmetry.symmetry import Symmetry
from allmodes.search.single import Single
from allmodes.search.starts.tuning import TUNING
from allmodes.search.verify.verifier import Verifier

NOISY_METHODS = ("auto", "black-box")
METHODS = ("auto", "local", "black-box", "anneal", "surrogate", "multistart")


def make_search(
    context: Context,
    method: str | Algorithm,
    starts: NDArray[np.float64],
    options: dict[str, Any],
    polish: bool,
    persistence: int = 0,
    effort: float = 1.0,
    is_exhaustive: bool = False,
) -> Strategy:
    """The search of a method, with points (n, d) to begin at.

    It goes on for so many evaluations after the last new mode, at least (`persistence`), and until hardly any is
    expected of those ahead, which are `effort` times those made.
    """
    if context.box.d == 0:
        return Single(context)
    if context.box.levels:
        stopping = Stopping(options.get("patience", 0), persistence, effort)
        width = options.get("width", DISCRETE.width_mixed if context.box.is_real.any() else DISCRETE.width)
        return Discrete(context, starts, stopping, is_exhaustive, options.get("swap", False), width)
    if context.constraints is not None:
        width = options.get("width", TUNING.narrowest)
        return Constrained(context, Stopping(options.get("patience", 0), persistence, effort), starts, width)
    if context.noise != 0.0 and method != "surrogate":
        _check_noisy(method)
        return Noisy(context)
    if context.is_system:
        return _for_roots(context, starts, options, Stopping(options.get("patience", 0), persistence, effort))
    if method == "surrogate":
        return Surrogate(context, starts, options.get("width", SURROGATE.width), ends=not is_exhaustive)
    algorithm = method if isinstance(method, Algorithm) else None
    is_annealed = algorithm is not None or method == "anneal"
    members: dict[str, Searcher] = {}
    if is_annealed:
        members[ANNEALING] = Annealing(context, algorithm, is_polished=polish)
    if method in ("auto", "local"):
        members[SYMMETRY] = Symmetry(context)
    if method == "black-box" or (method == "auto" and context.order == 0):
        members[POPULATION] = Population(context)
    if method == "auto" and context.order == 0:
        members[REFINEMENT] = Refinement(context)
    first = TUNING.narrowest_of_fits if context.has_model else TUNING.narrowest
    narrowest, widest = options.get("width", first), TUNING.widest
    multistart = Multistart(
        context,
        [Start(point, GIVEN, TUNING.given_radius) for point in starts],
        is_plain=method == "multistart",
        is_passive=is_annealed or method == "black-box",
        width=(narrowest, max(narrowest, widest)),
    )
    overlap = "lanes" if "width" in options else "none"  # a width is set for slow functions with workers
    if options.get("order") == "completion":
        overlap = "each"
    stopping = Stopping(options.get("patience", 0), persistence, effort)
    may_join: tuple[str, ...] = (POPULATION, ANNEALING, EDGES) if method == "auto" else ()
    if method == "auto" and (is_exhaustive or not context.is_global):
        may_join += (OVERVIEW,)  # where only the best modes count: half of the evaluations, if a budget is given
    turns = Turns(context, multistart, may_join)
    return Scheduler(
        context, multistart, LocalSearch(context, recognises=method != "multistart"), Verifier(context, polish), turns,
        stopping, members, is_exhaustive=is_exhaustive, overlap=overlap,
    )  # fmt: skip


def _for_roots(context: Context, starts: NDArray[np.float64], options: dict[str, Any], stopping: Stopping) -> Roots:
    """The search for roots of a square system."""
    narrowest = options.get("width", TUNING.narrowest)
    given, width = [Start(point, GIVEN) for point in starts], (narrowest, max(narrowest, TUNING.widest))
    multistart = Multistart(context, given, width=width)
    searches = RootSearches(context, updates=context.is_derived)
    return Roots(context, multistart, searches, Verifier(context), stopping)


def check_discrete(method: str | Algorithm, noise: Any, order: int, is_fit: bool) -> None:
    """Refuse what does not go with whole numbers and choices."""
    what = "some coordinates are whole numbers or choices (integrality, or lists in bounds)"
    if method != "auto":
        name = getattr(method, "name", method)
        raise ValueError(f'{what} and method is "{name}", which needs real ones; wanted method "auto".')
    if noise is not None and noise is not False:
        raise ValueError(f"{what} and noise is {noise!r}; wanted a function without noise: return means of values.")
    if is_fit:
        raise ValueError(f"{what}, which fits of residuals do not take; use find_minima with the sum of squares.")
    if order:
        raise ValueError(f"{what} and have no derivatives; leave jac and hess out.")


def check_surrogate(maxfev: int, order: int, is_fit: bool, has_symmetry: bool, has_draws: bool) -> None:
    """Refuse what a search with few evaluations does not take."""
    if maxfev > SURROGATE.most:
        raise ValueError(
            f'method is "surrogate", whose model takes at most {SURROGATE.most} values, and maxfev is {maxfev}; wanted '
            'fewer, or another method such as "auto".'
        )
    if order or is_fit:
        raise ValueError('method is "surrogate", which models values alone; leave jac and hess out, or use "auto".')
    if has_draws:
        raise ValueError('method is "surrogate", which looks inside bounds; pass bounds in place of starts.')
    if has_symmetry:
        raise ValueError('method is "surrogate", which takes no symmetry; leave symmetry out, or use "auto".')


def _check_noisy(method: str | Algorithm) -> None:
    if method in NOISY_METHODS:
        return
    name, allowed = getattr(method, "name", method), " or ".join(f'"{each}"' for each in NOISY_METHODS)
    raise ValueError(
        f'noise is set and method is "{name}", which compares single values and would find nothing; wanted method '
        f"{allowed} for a noisy function, or noise left out."
    )
