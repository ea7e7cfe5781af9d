"""The named algorithms are the assemblies that the paper describes."""

import pytest

from allmodes.nva import Algorithm, presets
from allmodes.nva.annealing.estimators import BlackBox, FitnessShaped, Gradient, Hessian
from allmodes.nva.annealing.proposals import Importance, PerComponent
from allmodes.nva.annealing.updates import ImprovedBLR
from allmodes.nva.annealing.utilities import CMAES, Truncation
from allmodes.nva.mixture.covariances import Diagonal, Fixed, Full
from allmodes.nva.mixture.families import Gamma, Gaussian


def test_snga_m_keeps_one_temperature_and_nva_m_does_not():
    assert not presets.snga_m().is_annealed
    assert presets.nva_m().is_annealed
    assert presets.snga_m().estimator == presets.nva_m().estimator == BlackBox()
    assert presets.snga_m(Gamma()).family == presets.nva_m(Gamma()).family == Gamma()


@pytest.mark.parametrize(
    ("order", "estimator", "needs", "suffix"),
    [
        (0, BlackBox(), set(), "black-box"),
        (1, Gradient(), {"gradient"}, "gradient"),
        (2, Hessian(), {"gradient", "hessian"}, "Hessian"),
    ],
)
def test_the_order_says_which_derivatives_are_read(order, estimator, needs, suffix):
    for preset, proposal in ((presets.nva_gm, PerComponent()), (presets.nva_gm_is, Importance())):
        algorithm = preset(order)
        assert algorithm.estimator == estimator
        assert algorithm.needs == needs
        assert algorithm.proposal == proposal
        assert algorithm.name.endswith(f"({suffix})")
        assert algorithm.rule == ImprovedBLR()


def test_fixed_covariances_read_no_hessian():
    assert presets.nva_gm(2, Fixed(Full())).needs == {"gradient"}
    assert presets.nva_gm(2, Fixed(Full()), estimator=Hessian(mean=BlackBox())).needs == frozenset()


@pytest.mark.parametrize("preset", [presets.nva_gm, presets.nva_gm_is, presets.fs_nva_gm, presets.fs_nva_gm_is])
def test_the_covariance_is_that_of_the_family(preset):
    assert preset().family == Gaussian(Full())
    assert preset(covariance=Diagonal()).family == Gaussian(Diagonal())


def test_fitness_shaped_presets_take_a_utility():
    assert presets.fs_nva_gm().estimator == FitnessShaped(CMAES())
    assert presets.fs_nva_gm(Truncation(0.5)).estimator == FitnessShaped(Truncation(0.5))
    assert presets.fs_nva_gm_is(Truncation(0.5)).estimator == FitnessShaped(Truncation(0.5))
    assert presets.fs_nva_gm().needs == frozenset()


@pytest.mark.parametrize("preset", [presets.nva_gm_is, presets.fs_nva_gm_is])
def test_importance_sampling_presets_pass_its_options_on(preset):
    assert preset().proposal == Importance()
    assert preset(equal_weights=True, self_normalized=True).proposal == Importance(True, True)


def test_parts_given_by_name_win():
    assert presets.nva_gm(order=1, name="mine").name == "mine"
    assert presets.fs_nva_gm(num_samples=8).num_samples == 8
    assert presets.nva_gm(order=2, estimator=Hessian(mean=BlackBox())).needs == {"hessian"}


def test_algorithms_exchange_parts():
    algorithm = presets.nva_gm(order=1)
    other = algorithm.with_parts(damping=1e-8, name="damped")
    assert (other.damping, other.name) == (1e-8, "damped")
    assert other.estimator == algorithm.estimator
    assert algorithm.damping == 0.0
    with pytest.raises(ValueError, match="num_samples is 0"):
        algorithm.with_parts(num_samples=0)


def test_an_algorithm_of_no_arguments_is_nva_m():
    assert Algorithm() == presets.nva_m()
