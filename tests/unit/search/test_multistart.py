"""Where local searches begin; the searches themselves are pretended: each ends in one of some modes."""

from collections import Counter

import numpy as np
import pytest

from allmodes.objective.bounds import Box
from allmodes.search.archive import Archive, Frozen
from allmodes.search.candidate import (
    AT_BOUNDS,
    BETWEEN_MODES,
    GIVEN,
    LOCAL,
    NEAR_BEST,
    POPULATION,
    SCREENED,
    SPACE_FILLING,
    Candidate,
    Origin,
    Start,
)
from allmodes.search.context import Context
from allmodes.search.events import (
    Arrived,
    Continue,
    Failed,
    KnownMode,
    NewMode,
    RanAway,
    Recognised,
    Rejected,
    Stuck,
)
from allmodes.search.fresh import Fresh
from allmodes.search.scheduling.stopping import Stopping
from allmodes.search.searchers.multistart import Multistart
from allmodes.search.starts.space_filling import SpaceFilling
from allmodes.storage import pack, unpack

LATTICE = np.array([[x, y] for x in np.arange(0.1, 1.0, 0.2) for y in np.arange(0.1, 1.0, 0.2)])


def a_context(modes=(), values=None, seed=0, **settings):
    box = Box.make([(0, 1)] * 2)
    context = Context(box, Archive(box), np.random.default_rng(seed), **{"order": 2} | settings)
    context.observe_level(np.linspace(-1.0, 1.0, 101))
    for i, mode in enumerate(modes):
        freeze(context, np.asarray(mode, dtype=float), 2.0 if values is None else values[i])
    return context


def freeze(context, point, value=2.0):
    record = Frozen(np.zeros(2), -2000.0 * np.eye(2), np.zeros(2, bool), "optimum", "derivatives", context.nfev)
    return context.archive.add(point, value, record)


def origin(start=SPACE_FILLING, cost=5, number=0, member=LOCAL, **rest):
    return Origin(member, start, number, cost, **rest)


class Pretended:
    """Local searches of ten rounds at most, that end in the nearest mode within reach, else in the middle."""

    def __init__(self, modes, reach=np.inf, seed=0, **settings):
        self.modes, self.reach = np.concatenate([[[0.5, 0.5]], modes]), reach
        self.multistart, self.stopping = Multistart(a_context(seed=seed, **settings)), Stopping()
        self.searches, self.history, self.new_by = {}, [], Counter()
        self.rng = np.random.default_rng(0)

    def value(self, points):
        apart = np.linalg.norm(self.multistart.context.box.difference(points[:, None], self.modes), axis=2)
        return 2.0 - 1000.0 * apart.min(axis=1) ** 2

    def round(self):
        multistart, context = self.multistart, self.multistart.context
        for start in multistart.choose(len(self.searches)):
            self.searches[len(self.history)] = start, int(self.rng.integers(2, 10))
            self.history.append(start)
        if multistart.needs_screening:
            points = multistart.screening()
            context.nfev += len(points)
            multistart.tell_screening(points, self.value(points))
        context.nfev += len(self.searches)
        for number, (start, rounds) in list(self.searches.items()):
            self.searches[number] = start, rounds - 1
            if rounds == 1:
                self.end(number, start)

    def end(self, number, start):
        del self.searches[number]
        archive = self.multistart.context.archive
        apart = np.linalg.norm(self.modes - start.point, axis=1)
        target = self.modes[apart.argmin() if apart.min() < self.reach else 0]
        mode, distance = archive.closest(target)
        is_new = distance > 1e-6
        mode = freeze(self.multistart.context, target) if is_new else mode
        archive.hit(mode, start.kind == SPACE_FILLING)
        self.new_by[start.kind] += is_new
        event = (NewMode if is_new else KnownMode)(origin(start.kind, number=number), mode)
        self.multistart.ended(event, list(self.searches))

    def run(self, rounds=10_000):
        for i in range(rounds):
            ending = self.stopping.ending(self.multistart.context, self.multistart.counts, list(self.searches))
            if ending:
                return ending, i
            self.round()
        return "", rounds

    @property
    def kinds(self):
        return Counter(start.kind for start in self.history)


# ---- a whole search


def test_a_search_ends_with_all_modes():
    searches = Pretended(LATTICE)
    ending, _ = searches.run()
    counts = searches.multistart.counts
    assert ending.startswith("hardly any new mode is expected of ")
    assert len(searches.multistart.context.archive) == 25
    assert counts.fresh.searches < counts.searches  # those that begin between modes are left out
    assert (counts.fresh.hits > 0).sum() >= 24
    assert searches.multistart.bandit.found == {kind: n for kind, n in searches.new_by.items() if n}


def test_a_search_for_the_best_modes_ends_with_all_of_them():
    searches = Pretended(LATTICE, is_global=True)
    ending, _ = searches.run()
    assert ending == "5 screenings in a row found no new mode"
    assert len(searches.multistart.context.archive) == 25
    assert searches.history[0].kind == SCREENED
    assert searches.kinds[SPACE_FILLING] == 0
    assert searches.multistart.bandit.spent[SCREENED] > 5 * 200


def test_kinds_of_starts_that_bring_new_modes_are_chosen_more_often():
    """Many modes with narrow basins: on a lattice sums of known ones hit others, elsewhere no kind is better."""
    places = np.arange(0.05, 1.0, 0.1)
    lattice = np.array([[x, y] for x in places for y in places])
    scattered = np.random.default_rng(5).random((100, 2))
    shares = []
    for modes in (lattice, scattered):
        kinds = Counter()
        for seed in range(5):
            searches = Pretended(modes, reach=0.02, seed=seed)
            while len(searches.multistart.context.archive) < 50:
                searches.round()
            kinds += searches.kinds
        shares.append(kinds[BETWEEN_MODES] / kinds.total())
    assert shares[0] > 0.65
    assert shares[1] < 0.55  # about even


@pytest.mark.parametrize("is_global", [False, True])
def test_the_same_seed_gives_the_same_starts(is_global):
    def points(seed):
        searches = Pretended(LATTICE, seed=seed, is_global=is_global)
        searches.run(80)
        assert len(searches.kinds) == 2 + is_global
        return np.array([start.point for start in searches.history])

    first = points(1)
    np.testing.assert_array_equal(points(1), first)
    assert not np.array_equal(points(2)[:8], first[:8])


@pytest.mark.parametrize("is_global", [False, True])
def test_a_saved_search_goes_on_as_if_it_had_not_been(is_global):
    searches = Pretended(LATTICE, is_global=is_global)
    searches.run(60)
    before = len(searches.history)
    saved = pack(searches.multistart)
    state, running = searches.rng.bit_generator.state, dict(searches.searches)
    searches.run(60)
    expected = searches.history[before:]
    searches.multistart, searches.searches, searches.history = unpack(*saved), running, searches.history[:before]
    searches.rng.bit_generator.state = state
    searches.run(60)
    assert len(expected) >= 10
    np.testing.assert_array_equal(
        [start.point for start in searches.history[before:]], [start.point for start in expected]
    )


# ---- the choice


def test_given_starts_come_first_and_in_order():
    given = [Start(np.full(2, i / 10), GIVEN, 0.1) for i in range(3)]
    multistart = Multistart(a_context(), list(given), width=(2, 8))
    first = multistart.choose(0)
    assert all(start is other for start, other in zip(first, given[:2], strict=True))
    rest = multistart.choose(0)
    assert rest[0] is given[2]
    assert [start.kind for start in rest] == [GIVEN, SPACE_FILLING]


def test_without_starts_of_its_own_it_uses_given_ones_alone():
    multistart = Multistart(a_context(), [Start(np.zeros(2), GIVEN)], is_passive=True)
    assert len(multistart.choose(0)) == 1
    assert multistart.choose(0) == []


def test_plain_multistart_begins_at_random_points():
    multistart = Multistart(a_context([[0.5, 0.5]], is_global=True), is_plain=True, width=(50, 50))
    rng = np.random.default_rng(0)
    rng.integers(2**31)  # the seed of the space-filling points
    multistart.counts.searches = 100
    starts = multistart.choose(0)
    np.testing.assert_array_equal([start.point for start in starts], rng.random((50, 2)))
    assert {start.kind for start in starts} == {SPACE_FILLING}


def test_the_first_starts_are_space_filling_then_all_kinds_compete():
    multistart = Multistart(a_context([[0.2, 0.3], [0.6, 0.4], [0.5, 0.8]]), width=(60, 60))
    expected = SpaceFilling(2, multistart.space_filling.seed).draw(60)
    np.testing.assert_array_equal([start.point for start in multistart.choose(0)], expected)
    for _ in range(8):
        multistart.ended(KnownMode(origin(), 0), [])
    starts = multistart.choose(0)
    assert len(starts) == 60
    assert {start.kind for start in starts} == {SPACE_FILLING, BETWEEN_MODES}


@pytest.mark.parametrize("is_global", [False, True])
def test_searches_begin_near_the_best_mode_where_only_that_counts(is_global):
    multistart = Multistart(a_context([[0.2, 0.3], [0.6, 0.4], [0.5, 0.8]], is_global=is_global), width=(60, 60))
    multistart.counts.searches = 10
    assert (NEAR_BEST in {start.kind for start in multistart.choose(0)}) is is_global


@pytest.mark.parametrize(("nfev", "singles", "is_endless"), [(5001, 4, True), (5000, 4, False), (5001, 3, False)])
def test_modes_have_no_end_if_searches_find_others_late(nfev, singles, is_endless):
    multistart = Multistart(a_context(nfev=nfev, maxfev=10_000))
    multistart.counts.fresh = Fresh(np.ones(singles, int), 10 - singles)
    assert multistart.is_endless is is_endless


def test_no_start_is_lost_to_mixes_that_cannot_be_made():
    """With one mode that counts there is nothing to mix; such starts cost nothing, and kept their turn for ever."""
    context = a_context([[0.2, 0.3], [0.6, 0.4], [0.5, 0.8]], [1.0, 1.0, 2.0], is_global=True)
    multistart = Multistart(context, width=(60, 60))
    multistart.counts.searches = 10
    multistart.bandit.charge(SCREENED, 1000)
    assert {start.kind for start in multistart.choose(0)} == {NEAR_BEST}


@pytest.mark.parametrize("is_at_bound", [False, True])
def test_searches_begin_at_the_bounds_once_a_mode_was_found_there(is_at_bound):
    context = a_context([[0.2, 0.3], [0.6, 0.4], [0.5, 0.8]])
    record = Frozen(np.zeros(2), -np.eye(2), np.array([is_at_bound, False]), "optimum", "derivatives", 1)
    context.archive.add(np.array([1.0, 0.5]), 2.0, record)
    multistart = Multistart(context, width=(60, 60))
    multistart.counts.searches = 8
    assert (AT_BOUNDS in {start.kind for start in multistart.choose(0)}) is is_at_bound


def test_as_many_starts_as_wanted_where_kinds_cannot_provide_them():
    context = a_context()
    flat = Frozen(np.zeros(2), -1e-3 * np.eye(2), np.zeros(2, bool), "flat", "derivatives", 1)
    context.archive.add(np.full(2, 0.5), 2.0, flat)  # nothing to mix
    multistart = Multistart(context, width=(30, 30))
    multistart.counts.searches = 50
    assert Counter(start.kind for start in multistart.choose(0)) == {SPACE_FILLING: 30}


def test_good_points_of_others_become_starts_best_first():
    multistart = Multistart(a_context(), width=(50, 50))
    points = np.random.default_rng(0).random((40, 2))
    values = np.linspace(-3.0, 1.0, 40)
    values[37:] = np.nan, -np.inf, np.inf
    multistart.add_points(points, values)
    good = np.flatnonzero((values > multistart.context.level) & np.isfinite(values))[::-1]
    assert 0 < multistart.waiting == len(good) < 20
    starts = multistart.choose(0)[: len(good)]
    assert {start.kind for start in starts} == {GIVEN}
    np.testing.assert_array_equal([start.point for start in starts], points[good])
    multistart.add_points(points, np.linspace(1.0, 2.0, 40))
    assert multistart.waiting == 20


def test_points_of_others_are_starts_before_anything_is_known_of_the_function():
    box = Box.make([(0, 1)] * 2)
    multistart = Multistart(Context(box, Archive(box), np.random.default_rng(0)))
    multistart.add_points(np.full((2, 2), 0.3), np.array([-5.0, np.nan]))
    assert multistart.waiting == 1


# ---- screening


def test_where_only_the_best_modes_count_points_are_screened_first():
    multistart = Multistart(a_context(is_global=True))
    assert not multistart.needs_screening
    assert multistart.choose(0) == []
    assert multistart.needs_screening
    points = multistart.screening()
    assert points.shape == (200, 2)
    assert multistart.choose(0) == []
    values = -((points - 0.5) ** 2).sum(axis=1)
    multistart.tell_screening(points, values)
    assert not multistart.needs_screening
    starts = multistart.choose(1)
    assert [start.kind for start in starts] == [SCREENED]
    np.testing.assert_array_equal(starts[0].point, points[values.argmax()])
    assert multistart.bandit.spent == {SCREENED: 200}
    assert multistart.context.level < 0.0


def test_given_starts_need_no_screening():
    multistart = Multistart(a_context(is_global=True))
    multistart.choose(0)
    multistart.add_points(np.zeros((1, 2)), np.ones(1))
    assert len(multistart.choose(0)) == 1


def test_searches_from_screened_points_in_vain_lead_to_another_screening():
    multistart = Multistart(a_context([[0.5, 0.5]], is_global=True))
    multistart.choose(0)
    points = multistart.screening()
    multistart.tell_screening(points, np.random.default_rng(0).random(200) - 5.0)
    assert len(multistart.choose(0)) == 2
    for _ in range(3):
        multistart.ended(KnownMode(origin(SCREENED), 0), [])
    assert multistart.choose(0) == []
    assert multistart.needs_screening


# ---- how many


def test_the_more_searches_have_ended_the_more_are_in_flight():
    multistart = Multistart(a_context())
    for searches, wanted in ((0, 2), (16, 2), (24, 3), (800, 100), (10_000, 256)):
        multistart.counts.searches = searches
        assert multistart.wanted == wanted
    assert len(multistart.choose(250)) == 6
    assert multistart.choose(256) == multistart.choose(300) == []


@pytest.mark.parametrize(
    ("overlap", "in_flight", "lanes"),
    [
        ("none", 40, 1),
        ("lanes", 2, 1),
        ("lanes", 7, 1),
        ("lanes", 8, 2),
        ("lanes", 40, 2),
        ("each", 2, 4),
        ("each", 9, 9),
    ],
)
def test_rounds_in_flight(overlap, in_flight, lanes):
    assert Multistart(a_context(), width=(4, 8)).lanes(overlap, in_flight) == lanes


def test_without_starts_of_its_own_no_more_rounds_than_given_starts():
    multistart = Multistart(a_context(), [Start(np.zeros(2), GIVEN)] * 2, is_passive=True, width=(8, 8))
    assert [multistart.lanes("each", in_flight) for in_flight in (0, 1, 8)] == [2, 3, 8]
    assert Multistart(a_context(), is_passive=True).lanes("each", 0) == 1


# ---- what came of it


@pytest.mark.parametrize("kind", [SPACE_FILLING, SCREENED, AT_BOUNDS])
def test_ends_are_counted(kind):
    multistart, nowhere = Multistart(a_context([[0.5, 0.5]], nfev=77)), (np.zeros(2), 0.0)
    ends = [
        NewMode(origin(kind), 0),
        KnownMode(origin(kind), 0),
        Recognised(origin(kind), 0),
        Stuck(origin(kind), *nowhere),
        RanAway(origin(kind)),
        Rejected(origin(kind), *nowhere, "a saddle point"),
        Failed(origin(kind, cost=1)),
    ]
    for end in ends:
        multistart.ended(end, [3, 9, 4])
    counts = multistart.counts
    assert (counts.searches, counts.since_new, counts.nowhere, counts.runaways) == (7, 6, 3, 1)
    assert (counts.fresh.hits.tolist(), counts.fresh.lost, counts.fresh.ended) == ([3], 4, 7)
    assert (counts.last_new, counts.awaited) == (77, 9)
    assert multistart.bandit.spent == {kind: 31}
    assert multistart.bandit.found == {kind: 1}


@pytest.mark.parametrize("kind", [GIVEN, BETWEEN_MODES])
def test_ends_of_searches_from_known_places_say_nothing_about_unknown_modes(kind):
    multistart = Multistart(a_context([[0.5, 0.5]]))
    for end in (NewMode(origin(kind), 0), Recognised(origin(kind), 0), RanAway(origin(kind))):
        multistart.ended(end, [])
    assert (multistart.counts.searches, multistart.counts.fresh.ended) == (3, 0)


def test_what_is_no_end_of_a_search_of_its_own_is_not_counted():
    multistart, point = Multistart(a_context([[0.5, 0.5]])), np.zeros(2)
    candidate = Candidate(point, 0.0, point, np.eye(2), "derivatives", origin())
    for event in (
        NewMode(origin(member=POPULATION), 0),
        Arrived(candidate),
        Continue(origin(), point, 0.1),
        Recognised(origin(question=3), 0),
        Stuck(origin(question=3), point, 0.0),
    ):
        multistart.ended(event, [])
    assert multistart.counts.searches == 0
    assert multistart.bandit.spent == {}


def test_where_only_the_best_modes_count_others_are_no_success():
    context = a_context([[0.2, 0.2], [0.8, 0.8], [0.2, 0.8]], [1.0, 2.0, 2.0], is_global=True)
    multistart = Multistart(context)
    multistart.counts.barren = 3
    multistart.ended(NewMode(origin(BETWEEN_MODES), 0), [])
    assert (multistart.bandit.found, multistart.counts.barren) == ({}, 3)
    multistart.ended(NewMode(origin(BETWEEN_MODES), 2), [])
    assert (multistart.bandit.found, multistart.counts.barren) == ({BETWEEN_MODES: 1}, 0)
