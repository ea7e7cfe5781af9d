"""Ends of runs are grouped by place and value: clouds are one place, neighbours are not, valleys are."""

import numpy as np
import pytest

from allmodes.modes.grouping import group, scatter


def cloud(centre, height, width, n, curvature=3.0, rng=None):
    """Ends scattered around a minimum, with the values of a parabola."""
    rng = np.random.default_rng(7) if rng is None else rng
    ends = centre + width * rng.standard_normal((n, len(centre)))
    return ends, height + curvature * ((ends - centre) ** 2).sum(axis=1)


def joined(*parts):
    ends, losses = (np.concatenate(each) for each in zip(*parts, strict=True))
    return ends, losses


def test_clouds_of_any_width_are_one_place_each_and_the_best_end_leads():
    ends, losses = joined(cloud([0.2, 0.3], 0.0, 1e-7, 40), cloud([0.7, 0.6], 1.0, 1e-4, 40))
    groups = group(ends, losses, 1e-3)
    assert set(groups.leaders[:40]) == {int(losses[:40].argmin())}
    assert set(groups.leaders[40:]) == {40 + int(losses[40:].argmin())}
    np.testing.assert_array_equal(groups.leaders, groups.joined)


def test_ends_that_lie_on_the_parabola_of_a_place_are_joined_with_it_and_others_nearby_are_not():
    ends, losses = cloud([0.5, 0.5], 0.0, 3e-4, 60)
    apart = np.array([[0.51, 0.5], [0.5, 0.512], [0.512, 0.512]])
    heights = np.array([3.0 * 0.01**2, 0.0, 0.5])  # on the parabola, as low as the minimum, far above
    groups = group(np.concatenate([ends, apart]), np.append(losses, heights), 1e-3)
    best = int(losses.argmin())
    assert groups.joined[-3:].tolist() == [best, 61, 62]
    assert groups.leaders[-3:].tolist() == [60, 61, 62]  # what they are is still to be seen


def test_junk_between_two_minima_does_not_join_them():
    line = np.linspace(0.3, 0.7, 401)[:, None] * [1.0, 1.0]
    minima = joined(cloud([0.3, 0.3], 0.0, 1e-5, 50), cloud([0.7, 0.7], 0.1, 1e-5, 50))
    ends, losses = joined(minima, (line, 5.0 + np.sin(np.arange(401.0))))
    groups = group(ends, losses, 1e-3)
    assert len({*groups.joined[:50]}) == len({*groups.joined[50:100]}) == 1
    assert groups.joined[0] != groups.joined[60]


def test_a_chain_of_equal_values_is_one_valley_and_three_equal_minima_are_not():
    angle = np.linspace(0.0, np.pi, 200)
    arc = 0.5 + 0.3 * np.stack([np.cos(angle), np.sin(angle)], axis=1)
    groups = group(arc, 1e-12 * np.arange(200.0), 1e-3)
    assert set(groups.joined) == {0}
    assert groups.chained.all()
    few = group(arc[:3], np.zeros(3), 1e-3)
    assert few.joined.tolist() == [0, 1, 2]
    assert not few.chained.any()


def test_where_coordinates_wrap_around_both_ends_are_one_place():
    ends, losses = np.array([[0.0002, 0.5], [0.9998, 0.5], [1.0, 0.5]]), np.array([0.0, 1e-6, 2e-6])
    assert group(ends, losses, 1e-3, np.array([0])).leaders.tolist() == [0, 0, 0]
    assert group(ends, losses, 1e-3).leaders.tolist() == [0, 1, 1]


def test_the_order_of_the_ends_changes_nothing():
    rng = np.random.default_rng(0)
    ends = joined(*[cloud(centre, k, 1e-3, 30, rng=rng) for k, centre in enumerate(rng.random((8, 3)))])
    order = rng.permutation(240)
    first, second = group(*ends, 1e-3), group(ends[0][order], ends[1][order], 1e-3)
    np.testing.assert_array_equal(first.joined[order], order[second.joined])


@pytest.mark.parametrize("ends", [np.zeros((1, 2)), np.zeros((50, 2))], ids=["one", "identical"])
def test_few_and_equal_ends(ends):
    assert set(group(ends, np.zeros(len(ends)), 1e-3).joined) == {0}
    assert scatter(ends) == 1e-3


def test_the_radius_follows_ends_that_are_all_scattered():
    rng = np.random.default_rng(0)
    loose = 0.5 + 3e-3 * rng.standard_normal((300, 10))
    assert 2e-3 < scatter(loose) <= 1e-2
    assert scatter(rng.random((50, 10))) == 1e-3  # far apart: nothing is known
    tight = 0.5 + 1e-6 * rng.standard_normal((300, 10))
    assert scatter(tight) == 1e-3


def test_a_hundred_thousand_ends_of_twenty_dimensions():
    rng = np.random.default_rng(0)
    centres, label = rng.random((50, 20)), rng.integers(50, size=100_000)
    ends = centres[label] + 1e-5 * rng.standard_normal((100_000, 20))
    groups = group(ends, label + ((ends - centres[label]) ** 2).sum(axis=1), scatter(ends))
    assert len(np.unique(groups.joined)) == 50
