"""Candidates and where they come from: plain data, with names that tell kinds apart."""

from __future__ import annotations

import numpy as np
import pytest

from allmodes.search import candidate as module
from allmodes.search.candidate import LOCAL, POLISH, Candidate, Origin
from allmodes.storage import pack, unpack


def test_names_of_starts_and_members_are_all_different():
    names = [value for key, value in vars(module).items() if key.isupper() and isinstance(value, str)]
    assert len(names) == len(set(names)) >= 10


def test_a_candidate_is_stored_whole():
    origin = Origin(LOCAL, POLISH, 3, cost=7, question=2, compared=1, restarts=4)
    made = Candidate(np.array([0.1, 0.2]), 5.0, np.ones(2), -np.eye(2), "differences", origin, 0.1, is_kinked=True)
    restored = unpack(*pack(made))
    assert restored.origin == origin
    assert (restored.value, restored.is_kinked, restored.factor) == (5.0, True, None)
    np.testing.assert_array_equal(restored.hessian, made.hessian)


def test_a_candidate_does_not_change():
    made = Candidate(np.zeros(1), 0.0, np.zeros(1), -np.eye(1), "component", Origin(LOCAL, POLISH, 0))
    with pytest.raises(AttributeError):
        made.value = 1.0
