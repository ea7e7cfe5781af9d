"""Memory of a long search: what is held after so many evaluations, by tracemalloc.

    python benchmarks/memory.py 1000000

The search is told values of a rugged function (many modes) or of one with two modes. What is kept of modes grows with
their number; nothing else may grow with the number of evaluations.
"""

from __future__ import annotations

import argparse
import gc
import time
import tracemalloc

import numpy as np
from numpy.typing import NDArray

from allmodes import ModeFinder

Floats = NDArray[np.float64]
SAMPLES = 10


def two_wells(x: Floats) -> Floats:
    """Two minima, for ever."""
    return np.asarray((x[:, 0] ** 2 - 1.0) ** 2 + x[:, 1] ** 2)


def held(method: str, evaluations: int) -> list[tuple[int, int, int]]:
    """(evaluations, bytes held by the search, modes) at equal distances."""
    finder = ModeFinder(
        [(-2.0, 2.0), (-2.0, 2.0)],
        method=method,
        rng=0,
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
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("evaluations", type=int, nargs="?", default=1_000_000)
    parser.add_argument("--methods", nargs="+", default=["auto", "launch", "black-box", "anneal"])
    given = parser.parse_args()
    tracemalloc.start()
    for method in given.methods:
        begun = time.monotonic()
        seen = held(method, given.evaluations)
        grown = f"{seen[-1][1] - seen[0][1]} bytes more at the end" if len(seen) > 1 else "over by itself"
        print(f"{method}: {grown}, {time.monotonic() - begun:.0f} s")
        for nfev, size, modes in seen:
            print(f"  {nfev:>9} evaluations  {size / 2**20:8.3f} MB  {modes} modes")


if __name__ == "__main__":
    main()
