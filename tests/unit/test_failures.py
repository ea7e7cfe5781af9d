"""What a function may do wrong, and what a search makes of it."""

import numpy as np
import pytest

from allmodes import Status, find_maxima, find_minima
from allmodes.nva import presets

WELL = [(-2.0, 2.0), (-2.0, 2.0)]
METHODS = {
    "auto": "auto",
    "local": "local",
    "multistart": "multistart",
    "black-box": "black-box",
    "anneal": "anneal",
    "assembly": presets.nva_gm(order=0),
}
every_method = pytest.mark.parametrize("method", list(METHODS))


def double_well(x):
    return float((x[0] ** 2 - 1.0) ** 2 + x[1] ** 2)


class Counted:
    """A function that counts its calls."""

    def __init__(self, function):
        self.function, self.calls = function, 0

    def __call__(self, x):
        self.calls += 1
        return self.function(x)


def raises(x):
    raise ZeroDivisionError("nothing to divide by")


def positions(result):
    return np.array([mode.x for mode in result.modes])


class OwnError(Exception):
    """An exception that nobody else knows."""

    def __init__(self, code, x):
        super().__init__(f"code {code}")
        self.code, self.x = code, x


# ---- on_error="raise"


@every_method
def test_an_exception_comes_out_as_it_is(method):
    def fun(x):
        raise OwnError(7, x.copy())

    with pytest.raises(OwnError, match="code 7") as caught:
        find_minima(fun, WELL, method=METHODS[method], rng=0)
    assert caught.value.code == 7
    (note,) = caught.value.__notes__
    assert f"x = {caught.value.x!r}" in note
    assert "on_error='nan'" in note


def test_an_exception_later_on_comes_out_too():
    fun = Counted(lambda x: raises(x) if fun.calls > 100 else double_well(x))
    with pytest.raises(ZeroDivisionError, match="nothing to divide by"):
        find_minima(fun, WELL, rng=0)
    assert fun.calls == 101


def test_an_exception_of_the_gradient_comes_out():
    fun = Counted(double_well)
    with pytest.raises(ZeroDivisionError) as caught:
        find_minima(fun, WELL, jac=raises, rng=0)
    assert "x = array(" in caught.value.__notes__[0]


def test_an_exception_in_a_worker_comes_out():
    with pytest.raises(ZeroDivisionError, match="nothing to divide by") as caught:
        find_minima(raises, WELL, rng=0, workers=lambda function, items: [function(item) for item in items])
    assert any("x = array(" in note for note in caught.value.__notes__)


def test_an_exception_of_a_vectorized_function_names_the_batch():
    with pytest.raises(ZeroDivisionError) as caught:
        find_minima(raises, WELL, vectorized=True, rng=0)
    assert "array(" in caught.value.__notes__[0]


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (None, "fun returned"),
        ("high", "fun returned"),
        (1.0 + 2.0j, "complex"),
        (np.zeros(2), "fun returned"),
        (np.zeros((1, 2)), "fun returned"),
        ((1.0, np.zeros(2)), "fun returned"),
        ([], "fun returned"),
        ({}, "fun returned"),
    ],
)
def test_what_is_no_number_is_refused(value, words):
    fun = Counted(lambda x: value)
    with pytest.raises((ValueError, TypeError), match=words) as caught:
        find_minima(fun, WELL, rng=0)
    assert any("x = array(" in note for note in caught.value.__notes__)
    assert fun.calls == 1


@pytest.mark.parametrize("value", [np.float32(2.0), 2, True, np.array(2.0), np.array([2.0]), np.int64(2)])
def test_what_is_a_number_is_taken(value):
    result = find_minima(lambda x: value, WELL, rng=0, maxfev=50)
    assert result.fun == float(np.squeeze(value))
    assert result.nfail == 0


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"jac": lambda x: np.zeros(3)}, r"jac returned .*\(3,\)"),
        ({"jac": lambda x: 1.0}, "jac returned"),
        ({"jac": lambda x: x, "hess": lambda x: x}, "hess returned"),
        ({"jac": True}, "must return"),
    ],
)
def test_derivatives_of_a_wrong_shape_are_refused(given, words):
    with pytest.raises((ValueError, TypeError), match=words):
        find_minima(double_well, WELL, rng=0, **given)


def test_a_batch_of_a_wrong_length_is_refused():
    with pytest.raises(ValueError, match="fun returned"):
        find_minima(lambda x: np.zeros(len(x) + 1), WELL, vectorized=True, rng=0)


def test_on_error_has_two_values():
    with pytest.raises(ValueError, match=r"on_error is 'ignore'; wanted \"raise\" or \"nan\""):
        find_minima(double_well, WELL, on_error="ignore")


# ---- some fail


def left_raises(x):
    return double_well(x) if x[0] > 0.0 else raises(x)


def left_is(value):
    return lambda x: double_well(x) if x[0] > 0.0 else value


HALVES = {
    "raises": (left_raises, "nan"),
    "None": (left_is(None), "nan"),
    "wrong shape": (left_is(np.zeros(3)), "nan"),
    "complex": (left_is(1j), "nan"),
    "nan": (left_is(np.nan), "raise"),
    "inf": (left_is(np.inf), "raise"),
    "-inf": (left_is(-np.inf), "raise"),
}


@pytest.mark.parametrize("half", list(HALVES))
def test_half_the_box_fails(half):
    fun, on_error = HALVES[half]
    fun = Counted(fun)
    result = find_minima(fun, WELL, on_error=on_error, rng=0, maxfev=2000)
    assert fun.calls == result.nfev
    assert (np.abs(positions(result) - [1.0, 0.0]).max(axis=1) < 1e-4).sum() == 1
    best = result.modes[0]
    assert best.kind == "minimum"
    assert best.is_global
    assert (positions(result)[:, 0] > 0.0).all()
    assert result.success
    assert 0 < result.nfail < result.nfev
    assert 0 < len(result.failures) <= 20
    assert all(failure.point[0] <= 0.0 for failure in result.failures)
    kind = {"raises": "raised", "nan": "not finite", "inf": "not finite", "-inf": "not finite"}.get(half, "bad value")
    assert {failure.kind for failure in result.failures} == {kind}
    assert f"{result.nfail}" in repr(result)


@every_method
def test_every_method_survives_half_a_box(method):
    result = find_minima(left_is(np.nan), WELL, method=METHODS[method], rng=0, maxfev=9000)
    assert np.abs(positions(result) - [1.0, 0.0]).max(axis=1).min() < 1e-3
    assert (positions(result)[:, 0] > 0.0).all()
    assert result.nfail > 0


def test_the_other_half_with_derivatives():
    def jac(x):
        return np.array([4.0 * x[0] * (x[0] ** 2 - 1.0), 2.0 * x[1]])

    def hess(x):
        return np.diag([12.0 * x[0] ** 2 - 4.0, 2.0])

    result = find_minima(left_is(np.nan), WELL, jac=jac, hess=hess, rng=0, maxfev=2000)
    np.testing.assert_allclose(result.x, [1.0, 0.0], atol=1e-6)
    assert result.nfail > 0


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_a_gradient_that_fails_here_and_there(bad):
    def jac(x):
        return np.array([4.0 * x[0] * (x[0] ** 2 - 1.0), 2.0 * x[1] if x[1] < 1.0 else bad])

    result = find_minima(double_well, WELL, jac=jac, rng=0, maxfev=2000)
    np.testing.assert_allclose(np.sort(positions(result)[:, 0]), [-1.0, 1.0], atol=1e-4)
    assert result.nfail > 0


def test_failures_here_and_there():
    rng = np.random.default_rng(0)
    fun = Counted(lambda x: np.nan if rng.random() < 0.05 else double_well(x))
    result = find_minima(fun, WELL, rng=0, maxfev=3000)
    for place in (-1.0, 1.0):
        assert np.abs(positions(result) - [place, 0.0]).max(axis=1).min() < 1e-3
    assert 0 < result.nfail < 0.1 * result.nfev


def test_a_vectorized_function_loses_only_what_fails():
    def fun(x):
        if (x[:, 0] < -1.5).any():
            raise ValueError("too far left")
        return (x[:, 0] ** 2 - 1.0) ** 2 + x[:, 1] ** 2

    result = find_minima(fun, WELL, vectorized=True, on_error="nan", rng=0, maxfev=2000)
    np.testing.assert_allclose(np.sort(positions(result)[:, 0]), [-1.0, 1.0], atol=1e-4)
    assert all(failure.point[0] < -1.5 for failure in result.failures)
    assert all("too far left" in failure.text for failure in result.failures)


def test_failures_rank_worst_for_maxima_too():
    result = find_maxima(lambda x: np.inf if x[0] < 0.0 else -double_well(x), WELL, rng=0, maxfev=2000)
    np.testing.assert_allclose(result.x, [1.0, 0.0], atol=1e-4)
    assert np.isfinite(result.fun)


# ---- all fail


ALL = {
    "raises": raises,
    "None": lambda x: None,
    "nan": lambda x: np.nan,
    "inf": lambda x: np.inf,
    "-inf": lambda x: -np.inf,
    "complex": lambda x: 1j,
    "wrong shape": lambda x: np.zeros(2),
}


@pytest.mark.parametrize("kind", list(ALL))
def test_everything_fails(kind):
    fun = Counted(ALL[kind])
    result = find_minima(fun, WELL, on_error="nan", rng=0)
    assert result.status is Status.ALL_FAILED
    assert not result.success
    assert result.modes == ()
    assert np.isnan(result.fun)
    assert np.isnan(result.x).all()
    assert fun.calls == result.nfev == result.nfail <= 1000
    assert "no finite value" in result.message
    assert len(result.failures) > 0
    assert isinstance(repr(result), str)


@every_method
def test_every_method_gives_up_when_everything_fails(method):
    fun = Counted(lambda x: np.nan)
    result = find_minima(fun, WELL, method=METHODS[method], rng=0)
    assert result.status is Status.ALL_FAILED
    assert fun.calls == result.nfev <= 2000


def test_every_gradient_fails():
    fun = Counted(double_well)
    result = find_minima(fun, WELL, jac=lambda x: np.full(2, np.nan), rng=0, maxfev=2000)
    assert fun.calls <= 2000
    assert result.nfail > 0
    assert result.fun < 1.0
    assert all(mode.kind == "unverified" for mode in result.modes)


def test_everything_fails_under_noise():
    result = find_minima(lambda x: np.nan, WELL, noise=True, rng=0)
    assert result.status is Status.ALL_FAILED
    assert result.nfev <= 2000
