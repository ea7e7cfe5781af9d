"""Components integrate to 1, fold at bounds, wrap around, and are drawn as their density says."""

import numpy as np
import pytest

from allmodes.masses.proposal import Component, Proposal
from allmodes.objective.bounds import Box
from allmodes.search.group import Group

UNIT = Box.make([(0.0, 1.0)] * 2)
FREEDOMS = [np.inf, 3.0]


def component(mean, widths, *, correlation=0.0, freedom=np.inf, side=(0.0, 0.0), owner=0):
    covariance = np.diag(np.square(widths))
    covariance[0, 1] = covariance[1, 0] = correlation * np.prod(widths)
    return Component(np.array(mean), np.linalg.cholesky(covariance), freedom, np.array(side), owner)


def grid(n=801):
    axis = (np.arange(n) + 0.5) / n
    return np.stack(np.meshgrid(axis, axis), axis=-1).reshape(-1, 2)


def integral(part, box):
    points = grid()
    return float(np.exp(part.log_density(box, points)).mean())


@pytest.mark.parametrize("freedom", FREEDOMS)
class TestComponent:
    def test_inside_the_box_it_integrates_to_one(self, freedom):
        part = component([0.5, 0.4], [0.02, 0.03], correlation=0.8, freedom=freedom)
        assert integral(part, UNIT) == pytest.approx(1.0, abs=0.01 if np.isfinite(freedom) else 1e-6)

    def test_on_a_bound_it_is_folded(self, freedom):
        part = component([0.0, 1.0], [0.02, 0.03], freedom=freedom, side=(1.0, -1.0))
        assert integral(part, UNIT) == pytest.approx(1.0, abs=0.01 if np.isfinite(freedom) else 1e-4)

    def test_it_wraps_around(self, freedom):
        box = Box.make([(0.0, 1.0)] * 2, periodic=[0])
        part = component([0.02, 0.5], [0.05, 0.05], freedom=freedom)
        assert integral(part, box) == pytest.approx(1.0, abs=0.03 if np.isfinite(freedom) else 1e-6)
        np.testing.assert_allclose(
            part.log_density(box, np.array([[0.97, 0.5]])), part.log_density(box, np.array([[0.07, 0.5]]))
        )

    def test_draws_are_inside_and_in_the_share_that_is(self, freedom):
        box = Box.make([(0.0, 1.0), (0.0, 1.0)], periodic=[1])
        part = component([0.05, 0.1], [0.1, 0.3], correlation=0.5, freedom=freedom)
        drawn = part.draw(box, np.random.default_rng(0), 40_000)
        assert ((drawn >= 0.0) & (drawn <= 1.0)).all()
        assert len(drawn) / 40_000 == pytest.approx(integral(part, box), abs=0.01)

    def test_draws_of_a_folded_one_have_its_density(self, freedom):
        part = component([0.0, 0.5], [0.1, 0.1], freedom=freedom, side=(1.0, 0.0))
        drawn = part.draw(UNIT, np.random.default_rng(1), 40_000)
        points = grid(401)
        density = np.exp(part.log_density(UNIT, points))
        for edge in (0.05, 0.1, 0.2):
            expected = density[points[:, 0] < edge].sum() / 401**2
            assert (drawn[:, 0] < edge).sum() / 40_000 == pytest.approx(expected, abs=0.015)


def mixture(n, shares=(0.5, 0.3, 0.2)):
    parts = [
        component([0.3, 0.3], [0.05, 0.05]), component([0.3, 0.3], [0.05, 0.05], freedom=3.0),
        component([0.7, 0.6], [0.02, 0.1], owner=1),
    ]  # fmt: skip
    return Proposal.share(parts, np.array(shares), n)


def test_draws_are_shared_out_exactly_and_everyone_has_two():
    proposal = mixture(1000, (0.9, 0.1, 0.0))
    assert proposal.n == proposal.counts.sum() == 1000
    assert proposal.counts.min() == 2
    np.testing.assert_array_equal(proposal.per_mode(), [998, 2])
    assert mixture(1).n == 6


def test_the_sum_of_the_components_is_that_of_draws():
    """Counts times densities: over the number of draws it is the density of a draw."""
    proposal = mixture(1000)
    logs, owner = proposal.log_sums(UNIT, grid())
    assert np.exp(logs).mean() / 1000 == pytest.approx(1.0, abs=0.02)
    assert owner[np.argmin(np.abs(grid() - [0.3, 0.3]).sum(axis=1))] == 0
    assert owner[np.argmin(np.abs(grid() - [0.7, 0.6]).sum(axis=1))] == 1


def test_strata_are_the_modes_whose_components_were_drawn_from():
    proposal = mixture(400)
    z, stratum = proposal.draw(UNIT, np.random.default_rng(0))
    assert len(z) == len(stratum)
    assert (stratum == 1).sum() == pytest.approx(proposal.per_mode()[1], abs=4)


def test_with_a_symmetry_the_density_is_the_mean_over_images():
    swap = np.array([[0.0, 1.0], [1.0, 0.0]])
    group = Group.make(UNIT, [(swap, np.zeros(2))], ["swap"], np.zeros(2, bool))
    proposal, z = mixture(1000), np.random.default_rng(0).random((50, 2))
    logs, _ = proposal.log_sums(UNIT, z, group)
    both = [proposal.log_sums(UNIT, each)[0] for each in (z, z[:, ::-1])]
    np.testing.assert_allclose(logs, np.logaddexp(*both) - np.log(2.0))
