"""Masses of modes: errors against known values, whether standard errors hold, and evaluations beside dynesty's.

    python benchmarks/masses.py --runs 100
    python benchmarks/masses.py --runs 5 --dynesty 0

Modes are found once, from values alone; then they are weighed with as many seeds as there are runs. Dynesty: 500 live
points, its defaults, a uniform prior over the bounds; draws are of the mode that the weighed mixture of ours has there.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from allmodes import find_maxima
from allmodes.result import Masses, Result
from masses_targets import Target, targets
from results import BEYOND, Cell, Results, arguments, digits, seeds_of

NOTE = (
    "Modes are found once from values alone, and weighed with 4,000 draws and each of the seeds. Stated: runs in which "
    "k-hat lets all masses be stated; errors are of those. Error: root mean square; stated error: the mean of the "
    "standard errors. Within 3: the share of errors within three standard errors, in %; of masses over all modes and "
    "runs. Of a target with one mode there is no mass to tell."
)
LIVE = 500
COLUMNS = (
    "target", "d", "modes", "stated", "k-hat", "log evidence", "error", "stated error", "within 3", "mass error",
    "stated error", "within 3", "search", "evaluations",
)  # fmt: skip

Floats = NDArray[np.float64]


def modes_of(target: Target, seed: int) -> Result:
    """The modes, from values."""
    return find_maxima(target.log_density, target.bounds, vectorized=True, rng=seed, maxfev=target.budget)


def calibrated(target: Target, result: Result, seeds: Sequence[int]) -> list[Cell]:
    """One row: errors and standard errors over the seeds."""
    runs = [result.masses(target.log_density, vectorized=True, rng=seed) for seed in seeds]
    stated = [each for each in runs if not np.isnan(each.log_evidence) and not np.isnan(each.mass).any()]
    truth = np.array([target.masses(mode.x) for mode in result.modes])
    cells: list[Cell] = [
        target.name, len(target.bounds), len(result.modes), f"{len(stated)} of {len(runs)}",
        digits(np.median([max(mode.pareto_k for mode in each) for each in runs]), 2),
        digits(target.log_evidence, 3),
    ]  # fmt: skip
    of_evidence = [(each.log_evidence - target.log_evidence, each.standard_error) for each in stated]
    of_masses = [pair for each in stated for pair in _of_masses(each, truth)] if len(truth) > 1 else []
    costs = [result.nfev, round(float(np.mean([each.nfev for each in runs])))]
    return [*cells, *_errors(of_evidence), *_errors(of_masses), *costs]


def _of_masses(masses: Masses, truth: Floats) -> list[tuple[float, float]]:
    return [(mode.mass - mass, mode.standard_error) for mode, mass in zip(masses, truth, strict=True)]


def _errors(pairs: list[tuple[float, float]]) -> list[Cell]:
    """Root mean square, mean standard error, and how many are within three of them."""
    if not pairs:
        return [None, None, None]
    off, error = np.array(pairs).T
    within = 100.0 * float((np.abs(off) <= 3.0 * error).mean())
    return [digits(np.sqrt((off**2).mean()), 4), digits(error.mean(), 4), digits(within, 1)]


def by_dynesty(target: Target, result: Result, seed: int, calls: int) -> list[Cell]:
    """Evaluations, log evidence, its error and the mass of the first mode."""
    import dynesty

    low, high = np.array(target.bounds, dtype=float).T
    width = float(np.log(high - low).sum())
    with np.errstate(all="ignore"):
        sampler = dynesty.NestedSampler(
            lambda x: float(target.log_density(x[None])[0]) + width, lambda u: low + (high - low) * u, len(low),
            nlive=LIVE, rstate=np.random.default_rng(seed),
        )  # fmt: skip
        sampler.run_nested(maxcall=calls, print_progress=False)
    found: Any = sampler.results
    called = int(np.sum(found.ncall))
    if called >= calls:
        return [BEYOND, None, None, None]
    places = np.array([mode.x for mode in result.modes])
    scales = np.ptp(places, axis=0) if len(places) > 1 else np.ones(len(low))
    apart = ((found.samples[:, None] - places) / np.where(scales > 0.0, scales, 1.0)) ** 2
    weights = np.exp(found.logwt - found.logz[-1])
    share = float(weights[apart.sum(axis=2).argmin(axis=1) == 0].sum() / weights.sum())
    return [called, digits(found.logz[-1], 2), digits(found.logzerr[-1], 2), digits(share, 3)]


def main() -> None:
    parser = arguments(__doc__ or "", runs=100)
    parser.add_argument(
        "--dynesty", type=int, default=300_000, help="evaluations allowed to dynesty (300000); 0 for none"
    )
    parser.add_argument("--only", nargs="*", help="targets by name")
    given = parser.parse_args()
    shown = [target for target in targets() if not given.only or target.name in given.only]
    told = Results("Masses of modes", given, NOTE)
    found = {target.name: modes_of(target, given.first_seed) for target in shown}
    told.table(COLUMNS)
    for target in shown:
        told.row(*calibrated(target, found[target.name], seeds_of(given)))
    if given.dynesty:
        told.table(
            ("target", "log evidence", "mass of mode 1", "ours: evaluations", "log evidence", "error", "mass of mode 1",
             "error", "dynesty: evaluations", "log evidence", "error", "mass of mode 1"),
            f"Beside dynesty, {LIVE} live points, seed {given.first_seed}",
        )  # fmt: skip
        for target in shown:
            told.row(*_beside(target, found[target.name], given.first_seed, given.dynesty))
    told.write()


def _beside(target: Target, result: Result, seed: int, calls: int) -> list[Cell]:
    ours = result.masses(target.log_density, vectorized=True, rng=seed)
    first = ours[0]
    return [
        target.name, digits(target.log_evidence, 3), digits(target.masses(result.modes[0].x), 3),
        result.nfev + ours.nfev, digits(ours.log_evidence, 3), digits(ours.standard_error, 3), digits(first.mass, 3),
        digits(first.standard_error, 3), *by_dynesty(target, result, seed, calls),
    ]  # fmt: skip


if __name__ == "__main__":
    main()
