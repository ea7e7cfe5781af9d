"""A first job: all optima of a function in one call, and the annealing that gives the library its name.

Prints the modes found against the true ones and draws them over the contours.

    python examples/demo.py [picture.png]
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

import allmodes
from allmodes import nva, problems
from allmodes.report import canvas, plots, runs


def find_everything(problem: problems.Problem) -> tuple[allmodes.Result, int]:
    """Every maximum from values alone; returns how many of the true ones are missing."""
    print(f"The {problem.name}: {problem.is_global.sum()} global and {(~problem.is_global).sum()} local modes.\n")
    result = allmodes.find_maxima(problem.objective.fun, problem.bounds, vectorized=True, rng=0, progress=True)
    print(result)
    found = np.array([mode.x for mode in result.modes])
    apart = np.abs(problem.modes[:, None] - found[None]).max(axis=2)
    missing = int((apart.min(axis=1) > 1e-4).sum())
    print(f"\n{len(problem.modes) - missing} of {len(problem.modes)} true modes found, {len(found)} reported.\n")
    return result, missing


def anneal(problem: problems.Problem) -> tuple[nva.Run, int]:
    """A mixture of four components that entropy keeps apart while the temperature falls."""
    rng = np.random.default_rng(3)
    low, high = problem.bounds.T
    started = time.perf_counter()
    run = nva.anneal(
        problem.objective,
        algorithm=nva.presets.nva_gm(order=2),
        means=rng.uniform(low, high, size=(4, problem.dimension)),
        covariances=np.eye(2),
        temperature=nva.schedules.power(1.0, 1.0),
        learning_rate=nva.schedules.coupled(0.1, 0.8),
        steps=5000,
        rng=rng,
        progress=True,
    )
    found = problem.found(run.means)
    seconds = time.perf_counter() - started
    print(f"{run.algorithm.name} on the {problem.name}: {found.sum()} of {len(found)} modes in {seconds:.1f} s.")
    print(f"Weights of the components: {', '.join(f'{weight:.3f}' for weight in np.sort(run.weights)[::-1])}\n")
    return run, int((~found).sum())


def main(picture: Path) -> None:
    camel, triangle = problems.six_hump_camel(), problems.symmetric_mixture()
    figure = Figure(figsize=(7.4, 4.4), layout="constrained")  # small, so that its type is large on a narrow screen
    left, right = figure.subplots(1, 2)
    result, missing = find_everything(camel)
    result.plot.landscape(camel.objective, ax=left)
    left.set_title(f"{camel.name}:\n" + left.get_title().replace("\n", " "))
    run, missed = anneal(triangle)
    plots.trajectories(run, triangle, ax=right)
    right.set(aspect="auto", xlabel="x0", ylabel="x1", title=f"{triangle.name}:\n{run.algorithm.name}")
    canvas.legend_below(right, right.get_legend_handles_labels()[0] + runs.entries())
    figure.savefig(picture, dpi=160)
    print(f"Picture: {picture.resolve()}")
    sys.exit(1 if missing or missed else 0)


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "demo.png"))
