"""The facade: who is asked, in which order, what it costs, and that a stored search goes on exactly."""

from dataclasses import fields

import numpy as np
import pytest
from local_runs import a_context, answer, begin, cone, quartic, run

from allmodes.search.candidate import GIVEN, LOCAL, POLISH, POPULATION, SPACE_FILLING, Origin, Start
from allmodes.search.events import Arrived, Continue
from allmodes.search.searchers.local.local_search import LocalSearch
from allmodes.search.searchers.local.tuning import TUNING
from allmodes.storage.packing import pack, unpack

STARTS = np.random.default_rng(3).random((9, 2))


def described(events):
    """What can be compared of events."""
    return [
        (type(event).__name__, event.candidate.origin, event.candidate.point.tolist())
        if isinstance(event, Arrived)
        else (type(event).__name__, event.origin)
        for event in events
    ]


def test_searches_are_numbered_and_counted_by_kind():
    context = a_context(2, function=quartic)
    local = LocalSearch(context)
    first = local.open([Start(point, SPACE_FILLING) for point in STARTS[:3]], LOCAL)
    other = local.open([Start(STARTS[3], POLISH, 0.01)], POPULATION)
    assert first + other == [Origin(LOCAL, SPACE_FILLING, i) for i in range(3)] + [Origin(POPULATION, POLISH, 3)]
    assert len(local) == 4
    assert local.numbers == [0, 1, 2, 3]
    assert (local.count(POLISH), local.count(SPACE_FILLING, POLISH), local.count(GIVEN)) == (1, 4, 0)
    assert local.open([], LOCAL) == []


def test_the_oldest_idle_searches_are_asked_first_and_no_others():
    context = a_context(2, function=quartic)
    local = begin(context, STARTS)
    (first,) = local.ask(4)
    assert (first.machine, first.kind) == ("trust region", "START")
    np.testing.assert_array_equal(first.points[:, 0], STARTS[:4])
    (second,) = local.ask(3)
    np.testing.assert_array_equal(second.points[:, 0], STARTS[4:7])
    (third,) = local.ask()
    np.testing.assert_array_equal(third.points[:, 0], STARTS[7:])
    assert local.ask() == []


def test_a_search_that_comes_back_is_asked_before_younger_ones():
    context = a_context(2, function=quartic)
    local = begin(context, STARTS[:3])
    blocks = local.ask(1)
    local.resume(Continue(Origin(LOCAL, SPACE_FILLING, 0, cost=9), np.array([0.4, 0.4]), 0.01))
    local.resume(Continue(Origin(LOCAL, SPACE_FILLING, 0, cost=9), np.array([0.6, 0.4]), 0.01, is_kinked=True))
    both = local.ask(2)
    assert [(block.machine, block.points.tolist()) for block in both] == [
        ("trust region", [[[0.4, 0.4]]]),
        ("quasi-Newton", [[[0.6, 0.4]]]),
    ]
    assert len(blocks) == 1


def test_a_search_that_another_member_began_is_recorded_apart_from_its_own():
    context = a_context(2, function=quartic)
    local = begin(context, STARTS[:2])
    local.resume(Continue(Origin(POPULATION, "component", 0, cost=50), STARTS[2], 0.01))
    assert local.numbers == [0, 1, 2]
    events = run(local, quartic)
    assert {event.candidate.origin.number for event in events if event.candidate.origin.member == POPULATION} == {0}
    assert [e.candidate.origin.cost > 50 for e in events if e.candidate.origin.member == POPULATION] == [True]
    numbers, points, _ = context.paths.sorted()
    np.testing.assert_array_equal(points[numbers == 2][0], STARTS[2])


def test_what_a_resumed_search_was_asked_stays_with_it():
    context = a_context(1, function=quartic)
    local = LocalSearch(context)
    origin = Origin(LOCAL, SPACE_FILLING, 4, cost=10, question=6, compared=2)
    local.resume(Continue(origin, np.array([0.3, 0.2]), 0.02))
    (event,) = run(local, quartic)
    assert event.candidate.origin == origin._replace(cost=10 + context.nfev)


@pytest.mark.parametrize("order", [0, 1, 2])
@pytest.mark.parametrize("function", [quartic, cone])
def test_a_search_ends_the_same_however_many_are_asked_at_once(order, function):
    """Searches do not depend on each other but through the archive, which stays empty here."""
    alone = described(run(begin(a_context(order, function=function), STARTS, kind=GIVEN), function, most=1))
    together = described(run(begin(a_context(order, function=function), STARTS, kind=GIVEN), function))
    for ends in (alone, together):
        ends.sort(key=lambda end: end[1].number)
    names, origins = ([end[i] for end in alone] for i in (0, 1))
    if function is quartic:
        assert names == ["Arrived"] * 9
        assert origins == [end[1] for end in together]
    assert len(together) == len(alone) == 9


def test_events_of_a_round_are_in_the_order_of_the_searches():
    context = a_context(1, function=cone)
    local = begin(context, STARTS)
    rounds = []
    while len(local):
        blocks = local.ask()
        events = local.tell(blocks, answer(context, blocks, cone))
        rounds.append([(e.candidate.origin if isinstance(e, Arrived) else e.origin).number for e in events])
    assert sum(map(len, rounds)) == 9
    assert all(numbers == sorted(numbers) for numbers in rounds)


def test_first_values_of_space_filling_starts_tell_the_level_and_no_others():
    for kind, count in ((SPACE_FILLING, 9), (GIVEN, 0)):
        context = a_context(1)
        local = begin(context, STARTS, kind=kind)
        blocks = local.ask()
        local.tell(blocks, answer(context, blocks, quartic))
        assert len(context.sampled) == count
    context = a_context(1)
    local = LocalSearch(context)
    local.resume(Continue(Origin(LOCAL, SPACE_FILLING, 0, cost=5), STARTS[0], 0.1))
    run(local, quartic)
    assert len(context.sampled) == 0


def test_first_steps_are_those_wanted_or_the_usual_ones():
    for radius, length in ((0.0, TUNING.first_radius * np.sqrt(2.0)), (0.03, 0.03)):
        context = a_context(1, function=quartic)
        local = begin(context, [(0.5, 0.5)], radius=radius)
        blocks = local.ask()
        local.tell(blocks, answer(context, blocks, quartic))
        (block,) = local.ask()
        assert np.linalg.norm(block.points[0, 0] - 0.5) == pytest.approx(length, rel=0.05)


@pytest.mark.parametrize("function", [quartic, cone])
@pytest.mark.parametrize("order", [0, 1])
def test_a_stored_search_goes_on_exactly(function, order):
    context = a_context(order, function=function)
    local = begin(context, STARTS)
    for _ in range(8):
        blocks = local.ask()
        local.tell(blocks, answer(context, blocks, function))
    assert len(local) > 3
    blocks = local.ask(3)  # in flight
    loaded, loaded_blocks = unpack(*pack((local, blocks)))
    ends = []
    for search, asked in ((local, blocks), (loaded, loaded_blocks)):
        events = search.tell(asked, answer(search.context, asked, function))
        ends.append(described(events + run(search, function)))
    assert ends[0] == ends[1]
    assert loaded.context.nfev == context.nfev


def test_every_constant_has_a_unit_and_a_reason():
    of_fits = [field for field in fields(TUNING) if field.name.endswith("_of_fits")]
    assert len(fields(TUNING)) - len(of_fits) <= 26
    assert len(of_fits) <= 8
    assert all(field.metadata["unit"] and field.metadata["why"] for field in fields(TUNING))
