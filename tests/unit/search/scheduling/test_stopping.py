from dataclasses import replace

import numpy as np
import pytest

from allmodes.objective.bounds import Box
from allmodes.search.archive import Archive, Frozen
from allmodes.search.context import Context
from allmodes.search.scheduling.stopping import Stopping
from allmodes.search.searchers.multistart import Counts


def a_context(modes=0, hits=10, **settings):
    box = Box.make([(0, 1)])
    context = Context(box, Archive(box), np.random.default_rng(0), **settings)
    for place in np.linspace(0.1, 0.9, modes):
        record = Frozen(np.zeros(1), -np.eye(1), np.zeros(1, bool), "optimum", "derivatives", 1)
        context.archive.hit(context.archive.add(np.array([place]), 1.0, record), times=hits)
    return context


DONE = Counts(searches=480, since_new=120)


def test_many_searches_without_a_new_mode_are_enough():
    assert Stopping().ending(a_context(4), DONE, []) == "the last 120 of 480 local searches found no new mode"
    assert Stopping().ending(a_context(4), replace(DONE, since_new=99), []) == ""


def test_the_user_may_be_more_patient_or_less():
    assert Stopping(patience=121).ending(a_context(4), DONE, []) == ""
    assert Stopping(patience=20).ending(a_context(4), replace(DONE, since_new=20), [])


def test_the_more_modes_the_more_patience():
    assert Stopping().ending(a_context(24), DONE, [])
    assert not Stopping().ending(a_context(25), DONE, [])


def test_modes_found_only_once_say_that_there_are_others():
    context = a_context(10)
    context.archive.hits[:] = [1] * 9 + [10]
    assert Stopping().ending(context, DONE, [])  # 9 of 480
    context.archive.hits[:] = 1
    assert not Stopping().ending(context, DONE, [])  # 10 of 480


def test_so_many_evaluations_are_made_after_the_last_new_mode():
    counts = replace(DONE, last_new=500)
    for nfev, is_over in ((1499, False), (1500, True)):
        assert bool(Stopping(persistence=1000).ending(a_context(4, nfev=nfev), counts, [])) is is_over


@pytest.mark.parametrize(("running", "is_over"), [([], True), ([31, 40], True), ([30, 31], False), ([12], False)])
def test_searches_that_were_in_flight_when_a_mode_was_new_are_awaited(running, is_over):
    assert bool(Stopping().ending(a_context(4), replace(DONE, awaited=30), running)) is is_over


def test_a_search_for_the_best_modes_ends_after_barren_screenings():
    context = a_context(4, is_global=True)
    assert Stopping().ending(context, replace(DONE, barren=4), []) == ""
    assert Stopping().ending(context, replace(DONE, barren=5), []) == "5 screenings in a row found no new mode"
    assert Stopping(persistence=100).ending(context, replace(DONE, barren=5), []) == ""


def test_searches_that_run_away_are_given_up():
    counts = Counts(searches=8, since_new=8, nowhere=5, runaways=5)
    assert Stopping().ending(a_context(), counts, []) == "5 of 8 local searches ran away without end"
    assert Stopping(persistence=100).ending(a_context(), counts, [])
    assert not Stopping().ending(a_context(1), counts, [])
    assert not Stopping().ending(a_context(), replace(counts, runaways=4), [])
    assert not Stopping().ending(a_context(), Counts(searches=5, runaways=5), [])


def test_a_search_that_found_nothing_ends():
    assert Stopping().ending(a_context(), Counts(searches=100, since_new=100), [])
