"""Where launches begin: even points, shells around modes, mixtures of modes, given and screened points."""

from dataclasses import dataclass, field

import numpy as np
import pytest
from scipy.stats import qmc

from allmodes.objective.bounds import Box
from allmodes.strategy.archive import Archive, Found
from allmodes.strategy.screening import Screen
from allmodes.strategy.search import Search
from allmodes.strategy.starts import (
    EVEN,
    FACE,
    GIVEN,
    MIXED,
    NEAR,
    SCREENED,
    Record,
    Sobol,
    Start,
    choose_starts,
    draw_arms,
    make_records,
    mixed,
    near_modes,
    on_faces,
)

BOX = Box.make([(0, 1), (0, 1)])
LEVELS = np.linspace(-1.0, 1.0, 101)  # median 0, interquartile range 1


def a_search(modes=(), values=None, is_global=False, box=BOX, curvature=200.0):
    search = Search(box, Archive(box), np.random.default_rng(0), order=2, is_global=is_global)
    search.add_levels(LEVELS)
    d = box.d
    for i, mode in enumerate(modes):
        found = Found(np.zeros(d), -curvature * np.eye(d), np.zeros(d, bool), "optimum", "derivatives", 1)
        search.archive.add(np.asarray(mode, dtype=float), 2.0 if values is None else values[i], found)
    return search


@dataclass
class Launches:
    """What `choose_starts` reads."""

    search: Search
    given: list = field(default_factory=list)
    is_plain: bool = False
    is_passive: bool = False
    is_screening: bool = False
    launches: int = 0
    records: list = field(default_factory=make_records)

    def __post_init__(self):
        self.sobol = Sobol(self.search.box.d, 5)
        self.screen = Screen(np.zeros((0, self.search.box.d)))


# ---- Sobol points


@pytest.mark.parametrize("d", [1, 2, 7])
def test_sobol_points_are_scipys(d):
    sobol, engine = Sobol(d, 3), qmc.Sobol(d, seed=np.random.default_rng(3))
    np.testing.assert_array_equal([sobol.next() for _ in range(1200)], engine.random(2048)[:1200])


@pytest.mark.parametrize("drawn", [1, 511, 512, 513, 1024])
def test_a_sequence_goes_on_from_its_seed_and_position(drawn):
    whole = Sobol(2, 3)
    points = np.array([whole.next() for _ in range(1100)])
    half = Sobol(2, 3)
    for _ in range(drawn):
        half.next()
    copy = Sobol(half.d, half.seed, half.drawn, half.block)
    np.testing.assert_array_equal([copy.next() for _ in range(1100 - drawn)], points[drawn:])


# ---- arms


def test_an_arm_that_pays_is_drawn_and_one_that_does_not_is_not():
    records = make_records()
    records[EVEN].successes, records[EVEN].evaluations = 20.0, 100.0
    records[NEAR].evaluations = 100.0
    arms = draw_arms(np.random.default_rng(0), records, [EVEN, NEAR], 1000)
    assert (arms == EVEN).mean() > 0.95
    records[NEAR].successes = 20.0
    assert 0.4 < (draw_arms(np.random.default_rng(0), records, [EVEN, NEAR], 1000) == EVEN).mean() < 0.6


def test_an_arm_that_was_never_tried_is_tried():
    records = make_records()
    records[EVEN].successes, records[EVEN].evaluations = 5.0, 100.0
    assert (draw_arms(np.random.default_rng(0), records, [EVEN, MIXED], 100) == MIXED).any()


def test_a_single_arm_needs_no_draw():
    rng = np.random.default_rng(0)
    before = rng.bit_generator.state
    assert draw_arms(rng, make_records(), [SCREENED], 3).tolist() == [SCREENED] * 3
    assert rng.bit_generator.state == before


def test_records_forget_by_launches():
    record = Record()
    record.add(True, 10)
    record.add(False, 10)
    assert (record.successes, record.evaluations) == (pytest.approx(0.95), pytest.approx(19.5))
    record.add(False, 100, is_launch=False)
    assert (record.successes, record.evaluations) == (pytest.approx(0.95), pytest.approx(119.5))


# ---- near modes


def test_starts_near_a_mode_lie_on_its_shell_inside_the_box():
    search = a_search([[0.5, 0.5]])
    starts = near_modes(search, 300)
    assert len(starts) > 250
    points = np.array([start.point for start in starts])
    assert BOX.inside(points).all()
    radius = np.sqrt(2.0 * (2.0 - search.level) / 200.0)  # where the parabola falls to the level
    apart = np.linalg.norm(points - 0.5, axis=1) / radius
    assert apart.min() >= 1.0
    assert apart.max() <= 3.0
    assert apart.max() - apart.min() > 1.5
    assert {(start.arm, start.picked) for start in starts} == {(NEAR, 0)}


def test_level_sets_of_other_modes_are_avoided():
    search = a_search([[0.4, 0.5], [0.55, 0.5], [0.4, 0.65]])
    points = np.array([start.point for start in near_modes(search, 400)])
    picked = search.archive.picks
    assert picked.sum() == len(points)
    whitened = search.archive.whitened(points)
    inside = (2.0 - 0.5 * (whitened**2).sum(axis=2) >= search.level).sum(axis=0)
    # Four draws for each start: the chance that all lie in level sets is small, but not nothing.
    assert (inside == 0).mean() > 0.95


def test_modes_that_were_picked_often_are_picked_less():
    search = a_search([[0.2, 0.2], [0.8, 0.8]])
    search.archive.picks[:] = [50, 0]
    near_modes(search, 40)
    assert search.archive.picks[1] > 30


def test_for_global_modes_good_ones_are_picked_more():
    counts = []
    for is_global in (False, True):
        search = a_search([[0.2, 0.2], [0.8, 0.8], [0.2, 0.8]], [1.0, 3.0, 2.0], is_global)
        near_modes(search, 300)
        counts.append(search.archive.picks.copy())
    assert counts[1].argmax() == 1
    assert counts[1][1] > counts[0][1] + 30


def test_no_start_where_every_shell_is_outside():
    assert near_modes(a_search([[0.5, 0.5]], curvature=1e-3), 20) == []


# ---- mixtures of modes


def test_mixed_starts_are_sums_and_crossings_of_modes():
    modes = np.array([[0.2, 0.3], [0.6, 0.4], [0.5, 0.8]])
    starts = mixed(a_search(modes), 200)
    sums = np.array([a + b - c for a in modes for b in modes for c in modes if c is not a and c is not b])
    crossings = np.array([[a[0], b[1]] for a in modes for b in modes if a is not b])
    points = np.array([start.point for start in starts])
    to_sums, to_crossings = (
        np.linalg.norm(points[:, None] - possible[None], axis=2).min(axis=1) < 1e-12 for possible in (sums, crossings)
    )
    assert (to_sums | to_crossings).all()
    assert to_sums.any()
    assert to_crossings.any()
    assert BOX.inside(points).all()
    assert np.linalg.norm(points[:, None] - modes[None], axis=2).min() > 1e-3  # never a mode itself
    assert len({tuple(np.round(point, 9)) for point in points}) > 5
    assert {start.arm for start in starts} == {MIXED}


def test_two_modes_cannot_be_mixed():
    assert mixed(a_search([[0.2, 0.3], [0.6, 0.4]]), 5) == []


def test_for_global_modes_only_the_best_are_mixed():
    modes = [[0.2, 0.3], [0.6, 0.4], [0.5, 0.8], [0.9, 0.9]]
    assert mixed(a_search(modes, [2.0, 2.0, 1.0, 1.0], is_global=True), 50) == []
    points = np.array([s.point for s in mixed(a_search(modes, [2.0, 2.0, 2.0, 1.0], is_global=True), 100)])
    allowed = np.array(modes[:3])
    sums = np.array([a + b - c for a in allowed for b in allowed for c in allowed])
    crossings = np.array([[a[0], b[1]] for a in allowed for b in allowed])
    apart = np.linalg.norm(points[:, None] - np.concatenate([sums, crossings])[None], axis=2).min(axis=1)
    assert apart.max() < 1e-12


# ---- the choice


def test_given_starts_come_first_and_in_order():
    given = [Start(np.full(2, i / 10), 0.1, GIVEN) for i in range(3)]
    launches = Launches(a_search(), given=list(given))
    first = choose_starts(launches, 2)
    assert [id(start) for start in first] == [id(start) for start in given[:2]]
    rest = choose_starts(launches, 3)
    assert rest[0] is given[2]
    assert [start.arm for start in rest] == [GIVEN, EVEN, EVEN]


def test_passive_launches_start_from_given_points_alone():
    launches = Launches(a_search(), given=[Start(np.zeros(2), 0.1, GIVEN)], is_passive=True)
    assert len(choose_starts(launches, 5)) == 1
    assert choose_starts(launches, 5) == []


def test_the_baseline_starts_at_random():
    launches = Launches(a_search([[0.5, 0.5]]), is_plain=True, launches=100)
    starts = choose_starts(launches, 50)
    assert {start.arm for start in starts} == {EVEN}
    expected = np.random.default_rng(0).random((50, 2))
    np.testing.assert_array_equal([start.point for start in starts], expected)


def test_first_launches_are_evenly_spread_then_arms_compete():
    search = a_search([[0.2, 0.3], [0.6, 0.4], [0.5, 0.8]])
    launches = Launches(search)
    starts = choose_starts(launches, 8)
    sobol = Sobol(2, 5)
    np.testing.assert_array_equal([start.point for start in starts], [sobol.next() for _ in range(8)])
    launches.launches = 8
    assert {start.arm for start in choose_starts(launches, 60)} == {EVEN, NEAR, MIXED}


def test_starts_on_the_bounds_are_on_faces_edges_and_corners():
    box = Box.make([(0, 1)] * 3)
    starts = on_faces(a_search(box=box), 300)
    points = np.array([start.point for start in starts])
    assert box.inside(points).all()
    held = ((points == 0.0) | (points == 1.0)).sum(axis=1)
    assert set(held) == {1, 2, 3}
    assert {start.arm for start in starts} == {FACE}


def test_no_start_is_put_on_a_bound_that_is_not_there():
    box = Box.make([(0, np.inf), (0, 1)], x0=[[0.5, 0.5]], periodic=[1])
    points = np.array([start.point for start in on_faces(a_search(box=box), 100)])
    assert np.isfinite(points).all()
    assert (points[:, 0] == 0.0).any()
    assert not np.isin(points[:, 1], [0.0, 1.0]).any()


@pytest.mark.parametrize("is_at_bound", [False, True])
def test_launches_begin_on_the_bounds_once_a_mode_was_found_there(is_at_bound):
    search = a_search([[0.2, 0.3], [0.6, 0.4], [0.5, 0.8]])
    search.archive.has_boundary = is_at_bound
    arms = {start.arm for start in choose_starts(Launches(search, launches=8), 60)}
    assert (FACE in arms) is is_at_bound


def test_as_many_starts_as_wanted_even_where_arms_cannot_provide():
    launches = Launches(a_search([[0.5, 0.5]], curvature=1e-3), launches=50)  # no shell inside, nothing to mix
    starts = choose_starts(launches, 30)
    assert len(starts) == 30
    assert {start.arm for start in starts} == {EVEN}


def test_for_global_modes_points_are_screened_first():
    search = a_search(is_global=True)
    launches = Launches(search)
    assert choose_starts(launches, 3) == []
    assert launches.is_screening
    assert choose_starts(launches, 3) == []  # until they are told
    points = np.random.default_rng(1).random((50, 2))
    launches.is_screening = False
    launches.screen.add(points, -((points - 0.5) ** 2).sum(axis=1), search)
    starts = choose_starts(launches, 1)
    assert [start.arm for start in starts] == [SCREENED]
    best = points[((points - 0.5) ** 2).sum(axis=1).argmin()]
    np.testing.assert_array_equal(starts[0].point, best)
