"""The model of a function: what it knows at the points, between them and far away."""

import numpy as np
import pytest

from allmodes.search.searchers.surrogate.model import Fitted, Model, evened, fit, likelihood

STRAIGHT = np.zeros(2, bool)


def waves(x):
    return np.sin(6 * x[:, 0]) + np.cos(4 * x[:, 1])


@pytest.fixture(scope="module")
def data():
    points = np.random.default_rng(0).random((40, 2))
    return points, waves(points)


@pytest.fixture(scope="module")
def learnt(data):
    return fit(*data, Fitted(np.full(2, 0.5), 1e-6, np.inf), STRAIGHT)


def test_it_has_the_values_and_is_sure_of_them(data, learnt):
    points, values = data
    model = Model.of(points, evened(values, np.inf, values.max()), learnt, STRAIGHT)
    np.testing.assert_allclose(model.expected(points)[0] + values.max(), values, atol=1e-3)
    assert model.deviation(points).max() < 1e-3
    assert model.deviation(np.array([[5.0, 5.0]]))[0] == pytest.approx(1.0, abs=1e-6)


def test_it_knows_the_function_between_points(data, learnt):
    points, values = data
    model = Model.of(points, evened(values, np.inf, values.max()), learnt, STRAIGHT)
    inside = 0.1 + 0.8 * np.random.default_rng(2).random((50, 2))
    np.testing.assert_allclose(model.expected(inside)[0] + values.max(), waves(inside), atol=0.03)


def test_what_is_learnt_is_likelier_than_the_guess(data, learnt):
    guess = Fitted(np.full(2, 0.5), 1e-6, np.inf)
    assert likelihood(*data, learnt, STRAIGHT) < likelihood(*data, guess, STRAIGHT) - 1.0
    far = learnt._replace(lengths=learnt.lengths / 5)
    assert likelihood(*data, learnt, STRAIGHT) < likelihood(*data, far, STRAIGHT) - 1.0


def test_values_of_many_decades_are_likelier_when_bad_ones_count_less(data):
    points, values = data
    steep = -np.expm1(6.0 - 3.0 * values)
    straight, bent = (
        fit(points, steep, Fitted(np.full(2, 0.5), 1e-6, bend), STRAIGHT)
        for bend in (np.inf, float(np.ptp(steep)) / 64)
    )
    assert likelihood(points, steep, bent, STRAIGHT) < likelihood(points, steep, straight, STRAIGHT) - 10.0


@pytest.mark.parametrize("bend", [np.inf, 3.0, 0.01])
def test_even_values_keep_their_order(bend):
    values = np.array([-1e6, -30.0, -2.0, -1.0, 0.0, 0.001])
    even = evened(values, bend, 0.0)
    assert (np.diff(even) > 0.0).all()
    assert even[4] == 0.0
    assert np.isfinite(even).all()
