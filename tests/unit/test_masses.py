"""`result.masses`: what users get, and whether it is right."""

import dataclasses
import re

import numpy as np
import pytest
from scipy.special import gammaln, ndtr
from weighed_targets import bananas, found, two_gaussians, within

import allmodes
from allmodes.masses.estimate import HELD
from allmodes.result import Masses

TWO = found(two_gaussians)
MASSES = TWO.masses(two_gaussians, draws=2000, rng=0, vectorized=True)


# ---- right


def test_masses_and_evidence_of_gaussians():
    for mode, truth in zip(MASSES, (0.8, 0.2), strict=True):
        assert within(mode.mass, truth, mode.standard_error)
        assert within(mode.log_evidence, np.log(truth), mode.log_evidence_error)
        assert mode.laplace == pytest.approx(truth, rel=1e-3)
        assert mode.laplace_log_evidence == pytest.approx(np.log(truth), abs=1e-3)
        assert mode.reason == mode.note == ""
        assert 0.8 * mode.num_draws < mode.ess <= mode.num_draws
    assert within(MASSES.log_evidence, 0.0, MASSES.standard_error)
    assert MASSES.mass.sum() == pytest.approx(1.0)
    assert len(MASSES) == 2
    assert MASSES[1].x[0] == pytest.approx(1.0, abs=1e-4)


def test_of_bananas_where_laplace_is_far_off():
    masses = found(bananas, 6.0, budget=1500).masses(bananas, rng=1, vectorized=True)
    assert masses.rounds > 0
    for mode, truth in zip(masses, (0.7, 0.3), strict=True):
        assert within(mode.mass, truth, mode.standard_error)
        assert mode.pareto_k <= 0.7
    assert within(masses.log_evidence, 0.0, masses.standard_error)


@pytest.mark.parametrize("seed", [0, 1])
def test_heavy_tails(seed):
    """Student's t with three degrees of freedom: Laplace is off by more than 2 in the logarithm."""

    def student(x):
        return -0.5 * (3.0 + 4.0) * np.log1p((x**2).sum(axis=1) / (3.0 * 0.09))

    result = found(student, 30.0, 4, 600)
    masses = result.masses(student, rng=seed, vectorized=True)
    truth = 2.0 * np.log(3.0 * np.pi) + gammaln(1.5) - gammaln(3.5) + 4.0 * np.log(0.3)
    assert within(masses.log_evidence, truth, masses.standard_error)
    assert masses[0].laplace_log_evidence < truth - 0.5


@pytest.mark.parametrize("derivatives", [False, True])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_maxima_on_the_bounds_of_an_eggbox(seed, derivatives):
    """18 modes: 8 inside, 8 on an edge that weigh half as much, 2 in a corner."""
    side = 10.0 * np.pi

    def eggbox(x):
        return (2.0 + np.cos(x[..., 0] / 2.0) * np.cos(x[..., 1] / 2.0)) ** 5

    def slopes(x):
        tilt = np.stack([np.sin(x[:, i] / 2.0) * np.cos(x[:, 1 - i] / 2.0) for i in (0, 1)], axis=1)
        return -2.5 * eggbox(x)[:, None] ** 0.8 * tilt

    jac = slopes if derivatives else None
    result = allmodes.find_maxima(eggbox, [(0.0, side)] * 2, jac=jac, vectorized=True, rng=seed, maxfev=2500)
    masses = result.masses(eggbox, rng=seed, vectorized=True)
    assert len(masses) == 18
    assert within(masses.log_evidence, 242.7506, masses.standard_error)
    for mode in masses:
        truth = 0.08 * 0.5 ** int((np.minimum(mode.x, side - mode.x) < 1e-3).sum())
        assert within(mode.mass, truth, mode.standard_error, times=5.0)  # of 108, by errors from 170 draws each
        assert mode.laplace == pytest.approx(truth, rel=0.05)
        assert not mode.note  # they lie on bounds, and no bound holds them


def test_periodic_coordinates():
    def wave(x):
        return 3.0 * np.cos(2.0 * x[:, 0]) + np.cos(x[:, 0])

    result = allmodes.find_maxima(wave, [(0.0, 2.0 * np.pi)], periodic=True, vectorized=True, rng=0, maxfev=400)
    masses = result.masses(wave, rng=0, vectorized=True)
    t = np.linspace(-np.pi, np.pi, 20_001)[:-1]
    density = np.exp(wave(t[:, None]))
    assert within(masses.log_evidence, np.log(density.mean() * 2.0 * np.pi), masses.standard_error)
    right = density[np.abs(t) < 1.66].sum() / density.sum()  # the two minima are there
    assert within(masses[0].mass, right, masses[0].standard_error + 0.002)


def test_logarithmic_coordinates_are_weighed_in_the_users():
    def gamma(x):
        return 2.0 * np.log(x[:, 0]) - x[:, 0] / 0.01

    result = allmodes.find_maxima(gamma, [(1e-6, 10.0)], scale="log", vectorized=True, rng=0, maxfev=300)
    masses = result.masses(gamma, rng=0, vectorized=True)
    assert within(masses.log_evidence, np.log(2.0 * 0.01**3), masses.standard_error)
    assert (masses.draws.weight @ masses.draws.x)[0] == pytest.approx(0.03, rel=0.02)


def test_a_mode_stands_for_its_images():
    def swapped(x):
        return np.logaddexp(*(-0.5 * (((x[:, [i, 1 - i]] - [-1.0, 1.5]) / 0.3) ** 2).sum(axis=1) for i in (0, 1)))

    result = allmodes.find_maxima(swapped, [(-5, 5)] * 2, symmetry=[0, 1], vectorized=True, rng=0, maxfev=600)
    masses = result.masses(swapped, rng=0, vectorized=True)
    assert len(masses) == 1
    truth = np.log(2.0 * 2.0 * np.pi * 0.09)
    assert within(masses.log_evidence, truth, masses.standard_error)
    assert masses[0].laplace_log_evidence == pytest.approx(truth, abs=0.01)
    np.testing.assert_allclose(masses.draws.weight @ masses.draws.x, [-1.0, 1.5], atol=0.05)


def test_constraints_cut_the_density():
    right = {"type": "ineq", "fun": lambda x: x[0] + x[1] - 0.5}
    result = allmodes.find_maxima(lambda x: -2.0 * (x**2).sum(), [(-3, 3)] * 2, constraints=right, rng=0, maxfev=400)
    masses = result.masses(lambda x: -2.0 * (x**2).sum(), rng=0)
    assert within(masses.log_evidence, np.log(2.0 * np.pi * 0.25 * ndtr(-np.sqrt(0.5))), masses.standard_error)
    assert np.isnan(masses[0].laplace)


def test_after_find_minima_it_is_the_negative():
    def misfit(x):
        return 0.5 * (x**2).sum(axis=1)

    result = allmodes.find_minima(misfit, [(-8.0, 8.0)] * 3, vectorized=True, rng=0, maxfev=300)
    masses = result.masses(lambda x: -misfit(x), rng=0, vectorized=True)
    assert within(masses.log_evidence, 1.5 * np.log(2.0 * np.pi), masses.standard_error)
    turned = result.masses(misfit, draws=400, rng=0, vectorized=True)  # a value of 0 has no sign
    assert np.isnan(turned.log_evidence)
    assert "is higher than every mode by" in turned.note


# ---- refused


def needle(x):
    """A bump on a far wider one that it hides: k-hat sees that draws do not reach all of it."""
    r = (x**2).sum(axis=1)
    return np.logaddexp(-0.5 * r / 1e-4, np.log(1e-4) - 0.5 * r)


def test_where_the_tail_is_too_heavy_masses_are_refused_with_the_reason():
    masses = found(needle, 6.0, 4, 800).masses(needle, draws=400, rounds=0, rng=0, vectorized=True)
    (mode,) = masses
    assert mode.pareto_k > 0.7
    assert np.isnan([mode.mass, mode.standard_error, mode.log_evidence, masses.log_evidence]).all()
    assert mode.reason.startswith("k-hat is ")
    assert masses.reason == "too much of it may be in mode 1, whose evidence is not known"
    assert mode.laplace == 1.0
    text = repr(masses)
    assert "log evidence not stated: too much of it may be in mode 1" in text
    assert "Laplace's value stands alone, without an error" in text


def test_a_mode_at_a_bound_of_a_box_is_called_what_it_is():
    def falling(x):
        return -5.0 * x[:, 0]

    result = allmodes.find_maxima(falling, [(0.0, 4.0)], vectorized=True, rng=0, maxfev=200)
    masses = result.masses(falling, rng=0, vectorized=True)
    assert masses[0].note == HELD
    assert within(masses.log_evidence, -np.log(5.0), masses.standard_error)
    assert "b held by a bound: not a mode of the density if the bound is only where" in repr(masses)


def test_a_draw_above_every_mode_is_told():
    left = dataclasses.replace(TWO, modes=TWO.modes[1:])
    masses = left.masses(lambda x: np.logaddexp(two_gaussians(x), 9.0 - 8.0 * (x - 0.9) @ (x - 0.9)), rng=0)
    assert "is higher than every mode by" in masses.note
    assert "a mode is missing there" in " ".join(repr(masses).split())
    assert MASSES.note == ""


def test_a_density_that_is_zero_beside_its_modes():
    def spike(x):
        return np.where(np.abs(x).max(axis=1) < 1e-9, 0.0, -np.inf)

    mode = dataclasses.replace(TWO.modes[0], x=np.zeros(2), fun=0.0)
    with pytest.raises(ValueError, match=r"at all of .* draws around 1 mode"):
        dataclasses.replace(TWO, modes=(mode,)).masses(spike, draws=200, rng=0, vectorized=True)


def test_failures_weigh_nothing_and_are_told():
    def broken(x):
        if x[1] > 1.0:
            raise ArithmeticError("no")
        return np.nan if x[0] < -1.3 else float(two_gaussians(x))

    masses = TWO.masses(broken, draws=400, rng=0, on_error="nan")
    assert masses.nfail > 0
    assert {kind for _, kind, _ in masses.failures} == {"not finite", "raised"}
    assert f"log_density failed at {masses.nfail} draws" in repr(masses)


@pytest.mark.parametrize(
    ("settings", "said"),
    [({"draws": 10}, "draws is 10"), ({"rounds": -1}, "rounds is -1"), ({"on_error": "no"}, "on_error is 'no'")],
)
def test_arguments_that_make_no_sense(settings, said):
    with pytest.raises(ValueError, match=said):
        TWO.masses(two_gaussians, vectorized=True, **settings)


# ---- draws, text, files


def test_draws_are_labelled_and_weighed():
    draws = MASSES.draws
    assert draws.x.shape == (len(draws), 2)
    is_right = draws.mode == (draws.x[:, 0] > 0.0)
    assert draws.weight[is_right].sum() > 0.999  # tails of wide components reach over
    assert draws.weight.sum() == pytest.approx(1.0)
    assert np.logaddexp.reduce(draws.log_weight) == pytest.approx(MASSES.log_evidence, abs=1e-3)
    np.testing.assert_allclose(draws.weight @ draws.x, [-0.6, 0.1], atol=0.02)


def test_equally_weighted_draws():
    same = MASSES.resample(1000, rng=0)
    assert same.x.shape == (1000, 2)
    np.testing.assert_array_equal(same.weight, np.full(1000, 1e-3))
    assert (same.mode == 0).mean() == pytest.approx(MASSES[0].mass, abs=2e-3)  # systematic: no luck of its own
    np.testing.assert_array_equal(MASSES.resample(1000, rng=0).x, same.x)
    assert np.logaddexp.reduce(same.log_weight) == pytest.approx(np.logaddexp.reduce(MASSES.draws.log_weight))
    with pytest.raises(ValueError, match="n is 0"):
        MASSES.resample(0)


def test_the_same_seed_gives_the_same_draws():
    again = TWO.masses(two_gaussians, draws=2000, rng=0, vectorized=True)
    np.testing.assert_array_equal(again.draws.x, MASSES.draws.x)
    other = TWO.masses(two_gaussians, draws=2000, rng=np.random.default_rng(1), vectorized=True)
    assert other.log_evidence != MASSES.log_evidence


def test_the_table_fits_a_terminal():
    text = repr(MASSES)
    assert max(map(len, text.splitlines())) < 80
    assert "masses of 2 modes: " in text
    assert "k-hat cannot see mass that no draw reached" in text
    assert re.search(r" mass +error +log evidence +error +k-hat +ess +Laplace +x0 ", text)


def test_saved_and_read(tmp_path):
    MASSES.save(tmp_path / "masses.npz")
    read = Masses.load(tmp_path / "masses.npz")
    assert repr(read) == repr(MASSES)
    np.testing.assert_array_equal(read.draws.x, MASSES.draws.x)
    TWO.save(tmp_path / "result.npz")
    with pytest.raises(ValueError, match="holds a result; a masses was wanted"):
        Masses.load(tmp_path / "result.npz")
    loaded = allmodes.result.Result.load(tmp_path / "result.npz")
    np.testing.assert_array_equal(loaded.masses(two_gaussians, draws=2000, rng=0, vectorized=True).mass, MASSES.mass)
