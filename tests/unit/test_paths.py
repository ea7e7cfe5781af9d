"""Bent level paths: found where there are some, and not where there are none."""

import numpy as np
import pytest

from allmodes import find_minima
from allmodes.objective.bounds import Box
from allmodes.storage import pack, unpack
from allmodes.strategy.archive import Archive, Found
from allmodes.strategy.paths import Path

BOX = Box.make([(-2, 2), (-2, 2)])


def are_joined(function, a, b, box=BOX, tie=1e-7, stored=False):
    """Whether a path is found between two minima, and after how many evaluations."""
    ends = box.to_unit(np.array([a, b], float))
    path, spent = Path(box, ends, float((-function(box.to_user(ends))).min()) - tie), 0
    while path.verdict < 0:
        path = unpack(*pack(path)) if stored else path
        points = path.ask()
        assert box.inside(points).all()
        spent += len(points)
        path.tell(-function(box.to_user(points)))
    return path.verdict == 1, spent


RINGS = {
    "smooth": lambda x: (np.hypot(x[:, 0], x[:, 1]) - 1) ** 2,
    "quartic": lambda x: (x[:, 0] ** 2 + x[:, 1] ** 2 - 1) ** 2,
    "crease": lambda x: abs(x[:, 0] ** 2 + x[:, 1] ** 2 - 1),
}


def on_ring(angle):
    return [np.cos(angle), np.sin(angle)]


@pytest.mark.parametrize("name", RINGS)
@pytest.mark.parametrize("apart", [0.1, 0.5, 1.0, 2.0, 2.8, 3.0])
def test_points_of_a_ring_are_joined(name, apart):
    for begin in (0.1, 1.0, 2.5):
        joined, spent = are_joined(RINGS[name], on_ring(begin), on_ring(begin + apart))
        assert joined
        assert spent < 250


def test_a_path_can_be_stored_at_any_point():
    ends = on_ring(0.3), on_ring(1.7)
    assert are_joined(RINGS["crease"], *ends, stored=True) == are_joined(RINGS["crease"], *ends)


def lines(x):
    """Level lines at -2, -1.2, -0.4, 0.4, 1.2 and 2."""
    return np.cos(2.5 * np.pi * x[:, 0])


def bent_wells(x):
    """Two minima at the ends of a bent valley with a pass of 1 between them; its walls are a million times higher."""
    return (x[:, 0] ** 2 - 1) ** 2 + 1e5 * (x[:, 1] - x[:, 0] ** 2) ** 2


def himmelblau(x):
    return (x[:, 0] ** 2 + x[:, 1] - 11) ** 2 + (x[:, 0] + x[:, 1] ** 2 - 7) ** 2


MINIMA = [[3.0, 2.0], [3.58442834, -1.84812653], [-3.77931025, -3.28318599], [-2.80511809, 3.13131252]]


def test_minima_that_a_pass_divides_are_not_joined():
    assert not are_joined(bent_wells, [-1, 1], [1, 1])[0]
    wide = Box.make([(-6, 6), (-6, 6)])
    for i in range(4):
        for j in range(i):
            joined, spent = are_joined(himmelblau, MINIMA[i], MINIMA[j], wide)
            assert not joined
            assert spent < 60


@pytest.mark.parametrize("height", [0.0, 0.3, 1.0, 3.0])
def test_lines_side_by_side_are_not_joined(height):
    assert not are_joined(lines, [0.4, -1.5], [-0.4, -1.5 + height])[0]
    assert not are_joined(lines, [0.4, -1.5], [1.2, -1.5 + height])[0]


def test_two_rings_are_two():
    def rings(x):
        first = (x[:, 0] + 0.9) ** 2 + x[:, 1] ** 2 - 0.5
        return (first * ((x[:, 0] - 0.9) ** 2 + (x[:, 1] - 0.2) ** 2 - 0.4)) ** 2

    left, right = np.array([-0.9, 0.0]), np.array([0.9, 0.2])
    for angle in (0.0, 1.0, 2.0, 3.0):
        turned = np.array(on_ring(angle))
        assert not are_joined(rings, left + 0.5**0.5 * turned, right - 0.4**0.5 * turned)[0]
        assert are_joined(rings, left + 0.5**0.5 * turned, left + 0.5**0.5 * np.array(on_ring(angle + 1.0)))[0]


def test_in_space_points_climb_in_several_directions():
    box = Box.make([(-1.5, 2)] * 3)

    def arc(x):
        return (np.hypot(x[:, 0], x[:, 1]) - 1) ** 2 + (x[:, 2] - 0.3) ** 2

    assert are_joined(arc, [1.0, 0.0, 0.3], [0.0, 1.0, 0.3], box)[0]
    assert not are_joined(lambda x: arc(x) + 0.1 * np.minimum(x[:, 0], x[:, 1]), [1, 0, 0.3], [0, 1, 0.3], box)[0]


def test_the_short_way_round_is_taken_where_a_coordinate_is_periodic():
    def wave(x):
        return (x[:, 1] - 0.5 * np.sin(x[:, 0])) ** 2 + np.where(np.abs(x[:, 0] - np.pi) < 1.0, 1.0, 0.0)

    ends = [[0.5, 0.5 * np.sin(0.5)], [2 * np.pi - 0.5, -0.5 * np.sin(0.5)]]
    assert are_joined(wave, *ends, Box.make([(0, 2 * np.pi), (-1, 1)], periodic=[0]))[0]
    assert not are_joined(wave, *ends, Box.make([(0, 2 * np.pi), (-1, 1)]))[0]


def test_failed_values_are_no_path():
    with np.errstate(invalid="ignore"):
        assert not are_joined(lambda x: np.where(abs(x[:, 0]) < 0.8, np.inf, x[:, 0] ** 2), [-1, 0], [1, 0])[0]


def test_parts_of_one_mode_are_remembered():
    archive = Archive(BOX)
    for place in range(4):
        found = Found(np.zeros(2), -np.eye(2), np.zeros(2, bool), "flat", "component", 1)
        archive.add(np.full(2, 0.2 * place), 0.0, found)
    archive.join(0, 2)
    archive.join(2, 3)
    assert archive.hills[0] == archive.hills[2] == archive.hills[3] != archive.hills[1]
    archive.keep(np.array([True, True, False, True]))
    assert archive.hills[0] == archive.hills[2] != archive.hills[1]
    archive.add(np.full(2, 0.9), 0.0, found)
    assert archive.hills[3] not in archive.hills[:3]


# ---- whole searches


def banana(x):
    return 100 * (x[:, 1] - x[:, 0] ** 2) ** 2


def stiff(x):
    return 1e8 * (x[:, 1] + x[:, 0] - 0.37) ** 2 + (1.1 * x[:, 0] - x[:, 1] - 0.2) ** 2


VALLEYS = {
    "ring": (RINGS["smooth"], [(-2, 2)] * 2, 1),
    "crease": (RINGS["crease"], [(-2, 2)] * 2, 1),
    "banana": (banana, [(-2, 2), (-1, 4)], 1),
    "hyperbola": (lambda x: (x[:, 0] * x[:, 1] - 0.1) ** 2, [(-1, 1.2)] * 2, 2),
    "stiff": (stiff, [(-2, 2)] * 2, 1),
    "lines": (lines, [(-2, 1.8)] * 2, 5),
    "sine": (lambda x: (x[:, 1] - np.sin(4 * x[:, 0])) ** 2, [(-2, 2)] * 2, 1),
    "himmelblau": (himmelblau, [(-6, 6)] * 2, 4),
}


@pytest.mark.parametrize("name", VALLEYS)
def test_black_box_lists_a_bent_valley_once(name):
    function, bounds, wanted = VALLEYS[name]
    result = find_minima(function, bounds, vectorized=True, method="black-box", rng=0, maxfev=20_000)
    assert len(result.modes) == wanted
    assert result.nfev <= 20_000
