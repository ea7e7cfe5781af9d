"""What a launch has arrived at: tops, saddles, level ground, boundaries, and modes that are known already."""

import numpy as np
import pytest

from allmodes.objective.bounds import Box
from allmodes.strategy.archive import Archive, Found
from allmodes.strategy.batch import Batch, Phase
from allmodes.strategy.ends import KINDS
from allmodes.strategy.geometry import closest, is_held
from allmodes.strategy.search import Search
from allmodes.strategy.settling import Settling

BOX = Box.make([(0, 1), (0, 1)])
TOP = -np.diag([4.0, 2.0])
SADDLE = np.diag([-4.0, 2.0])
LEVEL = np.diag([-4.0, 0.0])
MIDDLE = (0.5, 0.5)


def settled(points=(MIDDLE,), values=None, gradients=None, hessians=None, order=2, box=BOX):
    """Launches that have measured everything where they are."""
    n, d = len(points), box.d
    search = Search(box, Archive(box), np.random.default_rng(0), order=order)
    search.add_levels(np.linspace(-1.0, 1.0, 101))
    search.best_value = 1.0
    batch = Batch.empty(d)
    batch.open(np.array(points, dtype=float), np.full(n, 0.1), np.zeros(n, np.int64), np.zeros(n, np.int64))
    batch.value[:] = 1.0 if values is None else values
    batch.gradient[:] = 0.0 if gradients is None else gradients
    batch.hessian[:] = TOP if hessians is None else hessians
    batch.is_measured[:] = True
    return Settling(search, batch)


def known(settling, point, value=1.0, hessian=TOP, kind="optimum"):
    d = settling.search.box.d
    found = Found(np.zeros(d), hessian, np.zeros(d, bool), kind, "derivatives", 1)
    return settling.search.archive.add(np.array(point, dtype=float), value, found)


def arrive(settling, k=0):
    settling.arrive(k, settling.batch.point[k], 0.0)


def answer(settling, function, k=0):
    """Evaluate what launch k wants to know."""
    phase, rows = Phase(settling.batch.phase[k]), np.array([k])
    points = settling.points(phase, rows)
    settling.told(phase, rows, points, function(points))
    return points[0]


# ---- kinds


def test_a_top_becomes_a_mode():
    settling = settled()
    settling.search.nfev = 17
    arrive(settling)
    (end,) = settling.ends
    assert (end.row, end.mode, end.is_new) == (0, 0, True)
    (found,) = settling.search.archive.found
    assert (found.kind, found.source, found.found_at) == ("optimum", "derivatives", 17)
    assert settling.search.archive.means.tolist() == [list(MIDDLE)]
    assert settling.search.archive.values.tolist() == [1.0]


@pytest.mark.parametrize("hessian", [SADDLE, -TOP, np.diag([-4.0, 0.5])])
@pytest.mark.parametrize("order", [0, 1, 2])
def test_a_saddle_or_a_bottom_is_nothing(hessian, order):
    settling = settled(hessians=hessian, order=order)
    arrive(settling)
    assert [(end.mode, end.is_new) for end in settling.ends] == [(-1, False)]
    assert len(settling.search.archive) == 0


@pytest.mark.parametrize("order", [0, 1])
def test_a_top_whose_curvature_is_a_guess_is_measured_first(order):
    settling = settled(order=order)
    settling.batch.is_measured[:] = False
    arrive(settling)
    assert settling.batch.phase[0] == Phase.CURVE
    assert not settling.ends


def test_the_curvature_comes_from_differences_without_hessians():
    settling = settled(order=1)
    arrive(settling)
    assert settling.search.archive.found[0].source == "differences"


@pytest.mark.parametrize(
    ("point", "gradient", "hessian", "active"),
    [
        ((0.0, 0.5), (-3.0, 0.0), SADDLE, None),  # the free coordinate curves up: a saddle on the edge
        ((0.0, 0.5), (-3.0, 0.0), np.diag([5.0, -2.0]), [True, False]),
        ((1.0, 0.5), (3.0, 0.0), np.diag([5.0, -2.0]), [True, False]),
        ((1.0, 0.0), (3.0, -1.0), -TOP, [True, True]),
    ],
)
def test_on_the_boundary_free_coordinates_decide(point, gradient, hessian, active):
    settling = settled([point], gradients=np.array([gradient]), hessians=hessian)
    arrive(settling)
    if active is None:
        assert len(settling.search.archive) == 0
        return
    (found,) = settling.search.archive.found
    assert found.kind == "boundary"
    assert found.active.tolist() == active


def test_a_bound_that_does_not_push_is_not_active():
    settling = settled([(0.0, 0.5)])
    arrive(settling)
    (found,) = settling.search.archive.found
    assert found.kind == "optimum"
    assert not found.active.any()


def test_coordinates_are_held_where_the_ascent_pushes_outward():
    point = np.array([0.0, 0.0, 1.0, 1.0, 0.5])
    box = Box.make([(0, 1)] * 5)
    held = is_held(box, point, np.array([-1.0, 1.0, 1.0, -1.0, 1.0]))
    assert held.tolist() == [True, False, True, False, False]


# ---- the last step of a search by values


def last_step(value):
    settling = settled(order=0)
    settling.arrive(0, np.array([0.50001, 0.5]), 1e-5)
    assert settling.batch.phase[0] == Phase.FINAL
    rows, where = np.array([0]), settling.batch.trial[0][None, None]
    settling.told(Phase.FINAL, rows, where, np.array([[value]]))
    if settling.batch.phase[0] == Phase.CHECK:
        answer(settling, lambda z: np.full(z.shape[:2], value - 1e-6))
    return settling


SHARP = 1e7  # curvature of a peak that is far steeper than the function is wide


def sharp(z):
    return 1.0 - 0.5 * SHARP * ((z - 0.5) ** 2).sum(axis=-1)


def sharp_step(wrong, scale=1.0):
    """A launch 3e-5 from a sharp peak whose model is too flat by a share, after its last step."""
    settling = settled(
        [(0.5 + 3e-5, 0.5)],
        values=1.0 - 0.5 * SHARP * 9e-10,
        gradients=[-SHARP * 3e-5, 0.0],
        hessians=-SHARP * (1.0 - wrong) * np.eye(2),
        order=0,
    )
    batch, settling.search.scale = settling.batch, scale
    settling.arrive(0, np.array([0.5 + 3e-5 - 3e-5 / (1.0 - wrong), 0.5]), 3e-5)
    where = batch.trial[[0]][:, None]
    settling.told(Phase.FINAL, np.array([0]), where, sharp(where))
    return settling, float(1.0 - sharp(where)[0, 0])


def test_a_last_step_that_stops_short_of_a_tie_is_followed_by_another():
    """Otherwise the mode would be worse than its equals for ever: later launches that fall into it are stopped."""
    settling, left = sharp_step(0.1)
    assert left > settling.search.tie
    assert Phase(settling.batch.phase[0]) == Phase.SLOPE
    assert not settling.ends
    assert settling.batch.value[0] == pytest.approx(1.0 - left, abs=1e-12)


def test_a_last_step_that_arrives_is_the_last():
    settling, left = sharp_step(1e-4)
    assert left < 1e-3 * settling.search.tie
    answer(settling, sharp)
    (end,) = settling.ends
    assert end.is_new


def test_while_the_scale_of_the_function_is_not_known_one_last_step_is_enough():
    settling, _ = sharp_step(0.1, scale=0.0)
    assert Phase(settling.batch.phase[0]) != Phase.SLOPE


def test_last_steps_come_to_an_end():
    settling, _ = sharp_step(0.1)
    settling.batch.iterations[0] = 1000
    batch = settling.batch
    batch.gradient[0] = [-SHARP * (batch.point[0, 0] - 0.5), 0.0]
    settling.told(Phase.FINAL, np.array([0]), np.array([[[0.5, 0.5]]]), np.array([[1.0]]))
    answer(settling, sharp)
    (end,) = settling.ends
    assert end.is_new


def test_along_a_crease_a_launch_goes_on():
    settling = settled(order=0)
    settling.arrive(0, np.array(MIDDLE), 0.0)
    assert settling.batch.phase[0] == Phase.CHECK
    points = answer(settling, lambda z: 1.0 + (z[..., 1] - 0.5))  # rises along the axis that is curved less
    assert len(settling.search.archive) == 0
    assert settling.batch.phase[0] == Phase.START
    assert settling.batch.point[0, 1] == pytest.approx(points[:, 1].max())


def test_the_last_step_is_taken_where_it_is_higher():
    assert last_step(1.0 + 1e-9).search.archive.means.tolist() == [[0.50001, 0.5]]


def test_the_last_step_is_not_taken_where_rounding_decides():
    assert last_step(1.0 - 1e-15).search.archive.means.tolist() == [list(MIDDLE)]


@pytest.mark.parametrize("value", [0.9, np.nan, -np.inf])
def test_a_last_step_that_falls_says_that_there_is_no_top(value):
    settling = last_step(value)
    assert len(settling.search.archive) == 0
    assert [end.mode for end in settling.ends] == [-1]


# ---- known modes


def test_a_launch_in_the_place_of_a_mode_is_a_hit():
    settling = settled([(0.5 + 1e-6, 0.5)])
    known(settling, (0.2, 0.2))
    mode = known(settling, MIDDLE)
    arrive(settling)
    assert [(end.mode, end.is_new) for end in settling.ends] == [(mode, False)]
    assert len(settling.search.archive) == 2


def test_a_launch_far_from_all_modes_is_new():
    settling = settled()
    known(settling, (0.2, 0.2))
    arrive(settling)
    assert [(end.mode, end.is_new) for end in settling.ends] == [(1, True)]


@pytest.mark.parametrize(("depth", "is_new"), [(0.0, False), (0.1, True)])
def test_close_modes_are_told_apart_by_what_lies_between(depth, is_new):
    settling = settled([(0.505, 0.5)])
    known(settling, MIDDLE)
    arrive(settling)
    assert settling.batch.phase[0] == Phase.VALLEY
    points = answer(settling, lambda z: 1.0 - depth * np.ones(z.shape[:-1]))
    assert ((points[:, 0] > 0.5) & (points[:, 0] < 0.505)).all()
    assert [end.is_new for end in settling.ends] == [is_new]
    assert len(settling.search.archive) == 1 + is_new


def test_the_way_to_a_mode_goes_round_in_periodic_coordinates():
    box = Box.make([(0, 1), (0, 1)], periodic=[0])
    settling = settled([(0.001, 0.5)], box=box)
    known(settling, (0.997, 0.5))
    arrive(settling)
    points = answer(settling, lambda z: np.ones(z.shape[:-1]))
    assert (np.abs(box.difference(points, np.array([0.999, 0.5]))) < 0.003).all()
    assert [end.mode for end in settling.ends] == [0]


def test_of_two_launches_that_arrive_together_one_is_new():
    settling = settled([MIDDLE, (0.502, 0.5)])
    arrive(settling, 0)
    arrive(settling, 1)
    assert settling.batch.phase[1] == Phase.VALLEY
    answer(settling, lambda z: np.ones(z.shape[:-1]), k=1)
    assert [(end.row, end.mode, end.is_new) for end in settling.ends] == [(0, 0, True), (1, 0, False)]


def test_a_mode_found_while_the_valley_was_probed_is_looked_at_too():
    settling = settled([(0.505, 0.5)])
    known(settling, MIDDLE)
    arrive(settling)
    known(settling, (0.507, 0.5))  # another launch was quicker
    answer(settling, lambda z: np.zeros(z.shape[:-1]))
    assert not settling.ends
    assert (settling.batch.phase[0], settling.batch.rival[0]) == (Phase.VALLEY, 1)
    answer(settling, lambda z: np.ones(z.shape[:-1]))
    assert [(end.mode, end.is_new) for end in settling.ends] == [(1, False)]


def test_the_closest_mode_by_the_largest_coordinate():
    settling = settled()
    known(settling, (0.1, 0.5))
    known(settling, (0.9, 0.8))
    assert closest(settling.search, np.array([0.2, 0.9])) == (0, pytest.approx(0.4))
    assert closest(settling.search, np.array([0.8, 0.5])) == (1, pytest.approx(0.3))


# ---- level ground


def quartic(z):
    return 1.0 - 2.0 * (z[..., 0] - 0.5) ** 2 - (z[..., 1] - 0.5) ** 4


def weak_parabola(z):
    return 1.0 - 2.0 * (z[..., 0] - 0.5) ** 2 - 1e-3 * (z[..., 1] - 0.5) ** 2


def cubic(z):
    return 1.0 - 2.0 * (z[..., 0] - 0.5) ** 2 + (z[..., 1] - 0.5) ** 3


def groove(z):
    return 1.0 - 2.0 * (z[..., 0] - 0.5) ** 2


def test_directions_that_look_level_are_probed_on_both_sides_inside_the_box():
    settling = settled([(0.5, 0.99)], hessians=LEVEL)
    arrive(settling)
    assert settling.batch.phase[0] == Phase.FLAT
    points = settling.points(Phase.FLAT, np.array([0]))[0]
    np.testing.assert_allclose(points[:, 0], 0.5)
    assert points[:, 1].min() < 0.99 < points[:, 1].max() <= 1.0


@pytest.mark.parametrize("steepness", [1.0, 50.0])
def test_a_quartic_top_is_flat(steepness):
    settling = settled(hessians=LEVEL)
    arrive(settling)
    answer(settling, lambda z: 1.0 + steepness * (quartic(z) - 1.0))
    assert settling.search.archive.found[0].kind == "flat"


def test_a_weak_parabola_is_an_ordinary_top():
    settling = settled(hessians=np.diag([-4.0, -1e-6]))
    arrive(settling)
    answer(settling, weak_parabola)
    assert settling.search.archive.found[0].kind == "optimum"


@pytest.mark.parametrize("order", [0, 1])
def test_a_curvature_that_values_do_not_show_is_none(order):
    settling = settled(hessians=np.diag([-40.0, -0.8]), order=order)
    arrive(settling)
    assert settling.batch.phase[0] == Phase.CHECK
    answer(settling, groove)
    assert settling.batch.phase[0] == Phase.FLAT
    np.testing.assert_allclose(settling.batch.hessian[0], np.diag([-40.0, 0.0]), atol=1e-6)


@pytest.mark.parametrize("order", [0, 1])
def test_a_curvature_that_values_show_is_kept(order):
    settling = settled(hessians=np.diag([-40.0, -0.8]), order=order)
    arrive(settling)
    answer(settling, lambda z: 1.0 - 0.4 * (z[..., 1] - 0.5) ** 2)
    assert settling.search.archive.found[0].kind == "optimum"
    np.testing.assert_array_equal(settling.batch.hessian[0], np.diag([-40.0, -0.8]))


@pytest.mark.parametrize(("order", "hessian"), [(2, np.diag([-40.0, -0.8])), (1, TOP)])
def test_no_values_are_spent_on_a_curvature_that_is_sure(order, hessian):
    settling = settled(hessians=hessian, order=order)
    arrive(settling)
    assert len(settling.search.archive) == 1


def test_a_bound_next_to_a_quartic_top_does_not_make_it_a_parabola():
    settling = settled([(0.5, 0.994)], hessians=LEVEL)
    arrive(settling)
    answer(settling, lambda z: 1.0 - 50.0 * (z[..., 1] - 0.994) ** 4)
    assert settling.search.archive.found[0].kind == "flat"


def test_a_bound_next_to_a_parabola_does_not_make_it_flat():
    settling = settled([(0.5, 0.998)], hessians=np.diag([-4.0, -1e-6]))
    arrive(settling)
    answer(settling, lambda z: 1.0 - 0.04 * (z[..., 1] - 0.998) ** 2)
    assert settling.search.archive.found[0].kind == "optimum"


@pytest.mark.parametrize("order", [0, 1, 2])
def test_a_gentle_curve_that_values_close_by_show_is_one(order):
    settling = settled(hessians=np.diag([-4.0, -0.03]), order=order)
    settling.batch.distance[:] = 1.0  # Newton's method has not converged: nothing is sharp
    arrive(settling)
    assert settling.batch.phase[0] == Phase.CHECK
    # ripples farther away, which probes there would see
    points = answer(settling, lambda z: 1.0 + 0.03 / 400.0 * (np.cos(20.0 * (z[..., 1] - 0.5)) - 1.0))
    assert np.abs(points - 0.5).max() < 3e-3
    assert settling.search.archive.found[0].kind == "optimum"


def test_a_gentle_curve_that_values_close_by_do_not_show_is_looked_at_farther():
    settling = settled(hessians=np.diag([-4.0, -0.03]))
    settling.batch.distance[:] = 1.0
    arrive(settling)
    answer(settling, lambda z: 1.0 - 1e4 * (z[..., 1] - 0.5) ** 4)
    assert settling.batch.phase[0] == Phase.FLAT


def test_a_corner_that_is_known_is_not_measured_again():
    settling = settled([(1.0, 1.0), (1.0, 1.0)], gradients=(1.0, 1.0))
    known(settling, (1.0, 1.0), kind="boundary")
    settling.batch.is_measured[:] = False
    arrive(settling)
    assert [(end.mode, end.is_new) for end in settling.ends] == [(0, False)]
    settling.batch.gradient[1] = (0.0, 1.0)  # free to move along an edge
    arrive(settling, 1)
    assert settling.batch.phase[1] == Phase.CURVE


def test_a_point_that_rounding_keeps_off_a_bound_is_on_it():
    settling = settled([(0.5, 6e-22)], gradients=(0.0, -3.0), hessians=np.diag([-4.0, 1.0]))
    arrive(settling)
    (found,) = settling.search.archive.found
    assert found.kind == "boundary"
    np.testing.assert_array_equal(found.active, [False, True])


def test_a_degenerate_saddle_is_left_uphill():
    settling = settled(hessians=LEVEL)
    arrive(settling)
    points = answer(settling, cubic)
    assert len(settling.search.archive) == 0
    assert settling.batch.phase[0] == Phase.START
    assert settling.batch.point[0, 1] == pytest.approx(points[:, 1].max())
    assert not settling.ends


def test_a_groove_is_one_flat_mode_however_many_arrive():
    settling = settled([(0.5, 0.2), (0.5, 0.7), (0.5, 0.9)], hessians=LEVEL)
    for k in range(3):
        arrive(settling, k)
        while not settling.ends or settling.ends[-1].row != k:
            answer(settling, groove, k)
    assert [(end.mode, end.is_new) for end in settling.ends] == [(0, True), (0, False), (0, False)]
    assert settling.search.archive.found[0].kind == "flat"


def test_ground_that_is_exactly_level_is_looked_at_farther():
    settling = settled(hessians=LEVEL)
    arrive(settling)
    answer(settling, groove)
    assert settling.batch.phase[0] == Phase.FAR
    # A higher hill begins after the first fall: that one is not climbed, for a valley lies before it.
    far = answer(settling, lambda z: groove(z) - 0.1 * (z[..., 1] > 0.55) + 5.0 * (z[..., 1] > 0.9))
    assert far[:, 1].max() == 1.0
    assert settling.search.archive.found[0].kind == "flat"


def test_a_plateau_below_the_best_value_is_nothing():
    settling = settled(values=0.0, hessians=np.zeros((2, 2)))
    arrive(settling)
    answer(settling, lambda z: np.zeros(z.shape[:-1]))
    answer(settling, lambda z: np.zeros(z.shape[:-1]))
    assert [end.mode for end in settling.ends] == [-1]
    assert len(settling.search.archive) == 0


# ---- bridges


def parked():
    """A level launch that sees a fall on the straight way to a level mode of the same height."""
    settling = settled([(0.2, 0.5)], hessians=LEVEL)
    known(settling, (0.8, 0.5), hessian=LEVEL, kind="flat")
    arrive(settling)
    answer(settling, quartic_at_02)
    assert settling.batch.phase[0] == Phase.VALLEY
    answer(settling, lambda z: np.zeros(z.shape[:-1]))
    return settling


def quartic_at_02(z):
    return 1.0 - 2.0 * (z[..., 0] - 0.2) ** 2 - (z[..., 1] - 0.5) ** 4


def test_level_points_of_the_same_height_wait_for_a_bridge():
    settling = parked()
    assert settling.parked == [0]
    assert not settling.ends
    ((start, along, radius, number),) = settling.bridges
    np.testing.assert_allclose(np.abs(along), [1.0, 0.0])
    np.testing.assert_allclose(start, [0.5, 0.5])
    assert radius == 0.05
    assert settling.pillars[number].mode == 0


def bridged(settling, ground):
    """Launches from between end where `ground` says, (point, value), until it is decided; the starts."""
    starts = []
    while settling.bridges:
        start, _, radius, number = settling.bridges.pop()
        assert 0.0 < radius <= 0.05
        settling.batch.picked[0] = number
        settling.batch.point[0], settling.batch.value[0] = ground(start)
        settling.build(0)
        starts.append(start)
    return starts


def verdict(settling):
    return [(end.mode, end.is_new) for end in settling.ends]


def on_an_arc(start):
    """From (0.2, 0.5) to (0.8, 0.5) over the top of a circle."""
    way = start - [0.5, 0.5]
    return [0.5, 0.5] + 0.3 * way / np.linalg.norm(way) if way.any() else np.array([0.5, 0.8]), 1.0


def test_level_ground_all_the_way_makes_them_one():
    settling = parked()
    starts = bridged(settling, on_an_arc)
    assert verdict(settling) == [(0, False)]
    assert len(settling.search.archive) == 1
    assert 6 <= len(starts) <= 12, "pieces are looked at until they are short and straight"


def test_what_is_connected_once_is_close_to_the_next():
    settling = parked()
    bridged(settling, on_an_arc)
    close = on_an_arc(np.array([0.45, 0.9]))[0]
    end, _ = settling._end_of(0, close, np.zeros((2, 2)))
    assert np.abs(end - close).max() < 0.1
    np.testing.assert_allclose(np.linalg.norm(end - [0.5, 0.5]), 0.3)


def test_a_bridge_that_a_bound_pushes_to_one_end_needs_no_more_looks_there():
    settling = parked()
    end = np.array([0.2, 0.5])
    starts = bridged(settling, lambda start: (end, 1.0) if start[0] == 0.5 else on_an_arc(start))
    assert np.isfinite(starts).all()
    assert not any((start == end).all() for start in starts)
    assert len(settling.ends) == 1


def test_of_two_level_modes_the_one_in_the_level_direction_is_tried_first():
    settling = settled([(0.5, 0.2)], hessians=LEVEL)
    known(settling, (0.6, 0.2), hessian=LEVEL, kind="flat")
    known(settling, (0.5, 0.9), hessian=LEVEL, kind="flat")
    assert settling._closest_level(1.0, settling.batch.point[0], settling.batch.hessian[0]) == 1
    assert settling._closest_level(1.0, settling.batch.point[0], settling.batch.hessian[0], tried=(1,)) == 0
    assert settling._closest_level(0.5, settling.batch.point[0], settling.batch.hessian[0]) == -1


def test_a_way_round_is_found_where_the_straight_one_leads_elsewhere():
    """From the middle of a ring launches climb to a higher top; from beside it they find the ring."""

    def ring(start):
        inside = np.linalg.norm(start - 0.5) < 0.2
        return (np.array([0.5, 0.5]), 3.0) if inside else on_an_arc(start)

    settling = parked()
    bridged(settling, ring)
    assert verdict(settling) == [(0, False)]


def two_lines(start):
    """Level ground at x = 0.2 and at x = 0.8: from between, straight up and down, there is none."""
    return start + np.array([0.0, 0.1]), 1.0 if abs(start[0] - 0.5) > 0.2 else 0.9


@pytest.mark.parametrize(
    "ground",
    [lambda start: (start + np.array([0.0, 0.3]), 0.5), lambda start: (start + np.array([0.0, 0.49]), 1.0), two_lines],
    ids=["falls", "far away", "a gap between two lines"],
)
def test_a_way_with_a_gap_leaves_them_two(ground):
    settling = parked()
    bridged(settling, ground)
    assert verdict(settling) == [(1, True)]
    np.testing.assert_allclose(settling.search.archive.means[1], [0.2, 0.5])
    assert settling.search.archive.found[1].kind == "flat"


def test_level_points_of_different_heights_need_no_bridge():
    settling = settled([(0.2, 0.5)], hessians=LEVEL)
    known(settling, (0.8, 0.5), value=3.0, hessian=LEVEL, kind="flat")
    arrive(settling)
    answer(settling, quartic_at_02)
    answer(settling, lambda z: np.zeros(z.shape[:-1]))
    assert not settling.bridges
    assert [(end.mode, end.is_new) for end in settling.ends] == [(1, True)]


def test_kinds_have_names_that_modes_know():
    assert KINDS == ("", "optimum", "boundary", "flat")
