"""What is refused, and in which words: the argument, what was found, what was wanted."""

import sys

import jax.numpy as jnp
import numpy as np
import pytest
from functions import bowl

from allmodes import Objective
from allmodes.nva import (
    Algorithm,
    anneal,
    control_variates,
    covariances,
    estimators,
    families,
    presets,
    schedules,
    updates,
)
from allmodes.nva.mixture import Mixture

drivers = pytest.mark.parametrize("driver", ["numpy", "jax"])


GOOD = {
    "algorithm": presets.nva_gm(order=0),
    "means": [[0.0, 0.0], [1.0, 1.0]],
    "covariances": 1.0,
    "temperature": 1.0,
    "learning_rate": 0.01,
    "steps": 3,
    "rng": 0,
}


def call(fun=bowl, **changes):
    """The good call with some arguments changed; `...` leaves one out."""
    settings = {name: value for name, value in (GOOD | changes).items() if value is not ...}
    return anneal(fun, **settings)


def test_the_good_call_is_good():
    assert call().success


# ---- the start


@pytest.mark.parametrize(
    ("means", "message"),
    [
        (
            [0.0, 1.0],
            r"means has shape \(2,\); wanted \(K, d\), one row per component\. Write \[means\] for one component",
        ),
        (1.0, r"means has shape \(\); wanted \(K, d\)"),
        ([], r"means has shape \(0,\); wanted \(K, d\)"),
        (np.zeros((0, 2)), r"means has shape \(0, 2\); wanted \(K, d\)"),
        (np.zeros((2, 0)), r"means has shape \(2, 0\); wanted \(K, d\)"),
        (np.zeros((1, 2, 3, 4)), r"means has shape \(1, 2, 3, 4\); wanted \(K, d\)"),
        (np.zeros((2, 3, 2)), r"means has shape \(2, 3, 2\), 2 replicates, and replicates is 1; pass replicates=2"),
        ([[0.0, np.nan], [0.0, 0.0]], r"means contains nan at index \(0, 1\); every entry must be finite"),
        ([[0.0, 0.0], [-np.inf, 0.0]], r"means contains -inf at index \(1, 0\); every entry must be finite"),
        ([[0.0, 1.0], [2.0]], r"means is not an array of numbers .*; wanted an array \(K, d\)"),
        (None, r"means is missing; wanted initial means \(K, d\), or mixture="),
    ],
)
def test_means(means, message):
    with pytest.raises(ValueError, match=message):
        call(means=means)


@pytest.mark.parametrize(
    ("means", "dtype"),
    [("ab", "<U2"), ([["a", "b"]], "<U1"), (1j * np.ones((2, 2)), "complex128"), ([[None]], "object")],
)
def test_means_that_are_not_numbers(means, dtype):
    with pytest.raises(TypeError, match=f"means has dtype {dtype}; real numbers were wanted"):
        call(means=means)


def test_means_of_as_many_replicates_as_asked_for():
    with pytest.raises(
        ValueError, match=r"means has shape \(2, 3, 2\), 2 replicates, and replicates is 3; pass replicates=2"
    ):
        call(means=np.zeros((2, 3, 2)), replicates=3)
    with pytest.raises(ValueError, match="means"):
        call(means=[np.zeros((2, 2)), np.zeros((3, 2))], replicates=2)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (np.ones(3), r"covariances has shape \(3,\); wanted a number, 2 variances, a matrix \(2, 2\) or 2 matrices"),
        (np.eye(3), r"covariances has shape \(3, 3\); wanted a number"),
        (np.ones((3, 2, 2)), r"covariances has shape \(3, 2, 2\); wanted .* to go with means \(2, 2\)"),
        (
            [[1.0, 2.0], [2.0, 1.0]],
            "covariances is not positive definite: component 0 has smallest eigenvalue -1; wanted > 0",
        ),
        (
            [np.eye(2), -np.eye(2)],
            "covariances is not positive definite: component 1 has smallest eigenvalue -1; wanted > 0",
        ),
        (-1.0, "covariances is not positive definite: component 0 has smallest eigenvalue -1; wanted > 0"),
        (0.0, "covariances is not positive definite: component 0 has smallest eigenvalue 0; wanted > 0"),
        ([[1.0, 0.5], [0.0, 1.0]], r"covariances is not symmetric; pass \(M \+ M\.T\) / 2"),
        ([1.0, np.nan], r"covariances contains nan at index \(1,\); every entry must be finite"),
        (None, "covariances is missing; wanted a number, d variances, a matrix"),
    ],
)
def test_covariances(given, message):
    with pytest.raises(ValueError, match=message):
        call(covariances=given)


def test_covariances_that_are_not_numbers():
    with pytest.raises(TypeError, match="covariances has dtype <U4; real numbers were wanted"):
        call(covariances="wide")


@pytest.mark.parametrize(
    ("structure", "message"),
    [
        (
            covariances.Diagonal(),
            r"covariances has entries off the diagonal; Diagonal\(\) holds none\. Pass d variances, or",
        ),
        (
            covariances.Isotropic(),
            r"covariances is not a multiple of the identity, and Isotropic\(\) holds nothing else",
        ),
        (covariances.Fixed(covariances.Diagonal()), "covariances has entries off the diagonal"),
    ],
)
def test_covariances_that_the_structure_cannot_hold(structure, message):
    with pytest.raises(ValueError, match=message):
        call(algorithm=presets.nva_gm(0, structure), covariances=[[1.0, 0.5], [0.5, 1.0]])


@pytest.mark.parametrize(
    ("weights", "error", "message"),
    [
        ([1.0], ValueError, r"weights has shape \(1,\); wanted \(2,\), one per component"),
        ([[0.5, 0.5]], ValueError, r"weights has shape \(1, 2\); wanted \(2,\)"),
        ([0.5, 0.6], ValueError, r"weights is \[0\.5, 0\.6\] with sum 1\.1; wanted positive weights that sum to 1"),
        ([-0.5, 1.5], ValueError, r"weights is \[-0\.5, 1\.5\] with sum 1; wanted positive weights"),
        ([0.0, 1.0], ValueError, r"weights is \[0\.0, 1\.0\] with sum 1; wanted positive weights"),
        ([np.nan, 1.0], ValueError, r"weights contains nan at index \(0,\); every entry must be finite"),
        ("ab", TypeError, "weights has dtype <U2; real numbers were wanted"),
    ],
)
def test_weights(weights, error, message):
    with pytest.raises(error, match=message):
        call(weights=weights)


@pytest.mark.parametrize("together", [{"means": [[0.0, 0.0]]}, {"covariances": 1.0}, {"weights": [0.5, 0.5]}], ids=str)
def test_a_mixture_together_with_a_start(together):
    given = {"means": ..., "covariances": ..., "mixture": call().mixture} | together
    with pytest.raises(
        ValueError, match="mixture was given together with means, covariances or weights; pass one or the"
    ):
        call(**given)


def test_a_mixture_that_is_none():
    run = call()
    for wrong in (run, tuple(run.mixture), "mixture"):
        with pytest.raises(
            TypeError, match=r"mixture is (.|\n)*; a Mixture was wanted\. Pass the mixture of an earlier run"
        ):
            call(means=..., covariances=..., mixture=wrong)


def test_a_mixture_of_as_many_weights_as_components():
    two, three = call(), call(means=np.zeros((3, 2)))
    mixed = Mixture(three.mixture.log_ratios, two.mixture.components)
    with pytest.raises((TypeError, ValueError), match="mixture"):
        call(means=..., covariances=..., mixture=mixed)


@pytest.mark.parametrize(
    "algorithm",
    [
        presets.nva_m(families.Gamma()),
        presets.nva_gm(0, covariances.Diagonal()),
        presets.nva_m(families.Product((families.Gaussian(), 2))),
    ],
    ids=["family", "structure", "product"],
)
def test_a_mixture_of_another_family_or_structure(algorithm):
    with pytest.raises((TypeError, ValueError), match="mixture"):
        call(means=..., covariances=..., mixture=call().mixture, algorithm=algorithm)


# ---- numbers and schedules


@pytest.mark.parametrize("name", ["temperature", "learning_rate"])
@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        (-1.0, ValueError, r"is -1\.0; it must be at least 0"),
        (np.nan, ValueError, "is nan; a finite number was wanted"),
        (np.inf, ValueError, "is inf; a finite number was wanted"),
        (lambda t: 2.0 - t, ValueError, "is -1 at step 3; wanted a finite number of at least 0 at every step"),
        (lambda t: np.nan, ValueError, "is nan at step 1; wanted a finite number of at least 0 at every step"),
        (
            "hot",
            TypeError,
            r"is 'hot' \(str\); wanted a number, a schedule such as schedules\.power\(1\.0, 1\.0\), or a",
        ),
        (None, TypeError, r"is None \(NoneType\); wanted a number, a schedule"),
        (True, TypeError, r"is True \(bool\); wanted a number, a schedule"),
        ([1.0, 2.0, 3.0], TypeError, r"is \[1\.0, 2\.0, 3\.0\] \(list\); wanted a number, a schedule"),
    ],
)
def test_temperatures_and_learning_rates(name, given, error, message):
    with pytest.raises(error, match=f"{name} {message}"):
        call(**{name: given})


@pytest.mark.parametrize("name", ["temperature", "learning_rate"])
def test_a_schedule_whose_values_turn_out_negative(name):
    class Falling(schedules.Schedule):
        def __call__(self, t):
            return 1.5 - np.asarray(t, dtype=float)

    with pytest.raises(ValueError, match=rf"{name} is -0\.5 at step 2; wanted a finite number of at least 0"):
        call(**{name: Falling()})


def test_a_coupled_learning_rate_beside_a_temperature_of_zero():
    with pytest.raises(
        ValueError, match=r"temperature is 0 at step 1; a coupled learning rate follows a positive temperature"
    ):
        call(temperature=0.0, learning_rate=schedules.coupled(0.1, 0.8))


def test_an_algorithm_of_one_temperature_under_a_falling_one():
    message = (
        r"temperature is Power\(start=1\.0, exponent=1\.0\); SNGA-M keeps one temperature\. Pass a number, or use nva_m"
    )
    with pytest.raises(ValueError, match=message):
        call(algorithm=presets.snga_m(), temperature=schedules.power(1.0, 1.0))
    assert call(algorithm=presets.snga_m(), temperature=lambda t: 0.5).success


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        (0, ValueError, "num_samples is 0 .*; it must be at least 1"),
        (-1, ValueError, "num_samples is -1.*; it must be at least"),
        (0.3, ValueError, r"num_samples is 0\.3; a whole number, or a schedule \(rounded\), was wanted"),
        (True, TypeError, r"num_samples is True \(bool\); wanted a number"),
        ("4", TypeError, r"num_samples is '4' \(str\); wanted a number"),
        (lambda t: 3 - t, ValueError, "num_samples is 0 at step 3; it must be at least 1"),
        (np.nan, ValueError, "num_samples is nan; a finite number was wanted"),
    ],
)
def test_numbers_of_samples(given, error, message):
    with pytest.raises(error, match=message):
        call(num_samples=given)


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        (0, ValueError, "num_samples is 0; it must be at least 1"),
        (-2, ValueError, "num_samples is -2; it must be at least 1"),
        (2.5, TypeError, r"num_samples is 2\.5 \(float\); a whole number was wanted"),
        (True, TypeError, r"num_samples is True \(bool\); a whole number was wanted"),
    ],
)
def test_numbers_of_samples_of_an_algorithm(given, error, message):
    with pytest.raises(error, match=message):
        presets.nva_gm(num_samples=given)


@pytest.mark.parametrize(
    ("name", "smallest"), [("steps", 0), ("replicates", 1), ("max_evaluations", 0), ("trace_every", 1)]
)
def test_whole_numbers(name, smallest):
    with pytest.raises(ValueError, match=f"{name} is {smallest - 1}; it must be at least {smallest}"):
        call(**{name: smallest - 1})
    for wrong in (2.5, True, "4"):
        with pytest.raises(TypeError, match=f"{name} is {wrong!r} .*; a whole number was wanted"):
            call(**{name: wrong})


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        (-1.0, ValueError, r"tolerance is -1\.0; it must be at least 0"),
        (np.nan, ValueError, "tolerance is nan; a finite number was wanted"),
        ("small", TypeError, r"tolerance is 'small' \(str\); a number was wanted"),
    ],
)
def test_tolerances(given, error, message):
    with pytest.raises(error, match=message):
        call(tolerance=given)


@pytest.mark.parametrize("driver", ["torch", "NUMPY", None, 1])
def test_drivers(driver):
    with pytest.raises(ValueError, match=rf'driver is {driver!r}; wanted "numpy" or "jax"'):
        call(driver=driver)


def test_callbacks():
    with pytest.raises(TypeError, match="callback"):
        call(callback=3)


# ---- the objective


@drivers
@pytest.mark.parametrize("wrong", [3, None, "bowl"], ids=repr)
def test_objectives_that_are_no_function(driver, wrong):
    with pytest.raises(TypeError, match=f"objective is {wrong!r} .*; wanted a function or an Objective"):
        call(wrong, driver=driver)


@pytest.mark.parametrize("name", ["jac", "hess"])
def test_derivatives_that_are_no_function(name):
    with pytest.raises(TypeError, match=rf"{name} is 3 \(int\); a function or None was wanted"):
        call(**{name: 3})


def test_priors_that_are_no_function():
    with pytest.raises(TypeError, match=r"log_prior is 3 \(int\); wanted a function or an Objective"):
        call(log_prior=3)


@pytest.mark.parametrize(
    "more", [{"jac": bowl}, {"hess": bowl}, {"vectorized": True}], ids=lambda more: next(iter(more))
)
def test_an_objective_together_with_its_own_derivatives(more):
    with pytest.raises(
        ValueError, match="objective is an Objective, which has its own jac, hess and vectorized; leave these"
    ):
        call(Objective(bowl), **more)


def numpy_bowl(x):
    return -float(np.sum(np.asarray(x) ** 2))


@pytest.mark.parametrize(
    ("order", "given", "missing"),
    [(1, {}, "jac"), (2, {}, "jac and hess"), (2, {"jac": lambda x: -2.0 * x}, "hess")],
    ids=["gradient", "both", "Hessian"],
)
def test_missing_derivatives_are_named_with_three_ways_out(order, given, missing):
    with pytest.raises(ValueError, match=f"needs {missing}, which objective lacks. Either pass {missing}; ") as caught:
        call(numpy_bowl, algorithm=presets.nva_gm(order), **given)
    assert "write objective with jax.numpy" in str(caught.value)
    assert "presets.nva_gm(order=0) or presets.fs_nva_gm()" in str(caught.value)


@pytest.mark.parametrize("order", [0, 1, 2])
def test_the_jax_driver_wants_a_function_that_jax_can_trace(order):
    message = r'objective cannot be traced by JAX.*Write it with jax\.numpy, or use driver="numpy"\. JAX says: \w+: '
    with pytest.raises(ValueError, match=message) as caught:
        call(numpy_bowl, algorithm=presets.nva_gm(order), driver="jax")
    assert isinstance(caught.value.__cause__, Exception)


@drivers
def test_a_prior_without_the_derivatives_that_are_needed(driver):
    derivatives = {"jac": lambda x: -2.0 * x}
    with pytest.raises(ValueError, match="log_prior"):
        call(bowl, log_prior=numpy_bowl, algorithm=presets.nva_gm(order=1), driver=driver, **derivatives)


@pytest.mark.parametrize(
    ("returned", "error", "message"),
    [
        (lambda x: x, ValueError, r"fun returned shape \(2,\) for one point; \(\) was wanted"),
        (lambda x: 1j * x.sum(), TypeError, "fun returned dtype complex128 for one point; real numbers were wanted"),
        (lambda x: "good", TypeError, "fun returned dtype <U4 for one point; real numbers were wanted"),
        (lambda x: None, TypeError, "fun returned .* for one point; real numbers were wanted"),
    ],
    ids=["shape", "complex", "str", "None"],
)
def test_what_an_objective_may_not_return(returned, error, message):
    with pytest.raises(error, match=message) as caught:
        call(returned)
    assert "while calling fun at x = array([" in caught.value.__notes__[0]


@pytest.mark.parametrize(
    "fun",
    [lambda x: x, lambda x: 1j * jnp.sum(x), lambda x: "good", lambda x: None],
    ids=["shape", "complex", "str", "None"],
)
def test_what_an_objective_may_not_return_under_jax(fun):
    with pytest.raises((TypeError, ValueError), match=r"\b(objective|fun)\b"):
        call(fun, driver="jax")


@pytest.mark.parametrize(
    ("fun", "error", "found"),
    [
        (bowl, ValueError, r"shape \(\)"),
        (lambda x: x, ValueError, r"shape \(8, 2\)"),
        (lambda x: x[:, :1], ValueError, r"shape \(8, 1\)"),
        (lambda x: 1j * x[:, 0], TypeError, "dtype complex128"),
        (lambda x: None, TypeError, ""),
    ],
    ids=["scalar", "matrix", "column", "complex", "None"],
)
def test_what_a_vectorized_objective_may_not_return(fun, error, found):
    with pytest.raises(error, match=rf"fun returned {found}.* for a batch of 8 points; .* (was|were) wanted"):
        call(fun, vectorized=True)


@pytest.mark.parametrize(
    "fun",
    [bowl, lambda x: x, lambda x: x[:, :1], lambda x: 1j * x[:, 0], lambda x: None],
    ids=["scalar", "matrix", "column", "complex", "None"],
)
def test_what_a_vectorized_objective_may_not_return_under_jax(fun):
    with pytest.raises((TypeError, ValueError), match=r"\b(objective|fun)\b"):
        call(fun, vectorized=True, driver="jax")


@pytest.mark.parametrize(
    ("name", "wrong", "found", "wanted"),
    [
        ("jac", lambda x: x[:1], r"shape \(1,\)", r"\(2,\)"),
        ("jac", lambda x: x.sum(), r"shape \(\)", r"\(2,\)"),
        ("jac", lambda x: 1j * x, "dtype complex128", "real numbers"),
        ("hess", lambda x: x, r"shape \(2,\)", r"\(2, 2\)"),
    ],
    ids=["short gradient", "number for a gradient", "complex gradient", "vector for a Hessian"],
)
@drivers
def test_what_derivatives_may_not_return(driver, name, wrong, found, wanted):
    """Under JAX too, where a gradient that is too short would be broadcast in silence."""
    derivatives = {"jac": lambda x: -2.0 * x, "hess": lambda x: -2.0 * jnp.eye(2)} | {name: wrong}
    message = rf"{name} returned {found} for .*; {wanted} (was|were) wanted" if driver == "numpy" else name
    with pytest.raises((TypeError, ValueError), match=message):
        call(bowl, algorithm=presets.nva_gm(order=2), driver=driver, **derivatives)


@pytest.mark.parametrize("name", ["fun", "jac"])
def test_an_objective_that_raises(name):
    def broken(x):
        raise KeyError("mine")

    functions = {"fun": bowl, "jac": lambda x: -2.0 * x} | {name: broken}
    with pytest.raises(KeyError, match="mine") as caught:
        call(functions["fun"], jac=functions["jac"], algorithm=presets.nva_gm(order=1))
    (note,) = caught.value.__notes__
    assert note.startswith(f"while calling {name} at x = array([")


def test_a_vectorized_objective_that_raises():
    def broken(x):
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        call(broken, vectorized=True)


def test_jax_that_is_not_installed(monkeypatch):
    monkeypatch.setitem(sys.modules, "jax", None)
    monkeypatch.delitem(sys.modules, "allmodes.nva.engine.jax_driver", raising=False)
    with pytest.raises(
        ImportError, match=r"driver=\"jax\" needs JAX: pip install 'allmodes\[jax\]', or use driver=\"numpy\""
    ):
        call(driver="jax")
    assert call().success


def test_derivatives_without_jax(monkeypatch):
    monkeypatch.setitem(sys.modules, "jax", None)
    with pytest.raises(ValueError, match=r"needs jac, which objective lacks\. Either pass jac"):
        call(algorithm=presets.nva_gm(order=1))


# ---- families and structures


@pytest.mark.parametrize(
    ("family", "means", "spread", "message"),
    [
        (families.Gamma(), [[-1.0, 1.0]], 0.1, r"means contains -1; Gamma\(\) lives on the positive reals, wanted > 0"),
        (families.Gamma(), [[0.0, 1.0]], 0.1, "means contains 0; Gamma"),
        (families.Beta(), [[0.5, 1.5]], 0.01, r"means contains 1\.5; Beta\(\) lives strictly between 0 and 1"),
        (families.Beta(), [[0.5, 1.0]], 0.01, "means contains 1; Beta"),
        (
            families.Beta(),
            [[0.5, 0.1]],
            0.2,
            r"covariances has a variance of 0\.2; Beta\(\) .* needs variances below 0\.09",
        ),
        (
            families.Bernoulli(),
            [[0.5, -0.5]],
            None,
            r"means contains -0\.5; Bernoulli\(\) needs probabilities strictly between",
        ),
        (families.Bernoulli(), [[0.5, 1.0]], None, "means contains 1; Bernoulli"),
        (
            families.Bernoulli(),
            [[0.5, 0.5]],
            1.0,
            r"covariances was given; a Bernoulli\(\) component has none beyond its mean",
        ),
        (families.VonMises(), [[np.nan, 1.0]], 0.1, r"means contains nan at index \(0, 0\)"),
        (
            families.Gamma(),
            [[1.0, 1.0]],
            None,
            r"covariances is missing; Gamma\(\) needs one variance, or one for each coordinate \(2\)",
        ),
        (families.Gamma(), [[1.0, 1.0]], -1.0, "covariances has a variance of -1; every variance must be positive"),
        (
            families.VonMises(),
            [[1.0, 1.0]],
            np.eye(2),
            r"covariances has shape \(2, 2\); VonMises\(\) has independent coord",
        ),
    ],
)
def test_starts_outside_the_domain(family, means, spread, message):
    with pytest.raises(ValueError, match=message):
        call(algorithm=presets.nva_m(family), means=means, covariances=spread)


MIXED = families.Product((families.Gaussian(), 2), (families.Gamma(), 1))


@pytest.mark.parametrize(
    ("means", "spread", "message"),
    [
        (np.ones((2, 4)), [1.0, 1.0], "means has 4 coordinates; the blocks of Product.* have 3 in all"),
        (np.ones((2, 3)), 1.0, r"covariances is 1\.0; a Product needs a list with one entry for each of its 2 blocks"),
        (
            np.ones((2, 3)),
            [1.0],
            r"covariances is \[1\.0\]; a Product needs a list with one entry for each of its 2 blocks",
        ),
        (np.ones((2, 3)), None, "covariances is None; a Product needs a list"),
        (-np.ones((2, 3)), [1.0, 1.0], "means contains -1; Gamma"),
        (np.ones((2, 3)), [1.0, -1.0], "covariances has a variance of -1"),
    ],
)
def test_starts_of_a_product(means, spread, message):
    with pytest.raises(ValueError, match=message):
        call(algorithm=presets.nva_m(MIXED), means=means, covariances=spread)


@pytest.mark.parametrize(
    ("blocks", "error", "message"),
    [
        (((families.Gaussian(), 0),), ValueError, "number of coordinates is 0; it must be at least 1"),
        (
            ((families.Gaussian(), 1.5),),
            TypeError,
            r"number of coordinates is 1\.5 \(float\); a whole number was wanted",
        ),
        ((("normal", 1),), TypeError, r"family is 'normal' \(str\); a Family was wanted\. Write Product\("),
        ((families.Gaussian(), families.Gamma()), TypeError, r"Product\("),
    ],
    ids=["none", "fraction", "name", "no sizes"],
)
def test_blocks_of_a_product(blocks, error, message):
    with pytest.raises(error, match=message):
        families.Product(*blocks)


@pytest.mark.parametrize("wrong", ["full", covariances.Full, None], ids=repr)
def test_structures(wrong):
    with pytest.raises(TypeError, match=r"structure is .*; a Covariance was wanted\. Write Fixed\(Full\(\)\)"):
        covariances.Fixed(wrong)
    with pytest.raises(TypeError, match=r"covariance is .*; a Covariance was wanted\. Write Full\(\), Diagonal\(\)"):
        families.Gaussian(wrong)
    with pytest.raises(TypeError, match=r"covariance is .*; a Covariance was wanted"):
        presets.nva_gm(covariance=wrong)


# ---- algorithms and parts


@pytest.mark.parametrize("wrong", ["nva", presets.nva_gm, None], ids=["str", "function", "None"])
def test_algorithms(wrong):
    with pytest.raises(TypeError, match=r"algorithm is .*; an? Algorithm was wanted\. Write presets\.nva_gm"):
        call(algorithm=wrong)


@pytest.mark.parametrize("preset", [presets.nva_gm, presets.nva_gm_is])
@pytest.mark.parametrize("order", [3, -1, "2", None])
def test_orders(preset, order):
    with pytest.raises(
        ValueError, match=rf"order is {order!r}; wanted 0 \(black-box\), 1 \(gradient\) or 2 \(Hessian\)"
    ):
        preset(order)


@pytest.mark.parametrize(
    ("parts", "error", "message"),
    [
        ({"family": "Gaussian"}, TypeError, r"family is 'Gaussian' \(str\); an? Family was wanted\. Write families\."),
        (
            {"estimator": estimators.BlackBox},
            TypeError,
            r"estimator is .*; an? Estimator was wanted\. Write estimators\.",
        ),
        ({"proposal": None}, TypeError, r"proposal is None .*; an? Proposal was wanted\. Write proposals\."),
        ({"rule": 3}, TypeError, r"rule is 3; write updates\.ImprovedBLR\(\) or updates\.NaturalGradient\(\)"),
        ({"rule": updates.ImprovedBLR}, TypeError, r"rule is .*; write updates\.ImprovedBLR\(\)"),
        ({"burn_in": -1}, ValueError, "burn_in is -1; it must be at least 0"),
        ({"burn_in": 1.5}, TypeError, r"burn_in is 1\.5 \(float\); a whole number was wanted"),
        ({"damping": -1e-3}, ValueError, r"damping is -0\.001; it must be at least 0"),
        ({"damping": np.nan}, ValueError, "damping is nan; a finite number was wanted"),
        ({"weight_limit": 0.0}, ValueError, r"weight_limit is 0\.0; it must be greater than 0"),
    ],
    ids=lambda part: next(iter(part)) if isinstance(part, dict) else "",
)
def test_parts(parts, error, message):
    with pytest.raises(error, match=message):
        Algorithm(**parts)


@pytest.mark.parametrize("parts", [{"damping": 0.1}, {"burn_in": 3}], ids=str)
@pytest.mark.parametrize("family", [families.Gamma(), MIXED], ids=["Gamma", "Product"])
def test_damping_and_burn_in_of_components_that_are_not_gaussian(family, parts):
    name = type(family).__name__
    with pytest.raises(
        ValueError, match=f"damping and burn_in are for Gaussian components; {name} components were given"
    ):
        presets.nva_m(family, **parts)


@pytest.mark.parametrize("estimator", [estimators.Gradient(), estimators.Hessian()], ids=["Gradient", "Hessian"])
def test_estimators_of_components_that_are_not_gaussian(estimator):
    with pytest.raises(
        ValueError, match=r"needs Gaussian components and Beta components were given; use BlackBox\(\) or"
    ):
        Algorithm(estimator=estimator, family=families.Beta())


@pytest.mark.parametrize("wrong", [3, "gradient", estimators.Hessian()], ids=repr)
def test_the_mean_of_a_hessian_estimator(wrong):
    with pytest.raises(
        TypeError, match=r"mean is .*; an? MeanEstimator was wanted\. Write Hessian\(mean=Gradient\(\)\)"
    ):
        estimators.Hessian(mean=wrong)


@pytest.mark.parametrize("wrong", ["cma", 3.0, None], ids=repr)
def test_the_utility_of_a_fitness_shaped_estimator(wrong):
    """Any function of the number of samples will do, a name will not."""
    with pytest.raises(TypeError, match="utility is"):
        estimators.FitnessShaped(wrong)


@pytest.mark.parametrize("wrong", ["mean", 3.0, None], ids=repr)
def test_the_baseline_of_a_black_box_estimator(wrong):
    with pytest.raises(TypeError, match="baseline is"):
        estimators.BlackBox(wrong)


def test_utilities_that_select_nobody():
    with pytest.raises(
        ValueError, match=r"fraction 0\.25 of 1 samples selects none; raise the fraction to 0\.5 or num_samples"
    ):
        call(algorithm=presets.fs_nva_gm(), num_samples=1)


@drivers
def test_leaving_one_out_of_one_sample(driver):
    algorithm = Algorithm(estimator=estimators.BlackBox(control_variates.LeaveOneOut()))
    with pytest.raises(ValueError, match=r"num_samples is 1; LeaveOneOut\(\) needs at least 2 samples"):
        call(algorithm=algorithm, num_samples=1, driver=driver)
