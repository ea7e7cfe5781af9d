"""What users of SciPy type works, or is refused with what to write instead."""

import numpy as np
import pytest
from scipy.optimize import Bounds

from allmodes import ModeFinder, curve_fit, find_fits, find_maxima, find_minima, find_roots
from allmodes.callbacks import asking
from allmodes.keywords import helpful
from allmodes.objective.bounds import Box
from allmodes.objective.bounds_scipy import as_pairs

BOX = [(-6.0, 6.0)] * 2


def himmelblau(x):
    return (x[0] ** 2 + x[1] - 11) ** 2 + (x[0] + x[1] ** 2 - 7) ** 2


def residuals(x):
    return np.array([x[0] - 1.0, x[1] - 2.0, x[0] * x[1] - 2.1])


def equations(x):
    return [x[0] ** 2 - 1.0, x[1] - x[0]]


def line(t, a, b):
    return a * t + b


T = np.linspace(0.0, 1.0, 5)
CALLS = {
    "find_minima": lambda *args, **kwargs: find_minima(himmelblau, *args, **kwargs),
    "find_maxima": lambda *args, **kwargs: find_maxima(lambda x: -himmelblau(x), *args, **kwargs),
    "find_fits": lambda *args, **kwargs: find_fits(residuals, *args, **kwargs),
    "find_roots": lambda *args, **kwargs: find_roots(equations, *args, **kwargs),
    "ModeFinder": ModeFinder,
    "curve_fit": lambda bounds=None, **kwargs: curve_fit(line, T, 2 * T, bounds=bounds, **kwargs),
}
every_call = pytest.mark.parametrize("name", CALLS)
every_search = pytest.mark.parametrize("name", [name for name in CALLS if name != "ModeFinder"])


# ---- arguments


@every_call
@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"seed": 0}, "has no argument 'seed'; did you mean 'rng'?"),
        ({"tol": 1e-3}, "did you mean 'xtol'?"),
        ({"maxfun": 9}, "did you mean 'maxfev'?"),
        ({"n_starts": 100}, "until hardly anything new is expected: limit them by maxfev"),
        ({"lb": [0]}, "did you mean 'bounds'?"),
        ({"max_evaluations": 9}, "did you mean 'maxfev'?"),
        ({"max_time": 9}, "did you mean 'maxtime'?"),
        ({"popsize": 15}, "has no argument 'popsize'; allmodes chooses that itself"),
        ({"full_output": True}, "all there is to be returned is in the result"),
        ({"options": {"maxiter": 3}}, r"options has 'maxiter', which is an argument here: maxiter=\.\.\."),
        ({"options": {"disp": True}}, r"options has 'disp', which is an argument here: progress=\.\.\."),
        ({"method": "BFGS"}, r"method is 'BFGS'; wanted .* Methods of SciPy find one optimum from one point"),
        ({"maxfev": 1.5}, r"maxfev is 1\.5 \(float\); a whole number was wanted"),
    ],
)
def test_a_hint_says_what_to_write(name, given, said):
    with pytest.raises((TypeError, ValueError), match=said) as error:
        CALLS[name](BOX, **given)
    if "no argument" in str(error.value):
        assert str(error.value).startswith(f"{name}()")


@every_call
def test_disp_is_progress_where_there_is_any(name):
    said = "you see every round yourself" if name == "ModeFinder" else "did you mean 'progress'"
    with pytest.raises(TypeError, match=said):
        CALLS[name](BOX, disp=True)


@every_search
def test_maxfev_may_be_written_as_a_float(name):
    assert CALLS[name](BOX, maxfev=1e2, rng=0).nfev <= 100


def test_maxiter_is_an_argument():
    assert find_minima(himmelblau, BOX, maxiter=2, rng=0).nit == 2


@pytest.mark.parametrize("name", ["find_minima", "find_maxima", "find_fits", "find_roots", "ModeFinder"])
def test_a_start_by_position(name):
    with pytest.raises(TypeError, match=r"A point to start from is x0=\[1\.0, 2\.0\]"):
        CALLS[name]([1.0, 2.0])
    with pytest.raises(
        TypeError, match=r"bounds by position, and \d arguments were given so; name the others, as x0=x0"
    ):
        CALLS[name](BOX, [1.0, 2.0])
    with pytest.raises(TypeError, match="got 'bounds' twice: by position, and by its name; the point to start from is"):
        CALLS[name]([1.0, 2.0], bounds=BOX)


def test_of_curve_fit():
    with pytest.raises(TypeError, match="has no argument 'x0'; the point to start from is p0 here"):
        curve_fit(line, T, 2 * T, x0=[1.0, 1.0])
    with pytest.raises(TypeError, match="check_finite, which SciPy has in its place"):
        curve_fit(line, T, 2 * T, [1.0, 1.0], None, False, True)
    fits = curve_fit(line, T, 2 * T, [1.0, 1.0], None, False, ([-9, -9], [9, 9]), rng=0)
    np.testing.assert_allclose(fits.popt, [2.0, 0.0], atol=1e-6)
    with pytest.raises(TypeError, match=r"a Mode is no array: mode\.x is\. Of curve_fit there are result\.popt and"):
        line(T, *fits[0])


def test_advice_is_followed_through_other_names():
    @helpful({"hess": "there is none."})
    def search(x, *, jac=None):
        return x

    with pytest.raises(TypeError, match=r"search\(\) has no argument 'hessp'; there is none\."):
        search(1, hessp=2)
    with pytest.raises(TypeError, match="search\\(\\) takes x by position, and 2 arguments were given so"):
        search(1, 2)


# ---- bounds


@pytest.mark.parametrize(
    "given",
    [
        ([-5, -5, -5], [5, 5, 5]),  # nothing is a choice twice
        [[-5, -5, -5], [5, 5, 5]],
        ((-5, -4, -3), (5, 6, 7)),  # choices are lists
        np.array([[-5, -4, -3], [5, 6, 7]]),
        ([-np.inf, -1, 0], [5, 6, 7]),
        ([None, -1, 0], [5, 6, 7]),
        ([-5], [5]),
        ([-5, -5], [5, 5]),  # as pairs a single point
        (np.array([-5, -4]), np.array([5, 4])),  # as pairs in the wrong order
    ],
    ids=str,
)
def test_sides_where_it_is_certain(given):
    opened = [[-np.inf if entry is None else entry for entry in given[0]], list(given[1])]
    assert as_pairs(given) == [tuple(map(float, pair)) for pair in zip(*opened, strict=True)]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (
            ([0, 1], [2, 3]),
            r"bounds is \(\[0, 1\], \[2, 3\]\), which may be two pairs or two sides: .*list\(zip\(lower",
        ),
        ((np.array([0, 1]), np.array([2, 3])), r"and pairs as a list, \[\(0, 1\), \(2, 3\)\]"),
        (([-5, -4, -3], [5, 6, 7]), "may be two lists of choices or two sides: .* and choices as a list of lists"),
        ([[-5, -5], [5, 5]], r"as pairs a single point: .*scipy\.optimize\.Bounds\(lower, upper\)"),
        (np.array([[-5, -5], [5, 5]]), "as pairs a single point"),
        (((-5, -5), (5, 5)), "as pairs a single point"),
    ],
)
def test_sides_are_refused_where_it_is_not(given, said):
    with pytest.raises(ValueError, match=said):
        as_pairs(given)


@pytest.mark.parametrize(
    "given",
    [
        [(0, 1), (2, 3)], ((0, 1), (2, 3)), [[0, 1], [2, 3]], np.array([[0, 1], [2, 3]]), ([-5, 5], [-5, 5]),
        [(-5, -5), (5, 5)], [[1.0, 2.0, 4.0], [3.0, 5.0, 9.0]], (["oak", "ash"], [0, 1]), [(0, 1)], None, (0, 1),
        [0, 1], Bounds([0, 0], [1, 1]), [(0, 1), (None, 5)], ([5, 6, 7], [1, 2, 3]),
    ],
    ids=str,
)  # fmt: skip
def test_everything_else_is_as_it_is(given):
    assert as_pairs(given) is given


def test_the_number_of_coordinates_settles_it():
    assert as_pairs(([-5, -4, -3], [5, 6, 7]), 3) == [(-5.0, 5.0), (-4.0, 6.0), (-3.0, 7.0)]
    assert as_pairs((0, np.inf), 2) == [(0, np.inf)] * 2
    box = Box.make(([-5, -4, -3], [5, 6, 7]), x0=[0.0, 0.0, 0.0])
    assert box.lower.tolist() == [-5.0, -4.0, -3.0]


@every_search
def test_searches_take_sides(name):
    result = CALLS[name](([-6, -6], [6, 6]), rng=0, maxfev=600)
    np.testing.assert_array_equal(result.bounds, BOX)


# ---- callbacks


@every_search
def test_a_callback_of_the_best_point(name):
    seen = []
    result = CALLS[name](BOX, callback=lambda xk: seen.append(xk), rng=0, maxfev=200)
    assert seen[-1].shape == (2,)
    assert len(seen) == result.nit
    assert CALLS[name](BOX, callback=lambda xk: len(seen) > 0, rng=0, maxfev=200).nit == 1


def result_of(intermediate_result):
    return intermediate_result


@pytest.mark.parametrize(
    ("callback", "takes"),
    [
        (lambda intermediate_result: intermediate_result == "result", "result"),
        (lambda **given: given == {"intermediate_result": "result"}, "result"),
        (lambda x: x == "point", "point"),
        (lambda x, convergence=None: x == "point" and convergence is None, "point"),
        (lambda *given: given == ("point",), "point"),
    ],
)
def test_callbacks_are_called_as_they_want_to_be(callback, takes):
    class Search:
        best_x, result = "point", "result"

    assert asking(callback)(Search) is True
    assert asking(None) is None
    assert takes


@pytest.mark.parametrize("callback", [lambda x, f, context: None, lambda: None, lambda x, *, accept: None, 3])
def test_other_callbacks_are_refused_before_the_search(callback):
    with pytest.raises(TypeError, match=r"wanted a function of intermediate_result, the result so far, or of the best"):
        find_minima(lambda x: pytest.fail("it was called"), BOX, callback=callback)


def test_before_anything_is_known_the_best_point_is_not():
    seen = []
    find_minima(lambda x: np.nan, BOX, callback=lambda xk: seen.append(xk.copy()), rng=0, maxfev=50)
    assert np.isnan(seen[0]).all()


def test_maxima_have_a_call_of_their_own():
    with pytest.raises(TypeError, match=r"find_minima\(\) has no argument 'maximize'; find_maxima finds maxima"):
        find_minima(himmelblau, BOX, maximize=True)


def test_a_gradient_returned_with_the_value_needs_jac():
    with pytest.raises(ValueError, match=r"no array of numbers .* If it returns the gradient, too, pass jac=True"):
        find_minima(lambda x: (x @ x, 2 * x), [(-1, 1)] * 2, rng=0)
