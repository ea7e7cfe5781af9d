"""Annealing with known modes: do frozen components in q help to find the others?

    python benchmarks/repulsion.py --runs 8 --out repulsion.json
    python benchmarks/repulsion.py --runs 3 --problems Himmelblau Shubert --orders 2
    python benchmarks/repulsion.py --problems Hapke            # fits its posterior first: a minute or two

Runs of annealing, one after the other, within a fixed number of evaluations, without and with the repulsion of
archived modes, each of which counts as w live components. Where components end, L-BFGS-B polishes; an end in a new mode
is charged with all of its evaluations, one in a known mode with two, because the finder recognises it then. From
values alone a gradient counts as d more evaluations. Means over fresh seeds; what repulsion changes, with the standard
error of the paired difference: modes found, and the evaluations after which a mode was found, where those that were not
found count as the budget.
"""

from __future__ import annotations

import argparse
import json
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

import allmodes.reproduce
from allmodes.objective import GRADIENT, HESSIAN, Evaluation, Objective
from allmodes.objective.bounds import Box
from allmodes.problems import (
    Problem,
    himmelblau,
    mixture_objective,
    random_mixture,
    rastrigin_funnels,
    shubert,
    six_hump_camel,
    styblinski_tang,
)  # fmt: skip
from allmodes.reproduce.hapke import train
from allmodes.search.archive import Archive, Frozen
from allmodes.search.context import Context
from allmodes.search.events import Continue
from allmodes.search.geometry import is_held
from allmodes.search.searchers.annealing.annealing import Annealing
from allmodes.search.searchers.annealing.tuning import TUNING

Array = NDArray[np.float64]

PER_MODE = (400, 120, 60)  # evaluations, by the order of derivatives: about what finds most of the modes
BUDGET = (1_000, 8_000)  # evaluations, at least and at most; the latter where a few global modes are among many
NEAR = 5e-3  # of the box: as near as this a mode is found
SAME = 1e-3  # of the box: ends closer than this after polishing are one
WEIGHTS = {"without": 0.0, "w1": 1.0, "w20": 20.0}  # of a frozen component, in live ones
RECOGNISED = 2  # evaluations after which the finder knows where a local search is going


class Case(NamedTuple):
    """A problem, and whether its global modes alone are counted."""

    name: str
    make: Callable[[], Problem]
    is_global: bool = False


class Outcome(NamedTuple):
    """Evaluations at which each mode was found, inf where it was not; ends, and how many of these were new modes."""

    found_at: Array
    ends: int
    new: int


def rastrigin() -> Problem:
    """25 maxima of minus Rastrigin's function in two dimensions."""
    turn = 2 * np.pi

    def fun(x: Any) -> Any:
        return -(x**2 + 10.0 * (1.0 - np.cos(turn * x))).sum(axis=-1)

    def jac(x: Any) -> Any:
        return -(2.0 * x + 10.0 * turn * np.sin(turn * x))

    def hess(x: Any) -> Any:
        return -(2.0 + 10.0 * turn**2 * np.cos(turn * x))[..., None] * np.eye(x.shape[-1])

    places = np.arange(-2.0, 3.0)
    for _ in range(20):
        places = places - (2.0 * places + 10.0 * turn * np.sin(turn * places)) / (
            2.0 + 10.0 * turn**2 * np.cos(turn * places)
        )
    modes = np.stack(np.meshgrid(places, places), axis=-1).reshape(-1, 2)
    bounds = np.array([[-2.5, 2.5]] * 2)
    objective = Objective(fun, jac, hess, vectorized=True)
    return Problem("Rastrigin", objective, bounds, modes, np.all(np.abs(modes) < 0.1, axis=1))


def hapke_posterior() -> Problem:
    """The first training of the reproduction: log-density of a GLLiM posterior of Hapke's model, 17 modes."""
    path = Path(allmodes.reproduce.__file__).parent / "hapke.toml"
    settings = tomllib.loads(path.read_text())
    training = train(settings["training"], np.random.default_rng(0).spawn(1)[0])
    density = mixture_objective(*(training.posterior[i] for i in (1, 2, 0)))
    low, high = settings["search"]["box"]
    bounds = np.array([[low, high]] * training.modes.shape[1])
    return Problem("Hapke", density, bounds, training.modes, np.arange(len(training.modes)) == 0)


CASES = (
    Case("Himmelblau", himmelblau),
    Case("six-hump camel", six_hump_camel),
    Case("Styblinski–Tang d=2", lambda: styblinski_tang(2)),
    Case("Styblinski–Tang d=4", lambda: styblinski_tang(4)),
    Case("mixture d=2 K=10", lambda: random_mixture(2, 10, 0.5)),
    Case("mixture d=2 K=50", lambda: random_mixture(2, 50, 0.25)),
    Case("Rastrigin d=2", rastrigin),
    Case("Shubert", shubert),
    Case("Rastrigin funnels d=2", lambda: rastrigin_funnels(2), True),
    Case("Rastrigin funnels d=4", lambda: rastrigin_funnels(4), True),
    Case("Hapke", hapke_posterior),
)


class Polisher:
    """Climbs from ends, archives what is new, and counts."""

    def __init__(self, problem: Problem, context: Context):
        self.problem, self.context, self.box = problem, context, context.box
        self.truth = self.box.to_unit(problem.modes[problem.is_global] if context.is_global else problem.modes)
        self.found_at = np.full(len(self.truth), np.inf)
        self.ends = self.new = 0

    def evaluate(self, points: Array, needs: frozenset[str]) -> Evaluation:
        """In unit coordinates."""
        value, gradient, hessian = self.problem.objective.evaluate(self.box.to_user(points), needs)
        return Evaluation(
            np.asarray(value), None if gradient is None else self.box.gradient_to_unit(np.asarray(gradient)),
            None if hessian is None else self.box.hessian_to_unit(np.asarray(hessian)),
        )  # fmt: skip

    def polish(self, point: Array) -> None:
        """One end."""
        context, d = self.context, self.box.d

        def downhill(z: Array) -> tuple[float, Array]:
            value, gradient, _ = self.evaluate(z[None], GRADIENT)
            return -float(value[0]) / context.scale, -gradient[0] / context.scale

        low, high = np.maximum(self.box.lower_unit, -9.0), np.minimum(self.box.upper_unit, 9.0)
        done = minimize(downhill, point, jac=True, method="L-BFGS-B", bounds=list(zip(low, high, strict=True)),
                        options={"ftol": 1e-14, "gtol": 1e-7})  # fmt: skip
        value, gradient, hessian = self.evaluate(done.x[None], GRADIENT | HESSIAN)
        active = is_held(self.box, done.x, gradient[0])
        is_top = np.abs(np.where(active, 0.0, gradient[0])).max() < 1e-3 * context.scale
        is_new = bool(is_top) and context.archive.closest(done.x)[1] > SAME
        each = 1 + d * (context.order == 0)
        self.ends, self.new = self.ends + 1, self.new + is_new
        context.observe(done.x[None], value, each * (done.nfev if is_new else min(done.nfev, RECOGNISED)))
        if is_new and context.left >= 0:
            record = Frozen(gradient[0], hessian[0], active, "optimum", "derivatives", context.nfev)
            context.archive.add(done.x, float(value[0]), record)
            is_here = np.abs(self.box.difference(self.truth, done.x)).max(axis=1) < NEAR
            self.found_at[is_here] = np.minimum(self.found_at[is_here], context.nfev)


def run(problem: Problem, is_global: bool, order: int, repels: bool, seed: int, budget: int) -> Outcome:
    """Annealing until the budget is used."""
    box = Box.make(problem.bounds)
    context = Context(box, Archive(box), np.random.default_rng(seed), order=order, is_global=is_global, maxfev=budget)
    annealing, polisher = Annealing(context), Polisher(problem, context)
    annealing.repels = repels
    while True:
        request = annealing.ask(True)
        if not len(request.points):
            break
        evaluation = polisher.evaluate(request.points, request.needs)
        context.observe(request.points, np.asarray(evaluation.value), len(request.points))
        for event in annealing.tell(evaluation):
            assert isinstance(event, Continue)  # an end, to be polished
            polisher.polish(event.point)
    return Outcome(polisher.found_at, polisher.ends, polisher.new)


def compare(case: Case, problem: Problem, order: int, seeds: range) -> dict[str, Any]:
    """One row of the table."""
    modes = int(problem.is_global.sum() if case.is_global else len(problem.modes))
    budget = BUDGET[1] if case.is_global else int(np.clip(PER_MODE[order] * modes, *BUDGET))
    row: dict[str, Any] = {"problem": case.name, "order": order, "runs": len(seeds), "budget": budget, "modes": modes}
    for name, weight in WEIGHTS.items():
        object.__setattr__(TUNING, "frozen_weight", weight)
        outcomes = [run(problem, case.is_global, order, weight > 0.0, seed, budget) for seed in seeds]
        row[name] = {
            "found": [int(np.isfinite(outcome.found_at).sum()) for outcome in outcomes],
            "mean_found_at": [float(np.minimum(outcome.found_at, budget).mean()) for outcome in outcomes],
            "new_ends": sum(outcome.new for outcome in outcomes) / max(1, sum(outcome.ends for outcome in outcomes)),
        }
    return row


def _gain(row: dict[str, Any], name: str, what: str) -> str:
    """Mean with less without, and the standard error of the paired difference."""
    gain = np.subtract(row[name][what], row["without"][what])
    error = gain.std(ddof=1) / np.sqrt(len(gain)) if len(gain) > 1 else np.nan
    digits = 1 if what == "found" else 0
    return f"{gain.mean():+.{digits}f} ± {error:.{digits}f}"


def line(row: dict[str, Any]) -> str:
    """Of the table, in Markdown."""
    before, names = row["without"], [name for name in WEIGHTS if name != "without"]
    cells = [row["problem"], row["order"], row["budget"], row["modes"], f"{np.mean(before['found']):.1f}"]
    cells += [_gain(row, name, "found") for name in names]
    cells += [f"{np.mean(before['mean_found_at']):.0f}"] + [_gain(row, name, "mean_found_at") for name in names]
    return "| " + " | ".join(map(str, cells)) + " |"


HEAD = "| problem | order | budget | modes | found | w = 1 | w = 20 | found after | w = 1 | w = 20 |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=8)
    parser.add_argument("--first-seed", type=int, default=1000, help="weights were chosen with seeds from 0")
    parser.add_argument("--problems", nargs="*", default=[])
    parser.add_argument("--orders", nargs="*", type=int, default=[0, 1, 2])
    parser.add_argument("--out", type=Path)
    arguments = parser.parse_args()
    seeds = range(arguments.first_seed, arguments.first_seed + arguments.runs)
    object.__setattr__(TUNING, "rare", 1e-9)  # runs go on until the budget is used
    print(HEAD + "\n" + "| --- " * 10 + "|")
    rows = []
    for case in CASES:
        if arguments.problems and not any(name in case.name for name in arguments.problems):
            continue
        problem = case.make()
        for order in arguments.orders:
            rows.append(compare(case, problem, order, seeds))
            print(line(rows[-1]), flush=True)
    if arguments.out is not None:
        arguments.out.write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    main()
