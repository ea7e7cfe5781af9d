"""Checks of what users pass in: what is accepted, and the words of what is not."""

import re

import numpy as np
import pytest

from allmodes.checks import as_limit, coordinate_names, instance, number, real_array, whole_number


@pytest.mark.parametrize("given", [[1, 2], (1.0, 2.0), np.array([1, 2], dtype=np.int8), np.float32([1, 2]), [True, 2]])
def test_anything_like_an_array_of_real_numbers_becomes_float64(given):
    found = real_array("means", given, "two numbers")
    assert found.dtype == np.float64
    np.testing.assert_array_equal(found, [1.0, 2.0])


def test_the_array_is_a_copy():
    given = np.array([1.0, 2.0])
    real_array("means", given, "two numbers")[:] = 0.0
    np.testing.assert_array_equal(given, [1.0, 2.0])


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        ("abc", TypeError, "means has dtype <U3; real numbers were wanted (two numbers)."),
        ([1j], TypeError, "means has dtype complex128; real numbers were wanted (two numbers)."),
        ([None, 1.0], TypeError, "means has dtype object; real numbers were wanted (two numbers)."),
        ([1.0, np.nan], ValueError, "means contains nan at index (1,); every entry must be finite (two numbers)."),
        (
            [[1.0, -np.inf]],
            ValueError,
            "means contains -inf at index (0, 1); every entry must be finite (two numbers).",
        ),
        (np.inf, ValueError, "means contains inf; every entry must be finite (two numbers)."),
    ],
)
def test_an_array_that_will_not_do_is_refused_in_words(given, error, message):
    with pytest.raises(error, match=f"^{re.escape(message)}$"):
        real_array("means", given, "two numbers")


def test_a_ragged_list_is_refused_by_name():
    with pytest.raises(
        ValueError, match=r"means is not an array of numbers \(.*inhomogeneous.*\); wanted two numbers\."
    ):
        real_array("means", [[1.0, 2.0], [3.0]], "two numbers")


@pytest.mark.parametrize("given", [3, np.int64(3), np.uint8(3)])
def test_whole_numbers_become_int(given):
    found = whole_number("steps", given, 3)
    assert type(found) is int
    assert found == 3


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        (2, ValueError, "steps is 2; it must be at least 3."),
        (-1, ValueError, "steps is -1; it must be at least 3."),
        (3.5, TypeError, "steps is 3.5 (float); a whole number was wanted."),
        ("3", TypeError, "steps is '3' (str); a whole number was wanted."),
        (True, TypeError, "steps is True (bool); a whole number was wanted."),
        (None, TypeError, "steps is None (NoneType); a whole number was wanted."),
    ],
)
def test_what_is_no_whole_number_is_refused_in_words(given, error, message):
    with pytest.raises(error, match=f"^{re.escape(message)}$"):
        whole_number("steps", given, 3)


def test_limits_may_be_written_as_floats():
    found = as_limit("maxfev", 1e4, 1)
    assert (found, type(found)) == (10_000, int)
    with pytest.raises(TypeError, match=r"maxfev is 2\.5 \(float\)"):
        as_limit("maxfev", 2.5, 1)


@pytest.mark.parametrize("given", [2, 2.0, np.float32(2), np.int64(2)])
def test_numbers_become_float(given):
    found = number("rate", given, above=1.0, at_least=2.0)
    assert type(found) is float
    assert found == 2.0


@pytest.mark.parametrize(
    ("given", "limits", "error", "message"),
    [
        (1.0, {"above": 1.0}, ValueError, "rate is 1.0; it must be greater than 1."),
        (0.5, {"at_least": 1.0}, ValueError, "rate is 0.5; it must be at least 1."),
        (np.nan, {}, ValueError, "rate is nan; a finite number was wanted."),
        (-np.inf, {}, ValueError, "rate is -inf; a finite number was wanted."),
        ("1", {}, TypeError, "rate is '1' (str); a number was wanted."),
        (True, {}, TypeError, "rate is True (bool); a number was wanted."),
        ([1.0], {}, TypeError, "rate is [1.0] (list); a number was wanted."),
    ],
)
def test_what_is_no_number_or_out_of_range_is_refused_in_words(given, limits, error, message):
    with pytest.raises(error, match=f"^{re.escape(message)}$"):
        number("rate", given, **limits)


def test_numbers_at_the_limit_pass():
    assert number("rate", 1.0, at_least=1.0) == 1.0
    assert number("rate", np.nextafter(1.0, 2.0), above=1.0) > 1.0
    assert number("rate", -5.0) == -5.0


def test_an_instance_passes_and_anything_else_gets_the_hint():
    assert instance("text", "abc", str, "Write it down.") is None
    with pytest.raises(TypeError, match=r"^text is 3 \(int\); a str was wanted\. Write it down\.$"):
        instance("text", 3, str, "Write it down.")


def test_coordinates_have_names_of_their_own():
    assert coordinate_names(None, 2) == ("x0", "x1")
    assert coordinate_names(["mass", "rate"], 2) == ("mass", "rate")
    with pytest.raises(TypeError, match=r"names is 'ab' \(str\); wanted 2 strings"):
        coordinate_names("ab", 2)
    for wrong in (["a"], ["a", 1], ["a", "a"]):
        with pytest.raises(ValueError, match="names is "):
            coordinate_names(wrong, 2)
