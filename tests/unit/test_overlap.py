"""Rounds that overlap: what is found does not depend on who is quicker, and nothing is evaluated too often."""

import numpy as np
import pytest

from allmodes import find_minima
from allmodes.driver import Driver
from allmodes.finder import ModeFinder
from allmodes.resuming import take_over

BOUNDS = [(-5.0, 5.0), (-5.0, 5.0)]
UNCHECKED = {"check": False}
WIDE = {"width": 8}
MODES = 4


def himmelblau(x):
    return (x[:, 0] ** 2 + x[:, 1] - 11.0) ** 2 + (x[:, 0] + x[:, 1] ** 2 - 7.0) ** 2


def slope(x):
    a, b = x[:, 0] ** 2 + x[:, 1] - 11.0, x[:, 0] + x[:, 1] ** 2 - 7.0
    return np.stack([4.0 * x[:, 0] * a + 2.0 * b, 2.0 * a + 4.0 * x[:, 1] * b], axis=1)


def a_finder(jac=False, options=WIDE, **settings):
    """As a loop drives it; rounds are counted from the first of the search."""
    return ModeFinder(BOUNDS, jac=jac, rng=3, options=UNCHECKED | options, **{"maxfev": 1500} | settings)._driver


def told(x, jac):
    return (himmelblau(x), slope(x)) if jac else (himmelblau(x),)


def serial(finder, jac=False):
    while finder.is_in_round or not finder.stop():
        finder.tell_round(*told(finder.ask(), jac))
    return finder.result


def in_any_order(finder, seed, jac=False, evaluated=None):
    """Points come back one by one, as if each had taken a random time."""
    rng, in_flight = np.random.default_rng(seed), []
    while finder.is_in_round or not finder.stop():
        for number, points, _ in finder.hand_out():
            in_flight += [(rng.exponential(), number, row, points[row : row + 1]) for row in range(len(points))]
        in_flight.sort(key=lambda each: each[0])
        _, number, row, point = in_flight.pop(0)
        if evaluated is not None:
            evaluated.append(point[0])
        finder.tell_rows(number, [row], *told(point, jac))
        in_flight = [(time + rng.exponential(), *rest) for time, *rest in in_flight]
    assert not in_flight
    return finder.result


def summary(result):
    return (
        [(mode.x.tolist(), mode.fun, mode.hits) for mode in result.modes],
        result.nfev, result.nit, result.message, result.history.nfev.tolist(),
    )  # fmt: skip


# ---- how many


def test_rounds_overlap_only_where_the_user_chose_the_width():
    finder = a_finder(options={"patience": 10**9})
    while not finder.stop():
        ((number, points, _),) = finder.hand_out()
        finder.tell_rows(number, np.arange(len(points)), himmelblau(points))
    assert finder.state.search.multistart.counts.searches >= 64  # eight at once


@pytest.mark.parametrize(("width", "rounds"), [(2, 1), (7, 1), (8, 2), (40, 2)])
def test_rounds_in_flight(width, rounds):
    finder = a_finder(options={"width": width})
    given = finder.hand_out()
    assert len(given) == rounds
    assert sum(len(points) for _, points, _ in given) == 3 * width  # a start and two differences each
    assert finder.hand_out() == []


def test_the_next_round_is_asked_for_when_the_oldest_is_told():
    finder = a_finder(jac=True)
    (first, x, _), (second, y, _) = finder.hand_out()
    finder.tell_rows(second, np.arange(len(y)), *told(y, True))
    assert finder.hand_out() == []  # the elder one is awaited
    finder.tell_rows(first, np.arange(len(x)), *told(x, True))
    assert len(finder.hand_out()) == 2
    assert finder.result.nit == 2


# ---- what is found


@pytest.mark.parametrize("jac", [False, True])
def test_the_order_of_completion_changes_nothing(jac):
    expected = summary(serial(a_finder(jac), jac))
    assert len(expected[0]) == MODES
    for seed in range(4):
        assert summary(in_any_order(a_finder(jac), seed, jac)) == expected


def test_ask_and_tell_in_pieces_is_the_same_search():
    expected, finder = summary(serial(a_finder())), a_finder()
    while not finder.stop():
        x = finder.ask(5)[::-1]
        finder.tell(x, himmelblau(x))
    assert summary(finder.result) == expected


def test_told_as_they_complete_all_modes_are_found_and_it_is_said():
    options = WIDE | {"order": "completion"}
    results = [in_any_order(a_finder(options=options), seed) for seed in range(3)]
    assert [len(result.modes) for result in results] == [MODES] * 3
    assert all("order of completion" in result.message for result in results)
    assert len({str(result.history.rows) for result in results}) > 1
    assert "order of completion" not in serial(a_finder()).message


def test_told_as_they_complete_a_slow_search_holds_up_nobody():
    finder = a_finder(jac=True, options=WIDE | {"order": "completion"})
    given = finder.hand_out()
    assert [len(points) for _, points, _ in given] == [1] * 8
    slow = given[0][0]
    for _ in range(30):
        for number, points, _ in given:
            if number != slow:
                finder.tell_rows(number, np.arange(len(points)), *told(points, True))
        given = finder.hand_out()
        assert len(given) == 7
    assert finder.result.nit >= 30 * 7  # more where searches meet: points known from another one cost nothing


@pytest.mark.parametrize("order", ["quickest", None, 1, ""])
def test_an_order_that_is_none_is_refused(order):
    with pytest.raises(ValueError, match='"fixed" or "completion"'):
        a_finder(options={"order": order})


def test_the_call_takes_the_order():
    expected = summary(find_minima(himmelblau, BOUNDS, vectorized=True, rng=3, maxfev=1500, options=WIDE))
    result = find_minima(
        himmelblau, BOUNDS, vectorized=True, rng=3, maxfev=1500, options=WIDE | {"order": "fixed"}
    )  # fmt: skip
    assert summary(result) == expected


def test_global_modes_are_screened_for_while_searches_are_in_flight():
    finder = a_finder(target="global", options={"width": 12}, maxfev=3000)
    assert len(serial(finder).modes) == MODES
    expected = summary(finder.result)
    assert summary(in_any_order(a_finder(target="global", options={"width": 12}, maxfev=3000), 1)) == expected


# ---- limits


@pytest.mark.parametrize("maxfev", [1, 23, 24, 25, 100, 333])
@pytest.mark.parametrize("order", ["fixed", "completion"])
def test_budgets_are_exact_with_rounds_in_flight(maxfev, order):
    evaluated = []
    result = in_any_order(a_finder(maxfev=maxfev, options=WIDE | {"order": order}), 0, evaluated=evaluated)
    assert result.nfev == len(evaluated) == maxfev


@pytest.mark.parametrize("maxiter", [1, 2, 5, 6])
def test_rounds_in_flight_count_as_rounds(maxiter):
    assert in_any_order(a_finder(maxiter=maxiter), 0).nit == maxiter


def test_enough_modes_end_the_search_when_what_is_in_flight_is_told():
    evaluated = []
    result = in_any_order(a_finder(n_modes=2), 0, evaluated=evaluated)
    assert len(result.modes) >= 2
    assert result.nfev == len(evaluated) < 1500
    assert summary(result) == summary(serial(a_finder(n_modes=2)))


def test_a_search_that_is_ended_begins_no_other_round():
    finder = a_finder()
    x = finder.ask(3)
    finder.end("enough", 0)
    finder.tell(x, himmelblau(x))
    rest = finder.ask()
    assert 3 + len(rest) == 12  # the first round of two
    finder.tell(rest, himmelblau(rest))
    assert not finder.is_in_round
    assert finder.result.nfev == 12


@pytest.mark.parametrize("maxfev", [1, 30, 100, 250, 251, 252])
@pytest.mark.parametrize("width", [1, 8, 20])
def test_a_budget_that_grows_goes_on_as_if_it_had_always_been_large(maxfev, width):
    cut = a_finder(maxfev=maxfev, options={"width": width})
    assert serial(cut).nfev == maxfev
    take_over(cut, a_finder(options={"width": width}), "the file")
    assert summary(serial(cut)) == summary(serial(a_finder(options={"width": width})))
    assert len(cut.result.modes) == MODES


# ---- saving


@pytest.mark.parametrize("order", ["fixed", "completion"])
def test_a_search_saved_with_two_rounds_in_flight_goes_on_exactly(tmp_path, order):
    options = WIDE | {"order": order}

    def finish(finder):
        while finder.is_in_round or not finder.stop():
            for number, points, _ in finder.hand_out():
                finder.tell_rows(number, np.arange(len(points)), himmelblau(points))
        return summary(finder.result)

    def begun():
        """Some steps, then all rounds handed out and the youngest told in part."""
        finder = a_finder(options=options)
        for _ in range(5):
            for number, points, _ in finder.hand_out():
                finder.tell_rows(number, np.arange(len(points)), himmelblau(points))
        given = finder.hand_out()
        assert len(given) >= 2
        number, points, _ = given[-1]
        finder.tell_rows(number, [0], himmelblau(points[:1]))
        return finder, given

    finder, _ = begun()
    finder.save(tmp_path / "saved")
    loaded = Driver.load(tmp_path / "saved")
    assert loaded.nfev == finder.nfev
    again = Driver.load(tmp_path / "saved")
    assert finish(loaded) == finish(again)
    if order == "fixed":
        whole, given = begun()
        number, points, _ = given[-1]
        if len(points) > 1:
            whole.tell_rows(number, np.arange(1, len(points)), himmelblau(points[1:]))
        for number, points, _ in given[:-1]:
            whole.tell_rows(number, np.arange(len(points)), himmelblau(points))
        assert finish(whole) == finish(Driver.load(tmp_path / "saved"))


def test_many_searches_at_once_do_not_end_a_search_before_they_are_over():
    """The first to be over fall into the mode that was found first: they say nothing about the others."""

    def himmelblau(x):
        return (x[:, 0] ** 2 + x[:, 1] - 11.0) ** 2 + (x[:, 0] + x[:, 1] ** 2 - 7.0) ** 2

    found = find_minima(himmelblau, [(-6.0, 6.0)] * 2, vectorized=True, rng=0, options={"width": 1000})
    assert len(found.modes) == 4
