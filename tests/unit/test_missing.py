"""How many modes are missing, against populations of basins that are known."""

import numpy as np
import pytest

from allmodes.modes.missing import Missing

RUNS = 300
NINE_IN_TEN = 0.9 - 3.0 * np.sqrt(0.09 / RUNS)  # less three standard errors


def hits_of(rng, modes, spread, each):
    """Shares of the basins, and how often each was hit: as often as `each` in the middle of them."""
    rates = each * np.exp(spread * rng.standard_normal(modes))
    return rates, rng.poisson(rates)


def simulated(modes, spread, each, seed=0):
    """(rates, hits) of populations in which three modes were found, at least."""
    rng = np.random.default_rng(seed)
    made = (hits_of(rng, modes, spread, each) for _ in range(RUNS))
    return [(rates, hits) for rates, hits in made if (hits > 0).sum() >= 3]


def holds(low_high, truth):
    return low_high[0] <= truth <= low_high[1]


POPULATIONS = [(30, 0.5, 3.0), (30, 1.5, 3.0), (60, 2.5, 1.0), (12, 1.0, 4.0), (8, 2.0, 10.0)]


@pytest.mark.parametrize(("modes", "spread", "each"), POPULATIONS)
def test_the_range_holds_the_number_of_missing_modes(modes, spread, each):
    made = simulated(modes, spread, each)
    held = [holds(Missing(hits[hits > 0]).range(), (hits == 0).sum()) for _, hits in made]
    assert np.mean(held) >= NINE_IN_TEN


@pytest.mark.parametrize(("modes", "spread", "each"), POPULATIONS)
def test_the_range_holds_the_number_of_new_modes(modes, spread, each):
    rng, held, told, came = np.random.default_rng(9), [], 0.0, 0
    for rates, hits in simulated(modes, spread, each):
        found, new = Missing(hits[hits > 0]), ((hits == 0) & (rng.poisson(2.0 * rates) > 0)).sum()
        held.append(holds(found.expected_range(2.0), new))
        told, came = told + found.expected(2.0), came + new
    assert np.mean(held) >= NINE_IN_TEN
    if modes >= 30:  # few leave the spread open, with a long tail
        assert 0.7 < told / came < 1.6


@pytest.mark.parametrize(("modes", "spread", "each"), POPULATIONS)
def test_the_bound_on_hits_of_missing_modes_holds(modes, spread, each):
    made = simulated(modes, spread, each)
    truth = [rates[hits == 0].sum() for rates, hits in made]
    told = [Missing(hits[hits > 0]) for _, hits in made]
    assert np.mean([found.hits_below(0.95) >= true for found, true in zip(told, truth, strict=True)]) >= 0.91
    assert 0.7 < np.mean([found.hits for found in told]) / np.mean(truth) < 2.0


def test_a_range_of_equal_basins_would_not_hold():
    """The control: if all basins were as large as their mean, hardly any mode would seem to be missing."""
    held = []
    for _, hits in simulated(60, 2.5, 1.0):
        seen = hits[hits > 0]
        unhit = np.exp(-seen.mean())
        f = np.random.default_rng(0).negative_binomial(len(seen), 1.0 - unhit, 2000)
        held.append(holds(np.quantile(f, [0.05, 0.95]), (hits == 0).sum()))
    assert np.mean(held) < 0.2


def test_modes_known_in_other_ways_are_not_missing():
    """Of the modes without a hit some are known: the range is that of the others."""
    rng, held = np.random.default_rng(3), []
    for _, hits in simulated(30, 1.5, 3.0):
        known = hits[(hits > 0) | (rng.random(len(hits)) < 0.5)]
        held.append(holds(Missing(known).range(), len(hits) - len(known)))
    assert np.mean(held) >= NINE_IN_TEN


def test_without_modes_known_otherwise_the_mean_is_that_of_a_negative_binomial():
    found = Missing([9, 5, 2, 1, 1])
    np.testing.assert_allclose(found._each, 5 * found._unhit / (1.0 - found._unhit))
    one = Missing([9, 5, 2, 1, 1, 0])  # E[f - 1 | f >= 1] = (E f - P(f >= 1)) / P(f >= 1)
    more = 1.0 - (1.0 - one._unhit) ** 5
    np.testing.assert_allclose(one._each, (5 * one._unhit / (1.0 - one._unhit) - more) / more)


def test_equal_counts_leave_nothing_and_unequal_ones_leave_much():
    assert Missing([25, 30, 20, 27]).range() == (0, 0)
    assert Missing([30] * 17).expected(10.0) < 1e-3
    low, high = Missing([1] * 10).range()
    assert low > 20
    assert high > 1000


def test_more_searches_find_more_and_never_more_than_there_are():
    found = Missing([60, 12, 9, 5, 3, 1, 1, 2])
    new = [found.expected(times) for times in (0.0, 0.5, 1.0, 4.0, 100.0)]
    assert new[0] == pytest.approx(0.0, abs=1e-9)
    assert (np.diff(new) > 0.0).all()
    assert found.expected_range(0.0) == (0, 0)
    assert found.expected_range(100.0)[1] <= found.range()[1]


def test_a_wider_range_is_asked_for_with_a_higher_level():
    found = Missing([60, 12, 9, 5, 3, 1, 1, 2])
    low, high = zip(*(found.range(level) for level in (0.5, 0.9, 0.99)), strict=True)
    assert high[0] < high[1] < high[2]
    assert low[0] >= low[1] >= low[2] == 0
    assert found.hits_below(0.5) < found.hits_below(0.95) < found.hits_below(0.999)


def test_many_hits_are_taken_for_their_logarithm():
    """Where the exact chances end nothing jumps."""
    numbers = [Missing([many, 12, 6, 3, 1]).number for many in (39, 40, 41, 42)]
    assert np.ptp(numbers) < 0.1 * numbers[0]
    assert Missing([5000] * 4).expected(1.0) < 1e-3


@pytest.mark.parametrize("hits", [[], [0, 0]])
def test_without_hits_nothing_can_be_said(hits):
    with pytest.raises(ValueError, match="no mode was hit"):
        Missing(hits)
