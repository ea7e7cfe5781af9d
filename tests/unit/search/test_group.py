"""Symmetries that the user states: one mode for all its images."""

import numpy as np
import pytest

from allmodes import ModeFinder, find_fits, find_maxima, find_minima
from allmodes.objective.bounds import Box
from allmodes.search.archive import Archive, Frozen
from allmodes.search.context import Context
from allmodes.search.group import Group, closure
from allmodes.search.orbits import add_images, change, listed
from allmodes.search.symmetry_given import group_of

BOX = [(-2, 2), (-2, 2)]
BOTH = {"exchange": [0, 1], "sign": [0, 1]}


def four_wells(x):
    """Wells at (1, 1) and (-1, -1), and poorer ones at (0.7746, -0.7746) and its mirror image."""
    return (x[0] ** 2 - 1) ** 2 + (x[1] ** 2 - 1) ** 2 + 0.5 * (x[0] * x[1] - 1) ** 2


def gradient(x):
    cross = x[0] * x[1] - 1
    return np.array([4 * x[0] * (x[0] ** 2 - 1) + cross * x[1], 4 * x[1] * (x[1] ** 2 - 1) + cross * x[0]])


@pytest.mark.parametrize(
    ("symmetry", "wanted"),
    [
        (None, [([-1, -1], 1), ([1, 1], 1), ([-0.7746, 0.7746], 1), ([0.7746, -0.7746], 1)]),
        ([0, 1], [([-1, -1], 1), ([1, 1], 1), ([-0.7746, 0.7746], 2)]),
        ([["x0"], ["x1"]], [([-1, -1], 1), ([1, 1], 1), ([-0.7746, 0.7746], 2)]),
        ({"sign": [0, 1]}, [([1, 1], 2), ([0.7746, -0.7746], 2)]),
        (BOTH, [([1, 1], 2), ([0.7746, -0.7746], 2)]),
        (lambda x: np.sort(x)[::-1], [([-1, -1], 1), ([1, 1], 1), ([0.7746, -0.7746], 2)]),
        (lambda x: x if x[0] + x[1] <= 0 else -x, [([-1, -1], 2), (None, 2)]),
    ],
)
@pytest.mark.parametrize("jac", [None, gradient])
def test_one_mode_for_all_its_images(symmetry, wanted, jac):
    modes = find_minima(four_wells, BOX, jac=jac, symmetry=symmetry, rng=0).modes
    found = sorted(modes, key=lambda mode: (round(mode.fun, 6), *mode.x))
    assert [mode.multiplicity for mode in found] == [multiplicity for _, multiplicity in wanted]
    for mode, (x, _) in zip(found, wanted, strict=True):
        if x is not None:
            np.testing.assert_allclose(mode.x, x, atol=1e-3)
    np.testing.assert_allclose(sum(mode.weight for mode in modes), 1.0)


def test_weights_and_coverage_count_the_orbit():
    """One well on the mirror, and two that are images and as good: two thirds of the weight."""

    def wells(x):
        return -sum(np.exp(-20 * ((x[0] - a) ** 2 + (x[1] - b) ** 2)) for a, b in ((1, -1), (-1, 1), (1.2, 1.2)))

    result = find_minima(wells, BOX, symmetry=[0, 1], rng=1)
    assert sorted((mode.multiplicity, round(mode.weight, 2)) for mode in result.modes) == [(1, 0.33), (2, 0.67)]
    assert len(result.coverage.counts) == 2
    assert sum(result.coverage.counts) == result.coverage.searches
    assert "multiplicity" not in str(find_minima(wells, BOX, rng=1))
    assert "images" in str(result)


def test_launches_are_recognised_by_images():
    plain, told = (find_minima(four_wells, BOX, symmetry=each, method="local", rng=0) for each in (None, BOTH))
    assert told.nfev < plain.nfev


def test_maxima_numbers_of_modes_and_saving(tmp_path):
    up = find_maxima(lambda x: -four_wells(x), BOX, symmetry=BOTH, rng=0)
    finder = ModeFinder(BOX, symmetry=BOTH, rng=0)
    while not finder.stop():
        x = finder.ask()
        finder.tell(x, [four_wells(each) for each in x])
        finder.save(tmp_path / "search")
        finder = ModeFinder.load(tmp_path / "search")
        if finder.nfev > 200:
            break
    while not finder.stop():
        x = finder.ask()
        finder.tell(x, [four_wells(each) for each in x])
    assert [mode.x.tolist() for mode in up.modes] == [mode.x.tolist() for mode in finder.result.modes]
    assert finder.modes_found == 2
    assert len(find_minima(four_wells, BOX, symmetry=BOTH, n_modes=2, rng=0).modes) == 2
    assert len(find_minima(four_wells, BOX, symmetry=BOTH, target="global", rng=0).modes) == 1


def test_two_rates_that_swap_names():
    t = np.linspace(0, 3, 20)
    data = np.exp(-0.5 * t) + np.exp(-2.0 * t)
    fits = find_fits(
        lambda k: np.exp(-k[0] * t) + np.exp(-k[1] * t) - data, [(0.01, 10)] * 2, symmetry=[0, 1], scale="log", rng=0
    )
    (mode,) = fits.modes
    np.testing.assert_allclose(mode.x, [0.5, 2.0], rtol=1e-4)
    assert (mode.multiplicity, mode.weight) == (2, 1.0)


@pytest.mark.parametrize(
    ("symmetry", "words"),
    [
        ({"sign": [0]}, r"change of sign of x0, which fun does not have: its value is .* and .* at the image"),
        ([[0, 2], [1, 3]], "symmetry has 2; wanted blocks"),
        ([[0, 1], [1, 0]], "in two of them"),
        ({"signs": [0]}, "symmetry has the keys"),
        ([], "an empty list"),
        (lambda x: x, "returns every point as it is"),
        (lambda x: x[:1], "returned shape"),
        (lambda x: np.sort(x) + 3, "outside the bounds"),
        (lambda x: np.abs(x) * 0 + 1, "not one to one"),
    ],
)
def test_wrong_symmetries_are_refused(symmetry, words):
    with pytest.raises(ValueError, match=words):
        find_minima(lambda x: four_wells(x) + x[0], BOX, symmetry=symmetry, rng=0)


def test_the_box_must_be_mapped_to_itself():
    with pytest.raises(ValueError, match=r"does not map the box to itself: bounds of x0 are \(-2, 2\) and those of x1"):
        find_minima(four_wells, [(-2, 2), (-1, 2)], symmetry=[0, 1])
    with pytest.raises(ValueError, match="does not map the box to itself"):
        find_minima(four_wells, [(-2, 1), (-2, 2)], symmetry={"sign": [0]})
    with pytest.raises(ValueError, match="noisy"):
        find_minima(four_wells, BOX, symmetry=[0, 1], noise=0.1)
    with pytest.raises(ValueError, match="too many to keep"):
        find_minima(lambda x: 0.0, [(0, 1)] * 7, symmetry=list(range(7)))


def test_groups_and_orbits():
    swap = np.array([[0.0, 1.0], [1.0, 0.0]]), np.zeros(2)
    assert len(closure([swap, (-np.eye(2), np.zeros(2))], 2)) == 4
    box = Box.make([(0, 10), (0, 10)])
    group = group_of([0, 1], box)
    assert isinstance(group, Group)
    np.testing.assert_allclose(group.images(np.array([0.1, 0.7])), [[0.1, 0.7], [0.7, 0.1]])
    np.testing.assert_allclose(group.back(1, np.array([0.7, 0.1])), [0.1, 0.7])
    assert len(group.distinct(box, np.array([0.3, 0.3]), 1e-5)[0]) == 1
    context = Context(box, Archive(box), np.random.default_rng(0), group=group)
    record = Frozen(np.array([1.0, 0.0]), -np.diag([1.0, 2.0]), np.array([True, False]), "boundary", "differences", 1)
    context.archive.add(np.array([0.9, 0.2]), 1.0, record)
    add_images(context, 0)
    archive = context.archive
    np.testing.assert_array_equal(archive.records[1].active, [False, True])
    np.testing.assert_allclose(archive.records[1].hessian, -np.diag([2.0, 1.0]))
    archive.hit(1)
    assert archive.hits.tolist() == [1, 0]
    assert archive.own.tolist() == [0]
    assert listed(context, archive.orbit(0)) == 1  # in ascending order
    change(archive, group, 1, np.array([0.25, 0.9]), 2.0, archive.records[1])
    np.testing.assert_allclose(archive.means, [[0.9, 0.25], [0.25, 0.9]])
    np.testing.assert_allclose(archive.records[0].hessian, -np.diag([1.0, 2.0]))


def test_a_symmetry_that_fails_at_a_mode_is_noticed_and_no_image_is_listed():
    """The first look compares one place, far from a well that has no image."""

    def well(x):
        return 30 * np.exp(-20 * ((x[0] - 2) ** 2 + (x[1] + 3) ** 2))

    def f(x):
        return sum((t - 1) ** 2 * (t + 2) ** 2 for t in x) + 0.3 * x[0] * x[1] - well(x)

    result = find_minima(f, [(-4, 4)] * 2, symmetry=[0, 1], rng=0, maxfev=2500)
    assert "fun does not have" in result.message
    assert "without it" in result.message
    assert all(abs(f(mode.x) - mode.fun) < 1e-9 for mode in result.modes)
    wells = [mode for mode in result.modes if well(mode.x) > 1]
    assert [mode.multiplicity for mode in wells] == [1]
    assert result.modes[0].fun == pytest.approx(-0.6124, abs=1e-3) or result.modes[0] is wells[0]


def test_signs_on_a_mirror_and_of_several_coordinates():
    def f(x):
        return x[0] ** 2 + (x[1] ** 2 - 1) ** 2

    (mode,) = find_minima(f, [(-4, 4)] * 2, symmetry={"sign": [[0], [1]]}, rng=0, maxfev=1500).modes
    assert mode.multiplicity == 2
    assert np.allclose(mode.x, [0.0, 1.0], atol=1e-5)

    def g(x):
        return (x[0] ** 2 - 1) ** 2 + (x[1] ** 2 - 1) ** 2

    (mode,) = find_minima(g, [(-4, 4)] * 2, symmetry={"sign": [[0], [1]]}, rng=0, maxfev=1500).modes
    assert mode.multiplicity == 4
    assert np.allclose(mode.x, [1.0, 1.0], atol=1e-5)


def test_a_function_that_raises_is_a_value_error_that_names_the_point():
    with pytest.raises(ValueError, match="symmetry raised ZeroDivisionError at x ="):
        find_minima(lambda x: x[0] ** 2, [(-1, 1)], symmetry=lambda x: 1 / 0, rng=0)
