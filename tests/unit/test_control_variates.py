"""Baselines by hand."""

import numpy as np
import pytest

from allmodes.nva.annealing.control_variates import Constant, LeaveOneOut
from allmodes.nva.annealing.estimators import BlackBox
from allmodes.nva.annealing.proposals import Sample
from allmodes.nva.mixture.families import Gaussian
from allmodes.objective import Evaluation

F = np.array([[1.0, 2.0, 6.0]])
EQUAL = np.full((1, 3), 1 / 3)


def test_a_constant_is_that_number():
    assert Constant()(EQUAL, F) == 0.0
    assert Constant(2.5)(EQUAL, F) == 2.5


@pytest.mark.parametrize("wrong", [np.nan, np.inf])
def test_a_constant_must_be_finite(wrong):
    with pytest.raises(ValueError, match="value is"):
        Constant(wrong)


def test_leaving_one_out_is_the_mean_of_the_others():
    np.testing.assert_allclose(LeaveOneOut()(EQUAL, F), [[4.0, 3.5, 1.5]])


def test_leaving_one_out_respects_weights():
    weights = np.array([[0.5, 0.25, 0.25]])
    np.testing.assert_allclose(
        LeaveOneOut()(weights, F), [[(0.25 * 2 + 0.25 * 6) / 0.5, (0.5 * 1 + 0.25 * 6) / 0.75, (0.5 + 0.5) / 0.75]]
    )


def test_leaving_one_out_serves_a_shared_sample():
    weights = np.array([[0.5, 0.25, 0.25], [0.0, 0.5, 0.5]])
    found = LeaveOneOut()(weights, F)
    assert found.shape == (2, 3)
    np.testing.assert_allclose(found[1], [4.0, 6.0, 2.0])


def test_a_sample_with_all_the_weight_has_no_baseline():
    np.testing.assert_allclose(LeaveOneOut()(np.array([[1.0, 0.0, 0.0]]), F), [[0.0, 1.0, 1.0]])


def test_leaving_one_out_of_one_is_refused():
    with pytest.raises(ValueError, match=r"num_samples is 1; LeaveOneOut\(\) needs at least 2"):
        LeaveOneOut()(np.ones((1, 1)), np.ones((1, 1)))


@pytest.mark.parametrize("baseline", [Constant(0.0), Constant(50.0), LeaveOneOut()], ids=repr)
def test_baselines_leave_the_mean_of_the_estimate_alone_and_a_good_one_shrinks_its_variance(baseline):
    """f = 100 + z: the gradient is 1 whatever the baseline; without one the 100 is mostly noise."""
    rng = np.random.default_rng(0)
    family = Gaussian()
    runs, n = 4000, 4
    components = family.start(np.zeros((runs, 1)), 1.0)
    z = rng.normal(size=(runs, n, 1))
    sample = Sample(np.full((runs, n), 1 / n), z)
    g = BlackBox(baseline).direction(family, components, sample, Evaluation(100.0 + z[..., 0])).g[:, 0]
    assert abs(g.mean() - 1.0) < 5 * g.std() / np.sqrt(runs)
    if baseline == LeaveOneOut():
        assert g.std() < 2.0
    elif baseline == Constant(0.0):
        assert g.std() > 40.0
