import numpy as np
import pytest

from allmodes.objective import Evaluation
from allmodes.objective.bounds import Box
from allmodes.storage import pack, unpack
from allmodes.strategy.archive import Archive
from allmodes.strategy.optimality import counted
from allmodes.strategy.population import Population
from allmodes.strategy.search import Search

HIMMELBLAU = np.array(
    [[3.0, 2.0], [-2.805118, 3.131313], [-3.779310, -3.283186], [3.584428, -1.848127]],
)


def himmelblau(x):
    return -((x[:, 0] ** 2 + x[:, 1] - 11) ** 2) - (x[:, 0] + x[:, 1] ** 2 - 7) ** 2


def start(bounds, maxfev, seed=0, periodic=None, **given):
    box = Box.make(bounds, periodic=periodic)
    return Population(Search(box, Archive(box), np.random.default_rng(seed), maxfev=maxfev, **given))


def run(population, values_of, rounds=10**9):
    search = population.search
    for _ in range(rounds):
        if search.nfev >= search.maxfev or population.ending:
            break
        points = population.ask().points
        assert search.box.inside(points).all()
        search.nfev += len(points)
        population.tell(Evaluation(values_of(search.box.to_user(points))))
    return population


def found(population):
    search = population.search
    return search.box.to_user(search.archive.means[counted(search)])


def matches(points, wanted, within):
    distance = np.linalg.norm(points[:, None] - wanted, axis=2)
    return len(points) == len(wanted) and (distance.min(axis=0) < within).all()


@pytest.mark.parametrize("is_global", [True, False])
def test_himmelblau_from_values(is_global):
    population = run(start([(-6, 6), (-6, 6)], 12_000, is_global=is_global), himmelblau)
    assert matches(found(population), HIMMELBLAU, 1e-4)
    assert {mode.kind for mode in population.search.archive.found} == {"optimum"}
    hessian = population.search.archive.found[0].hessian
    assert (np.linalg.eigvalsh(hessian) < 0).all()


def test_a_simple_search_ends_by_itself():
    population = run(start([(-6, 6), (-6, 6)], 10**6, is_global=True), himmelblau)
    assert "no new mode" in population.ending
    assert population.search.nfev < 10**5


def test_the_same_seed_is_the_same_search():
    runs = [run(start([(-6, 6), (-6, 6)], 5000, seed=3, is_global=True), himmelblau) for _ in range(2)]
    np.testing.assert_array_equal(runs[0].asked, runs[1].asked)
    np.testing.assert_array_equal(found(runs[0]), found(runs[1]))


def test_a_search_can_be_stored_at_any_point():
    whole = run(start([(-6, 6), (-6, 6)], 8000, is_global=True), himmelblau)
    part = run(start([(-6, 6), (-6, 6)], 8000, is_global=True), himmelblau, rounds=30)
    part = run(unpack(*pack(part)), himmelblau)
    np.testing.assert_array_equal(found(whole), found(part))


def test_failures_are_survived():
    def broken(x):
        values = himmelblau(x)
        return np.where(x.sum(axis=1) > 2.5, -np.inf, values)  # two of the modes are lost

    population = run(start([(-6, 6), (-6, 6)], 15_000, is_global=True), broken)
    points = found(population)
    assert np.linalg.norm(points[:, None] - HIMMELBLAU[[1, 2]], axis=2).min(axis=0).max() < 1e-4


def test_everything_failing_is_survived():
    population = run(start([(-6, 6), (-6, 6)], 3000), lambda x: np.full(len(x), -np.inf))
    assert len(population.search.archive) == 0


def test_modes_on_a_bound_are_recognised():
    population = run(start([(0, 1), (0, 1)], 16_000), lambda x: x[:, 0] - (x[:, 1] - 0.3) ** 2)
    (mode,) = population.search.archive.found
    assert mode.kind == "boundary"
    assert mode.active.tolist() == [True, False]
    assert found(population)[0, 0] == 1.0


def test_local_modes_count_when_all_are_wanted():
    def uneven(x):
        return np.exp(-((x[:, 0] - 2) ** 2) * 4) + 0.5 * np.exp(-((x[:, 0] - 7) ** 2) * 4)

    every = run(start([(0, 10)], 8000), uneven)
    assert matches(np.sort(found(every), axis=0), np.array([[2.0], [7.0]]), 1e-3)
    best = run(start([(0, 10)], 8000, is_global=True), uneven)
    assert matches(found(best), np.array([[2.0]]), 1e-3)


def test_periodic_modes_are_found_once():
    population = run(start([(0, 2 * np.pi)], 8000, periodic=[0]), lambda x: np.cos(x[:, 0]))
    assert len(found(population)) == 1


def test_noisy_modes_are_told_apart_by_distance():
    noise = np.random.default_rng(9)
    population = start([(-6, 6), (-6, 6)], 15_000, noise=1.0)
    run(population, lambda x: himmelblau(x) + noise.standard_normal(len(x)))
    distance = np.linalg.norm(found(population)[:, None] - HIMMELBLAU, axis=2)
    assert (distance.min(axis=0) < 0.4).all()
    assert all(mode.standard_error > 0 for mode in population.search.archive.found)


def test_known_points_are_free_starts():
    population = start([(-6, 6), (-6, 6)], 10_000, is_global=True)
    box = population.search.box
    population.add_points(box.to_unit(HIMMELBLAU), himmelblau(HIMMELBLAU))
    run(population, himmelblau, rounds=90)
    assert len(found(population)) == 4
    assert population.successes > 0
    assert population.evaluations > 0


def test_a_constant_function_ends():
    population = run(start([(0, 1), (0, 1)], 5000), lambda x: np.zeros(len(x)))
    assert len(population.search.archive) < 20


@pytest.mark.parametrize(("d", "maxfev"), [(1, 6000), (8, 30_000)])
def test_any_dimension(d, maxfev):
    population = run(start([(-1, 1)] * d, maxfev, is_global=True), lambda x: -((x - 0.2) ** 2).sum(axis=1))
    assert matches(found(population), np.full((1, d), 0.2), 1e-3)


def test_many_dimensions_make_progress():
    population = run(start([(-1, 1)] * 50, 30_000, is_global=True), lambda x: -((x - 0.2) ** 2).sum(axis=1))
    assert population.bands[0].evolution.best_value.max() > population.pool.values.max() / 20


def twin_hills(x):
    """A wide hill, and next to it a narrow one of the same height."""
    wide, narrow = ((x - [0.5, 0.5]) ** 2).sum(axis=1), ((x - [0.57, 0.5]) ** 2).sum(axis=1)
    return np.maximum(1.0 - 100.0 * wide, 1.0 - 3000.0 * narrow)


def test_components_go_on_from_where_launches_got_stuck():
    """Next to a mode, where nothing else begins for long."""
    counts = []
    for is_told in (False, True):
        population = start([(0, 1), (0, 1)], 8000, is_global=True)
        if is_told:
            stuck = np.array([0.571, 0.501]) + 1e-3 * np.array([[0, 0], [1, 0], [0, 1], [1, 1]])
            population.strands.add(stuck, twin_hills(stuck))
        counts.append(len(found(run(population, twin_hills))))
    assert counts == [1, 2]
