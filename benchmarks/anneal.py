"""Automatic annealing beside the paper's hand-tuned settings: modes found and evaluations, on its four problems.

    python benchmarks/anneal.py            20 runs each, two minutes
    python benchmarks/anneal.py --quick    3 runs each, for a look

The published settings run through `allmodes.anneal` from means drawn evenly in the box; a mode counts as found when a
mean ends within 0.1 of it in every coordinate. Rank-based runs have their learning rate bounded at 0.05, for with the
published one all of them diverge; everything else is as printed. The automatic search gets what the published settings
spend as its budget and knows nothing else: evenly spread points, all annealing runs, the polishing of candidates
(L-BFGS-B) and the Hessian at each are counted. One point with all the derivatives that are used there is one evaluation.

Paper: sub:simu_mode, fig:weight_asym, app:simu_degenerate
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import scipy.optimize
from numpy.typing import NDArray

from allmodes import Algorithm, anneal, presets, problems, schedules
from allmodes.objective import GRADIENT, HESSIAN, VALUE, Evaluation, Needs
from allmodes.objective.bounds import Box
from allmodes.problems import Problem
from allmodes.strategy.annealed import Annealed
from allmodes.strategy.archive import Archive, Found
from allmodes.strategy.search import Search

Floats = NDArray[np.float64]

TOLERANCE = 0.1  # the paper's, in the function's own coordinates
BOUNDED_RATE = 0.05
DISTINCT = 1e-3  # of the box, between polished points that are two modes
FLAT = 1e-3  # largest curvature upwards, relative to the largest downwards, of a polished point that is a mode


class Case(NamedTuple):
    """Published settings for one problem."""

    problem: Problem
    K: int
    steps: int
    num_samples: int
    temperature: schedules.Schedule
    rate: schedules.Schedule
    algorithm: Algorithm
    order: int

    @property
    def evaluations(self) -> int:
        return self.K * self.steps * self.num_samples


def cases() -> list[Case]:
    """Every problem with the paper's K: the number of its modes."""
    power, coupled, hessian = schedules.power, schedules.coupled, presets.nva_gm(order=2)
    symmetric, tang = problems.symmetric_mixture(), problems.styblinski_tang(4)
    asymmetric, degenerate = problems.asymmetric_mixture(), problems.degenerate()
    ranks = presets.fs_nva_gm()
    return [
        Case(symmetric, 4, 5000, 4, power(1.0, 1.0), coupled(0.1, 0.8), hessian, 2),
        Case(tang, 16, 200, 4, power(40_000.0, 2.0), coupled(1e-4, 0.5), hessian, 2),
        Case(asymmetric, 3, 1000, 4, power(100.0, 1.0), coupled(1e-3, 0.8), hessian, 2),
        Case(degenerate, 2, 50, 4, power(0.1, 2.0), coupled(0.1, 0.8), hessian, 2),
        Case(symmetric, 4, 5000, 16, power(1.0, 1.0), coupled(0.1, 0.8, maximum=BOUNDED_RATE), ranks, 0),
        Case(tang, 16, 200, 16, power(40_000.0, 2.0), coupled(1e-4, 0.5, maximum=BOUNDED_RATE), ranks, 0),
    ]


def published(case: Case, seeds: range) -> list[int]:
    """Modes found by the published settings in each run."""
    lower, upper = case.problem.bounds.T
    means = np.stack([np.random.default_rng(seed).uniform(lower, upper, (case.K, len(lower))) for seed in seeds])
    runs = anneal(
        case.problem.objective, algorithm=case.algorithm, means=means, covariances=1.0, temperature=case.temperature,
        learning_rate=case.rate, num_samples=case.num_samples, steps=case.steps, rng=seeds.start,
        replicates=len(seeds), trace_every=case.steps, driver="jax",
    )  # fmt: skip
    return [int(case.problem.found(run.means, TOLERANCE).sum()) for run in runs]


@dataclass
class Automatic:
    """The annealed strategy, and around it as little as it needs: evaluations, polishing, the archive."""

    problem: Problem
    order: int
    budget: int
    seed: int
    search: Search = field(init=False)
    strategy: Annealed = field(init=False)
    counts: Floats = field(init=False)

    def __post_init__(self) -> None:
        box = Box.make(self.problem.bounds)
        rng = np.random.default_rng(self.seed)
        self.search = Search(box, Archive(box), rng, order=self.order, maxfev=self.budget)
        self.strategy = Annealed(self.search)
        self.counts = np.full(len(self.problem.modes), np.inf)

    def run(self) -> None:
        """Until the strategy ends or the budget does; `counts` are evaluations until each mode was found."""
        strategy, search = self.strategy, self.search
        while search.nfev < self.budget:
            request = strategy.ask()
            if not len(request.points) or len(request.points) > self.budget - search.nfev:
                break
            evaluation = self.evaluate(request.points, request.needs)
            search.nfev += len(request.points)
            strategy.tell(evaluation)
            while strategy.candidates:
                self.polish(strategy.candidates.pop(0))

    def evaluate(self, points: Floats, needs: Needs) -> Evaluation:
        """The function in unit coordinates."""
        box = self.search.box
        value, gradient, hessian = self.problem.objective.evaluate(box.to_user(points), needs)
        if gradient is not None:
            gradient = gradient * box.scale
        if hessian is not None:
            hessian = hessian * (box.scale[:, None] * box.scale)
        return Evaluation(value, gradient, hessian)

    def polish(self, start: Floats) -> None:
        """Climb from a candidate; archive what is a mode and new."""
        search, d, scale = self.search, len(start), max(self.search.scale, 1e-300)

        def fun(z: Floats) -> Any:
            value, gradient, _ = self.evaluate(z[None], GRADIENT if self.order else VALUE)
            return (-value[0] / scale, -gradient[0] / scale) if self.order else -value[0] / scale

        left = self.budget - search.nfev
        cost = 1 if self.order == 2 else d + 1 if self.order else (d + 1) * (d + 2) // 2  # of a Hessian
        if left <= cost + d + 1:
            search.nfev = self.budget
            return
        end = scipy.optimize.minimize(
            fun, start, jac=bool(self.order), method="L-BFGS-B", bounds=[(0.0, 1.0)] * d,
            options={"maxfun": left - cost - d - 1, "gtol": 1e-6},
        )  # fmt: skip
        search.nfev += end.nfev + cost
        point = np.asarray(end.x)
        value, gradient, hessian = self.evaluate(point[None], GRADIENT | HESSIAN)
        curvature = np.linalg.eigvalsh(hessian[0])
        if curvature[-1] > FLAT * -curvature[0]:
            return
        is_found = self.problem.found(search.box.to_user(point[None]), TOLERANCE)
        self.counts[is_found & np.isinf(self.counts)] = search.nfev
        if len(search.archive) and search.archive.nearest(point[None])[1][0] < DISTINCT:
            return
        nothing = np.zeros(d, np.bool_)
        search.archive.add(point, float(value[0]), Found(gradient[0], hessian[0], nothing, "optimum", "derivatives", 0))


def automatic(case: Case, seeds: range) -> list[Automatic]:
    """One search for every seed, with the budget of the published settings."""
    searches = [Automatic(case.problem, case.order, case.evaluations, seed) for seed in seeds]
    for search in searches:
        search.run()
    return searches


def row(case: Case, seeds: range) -> str:
    """One line of the table."""
    modes = len(case.problem.modes)
    by_hand = float(np.mean(published(case, seeds)))
    searches = automatic(case, seeds)
    found = float(np.mean([np.isfinite(search.counts).sum() for search in searches]))
    wanted = int(np.ceil(by_hand))
    until = np.median([np.sort(search.counts)[wanted - 1] for search in searches])
    every = np.median([search.counts.max() for search in searches])
    total = np.median([search.search.nfev for search in searches])
    return (
        f"{case.problem.name:18} {case.algorithm.name:17} {modes:5} {case.K:3} {case.evaluations:8} {by_hand:6.2f}   "
        f"{found:6.2f} {until:8.0f} {every:8.0f} {total:8.0f}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="3 runs each")
    seeds = range(1000, 1003 if parser.parse_args().quick else 1020)
    print(f"means of modes found and medians of evaluations over {len(seeds)} runs; budget = evaluations by hand\n")
    print(f"{'':18} {'':17} {'':5} {'by hand':>19}   {'automatic, until':>16}")
    print(f"{'problem':18} {'by hand with':17} modes   K   evals.  found    found  as many   all     its end")
    for case in cases():
        print(row(case, seeds), flush=True)


if __name__ == "__main__":
    main()
