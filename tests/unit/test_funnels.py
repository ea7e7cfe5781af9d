import numpy as np

from allmodes.objective.bounds import Box
from allmodes.strategy.funnels import APART, Funnels


def two_funnels():
    funnels = Funnels(Box.make([(0, 1), (0, 1)]))
    funnels.add(np.array([0.2, 0.2]), -1.0)
    funnels.add(np.array([0.8, 0.8]), -5.0)
    return funnels


def test_only_the_best_of_close_optima_is_kept():
    funnels = two_funnels()
    funnels.add(np.array([0.2, 0.2 + APART / 2]), -0.5)
    funnels.add(np.array([0.2, 0.2]), -2.0)
    assert funnels.values.tolist() == [-0.5, -5.0]


def test_a_funnel_that_fails_gives_way_to_others():
    funnels, rng = two_funnels(), np.random.default_rng(0)
    tickets = [funnels.hop(rng, 0.0)[3] // 2 for _ in range(60)]
    assert tickets[0] == 0
    assert set(tickets) == {0, 1}


def test_thousands_of_failures_do_not_overflow():
    """Where both overflowed, the first would be taken for the better one."""
    funnels = two_funnels()
    funnels.failures += [1e5 + 100, 1e5]
    point, spread, target, ticket = funnels.hop(np.random.default_rng(0), 0.0)
    assert (target, ticket // 2) == (-5.0, 1)
    assert ((point >= 0.0) & (point <= 1.0)).all()
    assert 0.0 < spread < 1.0


def test_a_worse_end_hints_at_the_other_side_and_a_better_one_at_the_same():
    funnels, rng = two_funnels(), np.random.default_rng(0)
    ticket = funnels.hop(rng, 0.0)[3]
    funnels.land(ticket, np.array([0.21, 0.2]), -3.0, 0.0)
    np.testing.assert_allclose(funnels.hints[0], [-0.01, 0.0], atol=1e-12)
    point, _, target, ticket = funnels.hop(rng, 0.0)
    np.testing.assert_allclose(point, [0.19, 0.2], atol=1e-12)
    assert target == -1.0
    funnels.land(ticket, point, -0.5, 0.0)
    np.testing.assert_allclose(funnels.hints[0], [-0.01, 0.0], atol=1e-12)
    assert funnels.values[0] == -0.5
    assert funnels.failures[0] == 0


def test_a_hop_that_comes_back_makes_longer_steps():
    funnels = two_funnels()
    step = funnels.steps[0]
    funnels.land(0, funnels.points[0].copy(), -1.0, 0.0)
    assert funnels.steps[0] > step


def test_funnels_around_a_mode_are_forgotten():
    funnels = two_funnels()
    funnels.exclude(np.array([0.2, 0.21]))
    assert funnels.values.tolist() == [-5.0]
    funnels.land(0, np.array([0.2, 0.2]), 0.0, 0.0)  # a hop from there ends in silence
    assert funnels.values.tolist() == [-5.0]
