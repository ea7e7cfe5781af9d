"""Quadratic models of many local searches at once: their trust-region steps, in eigenbases, and their updates."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from allmodes.objective.bounds import Box
from allmodes.search.geometry import is_held, lengths
from allmodes.search.tolerances import TINY

Array = NDArray[np.float64]

_SECULAR_STEPS = 4  # Newton steps on the secular equation; three give a length within a few per cent


class Model(NamedTuple):
    """Quadratic models f + g s + s^T H s / 2 of n searches, without coordinates held by a bound.

    In coordinates that are held g (n, d) is zero and H (n, d, d) diagonal and negative; eigenvalues ascend. `rotated`
    is g in the eigenbasis.
    """

    g: Array
    eigenvalues: Array
    vectors: Array
    rotated: Array

    def beyond(self, errors: Array) -> Model:
        """The same without slopes along axes where they are within the errors (n,) of the gradient."""
        return self._replace(rotated=np.where(np.abs(self.rotated) > errors[:, None], self.rotated, 0.0))

    def newton(self) -> Array:
        """The step to the maximum of the model, (n, d); meaningful where the model has one."""
        return (self.vectors @ (self.rotated / np.minimum(self.eigenvalues, -TINY) * -1.0)[..., None])[..., 0]

    def promise(self) -> Array:
        """How much higher its maximum is, (n,), with every curvature taken to be downward."""
        return np.asarray(0.5 * (self.rotated**2 / np.maximum(np.abs(self.eigenvalues), TINY)).sum(axis=1))


def model(box: Box, point: Array, g: Array, H: Array) -> Model:
    """Models at points (n, d), with the coordinates held where a bound stops the ascent."""
    held = is_held(box, point, g)
    if held.any():
        g = np.where(held, 0.0, g)
        H = np.where(held[:, :, None] | held[:, None, :], 0.0, H)
        n, i = held.nonzero()
        # Held coordinates neither bend the rest nor look like a flat direction.
        H[n, i, i] = -np.maximum(np.abs(H).max(axis=(1, 2)), TINY)[n]
    eigenvalues, vectors = np.linalg.eigh(H)
    return Model(g, eigenvalues, vectors, (g[:, None, :] @ vectors)[:, 0])


def across(g: Array, H: Array, along: Array) -> tuple[Array, Array]:
    """Gradients and Hessians of n searches that may not move along unit vectors (n, d).

    In that direction they get no slope, and a downward curvature that does not look like a flat direction.
    """
    g = g - np.einsum("nd,nd->n", g, along)[:, None] * along
    both = along[:, :, None] * along[:, None, :]
    P = np.eye(g.shape[1]) - both
    size = np.maximum(np.abs(H).max(axis=(1, 2)), TINY)
    return g, P @ H @ P - size[:, None, None] * both


def step(model: Model, radius: Array) -> Array:
    """The best step within the radius (n,) for every model, (n, d)."""
    lam, rotated = model.eigenvalues, model.rotated
    s = rotated / np.maximum(-lam, TINY)
    is_far = ~((lam[:, -1] < 0.0) & (np.einsum("nd,nd->n", s, s) <= radius * radius))
    if is_far.any():
        s[is_far] = _on_sphere(lam[is_far], rotated[is_far], radius[is_far])
    return (model.vectors @ s[..., None])[..., 0]


def _on_sphere(lam: Array, rotated: Array, radius: Array) -> Array:
    """s = (mu - H)^-1 g with mu such that |s| = radius, where the maximum of the model is farther.

    By Newton's method on the secular equation 1/|s| = 1/radius, which converges monotonically from the left bound.
    """
    largest = lam[:, -1]
    mu = np.maximum(0.0, (lam + np.abs(rotated) / radius[:, None]).max(axis=1))
    mu = np.maximum(mu, largest + 1e-12 * np.abs(lam).max(axis=1) + TINY)
    for _ in range(_SECULAR_STEPS):
        gap = mu[:, None] - lam
        s = rotated / gap
        squared = np.einsum("nd,nd->n", s, s)
        slope = np.einsum("nd,nd->n", s, s / gap)
        mu = mu + np.maximum(0.0, np.sqrt(squared) / radius - 1.0) * squared / np.maximum(slope, TINY)
    s = rotated / (mu[:, None] - lam)
    length = np.sqrt(np.einsum("nd,nd->n", s, s))
    s *= np.minimum(1.0, radius / np.maximum(length, TINY))[:, None]
    # The hard case, a saddle seen along its ridge: what is missing in length goes along the steepest upward curve.
    is_hard = (length < 0.8 * radius) & (largest > 0.0)
    missing = np.sqrt(np.maximum(radius**2 - length**2, 0.0))
    s[:, -1] += np.where(is_hard, np.where(rotated[:, -1] < 0.0, -missing, missing), 0.0)
    return s


def gain(g: Array, H: Array, s: Array) -> Array:
    """g s + s^T H s / 2."""
    return np.einsum("nd,nd->n", g + 0.5 * (H @ s[..., None])[..., 0], s)


def updated(H: Array, s: Array, change: Array) -> Array:
    """Models H after steps s that changed the gradient by `change`.

    By Broyden, Fletcher, Goldfarb and Shanno's update where the function is concave along s, which keeps a model with a
    maximum; by the symmetric one of rank one elsewhere, skipped where it would blow up. Young models are not flattened
    in all directions at once: steps become longer, and leave small basins.
    """
    Hs = (H @ s[..., None])[..., 0]
    bend, seen = -np.einsum("nd,nd->n", s, Hs), -np.einsum("nd,nd->n", s, change)
    is_concave = (seen > 1e-8 * lengths(s) * lengths(change)) & (bend > 1e-14 * lengths(s) * lengths(Hs))
    old, new = (np.where(is_concave, 1.0 / np.where(is_concave, a, 1.0), 0.0) for a in (bend, seen))
    concave = H + _outer(old, Hs) - _outer(new, change)
    if is_concave.all():
        return concave
    residual = change - Hs
    along = np.einsum("nd,nd->n", residual, s)
    is_fine = np.abs(along) > 1e-8 * lengths(residual) * lengths(s)
    other = H + _outer(np.where(is_fine, 1.0 / np.where(along == 0.0, 1.0, along), 0.0), residual)
    return np.where(is_concave[:, None, None], concave, other)


def updated_part(S: Array, s: Array, change: Array, whole: Array) -> Array:
    """Parts S of models, after steps s that changed their part of the gradient by `change`, and all of it by `whole`.

    By Davidon, Fletcher and Powell's update in the metric of the whole Hessian. S is shrunk first, where it says more
    than was seen: residuals get smaller, and with them this part [Dennis, Gay and Welsch, 1981].
    """
    bend, seen = (np.abs(np.einsum("nd,nd->n", s, a)) for a in ((S @ s[..., None])[..., 0], change))
    S = np.minimum(1.0, seen / np.maximum(bend, TINY))[:, None, None] * S
    along = np.einsum("nd,nd->n", whole, s)
    is_fine = np.abs(along) > 1e-8 * lengths(whole) * lengths(s)
    v = whole / np.where(is_fine, along, np.inf)[:, None]
    wrong = change - (S @ s[..., None])[..., 0]
    both = wrong[:, :, None] * v[:, None, :]
    return S + both + both.mT - _outer(np.einsum("nd,nd->n", s, wrong), v)


def _outer(factor: Array, v: Array) -> Array:
    """factor v v^T, for factors (n,) and vectors (n, d)."""
    return (factor[:, None] * v)[:, :, None] * v[:, None, :]


def miss(H: Array, s: Array, change: Array) -> Array:
    """How much of a change of gradient over steps s models H miss, (n,), in their own metrics."""
    eigenvalues, vectors = np.linalg.eigh(H)
    wrong, seen = change - (H @ s[..., None])[..., 0], change
    width = np.sqrt(np.maximum(np.abs(eigenvalues), TINY))
    wrong, seen = (lengths((a[:, None] @ vectors)[:, 0] / width) for a in (wrong, seen))
    return np.asarray(wrong / np.maximum(seen, TINY))


def match_value(H: Array, s: Array, missing: Array) -> Array:
    """The smallest change of models H along s that raises their value at s by `missing`."""
    squared = np.einsum("nd,nd->n", s, s)
    return H + (2.0 * missing / np.maximum(squared, TINY) ** 2)[:, None, None] * s[:, :, None] * s[:, None, :]
