"""gest_api, for libEnsemble, optimas and Xopt: a generator that suggests where to evaluate, and ends by itself.

`Generator(vocs)` is a subclass of `gest_api.Generator`: `suggest(n)` gives exactly n points that were never suggested
before, `ingest` takes what came of them in any order, and `result` has every optimum found so far.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from allmodes.adapters.peers import peer
from allmodes.checks import whole_number
from allmodes.finder import ModeFinder
from allmodes.result import Result

__all__ = ["STOP", "FinishedError", "Generator"]

_ID = "_id"
_CLOSING = -2  # the id of points that say that the search is over; libEnsemble has -1 for points without one
STOP = (_ID, _CLOSING)  # for libEnsemble's ExitCriteria(stop_val=STOP), with Generator(..., closing=True)
_SENSES = {"MinimizeObjective": False, "MaximizeObjective": True}
_REALS = (None, float, "float", "float64", "f8", np.float64)  # types of variables
_OURS = ("bounds", "names", "maximise", "jac", "hess", "residuals")  # settings that follow from the VOCS
_FAILED = {"_status", "xopt_error"}  # what optimas and Xopt add to a point; one without an objective has failed then
_SHIFTED = 1e-6  # of a variable's size: a result farther than that from what was suggested is of another point

Floats = NDArray[np.float64]


class FinishedError(ValueError):
    """More points are asked for than the search has left, and why."""


class _Suggesting:
    """What a generator does: see `Generator`."""

    returns_id = True

    def __init__(self, vocs: Any, *, closing: bool = False, **settings: Any) -> None:
        super().__init__(vocs)  # type: ignore[call-arg]
        if ours := [name for name in _OURS if name in settings]:
            raise TypeError(f"{ours[0]} is given; it follows from the VOCS and from what is ingested: leave it out.")
        variables = vocs.variables
        self.vocs = vocs
        (self._objective, sense), *_ = vocs.objectives.items()
        first = [variable.default_value for variable in variables.values()]
        if None not in first:
            settings.setdefault("x0", first)
        options = {"order": "completion"} | (settings.pop("options", None) or {})
        self._finder = ModeFinder(
            [tuple(variable.domain) for variable in variables.values()], names=list(variables),
            maximise=_SENSES[type(sense).__name__], options=options, **settings,
        )  # fmt: skip
        self._finder.check_exact()
        self._closing = closing
        self._count = 0
        self._out: dict[int, Floats] = {}  # points suggested and not ingested
        self._left = np.zeros((0, len(variables)))  # points too few for what was asked

    def _validate_vocs(self, vocs: Any) -> None:
        """Refuse what a search for optima does not have."""
        if not hasattr(vocs, "objectives"):
            raise TypeError(f"vocs is {vocs!r} ({type(vocs).__name__}); wanted a gest_api.vocs.VOCS.")
        if not vocs.variables:
            raise ValueError("the VOCS has no variables; wanted real numbers between two bounds.")
        if len(vocs.objectives) != 1:
            raise ValueError(
                f"the VOCS has {len(vocs.objectives)} objectives {list(vocs.objectives)}; wanted one. Make several one "
                "by weights."
            )
        (name, objective), *_ = vocs.objectives.items()
        if type(objective).__name__ not in _SENSES:
            raise ValueError(f"the objective {name} is {type(objective).__name__}; wanted MINIMIZE or MAXIMIZE.")
        if vocs.constraints:
            raise ValueError(
                f"the VOCS has constraints {list(vocs.constraints)}, which are known only where the function was "
                "evaluated; add a penalty to the objective, or return NaN where they do not hold, and leave them out."
            )
        for name, variable in vocs.variables.items():
            kind = type(variable).__name__
            if kind != "ContinuousVariable" or variable.dtype not in _REALS:
                what = kind if variable.dtype is None else f"{kind} of type {variable.dtype}"
                raise ValueError(f"the variable {name} is a {what}; wanted real numbers between two bounds.")

    # ---- the protocol

    def suggest(self, num_points: int | None = None) -> list[dict[str, Any]]:
        """Points to evaluate, none of which was suggested before: so many, or as many as the search wants next.

        Once the search is over, a number of points is refused by `FinishedError`, a ValueError, and without a number
        there are none. Where fewer are left than asked for, these are kept for whoever asks for fewer. With `closing`
        the best point is suggested again in their place.
        """
        wanted = None if num_points is None else whole_number("num_points", num_points, 1)
        if wanted is None:
            points = self._left if len(self._left) else self._finder.ask(exact=True)
        elif wanted <= len(self._left):
            points = self._left[:wanted]
        else:
            points = np.concatenate([self._left, self._finder.ask(wanted - len(self._left), exact=True)])
            if len(points) < wanted and not self._closing:
                self._left = points
                why = "; ".join(self.stop().values()) or "the last evaluations are out, and not ingested"
                left = {0: "none is", 1: "1 is"}.get(len(points), f"{len(points)} are")
                raise FinishedError(
                    f"{wanted} points are asked for and {left} left: {why}. What was found is in generator.result."
                )
        self._left = self._left[len(points) :]
        numbers = range(self._count, self._count + len(points))
        self._count += len(points)
        self._out.update(zip(numbers, points, strict=True))
        suggested = [self._suggestion(point, number) for point, number in zip(points, numbers, strict=True)]
        if self._closing and wanted is not None and len(points) < wanted:
            suggested += [self._suggestion(self._best, _CLOSING)] * (wanted - len(points))
        return suggested

    def _suggestion(self, point: Floats, number: int) -> dict[str, Any]:
        """A point as gest_api has it, with its id."""
        constants = {name: constant.value for name, constant in self.vocs.constants.items()}
        return dict(zip(self.vocs.variables, point.tolist(), strict=True)) | constants | {_ID: number}

    @property
    def _best(self) -> Floats:
        """The best point so far; a corner if all failed."""
        found = self.result
        assert found.bounds is not None
        return found.x if np.isfinite(found.x).all() else found.bounds[:, 0]

    def ingest(self, results: list[dict[str, Any]]) -> None:
        """What came of points, in any order: all of them, or an error and none.

        Those with an `_id` must have been suggested, and count once; those without may be anybody's. An objective that
        is not finite is a failure.
        """
        if isinstance(results, dict) or not all(isinstance(result, dict) for result in results):
            raise TypeError("results are not a list of dicts, one for each point: names and their values.")
        told = [self._read(result) for result in results if result.get(_ID) != _CLOSING]
        fresh = {number: (x, value) for number, x, value in told if number is not None and number in self._out}
        others = [(x, value) for number, x, value in told if number is None]
        taken = [*fresh.values(), *others]
        if taken:
            self._finder.tell(np.array([x for x, _ in taken]), [value for _, value in taken])
        for number in fresh:
            del self._out[number]

    def _read(self, result: dict[str, Any]) -> tuple[int | None, Floats | None, float]:
        """The id of a result, the point as it was suggested, and the value."""
        names = list(self.vocs.variables)
        number = self._number(result.get(_ID))
        wanted = [*(names if number is None else []), *([] if _FAILED & set(result) else [self._objective])]
        missing = [name for name in wanted if name not in result]
        if missing:
            raise ValueError(
                f"a result has no {missing[0]!r}: it has {list(result)}; wanted {[*names, self._objective]}."
            )
        value = self._value(result.get(self._objective))
        if number is None:
            return None, np.array([float(result[name]) for name in names]), value
        x = self._out.get(number)
        for i, name in enumerate(names if x is not None else []):
            if name in result and abs(float(result[name]) - x[i]) > _SHIFTED * abs(x[i]) + 1e-300:  # type: ignore[index]
                raise ValueError(
                    f"the result with {_ID} {number} has {name} = {result[name]}, and suggested was {x[i]}; "  # type: ignore[index]
                    f"pass results of other points without {_ID}."
                )
        return number, x, value

    def _value(self, given: Any) -> float:
        """An objective; NaN for None."""
        try:
            return float("nan") if given is None else float(np.asarray(given).item())
        except (TypeError, ValueError):
            raise TypeError(f"the objective {self._objective} of a result is {given!r}; wanted a number.") from None

    def _number(self, given: Any) -> int | None:
        """An id, refused unless it was given to a point. Tables of points with and without have NaN for none."""
        if given is None or (isinstance(given, float) and np.isnan(given)):
            return None
        is_whole = isinstance(given, int | np.integer) or (isinstance(given, float) and given.is_integer())
        number = int(given) if is_whole and not isinstance(given, bool) else -1
        if not 0 <= number < self._count:
            raise ValueError(
                f"a result has {_ID} {given!r}, which this generator has not suggested: it has suggested {self._count} "
                f"points. Pass results of other points without {_ID}."
            )
        return number

    # ---- how it stands

    @property
    def is_finished(self) -> bool:
        """Whether the search is over: points that are still out would change little."""
        return bool(self.stop())

    def stop(self) -> dict[str, str]:
        """Why the search is over: a name and a sentence for each reason; empty while it goes on."""
        return self._finder.stop(waits=False)

    @property
    def result(self) -> Result:
        """What is found so far."""
        return self._finder.result_at_once


@cache
def _generator() -> type:
    """The class, made when gest_api is there."""

    class Generator(_Suggesting, peer("gest_api", extra="gest").Generator):  # type: ignore[misc]
        """Suggests where to evaluate, for every optimum of the objective of a VOCS.

        Args:
            vocs: continuous variables with bounds, and one objective to MINIMIZE or MAXIMIZE; constants and observables
                are passed by. If every variable has a default value, that is the first start.
            closing: whether, once the search is over, the best point is suggested again in place of an error:
                libEnsemble then ends in good order, with ExitCriteria(stop_val=gest.STOP).
            settings: of `allmodes.ModeFinder`: rng, target, maxfev, n_modes, starts, noise, symmetry, ...; results are
                used as they come, and with options={"order": "fixed"} in the order of suggesting.
        """

    Generator.__qualname__ = "Generator"  # as if written at the top: pickle finds it
    return Generator


if TYPE_CHECKING:
    Generator: Any
else:

    def __getattr__(name: str) -> object:
        if name != "Generator":
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        return _generator()
