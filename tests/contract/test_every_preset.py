"""Every preset: an algorithm with no arguments, that takes further parts and runs."""

import members
import numpy as np
import pytest

from allmodes.nva import Algorithm, anneal, updates

every_preset = pytest.mark.parametrize("preset", members.presets(), ids=members.name_of)


@every_preset
def test_it_is_an_algorithm_with_a_name(preset):
    algorithm = preset()
    assert isinstance(algorithm, Algorithm)
    assert algorithm == preset()
    assert algorithm.name
    assert "None" not in algorithm.name


def test_names_tell_presets_apart():
    names = [preset().name for preset in members.presets()]
    assert len(set(names)) == len(names)


@every_preset
def test_further_parts_are_passed_on(preset):
    parts = {"rule": updates.NaturalGradient(), "num_samples": 7, "damping": 1e-10, "burn_in": 2, "weight_limit": 10.0}
    algorithm = preset(**parts)
    assert {name: getattr(algorithm, name) for name in parts} == parts


@every_preset
def test_an_unknown_part_is_refused_by_name(preset):
    with pytest.raises(TypeError, match="flavour"):
        preset(flavour="vanilla")


@every_preset
def test_it_climbs(preset):
    """A bowl: the mean value under the mixture rises within a few steps."""
    run = anneal(
        lambda x: -(x**2).sum(),
        jac=lambda x: -2.0 * x,
        hess=lambda x: -2.0 * np.eye(2),
        algorithm=preset(),
        means=[[2.0, 2.0], [-2.0, 2.0]],
        covariances=0.5,
        temperature=0.1,
        learning_rate=0.02,
        num_samples=32,
        steps=60,
        rng=0,
    )
    assert run.success
    assert run.nit == 60
    assert np.linalg.norm(run.means, axis=1).max() < 2.0
    assert run.trace.mean_values[-1].min() > run.trace.mean_values[1].max()
