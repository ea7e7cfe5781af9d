"""The verifier of noisy functions, stage by stage."""

from functools import partial

import numpy as np
import pytest

from allmodes.objective.bounds import Box
from allmodes.search.archive import Archive, Frozen
from allmodes.search.candidate import POPULATION, Candidate, Origin
from allmodes.search.context import Context
from allmodes.search.events import NewMode
from allmodes.search.verify.noise import Confirming, Fitting, NoisyVerifier
from allmodes.search.verify.noisy_pairs import Sorting

BOX = Box.make([(0, 1), (0, 1)])
CURVE = np.array([[-30.0, 8.0], [8.0, -20.0]])


def known(*modes, noise=0.1, maxfev=4000, hessian=CURVE):
    """A context with modes (point, value) in its archive."""
    context = Context(BOX, Archive(BOX), np.random.default_rng(0), noise=noise, maxfev=maxfev)
    context.observe_level(np.linspace(-1.0, 1.0, 101))
    for point, value in modes:
        record = Frozen(np.zeros(2), hessian, np.zeros(2, bool), "unverified", "component", 1, noise)
        context.archive.hit(context.archive.add(np.array(point), value, record))
    return context


def go_through(stage, function, seed=1, rounds=100):
    """Ask and tell until the stage has nothing to ask; the evaluations it took."""
    context, rng, spent = stage.context, np.random.default_rng(seed), 0
    for _ in range(rounds):
        points = stage.ask()
        if not len(points):
            break
        assert BOX.inside(points).all()
        values = function(points) + context.noise * rng.normal(size=len(points))
        context.observe(points, values, len(points))
        stage.tell(values)
        spent += len(points)
    return spent


def hill(z):
    """A peak of height 1.7 at (0.6, 0.5)."""
    step = z - [0.6, 0.5]
    return 1.7 + 0.5 * np.einsum("nd,nd->n", step, step @ CURVE)


def hills(z):
    """Peaks of height 1 at (0.3, 0.3) and (0.7, 0.7)."""
    return np.maximum(1.0 - 20.0 * ((z - 0.3) ** 2).sum(axis=1), 1.0 - 20.0 * ((z - 0.7) ** 2).sum(axis=1))


# ---- recording


def test_candidates_become_unverified_modes_at_once():
    verifier = NoisyVerifier(known())
    origin = Origin(POPULATION, "pool", 7)
    event = verifier.record(Candidate(np.full(2, 0.4), 3.0, np.zeros(2), CURVE, "component", origin))
    assert event == NewMode(origin, 0)
    verifier.hit(0)
    archive = verifier.context.archive
    assert (archive.records[0].kind, archive.values[0], archive.hits[0]) == ("unverified", 3.0, 2)


def test_without_candidates_nothing_is_asked():
    assert NoisyVerifier(known()).ask().shape == (0, 2)


def test_all_stages_make_a_verified_mode_with_a_standard_error():
    verifier = NoisyVerifier(known(((0.57, 0.52), 5.0)))
    go_through(verifier, hill)
    archive = verifier.context.archive
    (record,) = archive.records
    assert record.kind == "optimum"
    assert np.abs(archive.means[0] - [0.6, 0.5]).max() < 0.02
    assert abs(archive.values[0] - 1.7) < 4.0 * record.standard_error
    assert 0.0 < record.standard_error < 0.05
    assert len(verifier.ask()) == 0


# ---- merging


def merged(function, *modes, noise=0.1):
    context = known(*modes, noise=noise)
    go_through(Sorting(context, is_final=False), function, seed=4)
    return context.archive


def test_candidates_on_one_hill_become_the_better_one():
    archive = merged(hills, ((0.3, 0.3), 1.4), ((0.4, 0.32), 1.3), ((0.7, 0.7), 1.2), noise=0.02)
    assert archive.means.tolist() == [[0.3, 0.3], [0.7, 0.7]]


def test_candidates_are_not_told_apart_by_a_fall_that_may_be_luck():
    assert len(merged(hills, ((0.3, 0.3), 1.4), ((0.7, 0.7), 1.2), noise=0.02)) == 2
    assert len(merged(hills, ((0.3, 0.3), 1.4), ((0.7, 0.7), 1.2), noise=5.0)) == 1


def test_values_that_were_lucky_are_measured_again():
    archive = merged(hills, ((0.3, 0.3), 9.0), ((0.7, 0.7), 8.0))
    np.testing.assert_allclose(archive.values, 1.0, atol=0.2)


def test_candidates_that_fail_go():
    archive = merged(lambda z: np.where(z[:, 0] > 0.5, -np.inf, hills(z)), ((0.3, 0.3), 9.0), ((0.7, 0.7), 8.0))
    assert archive.means.tolist() == [[0.3, 0.3]]


# ---- fitting


def test_a_slope_is_climbed_to_the_bound():
    context = known(((0.5, 0.5), 5.0))
    fitting = Fitting(context)
    go_through(fitting, lambda z: 2.0 * z[:, 0], rounds=1)
    assert context.archive.records[0].kind == "unverified"
    assert context.archive.means[0, 0] > 0.6
    go_through(fitting, lambda z: 2.0 * z[:, 0] - 8.0 * (z[:, 1] - 0.5) ** 2)
    (record,) = context.archive.records
    assert (record.kind, record.active.tolist()) == ("boundary", [True, False])
    assert context.archive.means[0, 0] == 1.0


def test_failures_are_left_out_of_a_fit():
    context = known(((0.6, 0.5), 5.0))
    go_through(Fitting(context), lambda z: np.where(z[:, 0] > 0.65, -np.inf, hill(z)), rounds=1)
    assert context.archive.values[0] == pytest.approx(1.7, abs=0.2)


def test_a_slope_is_forgotten_when_there_is_a_peak():
    context = known(((0.6, 0.5), 5.0), ((0.2, 0.2), 4.0))
    for stage in (Fitting, partial(Sorting, is_final=True)):
        go_through(stage(context), lambda z: np.where(z[:, 0] > 0.4, hill(z), 20.0 * z[:, 0] - 20.0))
    assert len(context.archive) == 1
    assert np.abs(context.archive.means[0] - [0.6, 0.5]).max() < 0.05


@pytest.mark.parametrize("stage", [Fitting, partial(Sorting, is_final=True), Confirming])
@pytest.mark.parametrize("maxfev", [10, 40, 300])
def test_stages_keep_to_the_budget(stage, maxfev):
    context = known(((0.3, 0.3), 1.0), ((0.9, 0.9), 1.5), maxfev=maxfev)
    spent = go_through(stage(context), hill)
    assert spent <= maxfev
    assert spent > 0 or (stage is not Confirming and maxfev < 180)


# ---- sorting and confirming


def test_of_modes_that_are_one_the_verified_is_kept():
    context = known(((0.6, 0.5), 1.7), ((0.62, 0.5), 1.65))
    archive = context.archive
    archive.revalue(1, 1.65, kind="optimum")
    go_through(Sorting(context, is_final=True), hill)
    assert len(archive) == 1
    assert archive.records[0].kind == "optimum"


def test_modes_on_two_hills_stay_two():
    context = known(((0.3, 0.3), 1.0), ((0.7, 0.7), 1.0))
    go_through(Sorting(context, is_final=True), hills)
    assert len(context.archive) == 2


def test_values_in_the_end_are_means_with_honest_errors():
    scores = []
    for seed in range(200):
        context = known(((0.3, 0.3), 7.0), ((0.7, 0.7), 8.0))
        assert go_through(Confirming(context), hills, seed) == 60
        errors = np.array([record.standard_error for record in context.archive.records])
        scores.append((context.archive.values - 1.0) / errors)
    z = np.ravel(scores)
    assert abs(z.mean()) < 4.0 / np.sqrt(len(z))
    assert 0.85 < z.std() < 1.2


def test_modes_are_global_unless_they_are_surely_worse():
    context = known(((0.5, 0.5), 5.0), ((0.2, 0.5), 4.7), ((0.8, 0.5), 3.0), noise=1.0)
    for error, expected in ((0.2, [True, True, False]), (1.0, [True, True, True])):
        for j, value in enumerate((5.0, 4.7, 3.0)):
            context.archive.revalue(j, value, standard_error=error)
        assert context.is_best.tolist() == expected
