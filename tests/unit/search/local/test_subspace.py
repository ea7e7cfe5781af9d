"""Models in the space of the last steps are the dense ones that the same updates make."""

import numpy as np

from allmodes.objective.bounds import Box
from allmodes.search.searchers.local import models
from allmodes.search.searchers.local.subspace import estimate, learnt

RNG = np.random.default_rng(0)
N, M, D = 3, 4, 12
TRUE = -np.diag(np.linspace(1.0, 9.0, D))
ALL = np.ones((N, D), bool)


def pairs(free=ALL):
    steps = RNG.standard_normal((N, M, D)) * free[:, None]
    steps[0, :2] = 0.0  # this one has made two steps only
    changes = steps @ TRUE
    changes[1, 2] = -changes[1, 2]  # and this one has met a saddle
    return steps, changes


def dense(steps, changes, base):
    H = -base[:, None, None] * np.eye(D)
    for i in range(M):
        known = steps[:, i].any(axis=1)
        H[known] = models.updated(H[known], steps[known, i], changes[known, i])
    return H


def test_models_are_those_of_dense_updates():
    steps, changes = pairs()
    g, base = RNG.standard_normal((N, D)), np.array([2.0, 3.0, 4.0])
    H, space = dense(steps, changes, base), learnt(g, steps, changes, base, ALL)
    for s in RNG.standard_normal((4, N, D)):
        np.testing.assert_allclose(space.bend(s), (H @ s[..., None])[..., 0], atol=1e-9)
    whole = models.model(Box.make([(0.0, 1.0)] * D), np.full((N, D), 0.5), g, H)
    for radius in (0.05, 100.0):
        expected = models.step(whole, np.full(N, radius))
        np.testing.assert_allclose(models.step(space.model, np.full(N, radius)), expected, atol=1e-6)
    is_concave = np.array([True, False, True])
    np.testing.assert_allclose(space.model.newton()[is_concave], whole.newton()[is_concave], atol=1e-8)
    np.testing.assert_allclose(space.model.promise(), whole.promise(), atol=1e-8)


def test_held_coordinates_do_not_move():
    free = np.tile(np.arange(D) % 3 > 0, (N, 1))
    space = learnt(RNG.standard_normal((N, D)), *pairs(), np.ones(N), free)
    np.testing.assert_allclose(models.step(space.model, np.ones(N))[~free], 0.0, atol=1e-12)


def test_scaled_coordinates_make_the_model_round():
    steps, changes = pairs()
    changes[1, 2] = -changes[1, 2]
    space = learnt(RNG.standard_normal((N, D)), steps, changes, np.full(N, 2.0), ALL)
    vectors = RNG.standard_normal((N, 5, D))
    there = space.scaled(vectors, -0.5)
    bent = np.stack([space.bend(there[:, i]) for i in range(5)], axis=1)
    np.testing.assert_allclose(space.scaled(bent, -0.5), -vectors, atol=1e-9)
    np.testing.assert_allclose(space.scaled(there, 0.5), vectors, atol=1e-9)


def test_what_was_learnt_is_kept_as_an_estimate():
    steps, changes = pairs()
    base = np.full(N, 2.0)
    space = learnt(np.zeros((N, D)), steps, changes, base, ALL)
    H = dense(steps, changes, base)
    for i in range(N):
        np.testing.assert_allclose(np.asarray(estimate(space.of(i), 2.0)), H[i], atol=1e-9)
    other = np.asarray(estimate(space.of(0), 5.0))
    across = np.linalg.svd(np.concatenate([steps[0], changes[0]]))[2][-1]
    np.testing.assert_allclose(other @ across, -5.0 * across, atol=1e-9)
