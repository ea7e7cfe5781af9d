import numpy as np
import pytest

from allmodes.objective.bounds import Box
from allmodes.search.candidate import AROUND_MODES
from allmodes.search.starts.around_modes import AroundModes


def points_of(starts):
    return np.array([start.point for start in starts])


def test_starts_lie_on_the_shell_of_their_mode_inside_the_box(make_context):
    context = make_context([[0.5, 0.5]])
    starts = AroundModes().draw(context, 300)
    assert len(starts) > 250
    points = points_of(starts)
    assert context.box.inside(points).all()
    radius = np.sqrt(2.0 * (2.0 - context.level) / 200.0)  # where the parabola falls to the level
    apart = np.linalg.norm(points - 0.5, axis=1) / radius
    assert apart.min() >= 1.0
    assert apart.max() <= 3.0
    assert apart.max() - apart.min() > 1.5
    assert {(start.kind, start.radius) for start in starts} == {(AROUND_MODES, 0.0)}


def test_level_sets_of_other_modes_are_avoided(make_context):
    context = make_context([[0.4, 0.5], [0.55, 0.5], [0.4, 0.65]])
    around = AroundModes()
    points = points_of(around.draw(context, 400))
    assert around.picks.sum() == len(points)
    falls = context.archive.falls(points, np.tile(np.arange(3), (len(points), 1)))
    is_covered = (2.0 - falls >= context.level).any(axis=1)
    assert is_covered.mean() < 0.05  # four draws for each start: hardly ever all of them are
    assert len(points) > 350


def test_modes_that_had_many_starts_get_fewer(make_context):
    around = AroundModes(np.array([50, 0]))
    around.draw(make_context([[0.2, 0.2], [0.8, 0.8]]), 40)
    assert around.picks[1] > 30


def test_where_only_the_best_modes_count_they_get_more_starts(make_context):
    counts = []
    for is_global in (False, True):
        around = AroundModes()
        modes, values = [[0.2, 0.2], [0.8, 0.8], [0.2, 0.8]], [1.0, 3.0, 2.0]
        around.draw(make_context(modes, values, is_global=is_global), 300)
        counts.append(around.picks)
    assert counts[1].argmax() == 1
    assert counts[1][1] > counts[0][1] + 30


def test_counts_follow_the_archive(make_context):
    around, context = AroundModes(), make_context([[0.2, 0.2]])
    around.draw(context, 10)
    first = around.picks.copy()
    record = context.archive.records[0]
    context.archive.add(np.array([0.8, 0.8]), 2.0, record)
    around.draw(context, 10)
    assert len(around.picks) == 2
    assert around.picks[0] >= first[0]
    context.archive.keep(np.array([False, True]))
    assert len(around.draw(context, 10)) > 5
    assert len(around.picks) == 1


def test_no_start_where_every_shell_is_outside(make_context):
    around = AroundModes()
    assert around.draw(make_context([[0.5, 0.5]], curvature=1e-3), 20) == []
    assert around.picks.tolist() == [0]


def test_shells_go_round_periodic_coordinates(make_context):
    box = Box.make([(0, 1), (0, 1)], periodic=[0])
    points = points_of(AroundModes().draw(make_context([[0.0, 0.5]], box=box), 100))
    assert ((points >= 0.0) & (points <= 1.0)).all()
    assert (points[:, 0] < 0.5).any()
    assert (points[:, 0] > 0.5).any()
    assert len(points) > 90


@pytest.mark.parametrize("value", [-5.0, 0.0])
def test_modes_below_the_level_have_starts_too(make_context, value):
    starts = AroundModes().draw(make_context([[0.5, 0.5]], [value]), 50)
    assert len(starts) == 50
    assert np.isfinite(points_of(starts)).all()
