"""What a search says it has missed, against searches whose basins are known."""

import math

import numpy as np
import pytest

from allmodes.modes.coverage import Coverage, estimate
from allmodes.modes.missing import Missing
from allmodes.storage import pack, unpack

BASINS = {
    "equal": np.ones(16),
    "harmonic": 1.0 / np.arange(1, 65),
    "geometric": 0.7 ** np.arange(30),
    "one tiny": np.append(np.ones(7), 0.02),
}


def samples(sizes, count, runs=200):
    """Hits of every mode (runs, J), and the share of basins not hit (runs,)."""
    shares = sizes / sizes.sum()
    hits = np.random.default_rng(1).multinomial(count, shares, size=runs)
    return hits, np.where(hits == 0, shares, 0.0).sum(axis=1)


@pytest.mark.parametrize("count", [50, 200])
@pytest.mark.parametrize("sizes", BASINS.values(), ids=BASINS)
def test_the_bound_on_the_share_holds(sizes, count):
    hits, missing = samples(sizes, count)
    found = [estimate(row[row > 0]) for row in hits]
    assert np.mean([coverage.share_upper >= true for coverage, true in zip(found, missing, strict=True)]) > 0.92


def test_a_bound_by_the_spread_alone_would_not_hold():
    """The control of the test above: seven equal basins do not suggest a tiny one."""
    hits, missing = samples(BASINS["one tiny"], 200)
    bounds = [Missing(row[row > 0]).hits_below(0.95) / 200 for row in hits]
    assert np.mean(np.array(bounds) >= missing) < 0.7


@pytest.mark.parametrize("sizes", [BASINS["equal"], BASINS["harmonic"]], ids=["equal", "harmonic"])
def test_the_share_is_right_on_average(sizes):
    hits, missing = samples(sizes, 200)
    told = np.array([estimate(row[row > 0]).share for row in hits])
    assert told.mean() == pytest.approx(missing.mean(), rel=0.4, abs=0.002)


def test_the_numbers_are_those_of_the_missing_modes():
    hits = [60, 12, 9, 5, 3, 1, 1, 2, 0]
    found, missing = estimate(np.array(hits), lost=7, nfev=2000, cost=10.0), Missing(hits)
    assert found.counts == tuple(hits)
    assert (found.searches, found.singletons, found.lost, found.level) == (93, 2, 7, 0.9)
    assert found.missing_modes == missing.number
    assert found.missing_range == missing.range(0.9)
    assert found.share == pytest.approx(missing.hits / 100)
    assert found.expected(3000) == pytest.approx(missing.expected(3.0))
    assert found.expected_range(3000) == missing.expected_range(3.0)
    assert found.expected(0) == pytest.approx(0.0, abs=1e-9)


def test_hits_of_some_modes_are_a_share_of_all_searches():
    """Of the best modes alone, among searches that ended in any."""
    alone, among = estimate(np.array([5, 4, 1])), estimate(np.array([5, 4, 1]), 1000)
    assert among.share == pytest.approx(alone.share / 100)
    assert among.share_upper < 0.1 * alone.share_upper
    assert among.missing_range == alone.missing_range


def test_searches_that_ended_in_no_mode_may_have_led_to_something_new():
    sure, unsure = estimate(np.array([6, 1, 1, 2])), estimate(np.array([6, 1, 1, 2]), lost=30)
    assert unsure.share_upper == pytest.approx(0.25 * sure.share_upper + 0.75)
    assert "(30 of 40 ended in no mode)" in str(unsure)
    assert "no mode" not in str(sure)


def test_when_every_search_ended_in_no_mode_nothing_is_known():
    found = estimate(np.zeros(0, int), lost=40)
    assert (found.share, found.share_upper) == (1.0, 1.0)
    assert "40 local searches from new places ended in no mode" in str(found)


def test_without_searches_everything_may_be_missing():
    for hits in (np.zeros(0, int), np.zeros(3, int), []):
        found = estimate(hits)
        assert (found.share, found.share_upper, found.missing_range) == (1.0, 1.0, (0, math.inf))
        assert math.isnan(found.missing_modes)
        assert math.isnan(found.expected(100))


def test_all_different_means_that_everything_may_be_missing():
    assert estimate(np.ones(5, int)).share_upper == 1.0


@pytest.mark.parametrize("hits", [[9], [200, 1], [3, 0, 0, 0]])
def test_too_few_modes_are_not_judged_by(hits):
    found = estimate(np.array(hits), nfev=100, cost=10.0)
    assert not found.is_judged
    assert math.isnan(found.missing_modes)
    assert found.missing_range == found.expected_range(100) == (0, math.inf)
    assert "too few modes to judge by how many are missing; at most " in str(found)


@pytest.mark.parametrize("count", [2, 10, 1000])
def test_nothing_found_once_still_leaves_a_chance(count):
    found = estimate(np.full(3, count))
    assert found.share_upper >= (1.0 - 0.025 ** (1.0 / (3 * count))) * (1.0 - 1e-12)
    assert found.share_upper > found.share


@pytest.mark.parametrize("hits", [[-1, 2], [[1, 2]], [1.5], 3])
def test_wrong_hits_are_refused(hits):
    with pytest.raises(ValueError, match=r"hits is .*; wanted \(J,\) counts of local searches"):
        estimate(np.array(hits))


def test_wrong_numbers_are_refused():
    with pytest.raises(ValueError, match="lost is -1"):
        estimate(np.ones(1, int), lost=-1)
    with pytest.raises(ValueError, match="searches is 2; it must be at least 3"):
        estimate(np.array([2, 1]), 2)
    with pytest.raises(ValueError, match="nfev is -5; it must be at least 0"):
        estimate(np.array([4, 2, 1])).expected(-5)


def test_it_says_so_in_words():
    found = estimate(np.array([100, 80, 40, 20, 10, 5, 3, 2, 1, 1, 1, 1]), nfev=9_876, cost=37.0)
    low, high = found.missing_range
    new, (least, most) = found.expected(10_000), found.expected_range(10_000)
    assert str(found) == (
        f"12 modes found; probably {low} to {high} more (90 %), where about {100 * found.share:.2g} % of local "
        "searches from new places would end; a further 10,000 evaluations would find about "
        f"{new:.0f} ({least} to {most})"
    )


@pytest.mark.parametrize(
    ("hits", "said"),
    [
        ([25, 30, 20, 27], "4 modes found; probably all that local searches end in; at most 3.6 % of local searches"),
        ([1] * 10, "10 modes found; 106 or many more are missing (90 %), where about 98 % of local searches"),
        ([1] * 20_000, "20000 modes found; 1,048,574 or many more are missing (90 %), where about 100 % of local"),
        ([9000], "1 mode found; too few modes to judge by how many are missing; at most 0.041 % of local searches"),
    ],
)
def test_it_says_plainly_what_is_not_known(hits, said):
    assert str(estimate(np.array(hits))).startswith(said)


def test_it_says_so_when_nothing_is_known():
    text = "nothing is known about modes not found: no local search began in a new place"
    assert str(estimate(np.zeros(0, int))) == text


def test_what_is_assumed_is_said():
    text = estimate(np.array([3])).assumes
    for word in ("new places", "independent", "log-normally", "invisible"):
        assert word in text
    assert "volume" not in text


def test_it_can_be_stored():
    coverage = estimate(np.array([3, 1]), lost=2, nfev=70, cost=12.5)
    assert coverage.share_upper > 0.5  # what was derived from it is not stored
    assert unpack(*pack(coverage)) == coverage
    assert coverage == Coverage((3, 1), 4, 2, 70, 12.5)


@pytest.mark.parametrize(("old", "new"), [("launches", "searches"), ("missing", "share"), ("upper", "share_upper")])
def test_old_names_still_work_with_a_warning(old, new):
    coverage = estimate(np.array([3, 1, 1]))
    with pytest.warns(DeprecationWarning, match=rf"Coverage.{old} is now Coverage.{new}"):
        assert getattr(coverage, old) == getattr(coverage, new)
