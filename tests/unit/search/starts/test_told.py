import numpy as np
import pytest

from allmodes import ModeFinder
from allmodes.search.starts.told import Told
from allmodes.storage import pack, unpack


def told(n=0, begun=0):
    waiting = Told(1)
    waiting.begun = begun
    waiting.add(np.arange(n, dtype=float)[:, None], np.arange(n, dtype=float))
    return waiting


def test_the_first_go_before_all_others_best_first():
    waiting = told(12)
    assert waiting.is_first
    np.testing.assert_array_equal(waiting.take(5)[:, 0], [11, 10, 9, 8, 7])
    assert len(waiting.take(50)) == 7
    assert not waiting.is_first


def test_only_the_best_wait():
    waiting = told(100)
    waiting.add(np.array([[-1.0], [-2.0]]), np.array([98.5, np.nan]))
    np.testing.assert_array_equal(waiting.take(3)[:, 0], [99, -1, 98])
    assert len(waiting) == 17


def test_later_at_most_every_other_search_begins_there():
    waiting = told(20, begun=20)
    assert not waiting.is_first
    for n in (1, 3, 2, 7, 1, 2):
        waiting.take(n)
    assert (waiting.begun - 20, waiting.others) == (8, 8)


def test_where_no_others_begin_only_the_first_are_used():
    waiting = told(20, begun=15)
    assert len(waiting.take(100, are_others=False)) == 5
    assert not len(waiting.take(100, are_others=False))


def test_it_can_be_stored():
    waiting = told(20, begun=20)
    waiting.take(3)
    copy = unpack(*pack(waiting))
    np.testing.assert_array_equal(copy.take(9), waiting.take(9))


def camel(x):
    a, b = x[..., 0] ** 2, x[..., 1] ** 2
    return (4.0 - 2.1 * a + a * a / 3.0) * a + x[..., 0] * x[..., 1] + (4.0 * b - 4.0) * b


@pytest.mark.parametrize(
    "options",
    [
        {}, {"target": "global"}, {"method": "anneal"},
        {"constraints": {"type": "ineq", "fun": lambda x: x.sum() + 1.0}}
    ],
    ids=["auto", "global", "anneal", "constraints"],
)  # fmt: skip
def test_a_search_ends_however_many_points_it_is_told(options):
    """Every good one began a local search, and none was left to begin anywhere else: nothing could be known of what is
    missing."""
    finder = ModeFinder([(-2, 2), (-1.5, 1.5)], rng=0, effort=0.3, **options)
    rng = np.random.default_rng(100)
    while not finder.stop() and finder.nfev < 20_000:
        x = finder.ask()
        finder.tell(x, camel(x))
        others = rng.uniform([-2, -1.5], [2, 1.5], (4, 2))
        finder.tell(others, camel(others))
    assert "nothing_new" in finder.stop()
    assert finder.modes_found >= 2
