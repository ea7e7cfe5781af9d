import numpy as np
import pytest

from allmodes.search.searchers.population.evolution import Evolution, population_size, rates
from allmodes.storage import pack, unpack


def run(evolution, values_of, generations, rng):
    everyone = np.arange(len(evolution.state.age))
    for _ in range(generations):
        points = evolution.sample(rng, everyone)
        evolution.update(points, values_of(points))
    return evolution


@pytest.mark.parametrize("d", [1, 2, 5, 20])
def test_components_converge_on_an_ellipsoid(d):
    scales = 10.0 ** np.linspace(0, 2, d)
    evolution = Evolution(d, population_size(d))
    for start in (0.2, 0.7):
        evolution.add(np.full(d, start), 0.1)
    run(evolution, lambda x: -((x - 0.4) ** 2 * scales).sum(axis=1), 100 + 60 * d, np.random.default_rng(0))
    assert np.abs(evolution.state.best_point - 0.4).max() < 1e-4
    assert (evolution.deviation() < 1e-4).all()


def test_weights_are_those_of_cma_es():
    constants = rates(10, 10)
    assert constants.weights.sum() == pytest.approx(1)
    assert (np.diff(constants.weights) < 0).all()
    assert constants.mass == pytest.approx(3.167, abs=1e-3)  # published for 10 points


def test_components_do_not_depend_on_each_other():
    alone, together = Evolution(2, 6), Evolution(2, 6)
    for evolution in (alone, together):
        evolution.add(np.array([0.3, 0.3]), 0.1)
    together.add(np.array([0.9, 0.9]), 0.1)
    rng = np.random.default_rng(1)
    for _ in range(5):
        state = rng.bit_generator.state
        points = together.sample(rng, np.arange(2))
        together.update(points, -((points - 0.5) ** 2).sum(axis=1))
        other = np.random.default_rng(0)
        other.bit_generator.state = state
        points = alone.sample(other, np.arange(1))
        alone.update(points, -((points - 0.5) ** 2).sum(axis=1))
    np.testing.assert_allclose(alone.state.mean[0], together.state.mean[0], rtol=1e-12)


def test_components_that_wait_do_not_move():
    evolution = Evolution(2, 6)
    for _ in range(3):
        evolution.add(np.array([0.3, 0.3]), 0.1)
    points = evolution.sample(np.random.default_rng(0), np.array([0, 2]))
    assert points.shape == (12, 2)
    evolution.update(points, -(points**2).sum(axis=1))
    assert evolution.state.age.tolist() == [1, 0, 1]
    np.testing.assert_array_equal(evolution.state.mean[1], [0.3, 0.3])


def test_failures_rank_worst_and_do_not_spread():
    def values_of(points):
        values = -((points - 0.4) ** 2).sum(axis=1)
        return np.where(points[:, 0] > 0.45, -np.inf, values)

    evolution = Evolution(2, 6)
    evolution.add(np.array([0.6, 0.5]), 0.1)
    run(evolution, values_of, 150, np.random.default_rng(0))
    assert np.abs(evolution.state.best_point[0] - 0.4).max() < 1e-5
    assert np.isfinite(evolution.state.mean).all()


def test_all_values_failing_is_survived():
    evolution = Evolution(3, 7)
    evolution.add(np.full(3, 0.5), 0.1)
    run(evolution, lambda x: np.full(len(x), -np.inf), 100, np.random.default_rng(0))
    assert np.isfinite(evolution.state.mean).all()
    assert np.isfinite(evolution.state.factor).all()


def test_progress_needs_a_window():
    evolution = Evolution(1, 6)
    evolution.add(np.array([0.5]), 0.1)
    run(evolution, lambda x: -(x[:, 0] ** 2), evolution.window, np.random.default_rng(0))
    assert np.isinf(evolution.progress()[0][0])
    run(evolution, lambda x: -(x[:, 0] ** 2), 1, np.random.default_rng(1))
    assert np.isfinite(evolution.progress()[0][0])


def test_state_is_stored():
    evolution = Evolution(2, 6)
    evolution.add(np.array([0.3, 0.3]), 0.1)
    evolution.sample(np.random.default_rng(0), np.arange(1))
    again = unpack(*pack(evolution))
    points = np.random.default_rng(1).random((6, 2))
    for one in (evolution, again):
        one.update(points, points[:, 0])
    np.testing.assert_array_equal(evolution.state.mean, again.state.mean)
