"""GLLiM: likelihood and inverse against brute force, recovery of a known mixture, what is hard for it, an oracle."""

import importlib.util
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import multivariate_normal

from allmodes.nva.mixture.covariances import Diagonal, Full, Isotropic
from allmodes.problems.gllim import GaussianMixture, Gllim, fit_gllim

NOISES = [Isotropic(), Diagonal(), Full()]
every_noise = pytest.mark.parametrize("noise", NOISES, ids=lambda noise: type(noise).__name__)


def curved_pairs(count=600, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.random((count, 2))
    y = np.column_stack([np.sin(3.0 * x[:, 0]), x[:, 1] ** 2, x[:, 0] * x[:, 1]])
    return x, y + 0.05 * rng.standard_normal(y.shape)


def known_model():
    """Three affine maps with regions well apart, and correlated noise."""
    rng = np.random.default_rng(3)
    roots = 0.1 * rng.standard_normal((3, 3, 3)) + 0.2 * np.eye(3)
    return Gllim(
        weights=np.array([0.5, 0.3, 0.2]),
        centres=np.array([[0.0, 0.0], [6.0, 1.0], [-4.0, 5.0]]),
        spreads=np.array([[[1.0, 0.3], [0.3, 0.5]], [[0.4, 0.0], [0.0, 0.9]], [[0.6, -0.2], [-0.2, 0.3]]]),
        slopes=rng.standard_normal((3, 3, 2)),
        offsets=rng.standard_normal((3, 3)),
        noises=roots @ roots.mT,
    )


def draw(model, count, rng):
    k = rng.choice(len(model.weights), size=count, p=model.weights)
    x = np.array([rng.multivariate_normal(model.centres[i], model.spreads[i]) for i in k])
    y = np.array([rng.multivariate_normal(model.slopes[i] @ p + model.offsets[i], model.noises[i])
                  for i, p in zip(k, x, strict=True)])  # fmt: skip
    return x, y


def joint(model, k):
    """Mean and covariance of (x, y) in one component."""
    A, Gamma = model.slopes[k], model.spreads[k]
    mean = np.concatenate([model.centres[k], A @ model.centres[k] + model.offsets[k]])
    return mean, np.block([[Gamma, Gamma @ A.T], [A @ Gamma, A @ Gamma @ A.T + model.noises[k]]])


def log_likelihood(model, x, y):
    terms = [w * multivariate_normal(*joint(model, k)).pdf(np.hstack([x, y])) for k, w in enumerate(model.weights)]
    return np.log(np.sum(terms, axis=0)).mean()


def test_posterior_is_the_conditional_of_the_joint_density():
    model = known_model()
    y = np.array([0.3, -0.2, 0.5])
    posterior = model.posterior(y)
    weights = []
    for k, weight in enumerate(model.weights):
        mean, covariance = joint(model, k)
        gain = covariance[:2, 2:] @ np.linalg.inv(covariance[2:, 2:])
        np.testing.assert_allclose(posterior.means[k], mean[:2] + gain @ (y - mean[2:]), rtol=1e-9)
        np.testing.assert_allclose(posterior.covariances[k], covariance[:2, :2] - gain @ covariance[2:, :2], rtol=1e-9)
        weights.append(weight * multivariate_normal(mean[2:], covariance[2:, 2:]).pdf(y))
    np.testing.assert_allclose(posterior.weights, np.array(weights) / np.sum(weights), rtol=1e-9)


def test_posterior_density_is_bayes_rule():
    """p(x | y) of the mixture is p(x, y) / p(y), up to a factor that does not depend on x."""
    model, y = known_model(), np.array([0.1, 0.4, -0.3])
    posterior = model.posterior(y)
    x = np.random.default_rng(0).normal(size=(5, 2))
    density = sum(w * multivariate_normal(m, c).pdf(x) for w, m, c in zip(*posterior, strict=True))
    together = [log_likelihood(model, point[None], y[None]) for point in x]
    assert np.ptp(np.log(density) - together) < 1e-9


def test_components_that_an_observation_rules_out_keep_a_tiny_weight():
    model = known_model()
    model = replace(model, noises=np.tile(1e-8 * np.eye(3), (3, 1, 1)))
    weights = model.posterior(model.predict_means()[0]).weights
    assert weights.min() > 0.0
    assert np.isfinite(np.log(weights)).all()


@every_noise
def test_likelihood_is_the_one_of_the_mixture(noise):
    x, y = curved_pairs()
    model = fit_gllim(x, y, 4, noise=noise, iterations=4, rng=0)
    next_one = fit_gllim(x, y, 4, noise=noise, iterations=5, rng=0)
    np.testing.assert_allclose(next_one.log_likelihoods[4], log_likelihood(model, x, y), rtol=1e-9)


@every_noise
def test_likelihood_never_falls(noise):
    x, y = curved_pairs()
    for seed in range(3):
        history = fit_gllim(x, y, 8, noise=noise, iterations=60, rng=seed).log_likelihoods
        assert len(history) == 60
        assert np.diff(history).min() > -1e-10
        assert history[-1] > history[0] + 0.1


@every_noise
def test_noise_has_its_structure(noise):
    x, y = curved_pairs()
    noises = fit_gllim(x, y, 4, noise=noise, iterations=10, rng=0).noises
    diagonal = noises.diagonal(axis1=1, axis2=2)
    off = np.abs(noises - diagonal[..., None] * np.eye(3)).max()
    assert (off == 0.0) == (not isinstance(noise, Full))
    assert (np.ptp(diagonal, axis=1).max() == 0.0) == isinstance(noise, Isotropic)
    np.testing.assert_array_equal(noises, noises.mT)


def test_more_freedom_fits_better():
    x, y = curved_pairs()
    y[:, 0] *= 3.0
    ends = [fit_gllim(x, y, 1, noise=noise, iterations=2, rng=0).log_likelihoods[-1] for noise in NOISES]
    assert ends[0] < ends[1] < ends[2]


def test_one_component_is_linear_regression():
    x, y = curved_pairs()
    model = fit_gllim(x, y, 1, noise=Full(), iterations=1, rng=0)
    design = np.hstack([np.ones((len(x), 1)), x])
    solution, *_ = np.linalg.lstsq(design, y, rcond=None)
    np.testing.assert_allclose(model.slopes[0], solution[1:].T, rtol=1e-8)
    np.testing.assert_allclose(model.offsets[0], solution[0], rtol=1e-8, atol=1e-10)
    residuals = y - design @ solution
    np.testing.assert_allclose(model.noises[0], residuals.T @ residuals / len(x), rtol=1e-8)
    np.testing.assert_allclose(model.spreads[0], np.cov(x.T, bias=True), rtol=1e-8)


def test_known_mixture_is_recovered():
    truth = known_model()
    x, y = draw(truth, 6000, np.random.default_rng(0))
    model = fit_gllim(x, y, 3, noise=Full(), iterations=100, rng=1)
    order = [int(np.argmin(np.abs(model.centres - centre).sum(axis=1))) for centre in truth.centres]
    assert sorted(order) == [0, 1, 2]
    for name, tolerance in {"weights": 0.03, "centres": 0.1, "spreads": 0.1, "slopes": 0.06, "offsets": 0.2,
                            "noises": 0.02}.items():  # fmt: skip
        np.testing.assert_allclose(getattr(model, name)[order], getattr(truth, name), atol=tolerance, err_msg=name)
    gap = log_likelihood(model, x, y) - log_likelihood(truth, x, y)
    assert 0.0 < gap < 0.02  # as good as the truth, and fitted to the noise no more than its 60 numbers allow


def test_units_do_not_matter():
    x, y = curved_pairs()
    model = fit_gllim(x, y, 4, iterations=20, rng=0)
    other = fit_gllim(1e-4 * x + 7.0, 1e5 * y - 2e5, 4, iterations=20, rng=0)
    np.testing.assert_allclose(other.weights, model.weights, rtol=1e-5)
    np.testing.assert_allclose(other.slopes, 1e9 * model.slopes, rtol=1e-4, atol=1e4)
    np.testing.assert_allclose(other.centres, 1e-4 * model.centres + 7.0, rtol=1e-7)
    shift = -2 * np.log(1e-4) - 3 * np.log(1e5)
    np.testing.assert_allclose(other.log_likelihoods, model.log_likelihoods + shift, rtol=1e-5)
    here, there = model.posterior(y[0]), other.posterior(1e5 * y[0] - 2e5)
    np.testing.assert_allclose(there.means, 1e-4 * here.means + 7.0, rtol=1e-6)


@every_noise
@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
def test_pairs_without_noise(noise, scale):
    rng = np.random.default_rng(0)
    x = rng.random((500, 2))
    y = scale * (x @ np.array([[1.0, 3.0, 0.0], [2.0, -1.0, 0.0]]) + 7.0)
    model = fit_gllim(x, y, 5, noise=noise, iterations=30, rng=0)
    posterior = model.posterior(y[3])
    assert np.isfinite(model.log_likelihoods).all()
    np.testing.assert_allclose(posterior.weights @ posterior.means, x[3], atol=1e-4)


def test_components_without_pairs_are_left_alone():
    """Three different pairs cannot fill six components."""
    rng = np.random.default_rng(0)
    x, y = np.repeat(rng.random((3, 2)), 40, axis=0), np.repeat(rng.random((3, 2)), 40, axis=0)
    model = fit_gllim(x, y, 6, noise=Full(), rng=0, iterations=20)
    np.testing.assert_allclose(np.sort(model.weights)[-3:], 1 / 3, atol=1e-6)
    assert model.weights.sum() == pytest.approx(1.0)
    for name in ("centres", "spreads", "slopes", "offsets", "noises", "log_likelihoods"):
        assert np.isfinite(getattr(model, name)).all()
    assert np.diff(model.log_likelihoods).min() > -1e-6


def test_the_same_seed_gives_the_same_fit():
    x, y = curved_pairs()
    one, two, other = (fit_gllim(x, y, 5, iterations=5, rng=seed) for seed in (1, 1, 2))
    np.testing.assert_array_equal(one.slopes, two.slopes)
    assert not np.array_equal(one.slopes, other.slopes)


def test_callback_and_tolerance():
    x, y = curved_pairs()
    seen = []
    model = fit_gllim(x, y, 4, iterations=500, tolerance=1e-3, rng=0, callback=lambda i, value: seen.append((i, value)))
    assert [i for i, _ in seen] == list(range(1, len(seen) + 1))
    assert len(seen) < 500
    np.testing.assert_allclose([value for _, value in seen], model.log_likelihoods)
    assert np.diff(model.log_likelihoods)[-1] < 1e-3 <= np.diff(model.log_likelihoods)[:-1].min()


def test_draws_of_a_mixture():
    means, covariances = np.array([[0.0, 0.0], [10.0, 0.0]]), np.array([np.eye(2), [[2.0, 1.0], [1.0, 2.0]]])
    points = GaussianMixture(np.array([0.25, 0.75]), means, covariances).draw(8000, np.random.default_rng(0))
    second = points[:, 0] > 5.0
    assert second.mean() == pytest.approx(0.75, abs=0.02)
    np.testing.assert_allclose(points[second].mean(axis=0), means[1], atol=0.1)
    np.testing.assert_allclose(np.cov(points[second].T), covariances[1], atol=0.15)


@pytest.mark.parametrize(
    ("change", "error", "found"),
    [
        ({"x": np.zeros((5, 2))}, ValueError, "shapes"),
        ({"num_components": 500}, ValueError, "too few for 500 components"),
        ({"num_components": 0}, ValueError, "num_components is 0"),
        ({"noise": "iso"}, TypeError, "Isotropic"),
        ({"iterations": 0}, ValueError, "iterations is 0"),
        ({"tolerance": -1.0}, ValueError, "tolerance is -1"),
        ({"y": np.full((600, 3), np.nan)}, ValueError, "y contains nan"),
    ],
)
def test_bad_arguments_are_refused(change, error, found):
    x, y = curved_pairs()
    with pytest.raises(error, match=found):
        fit_gllim(**({"x": x, "y": y, "num_components": 3} | change))


def test_an_observation_of_the_wrong_shape_is_refused():
    with pytest.raises(ValueError, match=r"y has shape \(2,\)"):
        known_model().posterior(np.zeros(2))


# Run in a process of its own that ends without cleaning up: xllim shares memory with the arrays it is given and frees
# what is not its own.
IN_XLLIM = """
import os, sys
import numpy as np, xllim

data = dict(np.load(sys.argv[1]))
K, D, L = data["A"].shape
model = xllim.GLLiM(K, D, L, "full", sys.argv[2])
parameters = model.getParams()
kept = [np.array(data[name], order="F") for name in ("A", "B", "C", "Gamma", "Pi", "Sigma")]
for name, array in zip(("A", "B", "C", "Gamma", "Pi", "Sigma"), kept):
    setattr(parameters, name, array)
model.setParams(parameters)
x, y, one = (np.array(data[name].T, order="F") for name in ("x", "y", "one"))
posterior = model.inverseDensities(one).fullGMM
found = {"weights": np.ravel(posterior.weights), "means": posterior.means[:, 0].T,
         "covariances": np.moveaxis(posterior.covs, 2, 0)}
found = {name: np.array(array) for name, array in found.items()}
model.train(x, y, 5, 1e-300, 1e-12, 0)
trained = model.getParams()
found |= {"slopes": np.array(trained.A), "centres": np.array(trained.C), "pi": np.ravel(np.array(trained.Pi))}
np.savez(sys.argv[3], **found)
os._exit(0)
"""


def run_xllim(model, kind, x, y, directory):
    """Inverse at the first observation, and what five iterations make of the model, by xllim."""
    noises = {"full": model.noises, "diag": model.noises.diagonal(axis1=1, axis2=2), "iso": model.noises[:, :1, 0]}
    np.savez(directory / "in.npz", A=model.slopes, B=model.offsets, C=model.centres, Gamma=model.spreads,
             Pi=model.weights[None], Sigma=noises[kind], x=x, y=y, one=y[:1])  # fmt: skip
    arguments = [str(directory / "in.npz"), kind, str(directory / "out.npz")]
    subprocess.run([sys.executable, "-c", IN_XLLIM, *arguments], check=True, capture_output=True)
    return dict(np.load(directory / "out.npz"))


if importlib.util.find_spec("xllim") is not None:  # the authors' own library, on systems that have it

    @pytest.mark.parametrize(("kind", "noise"), [("iso", Isotropic()), ("diag", Diagonal()), ("full", Full())])
    def test_agrees_with_xllim(kind, noise, tmp_path):
        x, y = curved_pairs()
        model = fit_gllim(x, y, 4, noise=noise, iterations=3, rng=0)
        theirs, posterior = run_xllim(model, kind, x, y, tmp_path), model.posterior(y[0])
        np.testing.assert_allclose(theirs["weights"], posterior.weights, atol=1e-12)
        np.testing.assert_allclose(theirs["means"], posterior.means, atol=1e-12)
        np.testing.assert_allclose(theirs["covariances"], posterior.covariances, atol=1e-12)
        if kind != "iso":  # whose log-determinant is wrong there
            later = fit_gllim(x, y, 4, noise=noise, iterations=8, rng=0)
            np.testing.assert_allclose(theirs["slopes"], later.slopes, atol=1e-8)
            np.testing.assert_allclose(theirs["centres"], later.centres, atol=1e-8)
            np.testing.assert_allclose(theirs["pi"], later.weights, atol=1e-8)
