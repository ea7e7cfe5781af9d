"""What is annealed."""

import numpy as np
import pytest

from allmodes.nva import presets
from allmodes.nva.mixture.families import Beta, VonMises
from allmodes.search.searchers.annealing.parts import choose, draw_noise, start


def test_an_assembly_that_does_not_fit_is_refused():
    with pytest.raises(ValueError, match="do not live in a box"):
        choose(presets.nva_m(VonMises()), 2, 2)
    with pytest.raises(ValueError, match="needs jac and hess"):
        choose(presets.nva_gm(order=2), 0, 2)
    with pytest.raises(TypeError, match="Algorithm was wanted"):
        choose("nva", 2, 2)


def test_values_alone_want_more_components_and_samples():
    by_values, by_hessians = choose(None, 0, 3), choose(None, 2, 3)
    assert by_values.num_components == 2 * by_hessians.num_components
    assert by_values.algorithm.num_samples > by_hessians.algorithm.num_samples


def test_noise_of_gaussian_components_comes_in_pairs():
    rng = np.random.default_rng(0)
    noise = draw_noise(rng, presets.nva_gm(order=0, num_samples=6), 3, 2)
    assert noise.shape == (3, 6, 2)
    np.testing.assert_array_equal(noise[:, :3], -noise[:, 3:])
    odd = draw_noise(rng, presets.nva_gm(order=0, num_samples=5), 3, 2)
    assert odd.shape == (3, 5, 2)


def test_more_components_are_narrower_and_some_keep_off_the_bounds():
    algorithm = presets.nva_gm(order=2)
    few, many = (algorithm.family.covariances(start(algorithm, np.full((K, 2), 0.5))) for K in (2, 32))
    assert many[0, 0, 0] == pytest.approx(few[0, 0, 0] / 16)
    beta = presets.nva_m(Beta())
    means = beta.family.means(start(beta, np.array([[0.0, 1.0]])))
    assert ((means > 0.05) & (means < 0.95)).all()
