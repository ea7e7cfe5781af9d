"""What is annealed."""

import numpy as np
import pytest

from allmodes.nva import presets
from allmodes.nva.annealing.proposals import Sample
from allmodes.nva.mixture.covariances import Diagonal, Fixed, Full, Isotropic
from allmodes.nva.mixture.families import Beta, Gaussian, VonMises
from allmodes.objective import Evaluation
from allmodes.search.searchers.annealing.parts import Bounded, choose, draw_noise, start
from allmodes.search.searchers.annealing.tuning import TUNING


def test_an_assembly_that_does_not_fit_is_refused():
    with pytest.raises(ValueError, match="do not live in a box"):
        choose(presets.nva_m(VonMises()), 2, 2)
    with pytest.raises(ValueError, match="needs jac and hess"):
        choose(presets.nva_gm(order=2), 0, 2)
    with pytest.raises(TypeError, match="Algorithm was wanted"):
        choose("nva", 2, 2)


def test_values_alone_want_more_samples():
    by_values, by_hessians = choose(None, 0, 3), choose(None, 2, 3)
    assert by_values.num_samples > by_hessians.num_samples


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


@pytest.mark.parametrize("covariance", [Full(), Diagonal(), Isotropic(), Fixed(Full())])
@pytest.mark.parametrize("size", [1e-6, 1.0, 1e9])
def test_bounded_steps_are_bounded_and_otherwise_untouched(covariance, size):
    rng, rate = np.random.default_rng(1), 2.0
    family = Gaussian(covariance)
    estimator = choose(None, 0, 3).estimator
    components = family.start(rng.random((2, 3)), 0.1)
    sample = Sample(np.full((2, 8), 1 / 8), rng.standard_normal((2, 8, 3)))
    f = Evaluation(size * rng.standard_normal((2, 8)))
    plain = estimator.direction(family, components, sample, f)
    bounded = Bounded(estimator, rate).direction(family, components, sample, f)
    assert (rate * np.linalg.norm(bounded.g, axis=1) <= np.sqrt(2.0 * TUNING.gain) + 1e-12).all()
    if bounded.G is not None:
        matrices = bounded.G if bounded.G.ndim == 3 else bounded.G[:, None, :]
        assert (rate * np.linalg.norm(matrices, 2, axis=(1, 2)) <= TUNING.gain * np.sqrt(3) + 1e-12).all()
    if size < 1e-3:
        np.testing.assert_array_equal(bounded.g, plain.g)
    ratio = bounded.g / plain.g
    np.testing.assert_allclose(ratio, np.broadcast_to(ratio[:, :1], ratio.shape))
