"""The pyramidal extension: exactly f in the box, copies outside, lower with every step."""

import jax
import numpy as np
import pytest

from allmodes.objective import GRADIENT, HESSIAN, VALUE, Objective
from allmodes.problems import cec2013, himmelblau, pyramidal

BOXES = {
    "unit": [[0.0, 1.0], [0.0, 1.0]],
    "lower bound no multiple of the width": [[-6.0, 6.0], [0.25, 10.0]],
    "far from the origin": [[1000.3, 1000.7], [-77.7, -77.1]],
}
every_box = pytest.mark.parametrize("box", BOXES.values(), ids=list(BOXES))


def wavy(x):
    return np.sin(3.0 * x[..., 0]) + np.cos(2.0 * x[..., 1]) * x[..., 0]


def inside(box, count=500, seed=0):
    lower, upper = np.array(box).T
    points = np.random.default_rng(seed).uniform(lower, upper, (count, 2))
    return np.vstack([points, lower, upper, [lower[0], upper[1]]])


def printed(function, box, amplitude):
    """The rule as the paper prints it: the division of x itself."""
    lower, upper = np.array(box).T

    def extended(x):
        q = np.floor(x / (upper - lower))
        return function(lower + x - q * (upper - lower)) - amplitude * np.abs(q).sum(axis=-1)

    return extended


@every_box
def test_in_the_box_and_on_its_faces_it_is_the_function_exactly(box):
    extended = pyramidal(Objective(wavy, vectorized=True), box, amplitude=40.0)
    points = inside(box)
    np.testing.assert_array_equal(extended.fun(points), wavy(points))


def test_the_rule_as_printed_is_another_function_where_the_lower_bound_is_no_multiple_of_the_width():
    """The control: it agrees for the unit box only."""
    is_same = {
        name: np.allclose(printed(wavy, box, 40.0)(inside(box)[:500]), wavy(inside(box)[:500]))
        for name, box in BOXES.items()
    }
    assert is_same == {"unit": True, "lower bound no multiple of the width": False, "far from the origin": False}


@every_box
@pytest.mark.parametrize("moved", [(1, 0), (-1, 0), (0, -3), (2, -2), (5, 7)])
def test_copies_are_lower_by_the_amplitude_for_every_step(box, moved):
    widths = np.ptp(np.array(box), axis=1)
    extended = pyramidal(Objective(wavy, vectorized=True), box, amplitude=40.0)
    points = inside(box)[:500]
    wanted = wavy(points) - 40.0 * np.abs(moved).sum()
    np.testing.assert_allclose(extended.fun(points + np.array(moved) * widths), wanted, atol=1e-8)


def test_by_hand():
    extended = pyramidal(lambda x: float(x[0]), [(1.0, 3.0)], amplitude=10.0)
    assert not extended.vectorized
    found = [float(extended.fun(np.array([x]))) for x in (1.0, 2.5, 3.0, 3.5, 0.5, -1.0, -1.5, 7.0)]
    assert found == [1.0, 2.5, 3.0, -8.5, -7.5, -9.0, -17.5, -29.0]


def test_no_copy_is_higher_than_the_box():
    problem = cec2013(4)
    extended = pyramidal(problem.objective, problem.bounds, amplitude=2186.0)
    points = np.random.default_rng(1).normal(0.0, 30.0, (20_000, 2))
    is_outside = (np.abs(points) > 6.0).any(axis=1)
    found = extended.fun(points)
    assert found[is_outside].max() <= 200.0 - 2186.0
    assert np.isfinite(
        extended.fun(np.array([[1e27, -1e20], [np.nextafter(-6.0, -7.0), np.nextafter(6.0, 7.0)]]))
    ).all()


def test_a_maximum_on_the_upper_face_keeps_its_value():
    problem = cec2013(1)
    extended = pyramidal(problem.objective, problem.bounds, amplitude=200.0)
    np.testing.assert_array_equal(extended.fun(problem.modes), [200.0, 200.0])
    np.testing.assert_allclose(extended.fun(problem.modes + np.array([[-1e-9], [1e-9]])), 0.0, atol=1e-6)


def test_derivatives_are_those_of_the_copies():
    problem = himmelblau()
    extended = pyramidal(problem.objective, problem.bounds, amplitude=2186.0)
    points = np.random.default_rng(2).uniform(-6.0, 6.0, (20, 2))
    wanted = problem.objective.evaluate(points, GRADIENT | HESSIAN)
    found = extended.evaluate(points + np.array([12.0, -24.0]), GRADIENT | HESSIAN)
    np.testing.assert_allclose(found.gradient, wanted.gradient, atol=1e-9)
    np.testing.assert_allclose(found.hessian, wanted.hessian, atol=1e-9)
    assert pyramidal(cec2013(4).objective, problem.bounds, 1.0).jac is None


def test_it_runs_in_jax():
    problem = himmelblau()
    extended = pyramidal(problem.objective, problem.bounds, amplitude=2186.0)
    points = np.random.default_rng(3).uniform(-20.0, 20.0, (50, 2))
    with jax.enable_x64(True):
        found = np.asarray(jax.jit(extended.fun)(jax.numpy.asarray(points)))
    np.testing.assert_allclose(found, extended.evaluate(points, VALUE).value, rtol=1e-12)


@pytest.mark.parametrize(
    ("bounds", "amplitude", "error", "text"),
    [
        ([(1.0, 1.0)], 1.0, ValueError, "lower < upper"),
        ([(0.0, 1.0, 2.0)], 1.0, ValueError, "bounds is"),
        ([(0.0, np.inf)], 1.0, ValueError, "finite"),
        ([(0.0, 1.0)], -1.0, ValueError, "amplitude is -1"),
        ([(0.0, 1.0)], "high", TypeError, "amplitude is 'high'"),
    ],
)
def test_what_cannot_be_is_refused(bounds, amplitude, error, text):
    with pytest.raises(error, match=text):
        pyramidal(wavy, bounds, amplitude)
