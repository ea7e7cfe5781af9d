"""The plot of trajectories shows every component and every mode."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib.figure import Figure

from allmodes import problems
from allmodes.nva import anneal, presets
from allmodes.report import plots


def short_run(problem, K=3):
    means = np.random.default_rng(0).uniform(-1.0, 1.0, (K, problem.dimension))
    return anneal(
        problem.objective, algorithm=presets.nva_gm(), means=means, covariances=0.1, temperature=0.1,
        learning_rate=0.01, steps=20, rng=0,
    )  # fmt: skip


def test_every_path_and_every_mode_is_drawn(tmp_path):
    problem = problems.symmetric_mixture()
    run = short_run(problem)
    ax = plots.trajectories(run, problem)
    drawn = [line.get_xydata() for line in ax.get_lines()]
    for k in range(3):
        assert any(np.array_equal(path, run.trace.means[:, k]) for path in drawn)
    marked = np.vstack([line.get_xydata() for line in ax.get_lines() if line.get_marker() == "+"])
    np.testing.assert_array_equal(np.sort(marked, axis=0), np.sort(problem.modes, axis=0))
    ax.figure.savefig(tmp_path / "plot.png")
    assert (tmp_path / "plot.png").stat().st_size > 10_000


def test_the_axes_given_are_the_axes_returned():
    problem = problems.asymmetric_mixture()
    ax = Figure().add_subplot()
    assert plots.trajectories(short_run(problem), problem, ax=ax) is ax
    assert problem.name in ax.get_title()


def test_other_dimensions_are_refused():
    problem = problems.styblinski_tang(3)
    with pytest.raises(ValueError, match="problem has dimension 3; trajectories are drawn in 2 dimensions"):
        plots.trajectories(short_run(problem), problem)
