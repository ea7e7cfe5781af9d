"""Algorithms A and 1 of the paper as plain loops, for mixtures of any exponential family; see transcript.py.

The Fisher matrix of every block of coordinates is written out and solved with. Points are arguments.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy.special import betaln, digamma, expit, gammaln, ive, polygamma
from transcript import (
    HESSIAN,
    Function,
    Parts,
    Point,
    fitness,
    own_samples,
    shared_samples,
    updated_weights,
    weights,
)


class Family(NamedTuple):
    """h(x) exp(<lambda, T(x)> - A(lambda)) and F = hess A; whether all of lambda must stay positive."""

    T: Callable[[Any], Any]
    log_h: Callable[[Any], float]
    A: Callable[[Any], float]
    grad_A: Callable[[Any], Any]
    F: Callable[[Any], Any]
    is_positive: bool = False


Blocks = list[tuple[Family, Any]]

gamma = Family(  # lambda = (shape a, rate b)
    T=lambda x: np.array([np.log(x), -x]),
    log_h=lambda x: -np.log(x),
    A=lambda lam: gammaln(lam[0]) - lam[0] * np.log(lam[1]),
    grad_A=lambda lam: np.array([digamma(lam[0]) - np.log(lam[1]), -lam[0] / lam[1]]),
    F=lambda lam: np.array([[polygamma(1, lam[0]), -1 / lam[1]], [-1 / lam[1], lam[0] / lam[1] ** 2]]),
    is_positive=True,
)
beta = Family(  # lambda = (a, b)
    T=lambda x: np.array([np.log(x), np.log1p(-x)]),
    log_h=lambda x: -np.log(x) - np.log1p(-x),
    A=lambda lam: betaln(*lam),
    grad_A=lambda lam: digamma(lam) - digamma(sum(lam)),
    F=lambda lam: np.diag(polygamma(1, lam)) - polygamma(1, sum(lam)),
    is_positive=True,
)
bernoulli = Family(  # lambda = log(p / (1 - p))
    T=lambda x: np.array([x]),
    log_h=lambda x: 0.0,
    A=lambda lam: np.log1p(np.exp(lam[0])),
    grad_A=lambda lam: expit(lam),
    F=lambda lam: np.array([expit(lam) * expit(-lam)]),
)


def von_mises_F(lam: Any) -> Any:
    """The covariance of (cos x, sin x), from the moments I_n / I_0 along and across the mean direction.

    Paper: eq:natural_gradient_def
    """
    kappa = np.hypot(*lam)
    first, second = ive(1, kappa) / ive(0, kappa), ive(2, kappa) / ive(0, kappa)
    along, across = np.array(lam) / kappa, np.array([-lam[1], lam[0]]) / kappa
    return ((1 + second) / 2 - first**2) * np.outer(along, along) + (1 - second) / 2 * np.outer(across, across)


von_mises = Family(  # lambda = kappa (cos m, sin m)
    T=lambda x: np.array([np.cos(x), np.sin(x)]),
    log_h=lambda x: 0.0,
    A=lambda lam: np.log(2 * np.pi * ive(0, np.hypot(*lam))) + np.hypot(*lam),
    grad_A=lambda lam: ive(1, np.hypot(*lam)) / ive(0, np.hypot(*lam)) * lam / np.hypot(*lam),
    F=von_mises_F,
)


def gaussian(d: int) -> Family:
    """lambda = (S mu, -S/2) against T = (xi, xi xi^T); of the two equal entries (i, j) and (j, i) one is kept, doubled.

    Paper: app:natural_gradient_update_rule_gaussian
    """
    pairs = [(i, j) for i in range(d) for j in range(i, d)]

    def moments(lam: Any) -> tuple[Any, Any, Any]:
        mu, S = gaussian_mean_and_precision(lam, d)
        return mu, np.linalg.inv(S), S

    def A(lam: Any) -> float:
        mu, _, S = moments(lam)
        return 0.5 * mu @ S @ mu - 0.5 * np.linalg.slogdet(S)[1] + 0.5 * d * math.log(2 * math.pi)

    def grad_A(lam: Any) -> Any:
        mu, Sigma, _ = moments(lam)
        return np.array([*mu, *(Sigma[i, j] + mu[i] * mu[j] for i, j in pairs)])

    def F(lam: Any) -> Any:
        mu, Sigma, _ = moments(lam)
        M = Sigma + np.outer(mu, mu)
        mixed = [[mu[j] * Sigma[i, k] + mu[k] * Sigma[i, j] for j, k in pairs] for i in range(d)]
        second = [
            [M[i, k] * M[j, l] + M[i, l] * M[j, k] - 2 * mu[i] * mu[j] * mu[k] * mu[l] for k, l in pairs]
            for i, j in pairs
        ]
        return np.block([[Sigma, np.array(mixed)], [np.array(mixed).T, np.array(second)]])

    return Family(lambda x: np.array([*x, *(x[i] * x[j] for i, j in pairs)]), lambda x: 0.0, A, grad_A, F)


def gaussian_natural(mu: Any, S: Any) -> Any:
    """Paper: app:natural_gradient_update_rule_gaussian"""
    d = len(mu)
    return np.array([*(S @ mu), *(-S[i, j] / (2 if i == j else 1) for i in range(d) for j in range(i, d))])


def gaussian_mean_and_precision(lam: Any, d: int) -> tuple[Any, Any]:
    """Paper: app:natural_gradient_update_rule_gaussian"""
    S = np.zeros((d, d))
    S[np.triu_indices(d)] = -lam[d:]
    S = S + S.T
    return np.linalg.solve(S, lam[:d]), S


def straight(lam: Any, change: Any) -> Any:
    """Paper: eq:natural_gradient_update_lambda"""
    return lam + change


def bent(lam: Any, change: Any) -> Any:
    """lambda (1 + x + x^2 / 2) with x = change / lambda: the improved rule for parameters that must stay positive.

    Paper: subsec:up_rules_gm
    """
    x = change / lam
    return lam * (1 + x + x**2 / 2)


def natural_step(q: Family, lam: Any, sample: list[Point], rho: float, retract: Any, is_shaped: bool) -> Any:
    """lambda + rho F^-1 E[(T - grad A) f], with utilities in place of f for fitness shaping.

    Paper: eq:gradients_as_expectations
    """
    grad_A = q.grad_A(lam)
    gradient = sum((b.wu if is_shaped else b.w * b.f) * (q.T(b.xi) - grad_A) for b in sample)
    change = rho * np.linalg.solve(q.F(lam), gradient)
    return retract(lam, change) if q.is_positive else lam + change


def nva_m_step(
    l: Function, blocks: Blocks, lam: Any, v: Any, xi: Any, omega: float, rho: float,
    retract: Callable[..., Any] = straight, parts: Parts = HESSIAN,
) -> tuple[Any, Any]:  # fmt: skip
    """lambda and v after one iteration, from points xi (K, B, d), or (B, d) for importance sampling.

    A component is a product over blocks (family, coordinates), and lam[k][j] belongs to block j. Of the parts, u,
    log_p, importance and v_max are used.

    Paper: alg:snga_annealing, alg:snga
    """
    pi = weights(v)
    A = [sum(q.A(lam[k][j]) for j, (q, _) in enumerate(blocks)) for k in range(len(pi))]

    def log_q_k(x: Any, k: int) -> float:
        return sum(q.log_h(x[i]) + lam[k][j] @ q.T(x[i]) for j, (q, i) in enumerate(blocks)) - A[k]

    def f(x: Any) -> list[Any]:
        log_q = np.logaddexp.reduce([np.log(pi[k]) + log_q_k(x, k) for k in range(len(pi))])
        return fitness(x, l, parts.log_p, omega, (log_q, None, None))

    if parts.importance is None:
        samples = own_samples(xi, f, parts.u)
    else:
        log_q = [[log_q_k(x, k) for k in range(len(pi))] for x in xi]
        p = parts.importance.drawn_with(pi)
        samples = shared_samples(xi, f, log_q, p, parts.importance.self_normalised, parts.u)
    lam_new = []
    for k in range(len(pi)):
        lam_new.append([])
        for j, (q, i) in enumerate(blocks):
            sample = [b._replace(xi=b.xi[i]) for b in samples[k]]
            lam_new[k].append(natural_step(q, lam[k][j], sample, rho, retract, parts.u is not None))
    return lam_new, updated_weights(samples, v, rho, parts.v_max)


def nva_m(
    l: Function, blocks: Blocks, lam: Any, pi: Any, xi: Any, omega: Any, rho: Any,
    retract: Callable[..., Any] = straight, parts: Parts = HESSIAN,
) -> list[tuple[Any, Any]]:  # fmt: skip
    """(lambda, pi) after every iteration; Algorithm A is the one with a constant omega.

    Paper: alg:snga_annealing, alg:snga
    """
    v, path = np.log(pi / pi[-1]), []
    for t in range(len(omega)):
        lam, v = nva_m_step(l, blocks, lam, v, xi[t], omega[t], rho[t], retract, parts)
        path.append((lam, weights(v)))
    return path
