"""The verifier: what becomes of candidates, and of the archive."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from judging import candidate_at, make_context, verify

from allmodes.search.archive import Frozen
from allmodes.search.events import Arrived, Continue, KnownMode, NewMode, Recognised, Rejected
from allmodes.search.verify.tuning import TUNING
from allmodes.search.verify.verifier import Verifier
from allmodes.storage import pack, unpack


def bowl(x):
    return -float(((x - 0.5) ** 2 * np.arange(1, len(x) + 1)).sum())


def two_bowls(x):
    return max(-float(((x - 0.495) ** 2).sum()), -float(((x - 0.503) ** 2).sum()))


def long_bowl(x):
    return -float(((x - 0.5) ** 2) @ np.array([1.0, 100.0])[: len(x)])


def ring(x):
    return -((np.hypot(x[0] - 0.5, x[1] - 0.5) - 0.3) ** 2)


def saddle(x):
    return -((x[0] - 0.5) ** 2) + (x[1] - 0.5) ** 2


@pytest.mark.parametrize("order", [0, 1, 2])
def test_a_strict_optimum_is_a_new_mode_with_its_curvature(order):
    verifier = Verifier(make_context(2, order))
    (event,) = verify(verifier, bowl, candidate_at(bowl, [0.5, 0.5]))
    assert isinstance(event, NewMode)
    record = verifier.context.archive.records[event.mode]
    assert record.kind == "optimum"
    np.testing.assert_allclose(record.hessian, [[-2, 0], [0, -4]], atol=1e-3)
    assert verifier.context.archive.hits.tolist() == [1]


def test_the_same_place_is_a_known_mode_and_costs_nothing():
    verifier = Verifier(make_context(2))
    verify(verifier, bowl, candidate_at(bowl, [0.5, 0.5]))
    spent = verifier.context.nfev
    (event,) = verify(verifier, bowl, candidate_at(bowl, [0.5 + 3e-6, 0.5]))
    assert isinstance(event, KnownMode)
    assert verifier.context.nfev == spent
    assert verifier.context.archive.hits.tolist() == [2]


def test_a_mode_is_where_the_best_of_its_searches_arrived():
    verifier = Verifier(make_context(2, order=2))
    for place in (0.5 + 6e-4, 0.5, 0.5 + 3e-4):
        claimed = candidate_at(bowl, [place, 0.5], gradient=np.zeros(2))
        verify(verifier, bowl, claimed)
    archive = verifier.context.archive
    assert archive.means.tolist() == [[0.5, 0.5]]
    assert archive.values.tolist() == [0.0]
    assert archive.hits.tolist() == [3]


def test_close_optima_are_two_if_the_function_falls_between_them():
    verifier = Verifier(make_context(2, order=2))
    for place in (0.495, 0.503):
        (event,) = verify(verifier, two_bowls, candidate_at(two_bowls, [place, place]))
        assert isinstance(event, NewMode)


def test_a_candidate_on_the_slope_next_to_a_mode_is_that_mode():
    verifier = Verifier(make_context(2, order=2))
    verify(verifier, bowl, candidate_at(bowl, [0.5, 0.5]))
    claimed = candidate_at(bowl, [0.504, 0.5], gradient=np.zeros(2))
    (event,) = verify(verifier, bowl, claimed)
    assert isinstance(event, KnownMode)


def test_a_saddle_is_rejected_with_a_reason():
    (event,) = verify(Verifier(make_context(2, order=2)), saddle, candidate_at(saddle, [0.5, 0.5]))
    assert isinstance(event, Rejected)
    assert "saddle" in event.reason


def test_a_corner_is_a_boundary_mode():
    def slope(x):
        return float(x.sum())

    verifier = Verifier(make_context(2, order=2))
    candidate = candidate_at(slope, [1.0, 1.0])
    (event,) = verify(verifier, slope, candidate)
    assert isinstance(event, NewMode)
    assert verifier.context.archive.records[0].kind == "boundary"
    assert verifier.context.archive.records[0].active.tolist() == [True, True]


def test_higher_ground_sends_the_search_on():
    def quartic(x):  # at the middle level to second order, and rising along x
        return (x[0] - 0.5) ** 4 - (x[1] - 0.5) ** 2

    level = candidate_at(quartic, [0.5, 0.5], hessian=np.diag([0.0, -2.0]))
    (event,) = verify(Verifier(make_context(2, order=2)), quartic, level)
    assert isinstance(event, Continue)
    assert event.origin.restarts == 1
    assert quartic(event.point) > 0.0


@pytest.mark.parametrize("angle", [0.5, 2.0, 3.1])
def test_two_points_of_a_ring_are_one_flat_mode(angle):
    verifier = Verifier(make_context(2, order=2, scale=0.1))
    for turn in (0.0, angle):
        across = np.array([np.cos(turn), np.sin(turn)])
        candidate = candidate_at(ring, 0.5 + 0.3 * across, hessian=-2.0 * np.outer(across, across))
        (event,) = verify(verifier, ring, candidate)
        assert isinstance(event, NewMode if turn == 0.0 else KnownMode)
    assert verifier.context.archive.records[0].kind == "flat"


def test_two_rings_are_two():
    def rings(x):
        return max(ring(x), -((np.hypot(x[0] - 0.5, x[1] - 0.5) - 0.1) ** 2))

    verifier = Verifier(make_context(2, order=2, scale=0.1))
    for radius in (0.3, 0.1):
        (event,) = verify(verifier, rings, candidate_at(rings, [0.5 + radius, 0.5]))
        assert isinstance(event, NewMode)


@pytest.mark.parametrize("d", [1, 2, 3])
def test_a_cone_is_verified_by_searches_that_come_back(d):
    def cone(x):
        return -float(np.abs(x - 0.5).sum())

    verifier = Verifier(make_context(d, order=1))
    candidate = candidate_at(cone, np.full(d, 0.5), is_kinked=True, factor=np.eye(d), gradient=np.ones(d))
    (event,) = verify(verifier, cone, candidate)
    assert isinstance(event, NewMode)
    assert verifier.context.archive.records[0].kind == "optimum"
    assert verifier.context.archive.records[0].source == "component"


def test_a_point_beside_a_kink_is_sent_on():
    def cone(x):
        return -float(np.abs(x - 0.5).sum())

    candidate = candidate_at(cone, [0.5, 0.501], is_kinked=True, factor=np.eye(2))
    (event,) = verify(Verifier(make_context(2, order=1)), cone, candidate)
    assert isinstance(event, Continue)
    assert event.is_kinked


def test_components_are_optima_where_the_function_falls_on_both_sides():
    verifier = Verifier(make_context(2))
    candidate = candidate_at(bowl, [0.5, 0.5], "component", factor=1e-4 * np.eye(2), gradient=np.zeros(2))
    (event,) = verify(verifier, bowl, candidate)
    assert isinstance(event, NewMode)
    np.testing.assert_allclose(verifier.context.archive.records[0].hessian, [[-2, 0], [0, -4]], rtol=1e-3)
    off = candidate_at(bowl, [0.6, 0.5], "component", factor=1e-3 * np.eye(2))
    (event,) = verify(verifier, bowl, off)
    assert isinstance(event, Rejected)


def test_a_component_that_a_local_search_comes_to_takes_the_better_curvature():
    verifier = Verifier(make_context(2, order=2), polishes=False)
    rough = candidate_at(
        long_bowl, [0.5 + 4e-6, 0.5], "component", factor=1e-3 * np.diag([1.0, 0.9]), gradient=np.zeros(2)
    )
    verify(verifier, long_bowl, rough)
    assert verifier.context.archive.records[0].source == "component"
    (event,) = verify(verifier, long_bowl, candidate_at(long_bowl, [0.5, 0.5], "derivatives"))
    assert isinstance(event, KnownMode)
    archive = verifier.context.archive
    assert archive.means[0].tolist() == [0.5, 0.5]
    assert (archive.records[0].source, archive.records[0].kind) == ("derivatives", "optimum")
    np.testing.assert_allclose(archive.records[0].hessian, [[-2, 0], [0, -200]], atol=1e-4)
    assert archive.hits.tolist() == [2]


def test_a_component_is_measured_once():
    verifier = Verifier(make_context(2), polishes=False)
    verify(verifier, long_bowl, candidate_at(long_bowl, [0.5, 0.5], "component", factor=1e-3 * np.eye(2)))
    spent = []
    for _ in range(3):
        before = verifier.context.nfev
        verify(verifier, long_bowl, candidate_at(long_bowl, [0.5, 0.5]))
        spent.append(verifier.context.nfev - before)
    assert spent[0] > 0
    assert spent[1:] == [0, 0]


def test_recognised_searches_count_as_hits():
    verifier = Verifier(make_context(2))
    (event,) = verify(verifier, bowl, candidate_at(bowl, [0.5, 0.5]))
    said = verifier.judge(Recognised(event.origin, 0))
    assert said == [Recognised(event.origin, 0)]
    assert verifier.context.archive.hits.tolist() == [2]


def test_a_verifier_is_stored_in_the_middle_of_a_case():
    verifier = Verifier(make_context(2))
    candidate = candidate_at(long_bowl, [0.5, 0.5])

    assert verifier.judge(Arrived(candidate)) == []
    (block,) = verifier.ask()
    restored = unpack(*pack(verifier))
    values = np.array([[long_bowl(point) for point in block.points[0]]])
    assert verifier.tell(block, values) == restored.tell(block, values)


# ---- several at once


def answer(verifier, f, blocks):
    return [
        event for block in blocks for event in verifier.tell(block, np.array([[f(point) for point in block.points[0]]]))
    ]


def test_of_two_candidates_that_arrive_together_one_is_new():
    verifier = Verifier(make_context(2))
    for place in (0.5, 0.5 + 2e-6):
        assert verifier.judge(Arrived(candidate_at(long_bowl, [place, 0.5]))) == []
    assert verifier.asking == len(verifier) == 2
    said = []
    while len(verifier):
        said += answer(verifier, long_bowl, verifier.ask())
    assert [type(event) for event in said] == [NewMode, KnownMode]
    assert verifier.context.archive.hits.tolist() == [2]


def test_a_mode_found_while_another_was_compared_is_looked_at_too():
    """The function falls between the first and the candidate, and not between the candidate and the second."""
    verifier = Verifier(make_context(2, order=2))
    archive = verifier.context.archive
    record = Frozen(np.zeros(2), -np.eye(2), np.zeros(2, bool), "optimum", "derivatives", 1)
    archive.add(np.array([0.499, 0.5]), 0.0, record)
    candidate = candidate_at(long_bowl, [0.505, 0.5], gradient=np.zeros(2))
    verifier.judge(Arrived(replace(candidate, value=0.0)))
    blocks = verifier.ask()
    archive.add(np.array([0.507, 0.5]), 0.0, record)  # another search was quicker
    assert answer(verifier, lambda x: -1.0, blocks) == []
    (event,) = answer(verifier, lambda x: 0.0, verifier.ask())
    assert isinstance(event, KnownMode)
    assert event.mode == 1


def test_what_a_verification_costs_is_on_its_account():
    verifier = Verifier(make_context(2))
    (event,) = verify(verifier, long_bowl, candidate_at(long_bowl, [0.5, 0.5]))
    assert event.origin.cost == verifier.context.nfev > 0


def test_higher_ground_again_and_again_is_no_optimum():
    def steps(x):
        return float(x[0])

    verifier = Verifier(make_context(2))
    candidate = candidate_at(steps, [0.3, 0.5], gradient=np.zeros(2), hessian=-np.diag([1.0, 200.0]))
    for restarts in range(TUNING.most_restarts):
        origin = candidate.origin._replace(restarts=restarts)
        (event,) = verify(verifier, steps, replace(candidate, origin=origin))
        assert isinstance(event, Continue)
        assert event.origin.restarts == restarts + 1
    origin = candidate.origin._replace(restarts=TUNING.most_restarts)
    (event,) = verify(verifier, steps, replace(candidate, origin=origin))
    assert isinstance(event, Rejected)
    assert "again and again" in event.reason


# ---- where coordinates are periodic, where only the best modes count


def test_a_mode_is_known_round_the_corner():
    def wave(x):
        return float(np.cos(2 * np.pi * x[0])) - float((x[1] - 0.5) ** 2)

    verifier = Verifier(make_context(2, order=2, periodic=[0]))
    for place, kind in ((1e-6, NewMode), (1.0 - 1e-6, KnownMode), (-1e-6, KnownMode), (2.0, KnownMode)):
        (event,) = verify(verifier, wave, candidate_at(wave, [place, 0.5], gradient=np.zeros(2)))
        assert isinstance(event, kind)
    assert verifier.context.box.inside(verifier.context.archive.means).all()


@pytest.mark.parametrize("is_global", [False, True])
def test_where_only_the_best_count_a_component_is_not_compared_with_a_poor_mode(is_global):
    verifier = Verifier(make_context(2, order=2, is_global=is_global))
    record = Frozen(np.zeros(2), -np.eye(2), np.zeros(2, bool), "optimum", "derivatives", 1)
    for point, value in (([0.1, 0.1], 0.0), ([0.505, 0.5], -0.5)):
        verifier.context.archive.add(np.array(point), value, record)
    candidate = candidate_at(bowl, [0.5, 0.5], "component", gradient=np.zeros(2))
    verify(verifier, bowl, candidate)  # a component of unknown shape is compared, and nothing else
    assert verifier.context.archive.hits.tolist()[1] == (not is_global)


# ---- ends of annealing that are not polished


def hills(x):
    return max(1.0 - 9.0 * float(((x - [0.25, 0.5]) ** 2).sum()), 0.9 - 9.0 * float(((x - [0.75, 0.5]) ** 2).sum()))


def offered(*places):
    verifier = Verifier(make_context(2))
    for place in places:
        verify(verifier, hills, candidate_at(hills, place, "component", gradient=np.zeros(2), hessian=-np.eye(2)))
    return verifier.context.archive


def test_ends_on_one_hill_are_one_mode_at_the_best_of_them():
    archive = offered([0.3, 0.5], [0.7, 0.5], [0.26, 0.5], [0.2, 0.45], [0.76, 0.52])
    assert archive.means.tolist() == [[0.26, 0.5], [0.76, 0.52]]
    assert archive.values.tolist() == [hills(point) for point in archive.means]
    assert archive.hits.tolist() == [3, 2]
    assert {record.kind for record in archive.records} == {"unverified"}


def test_an_end_is_told_from_the_closest_mode_however_far():
    archive = offered([0.25, 0.5], [0.3, 0.5], [0.45, 0.9])
    assert len(archive) == 1
