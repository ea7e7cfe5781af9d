"""What all parts of a search share: the best point, the level of the function, which modes count."""

from __future__ import annotations

import numpy as np
import pytest

from allmodes.objective.bounds import Box
from allmodes.search.archive import Archive, Frozen
from allmodes.search.context import Context
from allmodes.storage import pack, unpack

BOX = Box.make([(0, 1), (0, 1)])


def make(values=(), kind="optimum", **settings):
    context = Context(BOX, Archive(BOX), np.random.default_rng(0), **settings)
    context.observe_level(np.linspace(-1.0, 1.0, 101))
    for place, value in zip(np.linspace(0.1, 0.9, len(values)), values, strict=True):
        record = Frozen(np.zeros(2), -np.eye(2), np.zeros(2, bool), kind, "derivatives", 1)
        context.archive.add(np.full(2, place), value, record)
    context.best_value = max(values, default=-np.inf)
    return context


def test_the_best_point_is_remembered_with_its_moment():
    context, points = make(maxfev=100), np.random.default_rng(1).random((4, 2))
    context.observe(points, np.array([1.0, 3.0, -np.inf, 2.0]), 4)
    context.observe(points, np.array([0.0, 2.0, 3.0, -1.0]), 4)  # no better, and later
    assert (context.best_value, context.best_at, context.nfev, context.left) == (3.0, 4, 8, 92)
    np.testing.assert_array_equal(context.best_point, points[1])
    points[1] = 0.0
    assert context.best_point.any(), "a copy is kept"


def test_the_spread_reaches_to_the_best_value():
    context = make()
    assert context.spread == context.scale == 1.0
    context.best_value = 5.0
    assert context.spread == 5.0


def test_a_round_without_points_may_cost_evaluations():
    context = make()
    context.observe(np.zeros((0, 2)), np.zeros(0), 3)
    assert context.nfev == 3
    assert context.best_point is None


def test_level_and_scale_are_median_and_quartiles():
    context = Context(BOX, Archive(BOX), np.random.default_rng(0))
    assert not context.is_sampled
    values = np.random.default_rng(2).normal(5.0, 3.0, 2001)
    for part in np.array_split(values, 7):
        context.observe_level(part)
    low, middle, high = np.quantile(values, [0.25, 0.5, 0.75])
    assert context.level == pytest.approx(middle)
    assert context.scale == pytest.approx(high - low)


def test_of_a_few_values_the_range_is_the_scale():
    context = Context(BOX, Archive(BOX), np.random.default_rng(0))
    context.observe_level(np.array([1.0, 4.0, 2.0]))
    assert (context.level, context.scale) == (2.0, 3.0)


def test_values_that_failed_say_nothing_about_the_level():
    context = Context(BOX, Archive(BOX), np.random.default_rng(0))
    context.observe_level(np.array([-np.inf, np.nan]))
    assert not context.is_sampled
    context.observe_level(np.array([-np.inf, 1.0, np.nan, 3.0]))
    assert context.sampled.tolist() == [1.0, 3.0]


def test_what_is_kept_of_the_level_is_bounded():
    context = make()
    for _ in range(100):
        context.observe_level(np.random.default_rng(0).random(1000))
    assert len(context.sampled) < 6000


@pytest.mark.parametrize(("is_global", "counted"), [(False, [0, 1, 2]), (True, [0, 2])])
def test_modes_that_count_are_all_or_the_best(is_global, counted):
    context = make([1.0, 0.5, 1.0 - 1e-9], is_global=is_global)
    assert context.counted.tolist() == counted


def test_modes_as_good_as_the_best():
    assert make([1.0, 0.5, 1.0 - 1e-12]).is_best.tolist() == [True, False, True]
    assert make().is_best.tolist() == []


def test_no_mode_is_best_where_a_better_point_was_evaluated():
    context = make([1.0, 0.5])
    context.best_value = 1.1
    assert context.is_beaten
    assert not context.is_best.any()
    context.best_value = 1.0 + 1e-9  # no more than a tie
    assert not context.is_beaten
    assert context.is_best.tolist() == [True, False]


def test_unverified_modes_are_best_though_a_better_point_was_evaluated():
    """Ends of annealing that nobody polished are worse than points around them."""
    context = make([1.0, 0.5], kind="unverified")
    context.best_value = 1.1
    assert context.is_beaten
    assert context.is_best.tolist() == [True, False]


def test_without_modes_any_value_beats_them():
    context = make()
    assert not context.is_beaten
    context.best_value = -5.0
    assert context.is_beaten


def test_single_noisy_values_beat_nobody():
    """The best of many is high by luck; modes are as good as the best unless they are surely worse."""
    context = make([1.0, 0.9, 0.1], noise=0.1)
    for j in range(3):
        context.archive.revalue(j, context.archive.values[j], standard_error=0.03)
    context.best_value = 5.0
    assert not context.is_beaten
    assert context.is_best.tolist() == [True, True, False]
    context.learn_noise(0.2)
    assert context.noise == 0.2


def test_a_context_is_stored_with_its_generator():
    context = make([1.0, 0.5])
    context.rng.random(7)
    restored = unpack(*pack(context))
    assert restored.rng.random() == context.rng.random()
    assert (restored.level, restored.scale, restored.tolerances.tie) == (
        context.level, context.scale, context.tolerances.tie,
    )  # fmt: skip
    assert len(restored.archive) == 2
