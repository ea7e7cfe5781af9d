"""Who gets turns, who joins, what is polished, what is said, and when a search ends."""

from __future__ import annotations

import numpy as np
import pytest
from planned import Planned, evaluate, make_context, make_scheduler, play

from allmodes import find_maxima, find_minima
from allmodes.objective import VALUE
from allmodes.search.archive import Frozen
from allmodes.search.candidate import ANNEALING, LOCAL, POPULATION
from allmodes.search.fresh import Fresh
from allmodes.search.scheduling.stopping import Stopping
from allmodes.search.searchers.multistart import Counts
from allmodes.storage import pack, unpack

PEAKS = np.array([[0.2, 0.3], [0.8, 0.7]])
NEVER = Stopping(patience=10**6)


def hills(z):
    """Peaks of heights 1 and 0.5 at (0.2, 0.3) and (0.8, 0.7)."""
    squared = ((z[..., None, :] - PEAKS) ** 2).sum(axis=-1)
    return np.maximum(1.0 - 9.0 * squared[..., 0], 0.5 - 9.0 * squared[..., 1])


def bowl(z):
    return -((z - 0.4) ** 2).sum(axis=-1)


def root(z):
    """Steeper the nearer: local searches end nowhere."""
    return -np.sqrt(np.abs(z - [0.3, 0.6])).sum(axis=-1)


def began(scheduler, function=bowl):
    """A scheduler whose first local searches have ended, so that turns are given by what members bring."""
    play(scheduler, function, until=lambda: scheduler.multistart.counts.searches >= 8)
    return scheduler


def add_modes(context, n, hits=1, value=0.0):
    for place in np.linspace(0.1, 0.9, n):
        record = Frozen(np.zeros(2), -np.eye(2), np.zeros(2, bool), "optimum", "derivatives", 1)
        context.archive.hit(context.archive.add(np.full(2, place), value, record), times=hits)


# ---- whose turn it is


def test_the_first_local_searches_are_waited_for():
    """Whatever members seem to bring."""
    member = Planned()
    scheduler = make_scheduler(make_context(), member)
    scheduler.turns.bandit.succeed(POPULATION)
    began(scheduler)
    assert member.turns == 0
    assert POPULATION in play(scheduler, bowl, 3)


@pytest.mark.parametrize("winner", [LOCAL, POPULATION])
def test_the_member_that_finds_modes_keeps_the_turn(winner):
    scheduler = began(make_scheduler(make_context(), Planned(), stopping=NEVER))
    for _ in range(100):
        scheduler.turns.bandit.succeed(winner)
    assert set(play(scheduler, bowl, 20)) == {"" if winner == LOCAL else POPULATION}


def test_members_that_find_nothing_take_turns():
    scheduler = began(make_scheduler(make_context(maxfev=10**6), Planned(), stopping=NEVER))
    scheduler.turns.bandit.found.clear()  # the only mode there is
    play(scheduler, bowl, 600)
    spent = scheduler.turns.bandit.spent
    assert 0.5 < spent[POPULATION] / spent[LOCAL] < 2.0


def test_a_member_that_has_ended_gets_no_turn():
    member = Planned(over="done")
    scheduler = began(make_scheduler(make_context(), member, stopping=NEVER))
    scheduler.turns.bandit.succeed(POPULATION)
    assert set(play(scheduler, bowl, 20)) == {""}


@pytest.mark.parametrize(("nowhere", "runaways", "is_even"), [(4, 0, False), (5, 0, True), (5, 1, False)])
def test_where_most_local_searches_end_nowhere_turns_are_even(nowhere, runaways, is_even):
    """However many modes they found: those that are left are others."""
    scheduler = began(make_scheduler(make_context(), Planned(), stopping=NEVER))
    scheduler.multistart.counts = Counts(searches=8, nowhere=nowhere, runaways=runaways)
    assert scheduler.turns.is_rough is is_even
    for _ in range(1000):
        scheduler.turns.bandit.succeed(LOCAL)
    assert (POPULATION in play(scheduler, bowl, 3)) is is_even


def test_with_derivatives_what_is_in_flight_goes_on_first():
    """A member's turn waits until no local search wants a gradient: its own points need none."""
    member = Planned(plan=[([0.2, 0.3], 1.0)])
    scheduler = began(make_scheduler(make_context(order=1), member, stopping=NEVER), hills)
    for _ in range(100):
        scheduler.turns.bandit.succeed(POPULATION)
    for _ in range(60):
        is_busy = len(scheduler.local) or len(scheduler.verifier)
        request = scheduler.ask()
        flight = scheduler.flights[str(request.ticket)]
        if flight.member:
            assert not is_busy
            assert request.needs == VALUE
        scheduler.tell(evaluate(hills, request), request.ticket)
    assert member.turns > 0


def test_without_derivatives_members_and_local_searches_share_rounds():
    member = Planned(plan=[([0.2, 0.3], 1.0)])
    scheduler = make_scheduler(make_context(), member, is_passive=True)
    play(scheduler, hills, 1)
    request = scheduler.ask()
    flight = scheduler.flights[str(request.ticket)]
    assert flight.member == POPULATION
    assert len(request.points) == member.size + sum(block.points.size // 2 for block in flight.blocks) > member.size


# ---- who joins


def test_populations_join_where_local_searches_end_nowhere():
    scheduler = make_scheduler(make_context(), may_join=(POPULATION,))
    play(scheduler, root, 2000, until=lambda: POPULATION in scheduler.members)
    assert scheduler.turns.is_rough
    assert POPULATION in scheduler.members


def test_nobody_joins_where_local_searches_end_in_modes():
    scheduler = make_scheduler(make_context(order=1), may_join=(POPULATION, ANNEALING))
    play(scheduler, hills)
    assert scheduler.members == {}
    assert "hardly any new mode is expected" in scheduler.ending


RUGGED = {"hits": 1, "modes": 15, "searches": 16, "nfev": 1000, "is_global": True}


@pytest.mark.parametrize(
    ("changes", "joins"),
    [
        ({}, True),
        ({"hits": 2}, False),
        ({"modes": 14}, False),
        ({"nfev": 999}, False),
        ({"is_global": False}, False),
        ({"searches": 15, "modes": 15}, False),
        ({"searches": 100, "modes": 100}, True),
    ],
)
def test_annealing_joins_when_nearly_every_local_search_finds_another_mode(changes, joins):
    case = RUGGED | changes
    context = make_context(is_global=case["is_global"])
    scheduler = make_scheduler(context, may_join=(ANNEALING,))
    add_modes(context, case["modes"], case["hits"])
    lost = max(0, case["searches"] - case["modes"] * case["hits"])
    scheduler.multistart.counts.fresh = Fresh(np.full(case["modes"], case["hits"]), lost)
    context.nfev, scheduler.multistart.counts.searches = case["nfev"], case["searches"]
    scheduler.ask()
    assert (ANNEALING in scheduler.members) is joins
    assert ("rugged" in scheduler.account) is joins


# ---- what members are told


def test_points_of_others_are_given_to_all():
    member = Planned()
    scheduler = make_scheduler(make_context(), member)
    scheduler.add_points(np.full((3, 2), 0.5), np.full(3, 5.0))
    assert len(member.points[0]) == scheduler.multistart.waiting == 3


def test_members_are_given_the_points_where_local_searches_got_stuck():
    member = Planned()
    scheduler = make_scheduler(make_context(), member)
    play(scheduler, root, 600, until=lambda: bool(member.stuck))
    (point, value), *_ = member.stuck
    assert value == pytest.approx(root(point))


def test_screened_points_are_given_to_populations_and_charged_to_local_searches():
    member = Planned()
    scheduler = make_scheduler(make_context(is_global=True), member)
    request = scheduler.ask()
    assert request.needs == VALUE
    scheduler.tell(evaluate(hills, request), request.ticket)
    np.testing.assert_array_equal(member.points[0], request.points)
    assert scheduler.turns.bandit.spent == {LOCAL: len(request.points)}


def test_members_hear_what_became_of_their_candidates():
    member = Planned(plan=[([0.2, 0.3], 1.0), ([0.5, 0.5], float(hills(np.array([0.5, 0.5]))))])
    scheduler = make_scheduler(make_context(), member, is_passive=True)
    play(scheduler, hills, 30)
    assert sorted(member.verdicts) == ["NewMode", "Rejected"]


# ---- what is counted


@pytest.mark.parametrize(("is_global", "successes"), [(False, 2), (True, 1)])
def test_when_only_the_best_count_poor_modes_are_no_success(is_global, successes):
    member = Planned(plan=[(peak, float(hills(peak))) for peak in PEAKS])
    scheduler = make_scheduler(make_context(is_global=is_global), member, is_passive=True, polishes=False)
    play(scheduler, hills, 4)
    assert len(scheduler.context.archive) == 2
    assert scheduler.turns.bandit.found == {POPULATION: successes}


@pytest.mark.parametrize("polishes", [False, True])
def test_what_populations_find_is_polished_at_their_expense(polishes):
    peak = PEAKS[0] + 1e-5
    member = Planned(plan=[(peak, float(hills(peak)))])
    scheduler = make_scheduler(make_context(), member, is_passive=True, polishes=polishes)
    turns = play(scheduler, hills, 12)
    context = scheduler.context
    assert (np.abs(context.archive.means[0] - PEAKS[0]).max() < 1e-7) == polishes
    assert (context.archive.records[0].source == "differences") is polishes
    assert scheduler.multistart.counts.searches == 0
    assert set(scheduler.turns.bandit.spent) == {POPULATION}
    assert member.verdicts == ["NewMode"]
    verified = 5  # on a bound, and on both sides along two axes
    polishing = scheduler.turns.bandit.spent[POPULATION] - turns.count(POPULATION) * member.size - verified
    assert (polishing > 0) is polishes


def test_every_evaluation_is_charged_to_somebody():
    scheduler = make_scheduler(make_context(), Planned())
    play(scheduler, hills, 300, until=lambda: bool(scheduler.ending))
    context = scheduler.context
    while len(scheduler.local) or len(scheduler.verifier):
        scheduler.multistart.is_passive = True
        scheduler.members.clear()
        play(scheduler, hills, 1)
        if scheduler.ending:
            break
    assert sum(scheduler.turns.bandit.spent.values()) == context.nfev


def test_the_account_says_who_did_what():
    scheduler = began(make_scheduler(make_context(), Planned(), stopping=NEVER))
    scheduler.turns.bandit.charge(LOCAL, 10_000)
    play(scheduler, bowl, 20)
    searches, spent = scheduler.multistart.counts.searches, scheduler.turns.bandit.spent
    assert scheduler.account == (
        f"{searches} local searches; planned; "
        f"evaluations: local searches {spent[LOCAL]}, populations {spent[POPULATION]}"
    )


# ---- endings


@pytest.mark.parametrize(("searches", "nowhere", "is_rough"), [(7, 7, False), (8, 4, False), (8, 5, True)])
def test_a_rough_function_ends_with_its_populations(searches, nowhere, is_rough):
    member = Planned()
    scheduler = make_scheduler(make_context(), member, stopping=Stopping(patience=1))
    add_modes(scheduler.context, 1)
    scheduler.context.nfev = 1000
    fresh = Fresh(np.array([100]), 0, [(100, 1000)])  # hardly any mode is expected
    scheduler.multistart.counts = Counts(searches=searches, since_new=searches, nowhere=nowhere, fresh=fresh)
    assert ("the function is rough" in scheduler.account) is is_rough
    scheduler.context.learn_random()
    assert "rough" not in scheduler.account
    assert bool(scheduler.ending) is not is_rough
    member.over = "nothing left"
    assert (scheduler.ending == "nothing left") is is_rough


def test_where_local_searches_run_away_the_function_is_not_rough():
    scheduler = make_scheduler(make_context(), Planned())
    scheduler.multistart.counts = Counts(searches=20, nowhere=20, runaways=20)
    assert scheduler.ending == "20 of 20 local searches ran away without end"


def test_a_passive_search_ends_with_its_member_and_what_is_in_flight():
    member = Planned(plan=[([0.2, 0.3], 1.0)])
    scheduler = make_scheduler(make_context(), member, is_passive=True)
    play(scheduler, hills, 1)
    member.over = "nothing left"
    assert scheduler.ending == ""  # its candidate waits
    play(scheduler, hills)
    assert scheduler.ending == "nothing left"
    assert scheduler.context.archive.records[0].source == "differences"


def test_who_wants_the_best_with_a_budget_has_all_members_try():
    member = Planned()
    scheduler = make_scheduler(make_context(is_global=True), member, is_exhaustive=True)
    scheduler.multistart.counts = Counts(searches=50, barren=10)
    assert scheduler.ending == ""
    member.over = "nothing left"
    assert scheduler.ending == "10 screenings in a row found no new mode; nothing left"


# ---- rounds in flight


@pytest.mark.parametrize(("overlap", "rounds"), [("none", 1), ("lanes", 2), ("each", 8)])
def test_local_searches_are_asked_about_in_overlapping_rounds(overlap, rounds):
    context = make_context(order=1)
    scheduler = make_scheduler(context, overlap=overlap)
    scheduler.multistart.width = (8, 8)
    requests = []
    while scheduler.is_ready:
        requests.append(scheduler.ask())
    assert len(requests) == rounds
    assert sum(len(request.points) for request in requests) == 8
    for request in reversed(requests):
        scheduler.tell(evaluate(hills, request), request.ticket)
    assert scheduler.is_ready


@pytest.mark.parametrize("function", [hills, root])
def test_a_search_is_stored_in_the_middle_of_a_round(function):
    scheduler = make_scheduler(make_context(), Planned())
    play(scheduler, function, 30)
    request = scheduler.ask()
    restored = unpack(*pack(scheduler))
    for each in (scheduler, restored):
        each.tell(evaluate(function, request), request.ticket)
        play(each, function, 20)
    np.testing.assert_array_equal(scheduler.ask().points, restored.ask().points)
    assert scheduler.account == restored.account


# ---- whole searches


def rough(x):
    """Steeper the nearer: no slope says where it ends."""
    return np.sqrt(np.abs(x[..., 0] - 0.3)) + 2.0 * np.sqrt(np.abs(x[..., 1] + 0.4))


def test_populations_take_over_on_a_rough_function():
    result = find_minima(rough, [(-1, 1), (-1, 1)], vectorized=True, rng=0, maxfev=8000)
    assert "the function is rough" in result.message
    assert "populations" in result.message
    np.testing.assert_allclose(result.x, [0.3, -0.4], atol=1e-3)


def test_a_smooth_function_is_left_to_local_searches():
    result = find_minima(lambda x: ((x - 0.3) ** 2).sum(axis=-1), [(-1, 1), (-1, 1)], vectorized=True, rng=0)
    assert "local searches" in result.message
    assert "rough" not in result.message
    assert "rugged" not in result.message
    np.testing.assert_allclose(result.x, [0.3, 0.3], atol=1e-6)


def rastrigin(x):
    return (x**2 - 10.0 * np.cos(2 * np.pi * x) + 10.0).sum(axis=-1)


def rastrigin_gradient(x):
    return 2.0 * x + 20.0 * np.pi * np.sin(2 * np.pi * x)


def test_annealing_is_called_for_a_rugged_function():
    """A thousand million modes, each local search in another one."""
    result = find_minima(
        rastrigin, [(-5.12, 5.12)] * 9, jac=rastrigin_gradient, target="global", vectorized=True, rng=0, maxfev=6000
    )
    assert "the function is rugged" in result.message
    assert "annealed" in result.message


def test_members_go_on_when_a_few_local_searches_were_enough():
    """Five equal maxima on a line: a few local searches find them, and the budget is to be used."""
    result = find_maxima(
        lambda x: np.sin(5 * np.pi * x[:, 0]) ** 6, [(0, 1)], vectorized=True, target="global", maxfev=20_000, rng=900
    )
    assert len(result.modes) == 5
    assert "populations as wide as the box" in result.message
