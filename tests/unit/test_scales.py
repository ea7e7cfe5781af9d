"""Coordinates on a logarithmic scale, and starts around x0 with a spread."""

import numpy as np
import pytest

import allmodes
from allmodes import ModeFinder, find_fits, find_maxima, find_minima
from allmodes.objective.bounds import Box
from allmodes.objective.scales import bends, coordinate_number, from_log, lengths, log_coordinates, slopes, to_log
from allmodes.report.page import rerun

BOUNDS = [(1e-3, 1e3), (1e-3, 1e3)]
LOGS = [(-3, 3), (-3, 3)]


def two_wells(x):
    z = np.log10(x)
    return (z[0] ** 2 - 4.0) ** 2 / 16.0 + (z[1] - 1.0) ** 2 + 0.3 * z[0]


def gradient(x):
    z = np.log10(x)
    by_log = np.array([z[0] * (z[0] ** 2 - 4.0) / 4.0 + 0.3, 2.0 * (z[1] - 1.0)])
    return by_log / (np.log(10.0) * x)


def hessian(x):
    z, c = np.log10(x), np.log(10.0)
    second = np.array([(3.0 * z[0] ** 2 - 4.0) / 4.0, 2.0]) / (c * x) ** 2
    return np.diag(second - gradient(x) / x)


def by_hand(z):
    return two_wells(10.0**z)


def gradient_by_hand(z):
    return gradient(10.0**z) * 10.0**z * np.log(10.0)


@pytest.mark.parametrize("method", ["auto", "local", "multistart"])
def test_a_search_in_logarithms_is_the_one_written_by_hand(method):
    given = {"rng": 3, "method": method, "maxfev": 2500}
    found, wanted = find_minima(two_wells, BOUNDS, scale="log", **given), find_minima(by_hand, LOGS, **given)
    assert found.nfev == wanted.nfev
    assert len(found.modes) == len(wanted.modes) == 2
    for mode, other in zip(found.modes, wanted.modes, strict=True):
        np.testing.assert_allclose(mode.x, 10.0**other.x, rtol=1e-9)
        assert mode.hits == other.hits


def test_gradients_too():
    found = find_minima(two_wells, BOUNDS, jac=gradient, scale="log", rng=1)
    wanted = find_minima(by_hand, LOGS, jac=gradient_by_hand, rng=1)
    assert (found.nfev, found.njev) == (wanted.nfev, wanted.njev)
    np.testing.assert_allclose([mode.x for mode in found.modes], [10.0**mode.x for mode in wanted.modes], rtol=1e-8)


@pytest.mark.parametrize("given", [{}, {"jac": gradient}, {"jac": gradient, "hess": hessian}])
def test_derivatives_are_those_of_the_users_coordinates(given):
    for mode in find_minima(two_wells, BOUNDS, scale="log", rng=0, **given).modes:
        exact = hessian(mode.x)
        size = np.sqrt(np.diag(exact))
        np.testing.assert_allclose(mode.hessian / np.outer(size, size), np.eye(2), atol=2e-3)
        assert given == {} or mode.gradient_norm < 1e-4 * np.abs(exact @ mode.x).max()


def test_weights_are_of_the_users_coordinates():
    """Two wells of one height and one width in logarithms: the farther one is wider in the user's units."""
    result = find_minima(lambda x: (np.log10(x[0]) ** 2 - 1.0) ** 2, [(1e-3, 1e3)], scale="log", rng=0)
    weights = {round(float(np.log10(mode.x[0]))): mode.weight for mode in result.modes}
    np.testing.assert_allclose(weights[1] / weights[-1], 100.0, rtol=1e-2)


def test_a_mode_at_a_bound_has_the_curvature_of_the_users_coordinates():
    result = find_minima(lambda x: (x[0] + 1.0) ** 2, [(0.5, 50.0)], jac=lambda x: 2 * (x + 1.0), scale="log", rng=0)
    (mode,) = result.modes
    assert mode.x[0] == 0.5
    assert mode.kind == "boundary"
    np.testing.assert_allclose(mode.hessian, [[2.0]], rtol=1e-3)


def test_maxima_finder_and_checkpoints(tmp_path):
    up = find_maxima(lambda x: -two_wells(x), BOUNDS, scale=["log", "log"], rng=3)
    down = find_minima(two_wells, BOUNDS, scale={"k": "log", 1: "log"}, names=["k", "l"], rng=3)
    assert up.nfev == down.nfev
    finder = ModeFinder(BOUNDS, scale="log", rng=3)
    for _ in range(5):
        x = finder.ask()
        finder.tell(x, [two_wells(each) for each in x])
    finder.save(tmp_path / "search")
    finder = ModeFinder.load(tmp_path / "search")
    while not finder.stop():
        x = finder.ask()
        finder.tell(x, [two_wells(each) for each in x])
    np.testing.assert_array_equal([mode.x for mode in finder.result.modes], [mode.x for mode in down.modes])
    assert finder.result.settings["scale"] == ["log", "log"]


def test_fits_over_six_decades():
    t = np.logspace(-3, 3, 60)
    data = np.exp(-0.01 * t) + np.exp(-10.0 * t)

    def residuals(k):
        return np.exp(-k[0] * t) + np.exp(-k[1] * t) - data

    found = find_fits(residuals, BOUNDS, scale="log", rng=1)
    wanted = find_fits(lambda z: residuals(10.0**z), LOGS, rng=1)
    assert sorted(mode.x.round(6).tolist() for mode in found.modes) == [[0.01, 10.0], [10.0, 0.01]]
    assert abs(found.nfev - wanted.nfev) < 0.1 * wanted.nfev


def test_curve_fit_takes_it():
    t = np.logspace(-3, 3, 40)
    result = allmodes.curve_fit(
        lambda t, k: np.exp(-k * t), t, np.exp(-0.02 * t), bounds=(1e-4, 1e4), scale={"k": "log"}, rng=0
    )
    np.testing.assert_allclose(result.x, [0.02], rtol=1e-6)


# ---- the box


def test_units_there_and_back():
    box = Box.make(
        [(1e-6, 1e2), (-1, 1), (2, 2), (1e-3, None)], x0=[1.0, 0.0, 2.0, 1.0], scale=["log", None, "log", "log"]
    )
    z = np.random.default_rng(0).random((50, 3))
    x = box.to_user(z)
    np.testing.assert_allclose(box.to_unit(x), z, atol=1e-13)
    np.testing.assert_array_equal(box.to_user(np.array([[0.0, 0.0, 0.0]])), [[1e-6, -1.0, 2.0, 1e-3]])
    np.testing.assert_array_equal(box.to_user(np.array([[1.0, 1.0, 0.0]]))[0, :2], [1e2, 1.0])
    np.testing.assert_allclose(box.to_user(np.array([[0.5, 0.5, 1.0]]))[0, [0, 3]], [1e-2, 1e3])
    assert np.isfinite(box.to_user(np.array([[0.5, 0.5, 1e6]]))).all()


def test_derivatives_by_differences():
    box = Box.make(BOUNDS, scale="log")
    z, h = np.array([0.3, 0.6]), 1e-4
    x = box.to_user(z[None])[0]

    def inside(z):
        return two_wells(box.to_user(z[None])[0])

    g = box.gradient_to_unit(gradient(x), x)
    H = box.hessian_to_unit(hessian(x), x, g)
    E = h * np.eye(2)
    np.testing.assert_allclose(g, [(inside(z + e) - inside(z - e)) / (2 * h) for e in E], rtol=1e-5)
    bent = [(inside(z + e) - 2 * inside(z) + inside(z - e)) / h**2 for e in E]
    np.testing.assert_allclose(np.diag(H), bent, rtol=1e-4)
    np.testing.assert_allclose(box.gradient_to_user(g, x), gradient(x), rtol=1e-12)
    np.testing.assert_allclose(box.hessian_to_user(H, x, g), hessian(x), rtol=1e-10)
    with pytest.raises(ValueError, match="need the points"):
        box.gradient_to_unit(g)


def test_parts():
    is_log, x = np.array([True, False]), np.array([100.0, -3.0])
    np.testing.assert_allclose(to_log(x, is_log), [2.0, -3.0])
    np.testing.assert_allclose(from_log(np.array([2.0, -3.0]), is_log), x)
    assert to_log(x, None) is x
    np.testing.assert_allclose(slopes(x, np.array([2.0, 5.0]), is_log), [200.0 * np.log(10.0), 5.0])
    np.testing.assert_allclose(bends(np.array([2.0, 5.0]), is_log), [2.0 * np.log(10.0), 0.0])
    np.testing.assert_allclose(lengths(x, np.array([2.0, 5.0]), is_log), [100.0 * np.log(10.0), 3.0])
    assert log_coordinates(["linear", None], np.ones(2), np.ones(2), np.zeros(2, bool)) is None
    assert coordinate_number("", "b", 2, ["a", "b"]) == 1
    assert coordinate_number("", "1", 2, ["a", "b"]) == 1


@pytest.mark.parametrize(
    ("given", "error", "words"),
    [
        ({"bounds": [(0, 1)], "scale": "log"}, ValueError, r"coordinate 0, whose bounds are \(0.0, 1.0\).*above 0"),
        ({"bounds": None, "x0": [1.0], "scale": "log"}, ValueError, "lower bound above 0"),
        ({"bounds": [(1, 2)], "scale": "logs"}, ValueError, "scale of coordinate 0 is 'logs'; wanted \"log\""),
        ({"bounds": [(1, 2)], "scale": ["log", "log"]}, ValueError, "2 entries for 1 coordinates"),
        ({"bounds": [(1, 2)], "scale": {"k": "log"}}, ValueError, "the key 'k'.*by name x0"),
        ({"bounds": [(1, 2)], "scale": 3}, TypeError, "scale is 3"),
        ({"bounds": [(1, 2)], "scale": "log", "periodic": True}, ValueError, "periodic and its scale"),
        ({"bounds": [(1, 2)], "x0": [1.5], "spread": 1.0}, ValueError, "coordinate 0 has bounds"),
        ({"bounds": [(1, None)], "spread": 1.0}, ValueError, "spread is given without x0"),
        ({"bounds": None, "x0": [1.0], "spread": -1.0}, ValueError, "spread of coordinate 0 is -1.0"),
        ({"bounds": None, "x0": [1.0], "spread": [1.0, 2.0]}, ValueError, "2 entries for 1"),
        ({"bounds": [(1, None)], "x0": [2.0], "spread": 0.5, "scale": "log"}, ValueError, "a factor above 1"),
        ({"bounds": [(1, 2), (None, None)], "x0": [1.0, 2.0], "spread": [1.0, 2.0]}, ValueError, "leave one of"),
    ],
)
def test_wrong_input_is_named(given, error, words):
    with pytest.raises(error, match=words):
        find_minima(lambda x: 0.0, **given)


def test_a_spread_says_where_to_look():
    box = Box.make(None, [10.0, -2.0], spread=[1.0, 4.0])
    np.testing.assert_array_equal([box.start_lower, box.start_upper], [[9.0, -6.0], [11.0, 2.0]])
    box = Box.make([(1e-3, None), (0, 1)], [1.0, 0.5], spread=100.0, scale={0: "log"})
    np.testing.assert_allclose(box.to_user(np.array([[1.0, 1.0]])), [[100.0, 1.0]])


def test_a_search_looks_around_x0():
    def share_near(**given):
        seen = []

        def far_wells(x):
            seen.append(x.copy())
            return np.sin(x[0]) + 0.01 * (x[0] - 100.0) ** 2

        result = find_minima(far_wells, x0=[100.0], rng=0, maxfev=300, **given)
        assert result.settings["spread"] == given.get("spread")
        return np.mean(np.abs(np.array(seen) - 100.0) <= 10.0)

    assert share_near(spread=10.0) > 1.5 * share_near()


def test_plots_have_logarithmic_axes(tmp_path):
    pytest.importorskip("matplotlib")
    result = find_minima(two_wells, BOUNDS, scale={0: "log"}, rng=0, maxfev=600)
    ax = result.plot.landscape(two_wells, resolution=21)
    assert (ax.get_xscale(), ax.get_yscale()) == ("log", "linear")
    assert result.plot.landscape(two_wells, coordinates=[0], resolution=21).get_xscale() == "log"
    assert result.plot.pairs().child_axes[0].get_xscale() == "log"
    result.plot.parallel()
    assert "scale=['log', 'linear']" in rerun.snippet(result)
