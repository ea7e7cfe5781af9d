"""Problems from applications: derivatives, known optima, and the symmetries that their docstrings state."""

import json
import re
from itertools import permutations, product
from pathlib import Path

import numpy as np
import pytest

from allmodes import find_maxima
from allmodes.objective import GRADIENT, VALUE
from allmodes.problems import applications
from allmodes.problems.applications import APPLICATIONS
from allmodes.problems.named import NAMED, named

PROBLEMS = {name: make() for name, make in APPLICATIONS.items()}
FOLDER = Path(applications.__file__).parent
every_problem = pytest.mark.parametrize("name", PROBLEMS)

# What is known: dimension, optima, global ones, those held by a bound, and the value of the global ones.
FACTS = {
    "stewart_platform": (7, 16, 16, 0, 0.0),
    "cyclohexane": (3, 16, 16, 0, 0.0),
    "propane": (5, 4, 4, 0, 0.0),
    "economics": (7, 27, 6, 15, 0.0),
    "galaxies": (8, 99, 6, 0, -139.239312531),
    "stack_loss": (4, 17, 1, 0, -41.3313054699),
    "thurber_network": (7, 16, 8, 0, -0.144949344584),
    "phase_retrieval": (10, 28, 2, 12, 0.0),
    "heptane": (4, 41, 1, 0, 1.43205487678),
    "star_dome": (21, 90, 1, 0, 0.0614763518807),
    "antenna_array": (6, 40, 1, 35, 22.796416141),
}


def held(problem):
    """Which coordinates of the modes sit at a bound, (J, d)."""
    is_held = (problem.modes == problem.bounds[:, 0]) | (problem.modes == problem.bounds[:, 1])
    is_held[:, list(problem.periodic)] = False
    return is_held


def hessians(problem):
    """Of the modes, by differences of gradients in units of the box, (J, d, d)."""
    width = np.ptp(problem.bounds, axis=1)
    rows = []
    for i, unit in enumerate(np.eye(problem.dimension)):
        step = 1e-5 * width[i] * unit
        ahead, behind = (problem.objective.evaluate(problem.modes + s * step, GRADIENT).gradient for s in (1, -1))
        rows.append((ahead - behind) * width / 2e-5)
    return np.stack(rows, axis=1)


def drawn(problem, n=40, seed=0):
    """Points of the box."""
    return np.random.default_rng(seed).uniform(*problem.bounds.T, size=(n, problem.dimension))


@every_problem
def test_gradients_are_those_of_the_function(name):
    problem = PROBLEMS[name]
    points, steps = drawn(problem), 1e-6 * np.ptp(problem.bounds, axis=1)
    gradient = problem.objective.evaluate(points, GRADIENT).gradient
    for i, unit in enumerate(np.eye(problem.dimension)):
        ahead, behind = (problem.objective.evaluate(points + s * steps[i] * unit, VALUE).value for s in (1, -1))
        scale = 1e-3 * np.abs(gradient).max(axis=1) + np.abs(gradient[:, i])
        assert (np.abs((ahead - behind) / (2.0 * steps[i]) - gradient[:, i]) < 1e-5 * scale).all()


@every_problem
def test_a_point_alone_has_the_value_it_has_among_others(name):
    objective = PROBLEMS[name].objective
    points = drawn(PROBLEMS[name], 3)
    for function in (objective.fun, objective.jac):
        assert np.allclose(function(points), np.concatenate([function(point[None]) for point in points]), rtol=1e-12)


@every_problem
def test_what_is_known_of_it(name):
    problem = PROBLEMS[name]
    d, count, global_, at_bounds, best = FACTS[name]
    assert (problem.dimension, len(problem.modes), problem.is_global.sum()) == (d, count, global_)
    assert held(problem).any(axis=1).sum() == at_bounds
    values = problem.objective.evaluate(problem.modes, VALUE).value
    assert values[problem.is_global] == pytest.approx(best, rel=1e-10, abs=1e-12)
    assert (np.diff(values) <= 1e-12).all()
    assert (values[~problem.is_global] < best - 1e-4).all()


@every_problem
def test_every_known_optimum_is_a_strict_maximum_of_the_box(name):
    problem = PROBLEMS[name]
    low, high = problem.bounds.T
    assert ((problem.modes >= low) & (problem.modes <= high)).all()
    is_held = held(problem)
    gradient = problem.objective.evaluate(problem.modes, GRADIENT).gradient * (high - low)
    outward = np.where(problem.modes == low, -gradient, gradient)
    assert (outward[is_held] > 1e-6).all()
    for slope, hessian, is_free in zip(gradient, hessians(problem), ~is_held, strict=True):
        block = hessian[np.ix_(is_free, is_free)]
        curvature = np.linalg.eigvalsh(0.5 * (block + block.T))
        assert curvature[-1] < 0.0
        newton = np.linalg.solve(block, slope[is_free])
        assert np.abs(newton).max() < 1e-8


@every_problem
def test_known_optima_are_apart(name):
    problem = PROBLEMS[name]
    apart = (problem.apart(problem.modes) / np.ptp(problem.bounds, axis=1)).max(axis=2)
    assert (apart + np.eye(len(apart))).min() > 0.01


@every_problem
def test_no_point_of_a_sample_is_better(name):
    problem = PROBLEMS[name]
    assert problem.objective.evaluate(drawn(problem, 4000, 1), VALUE).value.max() < FACTS[name][-1]


# ---- symmetries


def exchanged(x, order):
    """Components of the mixture in another order; the last logit stays 0."""
    logits = np.insert(x[:, :2], 2, 0.0, axis=1)[:, order]
    return np.concatenate([logits[:, :2] - logits[:, 2:], x[:, 2:5][:, order], x[:, 5:][:, order]], axis=1)


def rewired(x, signs, order):
    """Hidden units in another order, and with other signs."""
    units = x[:, :6].reshape(-1, 3, 2)
    return np.concatenate([(units * signs)[:, :, order].reshape(-1, 6), x[:, 6:]], axis=1)


SYMMETRIES = {
    "stewart_platform": [lambda x: x * [1, 1, 1, -1, -1, -1, -1]],
    "cyclohexane": [lambda x, order=order, sign=sign: sign * x[:, order]
                    for order in map(list, permutations(range(3))) for sign in (1, -1)],
    "galaxies": [lambda x, order=order: exchanged(x, order) for order in map(list, permutations(range(3)))],
    "thurber_network": [lambda x, signs=signs, order=order: rewired(x, signs, order)
                        for signs in product([1, -1], repeat=2) for order in ([0, 1], [1, 0])],
    "phase_retrieval": [lambda x: -x],
    "heptane": [lambda x: 2.0 * np.pi - x, lambda x: x[:, ::-1]],
}  # fmt: skip


@pytest.mark.parametrize(("name", "k"), [(name, k) for name, maps in SYMMETRIES.items() for k in range(len(maps))])
def test_symmetries_keep_the_value_and_the_list(name, k):
    problem, image = PROBLEMS[name], SYMMETRIES[name][k]
    points = drawn(problem)
    values = [problem.objective.evaluate(x, VALUE).value for x in (points, image(points))]
    np.testing.assert_allclose(*values, rtol=1e-10)
    images = image(problem.modes)
    is_inside = ((images >= problem.bounds[:, 0]) & (images <= problem.bounds[:, 1])).all(axis=1)
    assert is_inside.all()
    assert (problem.apart(images).max(axis=2).min(axis=1) < 1e-8).all()


def test_solutions_of_economics_come_in_pairs():
    problem = PROBLEMS["economics"]
    solutions = problem.modes[problem.is_global]
    images = np.column_stack([solutions[:, 4::-1], np.ones(6), solutions[:, 6]])
    images[:, :6] /= solutions[:, 5:6]
    images[:, 6] *= solutions[:, 5] ** 2
    values = problem.objective.evaluate(images, VALUE).value
    np.testing.assert_allclose(values, 0.0, atol=1e-12)
    is_inside = (np.abs(images) <= 3.0).all(axis=1)
    assert (problem.apart(images[is_inside]).max(axis=2).min(axis=1) < 1e-8).all()
    assert is_inside.sum() == 6


@pytest.mark.parametrize("name", sorted(set(PROBLEMS) - set(SYMMETRIES) - {"economics"}))
def test_without_symmetries_no_two_kinds_of_optima_have_one_value(name):
    problem = PROBLEMS[name]
    values = problem.objective.evaluate(problem.modes, VALUE).value[~problem.is_global]
    assert "no symmetries" in " ".join(APPLICATIONS[name].__doc__.split())
    assert (np.diff(values) < -1e-9).all()


# ---- the words, the list and the command


@every_problem
def test_docstrings_say_how_many_optima_and_where_it_is_from(name):
    text = " ".join(APPLICATIONS[name].__doc__.split())
    words = {4: "four", 1: "one"}
    _, count, global_, at_bounds, _ = FACTS[name]
    assert re.search(rf"\b({count}|{words.get(count)})\b", text)
    assert re.search(rf"\b({global_}|{words.get(global_)})\b", text) or "every optimum is global" in text.lower()
    assert at_bounds == 0 or "at bounds" in text
    assert re.search(r"\b(19|20)\d\d\b|NIST", text)


def test_every_problem_has_a_name_for_the_command_and_a_list_of_optima():
    assert {name.replace("_", "-") for name in PROBLEMS} <= set(NAMED)
    assert set(json.loads((FOLDER / "known.json").read_text(encoding="utf-8"))) == set(PROBLEMS) == set(FACTS)
    assert (FOLDER / "known.json").stat().st_size < 100_000
    modules = {path.stem for path in FOLDER.glob("*.py")} - {"__init__", "application"}
    assert modules == set(PROBLEMS)
    for name, problem in PROBLEMS.items():
        np.testing.assert_array_equal(named(name.replace("_", "-")).modes, problem.modes)


def test_a_periodic_problem_is_found_across_the_seam():
    problem = PROBLEMS["heptane"]
    folded = next(k for k, mode in enumerate(problem.modes) if mode[0] < np.pi - 1.0)
    turned = problem.modes[folded] + [2.0 * np.pi, 0.0, 0.0, 0.0]
    assert problem.periodic == (0, 1, 2, 3)
    assert problem.found(turned[None], 1e-6)[folded]
    assert problem.found(turned[None], 1e-6).sum() == 1


def test_a_search_finds_most_shapes_of_heptane():
    problem = PROBLEMS["heptane"]
    found = find_maxima(
        problem.objective.fun, problem.bounds, jac=problem.objective.jac, vectorized=True, periodic=problem.periodic,
        maxfev=600, rng=0,
    )  # fmt: skip
    at = problem.found(np.array([mode.x for mode in found.modes]), 1e-3)
    assert len(found.modes) == at.sum() >= 25
