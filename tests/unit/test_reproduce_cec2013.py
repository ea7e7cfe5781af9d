"""The experiment on CEC2013, end to end at a small size."""

import pickle

import numpy as np
import pytest
from matplotlib.figure import Figure

from allmodes.problems import cec2013
from allmodes.reproduce import experiment
from allmodes.reproduce.cec2013 import MEANS, MODES, OURS, PLACES, POINTS, Watched, annealed, searched
from allmodes.reproduce.compare import AGREE, NONE
from allmodes.reproduce.experiment import Context
from allmodes.reproduce.writing import write

SETTINGS = experiment("cec2013").settings
PRINTED, BOUNDED = SETTINGS["settings"]


def function(number, **changed):
    (found,) = (f for f in SETTINGS["functions"] if f["number"] == number)
    return found | changed


def small(functions, runs, **how):
    found = experiment("cec2013")
    return found, found.run(Context(SETTINGS | {"functions": functions}, runs, **how))


class Backwards:
    """A pool that does the last job first, with a copy of what it was given."""

    def map(self, call, tasks):
        done = [pickle.loads(pickle.dumps(call))(pickle.loads(pickle.dumps(task))) for task in reversed(list(tasks))]
        return done[::-1]


class TestSettings:
    def test_one_component_for_every_global_maximum(self):
        assert [len(cec2013(f["number"]).modes) for f in SETTINGS["functions"]] == [
            f["K"] for f in SETTINGS["functions"]
        ]

    @pytest.mark.parametrize("number", range(1, 7))
    def test_the_amplitude_is_largest_less_smallest_value(self, number):
        problem = cec2013(number)
        sides = [np.linspace(low, high, 301) for low, high in problem.bounds]
        grid = np.stack(np.meshgrid(*sides, indexing="ij"), axis=-1).reshape(-1, problem.dimension)
        amplitude = problem.height - problem.objective.fun(grid).min()
        assert function(number)["amplitude"] == pytest.approx(amplitude, rel=1e-2)
        assert function(number)["amplitude"] >= amplitude - 1e-9

    def test_the_printed_evaluations_are_those_of_the_settings_to_two_digits(self):
        for f in SETTINGS["functions"]:
            spent = f["K"] * f["num_samples"] * f["steps"]
            assert f["published"]["evaluations"] == pytest.approx(spent, rel=0.02)


class TestAnnealed:
    def test_the_camel_as_printed_in_fewer_steps(self):
        """Three times the learning rate in 800 steps: collapsed covariances, but on the right places."""
        (trial,) = annealed(function(5, steps=800, rho_1=3e-5), PRINTED, SETTINGS, 1, np.random.default_rng(0))
        assert trial.found == {MEANS: 1.0, POINTS: 1.0, PLACES: 1.0}
        assert (trial.evaluations, trial.diverged, trial.on_floor) == (2 * 16 * 800, False, 1.0)

    def test_runs_as_printed_diverge_on_himmelblau_and_bounded_ones_do_not(self):
        (printed,) = annealed(function(4), PRINTED, SETTINGS, 1, np.random.default_rng(0))
        (bounded,) = annealed(function(4), BOUNDED, SETTINGS, 1, np.random.default_rng(0))
        assert printed.diverged
        assert printed.found[MEANS] == 0.0
        assert not bounded.diverged
        assert bounded.found == {MEANS: 1.0, POINTS: 1.0, PLACES: 1.0}

    def test_covariances_collapse_onto_the_floor_where_the_rate_is_large(self):
        (printed,) = annealed(function(1), PRINTED, SETTINGS, 1, np.random.default_rng(2))
        (bounded,) = annealed(function(1), BOUNDED, SETTINGS, 1, np.random.default_rng(2))
        assert (printed.on_floor, bounded.on_floor) == (1.0, 0.0)

    def test_good_points_are_kept(self):
        watched = Watched(cec2013(2).objective, 0.9)
        values = watched(np.array([[0.1], [0.2], [0.3]]))
        np.testing.assert_allclose(values, [1.0, 0.0, 1.0], atol=1e-12)
        np.testing.assert_array_equal(np.concatenate(watched.points), [[0.1], [0.3]])


def test_the_librarys_own_search_keeps_to_the_smaller_budget():
    (trial,) = searched(function(2, steps=20), SETTINGS, 1, np.random.default_rng(0))
    assert trial.evaluations <= 5 * 32 * 20
    assert trial.found[MODES] == 1.0


class TestExperiment:
    functions = (function(1, steps=60), function(5, steps=40))

    def test_every_number_row_and_word(self, tmp_path):
        found, outcome = small(list(self.functions), 2)
        cases = {(row["function"], row["setting"], row["counted"]) for row in outcome.table}
        counts = {"as printed": 3, "bounded": 3, OURS: 2}
        assert len(cases) == len(outcome.table) == 2 * sum(counts.values())
        whats = [number.what for number in outcome.numbers]
        assert len(whats) == len(set(whats)) == 2 * (1 + 2 * 4 + 3)
        for number in outcome.numbers:
            assert (number.published == "not in the paper") == (OURS in number.what)
            assert OURS not in number.what or number.verdict == NONE
        assert "learning rates end at 0.7 on F1, 0.0037 on F5." in outcome.text  # fewer steps, lower learning rates
        assert "not finite): 0% on F1, 0% on F5." in outcome.text
        assert "{" not in outcome.text
        write(found, outcome, tmp_path)
        assert sorted(path.suffix for path in tmp_path.iterdir()) == [".csv", ".json", ".md", ".png"]
        assert all(path.stat().st_size > 500 for path in tmp_path.iterdir())

    def test_the_picture_has_a_bar_for_everything(self):
        found, outcome = small([function(5, steps=10)], 1)
        figure = Figure(layout="constrained")
        found.draw(figure, outcome)
        assert [ax.get_ylabel() for ax in figure.axes] == ["GPR", "GSR"]
        assert all(len(ax.patches) == 6 for ax in figure.axes)
        (legend,) = figure.legends
        assert len(legend.get_texts()) == 6

    def test_jobs_are_independent_and_can_be_sent_anywhere(self):
        functions = [function(5, steps=10)]
        assert small(functions, 7, workers=Backwards())[1].table == small(functions, 7)[1].table

    def test_f_eval_as_printed_agrees(self):
        _, outcome = small([function(1)], 1)
        (spent,) = (number for number in outcome.numbers if "f-eval" in number.what)
        assert (spent.here, spent.verdict) == (16_000, AGREE)
