"""A mixture of K components: weights, density, derivatives, draws."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from allmodes.arrays import Array, logsumexp, logsumexp_and_shares, map_leaves, namespace
from allmodes.nva.mixture.families.family import Family
from allmodes.nva.mixture.families.gaussian import Gaussian
from allmodes.nva.mixture.nearby import log_density_of_pairs, near_pairs
from allmodes.objective import Evaluation, Needs
from allmodes.storage import stored

# Numbers in one temporary array (points times components times dimensions) before the points are taken in blocks.
LARGEST_TEMPORARY = 2**21


@stored
class Mixture(NamedTuple):
    """What the next step needs: log-ratios v_k = log(pi_k / pi_K), (K,) with v_K = 0, and the components."""

    log_ratios: Array
    components: Any


class LogDensity(NamedTuple):
    """log q and the derivatives that were asked for at N points, and log q_k (K, N) if they are kept."""

    log_q: Evaluation
    log_components: Array | None


def log_weights(log_ratios: Array) -> Array:
    """log pi_k from the log-ratios, finite also where pi_k itself underflows."""
    xp = namespace(log_ratios)
    shifted = log_ratios - log_ratios.max()
    return shifted - xp.log(xp.exp(shifted).sum())


def log_density(
    family: Family, mixture: Mixture, points: Array, needs: Needs, *, keeps_components: bool = True
) -> LogDensity:
    """log q at points (N, d), with its gradient and Hessian as needed.

    g = grad log q = sum_k r_k s_k and hess log q = sum_k r_k ((s_k - g)(s_k - g)^T - S_k), where r_k are the
    responsibilities and s_k = grad log q_k. (The paper subtracts g g^T at the end; centring first is the same, and does
    not cancel far from the components.) The Hessian comes in the blocks of the covariance structure. Of many Gaussian
    components, pairs that are too far apart to matter are left out, unless all log q_k are to be kept.

    Paper: prop:grad_hess_logmixture
    """
    N, d = points.shape
    log_pi = log_weights(mixture.log_ratios)[:, None]
    if not keeps_components and isinstance(points, np.ndarray) and isinstance(family, Gaussian):
        pairs = near_pairs(family, mixture.components, points, log_pi[:, 0])
        if pairs is not None:
            of_pairs = log_density_of_pairs(family, mixture.components, points, log_pi[:, 0], pairs, needs)
            return LogDensity(of_pairs, None)
    S = _precisions(family, mixture) if "hessian" in needs else None

    def density(block: Array) -> LogDensity:
        found = _log_density(family, mixture.components, block, needs, log_pi, S)
        return found if keeps_components else found._replace(log_components=None)

    size = max(1, LARGEST_TEMPORARY // (len(log_pi) * d))
    if size >= N:
        return density(points)
    # Many pairs of points and components: memory stays bounded, and temporary arrays are used again.
    xp = namespace(points)
    padding = xp.broadcast_to(points[:1], (-N % size, d))
    padded = xp.concat([points, padding]).reshape(-1, size, d)
    blocks = _map_blocks(density, padded)
    log_q = map_leaves(lambda part: part.reshape(-1, *part.shape[2:])[:N], blocks.log_q)
    if blocks.log_components is None:
        return LogDensity(log_q, None)
    return LogDensity(log_q, xp.moveaxis(blocks.log_components, 1, 0).reshape(len(log_pi), -1)[:, :N])


def _map_blocks(function: Callable[[Array], LogDensity], blocks: Array) -> Any:
    """The function of every block, stacked: a loop in NumPy, a scan in JAX."""
    if isinstance(blocks, np.ndarray):
        return map_leaves(lambda *parts: np.stack(parts), *map(function, blocks))
    import jax

    return jax.lax.map(function, blocks)


def _precisions(family: Family, mixture: Mixture) -> Array:
    assert isinstance(family, Gaussian)  # Algorithm refuses derivatives for other families
    return family.structure.precision(mixture.components.factors)


def _log_density(
    family: Family, components: Any, points: Array, needs: Needs, log_pi: Array, S: Array | None
) -> LogDensity:
    """log_density at a block of points, given log pi_k (K, 1) and the precisions S_k if Hessians are needed."""
    if not needs:
        log_components = family.log_components(components, points)
        return LogDensity(Evaluation(logsumexp(log_pi + log_components)), log_components)
    assert isinstance(family, Gaussian)  # Algorithm refuses derivatives for other families
    log_components, pull = family.log_components_and_pulls(components, points)  # -s
    log_q, r = logsumexp_and_shares(log_pi + log_components)
    # (K, N, d) seen as N matrices (K, d): the sums over k are products of matrices
    mean_pull = (r.T[:, None, :] @ pull.swapaxes(0, 1))[:, 0]
    hessian = None
    if S is not None:
        structure = family.structure
        pull -= mean_pull  # large and not needed again: in place under NumPy
        pull *= namespace(r).sqrt(r)[..., None]
        centred = pull.swapaxes(0, 1)
        spread = structure.gram(centred, centred)
        hessian = spread - (r.T @ S.reshape(len(S), -1)).reshape(spread.shape)
    return LogDensity(Evaluation(log_q, -mean_pull, hessian), log_components)


def responsibilities(family: Family, mixture: Mixture, points: Array) -> Array:
    """r_k(xi_n) = pi_k q_k(xi_n) / q(xi_n), as (K, N).

    Paper: prop:grad_hess_logmixture
    """
    log_joint = log_weights(mixture.log_ratios)[:, None] + family.log_components(mixture.components, points)
    return logsumexp_and_shares(log_joint)[1]


class SharedNoise(NamedTuple):
    """Noise for draws from the whole mixture: one uniform per point to choose its component, and the family's."""

    choice: Array
    within: Any


def noise(family: Family, rng: np.random.Generator, N: int, d: int) -> SharedNoise:
    """Noise for N draws from the mixture."""
    return SharedNoise(rng.random(N), family.noise(rng, (N, 1), d))


def sample(family: Family, mixture: Mixture, drawn: SharedNoise) -> Array:
    """Points (N, d) from the mixture.

    Paper: eq:mcef_gaussian_mixture
    """
    xp = namespace(mixture.log_ratios)
    cumulative = xp.cumulative_sum(xp.exp(log_weights(mixture.log_ratios)))
    chosen = xp.searchsorted(cumulative[:-1], drawn.choice, side="right")
    components = map_leaves(lambda leaf: xp.take(leaf, chosen, axis=0), mixture.components)
    return family.sample(components, drawn.within)[0][:, 0]
