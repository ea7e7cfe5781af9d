"""Every schedule: values, arrays, representation, and arguments that are refused."""

from dataclasses import fields, replace

import members
import numpy as np
import pytest

from allmodes.nva.annealing import schedules

SCHEDULES = members.schedules()
every_schedule = pytest.mark.parametrize("schedule", SCHEDULES, ids=members.name_of)
STEPS = np.array([1, 2, 3, 10, 99, 100, 101, 1000, 100_000])


def numeric_fields(schedule):
    """Names of the arguments that are numbers or tuples of numbers."""
    return [f.name for f in fields(schedule) if not isinstance(getattr(schedule, f.name), schedules.Schedule)]


FIELDS = [
    pytest.param(schedule, name, id=f"{members.name_of(schedule)}-{name}")
    for schedule in SCHEDULES
    for name in numeric_fields(schedule)
]


@every_schedule
def test_values_are_finite_and_not_negative(schedule):
    values = schedule(STEPS)
    assert values.shape == STEPS.shape
    assert values.dtype == np.float64
    assert np.isfinite(values).all()
    assert (values >= 0).all()


@every_schedule
def test_an_array_of_steps_gives_the_values_of_its_entries(schedule):
    """Up to rounding: powers of arrays may be computed by other instructions than those of numbers."""
    values = schedule(STEPS)
    np.testing.assert_allclose([float(schedule(int(t))) for t in STEPS], values, rtol=4 * np.finfo(np.float64).eps)
    np.testing.assert_array_equal(schedule(STEPS.reshape(3, 3)), values.reshape(3, 3))


@every_schedule
def test_the_representation_evaluates_back(schedule):
    assert eval(repr(schedule), {**vars(schedules), "inf": np.inf}) == schedule


@every_schedule
def test_it_serves_beside_a_temperature(schedule):
    beside = schedule.given(schedules.Geometric(5.0, 0.5))
    assert isinstance(beside, schedules.Schedule)
    assert np.isfinite(beside(np.arange(1, 20))).all()


@every_schedule
def test_equal_arguments_make_equal_schedules(schedule):
    assert schedule == replace(schedule)
    assert hash(schedule) == hash(replace(schedule))


def with_entry(given, value):
    """A number replaced, or the last entry of a tuple."""
    return (*given[:-1], value) if isinstance(given, tuple) else value


@pytest.mark.parametrize(("schedule", "name"), FIELDS)
def test_nan_is_refused_by_name(schedule, name):
    with pytest.raises(ValueError, match=name):
        replace(schedule, **{name: with_entry(getattr(schedule, name), float("nan"))})


@pytest.mark.parametrize(("schedule", "name"), FIELDS)
def test_a_negative_argument_is_refused_by_name_or_harmless(schedule, name):
    changed = {name: with_entry(getattr(schedule, name), -1)}
    refusal = members.refusal(replace, schedule, **changed)
    if refusal is None:
        values = replace(schedule, **changed)(STEPS)
        assert np.isfinite(values).all()
        assert (values >= 0).all()
    else:
        assert name in refusal
        assert "-1" in refusal


@pytest.mark.parametrize(("schedule", "name"), FIELDS)
@pytest.mark.parametrize("wrong", ["many", None, True], ids=str)
def test_what_is_not_a_number_is_refused_by_name(schedule, name, wrong):
    with pytest.raises(TypeError, match=name):
        replace(schedule, **{name: with_entry(getattr(schedule, name), wrong)})


def test_most_negative_arguments_are_refused():
    """The test above would pass if everything were harmless."""
    refusals = [
        members.refusal(replace, schedule, **{name: with_entry(getattr(schedule, name), -1)})
        for schedule in SCHEDULES
        for name in numeric_fields(schedule)
    ]
    assert len([refusal for refusal in refusals if refusal]) >= 10
