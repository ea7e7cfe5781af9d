"""Rays that leave modes, mixes of modes, and the test that they are on no known hill."""

import numpy as np
import pytest
from population_runs import add_mode, make_context

from allmodes.search.searchers.population.components import MIX, RAY
from allmodes.search.searchers.population.probes import Probes
from allmodes.search.searchers.population.tuning import TUNING
from allmodes.storage import pack, unpack

CENTRES = np.array([[0.25, 0.25], [0.25, 0.75], [0.75, 0.25], [0.75, 0.75]])


def hills(points):
    return -((points[:, None] - CENTRES) ** 2).sum(axis=2).min(axis=1)


def knowing(count, **given):
    """A context in which the first of the four hills are known."""
    context = make_context(**given)
    for centre in CENTRES[:count]:
        add_mode(context, centre, 0.0)
    return context


def run(probes, values_of, rounds=60):
    """All starts that come of what is pending, and how many points that took."""
    starts, cost = [], 0
    for _ in range(rounds):
        points = probes.ask()
        assert probes.context.box.inside(points).all()
        starts += probes.tell(points, values_of(points))
        cost += len(points)
    return starts, cost


def test_a_mix_of_three_hills_is_the_fourth():
    context = knowing(3)
    probes = Probes(context)
    begun = sum(probes.begin(MIX, context.archive.means) for _ in range(40))
    starts, cost = run(probes, hills)
    assert begun > 5
    assert starts
    for start in starts:
        np.testing.assert_allclose(start.point, [0.75, 0.75], atol=1e-12)
        assert start.arm == MIX
        assert start.spread == pytest.approx(TUNING.widest)
    assert cost <= 3 * begun


def test_rays_find_the_hills_next_to_theirs():
    context = knowing(3)
    probes = Probes(context)
    for _ in range(30):
        assert probes.begin(RAY, context.archive.means)
    starts, _ = run(probes, hills)
    assert probes.pending == []
    nearest = {int(((CENTRES - start.point) ** 2).sum(axis=1).argmin()) for start in starts}
    assert 3 in nearest


def test_rays_from_a_corner_go_inwards():
    context = make_context([(0, 1)] * 10)
    for corner in (0.0, 1.0, 0.5):
        add_mode(context, np.full(10, corner), 0.0)
    probes = Probes(context)
    assert all(probes.begin(RAY, context.archive.means) for _ in range(30))
    assert context.box.inside(probes.ask()).all()


def test_starts_on_a_known_hill_come_to_nothing():
    """One wide hill: mixes and rays rise towards its top, or not at all."""
    context = make_context()
    for point in ([0.5, 0.5], [0.5, 0.51], [0.51, 0.5]):
        add_mode(context, point, 0.0)
    probes = Probes(context)
    for arm in [RAY, MIX] * 10:
        probes.begin(arm, context.archive.means)
    starts, _ = run(probes, lambda points: -((points - 0.5) ** 2).sum(axis=1))
    assert starts == []
    assert probes.pending == []


def test_noisy_starts_are_not_tested():
    for noise, is_start in ((0.0, False), (0.1, True)):
        context = make_context(noise=noise)
        for point in ([0.4, 0.4], [0.5, 0.4], [0.4, 0.5]):
            add_mode(context, point, 0.0)
        probes = Probes(context)
        while not probes.begin(MIX, context.archive.means):
            pass
        assert bool(probes.tell(probes.ask(), np.array([1.0]))) is is_start


def test_failures_are_no_starts():
    context = knowing(3)
    probes = Probes(context)
    for arm in [RAY, MIX] * 10:
        probes.begin(arm, context.archive.means)
    starts, _ = run(probes, lambda points: np.full(len(points), -np.inf))
    assert starts == []


def test_probes_are_stored():
    context = knowing(3)
    probes = Probes(context)
    for arm in [RAY, MIX] * 5:
        probes.begin(arm, context.archive.means)
    run(probes, hills, 2)
    again = unpack(*pack(probes))
    np.testing.assert_array_equal(run(probes, hills)[1], run(again, hills)[1])
