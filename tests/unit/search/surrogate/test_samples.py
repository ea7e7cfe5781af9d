"""Random functions that go through known values."""

import numpy as np

from allmodes.search.searchers.surrogate.model import Fitted, Model
from allmodes.search.searchers.surrogate.samples import Sample


def model_of(n, turning=False):
    points = np.random.default_rng(0).random((n, 2)) * 0.5
    values = np.sin(5 * points[:, 0]) - points[:, 1]
    fitted = Fitted(np.array([0.3, 0.4]), 1e-8, np.inf)
    return points, values, Model.of(points, values, fitted, np.array([turning, False]))


def test_they_go_through_the_values_and_differ_elsewhere():
    points, values, model = model_of(12)
    rng, far = np.random.default_rng(1), np.array([[0.9, 0.95], [0.99, 0.7]])
    samples = [Sample.draw(model, rng) for _ in range(200)]
    through = np.array([sample.expected(points)[0] for sample in samples])
    np.testing.assert_allclose(through, np.broadcast_to(values, through.shape), atol=2e-3 * model.size)
    elsewhere = np.array([sample.expected(far)[0] for sample in samples])
    wanted = model.size * model.deviation(far)
    z = (elsewhere.std(axis=0) / wanted - 1.0) * np.sqrt(2 * 200)
    assert np.abs(z).max() < 4.0
    assert np.abs((elsewhere.mean(axis=0) - model.expected(far)[0]) / wanted * np.sqrt(200)).max() < 4.0


def test_their_derivatives_are_those_that_differences_see():
    _, _, model = model_of(8, turning=True)
    sample = Sample.draw(model, np.random.default_rng(2))
    x, step = np.random.default_rng(3).random((3, 2)), 1e-5
    _, gradient, hessian = sample.expected(x)
    for i in range(2):
        move = step * np.eye(2)[i]
        after, before = sample.expected(x + move), sample.expected(x - move)
        np.testing.assert_allclose((after[0] - before[0]) / (2 * step), gradient[:, i], rtol=1e-5, atol=1e-5)
        np.testing.assert_allclose((after[1] - before[1]) / (2 * step), hessian[:, i], rtol=1e-4, atol=1e-3)
