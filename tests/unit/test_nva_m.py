"""NVA-M finds modes with components of every family, on the domain of that family."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from allmodes.nva import anneal, control_variates, estimators, families, presets, schedules

VALUES = estimators.BlackBox(control_variates.LeaveOneOut())
RANKS = estimators.FitnessShaped()
TARGET = np.array([1.0, 1.0, 0.0, 0.0, 1.0])


def run(objective: Any, family: families.Family, estimator: estimators.Estimator, **start: Any) -> Any:
    rate = schedules.constant(0.05) if estimator is RANKS else schedules.coupled(0.02, 0.8)
    found = anneal(
        objective,
        algorithm=presets.nva_m(family, estimator=estimator),
        vectorized=True,
        steps=2000,
        num_samples=16,
        temperature=schedules.power(1.0, 1.0),
        learning_rate=rate,
        rng=1,
        **start,
    )
    assert found.success
    return found


def two_bells(x: Any) -> Any:
    """log of two bells of equal height and widths 0.2 and 0.5."""
    return np.logaddexp(-0.5 * ((x - 1.0) / 0.2) ** 2, -0.5 * ((x - 4.0) / 0.5) ** 2)[:, 0]


@pytest.mark.parametrize("estimator", [VALUES, RANKS], ids=["values", "ranks"])
class TestModes:
    def test_gamma_on_the_positive_reals(self, estimator: estimators.Estimator) -> None:
        found = run(two_bells, families.Gamma(), estimator, means=[[2.0], [3.0]], covariances=1.0)
        np.testing.assert_allclose(np.sort(found.means[:, 0]), [1.0, 4.0], atol=0.02)

    def test_beta_on_the_unit_interval(self, estimator: estimators.Estimator) -> None:
        def wells(x: Any) -> Any:
            return -1000.0 * ((x - 0.2) ** 2 * (x - 0.7) ** 2)[:, 0]

        found = run(wells, families.Beta(), estimator, means=[[0.3], [0.6]], covariances=0.02)
        np.testing.assert_allclose(np.sort(found.means[:, 0]), [0.2, 0.7], atol=0.02)

    def test_von_mises_on_angles(self, estimator: estimators.Estimator) -> None:
        def waves(x: Any) -> Any:
            return np.cos(2.0 * (x - 0.5))[:, 0]

        found = run(waves, families.VonMises(), estimator, means=[[1.0], [2.5]], covariances=1.0)
        np.testing.assert_allclose(np.sort(found.means[:, 0]), [0.5 - np.pi, 0.5], atol=0.02)

    def test_a_product_on_a_mixed_domain(self, estimator: estimators.Estimator) -> None:
        def two_sheets(x: Any) -> Any:
            return -((x[:, 0] - 1.0 - 2.0 * x[:, 1]) ** 2) - 0.1 * (1.0 - x[:, 1])

        family = families.Product((families.Gaussian(), 1), (families.Bernoulli(), 1))
        found = run(two_sheets, family, estimator, means=[[1.5, 0.5], [2.5, 0.5]], covariances=[1.0, None])
        order = np.argsort(found.means[:, 0])
        np.testing.assert_allclose(found.means[order], [[1.0, 0.0], [3.0, 1.0]], atol=0.02)


def test_bernoulli_finds_two_binary_vectors() -> None:
    def distance(x: Any) -> Any:
        return -np.minimum(np.abs(x - TARGET).sum(axis=1), np.abs(x - (1.0 - TARGET)).sum(axis=1))

    start = np.random.default_rng(0).uniform(0.2, 0.8, (6, 5))
    found = run(distance, families.Bernoulli(), RANKS, means=start)
    ends = {tuple(mean) for mean in found.means.round(2).tolist()}
    assert {tuple(TARGET.tolist()), tuple((1.0 - TARGET).tolist())} <= ends


def test_the_weights_of_gamma_components_tell_the_widths_of_the_modes() -> None:
    found = run(two_bells, families.Gamma(), VALUES, means=[[2.0], [3.0]], covariances=1.0)
    share = found.weights[np.argmin(found.means[:, 0])]
    assert share == pytest.approx(0.2 / 0.7, abs=0.02)
