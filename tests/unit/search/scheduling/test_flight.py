"""Rounds in flight: what is told of a round is shared out among its blocks."""

import numpy as np

from allmodes.objective import Evaluation
from allmodes.search.scheduling.flight import Flight, part_of
from allmodes.search.searcher import Block
from allmodes.storage import pack, unpack

TOLD = Evaluation(np.arange(8.0), np.arange(16.0).reshape(8, 2))


def test_a_part_has_a_row_for_each_search_and_what_was_not_told_stays_unknown():
    part = part_of(TOLD, 2, 2, 3)
    assert part.value.tolist() == [[2, 3, 4], [5, 6, 7]]
    assert part.gradient.shape == (2, 3, 2)
    assert part.gradient[1, 0].tolist() == [10, 11]
    assert part.hessian is None


def test_a_flight_is_saved_with_its_blocks():
    block = Block("local", "slope", np.array([3]), np.full((1, 2, 2), 0.5))
    flight = unpack(*pack(Flight([block], "population")))
    assert (flight.member, flight.blocks[0].kind) == ("population", "slope")
    assert flight.blocks[0].points.tolist() == block.points.tolist()
