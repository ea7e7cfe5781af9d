"""How well a search says what it has missed, and what ending costs: random functions whose minima are known.

    python benchmarks/missing_modes.py --problems 10 --first-seed 500 --json benchmarks/results/missing_modes.json

Every function is searched once from values and once with its gradient, to the end of the default budget. Ending does
not change what goes before, so that rules for ending are replayed on the way: the present one, without a budget and
with that budget given, and the one before it, which waited for 100 local searches without a new mode, five for each
mode, until fewer than 2 % of them had found a mode that was found once. Where a rule ends it is noted what the search
would say then.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaincinv

from allmodes.driver import Driver
from allmodes.modes.coverage import Coverage, estimate
from allmodes.search.candidate import SPACE_FILLING
from allmodes.search.context import Context
from allmodes.search.fresh import Fresh
from allmodes.search.scheduling.stopping import Stopping
from allmodes.search.searchers.multistart import Counts
from allmodes.task import Task
from missing_problems import BEDS, Problem, merged, random_problem
from results import Results, arguments, digits

BUDGET = 10_000  # times (d + 1), as by default
AHEAD = (1.0, 4.0)  # times the evaluations made: what would be found by then
FEWEST = 500  # local searches after the end of a rule: fewer do not show how often missing modes are hit
NOTE = (
    "Searches ended by a rule, without a budget (default) or with 10,000 (d + 1) evaluations given; and how they stood "
    "after some local searches. Lost: modes that the whole budget finds and the rule does not. Missing: all known "
    "modes that were not found by then; the 90 % range holds if their number lies in it, and likewise for new modes in "
    "as many evaluations again and in four times as many, where the budget goes on for as long. Below bound: the share "
    "of later local searches from space-filling starts that ended in one of the missing modes was below the stated "
    "95 % bound, or the one that was stated before, in searches with 500 of them or more. Where too few modes were "
    "found to judge by, no range was stated."
)

Floats = NDArray[np.float64]


def before(context: Context, counts: Counts, running: list[int], persistence: float) -> bool:
    """Whether the former rule would end."""
    hits = context.archive.hits
    if context.nfev - counts.last_new < persistence or counts.searches < 100:
        return False
    if (hits == 1).sum() >= 0.02 * counts.searches or counts.since_new < max(100, 5 * len(hits)):
        return False
    return min(running, default=counts.awaited + 1) > counts.awaited


def former_bound(ends: NDArray[np.int64]) -> float:
    """What was stated before on the chance that another search finds a new mode, given the modes that they ended in.

    It was Good and Turing's estimate with 1.96 standard errors, or Clopper and Pearson's bound if that is larger.
    """
    hits, lost = np.bincount(ends[ends >= 0]), int((ends < 0).sum())
    n, once, twice = len(ends) - lost, int((hits == 1).sum()), int((hits == 2).sum())
    if once >= n:
        return 1.0
    error = np.sqrt(once * (1.0 - once / n) + 2.0 * twice) / n
    bound = min(1.0, max(float(betaincinv(once + 1, n - once, 0.95)), once / n + 1.96 * float(error)))
    return (n * bound + lost) / (n + lost)


class Reading(NamedTuple):
    """How a search stood.

    Args:
        nfev, modes: evaluations, and modes found.
        coverage: what it said.
        plain: local searches from space-filling starts that had ended.
        former_bound: what would have been said before: see there.
    """

    nfev: int
    modes: int
    coverage: Coverage
    plain: int
    former_bound: float


@dataclass
class Replay(Stopping):
    """Notes where rules would end, and never ends."""

    rules: dict[str, Any] = field(default_factory=dict)
    ends: dict[str, Reading] = field(default_factory=dict)
    plain: list[int] = field(default_factory=list)  # where local searches from space-filling starts have ended

    def ending(self, context: Context, counts: Counts, running: list[int]) -> str:
        small, B = 200 * (context.box.d + 1), context.maxfev
        self.rules = self.rules or {
            "before, default": lambda context, counts, running: before(context, counts, running, small),
            "before, given": lambda context, counts, running: before(context, counts, running, 0.1 * B),
            "now, default": Stopping(0, small, 1.0).ending,
            "now, given": Stopping(0, B // 4, np.inf).ending,
            "after 100 searches": lambda _, counts, __: counts.searches >= 100,
            "after 300": lambda _, counts, __: counts.searches >= 300,
            "after 1,000": lambda _, counts, __: counts.searches >= 1000,
        }
        for name, rule in self.rules.items():
            if name not in self.ends and rule(context, counts, running):
                self.ends[name] = reading(context, counts.fresh, self.plain)
        return ""


def reading(context: Context, fresh: Fresh, plain: list[int]) -> Reading:
    """How it stands."""
    nfev, modes = context.nfev, len(context.archive)
    said = estimate(fresh.of(modes), fresh.searches, lost=fresh.lost, nfev=nfev, cost=fresh.cost(nfev))
    return Reading(nfev, modes, said, len(plain), former_bound(np.array(plain, dtype=np.int64)))


class Search(NamedTuple):
    """One that went on to the end of its budget."""

    problem: Problem
    ends: dict[str, Reading]
    plain: NDArray[np.int64]  # modes that local searches from space-filling starts ended in, -1 for none
    found_at: NDArray[np.int64]  # of each mode, in the order of the archive
    known: int  # modes in all, those of the problem and others that were found


def search(problem: Problem, with_jac: bool, seed: int) -> Search:
    """To the end of the budget, with every rule replayed."""
    driver = _driver(problem, with_jac, seed)
    scheduler: Any = driver.state.search
    scheduler.stopping = replay = Replay()
    counted = scheduler.multistart.ended

    def ended(event: Any, running: list[int]) -> None:
        origin = getattr(event, "origin", None)
        if origin is not None and origin.start == SPACE_FILLING and origin.question < 0:
            replay.plain.append(getattr(event, "mode", -1))
        counted(event, running)

    scheduler.multistart.ended = ended
    while not driver.stop():
        x = driver.ask()
        if len(x):
            driver.tell_round(problem.fun(x), problem.jac(x) if with_jac else None)
    context = driver.state.context
    last = reading(context, scheduler.fresh, replay.plain)
    ends = {name: replay.ends.get(name, last) for name in replay.rules}
    found_at = np.array([record.found_at for record in context.archive.records], dtype=np.int64)
    return Search(
        problem,
        ends,
        np.array(replay.plain, dtype=np.int64),
        found_at,
        len(merged(context.archive.means, problem.minima)),
    )


def _driver(problem: Problem, with_jac: bool, seed: int) -> Driver:
    task = Task(
        bounds=[(0.0, 1.0)] * problem.d, x0=None, warm_start=None, maximise=False, target="all", method="auto",
        n_modes=None, maxfev=BUDGET * (problem.d + 1), maxiter=None, maxtime=None, xtol=1e-6, periodic=None, noise=None,
        polish=True, rng=seed, names=None, options=None,
    )  # fmt: skip
    return task.begin(int(with_jac))


class Judged(NamedTuple):
    """What a rule came to in one search; None where it cannot be said."""

    used: float
    share: float
    lost: int
    missing: int
    is_held: bool | None
    new_held: tuple[bool | None, ...]
    is_below: bool | None
    was_below: bool | None


def judge(found: Search, rule: str) -> Judged:
    end, said = found.ends[rule], found.ends[rule].coverage
    missing = found.known - end.modes
    budget = BUDGET * (found.problem.d + 1)
    held = _holds(said.missing_range, missing) if said.is_judged else None
    new_held = []
    for times in AHEAD:
        until = (1.0 + times) * end.nfev
        is_known = said.is_judged and until <= budget
        came = int((found.found_at <= until).sum()) - end.modes
        new_held.append(_holds(said.expected_range(times * end.nfev), came) if is_known else None)
    later = found.plain[end.plain :]
    share = float(np.mean(later >= end.modes)) if len(later) >= FEWEST else None
    return Judged(
        end.nfev, end.nfev / budget, len(found.found_at) - end.modes, missing, held, tuple(new_held),
        None if share is None else share <= said.share_upper, None if share is None else share <= end.former_bound,
    )  # fmt: skip


def _holds(between: tuple[float, float], truth: int) -> bool:
    return between[0] <= truth <= between[1]


def _percent(flags: list[bool | None]) -> Any:
    known = [flag for flag in flags if flag is not None]
    return round(100.0 * float(np.mean(known))) if known else None


def show(results: Results, name: str, found: list[Search], rule: str) -> None:
    """A row of the table."""
    all_ = [judge(each, rule) for each in found]
    results.row(
        name, rule, len(all_), sum(len(each.found_at) for each in found), sum(each.lost for each in all_),
        sum(each.lost > 0 for each in all_), round(float(np.median([each.used for each in all_]))),
        digits(float(np.mean([each.share for each in all_])), 2), sum(each.missing for each in all_),
        _percent([each.is_held for each in all_]), *(_percent([each.new_held[i] for each in all_]) for i in (0, 1)),
        _percent([each.is_below for each in all_]), _percent([each.was_below for each in all_]),
        sum(each.is_held is None for each in all_),
    )  # fmt: skip


def main() -> None:
    parser = arguments(__doc__, first_seed=0)
    parser.add_argument("--problems", type=int, default=10, help="functions of each kind (10)")
    parser.add_argument("--beds", nargs="*", default=list(BEDS), choices=list(BEDS), help="kinds of functions (all)")
    given = parser.parse_args()
    results = Results("What a search says it has missed", given, NOTE)
    results.table(
        [
            "functions", "rule", "searches", "modes found by the whole budget", "lost", "searches that lose some",
            "evaluations, median", "share of the budget", "missing", "range holds, %", "new x1 holds, %",
            "new x4 holds, %", "below bound, %", "below former bound, %", "too few modes",
        ]
    )  # fmt: skip
    found: dict[str, list[Search]] = {}
    for bed in given.beds:
        problems = [random_problem(bed, number, given.first_seed) for number in range(given.problems)]
        found[bed] = [search(p, with_jac, given.first_seed) for p in problems for with_jac in (False, True)]
    everything = [each for searches in found.values() for each in searches]
    for rule in everything[0].ends:
        for bed, searches in found.items():
            show(results, bed, searches, rule)
        show(results, "all", everything, rule)
    results.write()


if __name__ == "__main__":
    main()
