"""A user's function: values, derivatives, shapes, errors, and what JAX adds to it."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from functions import bowl

from allmodes import Objective
from allmodes.objective import GRADIENT, HESSIAN, VALUE, Evaluation
from allmodes.objective.autodiff import compiled, compiled_if_jax, traceable

BOTH = GRADIENT | HESSIAN
POINTS = np.random.default_rng(0).normal(size=(5, 3))


def bowl_jac(x):
    return -2.0 * x


def bowl_hess(x):
    return -2.0 * np.eye(len(x))


SINGLE = Objective(bowl, bowl_jac, bowl_hess)
BATCHED = Objective(
    lambda x: -(x**2).sum(axis=1),
    lambda x: -2.0 * x,
    lambda x: np.broadcast_to(-2.0 * np.eye(3), (len(x), 3, 3)),
    vectorized=True,
)


@pytest.mark.parametrize("objective", [SINGLE, BATCHED], ids=["single", "vectorized"])
def test_values_and_derivatives_at_a_batch(objective):
    found = objective.evaluate(POINTS, BOTH)
    np.testing.assert_allclose(found.value, -(POINTS**2).sum(axis=1))
    np.testing.assert_allclose(found.gradient, -2.0 * POINTS)
    np.testing.assert_allclose(found.hessian, np.broadcast_to(-2.0 * np.eye(3), (5, 3, 3)))
    assert all(part.dtype == np.float64 for part in found)


@pytest.mark.parametrize("objective", [SINGLE, BATCHED], ids=["single", "vectorized"])
def test_only_what_is_needed_is_computed(objective):
    assert objective.evaluate(POINTS, VALUE)[1:] == (None, None)
    assert objective.evaluate(POINTS, GRADIENT).hessian is None
    assert objective.evaluate(POINTS, HESSIAN).gradient is None


def test_missing_derivatives_are_named_as_arguments():
    assert Objective(bowl).missing(BOTH) == ["jac", "hess"]
    assert Objective(bowl, jac=bowl_jac).missing(BOTH) == ["hess"]
    assert Objective(bowl, jac=bowl_jac).missing(GRADIENT) == []
    assert Objective(bowl).missing(VALUE) == []
    assert SINGLE.missing(BOTH) == []


@pytest.mark.parametrize("vectorized", [False, True])
def test_a_function_may_write_into_its_argument(vectorized):
    def rude(x):
        value = -(x**2).sum(axis=-1)
        x[...] = np.nan
        return value

    kept = POINTS.copy()
    found = Objective(rude, jac=lambda x: x, vectorized=vectorized).evaluate(kept, GRADIENT)
    np.testing.assert_array_equal(kept, POINTS)
    np.testing.assert_array_equal(found.gradient, POINTS)
    np.testing.assert_allclose(found.value, -(POINTS**2).sum(axis=1))


@pytest.mark.parametrize("returned", [3, 3.0, True, np.float32(3), [3.0], np.array([[3.0]])])
def test_whatever_is_one_real_number_is_a_value(returned):
    found = Objective(lambda x: returned).evaluate(POINTS, VALUE)
    np.testing.assert_array_equal(found.value, np.full(5, float(np.reshape(returned, ()))))


@pytest.mark.parametrize(
    ("returned", "error", "message"),
    [
        (np.zeros(3), ValueError, r"fun returned shape \(3,\) for one point; \(\) was wanted\."),
        (np.zeros(0), ValueError, r"fun returned shape \(0,\) for one point; \(\) was wanted\."),
        (1j, TypeError, "fun returned dtype complex128 for one point; real numbers were wanted"),
        ("a", TypeError, "fun returned dtype <U1 for one point; real numbers were wanted"),
        (None, TypeError, "fun returned .* for one point; real numbers were wanted"),
        ({}, TypeError, "fun returned .* for one point; real numbers were wanted"),
    ],
)
def test_a_value_that_will_not_do_is_refused_with_its_point(returned, error, message):
    with pytest.raises(error, match=message) as caught:
        Objective(lambda x: returned).evaluate(POINTS, VALUE)
    (note,) = caught.value.__notes__
    assert note.startswith(f"while calling fun at x = {POINTS[0]!r};")


@pytest.mark.parametrize(
    ("name", "wrong", "found", "wanted"),
    [
        ("jac", lambda x: x[:2], r"\(2,\)", r"\(3,\)"),
        ("jac", lambda x: x[0], r"\(\)", r"\(3,\)"),
        ("jac", lambda x: x[None], r"\(1, 3\)", r"\(3,\)"),
        ("hess", lambda x: x, r"\(3,\)", r"\(3, 3\)"),
        ("hess", lambda x: np.eye(2), r"\(2, 2\)", r"\(3, 3\)"),
    ],
)
def test_a_derivative_of_the_wrong_shape_is_refused(name, wrong, found, wanted):
    given = {"jac": bowl_jac, "hess": bowl_hess} | {name: wrong}
    with pytest.raises(ValueError, match=f"{name} returned shape {found} for one point; {wanted} was wanted"):
        Objective(bowl, **given).evaluate(POINTS, BOTH)


@pytest.mark.parametrize(
    ("fun", "found"),
    [(lambda x: -(x**2).sum(), r"\(\)"), (lambda x: x, r"\(5, 3\)"), (lambda x: x[:, :1], r"\(5, 1\)")],
)
def test_a_vectorized_function_of_the_wrong_shape_is_refused_with_a_hint(fun, found):
    message = rf"fun returned shape {found} for a batch of 5 points; \(5,\) was wanted\. With vectorized=True it must"
    with pytest.raises(ValueError, match=message):
        Objective(fun, vectorized=True).evaluate(POINTS, VALUE)


def test_an_error_of_the_function_stays_what_it_is_and_says_where():
    def fragile(x):
        if np.array_equal(x, POINTS[2]):
            raise ZeroDivisionError("no")
        return 0.0

    with pytest.raises(ZeroDivisionError) as caught:
        Objective(fragile).evaluate(POINTS, VALUE)
    assert str(caught.value) == "no"
    (note,) = caught.value.__notes__
    assert note.startswith(f"while calling fun at x = {POINTS[2]!r};")
    assert "vectorized=True" in note


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"fun": 3}, r"fun is 3 \(int\); a function was wanted"),
        ({"fun": None}, r"fun is None \(NoneType\); a function was wanted"),
        ({"fun": bowl, "jac": 3}, r"jac is 3 \(int\); a function or None was wanted"),
        ({"fun": bowl, "hess": "yes"}, r"hess is 'yes' \(str\); a function or None was wanted"),
    ],
)
def test_what_is_no_function_is_refused(arguments, message):
    with pytest.raises(TypeError, match=message):
        Objective(**arguments)


def test_evaluations_add_up_where_both_know():
    a = Evaluation(np.ones(2), np.ones((2, 3)), None)
    b = Evaluation(np.full(2, 2.0), np.full((2, 3), 3.0), np.ones((2, 3, 3)))
    found = a.plus(-0.5, b)
    np.testing.assert_array_equal(found.value, [0.0, 0.0])
    np.testing.assert_array_equal(found.gradient, np.full((2, 3), -0.5))
    assert found.hessian is None


def quartic(x):
    return -jnp.sum(x**4) + x[0] * x[1]


def quartic_truth(points):
    """Value, gradient and Hessian of the function above, by hand."""
    gradient = -4.0 * points**3
    gradient[:, 0] += points[:, 1]
    gradient[:, 1] += points[:, 0]
    hessian = -12.0 * points[:, :, None] ** 2 * np.eye(3)
    hessian[:, 0, 1] = hessian[:, 1, 0] = 1.0
    return Evaluation(-(points**4).sum(axis=1) + points[:, 0] * points[:, 1], gradient, hessian)


@pytest.mark.parametrize("vectorized", [False, True])
def test_derivatives_of_jax_functions_are_derived_in_float64(vectorized):
    fun = jax.vmap(quartic) if vectorized else quartic
    found = compiled(Objective(fun, vectorized=vectorized), BOTH)(POINTS)
    for ours, theirs in zip(found, quartic_truth(POINTS), strict=True):
        assert isinstance(ours, np.ndarray)
        assert ours.dtype == np.float64
        np.testing.assert_allclose(ours, theirs, rtol=1e-13, atol=1e-13)


def test_given_derivatives_are_used_and_the_others_derived():
    objective = Objective(quartic, jac=lambda x: 7.0 * x)
    found = compiled(objective, BOTH)(POINTS)
    np.testing.assert_allclose(found.gradient, 7.0 * POINTS)
    np.testing.assert_allclose(found.hessian, quartic_truth(POINTS).hessian, rtol=1e-13)


def test_jax_is_left_in_float32_for_everybody_else():
    compiled(Objective(quartic), GRADIENT)(POINTS)
    assert jnp.ones(1).dtype == jnp.float32


def test_a_jax_function_is_compiled_once_it_is_seen_to_be_one():
    """And computes in float64 before that as well."""
    calls = []

    def counted(x):
        calls.append(type(x))
        return quartic(x)

    evaluate = compiled_if_jax(Objective(counted), VALUE)
    found = [evaluate(POINTS), evaluate(POINTS)]
    before = len(calls)
    found += [evaluate(POINTS), evaluate(2.0 * POINTS)]
    assert len(calls) == before  # compiled code does not come back to Python
    for result, points in zip(found, (POINTS, POINTS, POINTS, 2.0 * POINTS), strict=True):
        assert result.value.dtype == np.float64
        np.testing.assert_allclose(result.value, quartic_truth(points).value, rtol=1e-13)


def test_a_numpy_function_is_called_as_it_is():
    calls = []

    def counted(x):
        calls.append(type(x))
        return bowl(x)

    evaluate = compiled_if_jax(Objective(counted, jac=bowl_jac), GRADIENT)
    for _ in range(2):
        np.testing.assert_allclose(evaluate(POINTS).value, -(POINTS**2).sum(axis=1))
    assert calls == [np.ndarray] * 10


def test_a_function_that_mixes_jax_and_numpy_is_called_as_it_is():
    """It returns JAX arrays, but JAX cannot trace it: its values are still right, in the precision it has."""

    def mixed(x):
        return jnp.asarray(float(np.sum(np.asarray(x) ** 2)))

    evaluate = compiled_if_jax(Objective(mixed), VALUE)
    for _ in range(2):
        np.testing.assert_allclose(evaluate(POINTS).value, (POINTS**2).sum(axis=1), rtol=1e-6)


def test_traceable_says_what_is_in_the_way():
    assert traceable(Objective(quartic), 3, BOTH) is None
    assert traceable(Objective(bowl), 3, GRADIENT) is None  # operators alone: JAX can trace it
    problem = traceable(Objective(lambda x: float(np.sum(np.asarray(x)))), 3, VALUE)
    assert isinstance(problem, Exception)
    wrong = traceable(Objective(lambda x: x), 3, VALUE)
    assert isinstance(wrong, Exception)
