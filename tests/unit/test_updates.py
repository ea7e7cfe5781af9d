"""Update rules by hand."""

import numpy as np
import pytest

from allmodes.nva.annealing.updates import ImprovedBLR, NaturalGradient
from allmodes.nva.mixture.covariances import Diagonal, Full, Isotropic

X = np.array([[[0.3, -0.2], [-0.2, 0.9]]])


def test_the_plain_rule_subtracts_the_step():
    np.testing.assert_allclose(NaturalGradient().precision_change(Full(), X, 2), np.eye(2) - X)


def test_the_improved_rule_adds_half_the_square():
    np.testing.assert_allclose(ImprovedBLR().precision_change(Full(), X, 2), np.eye(2) - X + 0.5 * X @ X)


@pytest.mark.parametrize("structure", [Diagonal(), Isotropic()], ids=repr)
def test_both_rules_serve_other_structures(structure):
    x = structure.project(X)
    np.testing.assert_allclose(NaturalGradient().precision_change(structure, x, 2), 1.0 - x)
    np.testing.assert_allclose(ImprovedBLR().precision_change(structure, x, 2), 1.0 - x + 0.5 * x**2)


@pytest.mark.parametrize("size", [1.0, 1e2, 1e4, 1e7])
def test_the_improved_rule_is_positive_definite_for_every_step(size):
    rng = np.random.default_rng(0)
    Q = np.linalg.qr(rng.normal(size=(100, 4, 4)))[0]
    steps = Q * (size * rng.normal(size=(100, 1, 4))) @ Q.mT
    M = ImprovedBLR().precision_change(Full(), 0.5 * (steps + steps.mT), 4)
    assert np.isfinite(Full().root(M)).all()
    plain = NaturalGradient().precision_change(Full(), 0.5 * (steps + steps.mT), 4)
    assert np.isnan(Full().root(plain)).any()  # where the plain rule leaves the domain


def test_one_very_long_direction_among_ordinary_ones_keeps_its_root():
    """Steps of 1e7 in one direction and about 1 in the others."""
    rng = np.random.default_rng(1)
    Q = np.linalg.qr(rng.normal(size=(200, 5, 5)))[0]
    steps = Q * np.array([1e7, 1.0, 1.0, 0.5, 2.0]) @ Q.mT
    M = ImprovedBLR().precision_change(Full(), 0.5 * (steps + steps.mT), 5)
    assert np.isfinite(Full().root(M)).all()


def test_positive_parameters_by_hand():
    parameters, change = np.array([2.0, 2.0, 2.0]), np.array([1.0, -1.0, -4.0])
    plain = NaturalGradient().retract(parameters, change)
    np.testing.assert_array_equal(plain, [3.0, 1.0, np.nan])
    improved = ImprovedBLR().retract(parameters, change)
    np.testing.assert_allclose(improved, 2.0 * np.array([1.625, 0.625, 1.0]))


def test_the_plain_rule_gives_nan_at_the_edge_itself():
    assert np.isnan(NaturalGradient().retract(np.array([2.0]), np.array([-2.0]))).all()


def test_positive_parameters_stay_positive_under_the_improved_rule():
    change = np.array([-1e12, -3.0, -1.0, -1e-12, 0.0, 1.0, 1e12])
    assert (ImprovedBLR().retract(np.full(7, 1e-3), change) > 0).all()
