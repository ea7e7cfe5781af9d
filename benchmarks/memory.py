"""Memory of a long search: what is held after so many evaluations, by tracemalloc.

    python benchmarks/memory.py 1000000

The search is told values of a function with two minima. What is kept of modes grows with their number; nothing else may
grow with the number of evaluations.
"""

from __future__ import annotations

import gc
import time
import tracemalloc

import numpy as np
from numpy.typing import NDArray

from allmodes import ModeFinder
from results import Cell, Results, arguments, digits

Floats = NDArray[np.float64]
SAMPLES = 10


def two_wells(x: Floats) -> Floats:
    """A function with two minima."""
    return np.asarray((x[:, 0] ** 2 - 1.0) ** 2 + x[:, 1] ** 2)


def held(method: str, evaluations: int, seed: int) -> list[tuple[int, int, int]]:
    """(evaluations, bytes held by the search, modes) at equal distances."""
    finder = ModeFinder(
        [(-2.0, 2.0), (-2.0, 2.0)],
        method=method,
        rng=seed,
        maxfev=evaluations,
        options={"patience": evaluations, "width": 256},
    )
    seen: list[tuple[int, int, int]] = []
    while not finder.stop():
        finder._driver.tell_round(two_wells(finder.ask()))
        if finder.nfev >= (len(seen) + 1) * evaluations // SAMPLES:
            gc.collect()
            seen.append((finder.nfev, tracemalloc.get_traced_memory()[0], finder.modes_found))
    if not seen:  # it was over before
        seen.append((finder.nfev, tracemalloc.get_traced_memory()[0], finder.modes_found))
    return seen


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("evaluations", type=int, nargs="?", default=1_000_000)
    parser.add_argument("--methods", nargs="+", default=["auto", "local", "black-box", "anneal"])
    given = parser.parse_args()
    note = "What a search of a function with two minima holds, by tracemalloc."
    results = Results("Memory of a long search", given, note)
    results.table(["method", "evaluations", "MB", "modes"])
    ends: list[list[Cell]] = []
    tracemalloc.start()
    for method in given.methods:
        begun = time.monotonic()
        seen = held(method, given.evaluations, given.first_seed)
        for nfev, size, modes in seen:
            results.row(method, nfev, digits(size / 2**20, 3), modes)
        grown: Cell = seen[-1][1] - seen[0][1] if len(seen) > 1 else "over by itself"
        ends.append([method, grown, round(time.monotonic() - begun)])
    results.table(["method", "bytes more", "seconds"], "From the first look to the end")
    for end in ends:
        results.row(*end)
    results.write()


if __name__ == "__main__":
    main()
