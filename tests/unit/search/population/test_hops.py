import numpy as np

from allmodes.objective.bounds import Box
from allmodes.search.searchers.population.hops import Hops
from allmodes.search.searchers.population.tuning import TUNING
from allmodes.storage import pack, unpack


def two_funnels():
    hops = Hops(Box.make([(0, 1), (0, 1)]))
    hops.add(np.array([0.2, 0.2]), -1.0)
    hops.add(np.array([0.8, 0.8]), -5.0)
    return hops


def values(hops):
    return [funnel.value for funnel in hops.funnels]


def test_only_the_best_of_close_optima_is_kept():
    hops = two_funnels()
    hops.add(np.array([0.2, 0.2 + TUNING.widest / 2]), -0.5)
    hops.add(np.array([0.2, 0.2]), -2.0)
    assert values(hops) == [-0.5, -5.0]


def test_the_worst_funnel_goes_when_there_are_too_many():
    hops = Hops(Box.make([(0, 1), (0, 1)]))
    for i, (x, y) in enumerate(np.ndindex(12, 12)):
        hops.add(np.array([x, y]) / 11.0, float(-i))
    assert values(hops) == [float(-i) for i in range(100)]


def test_a_funnel_that_fails_gives_way_to_others():
    hops, rng = two_funnels(), np.random.default_rng(0)
    targets = [hops.take(rng, 0.0).target for _ in range(60)]
    assert targets[0] == -1.0
    assert set(targets) == {-1.0, -5.0}


def test_thousands_of_failures_do_not_overflow():
    hops = two_funnels()
    hops.funnels[0].failures = 10**6
    assert hops.take(np.random.default_rng(0), 0.0).target == -5.0


def test_a_funnel_as_good_as_the_best_is_hopped_from():
    hops = two_funnels()
    assert hops.take(np.random.default_rng(0), -1.0).target == -1.0


def test_a_better_end_is_hopped_from_and_a_worse_one_makes_shorter_steps():
    hops, rng = two_funnels(), np.random.default_rng(0)
    step = hops.funnels[0].step
    hops.land(hops.take(rng, 0.0).hop, np.array([0.21, 0.2]), -3.0)
    assert values(hops) == [-1.0, -5.0]
    assert hops.funnels[0].failures == 1
    assert hops.funnels[0].step < step
    hops.land(hops.take(rng, 0.0).hop, np.array([0.19, 0.2]), -0.5)
    assert values(hops) == [-0.5, -5.0]
    assert hops.funnels[0].failures == 0
    assert hops.take(rng, 0.0).target == -0.5


def test_a_hop_that_comes_back_makes_longer_steps():
    hops = two_funnels()
    step = hops.funnels[0].step
    for _ in range(10):
        hops.land(0, hops.funnels[0].point.copy(), -1.0)
    assert step < hops.funnels[0].step == TUNING.widest


def test_funnels_around_a_mode_are_forgotten():
    hops = two_funnels()
    start = hops.take(np.random.default_rng(0), 0.0)
    hops.exclude(np.array([0.2, 0.21]))
    assert values(hops) == [-5.0]
    hops.land(start.hop, np.array([0.2, 0.2]), 0.0)  # a hop from there ends in silence
    assert values(hops) == [-5.0]
    assert hops.funnels[0].failures == 0


def test_hops_climb_to_the_best_ripple():
    """Every hop ends in the nearest of the ripples on a grid, which are the better the closer to (0.6, 0.6)."""
    hops, rng = Hops(Box.make([(0, 1), (0, 1)])), np.random.default_rng(0)
    hops.add(np.array([0.1, 0.2]), -1.0)
    for _ in range(100):
        start = hops.take(rng, 0.0)
        end = np.round(start.point, 1)
        hops.land(start.hop, end, -float(np.abs(end - 0.6).sum()))
    np.testing.assert_allclose(hops.funnels[0].point, [0.6, 0.6])


def test_hops_are_stored():
    hops = two_funnels()
    hops.land(hops.take(np.random.default_rng(0), 0.0).hop, np.array([0.21, 0.2]), -3.0)
    starts = [one.take(np.random.default_rng(1), 0.0) for one in (hops, unpack(*pack(hops)))]
    np.testing.assert_array_equal(starts[0].point, starts[1].point)


def test_the_first_hop_from_where_a_search_got_stuck_begins_there():
    hops, rng = Hops(Box.make([(0, 1), (0, 1)])), np.random.default_rng(0)
    hops.add(np.array([0.2, 0.2]), -1.0, step=0.0)
    first, second = hops.take(rng, 0.0), hops.take(rng, 0.0)
    np.testing.assert_array_equal(first.point, [0.2, 0.2])
    assert not np.array_equal(second.point, first.point)
    assert first.spread == second.spread > 0
