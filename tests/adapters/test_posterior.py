"""What the adapters of NumPyro and PyMC share, with a density that needs neither."""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np
import pytest

from allmodes.adapters import posterior_data
from allmodes.adapters.names import entries
from allmodes.adapters.posterior import Coordinates, find_posterior_modes
from allmodes.adapters.posterior_table import text_of


class Two:
    """mu is around (-3, 0) or (3, 0), with shares 0.3 and 0.7; sigma is around 1 on a logarithmic scale."""

    coordinates = Coordinates({"mu": (2,), "s": ()}, {"mu": "mu", "s": "log sigma"})
    dims = {"mu": ["axis"]}  # noqa: RUF012
    coords = {"axis": ["x", "y"]}  # noqa: RUF012
    shapes = {"mu": (2,), "sigma": ()}  # noqa: RUF012
    jacobian = True
    centers = np.array([[-3.0, 0.0, 0.0], [3.0, 0.0, 0.0]])

    def __init__(self, offset=0.0):
        self.offset = offset
        self.objective = {"fun": self.log_density, "vectorized": True}

    def log_density(self, x):
        terms = np.log([0.3, 0.7]) - 0.5 * ((x[:, None] - self.centers) ** 2).sum(axis=-1) - 1.5 * np.log(2 * np.pi)
        return np.logaddexp.reduce(terms, axis=1) + self.offset

    def prior_draws(self, n, seed):
        rng = np.random.default_rng(seed)
        return {"mu": rng.normal(0.0, 3.0, (n, 2)), "sigma": np.exp(rng.normal(0.0, 2.0, n))}

    def unconstrained(self, values):
        return self.coordinates.join({"mu": values["mu"], "s": np.log(values["sigma"])})

    def constrained(self, x):
        split = self.coordinates.split(x)
        return {"mu": split["mu"], "sigma": np.exp(split["s"]), "twice": 2 * split["mu"]}

    def initial_values(self, x):
        return x


@pytest.fixture(scope="module")
def posterior():
    return find_posterior_modes(Two(), None, None, 1000, 0, {})


def test_modes_have_the_models_names_and_masses(posterior):
    assert [sorted(mode) for mode in posterior.modes] == [["mu", "sigma", "twice"]] * 2
    np.testing.assert_allclose(posterior.modes[0]["mu"], [3.0, 0.0], atol=1e-3)
    np.testing.assert_allclose(posterior.modes[0]["twice"], [6.0, 0.0], atol=1e-3)
    np.testing.assert_allclose(posterior.masses.mass, [0.7, 0.3], atol=0.02)
    assert posterior.masses.log_evidence == pytest.approx(0.0, abs=0.02)
    assert posterior.result.temperature == 1.0
    assert len(posterior) == 2


def test_the_table_fits_the_screen_and_is_in_the_models_names(posterior):
    lines = repr(posterior).splitlines()
    assert max(map(len, lines)) < 80
    (head,) = [line for line in lines if "mu[0]" in line]
    assert head.split()[:8] == ["mass", "error", "log", "density", "kind", "mu[0]", "mu[1]", "sigma"]
    assert "log evidence" in repr(posterior)


def test_masses_that_are_not_stated_are_said_with_laplaces_value(posterior):
    masses, (first, second) = posterior.masses, posterior.masses.modes
    unknown = replace(first, mass=np.nan, standard_error=np.nan, reason="k-hat is 0.90")
    refused = replace(posterior, masses=replace(masses, modes=(unknown, second), reason="too much of it is unknown"))
    text = text_of(refused)
    assert "Laplace" in text
    assert "Laplace" not in text_of(posterior)
    assert "mass of mode 1 not stated: k-hat is 0.90" in text
    assert "log evidence" not in text
    pytest.importorskip("arviz")
    with pytest.warns(UserWarning, match="the draws do not stand for the posterior: too much"):
        refused.to_arviz()


def test_chains_take_turns_at_the_modes(posterior):
    points = [mode.x for mode in posterior.result.modes]
    np.testing.assert_array_equal(posterior.initial_values(), points)
    np.testing.assert_array_equal(posterior.initial_values(3), [*points, points[0]])
    with pytest.raises(ValueError, match="chains is 0; it must be at least 1"):
        posterior.initial_values(0)


@pytest.fixture
def arviz():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return pytest.importorskip("arviz")


def test_arviz_before_1(posterior, arviz):
    if int(arviz.__version__.partition(".")[0]) > 0:
        pytest.skip("ArviZ is newer")
    data = posterior.to_arviz(100, rng=1)
    assert isinstance(data, arviz.InferenceData)
    assert data.posterior["mu"].dims == ("chain", "draw", "axis")
    assert list(data.posterior["axis"].values) == ["x", "y"]
    assert data.posterior["twice"].dims == ("chain", "draw", "twice_dim_0")
    of_first = data.posterior.sel(draw=data.posterior.mode == 0)
    assert 60 <= of_first.sizes["draw"] <= 80
    assert (of_first["mu"].values[0, :, 0] > 0).all()


def test_arviz_from_1_on(posterior, arviz, monkeypatch):
    """A stand-in: the version decides, and xarray makes the tree."""
    xarray = pytest.importorskip("xarray")
    monkeypatch.setattr(arviz, "__version__", "1.3.0")
    data = posterior.to_arviz(100, rng=1)
    assert isinstance(data, xarray.DataTree)
    assert data["posterior"]["mode"].dims == ("draw",)
    assert data["posterior"].attrs["inference_library"] == "allmodes"
    np.testing.assert_allclose(data["posterior"].attrs["masses"], [0.7, 0.3], atol=0.02)


def test_dimensions_without_names_are_called_as_in_arviz():
    pytest.importorskip("xarray")
    values = {"a": np.zeros((5, 2, 3)), "b": np.zeros(5)}
    dataset = posterior_data._dataset(values, np.zeros(5, int), {"a": (None, "k")}, {"k": None})
    assert dataset["a"].dims == ("chain", "draw", "a_dim_0", "k")
    assert list(dataset["k"].values) == [0, 1, 2]


def test_a_search_without_modes_says_so_everywhere():
    posterior = find_posterior_modes(Two(), None, None, 1000, 0, {"maxfev": 1})
    assert posterior.modes == ()
    assert posterior.masses is None
    assert posterior.result.message in " ".join(repr(posterior).split())
    with pytest.raises(ValueError, match="no modes for chains to begin at"):
        posterior.initial_values()
    with pytest.raises(ValueError, match="no draws for ArviZ: no mode was found"):
        posterior.to_arviz()


def test_draws_of_another_run_say_where_to_look():
    rng = np.random.default_rng(0)
    starts = {"mu": rng.normal(2.0, 1.0, (50, 2)), "sigma": rng.uniform(0.5, 2.0, 50), "other": [1.0]}
    posterior = find_posterior_modes(Two(), starts, None, 0, 0, {"n_modes": 1})
    np.testing.assert_allclose(posterior.modes[0]["mu"], [3.0, 0.0], atol=0.01)
    assert posterior.masses is None


@pytest.mark.parametrize(
    ("starts", "said"),
    [
        ({"mu": np.zeros((4, 2))}, r"starts lacks sigma; wanted draws \(n, \*shape\) of each of mu, sigma"),
        (
            {"mu": np.zeros((4, 3)), "sigma": np.ones(4)},
            r"starts has shapes mu \(4, 3\), sigma \(4,\); wanted mu \(n, 2\)",
        ),
        ({"mu": np.zeros((4, 2)), "sigma": np.ones(5)}, r"with one n for all"),
        ({"mu": np.zeros((4, 2)), "sigma": 1.0}, r"starts has shapes"),
        ({"mu": np.full((4, 2), np.nan), "sigma": np.ones(4)}, r"starts\['mu'\] contains nan at index \(0, 0\)"),
        ({"mu": np.zeros((4, 2)), "sigma": np.ones(4)}, r"finite at 4 of 4 draws of starts, and 6 are needed"),
    ],
)
def test_draws_that_say_nothing_are_refused(starts, said):
    with pytest.raises(ValueError, match=said):
        find_posterior_modes(Two(), starts, None, 0, 0, {})


def test_a_density_that_is_nowhere_positive_is_refused_with_a_point():
    said = r"finite at none of 30 draws of the prior, and 6 are needed; it is -inf at mu\[0\] = .*, log sigma = "
    with pytest.raises(ValueError, match=said):
        find_posterior_modes(Two(offset=-np.inf), None, 30, 0, 0, {})
    with pytest.raises(ValueError, match="it is nan at"):
        find_posterior_modes(Two(offset=np.nan), None, None, 0, 0, {})


def test_the_number_of_draws_is_checked():
    with pytest.raises(ValueError, match="prior_draws is 1; it must be at least 2"):
        find_posterior_modes(Two(), None, 1, 0, 0, {})


def test_coordinates_there_and_back():
    coordinates = Coordinates(
        {"a": (2, 2), "b": (), "none": (0,), "c": (1,)}, {key: key for key in ("a", "b", "none", "c")}
    )
    assert coordinates.d == len(coordinates.names) == 6
    x = np.arange(12.0).reshape(2, 6)
    split = coordinates.split(x)
    assert {name: array.shape for name, array in split.items()} == {
        "a": (2, 2, 2),
        "b": (2,),
        "none": (2, 0),
        "c": (2, 1),
    }
    np.testing.assert_array_equal(coordinates.join(split), x)
    assert entries("a", (2, 2)) == ["a[0,0]", "a[0,1]", "a[1,0]", "a[1,1]"]
