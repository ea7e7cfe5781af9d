"""A run that is cut in two is the same run."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from allmodes import problems
from allmodes.nva import anneal, presets, schedules

PROBLEM = problems.symmetric_mixture()
MEANS = [[0.5, 1.0], [-1.0, 0.0], [1.0, -1.0]]


def run(steps: int, rng: np.random.Generator, driver: str, **start: Any) -> Any:
    return anneal(
        PROBLEM.objective,
        algorithm=presets.nva_gm(order=2, burn_in=5),
        temperature=schedules.power(1.0, 1.0),
        learning_rate=schedules.coupled(0.1, 0.8),
        steps=steps,
        rng=rng,
        driver=driver,
        **start,
    )


@pytest.mark.parametrize("driver", ["numpy", "jax"])
def test_going_on_from_a_run_equals_one_long_run(driver: str) -> None:
    whole = run(40, np.random.default_rng(3), driver, means=MEANS, covariances=1.0)
    rng = np.random.default_rng(3)
    first = run(15, rng, driver, means=MEANS, covariances=1.0)
    second = run(25, rng, driver, mixture=first.mixture, first_step=first.nit + 1)
    np.testing.assert_array_equal(second.means, whole.means)
    np.testing.assert_array_equal(second.covariances, whole.covariances)
    np.testing.assert_array_equal(second.weights, whole.weights)
    np.testing.assert_array_equal(second.trace.temperature[1:], whole.trace.temperature[16:])


def test_without_first_step_the_schedules_begin_again() -> None:
    rng = np.random.default_rng(3)
    first = run(15, rng, "numpy", means=MEANS, covariances=1.0)
    again = run(25, rng, "numpy", mixture=first.mixture)
    assert again.trace.temperature[1] == 1.0


def test_first_step_is_at_least_one() -> None:
    with pytest.raises(ValueError, match="first_step is 0; it must be at least 1"):
        run(5, np.random.default_rng(0), "numpy", means=MEANS, covariances=1.0, first_step=0)
