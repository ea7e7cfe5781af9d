"""Every utility: shape, order, and what is refused."""

import members
import numpy as np
import pytest

every_utility = pytest.mark.parametrize("utility", members.utilities(), ids=members.name_of)


@pytest.mark.parametrize("B", [2, 3, 4, 7, 16, 100])
@every_utility
def test_the_better_sample_never_counts_less(utility, B):
    u = utility(B)
    assert u.shape == (B,)
    assert u.dtype == np.float64
    assert np.isfinite(u).all()
    assert (np.diff(u) <= 1e-13).all()
    assert u[0] > u[-1]


@every_utility
def test_a_caller_may_write_into_the_result(utility):
    kept = utility(8).copy()
    utility(8)[:] = 0.0
    np.testing.assert_array_equal(utility(8), kept)


@every_utility
def test_members_are_frozen_and_comparable(utility):
    assert utility == type(utility)()
    assert hash(utility) == hash(type(utility)())
