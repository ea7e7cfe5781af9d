"""SciPy's test functions of global optimisation, from values alone: how often is the global minimum found?

    python benchmarks/global_functions.py --runs 3 --first-seed 51000
    python benchmarks/global_functions.py --names "Ackley|Bukin" --methods "allmodes,DIRECT"
    python benchmarks/global_functions.py --check        # are the known minima what they are said to be?

The minimum is evaluated when a value is within 1e-6 (1 + |minimum|) of it, and returned when the result says so. Of the
modes that allmodes lists as minima or at a bound, a short local search around each tells which are false.
"""

from __future__ import annotations

import re
import sys
from typing import Any

import numpy as np
from scipy.optimize import minimize

import global_functions_a
import global_functions_e
import global_functions_n
import global_functions_t
from allmodes.result import Mode
from global_check import check_all
from global_methods import LARGE_BUDGET, METHODS, SMALL_BUDGET, Outcome, limit
from global_problem import Floats, Known
from results import Results, arguments, reached, seeds_of

NOTE = (
    f"From values alone, with {SMALL_BUDGET} evaluations in up to three dimensions and {LARGE_BUDGET} in more. "
    "Evaluated: a value within 1e-6 (1 + |minimum|) of the global minimum was evaluated; returned: the value of the "
    "result is as low. Evaluations are those until then. Around a listed mode a short local search looks for a clearly "
    "lower value: a mode is imprecise if there is one 1e-5 of the bounds away, false if it is 1e-4 or more. After "
    "names: how far above the minimum the best value was, the one returned, or the lowest of the modes."
)
# How false modes are told; lengths are shares of the bounds.
_AROUND = 1e-3  # how far a local search looks
_SIMPLEX = 1e-4
_RESOLVED = 1e-5  # closer points are one for the search, whose xtol is 1e-6
_FALSE = 1e-4  # a minimum so far away, or farther, is another point; one that is nearer was listed imprecisely
_CLEARLY = 1e-7  # of 1 + |value|: far above rounding
_STEPS = 200  # evaluations for each coordinate
_JUDGED = ("minimum", "boundary")


def functions() -> list[Known]:
    """All of them, by their names."""
    tables = (global_functions_a, global_functions_e, global_functions_n, global_functions_t)
    return [known for table in tables for known in table.FUNCTIONS]


def lower_nearby(known: Known, x: Floats) -> float:
    """How far from a point there is a clearly lower value, as a share of the bounds; zero if there is none nearby."""
    lower, upper = known.box()
    width = upper - lower
    start = (x - lower) / width
    low, high = np.maximum(start - _AROUND, 0.0), np.minimum(start + _AROUND, 1.0)
    here = float(known.values(x))
    limit_here = here - _CLEARLY * (1 + abs(here))

    def at(z: Any) -> Any:
        return known.values(np.clip(lower + width * z, lower, upper))

    steps = _SIMPLEX * np.eye(len(x))
    simplex = np.vstack([start, start + np.where(start < 0.5, 1.0, -1.0) * steps])
    options = {"initial_simplex": simplex, "maxfev": _STEPS * len(x), "xatol": 1e-8, "fatol": 0.0}
    given: dict[str, Any] = {"method": "Nelder-Mead", "bounds": list(zip(low, high, strict=True)), "options": options}
    with np.errstate(all="ignore"):
        end = minimize(at, start, **given)
    if end.fun < limit_here:
        return float(np.abs(end.x - start).max())
    # In many dimensions that method may get nowhere where a step along one coordinate does.
    beside = np.clip(start + np.vstack([steps, -steps]), 0.0, 1.0)
    return _SIMPLEX if (at(beside) < limit_here).any() else 0.0


def judged(known: Known, modes: tuple[Mode, ...]) -> tuple[int, int]:
    """How many of those listed as minima, or as held at a bound, are false, and how many are in the wrong place."""
    apart = np.array([lower_nearby(known, mode.x) for mode in modes if mode.kind in _JUDGED])
    return int((apart >= _FALSE).sum()), int(((apart > _RESOLVED) & (apart < _FALSE)).sum())


class Tally:
    """What one method did on all functions."""

    def __init__(self, name: str) -> None:
        self.name, self.outcomes, self.wrong = name, list[Outcome](), {"false modes": 0, "imprecise modes": 0}
        self.has_modes = name.startswith("allmodes")
        titles = ("evaluated, not returned", "not evaluated", "returned, not listed", *self.wrong)
        self.names: dict[str, list[str]] = {title: [] for title in titles[: None if self.has_modes else 2]}

    def add(self, known: Known, outcomes: list[Outcome]) -> None:
        """Outcomes of all seeds on one function."""
        self.outcomes += outcomes
        found = [each for each in outcomes if np.isfinite(each.found_at)]
        self._name(known, "not evaluated", [each.best for each in outcomes if not np.isfinite(each.found_at)])
        self._name(known, "evaluated, not returned", [each.returned for each in found if not each.is_returned])
        if self.has_modes:
            listed = [min((mode.fun for mode in each.modes), default=np.inf) for each in found if each.is_returned]
            above = [value - known.minimum for value in listed if value > limit(known)]
            self._name(known, "returned, not listed", above)
            counts = np.sum([judged(known, each.modes) for each in outcomes], axis=0).tolist()
            for title, n in zip(self.wrong, counts, strict=True):
                self.wrong[title] += n
                self.names[title] += [f"{known.name} ({n})"] * bool(n)

    def _name(self, known: Known, title: str, above: list[float]) -> None:
        if above:
            times = "" if len(above) == 1 else f"{len(above)} times, "
            self.names[title].append(f"{known.name} ({times}by {np.median(above):.1e})")

    def row(self) -> list[Any]:
        """For the table of methods."""
        at = np.array([each.found_at for each in self.outcomes])
        is_found = np.isfinite(at)
        shares = [np.mean(is_found), np.mean([each.is_returned for each in self.outcomes])]
        median = float(np.median(at[is_found])) if is_found.any() else np.nan
        used = round(float(np.mean([each.nfev for each in self.outcomes])))
        n_listed = sum(len(each.modes) for each in self.outcomes)
        counts = [n_listed, *self.wrong.values()] if self.has_modes else [None] * 3
        return [self.name, *(round(100 * float(share), 1) for share in shares), reached(median), used, *counts]

    def told(self) -> str:
        """By name, where it went wrong; in brackets by how much the value is too high, or how many modes."""
        parts = [f"{title}: {', '.join(names) or 'none'}" for title, names in self.names.items()]
        return f"{self.name}: {'; '.join(parts)}."


def cells(outcomes: list[Outcome]) -> list[Any]:
    """For the table of functions: the median of the evaluations, and in how many runs it was returned."""
    return [reached(float(np.median([each.found_at for each in outcomes]))), sum(each.is_returned for each in outcomes)]


def main() -> None:
    parser = arguments(__doc__, runs=3, first_seed=51_000)
    parser.add_argument("--names", default="", help="a regular expression that names of functions match")
    parser.add_argument("--methods", default=",".join(METHODS), help="names of methods, with commas between them")
    parser.add_argument("--check", action="store_true", help="check the known minima, and compare nothing")
    given = parser.parse_args()
    chosen = [known for known in functions() if re.search(given.names, known.name)]
    if given.check:
        sys.exit(check_all(chosen, given.first_seed) > 0)
    tallies = [Tally(name.strip()) for name in given.methods.split(",")]
    if unknown := [tally.name for tally in tallies if tally.name not in METHODS]:
        parser.error(f"no method {unknown[0]!r}; there are: {', '.join(METHODS)}")
    results = Results("Test functions of global optimisation", given, NOTE)
    results.table(["function", "d", *(column for each in tallies for column in (each.name, f"{each.name}, returned"))])
    for i, known in enumerate(chosen):
        row: list[Any] = []
        for tally in tallies:
            print(f"\r{i + 1} of {len(chosen)}: {known.name}, {tally.name:<30}", end="", file=sys.stderr, flush=True)
            outcomes = [METHODS[tally.name](known, seed) for seed in seeds_of(given)]
            tally.add(known, outcomes)
            row += cells(outcomes)
        results.row(known.name, len(known.bounds), *row)
    columns = ("evaluated, %", "returned, %", "evaluations, median", "used, mean", "modes listed", "false", "imprecise")
    results.table(["method", *columns], "All functions and runs")
    for tally in tallies:
        results.row(*tally.row())
    for tally in tallies:
        results.say(tally.told())
    results.write()


if __name__ == "__main__":
    main()
