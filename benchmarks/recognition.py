"""Are local searches recognised by the right modes, and do they end in basins as often as short steps would?

    python benchmarks/recognition.py --problems 14 --first-seed 61000 --json benchmarks/results/recognition.json
    python benchmarks/recognition.py --bank FOLDER  # with the problems of its bank.py: see local_cases.py

Every recognised search runs on (option "shadow" = 1), and is wrong if it ends elsewhere. Basins: local searches from
space-filling starts against steepest descent in short steps from the same ones (`basin_shares.py`).
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

import local_cases
from allmodes import find_minima
from allmodes.modes.coverage import Coverage
from basin_shares import LEAST, Shares, Smooth, compare
from missing_problems import random_problem
from results import Results, arguments, digits

BUDGETS = 6000, 2000  # times d, of values and of points with gradients
LARGEST = 30_000, 10_000  # budgets, where functions take longer
STARTS = 1024  # of the searches that are compared with descents
FEWEST = 100  # checks: the worst function is sought among those with as many
FAIR = 1.3  # ratio of shares
BEDS = "mixtures", "bowls", "polynomials"
SHARED = "bowls", "polynomials"
OF_BANK = "cyclohexane"  # whose basins are compared: of three dimensions, with minima that are all alike
ORDERS = "values", "gradients"
NOTE = (
    "Checked: recognised local searches, all of which run on; wrong, those that end in another mode or none; worst: of "
    f"a single function with {FEWEST} checks or more. Recognition learns from these checks as it does from the few of "
    "a usual search. Ratios: the share of local searches that end in a basin over its share under steepest descent in "
    f"steps of a thousandth of the box, from the same {STARTS} starts, for basins with more than {100 * LEAST:g} % of "
    "them; nothing is recognised, and the modes are known, which makes first steps as short as they are in a long "
    f"search. Fair: ratios between 1 / {FAIR} and {FAIR}. Same: single starts from which both end in the same basin."
)


def smooth(bed: str, n: int, seed: int) -> list[Smooth]:
    """Random functions of a bed."""
    problems = [random_problem(bed, number, seed) for number in range(n)]
    return [Smooth(f"{bed} {k}", each.d, each.fun, each.jac) for k, each in enumerate(problems)]


def of_bank(folder: Path, names: list[str] | None) -> list[Smooth]:
    """The problems of a folder."""
    cases = local_cases.bank(folder)
    return [
        Smooth(case.name, case.d, case.value, case.gradient, np.flatnonzero(case.is_periodic).tolist())
        for case in cases
        if not names or case.name in names
    ]


def checked(problem: Smooth, order: int, seed: int, budget: int) -> Coverage:
    """A search all of whose recognised local searches run on."""
    given: dict[str, Any] = {"jac": problem.jac} if order else {}
    return find_minima(
        problem.fun, [(0.0, 1.0)] * problem.d, vectorized=True, rng=seed, maxfev=budget, periodic=problem.periodic,
        method="local", options={"shadow": 1.0}, **given,
    ).coverage  # fmt: skip


def show_checks(results: Results, name: str, order: int, all_: list[Coverage]) -> None:
    """A row: how many were wrong, in all and where it is worst."""
    total, wrong = sum(each.checked for each in all_), sum(each.misjudged for each in all_)
    rates = [each.misjudged / each.checked for each in all_ if each.checked >= FEWEST]
    share = digits(100.0 * wrong / total, 2) if total else None
    worst = digits(100.0 * max(rates), 2) if rates else None
    results.row(name, ORDERS[order], len(all_), total, wrong, share, worst, sum(rate > 0.03 for rate in rates))


def show_shares(results: Results, name: str, order: int, all_: list[Shares]) -> None:
    """A row: quartiles and extremes of the ratios."""
    ratios = np.concatenate([each.ratios for each in all_])
    is_fair = (ratios <= FAIR) & (ratios >= 1.0 / FAIR)
    quantiles = [digits(q, 2) for q in np.quantile(ratios, [0.0, 0.25, 0.5, 0.75, 1.0])]
    same = digits(100.0 * float(np.mean([each.agree for each in all_])), 1)
    results.row(name, ORDERS[order], len(all_), len(ratios), *quantiles, digits(100.0 * is_fair.mean(), 1), same)


def main() -> None:
    parser = arguments(__doc__, first_seed=0)
    parser.add_argument("--problems", type=int, default=14, help="functions of each kind (14)")
    parser.add_argument("--bank", type=Path, metavar="FOLDER", help="the problems of its bank.py alone")
    parser.add_argument("--names", nargs="*", help="problems of the bank (all)")
    given = parser.parse_args()
    seed = given.first_seed
    results = Results("Recognition, and shares of basins", given, NOTE)
    if given.bank is None:
        beds = {bed: smooth(bed, given.problems, seed) for bed in BEDS}
        shared = {bed: beds[bed] for bed in SHARED}
    else:
        beds = {each.name: [each] for each in of_bank(given.bank, given.names)}
        shared = {name: each for name, each in beds.items() if name == OF_BANK}
    results.table(
        ["functions", "from", "searches", "checked", "wrong", "wrong, %", "worst, %", "above 3 %"],
        "Recognised searches",
    )
    for name, problems in beds.items():
        for order in (0, 1):
            found = [checked(each, order, seed, min(BUDGETS[order] * each.d, LARGEST[order])) for each in problems]
            show_checks(results, name, order, found)
    columns = ["least", "lower quartile", "median", "upper quartile", "largest", "fair, %", "same, %"]
    results.table(["functions", "from", "number", "basins", *columns], "Shares of basins")
    for name, problems in shared.items():
        for order in (0, 1):
            show_shares(results, name, order, [compare(each, STARTS, seed, order) for each in problems])
    results.write()


if __name__ == "__main__":
    main()
