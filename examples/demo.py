"""A first job: two algorithms on a function with three global modes and a local one.

Prints the modes found against the true ones and draws the paths of the component means over the contours.

    python examples/demo.py [picture.png]
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

import allmodes
from allmodes import presets, problems, schedules
from allmodes.report import plots

STEPS = 5000
COMPONENTS = 4


def table(problem: problems.Problem, run: allmodes.Run) -> str:
    """True modes beside the component that came closest to each."""
    values = problem.objective.fun(problem.modes)
    lines = [f"{'true mode':>19}  {'value':>8}  {'kind':>6}    {'found at':>17}  {'distance':>8}  {'weight':>6}"]
    for mode, value, is_global in zip(problem.modes, values, problem.is_global, strict=True):
        k = int(np.argmin(np.linalg.norm(run.means - mode, axis=1)))
        distance = float(np.linalg.norm(run.means[k] - mode))
        kind = "global" if is_global else "local"
        there, here = ("({: .4f}, {: .4f})".format(*(x.round(4) + 0.0)) for x in (mode, run.means[k]))  # no -0
        lines.append(f"{there:>19}  {value:8.4f}  {kind:>6}  {here:>19}  {distance:8.4f}  {run.weights[k]:6.3f}")
    return "\n".join(lines)


def main(picture: Path) -> None:
    problem = problems.symmetric_mixture()
    rng = np.random.default_rng(3)
    low, high = problem.bounds.T
    means = rng.uniform(low, high, size=(COMPONENTS, problem.dimension))
    temperature = schedules.power(1.0, 1.0)
    settings = {
        "FS-NVA-GM, from values alone": (presets.fs_nva_gm(), schedules.coupled(0.1, 0.8, maximum=0.05)),
        "Hessian NVA-GM, with derivatives": (presets.nva_gm(order=2), schedules.coupled(0.1, 0.8)),
    }
    print(f"The {problem.name}: 3 global modes and 1 local mode in 2 dimensions.")
    print(f"{COMPONENTS} components start at random; entropy keeps them apart as the temperature falls.\n")
    figure = Figure(figsize=(10.4, 5.2), layout="constrained")
    axes = figure.subplots(1, 2)
    missed = 0
    for ax, (title, (algorithm, learning_rate)) in zip(axes, settings.items(), strict=True):
        started = time.perf_counter()
        run = allmodes.anneal(
            problem.objective,
            algorithm=algorithm,
            means=means,
            covariances=np.eye(2),
            temperature=temperature,
            learning_rate=learning_rate,
            steps=STEPS,
            rng=rng,
            progress=True,
        )
        seconds = time.perf_counter() - started
        found = problem.found(run.means)
        missed += int((~found).sum())
        print(f"{title}: {found.sum()} of {len(found)} modes, {run.nfev} evaluations, {seconds:.1f} s")
        print(table(problem, run) + "\n")
        plots.trajectories(run, problem, ax=ax)
    figure.savefig(picture, dpi=110)
    print(f"Picture: {picture.resolve()}")
    sys.exit(1 if missed else 0)


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "demo.png"))
