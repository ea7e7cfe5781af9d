"""Rounds: none where the first components are good enough, more where fitting helps."""

import numpy as np
from weighed_targets import bananas, found, two_gaussians

from allmodes.masses.sampling import is_good, is_known, sample
from allmodes.masses.start import start
from allmodes.masses.target import Target
from allmodes.masses.weights import Weighed


def sampled(fun, draws, rounds, half_width=3.0, budget=800):
    result = found(fun, half_width, budget=budget)
    with Target(result, fun, (), True, None, 1, "raise") as target:
        weighed, done = sample(target, start(result, target), draws, rounds, np.random.default_rng(0))
        return weighed, done, target.nfev - len(result.modes)


def test_good_components_are_left_alone_and_the_pilot_round_counts():
    weighed, rounds, nfev = sampled(two_gaussians, 1000, 4)
    assert rounds == 0
    assert 980 <= nfev <= 1000
    assert nfev == len(weighed.z)
    assert weighed.num_drawn.sum() == 1000
    assert is_good(weighed).all()


def test_bent_ones_are_fitted():
    plain, none, _ = sampled(bananas, 2000, 0, 6.0, 1500)
    fitted, rounds, nfev = sampled(bananas, 2000, 4, 6.0, 1500)
    assert (none, rounds > 0) == (0, True)
    assert nfev > len(fitted.z)
    assert fitted.num_drawn.sum() == 2000
    assert fitted.ess.sum() > 1.5 * plain.ess.sum()
    assert is_known(fitted).all()


def test_modes_that_hardly_matter_cost_no_rounds():
    """A banana of 1e-4 beside two Gaussians: what it weighs is not worth fitting components to."""

    def three(x):
        far = np.asarray(x) - [0.0, 3.5]
        return np.logaddexp(two_gaussians(x), np.log(1e-4) + bananas(far / 0.4) - 2.0 * np.log(0.4))

    weighed, rounds, nfev = sampled(three, 800, 4, 6.0, 1500)
    assert weighed.num_modes > 2
    assert rounds == 0
    assert nfev <= 800


def test_of_many_modes_each_has_draws_to_judge_by():
    def waves(x):
        return 3.0 * np.cos(x).sum(axis=-1)

    weighed, rounds, _ = sampled(waves, 1200, 2, 14.0, 1500)
    assert weighed.num_modes >= 24
    assert rounds == 0
    assert np.isfinite(weighed.pareto_k).all()


def test_the_weights_are_those_of_their_own_proposal():
    """The raw sum is the evidence, 1, whatever came before."""
    fitted, _, _ = sampled(bananas, 2000, 4, 6.0, 1500)
    assert abs(np.logaddexp.reduce(fitted.log_weights)) < 0.08


def test_nearly_constant_weights_are_known_whatever_their_tail():
    rng = np.random.default_rng(0)
    logs = 1e-3 * rng.standard_normal(1000)
    logs[:20] += 0.2 * rng.pareto(1.0, 20).clip(0.0, 1.0)
    weighed = Weighed(np.zeros((1000, 1)), logs, logs, np.zeros(1000, int), np.zeros(1000, int), np.array([1000]))
    assert weighed.ess[0] > 900.0
    assert is_known(weighed)[0]
    heavy = -0.95 * np.log(rng.random(1000))
    weighed = Weighed(np.zeros((1000, 1)), heavy, heavy, np.zeros(1000, int), np.zeros(1000, int), np.array([1000]))
    assert not is_known(weighed)[0]
