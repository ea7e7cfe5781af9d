"""Events: who may say what, and what a caller can rely on."""

from __future__ import annotations

from typing import get_args

import numpy as np
import pytest

from allmodes.search import events
from allmodes.search.candidate import LOCAL, SPACE_FILLING, Origin
from allmodes.search.events import Arrived, Continue, Event, SearchEvent, Verdict
from allmodes.storage import pack, unpack

KINDS = [each for each in vars(events).values() if isinstance(each, type) and each.__module__ == events.__name__]


def test_every_event_is_one_of_a_search_or_a_verdict():
    assert set(get_args(SearchEvent)) | set(get_args(Verdict)) == set(KINDS) == set(get_args(Event))
    assert not set(get_args(SearchEvent)) & set(get_args(Verdict))


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind is not Arrived])
def test_every_event_says_whose_it_is(kind):
    """The one that does not has a candidate, which does."""
    assert kind._fields[0] == "origin"


def test_a_search_that_goes_on_is_stored():
    event = Continue(Origin(LOCAL, SPACE_FILLING, 3), np.array([0.1, 0.2]), 0.05, True, np.ones(2), 1.5, 0.01)
    restored = unpack(*pack(event))
    assert restored.origin == event.origin
    assert restored[2:4] == event[2:4]
    assert restored.goal_value == 1.5
    assert restored.along is None
    np.testing.assert_array_equal(restored.point, event.point)
