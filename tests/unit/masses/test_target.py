"""The log density in unit coordinates: Jacobian, zeros, failures, constraints, and what has no masses."""

import dataclasses

import numpy as np
import pytest
from weighed_targets import found, two_gaussians

from allmodes import find_maxima, find_minima, find_roots
from allmodes.masses.target import Target


def target_of(result, log_density, **changes):
    given = {"args": (), "vectorized": False, "symmetry": None, "workers": 1, "on_error": "raise"} | changes
    return Target(result, log_density, **given)


def bowl(x):
    return -float(np.sum(np.square(x)))


BOWL = find_maxima(bowl, [(-1.0, 3.0)] * 2, rng=0, maxfev=150)


def test_density_by_unit_coordinates_has_the_same_integral():
    with target_of(BOWL, bowl) as target:
        z = np.array([[0.25, 0.25], [0.5, 0.5]])
        np.testing.assert_allclose(target.log_density(z), [2.0 * np.log(4.0), 2.0 * np.log(4.0) - 2.0])
        assert target.nfev == 2


def test_zeros_are_answers_and_failures_are_counted():
    def some(x):
        if x[0] > 2.0:
            raise ArithmeticError("too far")
        return -np.inf if x[0] < 0.0 else np.nan if x[1] < 0.0 else np.inf if x[1] > 2.0 else bowl(x)

    z = np.array([[0.9, 0.5], [0.1, 0.5], [0.4, 0.1], [0.4, 0.9], [0.4, 0.4]])
    with target_of(BOWL, some, on_error="nan") as target:
        np.testing.assert_array_equal(np.isfinite(target.log_density(z)), [False, False, False, False, True])
        assert (target.num_zero, target.nfail, target.nfev) == (1, 3, 5)
        assert [failure.kind for failure in target.failures] == ["raised", "not finite", "not finite"]
    with target_of(BOWL, some) as target, pytest.raises(ArithmeticError, match="too far"):
        target.log_density(z)


@pytest.mark.parametrize("kind", [float, np.float32, lambda v: np.array(v)])
def test_what_functions_return(kind):
    with target_of(BOWL, lambda x: kind(-np.inf if x[0] > 1.0 else bowl(x))) as target:
        np.testing.assert_allclose(target.raw(np.array([[2.0, 0.0], [0.5, 0.0]])), [-np.inf, -0.25])


def test_arguments_and_batches():
    with target_of(BOWL, lambda x, a: -a * (x**2).sum(axis=1), vectorized=True, args=(3.0,)) as target:
        np.testing.assert_allclose(target.raw(np.array([[1.0, 0.0]])), [-3.0])


def test_a_function_of_jax():
    jnp = pytest.importorskip("jax").numpy
    with target_of(BOWL, lambda x: jnp.where(x[0] > 1.0, -jnp.inf, -(x**2).sum())) as target:
        for _ in range(3):  # compiled once it is seen to be JAX's
            np.testing.assert_allclose(target.raw(np.array([[2.0, 0.0], [0.5, 0.0]])), [-np.inf, -0.25])
        assert target.nfail == 0


def test_where_a_constraint_is_violated_there_is_no_density_and_no_evaluation():
    right = {"type": "ineq", "fun": lambda x: x[0]}
    result = find_maxima(bowl, [(-1.0, 3.0)] * 2, constraints=right, rng=0, maxfev=200)
    with target_of(result, bowl) as target:
        assert np.isneginf(target.log_density(np.array([[0.1, 0.5], [0.4, 0.5]]))).tolist() == [True, False]
        assert target.nfev == 1
    with pytest.raises(ValueError, match="constraints, which are not saved"):
        target_of(dataclasses.replace(result, constraints=None), bowl)


def test_what_has_no_masses_is_refused_with_the_reason():
    equal = {"type": "eq", "fun": lambda x: x[0] - 1.0}
    refused = {
        "equality constraints, which leave no volume": find_maxima(
            bowl, [(-1.0, 3.0)] * 2, constraints=equal, rng=0, maxfev=200
        ),
        "whole numbers or choices": find_maxima(bowl, [(-1, 3)] * 2, integrality=[1, 0], rng=0, maxfev=200),
        "result of find_roots": find_roots(lambda x: x**2 - 1.0, [(-2.0, 2.0)], rng=0, maxfev=200),
        "no modes": dataclasses.replace(BOWL, modes=()),
        "a noisy function": dataclasses.replace(BOWL, modes=(dataclasses.replace(BOWL.modes[0], standard_error=0.1),)),
    }
    for reason, result in refused.items():
        with pytest.raises(ValueError, match=reason):
            target_of(result, bowl)
    with pytest.raises(TypeError, match="log_density is 3"):
        target_of(BOWL, 3)


def test_a_symmetry_that_was_a_function_is_wanted_again():
    def ordered(x):
        return np.sort(x)

    def swapped(x):
        return -float(np.minimum(((x - [-1.0, 1.0]) ** 2).sum(), ((x - [1.0, -1.0]) ** 2).sum()))

    result = find_maxima(swapped, [(-3.0, 3.0)] * 2, symmetry=ordered, rng=0, maxfev=400)
    with pytest.raises(ValueError, match="the function ordered as symmetry"):
        target_of(result, swapped)
    with target_of(result, swapped, symmetry=ordered) as target:
        assert len(target.group) == 2


def test_open_sides_logarithms_and_fixed_coordinates():
    result = find_minima(lambda x: (x[0] - 300.0) ** 2, x0=[0.0], rng=0, maxfev=200)
    with target_of(result, lambda x: -((x[0] - 300.0) ** 2)) as target:
        z = target.box.to_unit(np.array([[300.0], [1e6]]))
        np.testing.assert_allclose(
            target.log_density(z) - target.log_slopes(np.array([[300.0]])), [0.0, -(999700.0**2)]
        )
    fun = lambda x: -((np.log(x[0]) - 1.0) ** 2)  # noqa: E731
    result = find_maxima(fun, [(1e-3, 1e3), (2.0, 2.0)], scale=["log", "linear"], rng=0, maxfev=200)
    with target_of(result, fun) as target:
        assert target.box.d == 1
        slope = (np.log(1e3) - np.log(1e-3)) * 10.0
        np.testing.assert_allclose(target.log_slopes(np.array([[10.0, 2.0]])), [np.log(slope)])


def test_modes_of_two_gaussians_have_the_box_of_the_search():
    with target_of(found(two_gaussians), two_gaussians, vectorized=True) as target:
        np.testing.assert_array_equal(target.box.scale, [6.0, 6.0])
