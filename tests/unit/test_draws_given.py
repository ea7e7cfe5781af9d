"""`starts=`: draws of a prior say where to look, in place of bounds."""

import numpy as np
import pytest

import allmodes
from allmodes import ModeFinder, find_maxima, find_minima
from allmodes.modes.coverage import Coverage
from allmodes.objective.draws_given import POOL, draws_of, location

SCALES = np.logspace(-2, 3, 6)
PLACES = np.array([np.ones(6), -np.ones(6)])


def posterior(x, width=0.5):
    """Two modes, one prior deviation from the middle in every coordinate: log density and gradient."""
    z = (x / SCALES - PLACES) / width
    logs = -0.5 * (z**2).sum(axis=1)
    total = np.logaddexp(*logs)
    return total, -(np.exp(logs - total)[:, None] * z).sum(axis=0) / width / SCALES


def prior(rng, n):
    return SCALES * rng.standard_normal((n, 6))


def wells(x):
    """Four minima, at (+-0.01, +-100)."""
    return (((x / [0.01, 100.0]) ** 2 - 1.0) ** 2).sum()


def wide(rng, n):
    return rng.standard_normal((n, 2)) * [0.02, 200.0]


SOME = wide(np.random.default_rng(5), 60)


def evaluations_until_both(**where):
    finder = ModeFinder(jac=True, maximise=True, n_modes=2, **where)
    while not finder.stop():
        x = finder.ask()
        values, gradients = zip(*map(posterior, x), strict=True)
        finder.tell(x, values, gradients)
    assert finder.modes_found == 2
    return finder.nfev


@pytest.mark.parametrize("seed", range(3))
def test_coordinates_of_all_sizes_are_searched_at_once(seed):
    assert evaluations_until_both(starts=prior, rng=seed) <= 110
    assert evaluations_until_both(x0=np.zeros(6), rng=seed) > 300  # what that is compared with


def test_the_search_is_the_same_in_any_units():
    units = 2.0 ** np.array([-9, 12])
    draws = np.random.default_rng(0).standard_normal((50, 2))
    plain = find_minima(lambda x: wells(x * [0.01, 100.0]), starts=draws, rng=0)
    scaled = find_minima(lambda x: wells(x / units * [0.01, 100.0]), starts=draws * units, rng=0)
    assert scaled.nfev == plain.nfev
    assert len(scaled.modes) == 4
    np.testing.assert_array_equal([mode.x / units for mode in scaled.modes], [mode.x for mode in plain.modes])


def test_draws_are_no_bounds():
    """A likelihood may well be at odds with the prior."""
    draws = np.random.default_rng(0).random((60, 2))
    result = find_minima(lambda x: float(np.sqrt(1.0 + ((x - 40.0) ** 2).sum())), starts=draws, rng=0)
    assert result.modes[0].kind == "minimum"
    np.testing.assert_allclose(result.x, 40.0, atol=1e-3)
    assert np.isinf(result.bounds).all()


def test_positions_are_accurate_to_a_share_of_the_scale():
    finder = ModeFinder(starts=SOME, xtol=1e-4, min_distance=0.3)
    box, context = finder._driver.state.frame.box, finder._driver.state.context
    np.testing.assert_allclose(context.xtol * box.scale, 1e-4 * location(SOME)[1])
    np.testing.assert_allclose(context.min_distance * box.scale, 0.3 * location(SOME)[1])


class TestCoverage:
    def test_is_a_share_of_prior_mass(self):
        coverage = find_minima(wells, starts=wide, rng=0).coverage
        assert coverage.draws == POOL
        assert "of the prior mass would lead to another" in str(coverage)
        assert "shares are of its mass" in coverage.assumes
        assert "4096 were given" in coverage.assumes
        assert find_minima(wells, [(-1, 1), (-500, 500)], rng=0).coverage.draws == 0

    def test_counts_are_those_of_the_prior(self):
        """Nine draws in ten are in the basin on the right: so are nine in ten of the searches."""

        def lopsided(rng, n):
            return np.where(rng.random((n, 1)) < 0.9, 1.0, -1.0) * (1.0 + 0.2 * rng.standard_normal((n, 1)))

        result = find_minima(lambda x: float((x[0] ** 2 - 1.0) ** 2), starts=lopsided, rng=0, options={"patience": 200})
        right = next(mode for mode in result.modes if mode.x[0] > 0.0)
        counts = result.coverage.counts[result.modes.index(right)], result.coverage.searches
        assert counts[1] >= 200
        assert counts[0] / counts[1] == pytest.approx(0.9, abs=0.05)

    def test_what_ended_in_no_mode_is_said(self):
        coverage = Coverage((40, 40, 40), 120, lost=2, draws=50)
        assert "of the prior mass (2 of 122 local searches ended in no mode) would lead to another" in str(coverage)


def test_an_array_that_is_used_up_is_said():
    assert "all 60 draws of starts were used, and" in find_minima(wells, starts=SOME, rng=0).message
    assert "draws of starts were used" not in find_minima(wells, starts=wide, rng=0).message


@pytest.mark.parametrize("starts", [wide, SOME], ids=["sampler", "array"])
class TestTheSameResult:
    def test_for_any_workers(self, starts):
        from concurrent.futures import ThreadPoolExecutor

        alone = find_minima(wells, starts=starts, rng=3, maxfev=400)
        with ThreadPoolExecutor(3) as pool:
            together = find_minima(wells, starts=starts, rng=3, maxfev=400, workers=pool)
        assert str(together.modes) == str(alone.modes)
        assert together.nfev == alone.nfev

    def test_after_a_checkpoint(self, starts, tmp_path):
        calls = []

        def stop(intermediate_result):
            return intermediate_result.nfev > 150

        def sampler(rng, n):
            calls.append(n)
            return wide(rng, n)

        given = sampler if callable(starts) else starts
        whole = find_minima(wells, starts=given, rng=3)
        assert calls == ([POOL] if callable(starts) else [])
        path = tmp_path / "run.ckpt"
        half = find_minima(wells, starts=given, rng=3, checkpoint=path, callback=stop)
        assert half.nfev < whole.nfev
        resumed = find_minima(wells, starts=given, rng=3, checkpoint=path)
        assert resumed.nfev == whole.nfev
        np.testing.assert_array_equal([mode.x for mode in resumed.modes], [mode.x for mode in whole.modes])
        with pytest.raises(ValueError, match="starts="):
            find_minima(wells, starts=SOME[:50], rng=3, checkpoint=path)

    def test_of_a_finder_that_is_saved(self, starts, tmp_path):
        """A sampler is a function, and not saved: its draws are."""
        finder = ModeFinder(starts=starts, rng=3, maxfev=500)
        path = tmp_path / "half.npz"
        while not finder.stop():
            if path.exists() or finder.nfev < 200:
                x = finder.ask()
                finder.tell(x, [wells(point) for point in x])
                continue
            finder.save(path)
        copy = ModeFinder.load(path)
        while not copy.stop():
            x = copy.ask()
            copy.tell(x, [wells(point) for point in x])
        np.testing.assert_array_equal([mode.x for mode in copy.result.modes], [mode.x for mode in finder.result.modes])
        assert copy.nfev == finder.nfev


def test_a_generator_that_is_passed_on_draws_something_else_each_time():
    rng = np.random.default_rng(0)
    first, second = draws_of(wide, rng), draws_of(wide, rng)
    assert not np.isin(first.points, second.points).any()


def test_draws_at_which_the_function_fails_are_survived():
    def half(x):
        return np.nan if x[1] > 150.0 else wells(x)

    result = find_minima(half, starts=wide, rng=0)
    assert result.nfail > 10
    assert len(result.modes) == 4


def test_tails_may_be_heavy():
    result = find_minima(wells, starts=lambda rng, n: rng.standard_cauchy((n, 2)) * [0.02, 200.0], rng=0)
    assert len(result.modes) == 4


@pytest.mark.parametrize(
    "options",
    [
        {"method": "local", "target": "global"}, {"method": "multistart"}, {"method": "anneal"}, {"noise": 1e-3},
        {"constraints": {"type": "ineq", "fun": lambda x: x[0] + 1.0}},
    ],
    ids=["global", "multistart", "anneal", "noise", "constraints"],
)  # fmt: skip
def test_every_way_of_searching_takes_them(options):
    result = find_minima(wells, starts=wide, rng=0, maxfev=1500, **options)
    assert len(result.modes) >= 3


def test_populations_begin_at_them():
    assert find_minima(wells, starts=wide, rng=0, maxfev=500, method="black-box").fun < 0.1
    far = find_minima(wells, x0=np.zeros(2), rng=0, maxfev=500, method="black-box")  # starts that know no scale
    assert far.fun > 0.1


class TestWithBounds:
    def test_bounds_hold_and_draws_outside_are_left_out(self):
        seen = []

        def watched(x):
            seen.append(x.copy())
            return wells(x)

        result = find_minima(watched, [(0.0, 1.0), (None, 1000.0)], starts=SOME, rng=0, maxfev=400)
        assert (np.array(seen)[:, 0] >= 0.0).all()
        assert result.coverage.draws == (SOME[:, 0] >= 0.0).sum() < 60
        assert len(result.modes) == 2

    def test_a_coordinate_may_be_fixed(self):
        result = find_minima(wells, [(0.01, 0.01), (None, None)], starts=SOME, rng=0, maxfev=400)
        assert sorted(np.rint(mode.x[1]) for mode in result.modes) == [-100.0, 100.0]

    def test_on_a_logarithmic_scale_quantiles_are_those_of_logarithms(self):
        draws = np.exp(np.random.default_rng(0).standard_normal((100, 1)))
        finder = ModeFinder([(1e-9, None)], starts=draws, scale="log")
        end = finder._driver.state.frame.box.start_upper[0]
        assert end == pytest.approx(3.0 / np.log(10.0), rel=0.2)


def test_a_curve_is_fitted_from_a_prior():
    t = np.linspace(0.0, 3.0, 20)
    data = np.exp(-0.5 * t) + np.exp(-2.0 * t)
    draws = np.exp(0.7 * np.random.default_rng(0).standard_normal((200, 2)))
    result = allmodes.curve_fit(lambda t, a, b: np.exp(-a * t) + np.exp(-b * t), t, data, starts=draws, rng=0)
    assert sorted(mode.x.round(3).tolist() for mode in result.modes) == [[0.5, 2.0], [2.0, 0.5]]


def constant(rng, n):
    return np.stack([rng.random(n), np.full(n, 2.5)], axis=1)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"starts": SOME[:3]}, r"starts has 3 draws of 2 free coordinates; wanted at least 4"),
        ({"starts": constant}, r"no spread in coordinate 1: from 16 to 84 % of its draws are 2.5"),
        ({"starts": np.where(np.arange(60)[:, None] < 5, SOME, 7.0)}, "no spread in coordinate 0"),
        ({"starts": 1e9 + 1e-6 * SOME[:, :1]}, "no spread"),
        ({"starts": lambda rng, n: rng.random(n)}, r"returned shape \(4096,\); wanted \(4096, d\)"),
        ({"starts": lambda rng, n: rng.random((n - 1, 2))}, r"returned shape \(4095, 2\); wanted \(4096, d\)"),
        ({"starts": lambda rng, n: np.log(rng.integers(2, size=(n, 1)))}, "draws that are not finite"),
        ({"starts": lambda rng, n: {"mu": rng.random(n)}}, "returned a dict that is no array of numbers"),
        ({"starts": SOME[0]}, r"starts has shape \(2,\); wanted draws \(n, d\)"),
        ({"starts": np.where(SOME > 0.0, SOME, np.nan)}, "starts contains nan"),
        ({"starts": SOME, "spread": 2.0}, "spread is given beside starts"),
        ({"starts": SOME, "bounds": [(0, 1)] * 3}, "starts has 2 coordinates, and bounds has 3"),
        ({"starts": SOME, "bounds": [(5, 6), (0, 1)]}, "60 draws, 0 of them inside the bounds"),
        ({"starts": SOME, "bounds": [(0, 1), [1, 2, 3]]}, "with whole numbers or choices leave starts out"),
        ({"starts": SOME, "x0": [1.0, 2.0, 3.0]}, r"x0 has shape \(3,\)"),
    ],
)  # fmt: skip
@pytest.mark.filterwarnings("ignore:divide by zero")
def test_what_cannot_be_used_is_refused(options, said):
    with pytest.raises(ValueError, match=said):
        find_minima(wells, **options)


def test_a_sampler_has_two_arguments():
    with pytest.raises(TypeError, match=r"wanted a function \(rng, n\) -> \(n, d\)"):
        find_minima(wells, starts=lambda n: SOME)


def test_one_does_not_look_for_roots_in_a_prior():
    with pytest.raises(TypeError, match="roots are sought within bounds"):
        allmodes.find_roots(lambda x: x, starts=SOME)


def test_they_are_named_when_they_are_misnamed():
    with pytest.raises(TypeError, match="did you mean 'starts'"):
        find_maxima(wells, prior=wide)


def test_a_result_says_what_it_was_made_of():
    from allmodes.report.page.rerun import remarks, snippet

    few = find_minima(wells, starts=SOME[:5], rng=0, maxfev=30)
    assert f"starts={SOME[:5].tolist()!r}" in snippet(few)
    many = find_minima(wells, starts=wide, rng=0, maxfev=30)
    assert "starts was a sampler, wide: pass the same." in remarks(many)
