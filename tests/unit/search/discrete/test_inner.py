"""Real coordinates for fixed levels: at bounds, over kinks, given up in time."""

from __future__ import annotations

import numpy as np
import pytest

from allmodes.problems import whole
from allmodes.search.searchers.discrete.inner import Inner


def climbed(search, value):
    rng, made = np.random.default_rng(0), 0
    while not search.is_over and made < 20_000:
        points = search.ask(rng)
        assert ((points >= search.lower) & (points <= search.upper)).all()
        search.tell(np.array([value(x) for x in points]), 1e-15)
        made += len(points)
    assert search.is_over
    return made


@pytest.mark.parametrize("kinked", [False, True])
def test_reals_are_climbed_to_the_bound_and_over_kinks(kinked):
    def value(x):
        inside = np.abs(x[0] - 0.3) if kinked else (x[0] - 0.3) ** 2
        return -float(inside + 2.0 * (x[1] - 1.5) ** 2)

    search = Inner(np.array([0.8, 0.2]), np.zeros(2), np.ones(2), 1e-6)
    climbed(search, value)
    np.testing.assert_allclose(search.x, [0.3, 1.0], atol=1e-5)


def test_a_valley_between_kinks_is_no_optimum():
    """Steep across, gentle along: differences on both sides of the kink cancel."""
    search = Inner(np.array([0.1, 0.8]), np.zeros(2), np.ones(2), 1e-6)
    climbed(search, lambda x: -float(100.0 * abs(x[0] - x[1]) + (x[0] + x[1] - 1.1) ** 2))
    np.testing.assert_allclose(search.x, [0.55, 0.55], atol=2e-6)
    assert search.is_kinked


def test_penalties_of_a_welded_beam_are_followed():
    beam = whole.welded_beam()

    def value(z):
        return -beam([0.25, *(0.1 + 9.9 * z), 0.25])

    search = Inner(np.array([0.7, 0.3]), np.zeros(2), np.ones(2), 1e-6)
    climbed(search, value)
    np.testing.assert_allclose(-search.value, beam.best, rtol=1e-6)


def test_a_goal_out_of_reach_is_given_up_and_one_in_reach_ends_it():
    def value(x):
        return -float(((x - 0.4) ** 2 * [1.0, 30.0]).sum() + (x[0] - 0.4) ** 4)

    patient = Inner(np.array([0.9, 0.9]), np.zeros(2), np.ones(2), 1e-6)
    hopeless = Inner(np.array([0.9, 0.9]), np.zeros(2), np.ones(2), 1e-6, goal=100.0)
    soon = Inner(np.array([0.9, 0.9]), np.zeros(2), np.ones(2), 1e-6, goal=-1.0)
    most = climbed(patient, value)
    assert climbed(hopeless, value) < most
    assert climbed(soon, value) < most
    assert soon.value > -1.0
