"""Algorithms 2 and 3 of the paper as plain loops in the paper's own symbols, to be held beside the paper.

It shares nothing with the library: precision matrices S_k are kept as they are and inverted outright, sums over k and b
are sums over k and b. Where the paper has a slip, the corrected formula stands here and its docstring says so.

Draws are arguments. A Gaussian point is xi = mu + A z with z standard normal and A upper triangular, A A^T = S^-1: any
such A gives the same law, and the upper triangular one is the factor that the library keeps, so that equal z give equal
points.

    nva_gm_step(l, mu, S, v, z, omega, rho)     one iteration of Algorithm 2 with z (K, B, d): the next mu, S, v
    nva_gm(l, mu, S, pi, z, omega, rho)         all T of them, with z (T, K, B, d)

Both take Parts: Hessian estimates and the iBLR rule unless told otherwise, Algorithm 3 with G_mu_fs, G_Sigma_fs and u.
Algorithms A and 1, for any exponential family, are in transcript_families.py.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np


class Function(NamedTuple):
    """A function of xi and the derivatives that are to be used; None for those that are not."""

    value: Callable[[Any], Any]
    gradient: Callable[[Any], Any] | None = None
    hessian: Callable[[Any], Any] | None = None


class Point(NamedTuple):
    """One xi_b of a component's sample: its weight (1/B for the component's own draws), f_omega, and weight * u_b."""

    xi: Any
    w: float
    f: float
    grad_f: Any
    hess_f: Any
    wu: float


# ---- What a component climbs ----------------------------------------------------------------------------------------


def weights(v: Any) -> Any:
    """pi_k from v_k = log(pi_k / pi_K).

    Paper: eq:natural_gradient_update_pi
    """
    return np.exp(v) / np.sum(np.exp(v))


def log_normal(xi: Any, mu: Any, S: Any) -> float:
    """log N(xi; mu, S^-1).

    Paper: prop:grad_hess_normal
    """
    x = xi - mu
    return -0.5 * len(x) * math.log(2 * math.pi) + 0.5 * math.log(np.linalg.det(S)) - 0.5 * x @ S @ x


def log_mixture(xi: Any, pi: Any, mu: Any, S: Any, order: int) -> tuple[Any, Any, Any]:
    """log q at xi, its gradient (order 1) and its Hessian (order 2), in the first of the two forms.

    Paper: prop:grad_hess_logmixture
    """
    K = len(pi)
    log_q_k = np.array([log_normal(xi, mu[k], S[k]) for k in range(K)])
    log_q = np.logaddexp.reduce(np.log(pi) + log_q_k)
    if order == 0:
        return log_q, None, None
    r = pi * np.exp(log_q_k - log_q)
    s = [S[k] @ (mu[k] - xi) for k in range(K)]
    gradient = sum(r[k] * s[k] for k in range(K))
    if order == 1:
        return log_q, gradient, None
    hessian = np.zeros_like(S[0])
    for k in range(K):
        bracket = np.outer(s[k], s[k]) - S[k]
        for l in range(K):
            bracket -= r[l] * np.outer(s[l], s[k])  # A_lk = S_l (mu_l - xi) (mu_k - xi)^T S_k
        hessian += r[k] * bracket
    return log_q, gradient, hessian


def fitness(xi: Any, l: Function, log_p: Function | None, omega: float, log_q: tuple[Any, Any, Any]) -> list[Any]:
    """f_omega = l - omega log q, with a prior l - omega (log q - log p); derivatives likewise.

    Paper: eq:gradients_as_expectations, eq:gibbs_variational_formulation
    """
    f: list[Any] = [None, None, None]
    for i in range(3):
        if l[i] is not None:
            f[i] = l[i](xi) - omega * (log_q[i] - (0.0 if log_p is None else log_p[i](xi)))
    return f


# ---- Samples: every component's own, or one that all share -----------------------------------------------------------


class Importance(NamedTuple):
    """A shared sample, drawn from q or from the equally weighted components; weights divided by B or by their sum."""

    equal_weights: bool = False
    self_normalised: bool = False

    def drawn_with(self, pi: Any) -> Any:
        """The weights of the mixture that the points are drawn from."""
        return np.full(len(pi), 1 / len(pi)) if self.equal_weights else pi


def cma_es_utilities(B: int, B_0: int) -> list[float]:
    """u_1 >= ... >= u_B: the weights of CMA-ES, B_0 of them not 0.

    Paper: eq:cma_es_utility
    """
    total = sum(math.log(B_0 + 1) - math.log(c) for c in range(1, B_0 + 1))
    return [B * (math.log(B_0 + 1) - math.log(b)) / total if b <= B_0 else 0.0 for b in range(1, B + 1)]


def shaped(u: Any, w: list[float], f: list[float]) -> list[float]:
    """w_b times the utility of xi_b: the average of the step function u over the quantiles that w_b covers, best first.

    With w_b = 1/B the b-th best gets u_b / B. (The text asks for w non-increasing in P{f' <= f}; Algorithm 3 is right.)

    Paper: eq:define_rewriting_multi, alg:snga_annealing_utility
    """
    if u is None:
        return [math.nan] * len(w)
    result, total, start = [0.0] * len(w), sum(w), 0.0
    for n in sorted(range(len(w)), key=lambda n: -f[n]):
        stop = start + w[n] / total
        for b in range(len(u)):
            overlap = min(stop, (b + 1) / len(u)) - max(start, b / len(u))
            result[n] += total * u[b] * max(overlap, 0.0)
        start = stop
    return result


def own_samples(xi: Any, f: Callable[[Any], Any], u: Any) -> list[list[Point]]:
    """For every k the points xi[k], each with weight 1/B.

    Paper: app:estimation_gradients
    """
    samples = []
    for points in xi:
        w = [1.0 / len(points)] * len(points)
        f_b = [f(point) for point in points]
        wu = shaped(u, w, [value for value, _, _ in f_b])
        samples.append([Point(points[b], w[b], *f_b[b], wu[b]) for b in range(len(points))])
    return samples


def shared_samples(xi: Any, f: Callable[[Any], Any], log_q: Any, p: Any, normalise: bool, u: Any) -> list[list[Point]]:
    """For every k the same B points, drawn from sum_j p_j q_j, with weights q_k / (B sum_j p_j q_j); log_q[b][k] given.

    Paper: sec:computational_cost
    """
    B, samples = len(xi), []
    f_b = [f(point) for point in xi]
    for k in range(len(p)):
        w = [np.exp(log_q[b][k]) / np.dot(p, np.exp(log_q[b])) / B for b in range(B)]
        if normalise:
            total = sum(w)
            w = [w_b / total for w_b in w]
        wu = shaped(u, w, [value for value, _, _ in f_b])
        samples.append([Point(xi[b], w[b], *f_b[b], wu[b]) for b in range(B)])
    return samples


def gaussian_draws(mu: Any, S: Any, z: Any) -> list[Any]:
    """mu + A z_b.

    Paper: alg:snga_annealing_gaussian
    """
    A = np.linalg.inv(np.linalg.cholesky(S)).T
    return [mu + A @ z_b for z_b in z]


def mixture_draws(p: Any, mu: Any, S: Any, choice: Any, z: Any) -> list[Any]:
    """Points from sum_j p_j N(mu_j, S_j^-1): uniform numbers choose the component, then as above.

    Paper: eq:mcef_gaussian_mixture
    """
    xi = []
    for b in range(len(choice)):
        k = 0
        while k < len(p) - 1 and choice[b] >= np.sum(p[: k + 1]):
            k += 1
        xi += gaussian_draws(mu[k], S[k], [z[b]])
    return xi


# ---- Estimators ------------------------------------------------------------------------------------------------------


def G_pi(sample_k: list[Point], sample_K: list[Point]) -> float:
    """Paper: G_pi"""
    return sum(b.w * b.f for b in sample_k) - sum(b.w * b.f for b in sample_K)


def G_mu_bb(sample: list[Point], mu: Any, S: Any) -> Any:
    """Paper: G_mu-bb"""
    return S @ sum(b.w * b.f * (b.xi - mu) for b in sample)


def G_mu_grad(sample: list[Point], mu: Any, S: Any) -> Any:
    """Paper: G_mu-grad"""
    return sum(b.w * b.grad_f for b in sample)


def G_mu_fs(sample: list[Point], mu: Any, S: Any) -> Any:
    """Paper: G_mu-fs"""
    return S @ sum(b.wu * (b.xi - mu) for b in sample)


def G_Sigma_bb(sample: list[Point], mu: Any, S: Any) -> Any:
    """Paper: G_Sigma-bb"""
    return S @ sum(b.w * b.f * (np.outer(b.xi - mu, b.xi - mu) @ S - np.eye(len(mu))) for b in sample)


def G_Sigma_grad(sample: list[Point], mu: Any, S: Any) -> Any:
    """The symmetric part of S (xi - mu) (grad f)^T; as printed the transpose is missing.

    Paper: G_Sigma-grad
    """
    gamma = S @ sum(b.w * np.outer(b.xi - mu, b.grad_f) for b in sample)
    return (gamma + gamma.T) / 2


def G_Sigma_hess(sample: list[Point], mu: Any, S: Any) -> Any:
    """grad_Sigma E[f] is half of E[hess f] (Price's theorem is printed without the half), gamma_Sigma is twice that.

    Paper: G_Sigma-hess
    """
    return sum(b.w * b.hess_f for b in sample)


def G_Sigma_fs(sample: list[Point], mu: Any, S: Any) -> Any:
    """Paper: G_Sigma-fs"""
    return S @ sum(b.wu * (np.outer(b.xi - mu, b.xi - mu) @ S - np.eye(len(mu))) for b in sample)


# ---- Structures and rules --------------------------------------------------------------------------------------------


def full(gamma: Any) -> Any:
    """Paper: subsec:up_rules_gm"""
    return gamma


def diagonal(gamma: Any) -> Any:
    """Paper: subsec:up_rules_gm"""
    return np.diag(np.diag(gamma))


def isotropic(gamma: Any) -> Any:
    """Paper: subsec:up_rules_gm"""
    return np.mean(np.diag(gamma)) * np.eye(len(gamma))


def natural_gradient(S: Any, gamma: Any, rho: float) -> Any:
    """Paper: eq:natural_gradient_update_s"""
    return S - rho * gamma


def iblr(S: Any, gamma: Any, rho: float) -> Any:
    """gamma is twice the gradient in S^-1, hence a quarter of the printed 2 rho^2.

    Paper: subsec:up_rules_gm
    """
    return S - rho * gamma + rho**2 / 2 * gamma @ np.linalg.inv(S) @ gamma


# ---- The algorithms -------------------------------------------------------------------------------------------------


class Parts(NamedTuple):
    """What may vary. gamma_Sigma None: fixed covariances. tau: damping, kappa: burn-in, v_max: bound of |v_k|."""

    gamma_mu: Callable[..., Any] = G_mu_grad
    gamma_Sigma: Callable[..., Any] | None = G_Sigma_hess
    restrict: Callable[[Any], Any] = full
    rule: Callable[..., Any] = iblr
    u: Any = None
    log_p: Function | None = None
    importance: Importance | None = None
    tau: float = 0.0
    kappa: int = 0
    v_max: float = math.inf


HESSIAN = Parts()


def updated_weights(samples: list[list[Point]], v: Any, rho: float, v_max: float) -> Any:
    """v_k + rho gamma_pi,k; v_K stays 0.

    Paper: eq:natural_gradient_update_pi
    """
    return np.array([min(max(v[k] + rho * G_pi(samples[k], samples[-1]), -v_max), v_max) for k in range(len(v))])


def nva_gm_step(
    l: Function, mu: Any, S: Any, v: Any, z: Any, omega: float, rho: float, parts: Parts = HESSIAN, t: int = 1
) -> tuple[Any, Any, Any]:
    """Iteration t = 1, 2, ...; with importance sampling z is a pair of B uniform numbers and B normal vectors.

    Paper: alg:snga_annealing_gaussian, alg:snga_annealing_utility, app:cec_benchmark
    """
    K, d = mu.shape
    pi = weights(v)
    order = 2 if l.hessian else 1 if l.gradient else 0

    def f(xi: Any) -> list[Any]:
        return fitness(xi, l, parts.log_p, omega, log_mixture(xi, pi, mu, S, order))

    if parts.importance is None:
        samples = own_samples([gaussian_draws(mu[k], S[k], z[k]) for k in range(K)], f, parts.u)
    else:
        p = parts.importance.drawn_with(pi)
        xi = mixture_draws(p, mu, S, *z)
        log_q = [[log_normal(x, mu[k], S[k]) for k in range(K)] for x in xi]
        samples = shared_samples(xi, f, log_q, p, parts.importance.self_normalised, parts.u)
    mu_new, S_new = mu.copy(), S.copy()
    for k in range(K):
        if parts.gamma_Sigma is not None and t > parts.kappa:
            S_new[k] = parts.rule(S[k], parts.restrict(parts.gamma_Sigma(samples[k], mu[k], S[k])), rho)
            if parts.tau > 0:
                S_new[k] = np.linalg.inv(np.linalg.inv(S_new[k]) + parts.tau * np.eye(d))
        mu_new[k] = mu[k] + rho * np.linalg.inv(S_new[k]) @ parts.gamma_mu(samples[k], mu[k], S[k])
    return mu_new, S_new, updated_weights(samples, v, rho, parts.v_max)


def nva_gm(
    l: Function, mu: Any, S: Any, pi: Any, z: Any, omega: Any, rho: Any, parts: Parts = HESSIAN
) -> list[tuple[Any, Any, Any]]:
    """(mu, S, pi) after every iteration.

    Paper: alg:snga_annealing_gaussian, alg:snga_annealing_utility
    """
    v, path = np.log(pi / pi[-1]), []
    for t in range(len(omega)):
        mu, S, v = nva_gm_step(l, mu, S, v, z[t], omega[t], rho[t], parts, t + 1)
        path.append((mu, S, weights(v)))
    return path
