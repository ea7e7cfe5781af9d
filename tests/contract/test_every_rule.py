"""Every update rule: the first order of a natural-gradient step, and what happens at the edge of the domain."""

import members
import numpy as np
import pytest

every_rule = pytest.mark.parametrize("rule", members.rules(), ids=members.name_of)
every_structure = pytest.mark.parametrize("structure", members.covariances(), ids=members.name_of)


def symmetric(rng, K, d):
    X = rng.standard_normal((K, d, d))
    return 0.5 * (X + X.mT)


@every_structure
@every_rule
def test_the_change_of_precision_starts_like_the_natural_gradient(rule, structure):
    X = structure.project(symmetric(np.random.default_rng(1), 3, 4))
    identity = structure.identity(np.ones(3), 4)

    def excess(size):
        return np.abs(rule.precision_change(structure, size * X, 4) - (identity - size * X)).max()

    assert excess(0.0) == 0.0
    assert excess(1e-4) <= 1e-6  # of second order


@every_rule
def test_the_change_of_positive_parameters_starts_like_the_natural_gradient(rule):
    rng = np.random.default_rng(2)
    parameters, change = rng.uniform(0.5, 2.0, 20), rng.standard_normal(20)

    def excess(size):
        return np.abs(rule.retract(parameters, size * change) - (parameters + size * change)).max()

    assert excess(0.0) <= 1e-15
    assert excess(1e-4) <= 1e-6


@every_rule
def test_a_long_step_gives_positive_parameters_or_nan(rule):
    parameters, change = np.ones(7), np.array([-1e6, -10.0, -1.0, -0.5, 0.0, 10.0, 1e6])
    new = rule.retract(parameters, change)
    assert (np.isnan(new) | (new > 0)).all()
    assert (new[3:] > 0).all()


@every_rule
def test_members_are_comparable(rule):
    assert rule == type(rule)()
    assert hash(rule) == hash(type(rule)())
