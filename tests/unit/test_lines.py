"""Quasi-Newton directions and line searches."""

import numpy as np

from allmodes.objective import Evaluation
from allmodes.objective.bounds import Box
from allmodes.strategy.archive import Archive
from allmodes.strategy.batch import Batch, Phase
from allmodes.strategy.kinks import Kinks
from allmodes.strategy.lines import _updated
from allmodes.strategy.search import Search
from allmodes.strategy.settling import Settling


def test_an_update_predicts_the_last_step():
    rng = np.random.default_rng(0)
    root = rng.standard_normal((5, 3, 3))
    B = root @ root.mT
    s = rng.standard_normal((5, 3))
    y = s + 0.1 * rng.standard_normal((5, 3))
    new = _updated(B, s, y, np.ones(5, bool))
    np.testing.assert_allclose((new @ y[..., None])[..., 0], s, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(new, new.mT, atol=1e-12)
    assert (np.linalg.eigvalsh(new) > 0.0).all()


def test_the_first_update_sets_the_scale():
    s, y = np.array([[1.0, 0.0]]), np.array([[4.0, 0.0]])
    new = _updated(1e6 * np.eye(2)[None], s, y, np.zeros(1, bool))
    np.testing.assert_allclose(new[0], 0.25 * np.eye(2))


def test_a_step_against_the_curvature_teaches_nothing():
    B = np.eye(2)[None]
    s = np.array([[1.0, 0.5]])
    np.testing.assert_array_equal(_updated(B, s, -s, np.ones(1, bool)), B)


def launched(points, function, order=0):
    """Launches at points where everything is known, in a unit square."""
    box = Box.make([(0, 1), (0, 1)])
    search = Search(box, Archive(box), np.random.default_rng(0), order=order)
    search.add_levels(np.linspace(-1.0, 0.0, 101))
    batch = Batch.empty(2)
    n = len(points)
    rows = batch.open(np.array(points, dtype=float), np.full(n, 0.1), np.zeros(n, np.int64), np.zeros(n, np.int64))
    batch.value[rows] = function(batch.point[rows])
    steps = 1e-7 * np.eye(2)
    batch.gradient[rows] = (function(batch.point[rows][:, None] + steps) - batch.value[rows][:, None]) / 1e-7
    batch.iterations[rows] = batch.refusals[rows] = 6
    search.best_value = float(batch.value[rows].max())
    return Kinks(search, batch, Settling(search, batch)), rows


def go(kinks, function, rounds):
    """Answer what launches want to know, so many times; the phases seen."""
    seen = set()
    for _ in range(rounds):
        over = {end.row for end in kinks.settling.ends}
        for k in range(len(kinks.batch.numbers)):
            phase = Phase(kinks.batch.phase[k])
            if k in over or phase < Phase.LINE:
                continue
            seen.add(phase)
            rows = np.array([k])
            points = kinks.points(phase, rows)
            kinks.told(phase, rows, points, Evaluation(function(points), None, None))
    return seen


def cone(points):
    return -np.abs(points - np.array([0.3, 0.6])).sum(axis=-1)


def test_a_launch_climbs_a_cone_and_comes_back_to_its_top():
    kinks, rows = launched([(0.5, 0.5)], cone)
    assert kinks.can_begin(0)
    kinks.begin(rows)
    seen = go(kinks, cone, 400)
    (end,) = kinks.settling.ends
    assert end.is_new
    assert {Phase.LINE, Phase.TILT, Phase.PROBE, Phase.NUDGE, Phase.MOVE} <= seen
    np.testing.assert_allclose(kinks.search.archive.means, [[0.3, 0.6]], atol=1e-6)
    assert kinks.search.archive.found[0].kind == "optimum"
    assert kinks.batch.returns[0] == 2


def test_the_second_of_two_launches_finds_the_mode_of_the_first():
    kinks, rows = launched([(0.5, 0.5), (0.1, 0.9)], cone)
    kinks.begin(rows[:1])
    kinks.batch.phase[1] = Phase.START
    go(kinks, cone, 400)
    kinks.begin(rows[1:])
    assert Phase.WAY in go(kinks, cone, 400)
    assert [end.is_new for end in kinks.settling.ends] == [True, False]
    assert len(kinks.search.archive) == 1


def test_smooth_launches_and_those_without_a_slope_do_not_begin():
    kinks, _ = launched([(0.5, 0.5)], cone)
    kinks.batch.refusals[0] = 0
    assert not kinks.can_begin(0)
    kinks.batch.refusals[0] = 6
    kinks.batch.gradient[0] = 0.0
    assert not kinks.can_begin(0)
    kinks.batch.gradient[0] = np.nan
    assert not kinks.can_begin(0)


def test_a_function_that_fails_everywhere_else_loses_the_launch():
    kinks, rows = launched([(0.5, 0.5)], cone)
    kinks.begin(rows)
    with np.errstate(invalid="ignore"):  # as in a search, where failed points are -inf
        go(kinks, lambda points: np.full(points.shape[:-1], -np.inf), 400)
    (end,) = kinks.settling.ends
    assert end.mode < 0
    assert not len(kinks.search.archive)
