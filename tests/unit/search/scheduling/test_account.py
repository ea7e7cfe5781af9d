"""What a search says of itself: who did what, and what the function proved to be."""

import numpy as np
from planned import Planned

from allmodes.objective.bounds import Box
from allmodes.search.archive import Archive
from allmodes.search.candidate import ANNEALING, LOCAL, POPULATION
from allmodes.search.context import Context
from allmodes.search.scheduling.account import account_of
from allmodes.search.scheduling.turns import Turns
from allmodes.search.searchers.multistart import Multistart


def told(searches, spent, members, **counts):
    box = Box.make([(0, 1)] * 2)
    context = Context(box, Archive(box), np.random.default_rng(0))
    multistart = Multistart(context)
    multistart.counts.searches = searches
    for name, value in counts.items():
        setattr(multistart.counts, name, value)
    turns = Turns(context, multistart, ())
    for name, evaluations in spent.items():
        turns.bandit.charge(name, evaluations)
    return account_of(context, multistart, turns, members)


def test_without_members_local_searches_did_it_all():
    assert told(1, {LOCAL: 40}, {}) == "1 local search"
    assert told(0, {}, {}) == "0 local searches"


def test_members_that_spent_something_speak_and_the_others_do_not():
    members = {POPULATION: Planned(), ANNEALING: Planned()}
    assert told(12, {LOCAL: 40, POPULATION: 60}, {POPULATION: members[POPULATION]}) == (
        f"12 local searches; {Planned().account}; evaluations: {LOCAL} 40, {POPULATION} 60"
    )
    assert "rugged" in told(12, {LOCAL: 40}, members)


def test_rough_functions_are_called_so():
    assert "most local searches ended in no mode" in told(20, {LOCAL: 400}, {}, nowhere=19)
    assert "ended in no mode" not in told(20, {LOCAL: 400}, {}, nowhere=2)
