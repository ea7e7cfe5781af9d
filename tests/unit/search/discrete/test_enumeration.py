"""All points: the optima are right with plateaus, choices, exchanges and failures."""

from __future__ import annotations

import numpy as np
import pytest

from allmodes.objective.bounds import Box
from allmodes.search.searchers.discrete.enumeration import Enumeration
from allmodes.search.searchers.discrete.space import Space

BOXES = {
    "whole": (Box.make([(0, 6), (0, 4)], integrality=True), False),
    "choices": (Box.make([(0, 6), ["a", "b", "c"], (0, 1)], integrality=[1, 0, 1]), False),
    "exchanges": (Box.make([(0, 2)] * 3, integrality=True), True),
}


def by_hand(space, values):
    """Plateaus without a better neighbour, by following them one point at a time."""
    neighbours = [space.numbers(space.neighbours(space.numbered(np.array([i]))[0])).tolist() for i in range(space.size)]
    found, seen = set(), set()
    for i in range(space.size):
        if i in seen or not np.isfinite(values[i]):
            continue
        level, todo = {i}, [i]
        while todo:
            more = [k for k in neighbours[todo.pop()] if values[k] == values[i] and k not in level]
            level.update(more)
            todo += more
        seen |= level
        if all(values[k] <= values[i] for each in level for k in neighbours[each]):
            found.add(frozenset(level))
    return found


@pytest.mark.parametrize("name", BOXES)
@pytest.mark.parametrize("seed", range(5))
def test_optima_are_plateaus_without_a_better_neighbour(name, seed):
    space = Space.of(*BOXES[name])
    values = np.random.default_rng(seed).integers(0, 4, space.size).astype(float)
    values[seed] = -np.inf
    every = Enumeration(space)
    every.know(space.numbered(np.arange(0, space.size, 3)), values[::3])
    while len(every.ask()):
        assert not every.is_whole
        every.tell(values[every.asked])
    assert every.is_whole
    found = {frozenset(rows.tolist()) for rows in every.optima(np.zeros(space.size))}
    assert found == by_hand(space, values)
    assert found


def test_every_point_is_asked_for_once():
    space = Space.of(Box.make([(0, 99), (0, 49)], integrality=True))
    every, asked = Enumeration(space), []
    while len(levels := every.ask()):
        asked += space.numbers(levels).tolist()
        every.tell(np.zeros(len(levels)))
    assert sorted(asked) == list(range(5000))
