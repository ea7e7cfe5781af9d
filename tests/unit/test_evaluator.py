"""The evaluator: counts, failures of every kind, copies, and what it raises."""

import traceback
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from allmodes.objective import GRADIENT, HESSIAN, VALUE
from allmodes.objective.bounds import Box
from allmodes.objective.derivatives import Source
from allmodes.objective.evaluator import Evaluator

BOTH = GRADIENT | HESSIAN
BOX = Box.make([(-3, 3), (-3, 3)])
POINTS = np.random.default_rng(0).uniform(-2, 2, size=(6, 2))
BAD = 2  # the row at which things go wrong
GOOD = np.arange(6) != BAD


def bowl(x):
    return (x**2).sum(axis=-1)


def bowl_jac(x):
    return 2.0 * x


def bowl_hess(x):
    return np.broadcast_to(2.0 * np.eye(2), (*x.shape, 2))


def is_bad(x):
    return (x == POINTS[BAD]).all(axis=-1)


def replaced(function, wrong):
    """A function that returns something else at the bad point."""

    def call(x):
        result = np.array(function(x), dtype=float)
        if x.ndim == 1:
            return wrong if is_bad(x) else result
        result[is_bad(x)] = wrong
        return result

    return call


def raising(function, error):
    """A function that raises at the bad point, alone or in a batch."""

    def call(x):
        if is_bad(x).any():
            raise error
        return function(x)

    return call


def evaluator(fun=bowl, jac=None, hess=None, vectorized=False, on_error="raise", **others):
    return Evaluator(Source.make(fun, jac=jac, hess=hess, vectorized=vectorized, box=BOX), on_error=on_error, **others)


either_way = pytest.mark.parametrize("vectorized", [False, True])
either_mode = pytest.mark.parametrize("on_error", ["raise", "nan"])


@either_way
def test_values_and_derivatives_and_counts(vectorized):
    e = evaluator(jac=bowl_jac, hess=bowl_hess, vectorized=vectorized)
    found = e.evaluate(POINTS, BOTH)
    np.testing.assert_array_equal(found.value, bowl(POINTS))
    np.testing.assert_array_equal(found.gradient, bowl_jac(POINTS))
    np.testing.assert_array_equal(found.hessian, bowl_hess(POINTS))
    assert e.evaluate(POINTS[:1], VALUE)[1:] == (None, None)
    assert e.evaluate(POINTS[:2], HESSIAN).gradient is None
    assert (e.nfev, e.njev, e.nhev, e.nfail, e.failures) == (9, 6, 8, 0, [])


@either_way
def test_no_points_cost_nothing(vectorized):
    def never(x):
        raise AssertionError

    found = evaluator(never, never, never, vectorized=vectorized).evaluate(np.empty((0, 2)), BOTH)
    assert [part.shape for part in found] == [(0,), (0, 2), (0, 2, 2)]


@either_mode
@either_way
@pytest.mark.parametrize("wrong", [np.nan, np.inf, -np.inf])
def test_a_value_that_is_not_finite_is_survived_in_both_modes(wrong, vectorized, on_error):
    """Derivatives are not asked for there."""
    seen = []

    def jac(x):
        seen.extend(np.atleast_2d(x).copy())
        return bowl_jac(x)

    e = evaluator(replaced(bowl, wrong), jac, bowl_hess, vectorized, on_error)
    found = e.evaluate(POINTS, BOTH)
    np.testing.assert_array_equal(found.value, np.where(GOOD, bowl(POINTS), np.nan))
    np.testing.assert_array_equal(found.gradient[GOOD], bowl_jac(POINTS[GOOD]))
    for part in found:
        assert np.isnan(part[BAD]).all()
    np.testing.assert_array_equal(seen, POINTS[GOOD])
    assert (e.nfev, e.njev, e.nhev, e.nfail) == (6, 5, 5, 1)
    (failure,) = e.failures
    np.testing.assert_array_equal(failure.point, POINTS[BAD])
    assert failure.kind == "not finite"
    assert failure.text == f"fun returned {wrong}"


@either_mode
@either_way
@pytest.mark.parametrize("name", ["jac", "hess"])
def test_a_derivative_that_is_not_finite_leaves_the_value(name, vectorized, on_error):
    given = {"jac": bowl_jac, "hess": bowl_hess}
    given[name] = replaced(given[name], np.full((2, 2) if name == "hess" else 2, np.inf))
    e = evaluator(vectorized=vectorized, on_error=on_error, **given)
    found = e.evaluate(POINTS, BOTH)
    np.testing.assert_array_equal(found.value, bowl(POINTS))
    np.testing.assert_array_equal(np.isnan(found.gradient).any(axis=1), ~GOOD & (name == "jac"))
    np.testing.assert_array_equal(np.isnan(found.hessian).any(axis=(1, 2)), ~GOOD & (name == "hess"))
    assert e.nfail == 1
    assert (e.failures[0].kind, e.failures[0].text) == ("not finite", f"{name} returned inf")


def test_a_point_fails_once_however_much_is_wrong_with_it():
    e = evaluator(jac=lambda x: x * np.nan, hess=lambda x: np.full((2, 2), np.nan))
    e.evaluate(POINTS, BOTH)
    assert e.nfail == len(POINTS)
    assert {failure.text for failure in e.failures} == {"jac returned nan"}


@either_way
@pytest.mark.parametrize("name", ["fun", "jac", "hess"])
def test_an_exception_is_counted_with_nan(name, vectorized):
    given = {"fun": bowl, "jac": bowl_jac, "hess": bowl_hess}
    given[name] = raising(given[name], ZeroDivisionError("no"))
    e = evaluator(vectorized=vectorized, on_error="nan", **given)
    found = e.evaluate(POINTS, BOTH)
    for part in found:
        assert np.isfinite(part[GOOD]).all()
    failed = {"fun": found.value, "jac": found.gradient, "hess": found.hessian}[name]
    assert np.isnan(failed[BAD]).all()
    assert (name == "fun") == np.isnan(found.value[BAD])
    assert (e.nfev, e.nfail) == (6, 1)
    assert e.njev == (5 if name == "fun" else 6)
    (failure,) = e.failures
    assert (failure.kind, failure.text) == ("raised", "ZeroDivisionError: no")
    np.testing.assert_array_equal(failure.point, POINTS[BAD])


@pytest.mark.parametrize("name", ["fun", "jac", "hess"])
def test_an_exception_stays_what_it_is_and_says_where(name):
    given = {"fun": bowl, "jac": bowl_jac, "hess": bowl_hess}
    given[name] = raising(given[name], ZeroDivisionError("no"))
    e = evaluator(**given)
    with pytest.raises(ZeroDivisionError) as caught:
        e.evaluate(POINTS, BOTH)
    assert str(caught.value) == "no"
    (note,) = caught.value.__notes__
    assert note == f"while evaluating x = {POINTS[BAD]!r}; on_error='nan' counts such points and goes on"
    assert caught.traceback[-1].name == "call"  # where it happened is kept
    assert (e.nfev, e.nfail, e.failures) == (0, 0, [])  # a batch that is given up is done again


@pytest.mark.parametrize("workers", [1, ThreadPoolExecutor(1)])
def test_an_exception_is_the_users_alone(workers):
    """What it was raised from stays; nothing of this package is shown before it."""

    def fails(x):
        try:
            return {}["key"]
        except KeyError as error:
            raise ZeroDivisionError("no") from error

    with pytest.raises(ZeroDivisionError) as caught:
        evaluator(fails, workers=workers).evaluate(POINTS)
    shown = "".join(traceback.format_exception(caught.value))
    assert "Halted" not in shown
    assert "During handling" not in shown
    if workers == 1:
        assert isinstance(caught.value.__cause__, KeyError)


def test_an_exception_of_a_batch_names_the_batch():
    e = evaluator(raising(bowl, ZeroDivisionError("no")), vectorized=True)
    with pytest.raises(ZeroDivisionError) as caught:
        e.evaluate(POINTS)
    assert caught.value.__notes__[0].startswith(f"while evaluating a batch of 6 points that starts with {POINTS[0]!r};")
    with pytest.raises(ZeroDivisionError) as caught:
        e.evaluate(POINTS[BAD : BAD + 1])
    assert f"x = {POINTS[BAD]!r}" in caught.value.__notes__[-1]


@pytest.mark.parametrize(
    ("wrong", "error", "message"),
    [
        (None, TypeError, "fun returned None for one point; real numbers were wanted"),
        (1j, TypeError, "fun returned dtype complex128"),
        ("a", TypeError, "fun returned dtype <U1"),
        (np.zeros(2), ValueError, r"fun returned shape \(2,\) for one point; \(\) was wanted"),
        ([[1.0], [1.0, 2.0]], ValueError, "fun returned no array of numbers"),
        (10**400, TypeError, "fun returned dtype object"),
    ],
)
def test_what_is_no_value_raises_or_is_counted(wrong, error, message):
    fun = replaced(bowl, wrong)
    with pytest.raises(error, match=message) as caught:
        evaluator(fun).evaluate(POINTS)
    assert f"x = {POINTS[BAD]!r}" in caught.value.__notes__[0]
    e = evaluator(fun, on_error="nan")
    np.testing.assert_array_equal(np.isnan(e.evaluate(POINTS).value), ~GOOD)
    assert (e.nfail, e.failures[0].kind) == (1, "bad value")


@pytest.mark.parametrize(
    ("name", "wrong", "message"),
    [
        ("jac", lambda x: x[:1], r"jac returned shape \(1,\) for one point; \(2,\) was wanted"),
        ("jac", lambda x: x + 0j, "jac returned dtype complex128"),
        ("hess", lambda x: x, r"hess returned shape \(2,\) for one point; \(2, 2\) was wanted"),
        ("hess", lambda x: None, "hess returned None"),
    ],
)
def test_what_is_no_derivative_raises_or_is_counted(name, wrong, message):
    given = {"jac": bowl_jac, "hess": bowl_hess} | {name: wrong}
    with pytest.raises((ValueError, TypeError), match=message):
        evaluator(**given).evaluate(POINTS, BOTH)
    e = evaluator(on_error="nan", **given)
    np.testing.assert_array_equal(e.evaluate(POINTS, BOTH).value, bowl(POINTS))
    assert e.nfail == 6
    assert {failure.kind for failure in e.failures} == {"bad value"}


@either_way
def test_a_wrong_gradient_under_differences_is_a_bad_value(vectorized):
    e = evaluator(jac=lambda x: x[..., :1], hess="2-point", vectorized=vectorized, on_error="nan")
    np.testing.assert_array_equal(e.evaluate(POINTS, HESSIAN).value, bowl(POINTS))
    assert {failure.kind for failure in e.failures} == {"bad value"}


def test_a_batch_of_the_wrong_shape():
    fun = lambda x: x  # noqa: E731
    message = r"fun returned shape \(6, 2\) for a batch of 6 points; \(6,\) was wanted\. With vectorized=True it must"
    with pytest.raises(ValueError, match=message):
        evaluator(fun, vectorized=True).evaluate(POINTS)
    e = evaluator(fun, vectorized=True, on_error="nan")
    assert np.isnan(e.evaluate(POINTS).value).all()
    assert (e.nfev, e.nfail) == (6, 6)


@pytest.mark.parametrize("returned", [3, 3.0, True, np.float32(3), [3.0], np.array([[3.0]]), np.array(3)])
def test_whatever_is_one_real_number_is_a_value(returned):
    np.testing.assert_array_equal(
        evaluator(lambda x: returned).evaluate(POINTS).value, np.full(6, float(np.ravel(returned)[0]))
    )


@either_mode
def test_an_interruption_passes_through(on_error):
    with pytest.raises(KeyboardInterrupt):
        evaluator(raising(bowl, KeyboardInterrupt()), on_error=on_error).evaluate(POINTS)


@either_way
def test_sys_exit_is_a_failure(vectorized):
    fun = raising(bowl, SystemExit(3))
    with pytest.raises(SystemExit) as caught:
        evaluator(fun, vectorized=vectorized).evaluate(POINTS)
    assert "while evaluating" in caught.value.__notes__[0]
    e = evaluator(fun, vectorized=vectorized, on_error="nan")
    np.testing.assert_array_equal(np.isnan(e.evaluate(POINTS).value), ~GOOD)
    assert [(failure.kind, failure.text) for failure in e.failures] == [("raised", "SystemExit: 3")]


@pytest.mark.parametrize("order", [0, 1, 2])
def test_what_was_finished_before_an_interruption_is_kept(order):
    """Of a point that lacks a derivative nothing is: the last part that is called decides."""
    given = [bowl, bowl_jac, bowl_hess][: order + 1]
    given[-1] = raising(given[-1], KeyboardInterrupt())
    e = evaluator(*given)
    needs = (VALUE, GRADIENT, BOTH)[order]
    with pytest.raises(KeyboardInterrupt):
        e.evaluate(POINTS, needs)
    _, rows, found = e.left[0]
    np.testing.assert_array_equal(rows, np.arange(BAD))
    np.testing.assert_array_equal(found.value, bowl(POINTS[rows]))
    if order > 0:
        np.testing.assert_array_equal(found.gradient, bowl_jac(POINTS[rows]))
    assert (e.nfev, e.njev, e.nhev) == ((BAD, 0, 0), (6, BAD, 0), (6, 6, BAD))[order]
    e.evaluate(POINTS[:BAD], needs)
    assert e.left == []


def test_an_interruption_in_the_value_leaves_nothing_when_more_is_wanted():
    e = evaluator(raising(bowl, KeyboardInterrupt()), bowl_jac)
    with pytest.raises(KeyboardInterrupt):
        e.evaluate(POINTS, GRADIENT)
    assert len(e.left[0].rows) == 0
    assert e.left[0].evaluation.gradient.shape == (0, 2)


class MuteError(Exception):
    """An exception that cannot even say what it is."""

    def __str__(self):
        raise ValueError("no words")


def test_an_exception_without_words_is_counted():
    e = evaluator(raising(bowl, MuteError()), on_error="nan")
    e.evaluate(POINTS)
    assert e.failures[0].text == "MuteError: (no text: its own text raised ValueError)"


@either_way
@either_mode
def test_functions_may_write_into_what_they_are_given(vectorized, on_error):
    def rude(function):
        def call(x):
            result = np.array(function(x))
            x[...] = np.nan
            return result if result.ndim else float(result)

        return call

    kept = POINTS.copy()
    e = evaluator(rude(bowl), rude(bowl_jac), "2-point", vectorized=vectorized, on_error=on_error)
    found = e.evaluate(kept, BOTH)
    np.testing.assert_array_equal(kept, POINTS)
    np.testing.assert_array_equal(found.value, bowl(POINTS))
    np.testing.assert_array_equal(found.gradient, bowl_jac(POINTS))
    np.testing.assert_allclose(found.hessian, bowl_hess(POINTS), atol=1e-6)


@either_way
def test_functions_may_return_the_same_buffer_again_and_again(vectorized):
    def lazy(function, shape):
        buffer = np.empty(shape)

        def call(x):
            buffer[...] = function(x)
            return buffer

        return call

    front = (6,) if vectorized else ()
    e = evaluator(lazy(bowl, front), lazy(bowl_jac, (*front, 2)), lazy(bowl_hess, (*front, 2, 2)), vectorized)
    first = e.evaluate(POINTS, BOTH)
    e.evaluate(POINTS + 1.0, BOTH)
    np.testing.assert_array_equal(first.value, bowl(POINTS))
    np.testing.assert_array_equal(first.gradient, bowl_jac(POINTS))


def test_a_batch_that_fails_is_tried_point_by_point():
    sizes = []

    def fun(x):
        sizes.append(len(x))
        return raising(bowl, OSError("gone"))(x)

    e = evaluator(fun, vectorized=True, on_error="nan")
    np.testing.assert_array_equal(e.evaluate(POINTS).value, np.where(GOOD, bowl(POINTS), np.nan))
    assert sizes == [6, 1, 1, 1, 1, 1, 1]
    assert (e.nfev, e.nfail) == (6, 1)  # points, not calls


def test_the_record_of_failures_is_bounded():
    e = evaluator(lambda x: np.nan)
    for _ in range(10):
        e.evaluate(POINTS)
    assert e.nfail == 60
    assert len(e.failures) == 20


def test_extreme_values_are_values():
    for value in (1e300, -1e300, 1e-300, np.finfo(float).max):
        np.testing.assert_array_equal(evaluator(lambda x, v=value: v).evaluate(POINTS).value, np.full(6, value))


@either_mode
def test_a_hessian_that_is_not_symmetric_is_refused(on_error):
    e = evaluator(jac=bowl_jac, hess=lambda x: np.array([[2.0, 1.0], [0.0, 2.0]]), on_error=on_error)
    with pytest.raises(ValueError, match="hess returned a matrix that is not symmetric"):
        e.evaluate(POINTS, BOTH)


def test_arguments_are_checked():
    with pytest.raises(ValueError, match="on_error is 'ignore'; wanted"):
        evaluator(on_error="ignore")
    with pytest.raises(ValueError, match="timeout is 0"):
        evaluator(timeout=0.0)
    with pytest.raises(TypeError, match=r"retries is 1\.5"):
        evaluator(retries=1.5)
    with pytest.raises(ValueError, match="timeout is 1 and workers is 1: a call in this process cannot be ended"):
        evaluator(timeout=1.0)
    with pytest.raises(ValueError, match="hessian needed, which this objective does not offer"):
        evaluator(jac=bowl_jac).evaluate(POINTS, HESSIAN)
