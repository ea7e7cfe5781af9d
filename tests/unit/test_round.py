"""One round of points: handed out, told in any order, kept apart from what nobody asked for."""

import numpy as np
import pytest

from allmodes.objective import GRADIENT, HESSIAN, VALUE, Evaluation
from allmodes.objective.bounds import Box
from allmodes.round import Round, checked_told
from allmodes.rounds import Rounds
from allmodes.search.searcher import Request

BOX = Box.make([(0, 10), (-1, 1)])
UNITS = np.random.default_rng(0).random((5, 2))
BOTH = GRADIENT | HESSIAN


def a_round(needs=VALUE, most=100, units=UNITS):
    round_ = Round.of(BOX, Request(units, needs))
    round_.allow(most)
    return round_


def hand_out(round_, n=None):
    return Rounds([round_]).hand_out(n)


def tell(round_, x, values, gradients=None, hessians=None):
    """Points and values that nobody asked for."""
    return Rounds([round_]).take(*checked_told(BOX, x, values, gradients, hessians))


# ---- asking


def test_points_are_handed_out_in_the_users_coordinates():
    round_ = a_round()
    np.testing.assert_allclose(hand_out(round_), UNITS * [10, 2] + [0, -1])


def test_points_are_handed_out_once_and_again_when_no_others_are_left():
    round_ = a_round()
    first, second, rest = hand_out(round_, 2), hand_out(round_, 2), hand_out(round_, 2)
    np.testing.assert_array_equal(np.concatenate([first, second, rest]), round_.points)
    np.testing.assert_array_equal(hand_out(round_), round_.points)
    tell(round_, round_.points[[1, 3]], [0.0, 0.0])
    np.testing.assert_array_equal(hand_out(round_), round_.points[[0, 2, 4]])


def test_points_that_are_told_before_they_are_handed_out_are_not_asked_for():
    round_ = a_round()
    tell(round_, round_.points[:2], [1.0, 2.0])
    np.testing.assert_array_equal(hand_out(round_), round_.points[2:])


@pytest.mark.parametrize("n", [0, -1, 1.5, "all", True])
def test_a_number_of_points_that_makes_no_sense_is_refused(n):
    with pytest.raises((ValueError, TypeError), match="n is"):
        hand_out(a_round(), n)


@pytest.mark.parametrize("most", [0, 1, 3, 5, 9])
def test_a_budget_holds_back_the_end_of_a_round(most):
    round_ = a_round(most=most)
    rounds, allowed = Rounds([round_]), min(most, 5)
    first = rounds.hand_out(None)
    assert len(first) == round_.reserved == allowed
    tell(round_, first.reshape(-1, 2), np.zeros(len(first)))
    assert round_.is_told == (most >= 5)
    assert rounds.is_held == (most < 5)
    assert not rounds.is_begun
    rounds.allow(5)
    np.testing.assert_array_equal(rounds.hand_out(None).reshape(-1, 2), round_.points[allowed:])
    assert (round_.reserved, rounds.is_held) == (5, False)


def test_points_that_are_free_need_no_budget():
    round_ = a_round()
    round_.fill_free(np.array([False, True, False, True, False]), Evaluation(np.full(5, 1.0)))
    round_.cost = 3
    for evaluations, held in ((0, 5), (2, 5), (3, 3), (5, 3), (6, 1), (9, 0)):
        round_.allow(evaluations)
        assert round_.held == held
        assert round_.reserved <= evaluations


def test_the_oldest_round_takes_the_budget_first():
    rounds = Rounds([Round.of(BOX, Request(UNITS), number) for number in range(3)])
    rounds.allow(7)
    assert [round_.held for round_ in rounds.flying] == [0, 3, 5]
    assert rounds.reserved == 7


# ---- telling


@pytest.mark.parametrize("seed", range(5))
def test_points_may_come_in_any_order_and_in_parts(seed):
    rng, round_ = np.random.default_rng(seed), a_round(BOTH)
    values, gradients, hessians = rng.normal(size=5), rng.normal(size=(5, 2)), rng.normal(size=(5, 2, 2))
    order = rng.permutation(5)
    for part in np.split(order, [1, 3]):
        assert not round_.is_told
        tell(round_, round_.points[part], values[part], gradients[part], hessians[part])
    assert round_.is_told
    np.testing.assert_array_equal(round_.value, values)
    np.testing.assert_array_equal(round_.gradient, gradients)
    np.testing.assert_array_equal(round_.hessian, hessians)


def test_a_point_that_is_asked_for_twice_is_told_twice():
    round_ = a_round(units=np.array([[0.5, 0.5], [0.5, 0.5]]))
    tell(round_, round_.points[:1], [1.0])
    assert not round_.is_told
    tell(round_, round_.points[1:], [2.0])
    assert round_.is_told
    assert sorted(round_.value) == [1.0, 2.0]


def test_both_copies_in_one_batch_keep_their_order():
    round_ = a_round(units=np.array([[0.5, 0.5], [0.1, 0.1], [0.5, 0.5]]))
    tell(round_, round_.points, [1.0, 2.0, 3.0])
    np.testing.assert_array_equal(round_.value, [1.0, 2.0, 3.0])


def test_points_nobody_asked_for_are_kept_apart():
    round_ = a_round()
    strange = np.array([[5.0, 0.5]])
    points, values = tell(round_, np.concatenate([round_.points[:1], strange]), [1.0, 2.0])
    assert round_.is_known.tolist() == [True, False, False, False, False]
    np.testing.assert_array_equal(points, strange)
    np.testing.assert_array_equal(values, [2.0])
    assert tell(round_, round_.points[1:], np.zeros(4)) is None


def test_a_point_told_again_is_an_evaluation_of_its_own():
    round_ = a_round()
    tell(round_, round_.points[:1], [1.0])
    assert tell(round_, round_.points[:1], [7.0])[1].tolist() == [7.0]
    assert round_.value[0] == 1.0


def test_a_whole_round_at_once():
    round_ = a_round(GRADIENT)
    values, gradients = np.arange(5.0), np.ones((5, 2))
    round_.fill(None, values, gradients, None)
    assert round_.is_told
    np.testing.assert_array_equal(round_.value, values)
    np.testing.assert_array_equal(round_.gradient, gradients)


@pytest.mark.parametrize(("needs", "gradients"), [(GRADIENT, None), (BOTH, None), (BOTH, np.zeros((5, 2)))])
def test_missing_derivatives_are_refused_and_nothing_is_taken(needs, gradients):
    round_ = a_round(needs)
    with pytest.raises(ValueError, match=r"no derivatives.*pass gradients=.*without jac=True"):
        tell(round_, round_.points, np.zeros(5), gradients)
    assert not round_.is_known.any()
    tell(round_, round_.points, np.arange(5.0), np.ones((5, 2)), np.ones((5, 2, 2)))
    assert round_.is_told
    assert np.isfinite(round_.gradient).all()


# ---- checks


def test_one_point_may_be_told_as_it_is():
    x, values, gradients, hessians = checked_told(BOX, [1.0, 0.5], 3.0, [1.0, 2.0], np.eye(2))
    assert (x.shape, values.shape, gradients.shape, hessians.shape) == ((1, 2), (1,), (1, 2), (1, 2, 2))


def test_a_column_of_values_is_understood():
    assert checked_told(BOX, np.zeros((3, 2)), np.zeros((3, 1)), None, None)[1].shape == (3,)


X = np.zeros((2, 2))
WRONG = {
    "too few coordinates": ((np.zeros((2, 1)), [0, 0], None, None), r"x has shape \(2, 1\).*wanted \(n, 2\)"),
    "too many coordinates": ((np.zeros((2, 3)), [0, 0], None, None), r"x has shape \(2, 3\).*wanted \(n, 2\)"),
    "too many axes": ((np.zeros((2, 2, 2)), [0, 0], None, None), r"x has shape \(2, 2, 2\)"),
    "too few values": ((X, [0.0], None, None), r"values has shape \(1,\).*wanted \(2,\)"),
    "no values": ((X, None, None, None), "values is None"),
    "gradients of another problem": ((X, [0, 0], np.zeros((2, 3)), None), r"gradients has shape \(2, 3\)"),
    "hessians of another problem": ((X, [0, 0], X, np.zeros((2, 3, 3))), r"hessians has shape \(2, 3, 3\)"),
    "words": ((X, ["a", "b"], None, None), "values"),
    "complex values": ((X, [1j, 0.0], None, None), "values"),
    "ragged points": (([[1.0, 2.0], [3.0]], [0, 0], None, None), "x"),
}


@pytest.mark.parametrize("case", list(WRONG))
def test_what_has_the_wrong_shape_or_type_is_refused_by_name(case):
    told, message = WRONG[case]
    with pytest.raises((ValueError, TypeError), match=rf"^{message}"):
        checked_told(BOX, *told)


def test_some_of_the_points_handed_out_last_may_be_filled_by_their_rows():
    box = Box.make([(0.0, 1.0)])
    round_ = Round.of(box, Request(np.linspace(0.0, 1.0, 6)[:, None]))
    rounds = Rounds([round_])
    rounds.hand_out(2)
    rounds.fill(np.array([1.0, 2.0]), None, None)
    rounds.hand_out(3)
    rounds.fill(np.array([5.0]), None, None, np.array([2]))
    assert round_.is_known.tolist() == [True, True, False, False, True, False]
    assert round_.pending.tolist() == [0, 1, 4]
    assert round_.value[[0, 1, 4]].tolist() == [1.0, 2.0, 5.0]
    assert rounds.hand_out(None)[:, 0].tolist() == [1.0]


def test_points_that_are_known_before_are_not_handed_out_and_not_pending():
    box = Box.make([(0.0, 1.0)])
    round_ = Round.of(box, Request(np.array([[0.0], [0.5], [1.0]])))
    round_.fill_free(np.array([False, True, False]), Evaluation(np.array([np.nan, 7.0, np.nan])))
    rounds = Rounds([round_])
    assert (rounds.reserved, rounds.is_begun) == (2, False)
    assert rounds.hand_out(None)[:, 0].tolist() == [0.0, 1.0]
    rounds.fill(np.array([1.0, 3.0]), None, None)
    assert round_.value.tolist() == [1.0, 7.0, 3.0]
    assert round_.pending.tolist() == [0, 2]
    assert rounds.pending == 2
    assert rounds.next_told(in_order=True) is round_
    assert rounds.pending == 0
