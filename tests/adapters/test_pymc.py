"""PyMC: modes of models in their own names, against the package itself."""

from __future__ import annotations

import inspect
import warnings

import numpy as np
import pytest
from scipy import stats

with warnings.catch_warnings():  # of what the packages import
    warnings.simplefilter("ignore")
    pm = pytest.importorskip("pymc")
    import pytensor
    import pytensor.tensor as pt
    from pymc.pytensorf import join_nonshared_inputs
    from pytensor.compile.mode import Mode
    from pytensor.graph.replace import clone_replace, vectorize_graph

from allmodes.adapters.pymc import find_modes
from allmodes.adapters.pytensor import compiled, for_points, in_python

Y = np.concatenate([np.linspace(-3.0, -1.0, 8), np.linspace(1.5, 2.5, 12)])


@pytest.fixture(scope="module")
def mixture():
    """Two components that may swap their names."""
    with pm.Model(coords={"component": ["a", "b"]}) as model:
        mu = pm.Normal("mu", 0, 3, dims="component")
        sigma = pm.LogNormal("sigma", 0, 0.5)
        pm.Deterministic("gap", mu[1] - mu[0])
        pm.Mixture("y", w=[0.5, 0.5], comp_dists=pm.Normal.dist(mu, sigma), observed=Y)
    return model


@pytest.fixture(scope="module")
def posterior(mixture):
    with mixture:
        return find_modes(rng=0, draws=1500)


def test_both_orders_of_the_components_are_modes_of_half_the_mass(posterior):
    first, second = sorted(posterior.modes[:2], key=lambda mode: mode["mu"][0])
    np.testing.assert_allclose(first["mu"], second["mu"][::-1], atol=1e-5)
    np.testing.assert_allclose([*first["mu"], first["sigma"]], [-2.0, 2.0, 0.5], atol=0.1)
    np.testing.assert_allclose([first["gap"], second["gap"]], [4.0, -4.0], atol=0.1)
    np.testing.assert_allclose(posterior.masses.mass[:2], 0.5, atol=0.03)
    assert tuple(first) == ("mu", "sigma", "gap")  # as in the model
    assert posterior.result.names == ("mu[0]", "mu[1]", "sigma_log__")
    for mode, point in zip(posterior.modes, posterior.result.modes, strict=True):
        np.testing.assert_allclose(mode["sigma"], np.exp(point.x[2]))
    assert "sigma" in repr(posterior)


def test_the_density_is_that_of_pymc(mixture, posterior):
    points = [dict(zip(("mu", "sigma_log__"), (mode.x[:2], mode.x[2]), strict=True)) for mode in posterior.result.modes]
    density = mixture.compile_logp(mode=in_python())
    np.testing.assert_allclose([density(point) for point in points], [mode.fun for mode in posterior.result.modes])


def test_draws_for_arviz_know_their_mode_and_the_names_of_dimensions(posterior):
    data = posterior.to_arviz(draws=300, rng=0).posterior
    assert data["mu"].dims == ("chain", "draw", "component")
    assert list(data["component"].values) == ["a", "b"]
    of_first = data["mu"].values[0][data["mode"].values == 0]
    assert (np.sign(of_first) == np.sign(posterior.modes[0]["mu"])).all()
    assert 0.4 < np.mean(data["mode"].values == 0) < 0.6
    np.testing.assert_allclose(data["gap"], data["mu"][..., 1] - data["mu"][..., 0])


def test_chains_begin_at_the_modes(mixture, posterior):
    values = posterior.initial_values()
    assert [set(value) for value in values[:2]] == [{"mu", "sigma"}] * 2
    with warnings.catch_warnings(), mixture:
        warnings.simplefilter("ignore")
        step = pm.NUTS(max_treedepth=2, compile_kwargs={"mode": in_python()})
        chains = pm.sample(
            draws=5, tune=0, chains=2, cores=1, step=step, initvals=posterior.initial_values(2), progressbar=False,
            random_seed=0, compute_convergence_checks=False, discard_tuned_samples=False,
        )  # fmt: skip
    for i in range(2):
        mu = chains.posterior["mu"].values[i]
        assert (np.sign(mu) == np.sign(posterior.modes[i]["mu"])).all()


def test_the_prior_says_where_to_look_and_the_evidence_is_right():
    with pm.Model() as model:
        x = pm.Normal("x", 1e4, 10.0)
        pm.Normal("y", x, 1.0, observed=10003.0)
    posterior = find_modes(model, rng=0, draws=400)
    assert posterior.modes[0]["x"] == pytest.approx((10003.0 * 100 + 1e4) / 101, rel=1e-9)
    assert np.isinf(posterior.result.bounds).all()
    assert posterior.masses.log_evidence == pytest.approx(stats.norm.logpdf(3.0, 0.0, np.sqrt(101)), abs=0.01)


@pytest.mark.parametrize(("jacobian", "mode"), [(True, 3.0 / 2.0), (False, (3.0 - 1.0) / 2.0)])
def test_where_the_mode_is_depends_on_the_jacobian(jacobian, mode):
    """The density of a Gamma variable is highest at (a - 1) / b, that of its logarithm at a / b."""
    with pm.Model() as model:
        pm.Gamma("rate", 3.0, 2.0)
    posterior = find_modes(model, jacobian=jacobian, rng=0, draws=200, hess=True)
    assert [each["rate"] for each in posterior.modes] == pytest.approx([mode], rel=1e-4)
    assert posterior.result.nhev > 0
    assert (posterior.masses is None) is not jacobian


def test_transforms_that_depend_on_other_variables_and_values_that_depend_on_none():
    with pm.Model() as model:
        low = pm.Normal("low", 0.0, 1.0)
        pm.Uniform("between", low, low + 2.0)
        pm.Dirichlet("share", np.array([2.0, 3.0, 4.0]))
        pm.Deterministic("two", pt.constant(2.0))
    posterior = find_modes(model, rng=0, draws=0)
    (mode,) = posterior.modes
    assert mode["between"] - mode["low"] == pytest.approx(1.0, abs=1e-4)  # a uniform share: highest at a logit of 0
    assert mode["share"].sum() == pytest.approx(1.0)
    assert mode["two"] == 2.0


def test_an_improper_prior_needs_starts():
    with pm.Model() as model:
        x = pm.HalfFlat("x")
        pm.Potential("likelihood", pt.switch(x < 5.0, -((x - 2.0) ** 2), np.nan))
    with pytest.raises(ValueError, match=r"the prior cannot be drawn from .* starts="):
        find_modes(model, rng=0)
    starts = {"x": np.linspace(0.5, 6.0, 40)}  # at some of which the density is not a number
    posterior = find_modes(model, starts=starts, rng=0, draws=0, jacobian=False)
    assert [mode["x"] for mode in posterior.modes] == pytest.approx([2.0], rel=1e-4)


def test_what_cannot_be_searched_is_refused():
    with pm.Model() as discrete:
        pm.Categorical("z", [0.5, 0.5])
    with pytest.raises(ValueError, match=r"discrete parameters, 'z'; wanted continuous ones only"):
        find_modes(discrete)
    with pm.Model() as observed:
        pm.Normal("y", 0, 1, observed=1.0)
    with pytest.raises(ValueError, match="no parameters: all its variables are observed"):
        find_modes(observed)
    with pm.Model() as subsampled:
        x = pm.Normal("x")
        pm.Normal("y", x, 1.0, observed=pm.Minibatch(np.arange(10.0), batch_size=3), total_size=10)
    with pytest.raises(ValueError, match=r"anew at each evaluation.*leave pm.Minibatch out"):
        find_modes(subsampled)
    with pm.Model() as impossible:
        x = pm.Normal("x")
        pm.HalfNormal("y", pt.exp(x), observed=-1.0)
    with pytest.raises(
        ValueError, match=r"finite at none of 500 draws of the prior, and 2 are needed; it is -inf at x"
    ):
        find_modes(impossible)


def test_without_a_model_it_says_so():
    with pytest.raises(TypeError, match="No model on context stack"):
        find_modes()
    with pytest.raises(TypeError, match=r"model is 3 \(int\); a Model was wanted"):
        find_modes(3)


def test_sums_and_products_of_many_terms_are_left_to_numpy():
    """Or PyTensor loops over entries in Python."""
    with pm.Model() as model:
        a, b, c = (pt.vector(name) for name in "abc")
        function = compiled(model, [a, b, c], [a * b * c, a + b + c + a * b])
    counts = [len(node.inputs) for node in function.maker.fgraph.toposort()]
    assert max(counts) == 2
    rows = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    product, total = function(*rows)
    np.testing.assert_allclose(product, [15.0, 48.0])
    np.testing.assert_allclose(total, [12.0, 20.0])


class Pairwise(pytensor.graph.Op):
    """An operation on one vector that cannot be done for many at once."""

    def make_node(self, x):
        return pytensor.graph.Apply(self, [x], [pt.dscalar()])

    def perform(self, node, inputs, outputs):
        if inputs[0].ndim != 1:
            raise NotImplementedError
        outputs[0][0] = np.asarray(inputs[0].sum())


def test_operations_of_one_point_are_called_for_one_after_another():
    x, trial = pt.dvector("x"), np.arange(6.0).reshape(3, 2)
    with pm.Model() as model:
        (found,) = for_points(model, x, [Pairwise()(x)], trial)(trial)
    np.testing.assert_allclose(found, [1.0, 5.0, 9.0])


@pytest.mark.parametrize(
    ("function", "names"),
    [
        (pm.draw, ["vars", "draws", "random_seed", "kwargs"]),
        (pm.Model.logp, ["self", "jacobian"]),
        (pm.Model.compile_fn, ["self", "outs", "inputs", "mode", "point_fn", "kwargs"]),
        (pm.Model.initial_point, ["self"]),
        (pm.modelcontext, ["model"]),
        (pm.sample, ["initvals"]),
        (join_nonshared_inputs, ["point", "outputs", "inputs"]),
        (vectorize_graph, ["outputs", "replace"]),
        (clone_replace, ["output", "replace"]),
        (pytensor.gradient.jacobian, ["expression", "wrt", "vectorize"]),
        (Mode, ["linker", "optimizer"]),
    ],
)
def test_pymc_has_what_the_adapter_calls(function, names):
    """Fails when PyMC has changed: then look at `allmodes.adapters.pymc`, and at the range in pyproject.toml."""
    parameters = list(inspect.signature(function).parameters)
    assert [name for name in parameters if name in names] == names


def test_models_have_the_properties_that_the_adapter_reads(mixture):
    for name in (
        "free_RVs", "unobserved_RVs", "value_vars", "unobserved_value_vars", "discrete_value_vars", "rvs_to_values",
        "rvs_to_transforms", "named_vars_to_dims", "coords",
    ):  # fmt: skip
        assert getattr(mixture, name) is not None
