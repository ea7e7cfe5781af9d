"""What a search is asked to do: arguments checked, defaults chosen, the search made."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from allmodes.checks import as_limit, coordinate_names, number, warn_renamed
from allmodes.nva.annealing.algorithm import Algorithm
from allmodes.objective.bounds import Box
from allmodes.objective.constraints import FEASIBILITY, Constraints
from allmodes.objective.draws_given import WIDTH, Draws
from allmodes.objective.frame import Frame
from allmodes.options import checked_options
from allmodes.search.archive import Archive
from allmodes.search.checked import SHADOW, Checks
from allmodes.search.context import Context
from allmodes.search.curvature import MANY
from allmodes.search.group import Group
from allmodes.search.methods import METHODS, check_discrete, check_surrogate, make_search
from allmodes.search.searcher import Strategy
from allmodes.search.searchers.surrogate.tuning import TUNING as SURROGATE
from allmodes.search.starts.drawn import Drawn
from allmodes.search.symmetry_given import group_of
from allmodes.storage import stored

_DEFAULT_BUDGET = 10_000  # times (d + 1) evaluations, when the user sets none
_BUDGET_OF_MODELS = 100  # the same where a model of the function is made, whose cost grows with their cube
_FEW = 25  # times (d + 1) evaluations: with fewer a model finds more than local searches do
_DEAR = 1.0  # seconds of an evaluation, from which on a model that takes a tenth of one costs next to nothing
# A search goes on at least that long after its last new mode.
_PERSISTENCE = 0.25  # of a budget that the user sets: 36 of 4,093 modes were lost with a tenth, 17 with a quarter
_PERSISTENCE_GLOBAL = 0.1  # of it, where only the best modes count
_PERSISTENT = 200  # times (d + 1) evaluations, when the user sets no budget
_FORMER_METHODS = {"launch": "local"}  # still accepted, with a warning
_MOST_NUMBERS = 1000  # of starts that are written down with the settings
# Methods of minimize, least_squares and root.
_OF_SCIPY = (
    "nelder-mead", "powell", "cg", "bfgs", "newton-cg", "l-bfgs-b", "tnc", "cobyla", "cobyqa", "slsqp", "trust-constr",
    "dogleg", "trust-ncg", "trust-exact", "trust-krylov", "lm", "trf", "dogbox", "hybr", "broyden1", "krylov",
)  # fmt: skip


@stored
@dataclass(frozen=True)
class Settings:
    """What was asked for, checked: `maxfev` and `method` as used, `maxfev_given` and `method_given` as passed."""

    method: str
    target: str
    n_modes: int | None
    maxfev: int
    maxiter: int | None
    maxtime: float | None
    names: tuple[str, ...]
    options: dict[str, Any] = field(default_factory=dict)
    maxfev_given: int | None = None
    xtol: float = 1e-6
    noise: float | bool | None = None
    polish: bool = True
    seed: int | None = None
    x0: Any = None
    effort: float | None = None
    spread: Any = None
    symmetry: Any = None
    within: float | None = None
    min_distance: float | None = None
    starts: Any = None
    method_given: str = ""

    def asked(self, box: Box, order: int, known: int) -> dict[str, Any]:
        """Plain data from which the same search can be asked for again, given its function, bounds and names.

        Args:
            box: which coordinates are periodic.
            order: of the derivatives that there are.
            known: points whose values were given.
        """
        same = (
            "method",
            "target",
            "n_modes",
            "maxiter",
            "maxtime",
            "xtol",
            "noise",
            "polish",
            "seed",
            "x0",
            "starts",
            "effort",
            "spread",
            "symmetry",
            "within",
            "min_distance",
        )
        return {name: getattr(self, name) for name in same} | {
            "maxfev": self.maxfev_given,
            "budget": self.maxfev,
            "periodic": np.flatnonzero(box.periodic).tolist(),
            "integrality": [i for i, grid in enumerate(box.grids) if grid is not None and not grid.choices],
            "choices": {str(i): grid.choices for i, grid in enumerate(box.grids) if grid is not None and grid.choices},
            "scale": ["log" if log else "linear" for log in box.is_log] if box.is_log is not None else None,
            "order": order,
            "options": dict(self.options),
            "warm_start": known,
        }


def prepare(
    box: Box, *, x0: Any, order: int, maximise: bool, target: str, method: Any, n_modes: Any, maxfev: Any,
    maxiter: Any, maxtime: Any, xtol: Any, noise: Any, polish: bool, rng: Any, names: Any, options: Any,
    effort: Any = None, cost_of_mode: int | None = None, starts: Any = None, draws: Draws | None = None,
    spread: Any = None, symmetry: Any = None, within: Any = None, min_distance: Any = None,
    constraints: Any = None, vectorized: bool = False, is_system: bool = False, cost: Any = None,
) -> tuple[Settings, Frame, Context, Strategy]:  # fmt: skip
    """Everything that a search begins with, or an error that says what is wrong."""
    method = asked = _method(method)
    cost = None if cost is None else number("cost", cost, at_least=0.0)
    maxfev = None if maxfev is None else as_limit("maxfev", maxfev, 1)
    others = (symmetry, constraints, draws, cost_of_mode, order or None)
    is_plain = all(other is None for other in others) and not any(box.grids)
    if method == "auto" and is_plain and polish and set(options or ()) <= {"width", "temperature", "checkpoint_every"}:
        method = _by_budget(box, maxfev, cost)
    if target not in ("all", "global"):
        raise ValueError(f'target is {target!r}; wanted "all" (global and local modes) or "global".')
    is_assembly = isinstance(method, Algorithm)
    usual = (
        min(SURROGATE.most, _BUDGET_OF_MODELS * (box.d + 1)) if method == "surrogate" else _DEFAULT_BUDGET * (box.d + 1)
    )
    if not is_assembly and method not in METHODS:
        allowed = ", ".join(f'"{name}"' for name in METHODS)
        hint = " Methods of SciPy find one optimum from one point." if str(method).lower() in _OF_SCIPY else ""
        raise ValueError(
            f"method is {method!r}; wanted {allowed} or an engine assembly such as nva.presets.nva_gm().{hint}"
        )
    settings = Settings(
        method=method.name if is_assembly else method,
        target=target,
        n_modes=None if n_modes is None else as_limit("n_modes", n_modes, 1),
        maxfev=usual if maxfev is None else maxfev,
        maxiter=None if maxiter is None else as_limit("maxiter", maxiter, 1),
        maxtime=None if maxtime is None else number("maxtime", maxtime, above=0.0),
        names=coordinate_names(names, box.D),
        options=checked_options(options),
        maxfev_given=maxfev,
        xtol=number("xtol", xtol, above=0.0),
        noise=None if noise is None else noise if isinstance(noise, bool) else _noise(noise),
        polish=bool(polish),
        seed=int(rng) if isinstance(rng, (int, np.integer)) and not isinstance(rng, bool) else None,
        x0=_plain(x0),
        effort=None if effort is None else number("effort", effort, above=0.0),
        symmetry=_in_words(symmetry),
        within=None if within is None else number("within", within, at_least=0.0),
        min_distance=None if min_distance is None else number("min_distance", min_distance, at_least=0.0),
        spread=spread if spread is None or np.ndim(spread) == 0 else list(spread),
        starts=_sampler(starts) if callable(starts) else _plain(starts, "draws"),
        method_given=method.name if is_assembly else asked,
    )
    if method == "surrogate":
        check_surrogate(settings.maxfev, order, cost_of_mode is not None, symmetry is not None, draws is not None)
    if any(box.grids) and symmetry is not None:
        raise ValueError("symmetry is for real coordinates; with whole numbers or choices leave it out.")
    if "swap" in settings.options and not any(box.grids):
        raise ValueError('options["swap"] is for whole numbers and choices; with real coordinates leave it out.')
    if any(box.grids):
        check_discrete(method, noise, order, cost_of_mode is not None)
    share = _share_of_scale(box, draws)
    is_light = order == 1 and cost_of_mode is None and box.d >= MANY
    context = Context(
        box, Archive(box, is_light), _generator(rng), order=order, cost_of_mode=cost_of_mode,
        is_global=target == "global", xtol=share * settings.xtol, noise=_noise(noise), maxfev=settings.maxfev,
        checks=Checks(settings.options.get("shadow", SHADOW)), group=_group(symmetry, box, settings),
        within=np.inf if settings.within is None else settings.within,
        min_distance=share * (settings.min_distance or 0.0), is_system=is_system,
    )  # fmt: skip
    if draws is not None:
        context.drawn = Drawn(box, context.rng, box.to_unit(draws.points))
    context.constraints = _constraints(constraints, box, vectorized, settings)
    given = np.zeros((0, box.d)) if x0 is None else box.to_unit(box.checked("x0", x0))
    search = make_search(
        context, method, given, settings.options, polish, *_perseverance(settings, box.d), maxfev is not None
    )
    return settings, Frame(box, maximise), context, search


def _by_budget(box: Box, maxfev: Any, cost: float | None) -> str:
    """The method where nothing else decides: a model of the function if evaluations are few or dear."""
    is_few = maxfev is not None and 1 < maxfev <= _FEW * (box.d + 1)
    is_dear = cost is not None and cost >= _DEAR and (maxfev is None or 1 < maxfev <= SURROGATE.most)
    return "surrogate" if box.d and box.is_bounded and (is_few or is_dear) else "auto"


def _share_of_scale(box: Box, draws: Draws | None) -> float:
    """The scale of draws as a share of the box, which is wider where they alone say where to look."""
    is_open = np.isinf(box.lower_unit) & np.isinf(box.upper_unit) & ~box.periodic[box.free]
    return 1.0 / WIDTH if draws is not None and is_open.any() else 1.0


def _group(symmetry: Any, box: Box, settings: Settings) -> Group | None:
    """The symmetry that the user stated."""
    if symmetry is not None and settings.noise not in (None, False, 0.0):
        raise ValueError(
            "symmetry is given for a noisy function, whose modes are found one by one; leave symmetry out, or noise if "
            "the function is exact."
        )
    return group_of(symmetry, box, settings.names)


def _constraints(given: Any, box: Box, vectorized: bool, settings: Settings) -> Constraints | None:
    """Constraints checked; refused where the search that was asked for does not know them."""
    if given is None or (isinstance(given, list | tuple) and not given):
        return None
    if settings.noise:
        raise ValueError(
            "constraints and noise are both given; constrained searches compare exact values: leave noise out."
        )
    if settings.method not in ("auto", "local"):
        raise ValueError(
            f'constraints are given and method is "{settings.method}"; wanted "auto" or "local" with them.'
        )
    for is_given, what, way in (
        (box.is_log is not None, "a logarithmic scale", "search y = log10(x), with fun and constraints of 10**y"),
        (
            settings.symmetry is not None,
            "symmetry",
            "leave symmetry out; images of one mode are then listed one by one",
        ),
        (any(box.grids), "whole numbers or choices", "return inf from fun where the constraints do not hold"),
    ):
        if is_given:
            raise ValueError(f"constraints are given beside {what}, which do not go together: {way}.")
    return Constraints.make(given, box, vectorized, settings.options.get("feasibility", FEASIBILITY))


def _perseverance(settings: Settings, d: int) -> tuple[int, float]:
    """Evaluations after the last new mode, at least, and how far to look ahead, in multiples of those made.

    A budget that the user sets is there to be used, unless an effort is named.
    """
    if settings.maxfev_given is None or settings.effort is not None:
        effort = 1.0 if settings.effort is None else settings.effort
        return round(effort * _PERSISTENT * (d + 1)), effort
    share = _PERSISTENCE_GLOBAL if settings.target == "global" else _PERSISTENCE
    return int(share * settings.maxfev), np.inf


def _method(method: Any) -> Any:
    """The method by its current name."""
    new = _FORMER_METHODS.get(method) if isinstance(method, str) else None
    if new is None:
        return method
    warn_renamed(f'method="{method}"', f'method="{new}"')
    return new


def _plain(given: Any, what: str = "points") -> Any:
    """Starts as lists of numbers, or in words if they are many."""
    if given is None:
        return None
    points = np.asarray(given, dtype=np.float64)
    return points.tolist() if points.size <= _MOST_NUMBERS else f"{len(points)} {what}"


def _sampler(starts: Any) -> str:
    return f"a sampler, {getattr(starts, '__name__', type(starts).__name__)}"


def _in_words(symmetry: Any) -> Any:
    """A symmetry as plain data; a function by its name."""
    if callable(symmetry):
        return getattr(symmetry, "__name__", type(symmetry).__name__)
    if isinstance(symmetry, dict):
        return {str(key): _in_words(value) for key, value in symmetry.items()}
    if isinstance(symmetry, list | tuple | np.ndarray):
        return [_in_words(each) for each in symmetry]
    return int(symmetry) if isinstance(symmetry, np.integer) else symmetry


def _noise(noise: Any) -> float:
    """The standard deviation of a value: 0 for none, NaN for one that is to be measured."""
    if noise is None or noise is False:
        return 0.0
    return float("nan") if noise is True else number("noise", noise, at_least=0.0)


def _generator(rng: Any) -> np.random.Generator:
    try:
        return np.random.default_rng(rng)
    except (TypeError, ValueError) as error:
        raise type(error)(f"rng is {rng!r}; wanted None, a seed of at least 0 or a numpy.random.Generator.") from error
