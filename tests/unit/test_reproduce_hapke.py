"""The inversion of a measured reflectance, end to end at a small size."""

import csv

import numpy as np
import pytest

from allmodes.problems.gllim import GaussianMixture
from allmodes.problems.hapke import misfit
from allmodes.reproduce import experiment
from allmodes.reproduce.compare import AGREE, BETTER, DIFFERS, NONE
from allmodes.reproduce.experiment import Context
from allmodes.reproduce.hapke import _do, _kind, train, uphill
from allmodes.reproduce.hapke_results import MINIMUM, PLATEAU, SADDLE, Found, Minimum, Training, numbers, table, text
from allmodes.reproduce.writing import write

RUNS = 3


def small_settings():
    settings = experiment("hapke").settings
    settings["training"] |= {"pairs": 2000, "components": 8, "iterations": 20, "trainings": 2, "draws": 50}
    settings["annealing"] |= {"K": 4, "steps": 100}
    settings["search"] |= {"exact_evaluations": 10_000}
    return settings


@pytest.fixture(scope="module")
def outcome():
    seen = []
    context = Context(
        small_settings(), RUNS, seed=1, report=lambda done, total, label: seen.append((done, total, label))
    )
    outcome = experiment("hapke").run(context)
    assert seen[0] == (0, 2, "fits of GLLiM")
    assert seen[-1] == (2 + RUNS, 2 + RUNS, "searches")
    return outcome


def by_name(outcome):
    return {number.what: number for number in outcome.numbers}


def test_the_model_gives_the_published_misfits(outcome):
    for j, printed in enumerate(("0.00338", "0.00343", "0.0115", "0.0173"), 1):
        number = by_name(outcome)[f"misfit of the published Psi_{j} by the model here"]
        assert number.published == printed
        assert number.verdict == AGREE
    for j in (1, 2):
        assert by_name(outcome)[f"largest difference of the signal of Psi_{j} to the observation"].verdict == AGREE


def test_modes_of_the_posterior_are_those_of_its_trainings(outcome):
    found, _ = outcome.data
    assert len(found.trainings) == 2
    assert not np.array_equal(found.trainings[0].modes, found.trainings[1].modes)
    for training in found.trainings:
        assert training.posterior.weights.shape == (8,)
        assert 1 <= training.from_means <= len(training.modes)
        assert (np.diff(training.log_densities) <= 0.0).all()
    best = found.trainings[0].modes[0]
    assert misfit(best[None])[0] < 0.02  # even this small, the best mode explains the observation
    assert ((best > 0.0) & (best < 1.0)).all()


def test_searches_find_modes(outcome):
    found, settings = outcome.data
    J = len(found.trainings[0].modes)
    assert found.annealed.shape == found.searched.shape == (RUNS, J)
    assert found.searched.mean() > 0.7
    assert found.annealed.any()
    assert found.evaluations[0] == 100 * 4 * settings["annealing"]["num_samples"]


def test_the_exact_misfit_has_two_minima_on_the_edge(outcome):
    found, _ = outcome.data
    minima = [minimum for minimum in found.minima if minimum.kind == MINIMUM]
    assert [round(minimum.value, 5) for minimum in minima] == [0.001, 0.00133]
    np.testing.assert_allclose(minima[0].x, [0.694, 0.433, 0.656, 0.0], atol=2e-3)
    np.testing.assert_allclose(minima[1].x, [0.685, 0.0, 0.720, 0.0], atol=2e-3)
    assert "finds 2 minima, on the edge of the box" in outcome.text


def test_a_plateau_is_listed_once(outcome):
    plateaus = [round(minimum.value, 7) for minimum in outcome.data[0].minima if minimum.kind == PLATEAU]
    assert len(plateaus) == len(set(plateaus)) <= 2


def test_table_and_text(outcome):
    found, _ = outcome.data
    kinds = [row["what"] for row in outcome.table]
    assert kinds.count("published") == 4
    assert kinds.count("mode of the posterior") == sum(len(training.modes) for training in found.trainings)
    assert kinds.count("minimum of the exact misfit") == 2
    assert len({tuple(row) for row in outcome.table}) == 1  # the same columns everywhere
    for word in ("The paper's", "ours", "Training sets", "find_maxima", "exact likelihood", "plateau"):
        assert word in outcome.text


def test_is_written_down(outcome, tmp_path):
    write(experiment("hapke"), outcome, tmp_path)
    assert (tmp_path / "hapke.png").stat().st_size > 20_000
    with (tmp_path / "hapke.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == len(outcome.table)
    assert float(rows[0]["misfit"]) == pytest.approx(0.003382, abs=1e-6)
    assert "| misfit of the published Psi_4" in (tmp_path / "hapke.md").read_text(encoding="utf-8")


def test_picture_has_the_signals(outcome):
    from matplotlib.figure import Figure

    figure = Figure(layout="constrained")
    experiment("hapke").draw(figure, outcome)
    left, right = figure.axes
    assert [line.get_label() for line in left.lines] == [
        "observation", "observation $\\pm$ 0.05", "observation $\\pm$ 0.05", "$\\Psi_1$", "$\\Psi_2$", "$\\Psi_3$",
        "$\\Psi_4$", "most correlated training signal",
    ]  # fmt: skip
    assert sum(line.get_linestyle() == ":" for line in right.lines) == 2


def test_the_same_stream_gives_the_same_training():
    settings = small_settings()["training"] | {"iterations": 5}
    one, two = (train(settings, np.random.default_rng(3)) for _ in range(2))
    np.testing.assert_array_equal(one.modes, two.modes)
    np.testing.assert_array_equal(one.signal, two.signal)


# ---- with results made by hand

PLACES = np.array([[0.2, 0.2, 0.2, 0.2], [0.8, 0.8, 0.8, 0.8]])


def made_training(places=PLACES, log_densities=(6.0, 5.0)):
    posterior = GaussianMixture(np.array([0.7, 0.3]), places, np.tile(1e-3 * np.eye(4), (2, 1, 1)))
    return Training(posterior, places, np.array(log_densities), 2, np.zeros(10))


def made_found(trainings, matched):
    annealed = np.array([[True, False], [True, True]])
    minima = [
        Minimum(np.array([0.5, 0.0, 0.5, 0.5]), 0.1, MINIMUM),
        Minimum(np.array([0.5, 0.2, 0.0, 0.5]), 0.2, PLATEAU),
    ]
    return Found(trainings, [np.array(part) for part in matched], annealed, annealed | True, (800, 50.0), minima)


PUBLISHED = {
    "modes": [[0.25, 0.2, 0.2, 0.2], [0.6, 0.8, 0.8, 0.8], [0.7, 0.8, 0.8, 0.8], [0.0, 0.2, 0.2, 0.2]],
    "log_densities": ["6.1", "5.0", "4.0", "2.0"],
    "misfits": ["0.001", "0.001", "0.001", "0.001"],
    "inside": 1,
    "band": 0.05,
    "most": 4,
}  # fmt: skip


def test_uphill_gives_a_mode_to_the_nearest_of_those_that_lead_to_it():
    assert uphill(made_training(), np.array(PUBLISHED["modes"])).tolist() == [0, -1, 1, -1]


def test_numbers_over_trainings():
    other = made_training(PLACES + 0.1, (6.4, 5.2))
    found = made_found([made_training(), other], [[0, -1, 1, -1], [0, 1, -1, -1]])
    named = {number.what: number for number in numbers(found, PUBLISHED)}
    first = named["log-density of the mode uphill of Psi_1"]
    assert first.here == pytest.approx(6.2)
    assert first.low < 6.0
    assert (first.verdict, first.runs) == (AGREE, 2)
    assert named["distance of the mode uphill of Psi_1"].here == pytest.approx(0.5 * (0.05 + 0.1))
    assert named["distance of the mode uphill of Psi_1"].verdict == AGREE
    assert named["share of trainings in which Psi_2 has a mode of its own"].here == 0.5
    assert named["log-density of the mode uphill of Psi_2"].verdict == NONE  # one value cannot tell
    assert "log-density of the mode uphill of Psi_4" not in named
    assert named["misfit of the published Psi_1 by the model here"].verdict == DIFFERS
    assert named["modes found by a run of NVA-GM"].here == 1.5
    assert named["modes found by a run of NVA-GM"].verdict == AGREE
    assert named["share of the modes found by a run of find_maxima"].here == 1.0


def test_more_modes_than_published_is_better():
    found = made_found([made_training()], [[0, -1, 1, -1]])
    found = found._replace(annealed=np.ones((3, 6), dtype=bool))
    named = {number.what: number for number in numbers(found, PUBLISHED)}
    assert named["modes found by a run of NVA-GM"].verdict == BETTER


def test_far_values_differ():
    trainings = [made_training(log_densities=(6.0 + i / 10, 5.0)) for i in range(3)]
    found = made_found(trainings, [[0, -1, 1, -1]] * 3)
    published = PUBLISHED | {"log_densities": ["9.0", "5.0", "4.0", "2.0"]}
    named = {number.what: number for number in numbers(found, published)}
    assert named["log-density of the mode uphill of Psi_1"].verdict == DIFFERS
    assert named["log-density of the mode uphill of Psi_1"].reason


def test_words_and_rows_of_made_results():
    found = made_found([made_training(), made_training(PLACES + 0.3)], [[0, -1, 1, -1]] * 2)
    settings = small_settings() | {"published": PUBLISHED}
    words = text(found, settings)
    assert "moves by up to 0.30" in words
    assert "finds 1 minimum, on the edge of the box" in words
    assert "| (0.500, 0.200, 0.000, 0.500) | 0.20000 | plateau, not a minimum |" in words
    assert "weakest" not in words  # the fourth has no mode here
    assert "weakest" in text(found._replace(matched=[np.array([0, -1, -1, 1])] * 2), settings)
    rows = table(found, PUBLISHED)
    assert rows[4]["nearest published"] == "Psi_1"
    assert rows[4]["found by NVA-GM"] == 1.0
    assert rows[5]["found by NVA-GM"] == 0.5
    assert rows[6]["found by NVA-GM"] == ""  # searches are made on the first training


@pytest.mark.parametrize(
    ("x", "kind"),
    [
        ([0.693843, 0.433147, 0.655646, 0.0], MINIMUM),
        ([0.685092, 0.0, 0.720357, 0.00024], MINIMUM),
        ([0.578468, 0.0, 0.104181, 0.0], SADDLE),  # no first derivative along x2, and a second one below zero
        ([0.55953, 0.155816, 0.0, 0.839239], PLATEAU),
        ([0.717052, 0.0, 1.0, 0.321402], PLATEAU),
    ],
)
def test_stationary_points_of_the_exact_misfit(x, kind):
    point = np.array(x)
    assert _kind(point, float(misfit(point[None])[0])) == kind


def test_jobs_have_streams_of_their_own():
    """Trainings and searches must not share random numbers."""
    seen = _do(lambda rng: rng.random(), rng=np.random.default_rng(0))
    assert seen != np.random.default_rng(0).random()


def test_settings_are_the_papers():
    wanted = experiment("hapke")
    assert wanted.runs == 10
    settings = wanted.settings
    assert (settings["training"]["pairs"], settings["training"]["components"]) == (100_000, 40)
    assert settings["annealing"]["K"] == 10
