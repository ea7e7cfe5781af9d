"""Annealing runs: where they evaluate, what they hand over, what they survive, when they end."""

import numpy as np
import pytest
from playing import HIMMELBLAU, ends_of, himmelblau, make, play, settle_on

from allmodes import problems, storage
from allmodes.nva import presets
from allmodes.nva.mixture.covariances import Diagonal, Fixed, Full, Isotropic
from allmodes.nva.mixture.families import Beta, Gamma, Gaussian
from allmodes.objective import GRADIENT, HESSIAN, VALUE, Evaluation
from allmodes.search.candidate import ANNEALING, POLISH
from allmodes.search.events import Arrived, Continue
from allmodes.search.searchers.annealing.tuning import TUNING
from allmodes.search.starts.tuning import TUNING as STARTS


@pytest.mark.parametrize("repels", [False, True])
@pytest.mark.parametrize("order", [0, 1, 2])
def test_components_end_near_every_mode(order, repels):
    annealing = make(order, repels=repels)
    _, events = play(annealing, settle=settle_on(HIMMELBLAU, -1e4 * np.eye(2)))
    apart = np.abs(HIMMELBLAU[:, None] - ends_of(annealing, events)[None]).max(axis=-1)
    assert (apart.min(axis=1) < 0.3).all()
    assert "no new mode" in annealing.ending
    assert f"{annealing.runs} times" in annealing.account


def test_ends_are_handed_over_to_be_polished():
    annealing = make()
    _, events = play(annealing, rounds=25)
    assert events
    assert all(isinstance(event, Continue) for event in events)
    assert {(event.origin.member, event.origin.start) for event in events} == {(ANNEALING, POLISH)}
    assert {event.radius for event in events} == {STARTS.given_radius}


def test_unpolished_ends_are_candidates_with_the_curvature_of_their_components():
    annealing = make(is_polished=False, maxfev=200)
    _, events = play(annealing)
    assert events
    assert all(isinstance(event, Arrived) for event in events)
    for event in events:
        candidate = event.candidate
        value, _, hessian = himmelblau(annealing.context.box.to_user(candidate.point[None]))
        assert candidate.value == value[0]
        assert candidate.source == "component"
        assert (np.linalg.eigvalsh(candidate.hessian) < 0.0).all()
        if value[0] > -0.2:  # it is at a mode, and nearly as narrow as it would be in the end
            ratio = np.linalg.eigvals(np.linalg.solve(100 * hessian[0], candidate.hessian))
            assert ((ratio > 0.1) & (ratio < 1.5)).all()


def test_no_run_begins_before_the_ends_of_the_last_are_judged():
    annealing = make()
    play(annealing, rounds=1 + TUNING.steps)
    assert annealing.runs == 1
    assert not len(annealing.ask(is_settled=False).points)
    assert len(annealing.ask(is_settled=True).points)
    assert len(annealing.ask(is_settled=False).points)  # once begun it goes on


@pytest.mark.parametrize("order", [0, 1, 2])
def test_needs_are_those_of_the_order(order):
    annealing = make(order)
    request = annealing.ask(True)
    assert request.needs == VALUE
    annealing.tell(Evaluation(himmelblau(annealing.context.box.to_user(request.points))[0]))
    assert annealing.ask(True).needs == (VALUE, GRADIENT, GRADIENT | HESSIAN)[order]


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
    annealing = make(algorithm=algorithm, maxfev=4000)
    _, events = play(annealing, settle=settle_on(HIMMELBLAU, -1e4 * np.eye(2)))
    ends = ends_of(annealing, events)
    assert annealing.runs >= 1
    assert np.isfinite(ends).all()
    assert (himmelblau(ends)[0] > np.median(annealing.context.sampled)).mean() > 0.5


@pytest.mark.parametrize("order", [0, 2])
def test_a_mode_in_a_corner_is_approached_from_inside(order):
    def linear(x):
        return x.sum(axis=1), np.ones_like(x), np.zeros((*x.shape, x.shape[1]))

    annealing = make(order, bounds=((0, 1), (0, 2)), maxfev=800 if order else 3000)
    _, events = play(annealing, linear, settle=settle_on(np.array([[1.0, 2.0]])))
    assert np.abs(ends_of(annealing, events) - [1.0, 2.0]).max(axis=1).min() < 0.2


def test_periodic_coordinates_are_wrapped():
    def wave(x):
        u = 2 * np.pi * x
        return np.cos(u).sum(axis=1), -2 * np.pi * np.sin(u), -((2 * np.pi) ** 2 * np.cos(u))[:, :, None] * np.eye(2)

    annealing = make(bounds=((0, 1), (0, 1)), periodic=True, maxfev=400, seed=2)
    ends = ends_of(annealing, play(annealing, wave)[1])
    assert np.median(np.abs(ends - np.rint(ends)).max(axis=1)) < 0.05


@pytest.mark.parametrize("order", [0, 1, 2])
def test_failures_rank_worst_and_spoil_nothing(order):
    def failing(x):
        value, gradient, hessian = himmelblau(x)
        is_bad = x[:, 0] < 0
        value = np.where(is_bad, -np.inf, value)
        return value, np.where(is_bad[:, None], np.nan, gradient), np.where(is_bad[:, None, None], np.nan, hessian)

    annealing = make(order, maxfev=3000, repels=False, seed=1)
    _, events = play(annealing, failing, rounds=60, settle=settle_on(HIMMELBLAU[[0, 3]]))
    apart = np.abs(HIMMELBLAU[[0, 3], None] - ends_of(annealing, events)[None]).max(axis=-1)
    assert (apart.min(axis=1) < 0.3).all()


def test_a_function_that_always_fails_ends_the_search():
    def broken(x):
        return np.full(len(x), -np.inf), np.full(x.shape, np.nan), np.full((*x.shape, x.shape[1]), np.nan)

    annealing = make()
    _, events = play(annealing, broken)
    assert not events
    assert "failed at all of" in annealing.ending


@pytest.mark.parametrize("factor", [0.0, 1e-300, 1e300, 1e-5, 1e8])
def test_scales_of_the_function_do_not_matter(factor):
    def scaled(x):
        return tuple(1e-4 * factor * part for part in himmelblau(x))

    annealing = make(maxfev=500)
    settle = settle_on(HIMMELBLAU, -1e-4 * factor * 1e4 * np.eye(2)) if factor else None
    ends = ends_of(annealing, play(annealing, scaled, settle=settle)[1])
    assert annealing.runs > 0
    assert np.isfinite(ends).all()
    if factor:
        assert np.abs(HIMMELBLAU[:, None] - ends[None]).max(axis=-1).min() < 0.1


def test_more_components_after_a_run_that_found_much():
    tang = problems.styblinski_tang(4)
    annealing = make(bounds=tang.bounds, maxfev=4000)
    first = annealing.K
    play(annealing, lambda x: tang.objective.evaluate(x, GRADIENT | HESSIAN), settle=settle_on(tang.modes))
    assert 2 * first <= annealing.K
    assert len(annealing.context.archive) == 16


def test_runs_fit_the_budget():
    annealing = make(maxfev=150)
    play(annealing)
    assert annealing.context.nfev <= 150
    assert annealing.runs >= 1
    assert "too little" in annealing.ending


def test_values_alone_are_annealed_where_only_the_best_modes_are_wanted():
    assert make(order=2, is_global=True).running.needs == VALUE
    assert make(order=2).running.needs == GRADIENT | HESSIAN
    given = presets.nva_gm(order=2)
    assert make(order=2, is_global=True, algorithm=given).running is given


@pytest.mark.parametrize("rounds", [0, 1, 7, 30])
def test_a_saved_search_goes_on_as_if_nothing_had_happened(tmp_path, rounds):
    annealing = make(algorithm=presets.fs_nva_gm(num_samples=8) if rounds == 7 else None, maxfev=2000)
    play(annealing, rounds=rounds, settle=settle_on(HIMMELBLAU, -1e4 * np.eye(2)))
    request = annealing.ask(True)
    storage.save(tmp_path / "state.npz", annealing, kind="test")
    again = storage.load(tmp_path / "state.npz", kind="test")
    np.testing.assert_array_equal(again.ask(True).points, request.points)
    (points, events), (points_again, events_again) = play(annealing, rounds=50), play(again, rounds=50)
    np.testing.assert_array_equal(points, points_again)
    np.testing.assert_array_equal(ends_of(annealing, events), ends_of(again, events_again))


def test_known_modes_repel_where_all_are_wanted_and_ends_are_polished():
    assert make().repels
    assert not make(is_global=True).repels
    assert not make(is_polished=False).repels
