"""What a search keeps to be looked at: settings to run it again, where local searches went, how annealing went."""

from __future__ import annotations

import json
from dataclasses import fields

import numpy as np
import pytest

from allmodes import ModeFinder, Result, find_maxima, find_minima
from allmodes.nva import presets
from allmodes.nva.mixture import Mixture
from allmodes.nva.mixture.families import Gaussian
from allmodes.result.records import FrameRecord, PathRecord

BOX = [(-3.0, 3.0), (-2.0, 2.0)]


def camel(x):
    a, b = x[..., 0], x[..., 1]
    return (4 - 2.1 * a**2 + a**4 / 3) * a**2 + a * b + (4 * b**2 - 4) * b**2


def same(one, other):
    """Whether two parts of results are equal to the last bit."""
    for each in fields(one):
        first, second = getattr(one, each.name), getattr(other, each.name)
        if isinstance(first, list):
            assert len(first) == len(second)
            for a, b in zip(first, second, strict=True):
                np.testing.assert_array_equal(a, b)
        else:
            np.testing.assert_array_equal(first, second)


def moved(searches, steps, d=2, together=3):
    """A record of local searches, some in flight together, each of so many points; values are their numbers."""
    record = PathRecord()
    for first in range(0, searches, together):
        numbers = record.begin(min(together, searches - first))
        for step in range(steps):
            record.add(numbers, np.sin(numbers[:, None] + step + np.arange(d)), numbers.astype(float))
    return record


# ---- local searches


def test_a_few_searches_are_kept_whole():
    record = moved(7, 5)
    numbers, points, values = record.sorted()
    np.testing.assert_array_equal(numbers, np.repeat(np.arange(7), 5))
    assert points.shape == (35, 2)
    np.testing.assert_array_equal(values, numbers)


@pytest.mark.parametrize(("searches", "steps", "d"), [(3000, 4, 2), (500, 60, 3), (100, 30, 500), (1, 9000, 30)])
def test_of_many_searches_some_are_kept_spread_evenly(searches, steps, d):
    record = moved(searches, steps, d)
    numbers, points, _ = record.sorted()
    kept = np.unique(numbers)
    assert len(kept) <= 200
    assert len(points) <= 4000
    assert points.size <= 200_000
    assert points.size + len(record.pending) * 3 * d < 500_000
    assert len(kept) > min(searches, 200_000 // (steps * d) + 1, 4000 // steps + 1, 200) // 2 - 1
    np.testing.assert_array_equal(kept, np.arange(0, searches, record.stride)[: len(kept)])
    if searches > 1:
        assert (np.bincount(numbers)[kept] == steps).all(), "a search that is kept is kept whole"


@pytest.mark.parametrize("together", [1, 20, 900])
def test_what_is_kept_does_not_depend_on_how_many_are_in_flight(together):
    """Paths are thinned once in a while, and those of many at once before they are kept: that must not show."""
    wanted = moved(900, 7).sorted()
    assert len(np.unique(wanted[0])) < 200
    for one, other in zip(moved(900, 7, together=together).sorted(), wanted, strict=True):
        np.testing.assert_array_equal(one, other)


def test_looking_does_not_change_it():
    record = moved(10, 3)
    before = len(record.pending)
    record.sorted()
    assert len(record.pending) == before > 0


def test_steps_that_lead_nowhere_are_left_out():
    record = PathRecord()
    numbers = record.begin(2)
    for place in (0.0, 1.0, 1.0, 2.0):
        record.add(numbers, np.full((2, 1), place), np.zeros(2))
    np.testing.assert_array_equal(record.sorted()[1][:, 0], [0.0, 1.0, 2.0] * 2)


@pytest.mark.parametrize("find", [find_minima, find_maxima])
def test_paths_are_in_the_user_s_coordinates_and_sign(find):
    def fun(x):
        return camel(x) if find is find_minima else -camel(x)

    result = find(fun, BOX, vectorized=True, rng=0, maxfev=4000)
    paths = result.paths
    assert len(paths) == paths.searches > 10
    assert [len(path) for path in paths] == np.bincount(paths.numbers)[np.unique(paths.numbers)].tolist()
    low, high = np.array(BOX).T
    assert ((paths.points >= low) & (paths.points <= high)).all()
    np.testing.assert_allclose(paths.values, fun(paths.points), rtol=1e-12, atol=1e-12)
    for number, path in paths.by_search.items():
        values = paths.values[paths.numbers == number]
        np.testing.assert_array_equal(path, paths.points[paths.numbers == number])
        assert (np.diff(values) * (1 if find is find_maxima else -1) > -1e-9).all(), "searches go uphill"


def test_keeping_paths_changes_no_search(monkeypatch):
    kept = find_minima(camel, BOX, vectorized=True, rng=3, maxfev=1000)
    monkeypatch.setattr(PathRecord, "add", lambda *_: None)
    other = find_minima(camel, BOX, vectorized=True, rng=3, maxfev=1000)
    assert len(kept.paths) > 0
    assert len(other.paths) == 0
    assert other.nfev == kept.nfev
    np.testing.assert_array_equal([mode.x for mode in other.modes], [mode.x for mode in kept.modes])


# ---- annealing


def test_annealing_is_kept_frame_by_frame():
    result = find_minima(camel, BOX, vectorized=True, rng=0, method="anneal", maxfev=5000)
    trace = result.trace
    assert len(trace.weights) == len(trace.means) == len(trace.covariances) == len(trace) <= 200
    assert (np.diff(trace.nfev) >= 0).all()
    assert 0 < trace.nfev[0] < trace.nfev[-1] <= result.nfev
    first = trace.runs[0]
    np.testing.assert_array_equal(trace.step[first], np.arange(len(first)))
    assert (np.diff(trace.temperature[first]) <= 0.0).all()
    assert trace.temperature[first[-1]] < 0.01 * trace.temperature[0]
    low, high = np.array(BOX).T
    for i in range(len(trace)):
        K = len(trace.weights[i])
        assert trace.weights[i].sum() == pytest.approx(1.0)
        assert trace.means[i].shape == (K, 2)
        assert ((trace.means[i] >= low) & (trace.means[i] <= high)).all()
        assert (np.linalg.eigvalsh(trace.covariances[i]) > 0.0).all()
        np.testing.assert_array_equal(trace.block(i, (1,)), trace.covariances[i][:, 1:, 1:])
    widths = [np.sqrt(np.trace(c, axis1=1, axis2=2)).mean() for c in trace.covariances]
    assert widths[first[-1]] < 0.7 * widths[0]


def test_an_engine_assembly_is_traced_and_other_methods_are_not():
    given = {"vectorized": True, "rng": 0, "maxfev": 1500}
    assert find_minima(camel, BOX, method=presets.nva_gm(order=0), **given).trace is not None
    for method in ("auto", "local", "multistart"):
        assert find_minima(camel, BOX, method=method, **given).trace is None


def test_fixed_coordinates_do_not_spread():
    result = find_minima(lambda x: camel(x[[0, 2]]), [BOX[0], (5, 5), BOX[1]], rng=0, method="anneal", maxfev=600)
    assert all((means[:, 1] == 5.0).all() for means in result.trace.means)
    for spread in result.trace.covariances:
        assert not spread[:, 1].any()
        assert (spread[:, [0, 2], [0, 2]] > 0.0).all()


def seen(runs, steps, K, d):
    record, family = FrameRecord(), Gaussian()
    for run in range(runs):
        for step in range(steps):
            components = family.start(np.full((K, d), float(run)), 1.0 + step)
            record.see(run, step, 0, 1.0, family, Mixture(np.zeros(K), components))
    return record


@pytest.mark.parametrize(
    ("runs", "steps", "K", "d"), [(3, 20, 4, 2), (100, 20, 4, 2), (1, 900, 4, 2), (30, 21, 8, 20), (2, 21, 8, 60)]
)
def test_frames_are_thinned_by_runs_and_a_long_run_by_steps(runs, steps, K, d):
    record = seen(runs, steps, K, d)
    frames = record.frames
    assert len(frames) <= 200
    assert record.size == sum(frame.size for frame in frames) <= 200_000
    kept = np.unique([frame.run for frame in frames])
    np.testing.assert_array_equal(kept, np.arange(0, runs, record.run_stride))
    for run in kept:
        assert [frame.step for frame in frames if frame.run == run] == list(range(0, steps, record.step_stride))
    assert len(frames) == runs * steps or 2 * len(frames) > min(200, 200_000 // frames[0].size) // 2
    assert frames[0].covariances.shape == ((K, d) if K * d * d * 16 > 200_000 else (K, d, d))


def test_variances_stand_in_for_covariances_in_many_dimensions():
    result = find_minima(lambda x: (x**2).sum(axis=1), [(-1, 3)] * 120, vectorized=True, rng=0, method="anneal",
                         maxfev=4000)  # fmt: skip
    assert result.trace.covariances[0].shape == result.trace.means[0].shape
    block = result.trace.block(0, (3, 7))
    np.testing.assert_array_equal(block[:, 0, 0], result.trace.covariances[0][:, 3])
    assert not block[:, 0, 1].any()


# ---- kept with the search and with the result


@pytest.mark.parametrize("method", ["auto", "anneal"])
def test_a_search_that_is_saved_and_loaded_keeps_the_same(tmp_path, method):
    settings = {"rng": 1, "maxfev": 3000, "method": method, "options": {"patience": 10**6}}

    def go(finder, evaluations):
        while not finder.stop() and finder.nfev < evaluations:
            finder._driver.tell_round(camel(finder.ask()))
        return finder

    whole = go(ModeFinder(BOX, **settings), 3000).result
    path = tmp_path / "search.npz"
    go(ModeFinder(BOX, **settings), 700).save(path)
    parts = go(ModeFinder.load(path), 3000).result
    same(parts.paths, whole.paths)
    if method == "auto":
        assert whole.paths.searches > 200 >= len(whole.paths) > 0, "some were dropped"
    else:
        same(parts.trace, whole.trace)
        assert len(whole.trace) > 20
    assert parts.settings == whole.settings


def test_a_result_that_is_saved_and_loaded_has_it_all(tmp_path):
    saved = find_maxima(lambda x: -camel(x), [(-3, 3), (-2, 2)], rng=4, method="anneal", maxfev=700, names=("a", "b"))
    saved.save(tmp_path / "result.npz")
    found = Result.load(tmp_path / "result.npz")
    same(found.paths, saved.paths)
    same(found.trace, saved.trace)
    np.testing.assert_array_equal(found.bounds, [(-3.0, 3.0), (-2.0, 2.0)])
    assert (found.settings, found.versions, found.seconds) == (saved.settings, saved.versions, saved.seconds)


def test_bounds_are_the_user_s_infinite_where_open():
    result = find_minima(
        lambda x: float((x**2).sum()), [(None, 3), (-np.inf, np.inf)], x0=[1.0, 1.0], rng=0, maxfev=300
    )
    np.testing.assert_array_equal(result.bounds, [(-np.inf, 3.0), (-np.inf, np.inf)])


def test_settings_are_enough_to_search_again():
    def fun(x):
        return np.cos(x[:, 0]) + np.abs(x[:, 1])

    asked = {
        "target": "global", "method": "local", "n_modes": 7, "maxfev": 900, "maxiter": 500, "maxtime": 600.0,
        "xtol": 1e-5, "periodic": [0], "polish": True, "x0": [[1.0, 0.5], [2.0, -0.5]], "vectorized": True,
        "options": {"patience": 30, "width": 3}, "on_error": "nan", "noise": None,
    }  # fmt: skip
    result = find_minima(fun, [(0, 6.3), (-1, 1)], rng=np.int64(8), **asked)
    settings = json.loads(json.dumps(result.settings))
    assert settings == result.settings
    assert {name: settings[name] for name in asked} == asked
    assert (settings["seed"], settings["order"], settings["budget"], settings["workers"]) == (8, 0, 900, 1)
    again = find_minima(fun, result.bounds, rng=settings["seed"], **{name: settings[name] for name in asked})
    assert again.nfev == result.nfev
    np.testing.assert_array_equal([mode.x for mode in again.modes], [mode.x for mode in result.modes])


def test_what_was_not_given_is_not_made_up():
    settings = find_minima(camel, BOX, vectorized=True, rng=np.random.default_rng(0), n_modes=1).settings
    assert (settings["seed"], settings["maxfev"], settings["budget"], settings["x0"]) == (None, None, 30_000, None)
    assert (settings["noise"], settings["periodic"], settings["jac"], settings["warm_start"]) == (None, [], None, 0)


def test_what_is_no_plain_data_is_named():
    result = find_minima(lambda x: float((x**2).sum()), BOX, jac=lambda x: 2 * x, rng=0, maxfev=60, workers=map,
                         noise=True)  # fmt: skip
    assert (result.settings["jac"], result.settings["workers"], result.settings["noise"]) == ("<lambda>", "map", True)
    assert json.loads(json.dumps(result.settings)) == result.settings


def test_many_starts_are_only_counted():
    x0 = np.random.default_rng(0).uniform(-1, 1, (600, 2))
    assert find_minima(camel, BOX, x0=x0, vectorized=True, maxfev=50, rng=0).settings["x0"] == "600 points"


def test_versions_and_duration_are_there():
    result = find_minima(camel, BOX, vectorized=True, rng=0, maxfev=100)
    assert set(result.versions) == {"allmodes", "numpy", "python", "scipy"}
    assert result.versions["numpy"] == np.__version__
    assert result.seconds > 0.0


def test_a_resumed_search_has_the_seed_it_began_with(tmp_path):
    path = tmp_path / "search.npz"
    find_minima(camel, BOX, vectorized=True, rng=5, maxfev=200, checkpoint=path)
    result = find_minima(camel, BOX, vectorized=True, rng=None, maxfev=300, checkpoint=path)
    assert (result.settings["seed"], result.settings["maxfev"]) == (5, 300)
