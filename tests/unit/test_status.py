"""Every way a run ends has words for it."""

import pytest

from allmodes import Status


@pytest.mark.parametrize("status", list(Status))
def test_every_ending_has_a_message_of_its_own(status):
    assert status.message.endswith(".")
    assert [other for other in Status if other.message == status.message] == [status]


@pytest.mark.parametrize("status", list(Status))
def test_failures_have_advice_and_successes_have_none(status):
    assert status.success is (status >= 0)
    assert bool(status.advice) is not status.success
    assert not status.advice or status.advice.endswith(".")


def test_there_are_endings_of_both_kinds():
    assert {status.success for status in Status} == {True, False}


def test_the_codes_are_kept():
    """Scripts compare with these numbers."""
    assert {status.name: int(status) for status in Status} == {
        "STEPS_DONE": 0,
        "CONVERGED": 1,
        "BUDGET_SPENT": 2,
        "STOPPED": 3,
        "NOTHING_NEW": 4,
        "ENOUGH_MODES": 5,
        "TIME_SPENT": 6,
        "RUNNING": 7,
        "INTERRUPTED": -1,
        "OBJECTIVE_NOT_FINITE": -2,
        "LEFT_DOMAIN": -3,
        "DIVERGED": -4,
        "NO_FEASIBLE_POINT": -8,
        "PRIOR_NOT_FINITE": -5,
        "ALL_FAILED": -6,
        "NO_MODE": -7,
    }
