"""A log density with the wrong sign, or of something else, is refused."""

import numpy as np
import pytest
from weighed_targets import found, two_gaussians

from allmodes import find_minima
from allmodes.masses.agreement import check_values

RESULT = found(two_gaussians)
VALUES = np.array([mode.fun for mode in RESULT.modes])


def test_the_function_itself_and_a_constant_are_fine():
    check_values(RESULT, VALUES)
    check_values(RESULT, VALUES + 1e4)
    check_values(RESULT, np.array([VALUES[0], np.nan]))


@pytest.mark.parametrize("shift", [0.0, 3.0])
def test_the_wrong_sign(shift):
    with pytest.raises(ValueError, match=r"wrong sign.*of find_maxima\(f\), so that f itself was wanted"):
        check_values(RESULT, shift - VALUES)


def test_the_wrong_sign_of_a_single_minimum():
    result = find_minima(lambda x: 2.0 + x[0] ** 2, [(-1.0, 1.0)], rng=0, maxfev=100)
    check_values(result, np.array([-2.0]))
    with pytest.raises(ValueError, match=r"wrong sign.*of find_minima\(f\), so that -f was wanted"):
        check_values(result, np.array([2.0]))


def test_another_function():
    with pytest.raises(ValueError, match=r"not the function whose modes these are.*up to 5, most at x = "):
        check_values(RESULT, VALUES + np.array([0.0, 5.0]))


@pytest.mark.parametrize(("value", "said"), [(-np.inf, "-inf"), (np.nan, "NaN, or failed,")])
def test_no_density_at_any_mode(value, said):
    with pytest.raises(ValueError, match=f"log_density is {said} wherever there is a mode, as at x = "):
        check_values(RESULT, np.full(2, value))
