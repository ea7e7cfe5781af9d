"""Schedules by hand, and what becomes a schedule."""

import numpy as np
import pytest

from allmodes.nva import schedules
from allmodes.nva.annealing.schedules import (
    Constant,
    Coupled,
    Geometric,
    PiecewiseConstant,
    Power,
    as_schedule,
    tabulate,
)


def test_the_short_names_are_the_classes():
    names = {"constant": Constant, "power": Power, "geometric": Geometric, "coupled": Coupled}
    assert all(getattr(schedules, name) is part for name, part in names.items())
    assert schedules.piecewise_constant is PiecewiseConstant


def test_constant():
    assert Constant(0.3)(1) == Constant(0.3)(10**9) == 0.3
    np.testing.assert_array_equal(Constant(2)(np.arange(1, 4)), [2.0, 2.0, 2.0])


def test_power_starts_at_its_start_and_falls_with_its_exponent():
    np.testing.assert_allclose(Power(8.0, 2.0)(np.array([1, 2, 4])), [8.0, 2.0, 0.5])
    np.testing.assert_allclose(Power(3.0, 0.0)(np.array([1, 50])), [3.0, 3.0])
    np.testing.assert_allclose(Power(3.0, -1.0)(4), 12.0)


def test_geometric_starts_at_its_start_and_stops_at_its_minimum():
    np.testing.assert_allclose(Geometric(8.0, 0.5)(np.array([1, 2, 4])), [8.0, 4.0, 1.0])
    np.testing.assert_allclose(Geometric(8.0, 0.5, 3.0)(np.array([1, 2, 3, 4, 2000])), [8.0, 4.0, 3.0, 3.0, 3.0])


def test_piecewise_constant_includes_the_ends():
    schedule = PiecewiseConstant((5.0, 3.0, 1.0), ends=(2, 4))
    np.testing.assert_array_equal(schedule(np.arange(1, 8)), [5.0, 5.0, 3.0, 3.0, 1.0, 1.0, 1.0])
    assert schedule(2) == 5.0
    assert schedule(3) == 3.0


def test_piecewise_constant_of_one_piece():
    np.testing.assert_array_equal(PiecewiseConstant((5.0,), ends=())(np.arange(1, 4)), [5.0, 5.0, 5.0])


@pytest.mark.parametrize(
    ("values", "ends", "message"),
    [
        ((1.0, 2.0), (), "values has 2 entries and ends has 0; wanted one value more"),
        ((1.0,), (3,), "values has 1 entries and ends has 1; wanted one value more"),
        ((1.0, 2.0, 3.0), (4, 4), r"ends is \(4, 4\); wanted increasing steps"),
        ((1.0, 2.0, 3.0), (4, 2), r"ends is \(4, 2\); wanted increasing steps"),
        ((1.0, 2.0), (0,), r"ends is \(0,\); wanted increasing steps, the first at least 1"),
        ((1.0, -2.0), (3,), r"values is -2\.0; it must be at least 0"),
    ],
)
def test_pieces_that_do_not_fit_are_refused(values, ends, message):
    with pytest.raises(ValueError, match=message):
        PiecewiseConstant(values, ends)


def test_coupled_grows_as_the_temperature_falls():
    """rho_t = rho_1 (omega_1 / omega_t)^beta: with omega_t = 5 t^-2 and beta = 1/2, rho_t = rho_1 t."""
    schedule = Coupled(0.1, 0.5).given(Power(5.0, 2.0))
    np.testing.assert_allclose(schedule(np.array([1, 2, 3, 10])), [0.1, 0.2, 0.3, 1.0])


def test_coupled_stays_below_its_maximum():
    schedule = Coupled(0.1, 0.5, maximum=0.25).given(Power(5.0, 2.0))
    np.testing.assert_allclose(schedule(np.array([1, 2, 3, 10])), [0.1, 0.2, 0.25, 0.25])


def test_coupled_is_constant_beside_a_constant_temperature():
    np.testing.assert_allclose(Coupled(0.3, 0.8).given(Constant(7.0))(np.arange(1, 5)), 0.3)


def test_coupled_takes_its_maximum_where_the_temperature_is_zero():
    cold = PiecewiseConstant((1.0, 0.0), ends=(2,))
    np.testing.assert_allclose(Coupled(0.1, 0.5, maximum=0.4).given(cold)(np.arange(1, 5)), [0.1, 0.1, 0.4, 0.4])


def test_the_published_learning_rate_grows_to_ninety_one():
    """0.1 t^0.8 at t = 5000, the reason for a maximum."""
    assert Coupled(0.1, 0.8).given(Power(1.0, 1.0))(5000) == pytest.approx(91.0, abs=0.1)


def test_schedules_other_than_coupled_do_not_mind_the_temperature():
    for schedule in (Constant(1.0), Power(), Geometric(), PiecewiseConstant()):
        assert schedule.given(Power(3.0, 1.0)) is schedule


def test_numbers_and_functions_become_schedules():
    given = Power(2.0, 1.0)
    assert as_schedule("temperature", given) is given
    assert as_schedule("temperature", 3) == Constant(3.0)
    assert as_schedule("temperature", np.float32(0.5)) == Constant(0.5)
    seen = []

    def own(t):
        seen.append(t)
        return 10.0 / t

    found = tabulate("temperature", as_schedule("temperature", own), 4)
    np.testing.assert_allclose(found, [10.0, 5.0, 10.0 / 3.0, 2.5])
    assert seen == [1, 2, 3, 4]
    assert all(type(t) is int for t in seen)


def test_a_table_has_one_finite_number_per_step():
    np.testing.assert_allclose(tabulate("temperature", Power(6.0, 1.0), 3), [6.0, 3.0, 2.0])
    assert tabulate("temperature", Power(), 0).shape == (0,)
    assert tabulate("temperature", as_schedule("temperature", lambda t: 1.0), 0).shape == (0,)


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda t: 3.0 - t, r"temperature is -1 at step 4; wanted a finite number of at least 0 at every step"),
        (lambda t: np.nan if t == 2 else 1.0, "temperature is nan at step 2; wanted a finite number"),
        (lambda t: np.inf, "temperature is inf at step 1; wanted a finite number"),
    ],
)
def test_the_first_bad_step_of_a_function_is_named(function, message):
    with pytest.raises(ValueError, match=message):
        tabulate("temperature", as_schedule("temperature", function), 10)


@pytest.mark.parametrize("wrong", ["hot", None, True, [1.0, 2.0], np.ones(3)], ids=repr)
def test_what_is_no_schedule_is_refused(wrong):
    with pytest.raises(TypeError, match=r"temperature is .*; wanted a number, a schedule such as schedules\.power"):
        as_schedule("temperature", wrong)


@pytest.mark.parametrize("wrong", [lambda t: None, lambda t: "cold"], ids=["None", "str"])
def test_a_function_that_returns_no_number_is_refused_by_name(wrong):
    with pytest.raises((TypeError, ValueError), match="temperature"):
        tabulate("temperature", as_schedule("temperature", wrong), 3)
