"""NumPyro: modes of models in their own names, against the package itself."""

from __future__ import annotations

import inspect
import warnings

import numpy as np
import pytest
from scipy import stats

with warnings.catch_warnings():  # of what the packages import
    warnings.simplefilter("ignore")
    numpyro = pytest.importorskip("numpyro")
    pytest.importorskip("arviz")
    import jax
    import jax.numpy as jnp
    import numpyro.distributions as dist
    from numpyro.infer import HMC, MCMC, util

from allmodes.adapters.numpyro import find_modes

Y = np.concatenate([np.linspace(-3.0, -1.0, 8), np.linspace(1.5, 2.5, 12)])


def mixture(y):
    """Two components that may swap their names."""
    mu = numpyro.sample("mu", dist.Normal(0, 3).expand([2]))
    sigma = numpyro.sample("sigma", dist.LogNormal(0, 0.5))
    numpyro.deterministic("gap", mu[1] - mu[0])
    numpyro.sample("y", dist.MixtureSameFamily(dist.Categorical(probs=jnp.ones(2) / 2), dist.Normal(mu, sigma)), obs=y)


@pytest.fixture(scope="module")
def posterior():
    return find_modes(mixture, Y, rng=0, draws=1500)


def test_both_orders_of_the_components_are_modes_of_half_the_mass(posterior):
    first, second = sorted(posterior.modes[:2], key=lambda mode: mode["mu"][0])
    np.testing.assert_allclose(first["mu"], second["mu"][::-1], atol=1e-5)
    np.testing.assert_allclose([*first["mu"], first["sigma"]], [-2.0, 2.0, 0.5], atol=0.1)
    np.testing.assert_allclose([first["gap"], second["gap"]], [4.0, -4.0], atol=0.1)
    np.testing.assert_allclose(posterior.masses.mass[:2], 0.5, atol=0.03)
    assert tuple(first) == ("mu", "sigma", "gap")  # as in the model
    assert posterior.result.names == ("mu[0]", "mu[1]", "log sigma")
    for mode, point in zip(posterior.modes, posterior.result.modes, strict=True):
        assert mode["mu"].shape == (2,)
        np.testing.assert_allclose(mode["sigma"], np.exp(point.x[2]))
    assert "posterior: " in repr(posterior)
    assert "sigma" in repr(posterior)


def test_all_is_computed_in_float64_and_jax_is_left_as_it_was(posterior):
    assert not jax.config.jax_enable_x64
    assert jnp.ones(1).dtype == jnp.float32
    x = posterior.result.modes[0].x
    with jax.enable_x64(True):
        split = {"mu": jnp.array(x[:2]), "sigma": jnp.array(x[2])}
        value = jax.jit(lambda z: -util.potential_energy(mixture, (Y,), {}, z))(split)
    assert posterior.result.fun == pytest.approx(float(value), rel=1e-13)


def test_draws_for_arviz_know_their_mode(posterior):
    data = posterior.to_arviz(draws=300, rng=0).posterior
    assert data["mode"].dims == ("draw",)
    assert data["mu"].dims == ("chain", "draw", "mu_dim_0")
    of_first = data["mu"].values[0][data["mode"].values == 0]
    assert (np.sign(of_first) == np.sign(posterior.modes[0]["mu"])).all()
    assert 0.4 < np.mean(data["mode"].values == 0) < 0.6
    np.testing.assert_allclose(data["gap"], data["mu"][..., 1] - data["mu"][..., 0])
    assert (data["sigma"] > 0).all()


def test_chains_begin_at_the_modes(posterior):
    kernel = HMC(
        mixture, trajectory_length=None, num_steps=1
    )  # the page of the adapter has NUTS, which takes long to compile
    chains = MCMC(kernel, num_warmup=0, num_samples=5, num_chains=2, chain_method="sequential", progress_bar=False)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the number of devices
        chains.run(jax.random.key(0), Y, init_params=posterior.initial_values(2))
    mu = chains.get_samples(group_by_chain=True)["mu"]
    for i in range(2):
        assert (np.sign(mu[i]) == np.sign(posterior.modes[i]["mu"])).all()
    assert posterior.initial_values(1)["mu"].shape == (2,)  # one chain has no axis of chains
    assert posterior.initial_values(5)["mu"].shape == (5, 2)


def test_the_prior_says_where_to_look_and_the_evidence_is_right():
    def model(y=None):
        x = numpyro.sample("x", dist.Normal(1e4, 10.0))
        numpyro.sample("y", dist.Normal(x, 1.0), obs=y)

    posterior = find_modes(model, model_kwargs={"y": 10003.0}, rng=0, draws=400)
    assert posterior.modes[0]["x"] == pytest.approx((10003.0 * 100 + 1e4) / 101, rel=1e-9)
    assert np.isinf(posterior.result.bounds).all()
    assert posterior.masses.log_evidence == pytest.approx(stats.norm.logpdf(3.0, 0.0, np.sqrt(101)), abs=0.01)


@pytest.mark.parametrize(("jacobian", "mode"), [(True, 3.0 / 2.0), (False, (3.0 - 1.0) / 2.0)])
def test_where_the_mode_is_depends_on_the_jacobian(jacobian, mode):
    """The density of a Gamma variable is highest at (a - 1) / b, that of its logarithm at a / b."""
    posterior = find_modes(lambda: numpyro.sample("rate", dist.Gamma(3.0, 2.0)), jacobian=jacobian, rng=0, draws=200)
    assert [each["rate"] for each in posterior.modes] == pytest.approx([mode], rel=1e-4)
    assert posterior.result.names == ("log rate",)
    assert (posterior.masses is None) is not jacobian
    if not jacobian:
        with pytest.raises(ValueError, match="leave jacobian=False out"):
            posterior.to_arviz()


def test_plates_simplices_fixed_parameters_and_gradients_alone():
    def model(y):
        with numpyro.plate("groups", 2):
            numpyro.sample("level", dist.Normal(0, 1))
        share = numpyro.sample("share", dist.Dirichlet(jnp.array([2.0, 3.0, 4.0])))
        scale = numpyro.param("scale", 0.5)
        numpyro.sample("y", dist.Normal(share[0], scale), obs=y)

    posterior = find_modes(model, 0.2, rng=0, draws=0, hess=False)
    assert posterior.result.nhev == 0
    assert posterior.result.names[2:] == ("unconstrained share[0]", "unconstrained share[1]")
    assert posterior.modes[0]["share"].shape == (3,)
    assert posterior.modes[0]["share"].sum() == pytest.approx(1.0)
    np.testing.assert_allclose(posterior.modes[0]["level"], 0.0, atol=1e-4)
    assert posterior.masses is None
    with pytest.raises(ValueError, match="leave draws=0 out"):
        posterior.to_arviz()


def test_an_improper_prior_needs_starts():
    def model():
        x = numpyro.sample("x", dist.ImproperUniform(dist.constraints.positive, (), event_shape=()))
        numpyro.factor("likelihood", jnp.where(x < 5.0, -((x - 2.0) ** 2), jnp.nan))

    with pytest.raises(ValueError, match=r"the prior cannot be drawn from .* starts="):
        find_modes(model, rng=0)
    starts = {"x": np.linspace(0.5, 6.0, 40)}  # at some of which the density is not a number
    posterior = find_modes(model, starts=starts, rng=0, draws=0, jacobian=False)
    assert [mode["x"] for mode in posterior.modes] == pytest.approx([2.0], rel=1e-4)
    with pytest.raises(ValueError, match=r"starts lacks x; wanted draws"):
        find_modes(model, starts={"z": starts["x"]})
    with pytest.raises(ValueError, match=r"starts has shapes x \(20, 2\); wanted x \(n,\)"):
        find_modes(model, starts={"x": starts["x"].reshape(20, 2)})


def test_a_parameter_that_the_data_push_to_its_limit():
    """In unconstrained coordinates the mode is near the limit, not at it."""

    def model(n):
        share = numpyro.sample("share", dist.Uniform(0.0, 1.0))
        numpyro.sample("successes", dist.Binomial(n, share), obs=n)

    posterior = find_modes(model, 50, rng=0, draws=400)
    assert [mode["share"] for mode in posterior.modes] == pytest.approx([51 / 52], rel=1e-5)
    assert posterior.masses.log_evidence == pytest.approx(-np.log(51), abs=0.03)


def discrete():
    numpyro.sample("z", dist.Categorical(probs=jnp.ones(2) / 2))
    numpyro.sample("x", dist.Normal(0, 1))


def without_parameters():
    numpyro.sample("y", dist.Normal(0, 1), obs=1.0)


def subsampled():
    x = numpyro.sample("x", dist.Normal(0, 1))
    with numpyro.plate("data", 10, subsample_size=3):
        numpyro.sample("y", dist.Normal(x, 1), obs=jnp.ones(3))


def impossible():
    numpyro.sample("x", dist.Normal(0, 1))
    numpyro.factor("never", -jnp.inf)


@pytest.mark.parametrize(
    ("model", "said"),
    [
        (discrete, r"discrete parameters, site 'z'; wanted continuous ones only"),
        (without_parameters, r"no parameters: no sample site without obs"),
        (subsampled, r"anew at each evaluation, in plate 'data'.*leave subsample_size out"),
        (impossible, r"finite at none of 500 draws of the prior, and 2 are needed; it is -inf at x = "),
    ],
)
def test_what_cannot_be_searched_is_refused(model, said):
    with pytest.raises(ValueError, match=said):
        find_modes(model, rng=0)


def test_what_is_no_model_is_said():
    with pytest.raises(TypeError, match=r"model is 3 \(int\); wanted the function that samples"):
        find_modes(3)


def test_what_follows_from_the_model_cannot_be_given():
    with pytest.raises(TypeError, match="makes jac from the model itself"):
        find_modes(mixture, Y, jac="jax")
    with pytest.raises(TypeError, match=r"no argument 'maxfevs'; did you mean 'maxfev'"):
        find_modes(mixture, Y, maxfevs=3)


def test_the_same_seed_gives_the_same_modes(posterior):
    again = find_modes(mixture, Y, rng=0, draws=0)
    assert again.result.nfev == posterior.result.nfev
    np.testing.assert_array_equal(again.result.x, posterior.result.x)


@pytest.mark.parametrize(
    ("function", "names"),
    [
        (util.potential_energy, ["model", "model_args", "model_kwargs", "params"]),
        (util.log_density, ["model", "model_args", "model_kwargs", "params"]),
        (util.constrain_fn, ["model", "model_args", "model_kwargs", "params", "return_deterministic"]),
        (util.unconstrain_fn, ["model", "model_args", "model_kwargs", "params"]),
        (numpyro.infer.Predictive, ["model", "posterior_samples", "num_samples", "return_sites"]),
        (numpyro.infer.init_to_uniform, ["site"]),
        (dist.biject_to, []),
        (MCMC.run, ["self", "rng_key", "init_params"]),
    ],
)
def test_numpyro_has_what_the_adapter_calls(function, names):
    """Fails when NumPyro has changed: then look at `allmodes.adapters.numpyro`, and at the range in pyproject.toml."""
    parameters = list(inspect.signature(function).parameters)
    order = [name for name in parameters if name in names]
    assert order == names
