"""What a run returns, and how it reads."""

from dataclasses import replace

import numpy as np
import pytest
from functions import bowl

from allmodes import Status
from allmodes.nva import Runs, anneal, presets
from allmodes.nva.mixture import Mixture
from allmodes.nva.mixture.families import Gamma

WIDTH = 80


def table(lines):
    """The lines below the heading of the table of components."""
    headings = [i for i, line in enumerate(lines) if line.split() == ["weight", "spread", "mean"]]
    assert len(headings) == 1
    return lines[headings[0] + 1 :]


def short_run(d=2, K=3, **changes):
    settings = {
        "algorithm": presets.nva_gm(order=0),
        "means": np.random.default_rng(0).normal(size=(K, d)),
        "covariances": 1.0,
        "temperature": 1.0,
        "learning_rate": 0.01,
        "steps": 4,
        "rng": 0,
    }
    return anneal(bowl, **settings | changes)


@pytest.mark.parametrize("K", [1, 3, 25])
@pytest.mark.parametrize("d", [1, 2, 4, 10])
def test_the_representation_of_a_good_run_fits_a_terminal(d, K):
    lines = repr(short_run(d, K)).splitlines()
    assert max(map(len, lines)) <= WIDTH
    assert lines[0].startswith("NVA-GM (black-box): 4 steps, ")
    assert "status STEPS_DONE: All steps are done." in lines
    assert len(table(lines)) == min(K, 20) + (K > 20)
    assert (lines[-1] == "... and 5 more") is (K > 20)


@pytest.mark.parametrize("preset", [presets.nva_gm, presets.nva_gm_is, presets.fs_nva_gm_is])
def test_the_representation_of_a_long_run_fits_a_terminal(preset):
    run = replace(short_run(10, 20), nit=5000, nfev=1_600_000, algorithm=preset())
    assert max(map(len, repr(run).splitlines())) <= WIDTH


@pytest.mark.parametrize("status", [status for status in Status if not status.success])
def test_the_representation_of_a_failed_run_fits_a_terminal(status):
    """The advice is the longest thing in it, and the one to be read."""
    run = replace(short_run(4), status=status, failure_point=np.random.default_rng(1).normal(size=4))
    assert max(map(len, repr(run).splitlines())) <= WIDTH


def test_numbers_of_every_size_fit_the_table():
    run = short_run(10)
    mu = np.random.default_rng(2).normal(size=(3, 10)) * 10.0 ** np.array([[-200.0], [0.0], [200.0]])
    extreme = Mixture(np.array([-1e4, 5.0, 0.0]), run.mixture.components._replace(mu=mu))
    run = replace(run, mixture=extreme, best_value=-1.234567e-300)
    assert max(map(len, repr(run).splitlines())) <= WIDTH


def test_the_table_lists_components_by_weight_with_their_spread():
    run = short_run(2)
    factors = run.mixture.components.factors
    components = run.mixture.components._replace(
        mu=np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]), factors=factors._replace(A=2.0 * np.eye(2) + 0.0 * factors.A)
    )
    run = replace(run, mixture=Mixture(np.log([0.2, 0.5, 0.3]) - np.log(0.3), components))
    rows = [line.split() for line in table(repr(run).splitlines())]
    assert rows == [["0.5000", "2", "3", "4"], ["0.3000", "2", "5", "6"], ["0.2000", "2", "1", "2"]]


def test_more_than_four_coordinates_are_cut_with_dots():
    assert all(line.endswith(" ...") for line in table(repr(short_run(5)).splitlines()))
    assert not any(line.endswith("...") for line in repr(short_run(4)).splitlines())


def test_attributes_are_plain_float64_arrays():
    for driver in ("numpy", "jax"):
        run = short_run(driver=driver)
        for found, shape in (
            (run.means, (3, 2)),
            (run.weights, (3,)),
            (run.covariances, (3, 2, 2)),
            (run.best_x, (2,)),
        ):
            assert type(found) is np.ndarray
            assert found.dtype == np.float64
            assert found.shape == shape
        assert type(run.best_value) is float
        assert type(run.nit) is type(run.nfev) is int
        assert bowl(run.best_x) == pytest.approx(run.best_value)


def test_weights_sum_to_one_and_their_logarithms_survive_underflow():
    run = short_run()
    run = replace(run, mixture=run.mixture._replace(log_ratios=np.array([-1e4, 1.0, 0.0])))
    assert run.weights.sum() == pytest.approx(1.0)
    assert run.weights[0] == 0.0
    assert run.log_weights[0] == pytest.approx(-1e4 - np.logaddexp(1.0, 0.0))


def test_the_message_has_the_failure_point_and_the_advice():
    good = short_run()
    assert good.success
    assert good.message == Status.STEPS_DONE.message
    bad = replace(good, status=Status.OBJECTIVE_NOT_FINITE, failure_point=np.array([1.5, -2.0]))
    assert not bad.success
    assert bad.message.startswith(Status.OBJECTIVE_NOT_FINITE.message)
    assert "It happened at x = [1.5, -2.0]." in bad.message
    assert bad.message.endswith(Status.OBJECTIVE_NOT_FINITE.advice)


def test_a_run_goes_on_from_its_mixture():
    first = short_run()
    second = anneal(
        bowl, algorithm=first.algorithm, mixture=first.mixture, temperature=1.0, learning_rate=0.01, steps=0, rng=0
    )
    np.testing.assert_array_equal(second.means, first.means)
    np.testing.assert_array_equal(second.weights, first.weights)


def test_runs_stack_their_arrays():
    runs = short_run(replicates=4)
    assert isinstance(runs, Runs)
    assert len(runs) == 4
    assert runs.means.shape == (4, 3, 2)
    assert runs.weights.shape == (4, 3)
    assert runs.covariances.shape == (4, 3, 2, 2)
    for h, run in enumerate(runs):
        np.testing.assert_array_equal(runs.means[h], run.means)
        np.testing.assert_array_equal(runs.weights[h], run.weights)
        assert runs[h] is run
    assert np.abs(runs.means[0] - runs.means[1]).max() > 0
    assert runs.status == (Status.STEPS_DONE,) * 4
    assert len(runs.trace) == 4
    assert runs.nfev == sum(run.nfev for run in runs) == 4 * 4 * 3 * 4


def test_runs_are_a_sequence():
    runs = short_run(replicates=3)
    assert runs[-1] is runs[2]
    assert isinstance(runs[1:], Runs)
    assert list(runs[1:]) == [runs[1], runs[2]]
    with pytest.raises(IndexError):
        runs[3]


def test_runs_count_derivatives_and_succeed_together():
    run = short_run()
    runs = Runs([replace(run, njev=2, nhev=5), replace(run, njev=3, nhev=7)])
    assert (runs.njev, runs.nhev) == (5, 12)
    assert runs.success
    assert not Runs([run, replace(run, status=Status.DIVERGED)]).success


def test_the_representation_of_runs_counts_endings():
    run = short_run()
    text = repr(Runs([run, run, replace(run, status=Status.DIVERGED)]))
    assert text == "3 runs of NVA-GM (black-box): 144 evaluations, 1 DIVERGED, 2 STEPS_DONE"
    assert len(repr(Runs([]))) <= WIDTH


def test_runs_of_other_families_have_means_and_covariances():
    run = short_run(algorithm=presets.nva_m(Gamma()), means=np.ones((3, 2)), covariances=0.2)
    assert run.means.shape == (3, 2)
    assert (run.means > 0).all()
    assert run.covariances.shape == (3, 2, 2)
    assert "NVA-M" in repr(run)
