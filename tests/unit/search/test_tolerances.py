"""Thresholds: their units, and how they grow with xtol, the scale of the function, and noise."""

from __future__ import annotations

import numpy as np
import pytest

from allmodes.objective.bounds import Box
from allmodes.search.archive import Archive, Frozen
from allmodes.search.context import Context
from allmodes.search.tolerances import EPSILON, TINY, Tolerances


def make(scale=1.0, modes=(), curvature=10.0, source="derivatives", kind="optimum", gradient=(0.0, 0.0), **settings):
    """Tolerances of a search that has seen values from 0 to twice a scale, with modes of these values on a line."""
    box = Box.make([(0, 1), (0, 1)])
    context = Context(box, Archive(box), np.random.default_rng(0), **settings)
    if scale:
        context.observe_level(np.linspace(0.0, 2.0 * scale, 101))
    for place, value in zip(np.linspace(0.1, 0.9, len(modes)), modes, strict=True):
        record = Frozen(np.array(gradient), -curvature * np.eye(2), np.zeros(2, bool), kind, source, 1)
        context.archive.add(np.array([place, 0.5]), value, record)
    return context.tolerances


def test_the_constants_are_those_of_float64():
    assert abs(EPSILON - np.finfo(float).eps) < 0.01 * EPSILON
    assert np.isfinite(1.0 / TINY)


@pytest.mark.parametrize("xtol", [1e-9, 1e-6, 1e-3])
def test_distances_depend_on_xtol_alone(xtol):
    tolerances = make(xtol=xtol)
    assert isinstance(tolerances, Tolerances)
    assert xtol < tolerances.same < tolerances.near < tolerances.close
    assert tolerances.same == pytest.approx(10 * xtol)
    assert tolerances.near == pytest.approx(xtol**0.5)
    for name in ("same", "near", "close"):
        assert getattr(tolerances, name) == getattr(make(scale=1e9, xtol=xtol, modes=[5.0]), name)
        assert getattr(tolerances, name) < getattr(make(xtol=2 * xtol), name)


@pytest.mark.parametrize("factor", [1e-6, 1e6])
def test_thresholds_on_values_have_the_unit_of_the_function(factor):
    one = make(modes=[1.0, 0.5])
    other = make(scale=factor, modes=[factor, 0.5 * factor], curvature=10.0 * factor)
    assert other.tie == pytest.approx(factor * one.tie)
    assert other.equal == pytest.approx(factor * one.equal)
    assert other.rounding() == pytest.approx(factor * one.rounding())
    assert other.rounding(0.1 * factor) == pytest.approx(factor * one.rounding(0.1))


def test_ties_grow_with_the_scale_the_size_of_values_and_noise():
    assert make(scale=1.0).tie < make(scale=2.0).tie
    assert make(modes=[0.0]).tie < make(modes=[1e9]).tie
    assert make(noise=0.1).tie == pytest.approx(0.3, rel=1e-3)
    assert make(scale=0.0).tie == 0.0


def test_where_a_function_spans_many_orders_ties_are_judged_by_the_best_mode():
    wide = make(scale=1e12, modes=[0.0], curvature=10.0)
    assert wide.tie < 1e-5
    assert make(scale=1e12).tie > 1e4


@pytest.mark.parametrize("curvature", [0.0, 1e-40, 1e-13])
def test_curvature_that_is_left_on_a_plateau_says_nothing_about_ties(curvature):
    """At a minimum of sixth order it depends on how well that was located, and other minima may be as good."""
    assert make(modes=[1.0, 1.0], curvature=curvature, kind="flat").tie == make(modes=[1.0], curvature=10.0).tie
    assert make(modes=[1.0], curvature=1e-3, kind="flat").tie < make(modes=[1.0], curvature=10.0).tie


def test_polished_modes_are_compared_more_strictly():
    tolerances = make(scale=1e6, modes=[0.0, -1e-3], curvature=1e6)
    assert 0.0 < tolerances.equal <= tolerances.tie
    close = make(scale=1e6, modes=[0.0] * 400, curvature=1e6)
    assert close.equal < tolerances.equal  # there is less between modes that are close together
    noisy = make(modes=[0.0, -1e-3], noise=0.1)
    assert noisy.equal == noisy.tie


def test_differences_that_mean_nothing_are_smaller_where_the_function_is_curved_less():
    tolerances = make(scale=100.0)
    assert tolerances.rounding(0.0) < tolerances.rounding(1.0) < tolerances.rounding()
    assert tolerances.rounding(1e9) == tolerances.rounding()
    assert tolerances.rounding() < 1e-3 * tolerances.tie


def test_at_a_kink_an_error_of_the_place_is_one_of_the_value():
    flat, steep = make(modes=[0.0]), make(modes=[0.0], gradient=(3.0, 4.0))
    assert flat.value_error(0) == flat.tie
    assert steep.value_error(0) == pytest.approx(7.0 * steep.same)
    assert make(modes=[0.0], gradient=(np.nan, 0.0)).value_error(0) == flat.tie


def test_a_mode_may_fall_short_by_the_error_of_its_own_value_or_of_the_best():
    sure, kinked = make(modes=[0.0, -1.0]), make(modes=[0.0, -1.0], source="component", gradient=(1.0, 0.0))
    np.testing.assert_allclose(sure.shortfalls(0), sure.equal)
    np.testing.assert_allclose(kinked.shortfalls(0), kinked.same)
    unverified = make(modes=[0.0, -1.0], kind="unverified")
    np.testing.assert_allclose(unverified.shortfalls(0), unverified.tie)


def test_noisy_modes_may_fall_short_by_three_standard_errors_of_the_difference():
    tolerances = make(modes=[1.0, 0.9, 0.8], noise=0.1)
    archive = tolerances.context.archive
    for j, error in enumerate((0.03, 0.04, 0.0)):
        archive.revalue(j, archive.values[j], standard_error=error)
    np.testing.assert_allclose(tolerances.shortfalls(0), [3 * 0.03 * 2**0.5, 3 * 0.05, 3 * 0.03])


# ---- coarse functions


@pytest.mark.parametrize(("order", "xtol"), [(0, 1e-3), (1, 1e-6)])
def test_what_is_learnt_of_rounding_is_allowed_for(order, xtol):
    fine, coarse = make(modes=[-100.0], order=order), make(modes=[-100.0], order=order)
    coarse.context.learn_rounding(1e-6)
    assert fine.coarseness() == 1.0
    assert fine.error_of(100.0) < 1e-12
    assert coarse.error_of(np.array([100.0, 0.0, -np.inf])).tolist() == pytest.approx([1e-4, 0.0, 0.0])
    assert coarse.rounding() > 1e4 * fine.rounding()
    assert coarse.tie > fine.tie + 1e-4
    assert coarse.context.xtol == pytest.approx(xtol)


def test_a_constant_that_is_added_makes_a_function_coarse():
    tolerances = make(scale=10.0)
    assert tolerances.coarseness(np.array([3.0, -1e9, -np.inf])).tolist() == pytest.approx([1.0, 1e8, 1.0])
    assert make(scale=0.0).coarseness(1e9) == 1.0
    assert tolerances.located == 0.0  # nothing was evaluated
    tolerances.context.observe(np.zeros((1, 2)), np.array([-1e9]), 1)
    assert tolerances.located == pytest.approx(np.sqrt(8.8e-16 * 1e8), rel=0.01)


def test_a_constant_that_is_added_does_not_make_modes_equally_good():
    tolerances = make(scale=1.0, modes=[-1e12, -1e12 - 0.5])
    assert 8e-4 < tolerances.tie < 3e-3
    assert tolerances.context.is_best.tolist() == [True, False]


def test_an_optimum_is_compared_with_modes_as_far_away_as_it_may_be_off():
    tolerances, bowl = make(scale=1.0), -100.0 * np.eye(2)
    assert tolerances.reach(bowl) == tolerances.close
    tolerances.context.observe(np.zeros((1, 2)), np.array([-1e12]), 1)
    assert tolerances.close < tolerances.reach(bowl) < tolerances.reach(0.25 * bowl) < 0.1
    assert tolerances.reach(0.0 * bowl) == 0.1


def test_rounding_finer_than_float64_changes_nothing():
    tolerances = make(modes=[-100.0])
    error, tie = tolerances.error_of(3.0), tolerances.tie
    tolerances.context.learn_rounding(1e-17)
    assert (tolerances.error_of(3.0), tolerances.tie, tolerances.context.xtol) == (error, tie, 1e-6)
