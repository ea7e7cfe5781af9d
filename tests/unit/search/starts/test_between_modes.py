import numpy as np
import pytest

from allmodes.objective.bounds import Box
from allmodes.search.candidate import BETWEEN_MODES
from allmodes.search.starts.between_modes import draw, mix

MODES = np.array([[0.2, 0.3], [0.6, 0.4], [0.5, 0.8]])


def sums_of(modes):
    return np.array([a + b - c for a in modes for b in modes for c in modes])


def crossings_of(modes):
    return np.array([[a[0], b[1]] for a in modes for b in modes])


def is_among(points, possible):
    return np.abs(points[:, None] - possible).max(axis=2).min(axis=1) < 1e-12


def test_starts_are_sums_and_crossings_of_modes(make_context):
    starts = draw(make_context(MODES), 200)
    points = np.array([start.point for start in starts])
    is_sum, is_crossing = is_among(points, sums_of(MODES)), is_among(points, crossings_of(MODES))
    assert (is_sum | is_crossing).all()
    assert is_sum.any()
    assert is_crossing.any()
    assert ((points >= 0.0) & (points <= 1.0)).all()
    assert len({tuple(point) for point in points.round(9)}) > 5
    assert {(start.kind, start.radius) for start in starts} == {(BETWEEN_MODES, 0.0)}


def test_no_start_is_a_known_mode(make_context):
    points = mix(make_context(MODES), MODES, 200)
    assert len(points) == 200
    assert np.linalg.norm(points[:, None] - MODES, axis=2).min() > 1e-3


def test_a_mode_that_is_not_mixed_is_no_start_either(make_context):
    context = make_context([*MODES, [0.2, 0.4]])
    assert is_among(mix(make_context(MODES), MODES, 200), np.array([[0.2, 0.4]])).any()
    assert not is_among(mix(context, MODES, 200), np.array([[0.2, 0.4]])).any()


@pytest.mark.parametrize("modes", [[], [[0.2, 0.3]], [[0.2, 0.3], [0.6, 0.4]]])
def test_fewer_than_three_modes_are_not_mixed(make_context, modes):
    assert draw(make_context(modes), 5) == []


def test_where_only_the_best_modes_count_only_they_are_mixed(make_context):
    modes = np.array([*MODES, [0.9, 0.9]])
    assert draw(make_context(modes, [2.0, 2.0, 1.0, 1.0], is_global=True), 50) == []
    starts = draw(make_context(modes, [2.0, 2.0, 2.0, 1.0], is_global=True), 100)
    points = np.array([start.point for start in starts])
    assert is_among(points, np.concatenate([sums_of(MODES), crossings_of(MODES)])).all()


def test_differences_go_the_short_way_round_periodic_coordinates(make_context):
    box = Box.make([(0, 1)], periodic=[0])
    modes = np.array([[0.1], [0.9], [0.45]])
    points = mix(make_context(modes, box=box), modes, 100)
    assert ((points >= 0.0) & (points < 1.0)).all()
    assert is_among(points, np.array([[0.25]])).any()  # 0.45 + (0.9 - 0.1), which is 0.45 - 0.2
    assert is_among(points, np.array([[0.65]])).any()


def test_when_all_mixes_are_known_there_are_none(make_context):
    grid = np.array([[x, y] for x in (0.2, 0.5, 0.8) for y in (0.2, 0.5, 0.8)])
    assert len(mix(make_context(grid), grid, 20)) == 0
