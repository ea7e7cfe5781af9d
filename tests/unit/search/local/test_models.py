"""Steps of quadratic models against brute force, and the updates of models."""

import numpy as np
import pytest
from scipy.optimize import brentq

from allmodes.objective.bounds import Box
from allmodes.search.searchers.local import models as quadratic


def random_models(n, d, seed, shift=0.0):
    """Random quadratic models: gradients (n, d) and symmetric matrices (n, d, d)."""
    rng = np.random.default_rng(seed)
    g, H = rng.normal(size=(n, d)), rng.normal(size=(n, d, d))
    return g, H + H.mT + shift * np.eye(d)


def free_model(g, H):
    return quadratic.model(Box.make([(0, 1)] * g.shape[1]), np.full_like(g, 0.5), g, H)  # no bound is near


def best_gain(g, H, radius):
    """The largest rise of one model within the radius, from the secular equation to full accuracy."""
    lam, V = np.linalg.eigh(H)
    c = V.T @ g

    def length(mu):
        return np.sqrt(((c / (mu - lam)) ** 2).sum())

    if lam[-1] < 0 and length(0.0) <= radius:
        s = c / -lam
    else:
        low = max(0.0, lam[-1]) + 1e-13
        s = c / (brentq(lambda mu: length(mu) - radius, low, low + 1e6 + np.abs(c).sum() / radius) - lam)
    return c @ s + 0.5 * (lam * s**2).sum()


@pytest.mark.parametrize("d", [1, 2, 7, 30])
@pytest.mark.parametrize("shift", [-8.0, 0.0, 8.0])
@pytest.mark.parametrize("radius", [1e-6, 0.1, 3.0])
def test_a_step_stays_in_its_radius_and_is_nearly_the_best_there(d, shift, radius):
    g, H = random_models(50, d, seed=d, shift=shift)
    s = quadratic.step(free_model(g, H), np.full(50, radius))
    assert (np.linalg.norm(s, axis=1) <= radius * (1 + 1e-9)).all()
    best = np.array([best_gain(*one, radius) for one in zip(g, H, strict=True)])
    assert (quadratic.gain(g, H, s) >= 0.999 * best).all()


def test_each_step_keeps_to_its_own_radius():
    g, H = random_models(40, 3, seed=1)
    radius = np.geomspace(1e-8, 1.0, 40)
    lengths = np.linalg.norm(quadratic.step(free_model(g, H), radius), axis=1)
    assert (lengths <= radius * (1 + 1e-9)).all()
    assert (lengths[:20] > 0.9 * radius[:20]).all()  # the models have no maximum that close


def test_a_maximum_within_the_radius_is_reached_exactly():
    g, H = random_models(30, 4, seed=2, shift=-12.0)
    assert (np.linalg.eigvalsh(H) < 0).all()
    newton = -np.linalg.solve(H, g[..., None])[..., 0]
    model = free_model(g, H)
    np.testing.assert_allclose(quadratic.step(model, np.full(30, 100.0)), newton, rtol=1e-10)
    np.testing.assert_allclose(model.newton(), newton, rtol=1e-10)


@pytest.mark.parametrize("sideways", [0.0, 1e-14, 0.3])
def test_a_saddle_is_left_along_its_ridge(sideways):
    """The hard case: the gradient has no part along the only direction that curves up."""
    H, g = np.diag([-2.0, 3.0])[None], np.array([[sideways, 0.0]])
    s = quadratic.step(free_model(g, H), np.array([0.5]))
    assert np.linalg.norm(s) == pytest.approx(0.5, rel=0.05)
    assert quadratic.gain(g, H, s)[0] > 0.9 * 0.5 * 3.0 * 0.25


@pytest.mark.parametrize("slope", [1e-3, 1e-20])
@pytest.mark.parametrize("sign", [-1.0, 1.0])
def test_a_saddle_is_left_on_the_side_that_rises(slope, sign):
    g, H = np.array([[0.0, sign * slope]]), np.diag([-1.0, 1.0])[None]
    s = quadratic.step(free_model(g, H), np.array([0.2]))[0] @ np.sign(g[0])
    assert s == pytest.approx(0.2, rel=0.05)


def test_coordinates_held_by_a_bound_do_not_move():
    g = np.array([[-1.0, 0.5, 2.0], [1.0, 0.5, 2.0]])
    H = np.broadcast_to(np.array([[-4.0, 1.0, 1.0], [1.0, -3.0, 1.0], [1.0, 1.0, -5.0]]), (2, 3, 3))
    point = np.array([[0.0, 0.4, 1.0], [0.0, 0.4, 1.0]])
    model = quadratic.model(Box.make([(0, 1)] * 3), point, g, H)
    held = np.array([[True, False, True], [False, False, True]])
    s = quadratic.step(model, np.full(2, 10.0))
    assert (s[held] == 0.0).all()
    np.testing.assert_allclose(s[0, 1], 0.5 / 3.0)
    np.testing.assert_allclose(s[1, :2], np.linalg.solve(-H[0, :2, :2], g[1, :2]))
    assert (model.newton()[held] == 0.0).all()
    assert (model.eigenvalues[:, -1] < 0).all()


def test_a_coordinate_at_a_bound_that_pulls_inward_is_free():
    model = quadratic.model(Box.make([(0, 1)]), np.array([[0.0]]), np.array([[1.0]]), -np.ones((1, 1, 1)))
    assert model.g[0, 0] == 1.0
    assert quadratic.step(model, np.array([0.3]))[0, 0] == pytest.approx(0.3)


def test_everything_held_is_no_step():
    model = quadratic.model(Box.make([(0, 1)] * 2), np.ones((1, 2)), np.ones((1, 2)), np.ones((1, 2, 2)))
    assert (quadratic.step(model, np.array([0.3])) == 0.0).all()


def test_gain_is_the_rise_of_the_quadratic():
    g, H = random_models(6, 3, seed=4)
    s = np.random.default_rng(5).normal(size=(6, 3))
    plain = [a @ b + 0.5 * b @ M @ b for a, M, b in zip(g, H, s, strict=True)]
    np.testing.assert_allclose(quadratic.gain(g, H, s), plain)


def image(H, s):
    return (H @ s[..., None])[..., 0]


@pytest.mark.parametrize("shift", [0.0, -8.0])
def test_updates_reproduce_the_change_of_gradient(shift):
    """Of functions that are concave along some of the steps, and of models that have a maximum or not."""
    _, H = random_models(20, 4, seed=6, shift=shift)
    s, change = np.random.default_rng(7).normal(size=(2, 20, 4))
    new = quadratic.updated(H, s, change)
    np.testing.assert_allclose(image(new, s), change, rtol=1e-8, atol=1e-8)
    np.testing.assert_allclose(new, new.mT)
    assert 0 < (np.einsum("nd,nd->n", s, change) < 0.0).sum() < 20


def test_a_model_with_a_maximum_keeps_one_where_the_function_is_concave():
    """Rank-one updates lose it in half of these cases: what is learnt of other directions contradicts the model."""
    H, true = -np.broadcast_to(np.eye(4), (50, 4, 4)), -np.diag([1e-3, 0.1, 3.0, 100.0])
    rng = np.random.default_rng(8)
    for _ in range(6):
        s = rng.normal(size=(50, 4))
        H = quadratic.updated(H, s, image(true, s))
        assert (np.linalg.eigvalsh(H) < 0.0).all()
    rest = np.broadcast_to(-3.0 * np.eye(4), (50, 4, 4))
    s = rng.normal(size=(50, 4))
    residual = image(true, s) - image(rest, s)
    rank_one = rest + residual[:, :, None] * residual[:, None] / np.einsum("nd,nd->n", residual, s)[:, None, None]
    assert (np.linalg.eigvalsh(rank_one) > 0.0).any(), "the control has none"
    assert (np.linalg.eigvalsh(quadratic.updated(rest, s, image(true, s))) < 0.0).all()


def test_an_update_where_the_function_is_concave_is_that_of_broyden_fletcher_goldfarb_and_shanno():
    """Along the directions that neither the step nor its image know, nothing changes."""
    _, H = random_models(10, 5, seed=12, shift=-12.0)
    _, true = random_models(10, 5, seed=13, shift=-12.0)
    s = np.random.default_rng(14).normal(size=(10, 5))
    y, z = image(true, s), image(H, s)
    plain = [M - np.outer(b, b) / (a @ b) + np.outer(c, c) / (a @ c) for M, a, b, c in zip(H, s, z, y, strict=True)]
    np.testing.assert_allclose(quadratic.updated(H, s, y), plain, rtol=1e-10, atol=1e-10)


def test_updates_learn_a_quadratic_without_a_maximum_in_d_steps():
    """They are of rank one where the function is convex, which needs no lines."""
    _, true = random_models(1, 4, seed=8, shift=12.0)
    assert np.linalg.eigvalsh(true).min() > 0.0
    H = np.zeros((1, 4, 4))
    for s in np.random.default_rng(9).normal(size=(4, 1, 4)):
        H = quadratic.updated(H, s, image(true, s))
    np.testing.assert_allclose(H, true, atol=1e-8)


def test_an_update_that_would_blow_up_is_skipped():
    H = np.eye(2)[None]
    s, residual = np.array([[1.0, 0.0]]), np.array([[0.0, 1.0]])
    np.testing.assert_array_equal(quadratic.updated(H, s, s + residual), H)
    np.testing.assert_array_equal(quadratic.updated(H, s, s), H)  # nothing to learn
    np.testing.assert_array_equal(quadratic.updated(H, 0 * s, 0 * s), H)
    np.testing.assert_allclose(quadratic.updated(-H, s, -s), -H)
    sideways = quadratic.updated(-H, s, np.array([[-1e-12, 1.0]]))  # concave, but for rounding
    assert np.abs(sideways).max() < 10.0


def test_matching_a_value_changes_the_model_along_the_step_alone():
    g, H = random_models(10, 3, seed=10)
    s, missing = np.random.default_rng(11).normal(size=(10, 3)), np.linspace(-2, 2, 10)
    new = quadratic.match_value(H, s, missing)
    np.testing.assert_allclose(quadratic.gain(g, new, s), quadratic.gain(g, H, s) + missing)
    across = np.linalg.svd(s[:, None, :])[2][:, 1:]  # (10, 2, 3), orthogonal to s
    np.testing.assert_allclose(across @ new @ across.mT, across @ H @ across.mT)
    np.testing.assert_allclose(new, new.mT)


def test_a_search_that_may_not_move_along_a_direction_steps_across_it():
    g, H = random_models(6, 4, seed=9)
    along = np.random.default_rng(10).normal(size=(6, 4))
    along /= np.linalg.norm(along, axis=1, keepdims=True)
    steps = quadratic.step(free_model(*quadratic.across(g, H, along)), np.full(6, 0.3))
    assert np.linalg.norm(steps, axis=1).min() > 0.01
    np.testing.assert_allclose(np.einsum("nd,nd->n", steps, along), 0.0, atol=1e-12)
    freely = quadratic.step(free_model(g, H), np.full(6, 0.3))
    assert np.abs(np.einsum("nd,nd->n", freely, along)).max() > 0.01, "the control moves along it"


class TestUpdatedPart:
    """What a model of Gauss and Newton leaves out, learnt from steps."""

    def test_the_change_that_was_seen_is_what_it_says_now(self):
        rng = np.random.default_rng(0)
        S = rng.standard_normal((4, 3, 3))
        S = S + S.mT
        s, change, whole = rng.standard_normal((3, 4, 3))
        learnt = quadratic.updated_part(S, s, change, whole)
        assert np.einsum("nij,nj->ni", learnt, s) == pytest.approx(change)
        assert learnt == pytest.approx(learnt.mT)

    def test_it_shrinks_with_the_residuals(self):
        S, s = np.eye(2)[None], np.array([[1.0, 0.0]])
        learnt = quadratic.updated_part(S, s, 0.01 * s, s)
        assert learnt[0, 1, 1] == pytest.approx(0.01)

    def test_a_step_along_which_nothing_changes_teaches_nothing(self):
        S = np.eye(2)[None]
        learnt = quadratic.updated_part(S, np.array([[1.0, 0.0]]), np.array([[1.0, 0.0]]), np.array([[0.0, 1.0]]))
        assert np.isfinite(learnt).all()
        assert learnt == pytest.approx(S)


def test_slopes_within_their_error_are_none():
    model = quadratic.Model(np.ones((1, 2)), -np.ones((1, 2)), np.eye(2)[None], np.array([[1e-9, 1.0]]))
    assert model.beyond(np.array([1e-8])).newton().tolist() == [[0.0, 1.0]]
