"""What a function is taken for by what became of the local searches, and who gets the turn then."""

from __future__ import annotations

import numpy as np
import pytest
from planned import Planned, make_context

from allmodes.search.archive import Frozen
from allmodes.search.candidate import ANNEALING, LOCAL, OVERVIEW, POPULATION, REFINEMENT, SYMMETRY
from allmodes.search.fresh import Fresh
from allmodes.search.scheduling.turns import Turns
from allmodes.search.searchers.multistart import Counts, Multistart
from allmodes.search.searchers.population.overview import Overview


def from_new_places(modes, hits, searches):
    """Counts of local searches from new places, of which so many ended in each mode and the rest in none."""
    return Counts(searches=searches, fresh=Fresh(np.full(modes, hits), max(0, searches - modes * hits)))


def make_turns(counts=None, modes=0, hits=1, may_join=(), **settings):
    context = make_context(**settings)
    for place in np.linspace(0.1, 0.9, modes):
        record = Frozen(np.zeros(2), -np.eye(2), np.zeros(2, bool), "optimum", "derivatives", 1)
        context.archive.hit(context.archive.add(np.full(2, place), 0.0, record), times=hits)
    multistart = Multistart(context, counts=Counts(searches=8) if counts is None else counts)
    return Turns(context, multistart, may_join)


@pytest.mark.parametrize(
    ("counts", "is_rough"),
    [
        (Counts(searches=7, nowhere=7), False),
        (Counts(searches=8, nowhere=4), False),
        (Counts(searches=8, nowhere=5), True),
        (Counts(searches=8, nowhere=8, runaways=1), False),
    ],
)
def test_a_function_is_rough_when_most_local_searches_end_nowhere(counts, is_rough):
    assert make_turns(counts).is_rough is is_rough


@pytest.mark.parametrize(("tired", "words"), [(0, "rough"), (2, "rough"), (3, "narrow valleys"), (8, "narrow valleys")])
def test_what_stopped_local_searches_is_said(tired, words):
    assert words in make_turns(Counts(searches=8, nowhere=8, tired=tired)).why_nowhere


@pytest.mark.parametrize(("level", "words"), [(4, "rough"), (5, "level ground")])
def test_level_ground_is_not_called_rough(level, words):
    assert words in make_turns(Counts(searches=8, nowhere=8, level=level)).why_nowhere


def test_of_a_function_that_failed_it_is_said_where_searches_may_have_ended():
    turns = make_turns(Counts(searches=8, nowhere=8))
    turns.context.has_failed = True
    assert "where the function ends" in turns.why_nowhere


@pytest.mark.parametrize(
    ("modes", "hits", "searches", "nfev", "is_rugged"),
    [(15, 1, 16, 1000, True), (14, 1, 16, 1000, False), (15, 2, 16, 1000, False), (15, 1, 15, 1000, False),
     (15, 1, 16, 999, False)],
)  # fmt: skip
def test_a_function_is_rugged_when_nearly_every_local_search_finds_another_mode(modes, hits, searches, nfev, is_rugged):
    turns = make_turns(from_new_places(modes, hits, searches), modes, hits)
    turns.context.nfev = nfev
    assert turns.is_rugged is is_rugged


def test_only_those_join_that_may_and_are_not_there():
    rough = Counts(searches=8, nowhere=8)
    assert make_turns(rough, may_join=(POPULATION, ANNEALING)).recruits({}) == [POPULATION]
    assert make_turns(rough, may_join=(POPULATION,)).recruits({POPULATION: Planned()}) == []
    assert make_turns(rough).recruits({}) == []
    assert make_turns(may_join=(POPULATION, ANNEALING)).recruits({}) == []


@pytest.mark.parametrize("is_global", [False, True])
def test_annealing_joins_where_only_the_best_modes_count(is_global):
    turns = make_turns(from_new_places(16, 1, 16), modes=16, may_join=(POPULATION, ANNEALING), is_global=is_global)
    turns.context.nfev = 1000
    assert turns.recruits({}) == ([ANNEALING] if is_global else [])


def test_images_of_modes_go_first_while_they_cost_less_than_local_searches():
    turns, members = make_turns(), {SYMMETRY: Planned()}
    turns.bandit.charge(LOCAL, 100)
    assert turns.choose(members) == SYMMETRY
    turns.bandit.charge(SYMMETRY, 101)
    assert turns.choose(members) == LOCAL
    assert turns.choose(members, has_enough=True) == SYMMETRY


@pytest.mark.parametrize(
    ("is_global", "order", "nfev", "counts", "joins"),
    [  # one of about 2,400 evaluations, of 10,000
        (True, 0, 0, Counts(searches=8), True),
        (True, 1, 0, Counts(searches=8), False),
        (False, 0, 0, Counts(searches=8), False),
        (False, 0, 0, Counts(searches=8, nowhere=8), True),
        (False, 0, 5001, from_new_places(4, 1, 10), True),
        (False, 0, 5000, from_new_places(4, 1, 10), False),
        (False, 0, 5001, from_new_places(3, 1, 10), False),
    ],
)
def test_an_overview_is_wanted_of_the_best_modes_of_rough_functions_and_of_endless_modes(
    is_global, order, nfev, counts, joins
):
    turns = make_turns(counts, may_join=(OVERVIEW,), is_global=is_global, order=order, maxfev=10_000)
    turns.context.nfev = nfev
    assert turns.recruits({}) == ([OVERVIEW] if joins else [])


@pytest.mark.parametrize(("maxfev", "joins"), [(9600, True), (9599, False)])
def test_an_overview_that_costs_more_than_a_quarter_is_not_wanted_where_all_modes_count(maxfev, joins):
    turns = make_turns(from_new_places(4, 1, 10), may_join=(OVERVIEW,), maxfev=maxfev)
    turns.context.nfev = 9000
    assert turns.recruits({}) == ([OVERVIEW] if joins else [])


def test_an_overview_has_half_of_all_evaluations():
    turns, members = make_turns(), {POPULATION: Planned(), OVERVIEW: Planned(name=OVERVIEW)}
    turns.bandit.charge(LOCAL, 60)
    turns.bandit.charge(POPULATION, 40)
    for _ in range(1000):
        turns.bandit.succeed(LOCAL)
    turns.bandit.charge(OVERVIEW, 99)
    assert turns.choose(members) == OVERVIEW
    turns.bandit.charge(OVERVIEW, 1)
    assert turns.choose(members) == LOCAL


def with_overview(modes, last, is_back, counts=None):
    """Turns among local searches, populations and looks at the whole box, the last of which ended in this mode."""
    turns = make_turns(counts, modes, is_global=True)
    overview = Overview(turns.context)
    overview.last, overview.is_back = last, is_back
    for name in (LOCAL, POPULATION, OVERVIEW):
        turns.bandit.charge(name, 1000)
    return turns, {POPULATION: Planned(), OVERVIEW: overview}


@pytest.mark.parametrize(
    ("modes", "last", "is_back", "is_known"),
    [(1, -1, False, False), (1, 0, False, False), (1, 0, True, True), (2, 1, False, True), (2, -1, False, False)],
)
def test_looks_at_the_whole_box_take_less_once_they_agree_on_the_best_value(modes, last, is_back, is_known):
    turns, members = with_overview(modes, last, is_back)
    assert (turns.choose(members) == OVERVIEW) is not is_known
    turns.bandit.charge(POPULATION, 30_000)
    assert turns.choose(members) == OVERVIEW


def test_a_look_that_ended_in_a_worse_mode_says_nothing():
    turns, members = with_overview(2, 1, True)
    record = turns.context.archive.records[0]
    turns.context.archive.add(np.full(2, 0.05), 1.0, record)
    assert turns.choose(members) == OVERVIEW


def test_once_the_best_value_is_known_the_turn_goes_to_who_found_modes_of_late():
    turns, members = with_overview(2, 1, False)
    for _ in range(100):
        turns.bandit.succeed(LOCAL)
    assert turns.choose(members) == LOCAL
    turns.bandit.charge(LOCAL, 1001)  # all it found was in the first half
    turns.bandit.charge(OVERVIEW, 1000)
    turns.bandit.succeed(POPULATION)
    assert turns.choose(members) == POPULATION


def test_local_searches_that_end_in_known_modes_alone_promise_less():
    for hits, expected in ((1, LOCAL), (50, POPULATION)):
        turns, members = with_overview(2, 1, False, Counts(searches=100, fresh=Fresh(np.full(2, hits), 0)))
        turns.bandit.charge(POPULATION, 500)
        assert turns.choose(members) == expected


def test_a_mode_is_refined_late():
    turns, members = make_turns(maxfev=10_000), {POPULATION: Planned(), REFINEMENT: Planned(name=REFINEMENT)}
    assert turns.choose(members) == LOCAL
    assert turns.choose(members, has_enough=True) == REFINEMENT
    turns.context.nfev = 5001
    assert turns.choose(members) == REFINEMENT
    assert turns.choose({REFINEMENT: Planned(name=REFINEMENT, over="done")}) == LOCAL


def test_the_better_rate_gets_the_turn_and_local_searches_a_tie():
    turns, members = make_turns(), {POPULATION: Planned()}
    assert turns.choose(members) == LOCAL
    turns.bandit.succeed(POPULATION)
    assert turns.choose(members) == POPULATION
    assert turns.choose({POPULATION: Planned(over="done")}) == LOCAL
    turns.multistart.counts.searches = 7
    assert turns.choose(members) == LOCAL


def test_local_searches_get_no_turn_once_there_were_enough():
    turns = make_turns()
    assert turns.choose({POPULATION: Planned()}, has_enough=True) == POPULATION
    turns.multistart.counts.searches = 2  # a few were enough
    assert turns.choose({POPULATION: Planned()}, has_enough=True) == POPULATION
    assert turns.choose({POPULATION: Planned(over="done")}, has_enough=True) == LOCAL


def test_with_derivatives_annealing_catches_up_with_local_searches_first():
    members = {ANNEALING: Planned(name=ANNEALING)}
    for order, expected in ((0, LOCAL), (1, ANNEALING)):
        turns = make_turns(order=order)
        turns.bandit.charge(LOCAL, 100)
        for _ in range(100):
            turns.bandit.succeed(LOCAL)
        assert turns.choose(members) == expected
        turns.bandit.charge(ANNEALING, 100)
        assert turns.choose(members) == LOCAL


def test_a_passive_search_is_its_members():
    turns = make_turns()
    turns.multistart.is_passive = True
    assert turns.choose({POPULATION: Planned()}) == POPULATION
    assert turns.choose({POPULATION: Planned(over="done")}) == LOCAL
