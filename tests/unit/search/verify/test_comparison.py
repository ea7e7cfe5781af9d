"""Is an optimum a known mode? Straight between the two, and along level paths that are bent."""

from __future__ import annotations

import numpy as np
import pytest
from judging import candidate_at, climb, make_context

from allmodes.search.archive import Frozen
from allmodes.search.candidate import LOCAL, RETURN, Origin
from allmodes.search.events import Arrived, RanAway, Stuck
from allmodes.search.verify.comparison import Between, LevelPath, LevelSets, Ridge
from allmodes.search.verify.question import Different, Optimum, Same
from allmodes.search.verify.tuning import TUNING
from allmodes.storage import pack, unpack

ORIGIN = Origin(LOCAL, RETURN, 0, question=0)


def add_mode(context, point, value=0.0, kind="flat"):
    d = len(point)
    record = Frozen(np.zeros(d), -np.eye(d), np.zeros(d, bool), kind, "derivatives", 1)
    return context.archive.add(np.asarray(point, dtype=float), value, record)


def between(f, a, b, is_level=False, context=None, **known):
    """What is said of a candidate at b when there is a mode at a."""
    context = make_context(len(a)) if context is None else context
    mode = add_mode(context, a, f(np.asarray(a)))
    question = Between(Optimum(candidate_at(f, b, **known), "optimum", is_level), mode, context.archive.means[mode])
    points = question.points(context)
    assert context.box.inside(points).all()
    return question.answer(context, points, np.array([f(point) for point in points]))


def path_to(f, a, b, context=None, is_stored=False):
    """What comes of looking for a level path from a mode at a to an optimum at b, and how many searches it takes."""
    context = make_context(len(a), order=2) if context is None else context
    add_mode(context, a, f(np.asarray(a)))
    candidate = candidate_at(f, b)
    way = context.box.difference(np.asarray(a), candidate.point)
    nodes = np.stack([candidate.point + way, candidate.point])
    step, searches = LevelPath(Optimum(candidate, "flat", True), 0, nodes), 0
    while isinstance(step, LevelPath):
        path, searches = unpack(*pack(step)) if is_stored else step, searches + 1
        search = path.search(context, ORIGIN)
        assert context.box.inside(context.box.project(search.point[None])).all()
        step = path.ended(context, Arrived(climb(context, f, search, ORIGIN)))
    return step, searches


# ---- straight


def two_hills(x):
    return float(np.cos(4.0 * np.pi * x[0])) - float(x[1] ** 2)


def test_a_fall_between_them_makes_them_two():
    assert isinstance(between(two_hills, [0.0, 0.0], [0.5, 0.0]), Different)


def test_no_fall_between_them_makes_them_one():
    step = between(lambda x: -((x[1] - 0.5) ** 2), [0.2, 0.5], [0.9, 0.5])
    assert isinstance(step, Same)
    assert step.mode == 0


def test_the_straight_way_goes_round_where_a_coordinate_is_periodic():
    def wave(x):
        return -float(np.clip(np.abs((x[0] + 0.5) % 1.0 - 0.5) - 0.2, 0.0, 1.0))

    ends = [0.1, 0.5], [0.9, 0.5]
    assert isinstance(between(wave, *ends), Different)
    assert isinstance(between(wave, *ends, context=make_context(2, periodic=[0])), Same)


def test_level_optima_at_one_height_may_be_joined_by_a_path_that_is_bent():
    context = make_context(2)
    step = between(two_hills, [0.0, 0.0], [0.5, 0.0], is_level=True, context=context)
    assert isinstance(step, Ridge)
    search = step.path.search(context, ORIGIN)
    np.testing.assert_allclose(search.point, [0.25, 0.0])
    np.testing.assert_allclose(np.abs(search.along), [1.0, 0.0])
    assert 0.0 < search.radius < 0.25


def asked_of_ridge(f, step):
    """What a question about a ridge comes to, and the searches that answer it."""
    context, searches = make_context(2, order=2), []
    while isinstance(step, Ridge):
        search = unpack(*pack(step)).search(context, ORIGIN)
        searches.append(search)
        candidate = climb(context, f, search, ORIGIN)
        step = step.ended(context, RanAway(ORIGIN) if candidate.value > search.ceiling else Arrived(candidate))
    return step, searches


def test_where_the_ridge_falls_on_both_sides_no_path_begins():
    """It bends, so that the straight way along its axis says little."""

    def bent(x):
        ridge = x[1] - 0.5 - 2.0 * (x[0] - 0.5) ** 2
        return -400.0 * ridge**2 - (x[0] - 0.5) ** 2 * (x[0] - 0.9) ** 2

    known = {"gradient": np.zeros(2), "hessian": np.diag([-0.32, -800.0])}
    step, searches = asked_of_ridge(bent, between(bent, [0.9, 0.82], [0.5, 0.5], is_level=True, **known))
    assert isinstance(step, Different)
    assert not step.optimum.is_level
    assert sorted(np.sign(search.point[0] - 0.5) for search in searches) == [-1.0, 1.0]


def test_where_the_ridge_is_level_a_path_is_looked_for():
    def level(x):
        return -400.0 * (x[1] - 0.5 - 2.0 * (x[0] - 0.5) ** 2) ** 2

    known = {"gradient": np.zeros(2), "hessian": np.diag([-0.32, -800.0])}
    step, searches = asked_of_ridge(level, between(level, [0.9, 0.82], [0.5, 0.5], is_level=True, **known))
    assert isinstance(step, LevelPath)
    assert len(searches) == 1


def test_no_path_is_looked_for_between_heights_nor_on_a_line():
    def tilted(x):
        return two_hills(x) - 0.1 * x[0]

    assert isinstance(between(tilted, [0.0, 0.0], [0.5, 0.0], is_level=True), Different)
    assert isinstance(between(lambda x: float(np.cos(4 * np.pi * x[0])), [0.0], [0.5], is_level=True), Different)


def test_along_a_bent_ridge_a_small_fall_says_nothing():
    """On the straight way between two points of it the function falls by a little of its slope."""

    def ridge(x):
        return -abs(x[1] - 0.5 - 0.1 * (x[0] - 0.5) ** 2)

    ends = [0.4, 0.501], [0.6, 0.501]
    slope = np.array([0.0, -1.0])
    assert isinstance(between(ridge, *ends, gradient=slope, is_kinked=True), Same)
    assert isinstance(between(ridge, *ends, gradient=slope), Different)


# ---- level paths


def ring(x):
    return -((np.hypot(x[0] - 0.5, x[1] - 0.5) - 0.3) ** 2)


def quartic_ring(x):
    return -(((x[0] - 0.5) ** 2 + (x[1] - 0.5) ** 2 - 0.09) ** 2)


def kinked_ring(x):
    return -abs((x[0] - 0.5) ** 2 + (x[1] - 0.5) ** 2 - 0.09)


def on_ring(angle, radius=0.3, center=(0.5, 0.5)):
    return np.asarray(center) + radius * np.array([np.cos(angle), np.sin(angle)])


@pytest.mark.parametrize("f", [ring, quartic_ring, kinked_ring])
@pytest.mark.parametrize("apart", [0.1, 0.5, 1.0, 2.0, 3.0])
def test_points_of_a_ring_are_joined(f, apart):
    for begin in (0.1, 1.0, 2.5):
        step, searches = path_to(f, on_ring(begin), on_ring(begin + apart))
        assert isinstance(step, Same)
        assert searches <= TUNING.path_pieces
        np.testing.assert_allclose(np.hypot(*(step.path - 0.5).T), 0.3, atol=1e-3)


def test_a_path_can_be_stored_between_any_two_searches():
    ends = on_ring(0.3), on_ring(1.7)
    step, searches = path_to(ring, *ends, is_stored=True)
    other, same_searches = path_to(ring, *ends)
    assert searches == same_searches > 3
    np.testing.assert_array_equal(step.path, other.path)


def lines(x):
    """Level ridges at 0.1, 0.3, 0.5, 0.7 and 0.9."""
    return -float(np.cos(10.0 * np.pi * x[0]))


@pytest.mark.parametrize("height", [0.0, 0.1, 0.3, 0.7])
@pytest.mark.parametrize("other", [0.5, 0.7])
def test_ridges_side_by_side_are_not_joined(height, other):
    step, searches = path_to(lines, [0.3, 0.1], [other, 0.1 + height])
    assert isinstance(step, Different)
    assert searches < 10


def test_peaks_that_a_pass_divides_are_not_joined():
    def bent(x):  # two peaks at the ends of a bent ridge with a pass between them; beside it are deep valleys
        u, v = 4.0 * x - 2.0
        return -((u**2 - 1) ** 2) - 1e5 * (v - u**2) ** 2

    assert isinstance(path_to(bent, [0.25, 0.75], [0.75, 0.75])[0], Different)


def test_two_rings_are_two():
    left, right = (0.27, 0.5), (0.73, 0.55)

    def rings(x):
        return -float(min((np.hypot(*(x - left)) - 0.18) ** 2, (np.hypot(*(x - right)) - 0.16) ** 2))

    for angle in (0.0, 1.0, 2.0, 3.0):
        ends = on_ring(angle, 0.18, left), on_ring(angle + np.pi, 0.16, right)
        assert isinstance(path_to(rings, *ends)[0], Different)
        assert isinstance(path_to(rings, ends[0], on_ring(angle + 1.0, 0.18, left))[0], Same)


def test_an_arc_in_space_is_followed_and_one_that_falls_is_not():
    def arc(x):
        return -((np.hypot(x[0] - 0.3, x[1] - 0.3) - 0.4) ** 2) - (x[2] - 0.4) ** 2

    ends = [0.7, 0.3, 0.4], [0.3, 0.7, 0.4]
    assert isinstance(path_to(arc, *ends)[0], Same)
    assert isinstance(path_to(lambda x: arc(x) - 0.1 * min(abs(x[0] - 0.3), abs(x[1] - 0.3)), *ends)[0], Different)


def test_a_path_goes_round_where_a_coordinate_is_periodic():
    def wave(x):
        blocked = 1.0 if abs(x[0] % 1.0 - 0.5) < 0.2 else 0.0
        return -((x[1] - 0.5 - 0.2 * np.sin(2 * np.pi * x[0])) ** 2) - blocked

    def place(along):
        return [along, 0.5 + 0.2 * np.sin(2 * np.pi * along)]

    step, _ = path_to(wave, place(0.1), place(0.9), make_context(2, order=2, periodic=[0]))
    assert isinstance(step, Same)
    assert isinstance(path_to(wave, place(0.1), place(0.9))[0], Different)


def test_after_a_search_that_ends_nowhere_others_begin_beside():
    context = make_context(2, order=2)
    add_mode(context, on_ring(0.0), 0.0)
    candidate = candidate_at(ring, on_ring(np.pi))
    step = LevelPath(Optimum(candidate, "flat", True), 0, np.stack([on_ring(0.0), candidate.point]))
    searches = []
    while isinstance(step, LevelPath):
        searches.append(step.search(context, ORIGIN))
        step = step.ended(context, Stuck(ORIGIN, searches[-1].point, -1.0))
    assert isinstance(step, Different)
    points = [search.point for search in searches]
    np.testing.assert_allclose(points, [[0.5, 0.5], [0.5, 0.5], [0.5, 0.8], [0.5, 0.2]])
    assert [search.is_kinked for search in searches] == [False, True, True, True]  # the first may have met a kink


def test_a_search_that_lands_on_one_end_says_nothing():
    """Where there is a gap, searches fall to its sides."""
    context = make_context(2, order=2)
    add_mode(context, on_ring(0.0), 0.0)
    candidate = candidate_at(ring, on_ring(1.0))
    path = LevelPath(Optimum(candidate, "flat", True), 0, np.stack([on_ring(0.0), candidate.point]))
    step = path.ended(context, Arrived(candidate))
    assert isinstance(step, LevelPath)
    assert (len(step.nodes), step.side) == (2, 1)


# ---- level modes


def test_what_is_joined_once_is_close_to_the_next():
    context, sets = make_context(2), LevelSets()
    add_mode(context, on_ring(0.0))
    sets.add(np.array([on_ring(angle) for angle in (1.0, 2.0, 3.0)]), 0)
    candidate = candidate_at(ring, on_ring(2.1))
    end, fall = sets.end_of(context, 0, candidate)
    np.testing.assert_array_equal(end, on_ring(2.0))
    assert fall >= 0.0


def test_rivals_are_level_modes_of_the_same_height_nearest_by_the_model():
    context, sets = make_context(2), LevelSets()
    across = add_mode(context, [0.6, 0.2])
    along = add_mode(context, [0.5, 0.9])
    add_mode(context, [0.5, 0.6], value=0.5)
    add_mode(context, [0.5, 0.7], kind="optimum")
    optimum = Optimum(candidate_at(lambda x: -((x[0] - 0.5) ** 2), [0.5, 0.2]), "flat", True)
    assert sets.rivals(context, optimum.candidate) == [along, across]


def test_a_mode_that_has_grown_a_level_part_is_a_rival_too():
    context, sets = make_context(2), LevelSets()
    strict = add_mode(context, [0.5, 0.7], kind="optimum")
    optimum = Optimum(candidate_at(lambda x: -((x[0] - 0.5) ** 2), [0.5, 0.2]), "flat", True)
    assert sets.rivals(context, optimum.candidate) == []
    sets.add(np.array([[0.5, 0.6]]), strict)
    assert sets.rivals(context, optimum.candidate) == [strict]


def test_what_is_remembered_of_level_modes_is_bounded():
    sets = LevelSets()
    for _ in range(3):
        sets.add(np.random.default_rng(0).random((400, 2)), 0)
    assert len(sets.nodes) == len(sets.owners) == 512
