"""What one local search costs, beside SciPy's from the same starts.

python benchmarks/local_searches.py --orders 1
python benchmarks/local_searches.py --orders 0 1 2 --methods allmodes L-BFGS-B --names Rosenbrock Meyer
python benchmarks/local_searches.py --bank FOLDER  # with the problems of a folder (see local_cases.py)
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from local_cases import Case, cases
from local_methods import METHODS, NEAR, Ended
from results import Cell, Results, arguments, digits, reached

OURS = "allmodes"
ORDERS = {0: "from values", 1: "with gradients", 2: "with Hessians"}
NOTE = (
    f"Units: a value, a gradient, a Hessian each. Columns of a method: median units until it was first within {NEAR:g} "
    "of the box of where it ended, and until it was over, of the searches that arrived at a minimum; how many arrived."
)


def measure(case: Case, method: str, order: int, n: int, seed: int) -> list[Ended]:
    """One search from every start."""
    starts = case.starts(n, seed)
    level = case.value(starts)
    run = METHODS[method][1]
    return [run(case, order, start, level) for start in starts]


def middle(searches: list[Ended], field: str) -> float:
    """Median over the searches that arrived; NaN if none did."""
    counts = [getattr(search, field) for search in searches if search.arrived]
    return float(np.median(counts)) if counts else np.nan


def per_arrival(searches: list[Ended]) -> float:
    """Units of all searches, lost ones too, for each that arrived."""
    arrived = sum(search.arrived for search in searches)
    return sum(search.end for search in searches) / arrived if arrived else np.nan


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--names", nargs="*", help="problems, by names or parts of names")
    parser.add_argument("--orders", type=int, nargs="*", default=[1], choices=list(ORDERS), help="derivatives (1)")
    parser.add_argument("--starts", type=int, default=10, help="Sobol points for each problem (10)")
    parser.add_argument("--methods", nargs="*", default=list(METHODS), choices=list(METHODS), help="all of them")
    parser.add_argument("--bank", type=Path, metavar="FOLDER", help="more problems")
    given = parser.parse_args()
    results = Results("Single local searches", given, NOTE)
    for order in given.orders:
        methods = [name for name in given.methods if order in METHODS[name][0]]
        columns = [f"{name} {what}" for name in methods for what in ("reach", "end", "arrived")]
        results.table(["problem", "d", "starts", *columns, "reach ratio", "per arrival", "per arrival ratio"],
                      ORDERS[order])  # fmt: skip
        ratios: list[tuple[float, float]] = []
        for case in cases(given.bank, given.names):
            told = {name: measure(case, name, order, given.starts, given.first_seed) for name in methods}
            row: list[Cell] = []
            for ends in told.values():
                row += [reached(middle(ends, "reach")), reached(middle(ends, "end")), sum(e.arrived for e in ends)]
            ratio = compared(told)
            ratios.append(ratio)
            own = per_arrival(told[OURS]) if OURS in told else np.nan
            results.row(case.name, case.d, len(told[methods[0]]), *row, digits(ratio[0], 2), reached(own),
                        digits(ratio[1], 2))  # fmt: skip
        means = [np.exp(np.nanmean(np.log(column))) for column in zip(*ratios, strict=True)]
        results.say(f"{ORDERS[order]}: geometric means of the ratios {means[0]:.3f} (reach), {means[1]:.3f} (arrival).")
    results.write()


def compared(told: dict[str, list[Ended]]) -> tuple[float, float]:
    """Our median reach and units per arrival, as shares of those of the best peer."""
    if OURS not in told or len(told) < 2:
        return np.nan, np.nan
    peers = [ends for name, ends in told.items() if name != OURS]
    most = max(sum(e.arrived for e in ends) for ends in peers)
    fit = [ends for ends in peers if 2 * sum(e.arrived for e in ends) >= most]
    reach = np.nanmin([np.inf, *(middle(ends, "reach") for ends in fit)])
    cost = np.nanmin([np.inf, *(per_arrival(ends) for ends in peers)])
    return middle(told[OURS], "reach") / reach, per_arrival(told[OURS]) / cost


if __name__ == "__main__":
    main()
