import numpy as np
import pytest
from scipy.stats import qmc

from allmodes.search.starts.space_filling import SpaceFilling
from allmodes.storage import pack, unpack


@pytest.mark.parametrize("d", [1, 2, 7])
def test_points_are_those_of_scipy(d):
    expected = qmc.Sobol(d, seed=np.random.default_rng(3)).random(2048)[:1200]
    np.testing.assert_array_equal(SpaceFilling(d, 3).draw(1200), expected)


def test_single_points_and_many_are_one_sequence():
    expected, points = SpaceFilling(2, 3).draw(1300), SpaceFilling(2, 3)
    drawn = [points.draw(n) for n in (1, 511, 0, 1, 787)]
    assert points.drawn == 1300
    np.testing.assert_array_equal(np.concatenate(drawn), expected)


@pytest.mark.parametrize("drawn", [1, 511, 512, 513, 1024])
def test_a_saved_sequence_goes_on_where_it_was(drawn):
    points = SpaceFilling(2, 3)
    points.draw(drawn)
    copy = unpack(*pack(points))
    np.testing.assert_array_equal(copy.draw(600), points.draw(600))


def test_points_fill_space_better_than_random_ones():
    points = SpaceFilling(2, 0).draw(256)
    counts = np.histogram2d(points[:, 0], points[:, 1], bins=16, range=[[0, 1], [0, 1]])[0]
    assert (counts == 1).all()


def test_another_seed_gives_other_points():
    assert not np.isin(SpaceFilling(2, 0).draw(64), SpaceFilling(2, 1).draw(64)).any()
