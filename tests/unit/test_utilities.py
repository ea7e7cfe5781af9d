"""Utilities against the published formulas and against tables."""

import numpy as np
import pytest

from allmodes.nva import utilities
from allmodes.nva.annealing.utilities import CMAES, NormalOrderStatistics, Shifted, Truncation


def test_the_short_names_are_the_classes():
    assert utilities.cma_es is CMAES
    assert utilities.truncation is Truncation
    assert utilities.normal_order_statistics is NormalOrderStatistics
    assert utilities.shifted is Shifted


def test_cma_es_is_the_published_formula():
    """u_b = B max(0, log(B_0 + 1) - log b) / sum, by hand for B = 4 and B_0 = 2."""
    best, second = np.log(3.0), np.log(3.0) - np.log(2.0)
    wanted = [4 * best / (best + second), 4 * second / (best + second), 0.0, 0.0]
    np.testing.assert_allclose(CMAES(0.5)(4), wanted, rtol=1e-14)


@pytest.mark.parametrize(
    ("fraction", "B", "selected"), [(0.25, 16, 4), (0.25, 2, 1), (0.5, 5, 3), (0.1, 14, 1), (1.0, 3, 3)]
)
def test_the_selected_are_the_rounded_fraction(fraction, B, selected):
    """B_0 = floor(B eta + 1/2)."""
    assert np.count_nonzero(Truncation(fraction)(B)) == selected
    assert np.count_nonzero(CMAES(fraction)(B)) == selected
    np.testing.assert_allclose(Truncation(fraction)(B)[:selected], B / selected)


@pytest.mark.parametrize("B", [2, 5, 16, 101])
def test_selective_utilities_sum_to_the_number_of_samples(B):
    assert CMAES()(B).sum() == pytest.approx(B)
    assert Truncation()(B).sum() == pytest.approx(B)


# Expected largest values of B standard normals, from published tables.
TABLE = {
    2: [0.5641895835, -0.5641895835],
    3: [0.8462843753, 0.0, -0.8462843753],
    5: [1.1629644736, 0.4950189705, 0.0, -0.4950189705, -1.1629644736],
    10: [1.5387527308, 1.0013570446, 0.6560591057, 0.3757646970, 0.1226677523],
}


@pytest.mark.parametrize("B", TABLE)
def test_order_statistics_are_those_of_the_tables(B):
    known = TABLE[B]
    np.testing.assert_allclose(NormalOrderStatistics()(B)[: len(known)], known, atol=2e-10)


@pytest.mark.parametrize("B", [1, 2, 7, 64, 500])
def test_order_statistics_sum_to_zero_and_are_antisymmetric(B):
    u = NormalOrderStatistics()(B)
    assert u.sum() == pytest.approx(0.0, abs=1e-9)
    np.testing.assert_allclose(u, -u[::-1], atol=1e-10)
    assert (np.diff(u) < 0).all()


def test_a_shift_adds_a_constant():
    np.testing.assert_allclose(Shifted(Truncation(0.5), -0.25)(4), [1.75, 1.75, -0.25, -0.25])
    np.testing.assert_allclose(Shifted(Shifted(CMAES(), 2.0), -2.0)(8), CMAES()(8))
    assert Shifted(CMAES(), -1.0)(16).sum() == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize("utility", [CMAES, Truncation])
@pytest.mark.parametrize(
    ("fraction", "error", "message"),
    [
        (0.0, ValueError, r"fraction is 0\.0; it must be greater than 0"),
        (-0.5, ValueError, r"fraction is -0\.5; it must be greater than 0"),
        (1.5, ValueError, r"fraction is 1\.5; it must be at most 1"),
        (np.nan, ValueError, "fraction is nan; a finite number was wanted"),
        ("half", TypeError, r"fraction is 'half' \(str\); a number was wanted"),
    ],
)
def test_a_fraction_that_makes_no_sense_is_refused(utility, fraction, error, message):
    with pytest.raises(error, match=message):
        utility(fraction)


def test_a_fraction_that_selects_nobody_is_refused_with_two_ways_out():
    with pytest.raises(
        ValueError, match=r"fraction 0\.1 of 4 samples selects none; raise the fraction to 0\.125 or num_sam"
    ):
        CMAES(0.1)(4)
    assert Truncation(0.125)(4)[0] == 4.0  # the advice is good
    assert Truncation(0.1)(5)[0] == 5.0


def test_a_shift_wants_a_utility_and_a_number():
    with pytest.raises(TypeError, match="utility is 3"):
        Shifted(3)
    with pytest.raises(TypeError, match="shift is 'up'"):
        Shifted(CMAES(), "up")
