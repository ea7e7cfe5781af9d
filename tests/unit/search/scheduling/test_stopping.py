from dataclasses import replace

import numpy as np
import pytest

from allmodes.modes.missing import Missing
from allmodes.objective.bounds import Box
from allmodes.search.archive import Archive, Frozen
from allmodes.search.context import Context
from allmodes.search.fresh import Fresh
from allmodes.search.scheduling.stopping import Stopping
from allmodes.search.searchers.multistart import Counts
from allmodes.storage import pack, unpack

EVEN, UNEVEN = [25, 30, 20, 27], [60, 12, 9, 5, 3, 1, 1, 2]


def a_context(modes=0, found_at=1, **settings):
    box = Box.make([(0, 1)])
    context = Context(box, Archive(box), np.random.default_rng(0), **{"maxfev": 100_000} | settings)
    for place in np.linspace(0.1, 0.9, modes):
        record = Frozen(np.zeros(1), -np.eye(1), np.zeros(1, bool), "optimum", "derivatives", found_at)
        context.archive.add(np.array([place]), 1.0, record)
    return context


def counts_of(hits, nfev=2000, searches=200, **others):
    """Counts of searches that took equally many evaluations each."""
    n = sum(hits)
    fresh = Fresh(np.array(hits, dtype=np.int64), 0, [(k, k * nfev // max(n, 1)) for k in range(1, n + 1)])
    return Counts(searches=searches, since_new=searches, fresh=fresh, **others)


def test_it_ends_when_hardly_any_mode_is_expected():
    said = Stopping().ending(a_context(4, nfev=2000), counts_of(EVEN), [])
    assert said.startswith("hardly any new mode is expected of 2000 more evaluations (0.0")


def test_it_goes_on_while_modes_are_expected():
    stopping = Stopping()
    assert stopping.ending(a_context(8, nfev=2000), counts_of(UNEVEN), []) == ""
    assert stopping.expected == pytest.approx(Missing(UNEVEN).expected(1.0), rel=0.05)


@pytest.mark.parametrize(
    ("effort", "maxfev", "times"), [(1, 100_000, 1), (3, 100_000, 3), (np.inf, 20_000, 9), (5, 4_000, 1)]
)
def test_ahead_is_a_multiple_of_what_was_made_and_never_more_than_is_left(effort, maxfev, times):
    stopping = Stopping(effort=effort)
    stopping.ending(a_context(8, nfev=2000, maxfev=maxfev), counts_of(UNEVEN), [])
    assert stopping.expected == pytest.approx(Missing(UNEVEN).expected(times), rel=0.05)


def test_searches_that_have_become_cheaper_count_for_more():
    dear, cheap = Stopping(), Stopping()
    counts = counts_of(UNEVEN)
    dear.ending(a_context(8, nfev=2000), counts, [])
    counts.fresh.marks = [(n, int(1900 * min(1, n / 40))) for n, _ in counts.fresh.marks]
    cheap.ending(a_context(8, nfev=2000), counts, [])
    assert cheap.expected > 1.5 * dear.expected


def test_a_hundred_searches_are_made_before_anything_is_judged():
    context = a_context(4, nfev=2000)
    assert not Stopping().ending(context, counts_of(EVEN, searches=99), [])
    assert Stopping().ending(context, counts_of(EVEN, searches=100), [])


def test_the_user_may_be_more_patient_or_less():
    context = a_context(4, nfev=2000)
    assert not Stopping(patience=201).ending(context, counts_of(EVEN), [])
    assert not Stopping(patience=150).ending(context, replace(counts_of(EVEN), since_new=149), [])
    assert Stopping(patience=150).ending(context, replace(counts_of(EVEN), since_new=150), [])
    assert Stopping(patience=20).ending(context, counts_of(EVEN, searches=20), [])


def test_modes_known_in_other_ways_count_as_known():
    """Eight modes of which four were never hit: the spread is wide."""
    assert not Stopping().ending(a_context(8, nfev=2000), counts_of(EVEN), [])


def test_it_is_judged_again_when_searches_have_grown_or_a_mode_is_new():
    stopping, counts = Stopping(), counts_of(EVEN)
    assert stopping.ending(a_context(4, nfev=2000), counts, [])
    worse = replace(counts, fresh=counts_of([60, 1, 1, 1]).fresh)
    assert stopping.ending(a_context(4, nfev=2000), replace(worse, searches=212), [])
    assert not stopping.ending(a_context(4, nfev=2000), replace(worse, searches=213), [])
    again = Stopping()
    assert again.ending(a_context(4, nfev=2000), counts, [])
    assert not again.ending(a_context(5, nfev=2000), worse, [])


def test_so_many_evaluations_are_made_after_the_last_new_mode():
    counts = counts_of(EVEN, last_new=500)
    for nfev, is_over in ((1499, False), (1500, True)):
        assert bool(Stopping(persistence=1000).ending(a_context(4, nfev=nfev), counts, [])) is is_over
        found = a_context(4, nfev=nfev, found_at=500)  # by another member
        assert bool(Stopping(persistence=1000).ending(found, counts_of(EVEN), [])) is is_over


@pytest.mark.parametrize(("running", "is_over"), [([], True), ([198, 199], True), ([197, 199], False), ([12], False)])
def test_searches_that_were_in_flight_when_a_mode_was_new_are_awaited(running, is_over):
    counts = counts_of(EVEN, awaited=197)
    assert bool(Stopping().ending(a_context(4, nfev=2000), counts, running)) is is_over


@pytest.mark.parametrize(("oldest", "is_over"), [(12, False), (192, False), (193, True)])
def test_a_search_that_takes_long_is_awaited_and_no_other_begins(oldest, is_over):
    """As many as are in flight have begun and ended twice since: what takes long may be where no other has been."""
    stopping, running = Stopping(), [oldest, 201, 202, 203]
    assert bool(stopping.ending(a_context(4, nfev=2000), counts_of(EVEN), running)) is is_over
    assert stopping.waits is not is_over
    assert stopping.ending(a_context(8, nfev=2000), counts_of(UNEVEN), running) == ""  # others are expected
    assert not stopping.waits


def test_a_search_for_the_best_modes_ends_after_barren_screenings():
    context, counts = a_context(4, is_global=True), counts_of(UNEVEN)
    assert Stopping().ending(context, replace(counts, barren=4), []) == ""
    assert Stopping().ending(context, replace(counts, barren=5), []) == "5 screenings in a row found no new mode"
    assert Stopping(persistence=100).ending(context, replace(counts, barren=5), []) == ""


def test_searches_that_run_away_are_given_up():
    counts = Counts(searches=8, since_new=8, nowhere=5, runaways=5)
    assert Stopping().ending(a_context(), counts, []) == "5 of 8 local searches ran away without end"
    assert Stopping(persistence=100).ending(a_context(), counts, [])
    assert not Stopping().ending(a_context(1), counts, [])
    assert not Stopping().ending(a_context(), replace(counts, runaways=4), [])
    assert not Stopping().ending(a_context(), Counts(searches=5, runaways=5), [])


@pytest.mark.parametrize("modes", [0, 3])
def test_where_no_search_from_a_new_place_ended_in_a_mode_nothing_is_known_and_it_goes_on(modes):
    stopping = Stopping()
    assert not stopping.ending(a_context(modes, nfev=2000), Counts(searches=100, since_new=100), [])
    assert stopping.expected == np.inf


def test_it_can_be_stored():
    stopping = Stopping(7, 99, np.inf)
    stopping.ending(a_context(8, nfev=2000), counts_of(UNEVEN), [])
    assert unpack(*pack(stopping)) == stopping
