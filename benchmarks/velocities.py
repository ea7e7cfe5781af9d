"""Velocities of a star: how many explanations are found, beside multistart of least_squares with as many evaluations.

    python benchmarks/velocities.py --runs 20 --first-seed 100

Data, model and both searches are those of `examples/demo.py`; explanations are the minima along a fine grid of periods.
"""

from __future__ import annotations

import sys

import numpy as np

from results import HERE, Results, arguments, digits, seeds_of

sys.path.insert(0, str(HERE.parent / "examples"))
import demo

NOTE = (
    f"At most {demo.BUDGET:,} evaluations of the residuals each, differences counted. An explanation is a minimum with "
    f"a chi2 below {demo.WORTH:g}; the two best fit equally well."
)


def explanations() -> demo.Floats:
    """Their periods, by a grid; the best two first."""
    periods = np.geomspace(demo.LOWER[1], demo.UPPER[1], 100_000)
    values = demo.misfit(periods)
    places = np.flatnonzero((values[1:-1] < values[:-2]) & (values[1:-1] < values[2:])) + 1
    places = places[values[places] < demo.WORTH]
    return np.asarray(periods[places[values[places].argsort()]])


def main() -> None:
    given = arguments(__doc__ or "", runs=20).parse_args()
    results = Results("Velocities of a star", given, NOTE)
    known = explanations()
    results.table(["search", "explanations", "found", "runs with all", "runs with the best two"])
    found: dict[str, list[np.ndarray[tuple[int], np.dtype[np.bool_]]]] = {
        "curve_fit of allmodes": [],
        "multistart of least_squares": [],
    }
    for seed in seeds_of(given):
        ours = np.array([(mode.x[1], 2 * mode.fun) for mode in demo.explain(seed).modes])
        for ends, seen in zip((ours, demo.multistart(demo.BUDGET, seed)), found.values(), strict=True):
            seen.append(demo.found_by(ends, known))
    for name, seen in found.items():
        each = np.array(seen)
        results.row(
            name,
            len(known),
            digits(each.sum(axis=1).mean(), 1),
            int(each.all(axis=1).sum()),
            int(each[:, :2].all(axis=1).sum()),
        )
    results.write()


if __name__ == "__main__":
    main()
