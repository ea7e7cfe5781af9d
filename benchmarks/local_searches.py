"""What one local search costs, beside SciPy's from the same starts.

    python benchmarks/local_searches.py --orders 0 1 2
    python benchmarks/local_searches.py --methods allmodes L-BFGS-B --names Rosenbrock Meyer
    python benchmarks/local_searches.py --bank FOLDER  # with the problems of a folder, too: see local_cases.py

Problems are those of Moré, Garbow and Hillstrom (`mgh.py`), each with its standard start and ten Sobol points of its
box, the same for all methods. SciPy's methods other than L-BFGS-B and least_squares know no bounds: those that leave
the box have not arrived.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np

from local_cases import CLOSE, Case, cases
from local_methods import METHODS, NEAR, Ended
from results import Cell, Results, arguments, digits, reached

OURS, INFORMED = "allmodes", "least_squares"
ORDERS = {0: "values", 1: "gradients", 2: "Hessians"}
NOTE = (
    "Units: a value is one, a gradient, a Hessian, a residual vector and its Jacobian one each. reach and end: median "
    f"units until a search was first within {NEAR:g} of the box of where it ended, and until it was over, of those "
    f"that arrived; arrived: how many ended within {CLOSE:g} of a strict minimum, or with the value of a known one; "
    "each: units of all searches, lost ones too, for one that arrived; listed: how many ends allmodes calls minima. "
    "Ratios: allmodes to the best peer; in reach, to those peers that arrive at least half as often as the best of "
    f"them. {INFORMED} is no peer in this, since it alone is given residuals."
)

Told = dict[str, list[Ended]]


def measure(case: Case, method: str, order: int, n: int, seed: int) -> list[Ended]:
    """One search from every start."""
    starts = case.starts(n, seed)
    level, run = case.value(starts), METHODS[method][1]
    return [run(case, order, start, level) for start in starts]


# ---- what it comes to


def arrived(searches: list[Ended]) -> int:
    """How many ended at a minimum."""
    return sum(search.is_arrived for search in searches)


def reach(searches: list[Ended]) -> float:
    """Median units to where they ended, of those that arrived; NaN if none did."""
    return _median([search.reach for search in searches if search.is_arrived])


def end(searches: list[Ended]) -> float:
    """Median units until they were over, of those that arrived; NaN if none did."""
    return _median([search.end for search in searches if search.is_arrived])


def _median(counts: list[int]) -> float:
    return float(np.median(counts)) if counts else np.nan


def each(searches: list[Ended]) -> float:
    """Units of all searches for each that arrived; NaN if none did."""
    return sum(search.end for search in searches) / (arrived(searches) or np.nan)


def ratios(told: Told) -> tuple[float, float]:
    """Our reach and units per arrival, as multiples of the best peer's; NaN without one."""
    peers = [ends for name, ends in told.items() if name not in (OURS, INFORMED) and arrived(ends)]
    if OURS not in told or not peers:
        return np.nan, np.nan
    most = max(map(arrived, peers))
    quickest = min(reach(ends) for ends in peers if 2 * arrived(ends) >= most)
    return reach(told[OURS]) / quickest, each(told[OURS]) / min(map(each, peers))


def geometric_mean(numbers: list[float]) -> float:
    """Of those that are no NaN."""
    known = [np.log(number) for number in numbers if not np.isnan(number)]
    return float(np.exp(np.mean(known))) if known else np.nan


# ---- tables

COLUMNS: dict[str, Callable[[list[Ended]], float]] = {"reach": reach, "end": end, "arrived": arrived, "each": each}


def tabulate(results: Results, order: int, methods: list[str], chosen: list[Case], n: int, seed: int) -> list[Told]:
    """A row for each problem; what was measured."""
    columns = [f"{name} {what}" for name in methods for what in COLUMNS]
    columns += [f"{OURS} listed"] if OURS in methods else []
    results.table(["problem", "d", "starts", *columns, "reach ratio", "each ratio"], f"From {ORDERS[order]}")
    measured: list[Told] = []
    for case in chosen:
        able = [name for name in methods if name != INFORMED or case.residuals is not None]
        told = {name: measure(case, name, order, n, seed) for name in able}
        row: list[Cell] = []
        for name in methods:
            row += [reached(count(told[name])) if name in told else None for count in COLUMNS.values()]
        row += [sum(search.is_listed for search in told[OURS])] if OURS in methods else []
        starts = max(map(len, told.values()), default=0)
        results.row(case.name, case.d, starts, *row, *(digits(ratio, 2) for ratio in ratios(told)))
        measured.append(told)
    return measured


def summarise(results: Results, measured: dict[int, list[Told]], chosen: list[Case]) -> None:
    """Geometric means of the ratios, for each order and set of problems."""
    names = list(dict.fromkeys(name for each_order in measured.values() for told in each_order for name in told))
    heads = ["problems", "reach ratio", "each ratio", *(f"{name} arrived" for name in names)]
    results.table(["derivatives", "set", *heads], "Geometric means of the ratios, and how many searches arrived")
    for order, each_problem in measured.items():
        for group in dict.fromkeys(case.group for case in chosen):
            rows = [told for told, case in zip(each_problem, chosen, strict=True) if case.group == group]
            pairs = [ratios(told) for told in rows]
            means = [digits(geometric_mean([pair[k] for pair in pairs]), 3) for k in (0, 1)]
            compared = sum(not np.isnan(pair[0]) for pair in pairs)
            counts = [[arrived(told[name]) for told in rows if name in told] for name in names]
            results.row(ORDERS[order], group, compared, *means, *(sum(c) if c else None for c in counts))


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--names", nargs="*", help="problems, by names or parts of names")
    parser.add_argument("--orders", type=int, nargs="*", default=[1], choices=list(ORDERS), help="of derivatives (1)")
    parser.add_argument("--starts", type=int, default=10, help="Sobol points for each problem (10)")
    parser.add_argument("--methods", nargs="*", default=list(METHODS), choices=list(METHODS), help="(all)")
    parser.add_argument("--bank", type=Path, metavar="FOLDER", help="with the problems of its bank.py")
    given = parser.parse_args()
    chosen = cases(given.bank, given.names)
    results = Results("Single local searches", given, NOTE)
    measured = {}
    for order in given.orders:
        methods = [name for name in given.methods if order in METHODS[name][0]]
        measured[order] = tabulate(results, order, methods, chosen, given.starts, given.first_seed)
    summarise(results, measured, chosen)
    results.write()


if __name__ == "__main__":
    main()
