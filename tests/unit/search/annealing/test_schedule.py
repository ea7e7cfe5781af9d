"""Temperatures and learning rates."""

import numpy as np
import pytest
from playing import frozen

from allmodes.nva.annealing.presets import nva_gm
from allmodes.nva.annealing.proposals import Sample
from allmodes.nva.mixture.covariances import Diagonal, Fixed, Full, Isotropic
from allmodes.nva.mixture.families import Gaussian
from allmodes.objective import Evaluation
from allmodes.objective.bounds import Box
from allmodes.search.archive import Archive
from allmodes.search.searchers.annealing.parts import choose
from allmodes.search.searchers.annealing.schedule import Bounded, end_temperature, settings, temperature
from allmodes.search.searchers.annealing.tuning import TUNING


@pytest.mark.parametrize("covariance", [Full(), Diagonal(), Isotropic(), Fixed(Full())])
@pytest.mark.parametrize("size", [1e-6, 1.0, 1e9])
def test_bounded_steps_are_bounded_and_otherwise_untouched(covariance, size):
    rng, rate = np.random.default_rng(1), 2.0
    family = Gaussian(covariance)
    estimator = choose(None, 0, 3).algorithm.estimator
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


def test_the_end_temperature_follows_the_curvature():
    archive = Archive(Box.make([(0, 1), (0, 1)]))
    assert end_temperature(archive, 1.0) == pytest.approx(np.sqrt(TUNING.coldest_end * TUNING.warmest_end))
    archive.add(np.full(2, 0.5), 0.0, frozen(-np.diag([5.0, 80.0])))
    assert end_temperature(archive, 1.0) == pytest.approx(TUNING.end_width**2 * 5.0)
    assert end_temperature(archive, 1e6) == TUNING.coldest_end
    assert end_temperature(archive, 1e-6) == TUNING.warmest_end


def test_the_temperature_falls_from_one_to_its_end():
    values = [temperature(t, 5, 1e-2) for t in range(5)]
    assert values[0] == 1.0
    assert values[-1] == pytest.approx(1e-2)
    np.testing.assert_allclose(np.diff(np.log(values)), np.log(1e-2) / 4)
    assert temperature(0, 1, 1e-2) == 1.0


def test_covariances_rest_while_an_algorithm_burns_in():
    algorithm = nva_gm(2, burn_in=3, damping=1e-6)
    early, late = settings(algorithm, 2, 0.1).rates, settings(algorithm, 3, 0.1).rates
    assert (early.covariance, early.damping) == (0.0, None)
    assert (late.covariance, late.damping) == (late.mean, 1e-6)
    assert late.mean == pytest.approx(TUNING.gain / 0.1)
