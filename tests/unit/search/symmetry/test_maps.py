import numpy as np
import pytest

from allmodes.search.searchers.symmetry.maps import symmetry

OPEN = np.full(4, np.inf)
SLACK = np.full(4, 1e-5)
PLACE = np.array([0.3, -1.2, 2.1, 0.7])


def hessian(seed=0, d=4):
    L = np.random.default_rng(seed).normal(size=(d, d))
    return -(L @ L.T + np.eye(d))


def pair(M, place=PLACE, H=None):
    """A place and its image, with the Hessians that a function with the symmetry M has there."""
    H = hessian(d=len(place)) if H is None else H
    back = np.linalg.inv(M)
    return place, M @ place, H, back.T @ H @ back


SWAP = np.eye(4)[[2, 3, 0, 1]]
SIGNS = np.diag([1.0, -1.0, -1.0, 1.0])
FLIP_FLOP = np.array([[0.0, 1.0, 0.0, 0.0], [1.0, 0.0, 0.0, 0.0], [1.0, -1.0, 1.0, 0.0], [0.0, 0.0, 0.0, 1.0]])


@pytest.mark.parametrize("M", [SWAP, SIGNS, SWAP @ SIGNS, FLIP_FLOP])
def test_a_map_is_found_from_a_place_and_its_image(M):
    found = symmetry(*pair(M), OPEN, SLACK)
    assert found is not None
    np.testing.assert_array_equal(found, M)


def test_other_curvature_is_no_image():
    a, b, H_a, H_b = pair(SWAP)
    assert symmetry(a, b, H_a, 1.2 * H_b, OPEN, SLACK) is None


def test_another_place_is_no_image():
    a, b, H_a, H_b = pair(SWAP)
    assert symmetry(a, b + 0.01, H_a, H_b, OPEN, SLACK) is None


def test_the_curvature_decides_between_coordinates_that_are_equal():
    H = -np.diag([1.0, 2.0, 3.0, 4.0])
    a, b, H_a, H_b = pair(np.eye(4)[[1, 0, 2, 3]], np.array([0.5, 0.5, 0.5, 0.5]), H)
    found = symmetry(a, b, H_a, H_b, OPEN, SLACK)
    np.testing.assert_array_equal(found, np.eye(4)[[1, 0, 2, 3]])


def test_angles_change_sign_modulo_their_period():
    a = np.array([1.0, 2.0])
    b = 2 * np.pi - a
    H = hessian(d=2)
    found = symmetry(a, b, H, H, np.full(2, 2 * np.pi), np.full(2, 1e-5))
    np.testing.assert_array_equal(found, -np.eye(2))
    assert symmetry(a, b, H, H, np.full(2, np.inf), np.full(2, 1e-5)) is None


def test_many_equal_coordinates_are_given_up_in_time():
    a = np.zeros(12)
    H = hessian(d=12)
    other = hessian(seed=1, d=12)
    assert symmetry(a, a, H, other, np.full(12, np.inf), np.full(12, 1e-5)) is None


def test_modes_that_have_nothing_in_common_are_no_images():
    a, b = np.array([0.1, 0.2, 0.3, 0.4]), np.array([0.3, 0.5, 0.7, 0.6])  # sums of two, each of them
    assert symmetry(a, b, -np.eye(4), -np.eye(4), OPEN, SLACK) is None
