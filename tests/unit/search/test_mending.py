"""Points that failed are asked for again beside where they were: no search is lost for one of them."""

from __future__ import annotations

import hashlib

import numpy as np
import pytest

from allmodes import find_minima
from allmodes.objective import Evaluation
from allmodes.objective.bounds import Box
from allmodes.search.mending import MACHINE, Mending
from allmodes.search.searcher import Block
from allmodes.storage import pack, unpack

BOX = Box.make([(0, 1), (0, 1)])
CENTRES = np.array([[0.5, 0.5], [0.2, 1.0]])
PATTERN = CENTRES[:, None] + np.array([[0.1, 0.0], [0.0, -0.1], [-0.1, 0.0]])
MINIMA = np.array([[3.0, 2.0], [-2.805118, 3.131312], [-3.779310, -3.283186], [3.584428, -1.848126]])


def himmelblau(x):
    return (x[0] ** 2 + x[1] - 11) ** 2 + (x[0] + x[1] ** 2 - 7) ** 2


def a_block(**settings):
    return Block("machine", "SLOPE", np.array([4, 7]), PATTERN, CENTRES, **settings)


def values_of(points, failed=()):
    values = points.sum(axis=2)
    for row, point in failed:
        values[row, point] = -np.inf
    return Evaluation(values)


def test_a_block_without_failures_is_passed_on_as_it_is():
    mending, block, told = Mending(BOX), a_block(), values_of(PATTERN)
    ((same, evaluation),) = mending.told(block, told)
    assert same is block
    assert evaluation is told
    assert mending.ask() == []


def test_rows_that_are_complete_do_not_wait_for_others():
    mending = Mending(BOX)
    ((block, told),) = mending.told(a_block(), values_of(PATTERN, [(1, 0)]))
    assert block.rows.tolist() == [4]
    np.testing.assert_array_equal(told.value, values_of(PATTERN).value[:1])
    (asked,) = mending.ask()
    assert (asked.machine, asked.points.shape) == (MACHINE, (1, 1, 2))
    np.testing.assert_allclose(asked.points[0, 0], CENTRES[1] + [0.099, 0.0])
    assert mending.ask() == []  # in flight


def test_a_pattern_is_filled_and_passed_on_with_the_points_that_were_made():
    mending = Mending(BOX)
    mending.told(a_block(), values_of(PATTERN, [(1, 0), (1, 1)]))
    mending = unpack(*pack(mending))
    (asked,) = mending.ask()
    assert mending.told(asked, values_of(asked.points, [(0, 0)])) == []
    (last,) = mending.ask()
    assert last.points.shape == (1, 1, 2)  # the other one is known by now
    ((block, told),) = mending.told(last, values_of(last.points))
    assert (block.machine, block.rows.tolist()) == ("machine", [7])
    np.testing.assert_allclose(block.points[0] - CENTRES[1], [[0.098, 0.0], [0.0, -0.099], [-0.1, 0.0]])
    np.testing.assert_allclose(told.value, block.points.sum(axis=2))


def test_differences_try_the_other_side_where_the_bounds_allow_it():
    mending = Mending(BOX)
    mending.told(a_block(has_sides=True), values_of(PATTERN, [(1, 0), (1, 1)]))
    (asked,) = mending.ask()
    mending.told(asked, values_of(asked.points, [(0, 0), (0, 1)]))
    (asked,) = mending.ask()
    np.testing.assert_allclose(asked.points[0] - CENTRES[1], [[-0.06, 0.0], [0.0, -0.06]])


def test_it_gives_up_after_three_tries():
    mending = Mending(BOX)
    mending.told(a_block(), values_of(PATTERN, [(0, 2)]))
    for _ in range(2):
        (asked,) = mending.ask()
        assert mending.told(asked, values_of(asked.points, [(0, 0)])) == []
    (asked,) = mending.ask()
    ((block, told),) = mending.told(asked, values_of(asked.points, [(0, 0)]))
    np.testing.assert_array_equal(block.points, PATTERN[:1])
    assert told.value[0, 2] == -np.inf
    assert mending.ask() == []


def test_a_gradient_that_is_not_finite_is_a_failure_too():
    mending, slope = Mending(BOX), np.ones((2, 3, 2))
    slope[0, 1, 1] = np.nan
    mending.told(a_block(), Evaluation(np.zeros((2, 3)), slope))
    (asked,) = mending.ask()
    ((_, told),) = mending.told(asked, Evaluation(np.zeros((1, 1)), np.full((1, 1, 2), 5.0)))
    assert told.gradient[0].tolist() == [[1.0, 1.0], [5.0, 5.0], [1.0, 1.0]]


def test_where_the_centre_itself_failed_there_is_nothing_to_mend():
    mending, points = Mending(BOX), np.concatenate([CENTRES[:, None], PATTERN], axis=1)
    ((block, _),) = mending.told(a_block()._replace(points=points), values_of(points, [(0, 0), (0, 2), (1, 0)]))
    assert len(block.rows) == 2


def test_points_that_must_be_these_are_not_moved():
    mending = Mending(BOX)
    assert len(mending.told(a_block()._replace(centres=None), values_of(PATTERN, [(0, 0)]))) == 1


@pytest.mark.parametrize("failure", [np.nan, np.inf, -np.inf, "exception"])
def test_a_function_that_fails_at_a_fifth_of_all_points_is_searched_by_values(failure):
    called = []

    def fragile(x):
        called.append(x.copy())
        share = int.from_bytes(hashlib.blake2b(x.tobytes(), digest_size=4).digest(), "little") / 2**32
        if share >= 0.2:
            return himmelblau(x)
        if failure == "exception":
            raise ArithmeticError("no convergence")
        return failure

    for seed in range(3):
        result = find_minima(fragile, [(-6, 6)] * 2, on_error="nan", maxfev=4000, rng=seed)
        assert [mode.kind for mode in result.modes] == 4 * ["minimum"]
        found = np.array([mode.x for mode in result.modes])
        assert np.abs(found[:, None] - MINIMA).max(axis=2).min(axis=0).max() < 1e-4
    assert np.isfinite(called).all()


def test_searches_in_five_dimensions_survive_failures():
    """Of the twenty points of a Hessian four fail: without another try hardly any search would arrive."""
    rng = np.random.default_rng(0)

    def fragile(x):
        return float(((x * x - 1.0) ** 2).sum()) if rng.random() > 0.2 else np.nan

    result = find_minima(fragile, [(-2, 2.1)] * 5, maxfev=4000, rng=0)
    assert len(result.modes) >= 16
    assert np.abs(np.abs([mode.x for mode in result.modes]) - 1.0).max() < 1e-4
