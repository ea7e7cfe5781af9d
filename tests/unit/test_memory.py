"""What was evaluated is remembered: within bounds, to the last bit, and after loading as before."""

import numpy as np
import pytest

from allmodes import find_minima, memory
from allmodes.memory import Memory, keys_of
from allmodes.objective import GRADIENT, HESSIAN, VALUE
from allmodes.storage import load, save

BOTH = GRADIENT | HESSIAN
X = np.array([[0.0, 1.0], [2.0, 3.0], [4.0, 5.0]])


def loaded(given, tmp_path):
    given.settle()
    save(tmp_path / "memory.npz", given, kind="memory")
    return load(tmp_path / "memory.npz", kind="memory")


def test_only_points_that_are_the_same_to_the_last_bit_are_known():
    known = Memory(2)
    known.remember(X, np.array([1.0, 2.0, 3.0]))
    asked = np.array([[-0.0, 1.0], [2.0, np.nextafter(3.0, 4.0)], [4.0, 5.0]])
    is_known, told = known.recall(asked, VALUE)
    assert is_known.tolist() == [True, False, True]
    np.testing.assert_array_equal(told.value, [1.0, np.nan, 3.0])
    assert known.recall(asked[1:2], VALUE) is None


def test_a_point_is_known_if_all_that_is_wanted_there_is():
    known = Memory(2, 2)
    known.remember(X[:1], np.array([1.0]))
    known.remember(X[1:2], np.array([2.0]), np.full((1, 2), 5.0))
    known.remember(X[2:], np.array([3.0]), np.full((1, 2), 6.0), np.full((1, 2, 2), 7.0))
    assert [known.recall(X, needs)[0].tolist() for needs in (VALUE, GRADIENT, BOTH)] == [
        [True, True, True], [False, True, True], [False, False, True],
    ]  # fmt: skip
    told = known.recall(X, BOTH)[1]
    assert told.gradient[2].tolist() == [6.0, 6.0]
    assert told.hessian[2].tolist() == [[7.0, 7.0], [7.0, 7.0]]


@pytest.mark.parametrize("part", ["value", "gradient"])
def test_a_point_that_failed_may_be_tried_again(part):
    known, value, gradient = Memory(2, 1), np.ones(3), np.ones((3, 2))
    (value if part == "value" else gradient[:, 1])[1] = np.nan
    known.remember(X, value, gradient)
    assert known.recall(X, GRADIENT)[0].tolist() == [True, False, True]
    assert keys_of(X[1:2])[0] in known


@pytest.mark.parametrize(("D", "order"), [(1, 0), (2, 1), (30, 2), (500, 2)])
def test_it_never_grows_beyond_its_bounds(D, order):
    known, rng = Memory(D, order), np.random.default_rng(0)
    shapes = [(7, D), (7,), (7, D), (7, D, D)][: order + 2]
    for _ in range(3 * known.most // 7 + 2):
        told = [rng.random(shape) for shape in shapes]
        known.remember(*told)
        assert len(known) <= known.most <= memory._MOST_POINTS
    assert known.recall(told[0], VALUE)[0].all()
    known.settle()
    assert sum(part.size for part in known.rows) <= max(memory._MOST_NUMBERS, 16 * (D + 1 + D + D * D))


@pytest.mark.parametrize("order", [0, 1, 2])
def test_what_is_loaded_forgets_and_recalls_the_same(order, tmp_path):
    rng, known = np.random.default_rng(0), Memory(2, order)
    shapes = [(50, 2), (50,), (50, 2), (50, 2, 2)][: order + 2]
    blocks = [[rng.random(shape) for shape in shapes] for _ in range(200)]
    for block in blocks[:60]:
        known.remember(*block)
    known.remember(X, np.array([1.0, np.nan, 3.0]))
    other = loaded(known, tmp_path)
    for block in blocks[60:]:
        known.remember(*block)
        other.remember(*block)
    assert list(known.entries) == list(other.entries)
    for block in [*blocks, [X]]:
        for needs in (VALUE, GRADIENT, BOTH)[: order + 1]:
            ours, theirs = known.recall(block[0], needs), other.recall(block[0], needs)
            assert (ours is None) == (theirs is None)
            if ours is not None:
                np.testing.assert_array_equal(ours[0], theirs[0])
                for mine, its in zip(ours[1], theirs[1], strict=True):
                    np.testing.assert_array_equal(mine, its)


# ---- in a search


def camel(x):
    a, b = x[0] ** 2, x[1] ** 2
    return (4.0 - 2.1 * a + a * a / 3.0) * a + x[0] * x[1] + (4.0 * b - 4.0) * b


def camel_jac(x):
    return np.array([8 * x[0] - 8.4 * x[0] ** 3 + 2 * x[0] ** 5 + x[1], x[0] - 8 * x[1] + 16 * x[1] ** 3])


BOX = [(-3.0, 3.0), (-2.0, 2.0)]


@pytest.mark.parametrize("jac", [None, camel_jac])
def test_a_search_hardly_calls_the_function_twice_at_one_point(jac):
    """All the same, two searches that begin in one corner ask for the same points in the same rounds."""
    seen = []

    def fun(x):
        seen.append(tuple(x))
        return camel(x)

    result = find_minima(fun, BOX, jac=jac, rng=0)
    assert result.nfev == len(seen)
    assert len(seen) - len(set(seen)) <= 0.02 * len(seen)
    assert len(result.modes) == 6


def test_a_noisy_function_is_called_again_where_it_was_called_before():
    seen, rng = [], np.random.default_rng(1)

    def fun(x):
        seen.append(tuple(x))
        return camel(x) + 0.1 * rng.normal()

    find_minima(fun, BOX, noise=0.1, rng=0, maxfev=3000)
    assert len(seen) - len(set(seen)) > 100


@pytest.mark.parametrize("method", ["auto", "multistart", "black-box", "anneal"])
def test_a_search_in_a_box_of_nine_numbers_ends(method):
    """Soon everything is known: no budget would ever be spent."""
    seen = []

    def fun(x):
        seen.append(float(x[0]))
        return (x[0] - 1.0) ** 2

    result = find_minima(fun, [(1.0, 1.0 + 8 * np.finfo(float).eps)], rng=0, method=method)
    assert set(seen) <= {1.0 + i * np.finfo(float).eps for i in range(9)}
    assert len(seen) < 500
    assert result.x[0] == 1.0
