"""Intervals and dual numbers hold every value and slope; Krawczyk's test proves what is true and nothing else."""

import math
from fractions import Fraction

import numpy as np
import pytest

from allmodes.modes.dual import Dual
from allmodes.modes.intervals import Interval, UndefinedError
from allmodes.modes.krawczyk import NO_INTERVALS, Room, prove

EXPRESSIONS = [
    lambda x, y: x * y - y / (2.5 + x * x),
    lambda x, y: np.sin(3 * x) * np.cos(y) + np.tan(0.3 * x),
    lambda x, y: np.exp(-x) + np.log(3.0 + y) + np.sqrt(2.0 + x),
    lambda x, y: x**3 - 2 * y**2 + (2.0 + x) ** -2 + (3 + y) ** 1.5 + 2.0**x,
    lambda x, y: np.arctan(x) + np.arcsin(0.4 * y) + np.arccos(0.4 * x),
    lambda x, y: np.sinh(x) + np.cosh(y) * np.tanh(x) + abs(x - y),
    lambda x, y: (1 - x) / (4 - y) + np.square(x) + 7 - x + x**0,
]


def box_of(lower, upper):
    return Dual.variables(np.asarray(lower, float), np.asarray(upper, float), np.ones(len(lower), bool))


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_values_and_slopes_at_random_points_are_inside(expression):
    rng, h = np.random.default_rng(0), 1e-6
    for _ in range(30):
        lower = rng.uniform(-1.5, 1.0, 2)
        upper = lower + rng.uniform(0.0, 0.5, 2)
        found = expression(*box_of(lower, upper))
        for x, y in lower + (upper - lower) * rng.random((20, 2)):
            value = expression(x, y)
            assert found.value.lower <= value <= found.value.upper
            by_x = (expression(x + h, y) - expression(x - h, y)) / (2 * h)
            by_y = (expression(x, y + h) - expression(x, y - h)) / (2 * h)
            assert (found.slope.lower - 1e-7 <= [by_x, by_y]).all()
            assert (found.slope.upper + 1e-7 >= [by_x, by_y]).all()


def test_rounding_goes_outwards():
    third = Interval.of(1.0) * Interval.of(3.0).inverse()
    assert Fraction(float(third.lower)) < Fraction(1, 3) < Fraction(float(third.upper))
    tenth = Interval.of(0.1) + Interval.of(0.2)
    exact = Fraction(0.1) + Fraction(0.2)
    assert Fraction(float(tenth.lower)) < exact < Fraction(float(tenth.upper))
    cube = Interval.of(0.1).power(3)
    assert Fraction(float(cube.lower)) < Fraction(0.1) ** 3 < Fraction(float(cube.upper))


def test_enclosures_are_narrow():
    """A control: intervals that are far too wide would pass every other test."""
    point = np.sin(box_of([0.3], [0.3])[0]).value
    assert float(point.upper - point.lower) < 1e-14
    wave = np.cos(box_of([-0.1], [0.2])[0]).value
    assert float(wave.upper) == 1.0
    assert math.isclose(float(wave.lower), math.cos(0.2), rel_tol=1e-12)


def test_an_enclosure_without_its_extreme_would_be_noticed():
    naive = np.sin([1.0, 2.0])  # the ends of sin on [1, 2], without the maximum between them
    assert naive.max() < math.sin(1.5) <= float(np.sin(box_of([1.0], [2.0])[0]).value.upper)


@pytest.mark.parametrize(
    "expression",
    [lambda x: 1 / x, np.log, np.sqrt, lambda x: x if x > 0 else -x, lambda x: 1.0 if x == 0.0 else x, bool],
)
def test_what_is_not_decided_on_all_of_a_box_is_refused(expression):
    with pytest.raises(UndefinedError):
        expression(box_of([-1.0], [1.0])[0])


def test_branches_that_all_of_a_box_takes_are_decided():
    x = box_of([1.0], [2.0])[0]
    assert x > 0
    assert x >= 1.0
    assert not x < 1.0
    assert not x <= 0.5
    assert x != 3.0
    assert x != 0.0


def test_single_numbers_cannot_be_made_of_intervals():
    x = box_of([1.0], [2.0])
    for function in (float, math.sin, np.floor, lambda x: x % 1, hash):
        with pytest.raises((TypeError, AttributeError)):
            function(x[0])
    with pytest.raises(TypeError):
        x.astype(float)


def room(d, side=10.0):
    return Room(np.full(d, -side), np.full(d, side), np.full(d, 2.0 * side), np.ones(d, bool))


def test_a_simple_root_is_proved_and_its_box_has_it():
    proof = prove(lambda x: [x[0] ** 2 - 2.0, x[0] * x[1] - 1.0], np.array([2.0**0.5, 0.5**0.5]), room(2))
    assert not proof.reason
    for box in (proof.box, proof.enclosure):
        assert (box[:, 0] < [2.0**0.5, 0.5**0.5]).all()
        assert (box[:, 1] > [2.0**0.5, 0.5**0.5]).all()
    assert Fraction(float(proof.enclosure[0, 0])) ** 2 < 2 < Fraction(float(proof.enclosure[0, 1])) ** 2


def test_a_box_never_has_two_roots():
    for gap in (1.0, 1e-2, 1e-4):
        proof = prove(lambda x, gap=gap: [x[0] * (x[0] - gap)], np.zeros(1), room(1))
        assert proof.box is not None
        assert proof.box[0, 1] < gap


def test_what_is_not_a_simple_root_is_not_proved():
    assert prove(lambda x: [(x[0] - 1.0) ** 2], np.ones(1), room(1)).box is None  # double
    assert prove(lambda x: [x[0] ** 2 + 1e-12], np.zeros(1), room(1)).box is None  # none
    assert prove(lambda x: [x[0] - 1.0], np.array([1.1]), room(1)).box is None  # not here
    assert "bound" in prove(lambda x: [x[0] - 10.0], np.array([10.0]), room(1)).reason


def test_functions_that_need_floats_are_told_so():
    proof = prove(lambda x: [math.sin(x[0])], np.zeros(1), room(1))
    assert proof.box is None
    assert proof.reason.startswith(NO_INTERVALS)
    assert proof.calls == 1


@pytest.mark.parametrize(
    "function", [np.log2, np.log10, np.log1p, np.expm1, lambda x: np.hypot(x, 0.3), lambda x: np.hypot(x, x)]
)
def test_further_functions_enclose_what_floats_give(function):
    (x,) = Dual.variables(np.array([0.4]), np.array([0.5]), np.array([True]))
    found = function(np.array([x], dtype=object))[0]
    for at in np.linspace(0.4, 0.5, 7):
        assert found.value.lower <= function(at) <= found.value.upper
        slope = (function(at + 1e-6) - function(at - 1e-6)) / 2e-6
        assert found.slope.lower[0] - 1e-6 <= slope <= found.slope.upper[0] + 1e-6


@pytest.mark.parametrize("centre", [(1.0, 1.0), (-1.0, 1.0), (-1.0, -1.0), (1.0, -1.0)])
def test_angles_in_every_quarter(centre):
    middle = np.array(centre)
    box = np.array(Dual.variables(middle - 0.1, middle + 0.1, np.array([True, True])), dtype=object)
    found = np.arctan2(box[1], box[0])
    for dx, dy in [(-0.1, 0.1), (0.1, 0.1), (0.1, -0.1), (0.0, 0.0)]:
        x, y = middle + np.array([dx, dy])
        assert found.value.lower <= np.arctan2(y, x) <= found.value.upper
        slope = np.array([-y, x]) / (x * x + y * y)
        assert (found.slope.lower <= slope).all()
        assert (slope <= found.slope.upper).all()
    around = Dual.variables(np.array([-1.1, -0.1]), np.array([-0.9, 0.1]), np.array([True, True]))
    with pytest.raises(UndefinedError):
        np.arctan2(around[1], around[0])
