"""Experiments on weights and on the schedule, end to end at a small size."""

import numpy as np
import pytest
from matplotlib.figure import Figure

from allmodes.problems import asymmetric_mixture, degenerate, symmetric_mixture
from allmodes.reproduce import experiment
from allmodes.reproduce.compare import AGREE
from allmodes.reproduce.experiment import Context
from allmodes.reproduce.sensitivity import steps_for
from allmodes.reproduce.weights import limits, mode_weights


class TestLimits:
    def test_equal_modes_share_the_weight(self):
        np.testing.assert_allclose(limits(symmetric_mixture()), [1 / 3, 1 / 3, 1 / 3, 0.0], atol=1e-9)

    def test_the_printed_limits_of_the_asymmetric_mixture(self):
        np.testing.assert_allclose(limits(asymmetric_mixture()), [0.586, 0.414, 0.0], atol=5e-4)

    def test_a_degenerate_mode_takes_all(self):
        np.testing.assert_array_equal(limits(degenerate()), [1.0, 0.0])

    def test_a_component_far_from_all_modes_counts_for_none(self):
        class Run:
            means = np.array([[-1.0, 0.0], [1.0, 0.01], [0.4, 1.5], [1.0, 0.02]])
            weights = np.array([0.5, 0.2, 0.2, 0.1])

        np.testing.assert_allclose(mode_weights(asymmetric_mixture(), Run(), 0.1), [0.5, 0.3, 0.0])


def small(name: str, runs: int, **settings):
    found = experiment(name)
    return found, found.run(Context(found.settings | settings, runs))


class TestWeights:
    def test_the_asymmetric_mixture_reaches_its_limits(self):
        found, outcome = small("weight-asym", 12)
        weights = {number.what: number for number in outcome.numbers}
        (first,) = (number for what, number in weights.items() if "limit 0.586" in what)
        assert first.verdict == AGREE
        assert abs(first.here - 0.586) < 0.01
        assert len(outcome.table) == 12
        figure = Figure()
        found.draw(figure, outcome)
        left, right = figure.axes
        assert len(right.lines) == 3 + 3 + 1  # components, limits, a line for the legend
        assert "asymmetric" in left.get_title()

    def test_both_rows_of_the_degenerate_function(self):
        _, outcome = small("weight-degenerate", 6)
        assert {row["row"] for row in outcome.table} == {"as printed", "50 times slower"}

    def test_the_share_that_is_stated_for_the_last_temperature(self):
        settings = experiment("weight-degenerate").settings
        own = settings["settings"]
        omega = own["omega_1"] / own["steps"] ** own["alpha"]
        x = np.linspace(-2.0, 2.0, 400_001)
        quartic, parabola = np.exp(-(x**4) / omega).sum(), np.exp(-(x**2) / omega).sum()
        assert round(quartic / (quartic + parabola), 2) == 0.93
        assert "= 0.93" in settings["text"]

    def test_a_picture_without_a_complete_run_says_so(self):
        found, outcome = small("weight-asym", 1, tolerance=1e-12)
        figure = Figure()
        found.draw(figure, outcome)
        assert "no run" in figure.axes[0].get_title()


class TestSensitivity:
    def test_the_budget_follows_the_exponent(self):
        settings = experiment("alpha-sensitivity").settings
        assert steps_for(settings, 1, 0.8) == pytest.approx(42_000, rel=0.01)
        assert steps_for(settings, 1, 1.0) == steps_for(settings, 2, 1.5) == 5000

    def test_every_scenario_exponent_and_K(self):
        found, outcome = small("alpha-sensitivity", 8, alphas=[1.0, 1.5], K=[2, 3], steps=60)
        cases = {(row["scenario"], row["alpha"], row["K"]) for row in outcome.table}
        assert cases == {(s, a, K) for s in (1, 2) for a in (1.0, 1.5) for K in (2, 3)}
        assert all(0.0 <= row["GPR"] <= 1.0 and row["collapse"] >= 0.0 for row in outcome.table)
        assert any("collapse" in number.what for number in outcome.numbers)
        figure = Figure()
        found.draw(figure, outcome)
        assert len(figure.axes) == 6
