"""Automatic annealing: where it evaluates, what it hands over, what it survives."""

from __future__ import annotations

import numpy as np
import pytest

from allmodes import problems, storage
from allmodes.nva import presets
from allmodes.nva.annealing.proposals import Sample
from allmodes.nva.mixture.covariances import Diagonal, Fixed, Full, Isotropic
from allmodes.nva.mixture.families import Beta, Gamma, Gaussian, VonMises
from allmodes.nva.mixture.families.gaussian import GaussianDirection
from allmodes.objective import GRADIENT, HESSIAN, VALUE, Evaluation
from allmodes.objective.bounds import Box
from allmodes.strategy.annealed import Annealed
from allmodes.strategy.archive import Archive, Found
from allmodes.strategy.search import Search
from allmodes.strategy.temperature import Bounded, Spread, choose, end_temperature, relief, temperature

HIMMELBLAU = np.array([[3.0, 2.0], [-2.805118, 3.131313], [-3.77931, -3.283186], [3.584428, -1.848127]])


def himmelblau(x):
    """Value, gradient and Hessian of minus Himmelblau's function."""
    a, b = x[:, 0] ** 2 + x[:, 1] - 11, x[:, 0] + x[:, 1] ** 2 - 7
    gradient = -np.stack([4 * x[:, 0] * a + 2 * b, 2 * a + 4 * x[:, 1] * b], axis=1)
    hessian = np.empty((len(x), 2, 2))
    hessian[:, 0, 0], hessian[:, 1, 1] = (
        -(12 * x[:, 0] ** 2 + 4 * x[:, 1] - 42),
        -(12 * x[:, 1] ** 2 + 4 * x[:, 0] - 26),
    )
    hessian[:, 0, 1] = hessian[:, 1, 0] = -4 * (x[:, 0] + x[:, 1])
    return -(a**2) - b**2, gradient, hessian


def make(order=2, maxfev=5000, bounds=((-5, 5), (-5, 5)), seed=0, is_global=False, periodic=None, **options):
    box = Box.make(bounds, periodic=periodic)
    search = Search(box, Archive(box), np.random.default_rng(seed), order=order, maxfev=maxfev, is_global=is_global)
    return Annealed(search, **options)


def play(strategy, fun=himmelblau, rounds=1000, settle=None):
    """Ask and tell until the strategy ends; every point asked for and the candidates, in the user's coordinates."""
    search, box = strategy.search, strategy.search.box
    points, candidates = [], []
    for _ in range(rounds):
        request = strategy.ask()
        if not len(request.points):
            break
        assert box.inside(request.points).all()
        points.append(request.points)
        value, gradient, hessian = fun(box.to_user(request.points))
        search.nfev += len(value)
        strategy.tell(
            Evaluation(
                value,
                gradient * box.scale if "gradient" in request.needs else None,
                hessian * (box.scale[:, None] * box.scale) if "hessian" in request.needs else None,
            )
        )
        handed, strategy.candidates = strategy.candidates, []
        candidates += handed
        for candidate in handed:
            if settle is not None:
                settle(search, candidate)
    ends = box.to_user(np.array(candidates)) if candidates else np.zeros((0, box.D))
    return np.concatenate(points), ends


def settle_on(modes):
    """A polish that knows the answer: the nearest mode is archived."""

    def settle(search, candidate):
        units = search.box.to_unit(modes)
        mode = units[np.argmin(((units - candidate) ** 2).sum(axis=1))]
        archive = search.archive
        if not len(archive) or archive.nearest(mode[None])[1][0] > 1e-6:
            found = Found(
                np.zeros(len(mode)), -np.eye(len(mode)), np.zeros(len(mode), bool), "optimum", "derivatives", 0
            )
            archive.add(mode, 0.0, found)

    return settle


@pytest.mark.parametrize("order", [0, 1, 2])
def test_components_end_near_every_mode(order):
    strategy = make(order)
    _, ends = play(strategy, settle=settle_on(HIMMELBLAU))
    apart = np.abs(HIMMELBLAU[:, None] - ends[None]).max(axis=-1)
    assert (apart.min(axis=1) < 0.3).all()
    assert "no new mode" in strategy.ending
    assert f"{strategy.runs} times" in strategy.account


@pytest.mark.parametrize("order", [0, 1, 2])
def test_needs_are_those_of_the_order(order):
    strategy = make(order)
    request = strategy.ask()
    assert request.needs == VALUE
    strategy.tell(Evaluation(himmelblau(strategy.search.box.to_user(request.points))[0]))
    assert strategy.ask().needs == (VALUE, GRADIENT, GRADIENT | HESSIAN)[order]


@pytest.mark.parametrize(
    "algorithm",
    [
        presets.nva_gm(order=2, covariance=Diagonal()),
        presets.nva_gm(order=1, covariance=Isotropic()),
        presets.nva_gm(order=1, covariance=Fixed(Full())),
        presets.nva_gm(order=0, num_samples=8),
        presets.nva_gm(order=2, damping=1e-6, burn_in=3),
        presets.fs_nva_gm(),
        presets.nva_gm_is(order=2),
        presets.nva_m(Beta(), num_samples=12),
        presets.nva_m(Gamma(), num_samples=12),
        presets.snga_m(Gaussian(), num_samples=8),
    ],
    ids=lambda algorithm: f"{algorithm.name} {type(algorithm.family).__name__}",
)
def test_any_assembly_may_be_annealed(algorithm):
    strategy = make(algorithm=algorithm, maxfev=4000)
    _, ends = play(strategy, settle=settle_on(HIMMELBLAU))
    assert strategy.runs >= 1
    assert np.isfinite(ends).all()
    better = himmelblau(ends)[0] > np.median(strategy.search.levels)
    assert better.mean() > 0.5


def test_an_assembly_that_does_not_fit_is_refused():
    with pytest.raises(ValueError, match="do not live in a box"):
        make(algorithm=presets.nva_m(VonMises()))
    with pytest.raises(ValueError, match="needs jac and hess"):
        make(order=0, algorithm=presets.nva_gm(order=2))
    with pytest.raises(TypeError, match="Algorithm was wanted"):
        make(algorithm="nva")
    with pytest.raises(ValueError, match="num_components is 0"):
        make(num_components=0)


@pytest.mark.parametrize("order", [0, 2])
def test_a_mode_in_a_corner_is_approached_from_inside(order):
    def linear(x):
        return x.sum(axis=1), np.ones_like(x), np.zeros((*x.shape, x.shape[1]))

    strategy = make(order, bounds=((0, 1), (0, 2)), maxfev=800 if order else 3000)
    points, ends = play(strategy, linear, settle=settle_on(np.array([[1.0, 2.0]])))
    assert (points >= 0).all()
    assert (points <= 1).all()
    assert np.abs(ends - [1.0, 2.0]).max(axis=1).min() < 0.2


def test_periodic_coordinates_are_wrapped():
    def wave(x):
        u = 2 * np.pi * x
        hessian = -((2 * np.pi) ** 2 * np.cos(u))[:, :, None] * np.eye(2)
        return np.cos(u).sum(axis=1), -2 * np.pi * np.sin(u), hessian

    strategy = make(bounds=((0, 1), (0, 1)), periodic=True, maxfev=400)
    _, ends = play(strategy, wave)
    away = np.abs(ends - np.rint(ends)).max(axis=1)
    assert np.median(away) < 0.05


@pytest.mark.parametrize("order", [0, 1, 2])
def test_failures_rank_worst_and_spoil_nothing(order):
    def failing(x):
        value, gradient, hessian = himmelblau(x)
        is_bad = x[:, 0] < 0
        value = np.where(is_bad, -np.inf, value)
        return value, np.where(is_bad[:, None], np.nan, gradient), np.where(is_bad[:, None, None], np.nan, hessian)

    strategy = make(order, maxfev=3000)
    _, ends = play(strategy, failing, rounds=60, settle=settle_on(HIMMELBLAU[[0, 3]]))
    assert np.isfinite(ends).all()
    apart = np.abs(HIMMELBLAU[[0, 3], None] - ends[None]).max(axis=-1)
    assert (apart.min(axis=1) < 0.3).all()


def test_a_function_that_always_fails_ends_the_search():
    def broken(x):
        return np.full(len(x), -np.inf), np.full(x.shape, np.nan), np.full((*x.shape, x.shape[1]), np.nan)

    strategy = make()
    _, ends = play(strategy, broken)
    assert not len(ends)
    assert "failed at all of" in strategy.ending


@pytest.mark.parametrize("factor", [0.0, 1e-300, 1e300, 1e-5, 1e8])
def test_scales_of_the_function_do_not_matter(factor):
    def scaled(x):
        return tuple(1e-4 * factor * part for part in himmelblau(x))

    strategy = make(maxfev=500)
    _, ends = play(strategy, scaled)
    assert strategy.runs > 0
    assert np.isfinite(ends).all()
    if factor:
        assert np.abs(HIMMELBLAU[:, None] - ends[None]).max(axis=-1).min() < 0.1


def test_a_component_that_is_not_finite_is_drawn_anew():
    strategy = make()
    play(strategy, rounds=3)
    mixture = strategy.mixture
    mu = mixture.components.mu.copy()
    mu[1] = np.nan
    mended = strategy._mended(mixture._replace(components=mixture.components._replace(mu=mu)))
    assert np.isfinite(mended.components.mu).all()
    np.testing.assert_array_equal(mended.components.mu[[0, 2, 3]], mixture.components.mu[[0, 2, 3]])
    assert not np.allclose(mended.components.factors.A[1], mixture.components.factors.A[1])


def test_more_components_after_a_run_that_found_much():
    tang = problems.styblinski_tang(4)

    def fun(x):
        return tang.objective.evaluate(x, GRADIENT | HESSIAN)

    strategy = make(bounds=tang.bounds, maxfev=4000)
    first = strategy.K
    play(strategy, fun, settle=settle_on(tang.modes))
    assert 2 * first <= strategy.K
    assert len(strategy.search.archive) == 16


def test_runs_fit_the_budget():
    strategy = make(maxfev=150)
    play(strategy)
    assert strategy.search.nfev <= 150
    assert strategy.runs >= 1
    assert "too little" in strategy.ending


def test_a_rugged_landscape_is_annealed_by_values():
    funnels = problems.rastrigin_funnels(4)

    def fun(x):
        return funnels.objective.evaluate(x, GRADIENT | HESSIAN)

    def settle(search, candidate):  # there is a mode near every whole-numbered point
        mode = np.rint(search.box.to_user(candidate[None]))
        unit = search.box.to_unit(mode)
        if not len(search.archive) or search.archive.nearest(unit)[1][0] > 1e-6:
            found = Found(np.zeros(4), -1e3 * np.eye(4), np.zeros(4, bool), "optimum", "derivatives", 0)
            search.archive.add(unit[0], float(np.round(fun(mode).value[0], 2)), found)

    strategy = make(bounds=funnels.bounds, maxfev=12_000, is_global=True)
    play(strategy, fun, settle=settle)
    assert strategy.is_rugged
    assert strategy.running.needs == VALUE
    assert "rugged" in strategy.account
    assert (strategy.search.archive.values == strategy.search.archive.best).sum() == 3


@pytest.mark.parametrize("rounds", [0, 1, 7, 30])
def test_a_saved_search_goes_on_as_if_nothing_had_happened(tmp_path, rounds):
    strategy = make(algorithm=presets.fs_nva_gm(num_samples=8) if rounds == 7 else None, maxfev=2000)
    if rounds:
        play(strategy, rounds=rounds)
    request = strategy.ask()
    storage.save(tmp_path / "state.npz", strategy, kind="test")
    again = storage.load(tmp_path / "state.npz", kind="test")
    np.testing.assert_array_equal(again.ask().points, request.points)
    points, ends = play(strategy, rounds=50)
    points_again, ends_again = play(again, rounds=50)
    np.testing.assert_array_equal(points, points_again)
    np.testing.assert_array_equal(ends, ends_again)


def test_the_same_seed_is_the_same_search():
    first, second = (play(make(seed=4), rounds=40)[0] for _ in range(2))
    np.testing.assert_array_equal(first, second)


def test_points_of_others_may_be_starts():
    strategy = make(num_components=1)
    strategy.search.add_levels(np.array([0.0, 1.0, 2.0]))
    strategy.add_points(np.array([[0.3, 0.4], [0.8, 0.7]]), np.array([-5.0, 3.0]))
    strategy.ask()
    np.testing.assert_array_equal(strategy.mixture.components.mu, [[0.8, 0.7]])


# ---- the pieces


def test_relief_has_the_derivatives_it_claims():
    box = Box.make([(0, 1), (0, 1)])
    spread = Spread(-3.0, 7.0)
    rng = np.random.default_rng(0)
    drawn = rng.uniform(-0.4, 1.4, (40, 2))

    def at(points):
        inside = box.project(points)
        value, gradient, hessian = himmelblau(10 * inside - 5)
        return relief(box, points, Evaluation(value, 10 * gradient, 100 * hessian), spread, 0.0)

    step = 1e-6
    here = at(drawn)
    for i in range(2):
        there, back = at(drawn + step * np.eye(2)[i]), at(drawn - step * np.eye(2)[i])
        np.testing.assert_allclose((there.value - back.value) / (2 * step), here.gradient[:, i], rtol=1e-4, atol=1e-4)
        slopes = (there.gradient - back.gradient) / (2 * step)
        np.testing.assert_allclose(slopes, here.hessian[:, i], rtol=1e-4, atol=1e-4)


def test_relief_ranks_failures_below_everything_seen():
    box = Box.make([(0, 1)])
    evaluation = Evaluation(np.array([2.0, -np.inf, np.nan]), np.array([[1.0], [np.nan], [np.inf]]))
    result = relief(box, np.array([[0.1], [0.2], [0.3]]), evaluation, Spread(0.0, 1.0), -4.0)
    np.testing.assert_array_equal(result.value, [2.0, -5.0, -5.0])
    assert np.isfinite(result.gradient).all()


@pytest.mark.parametrize("covariance", [Full(), Diagonal(), Isotropic(), Fixed(Full())])
@pytest.mark.parametrize("size", [1e-6, 1.0, 1e9])
def test_bounded_steps_are_bounded_and_otherwise_untouched(covariance, size):
    rng = np.random.default_rng(1)
    family = Gaussian(covariance)
    estimator = choose(None, 0, 3).algorithm.estimator
    components = family.start(rng.random((2, 3)), 0.1)
    sample = Sample(np.full((2, 8), 1 / 8), rng.standard_normal((2, 8, 3)))
    f = Evaluation(size * rng.standard_normal((2, 8)))
    plain = estimator.direction(family, components, sample, f)
    bounded = Bounded(estimator, 2.0).direction(family, components, sample, f)
    assert isinstance(bounded, GaussianDirection)
    assert (2.0 * np.linalg.norm(bounded.g, axis=1) <= np.sqrt(0.8) + 1e-12).all()
    if bounded.G is not None:
        matrices = bounded.G if bounded.G.ndim == 3 else bounded.G[:, None, :]
        assert (2.0 * np.linalg.norm(matrices, 2, axis=(1, 2)) <= 0.4 * np.sqrt(3) + 1e-12).all()
    if size < 1e-3:
        np.testing.assert_array_equal(bounded.g, plain.g)
    ratio = bounded.g / plain.g
    np.testing.assert_allclose(ratio, np.broadcast_to(ratio[:, :1], ratio.shape))


def test_the_end_temperature_follows_the_curvature():
    box = Box.make([(0, 1), (0, 1)])
    archive = Archive(box)
    assert end_temperature(archive, Spread(0.0, 1.0)) == 1e-3
    found = Found(np.zeros(2), -np.diag([5.0, 80.0]), np.zeros(2, bool), "optimum", "derivatives", 0)
    archive.add(np.full(2, 0.5), 0.0, found)
    assert end_temperature(archive, Spread(0.0, 1.0)) == pytest.approx(0.02**2 * 5.0)
    assert end_temperature(archive, Spread(0.0, 1e6)) == 1e-4
    assert end_temperature(archive, Spread(0.0, 1e-6)) == 1e-2


def test_the_temperature_falls_from_one_to_its_end():
    values = [temperature(t, 5, 1e-2) for t in range(5)]
    assert values[0] == 1.0
    assert values[-1] == pytest.approx(1e-2)
    np.testing.assert_allclose(np.diff(np.log(values)), np.log(1e-2) / 4)
    assert temperature(0, 1, 1e-2) == 1.0


def test_the_spread_of_a_function_is_never_zero():
    box = Box.make([(0, 1)])
    search = Search(box, Archive(box), np.random.default_rng(0))
    assert Spread.of(search) == (0.0, 1.0)
    search.add_levels(np.array([3.0, 3.0, 3.0, 3.0, 3.0]))
    assert Spread.of(search) == (3.0, 1.0)
    search.add_levels(np.array([4.5]))
    assert Spread.of(search) == (3.0, 1.5)
