"""The archive of frozen modes: its metric, its neighbours, its book-keeping."""

import numpy as np
import pytest

from allmodes.objective.bounds import Box
from allmodes.search.archive import Archive, Frozen, precision

SQUARE = Box.make([(0, 1), (0, 1)])
NOWHERE = np.zeros(2, bool)


def found(hessian, active=NOWHERE, kind="optimum"):
    return Frozen(np.zeros(len(hessian)), hessian, active, kind, "derivatives", 7)


def curved(rng, d=2):
    root = rng.normal(size=(d, d))
    return -(root @ root.T + 0.5 * np.eye(d))


def filled(box=SQUARE, modes=9, seed=0):
    rng = np.random.default_rng(seed)
    archive = Archive(box)
    for value in range(modes):
        archive.add(rng.random(box.d), float(value), found(curved(rng, box.d), np.zeros(box.d, bool)))
    return archive


# ---- precision


def test_the_precision_of_a_maximum_is_minus_its_hessian():
    H = curved(np.random.default_rng(1), 4)
    np.testing.assert_allclose(precision(H, np.zeros(4, bool)), -H)


def test_level_directions_get_a_thousandth_of_the_largest_precision():
    np.testing.assert_allclose(precision(-np.diag([100.0, 1e-9]), NOWHERE), np.diag([100.0, 0.1]))
    np.testing.assert_allclose(precision(-np.diag([100.0, -3.0]), NOWHERE), np.diag([100.0, 0.1]))


def test_on_a_boundary_an_upward_curve_counts_by_its_size():
    np.testing.assert_allclose(precision(np.diag([5.0, -100.0]), np.array([True, False])), np.diag([5.0, 100.0]))


@pytest.mark.parametrize("hessian", [np.zeros((2, 2)), np.diag([1.0, 1.0]), np.diag([-1e-200, 0.0])])
def test_a_precision_is_positive_definite_whatever_the_hessian(hessian):
    eigenvalues = np.linalg.eigvalsh(precision(hessian, NOWHERE))
    assert (eigenvalues > 0).all()
    assert np.isfinite(np.linalg.inv(precision(hessian, NOWHERE))).all()


# ---- modes


def test_an_empty_archive():
    archive = Archive(SQUARE)
    assert len(archive) == 0
    assert archive.best == -np.inf
    assert archive.means.shape == (0, 2)


def test_a_frozen_mode_is_laplaces_approximation():
    archive, H = Archive(SQUARE), curved(np.random.default_rng(2))
    number = archive.add(np.array([0.3, 0.4]), 5.0, found(H))
    assert (number, len(archive), archive.best) == (0, 1, 5.0)
    C, A = archive.components.factors
    np.testing.assert_allclose(C[0] @ C[0].T, -H)
    np.testing.assert_allclose(A[0] @ A[0].T, np.linalg.inv(-H))
    assert archive.hits.tolist() == [0]


def test_hits_are_counted_by_mode():
    archive = filled(modes=3)
    archive.hit(1)
    archive.hit(1)
    archive.hit(2, times=3)
    assert archive.hits.tolist() == [0, 2, 3]


def test_keeping_some_modes_keeps_everything_about_them():
    archive, chosen = filled(modes=4), np.array([True, False, False, True])
    archive.hit(3)
    before = (archive.means[chosen].copy(), archive.components.factors.C[chosen].copy(), archive.records[3])
    archive.keep(chosen)
    np.testing.assert_array_equal(archive.means, before[0])
    np.testing.assert_array_equal(archive.components.factors.C, before[1])
    assert archive.records[1] is before[2]
    assert archive.values.tolist() == [0.0, 3.0]
    assert archive.hits.tolist() == [0, 1]


def test_what_is_known_of_a_mode_can_change():
    archive, H = filled(modes=3), -np.diag([4.0, 9.0])
    archive.hit(1, True)
    archive.change(1, np.array([0.9, 0.1]), 8.0, found(H, kind="flat"))
    assert archive.means[1].tolist() == [0.9, 0.1]
    assert (archive.values[1], archive.records[1].kind, archive.hits[1]) == (8.0, "flat", 1)
    C = archive.components.factors.C[1]
    np.testing.assert_allclose(C @ C.T, -H)


# ---- distances


@pytest.mark.parametrize("modes", [1, 3, 4, 5, 30])
def test_neighbours_are_the_closest_modes(modes):
    archive, points = filled(modes=modes), np.random.default_rng(5).random((20, 2))
    apart = np.linalg.norm(points[:, None] - archive.means[None], axis=2)
    close = archive.neighbours(points)
    k = close.shape[1]
    assert k == min(modes, 4)
    assert [set(row) for row in close] == [set(row) for row in np.argsort(apart, axis=1)[:, :k]]


def test_the_nearest_mode_by_root_mean_square():
    archive, points = filled(), np.random.default_rng(6).random((20, 2))
    apart = np.sqrt(((points[:, None] - archive.means[None]) ** 2).mean(axis=2))
    which, distance = archive.nearest(points)
    np.testing.assert_array_equal(which, apart.argmin(axis=1))
    np.testing.assert_allclose(distance, apart.min(axis=1))


def test_distances_go_round_in_periodic_coordinates():
    archive = Archive(Box.make([(0, 1), (0, 1)], periodic=[0]))
    archive.add(np.array([0.98, 0.5]), 1.0, found(-np.eye(2)))
    archive.add(np.array([0.3, 0.5]), 1.0, found(-np.eye(2)))
    point = np.array([[0.02, 0.5]])
    which, distance = archive.nearest(point)
    assert which[0] == 0
    assert distance[0] == pytest.approx(0.04 / np.sqrt(2))


def everything_apart(archive, points):
    apart = archive.box.difference(points[:, None], archive.means[None])
    return np.sqrt((apart**2).mean(axis=2))


@pytest.mark.parametrize("box", [SQUARE, Box.make([(0, 1), (0, 1)], periodic=[0])], ids=["plain", "periodic"])
def test_of_many_points_and_modes_the_closest_are_found_too(box):
    archive = filled(box, modes=40)
    points = np.random.default_rng(3).uniform(-0.2, 1.2, (100, 2))
    apart = everything_apart(archive, points)
    np.testing.assert_array_equal(np.sort(archive.neighbours(points)), np.sort(apart.argsort(axis=1)[:, :4]))
    which, distance = archive.nearest(points)
    np.testing.assert_array_equal(which, apart.argmin(axis=1))
    np.testing.assert_allclose(distance, apart.min(axis=1))


def test_a_tree_of_modes_follows_them():
    archive = filled(modes=40)
    points = np.random.default_rng(3).random((100, 2))
    archive.nearest(points)
    archive.add(points[0], 1.0, found(-np.eye(2)))
    assert archive.nearest(points)[0][0] == 40
    archive.change(40, points[1], 1.0, found(-np.eye(2)))
    assert archive.nearest(points)[0][1] == 40
    archive.keep(np.arange(41) != 40)
    np.testing.assert_allclose(archive.nearest(points)[1], everything_apart(archive, points).min(axis=1))


def test_points_that_are_not_finite_do_no_harm_among_many():
    archive = filled(modes=40)
    points = np.random.default_rng(3).random((100, 2))
    points[7] = np.inf
    assert archive.neighbours(points).shape == (100, 4)


@pytest.mark.parametrize("modes", [5, 60])
@pytest.mark.parametrize("box", [SQUARE, Box.make([(0, 1), (0, 1)], periodic=[0])], ids=["plain", "periodic"])
def test_the_spacing_of_modes_is_that_to_the_next_one(box, modes):
    archive = filled(box, modes)
    apart = everything_apart(archive, archive.means) * np.sqrt(2)
    np.fill_diagonal(apart, np.inf)
    assert archive.spacing == pytest.approx(np.median(apart.min(axis=1)))
    archive.add(np.array([0.5, 0.5]), 0.0, found(-np.eye(2)))
    apart = everything_apart(archive, archive.means) * np.sqrt(2)
    np.fill_diagonal(apart, np.inf)
    assert archive.spacing == pytest.approx(np.median(apart.min(axis=1)))


def test_a_few_modes_say_nothing_about_their_spacing():
    assert filled(modes=4).spacing == np.inf


def test_an_archive_knows_whether_a_mode_is_at_a_bound():
    archive = filled(modes=2)
    assert not archive.has_boundary
    archive.add(np.array([0.0, 0.5]), 1.0, found(-np.eye(2), np.array([True, False])))
    assert archive.has_boundary


def test_the_nearest_mode_of_a_place_beyond_all_numbers_is_one_of_them():
    archive = Archive(Box.make([(0, 1), (0, 1)]))
    record = Frozen(np.zeros(2), -np.eye(2), np.zeros(2, bool), "optimum", "derivatives", 1)
    archive.add_all(np.random.default_rng(0).random((100, 2)), np.zeros(100), record)
    with np.errstate(over="ignore"):
        which, _ = archive.nearest(np.full((50, 2), 1e300))
    assert which.max() < 100


def test_factors_of_a_light_archive_are_made_when_they_are_wanted():
    box, record = (
        Box.make([(0, 1), (0, 1)]),
        Frozen(np.zeros(2), -np.diag([4.0, 9.0]), np.zeros(2, bool), "optimum", "derivatives", 1),
    )
    light, usual = Archive(box, is_light=True), Archive(box)
    for archive in (light, usual):
        archive.add(np.array([0.2, 0.7]), 1.0, record)
        archive.add_all(np.array([[0.1, 0.1], [0.9, 0.4]]), np.zeros(2), record)
    assert light.components.factors.C.shape == (3, 0, 0)
    np.testing.assert_allclose(light.factors.C, usual.factors.C)
    np.testing.assert_allclose(light.factors.A, usual.factors.A)
