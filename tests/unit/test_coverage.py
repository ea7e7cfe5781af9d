"""The chance that another local search finds something new, against searches whose basins are known."""

import numpy as np
import pytest

from allmodes.modes.coverage import Coverage, estimate
from allmodes.storage import pack, unpack

BASINS = {
    "equal": np.ones(16),
    "harmonic": 1.0 / np.arange(1, 65),
    "geometric": 0.7 ** np.arange(30),
    "one tiny": np.append(np.ones(7), 0.02),
}


def samples(sizes, count, runs=300):
    """Hits of every mode (runs, J), and the share of basins not hit (runs,)."""
    shares = sizes / sizes.sum()
    hits = np.random.default_rng(1).multinomial(count, shares, size=runs)
    return hits, np.where(hits == 0, shares, 0.0).sum(axis=1)


@pytest.mark.parametrize("count", [10, 50, 200])
@pytest.mark.parametrize("sizes", BASINS.values(), ids=BASINS)
def test_the_estimate_is_right_on_average_and_the_bound_holds(sizes, count):
    hits, missing = samples(sizes, count)
    found = [estimate(row) for row in hits]
    errors = np.array([coverage.missing for coverage in found]) - missing
    # Good and Turing's estimate is too high by at most 1 / n on average
    bias = errors.mean() - 0.5 / count
    assert abs(bias) <= 0.5 / count + 4.0 * errors.std() / np.sqrt(len(errors))
    assert np.mean([coverage.upper >= true for coverage, true in zip(found, missing, strict=True)]) > 0.9


def test_a_bound_without_the_exact_part_would_not_hold():
    """The control of the test above: standard errors alone miss the one tiny basin."""
    hits, missing = samples(BASINS["one tiny"], 200)
    once, twice = (hits == 1).sum(axis=1), (hits == 2).sum(axis=1)
    bound = once / 200 + 1.96 * np.sqrt(once * (1 - once / 200) + 2 * twice) / 200
    assert np.mean(bound >= missing) < 0.9


def test_the_numbers_of_an_example():
    found = estimate(np.array([6, 1, 1, 2, 0]))
    assert (found.searches, found.singletons) == (10, 2)
    assert found.missing == pytest.approx(0.2)
    assert found.upper == pytest.approx(0.2 + 0.196 * np.sqrt(2 * 0.8 + 2))


def test_searches_that_ended_in_no_mode_may_have_led_to_something_new():
    sure, unsure = estimate(np.array([6, 1, 1, 2])), estimate(np.array([6, 1, 1, 2]), lost=30)
    assert unsure.missing == sure.missing
    assert unsure.upper == pytest.approx(0.25 * sure.upper + 0.75)
    assert "and 30 that ended in no mode" in str(unsure)
    assert "no mode" not in str(sure)


def test_when_every_search_ended_in_no_mode_nothing_is_known():
    found = estimate(np.zeros(0, int), lost=40)
    assert (found.missing, found.upper) == (1.0, 1.0)
    assert "40 local searches from space-filling starts ended in no mode" in str(found)


def test_without_searches_everything_may_be_missing():
    for hits in (np.zeros(0, int), np.zeros(3, int), []):
        assert estimate(hits) == Coverage(0, 0, 1.0, 1.0)


def test_all_different_means_that_everything_may_be_missing():
    found = estimate(np.ones(5, int))
    assert (found.missing, found.upper) == (1.0, 1.0)


@pytest.mark.parametrize("count", [2, 10, 1000])
def test_nothing_found_once_still_leaves_a_chance(count):
    found = estimate(np.array([count + 1]))
    assert found.missing == 0.0
    assert found.upper == pytest.approx(1.0 - 0.05 ** (1.0 / (count + 1)))


@pytest.mark.parametrize("hits", [[-1, 2], [[1, 2]], [1.5], 3])
def test_wrong_hits_are_refused(hits):
    with pytest.raises(ValueError, match=r"hits is .*; wanted \(J,\) counts of local searches"):
        estimate(np.array(hits))
    with pytest.raises(ValueError, match="lost is -1"):
        estimate(np.ones(1, int), lost=-1)


@pytest.mark.parametrize(
    ("hits", "chances", "counts"),
    [
        ([30, 21, 3, 1], "1.8 %, at most 8.3 %", "55 local searches from space-filling starts, 1 mode found once"),
        ([1], "100 %, at most 100 %", "1 local search from space-filling starts, 1 mode found once"),
        ([9000], "0 %, at most 0.033 %", "9000 local searches from space-filling starts, 0 modes found once"),
        ([1, 1, 6], "25 %, at most 60 %", "8 local searches from space-filling starts, 2 modes found once"),
    ],
)
def test_it_says_so_in_words(hits, chances, counts):
    assert (
        str(estimate(np.array(hits)))
        == f"another local search finds a new mode with a chance of about {chances} ({counts})"
    )


def test_it_says_so_when_nothing_is_known():
    text = "nothing is known about modes not found: no local search began at a space-filling start"
    assert str(estimate(np.zeros(0, int))) == text


def test_what_is_assumed_is_said():
    text = estimate(np.array([3])).assumes
    for word in ("evenly", "independent", "volume", "invisible"):
        assert word in text


def test_it_can_be_stored():
    coverage = estimate(np.array([3, 1]))
    assert unpack(*pack(coverage)) == coverage


def test_old_names_still_work_with_a_warning():
    with pytest.warns(DeprecationWarning, match=r"Coverage.launches is now Coverage.searches"):
        assert estimate(np.array([3, 1])).launches == 4
