"""Several rounds in flight: handed out together, told in any order, passed on in the order of asking."""

import numpy as np
import pytest

from allmodes.objective import GRADIENT, VALUE
from allmodes.objective.bounds import Box
from allmodes.round import Round, checked_told
from allmodes.rounds import Rounds
from allmodes.search.searcher import Request

BOX = Box.make([(0, 10)])


def flying(sizes=(3, 2), needs=VALUE):
    """Rounds in flight; the points are 0, 1, 2, ..."""
    ends = np.cumsum(sizes)
    points = np.arange(ends[-1])[:, None] / 10
    parts = zip(np.split(points, ends[:-1]), [needs] * len(sizes) if needs in (VALUE, GRADIENT) else needs, strict=True)
    return Rounds([Round.of(BOX, Request(part, need), i) for i, (part, need) in enumerate(parts)])


def tell(rounds, x, gradients=None):
    x = np.array(x, dtype=float)[:, None]
    return rounds.take(*checked_told(BOX, x, x[:, 0] ** 2, gradients, None))


def test_all_rounds_are_handed_out_together_oldest_first():
    assert flying().hand_out(None)[:, 0].tolist() == [0, 1, 2, 3, 4]


def test_points_are_handed_out_across_rounds_and_once():
    rounds = flying()
    assert [rounds.hand_out(2)[:, 0].tolist() for _ in range(3)] == [[0, 1], [2, 3], [4]]
    with pytest.raises(RuntimeError, match=r"^all points \(5\) "):
        rounds.hand_out(None)
    assert rounds.hand_out(None, again=True)[:, 0].tolist() == [0, 1, 2, 3, 4]
    tell(rounds, [3])
    assert rounds.hand_out(None)[:, 0].tolist() == [0, 1, 2, 4]


def test_points_with_other_needs_are_handed_out_apart():
    rounds = flying((2, 2), [VALUE, GRADIENT])
    assert rounds.hand_out(None)[:, 0].tolist() == [0, 1]
    assert rounds.needs == VALUE
    assert rounds.hand_out(None)[:, 0].tolist() == [2, 3]
    assert rounds.needs == GRADIENT


def test_a_round_that_was_not_begun_is_left_out_if_none_may_begin():
    rounds = flying()
    rounds.hand_out(2)
    assert rounds.hand_out(None, begins=False)[:, 0].tolist() == [2]
    assert [number for number, _, _ in rounds.hand_out_rounds(begins=False)] == [0]


def test_what_was_handed_out_together_is_filled_together():
    rounds = flying()
    points = rounds.hand_out(None)
    rounds.fill(points[:, 0] ** 2, None, None)
    assert [round_.value.tolist() for round_ in rounds.flying] == [[0, 1, 4], [9, 16]]


def test_some_of_it_may_be_filled_by_rows():
    rounds = flying()
    rounds.hand_out(None)
    rounds.fill(np.array([16.0, 1.0]), None, None, np.array([4, 1]))
    assert [round_.is_known.tolist() for round_ in rounds.flying] == [[False, True, False], [False, True]]
    assert (rounds.flying[0].value[1], rounds.flying[1].value[1]) == (1.0, 16.0)
    assert rounds.pending == 2


def test_the_oldest_is_passed_on_first_unless_order_does_not_matter():
    rounds = flying((1, 1, 1))
    tell(rounds, [2, 1])
    assert rounds.next_told(in_order=True) is None
    assert rounds.next_told(in_order=False).number == 1
    tell(rounds, [0])
    assert [rounds.next_told(in_order=True).number for _ in range(2)] == [0, 2]
    assert rounds.next_told(in_order=True) is None


def test_a_point_that_is_in_two_rounds_is_told_to_the_older_one_first():
    rounds = Rounds([Round.of(BOX, Request(np.array([[0.5]])), i) for i in range(2)])
    tell(rounds, [5])
    assert [round_.is_told for round_ in rounds.flying] == [True, False]
    assert tell(rounds, [5, 5])[0].tolist() == [[5.0]]
    assert [round_.is_told for round_ in rounds.flying] == [True, True]


def test_derivatives_are_wanted_of_the_points_of_rounds_that_need_them():
    rounds = flying((2, 2), [VALUE, GRADIENT])
    tell(rounds, [0, 1])
    for x in ([2], [7]):  # asked for, and by nobody
        with pytest.raises(ValueError, match="no derivatives"):
            tell(rounds, x)
    tell(rounds, [2, 3], np.ones((2, 1)))
    assert all(round_.is_told for round_ in rounds.flying)


def test_rounds_are_handed_out_one_by_one_and_once():
    rounds = flying()
    tell(rounds, [1])
    given = rounds.hand_out_rounds()
    assert [(number, points[:, 0].tolist()) for number, points, _ in given] == [(0, [0, 2]), (1, [3, 4])]
    assert rounds.hand_out_rounds() == []
    rounds.fill_rows(1, np.array([1, 0]), np.array([16.0, 9.0]), None, None)
    rounds.fill_rows(0, np.array([1]), np.array([4.0]), None, None)
    assert rounds.flying[1].value.tolist() == [9, 16]
    assert rounds.flying[0].is_known.tolist() == [False, True, True]


def test_a_round_that_is_not_in_flight_is_refused():
    with pytest.raises(ValueError, match="round 9 is not in flight"):
        flying().fill_rows(9, np.array([0]), np.array([0.0]), None, None)


def test_what_is_in_flight_is_reserved():
    rounds = flying()
    rounds.flying[1].cost = 4
    assert rounds.reserved == 3 + 2 * 4
    assert rounds.pending == 0
    assert not rounds.is_begun


class TestPointsThatNeverComeBack:
    def out(self, since, n=2, needs=GRADIENT):
        """A round of two points that were handed out together when so many were known."""
        rounds = Rounds([Round.of(BOX, Request(np.array([[0.25], [0.75]]), needs))])
        rounds.hand_out_fresh(n, since)
        return rounds

    @pytest.mark.parametrize(
        ("since", "nfev", "is_lost"), [(0, 20, False), (0, 21, True), (100, 200, False), (100, 201, True)]
    )
    def test_they_count_as_failed_after_as_many_as_before_and_many_times_those_out(self, since, nfev, is_lost):
        rounds = self.out(since)
        rounds.give_up(nfev)
        assert rounds.flying[0].is_told is is_lost
        assert np.isnan(rounds.flying[0].gradient).all()

    def test_what_others_have_had_for_less_long_counts(self):
        rounds = self.out(0)
        for i in range(5):
            more = self.out(90 + i)
            rounds.flying += more.flying
        rounds.give_up(100)
        assert not rounds.flying[0].is_told
        rounds.give_up(101)
        assert [round_.is_told for round_ in rounds.flying] == [True] + [False] * 5

    def test_points_that_wait_are_left_alone_and_the_clock_of_those_asked_for_otherwise_begins_now(self):
        rounds = self.out(0, n=1)
        rounds.give_up(1000)
        assert rounds.flying[0].is_known.tolist() == [True, False]
        plain = Rounds([Round.of(BOX, Request(np.array([[0.25]])))])
        plain.hand_out(None)
        plain.give_up(1000)
        plain.give_up(2000)
        assert not plain.flying[0].is_told
        plain.give_up(2001)
        assert plain.flying[0].is_told
