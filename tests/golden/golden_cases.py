"""What the golden tests share: a target, a start, schedules, the library's path, and names of parts on both sides."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import transcript as plain

from allmodes import Objective
from allmodes.nva import Algorithm
from allmodes.nva.annealing.proposals import Importance, PerComponent
from allmodes.nva.annealing.updates import ImprovedBLR, NaturalGradient
from allmodes.nva.engine.step import Settings, ask, tell
from allmodes.nva.mixture.families import Family
from allmodes.nva.mixture.families.family import Rates
from allmodes.nva.mixture.mixture import Mixture, log_weights

SEED = 2025
K, B, d, T = 3, 4, 3, 30
PI = np.array([0.5, 0.2, 0.3])
MEANS = np.random.default_rng(SEED).normal(0.0, 1.0, (K, d))
OMEGA = 2.0 * np.arange(1, T + 1) ** -0.5
# The plain rule leaves the domain when a step is too long; the improved one does not.
RHO = {"plain": 0.006 * OMEGA**-0.5, "improved": 0.03 * OMEGA**-0.5}

RULES = {"plain": (NaturalGradient(), plain.natural_gradient), "improved": (ImprovedBLR(), plain.iblr)}
PROPOSALS = {
    "per component": (PerComponent(), None),
    "from q": (Importance(), plain.Importance()),
    "from q, normalised": (Importance(self_normalized=True), plain.Importance(self_normalised=True)),
    "from equal": (Importance(equal_weights=True), plain.Importance(equal_weights=True)),
    "from equal, normalised": (Importance(True, True), plain.Importance(True, True)),
}


def num_samples(proposal: str) -> int:
    return B if proposal == "per component" else 2 * B


# ---- A target with several modes, whose Hessian is neither constant nor diagonal; a prior ----------------------------

P = np.array([[1.0, 0.3, 0.0], [0.3, 0.8, -0.2], [0.0, -0.2, 0.6]])
A = np.array([1.5, -1.0, 0.7])


def ell(x: Any) -> float:
    return 2.0 * np.sin(A @ x) - 0.5 * x @ P @ x


def grad_ell(x: Any) -> Any:
    return 2.0 * np.cos(A @ x) * A - P @ x


def hess_ell(x: Any) -> Any:
    return -2.0 * np.sin(A @ x) * np.outer(A, A) - P


def log_p(x: Any) -> float:
    return -np.log1p(x @ x)


def grad_log_p(x: Any) -> Any:
    return -2.0 * x / (1.0 + x @ x)


def hess_log_p(x: Any) -> Any:
    return 4.0 * np.outer(x, x) / (1.0 + x @ x) ** 2 - 2.0 * np.eye(len(x)) / (1.0 + x @ x)


OBJECTIVE = Objective(ell, grad_ell, hess_ell)
PRIOR = Objective(log_p, grad_log_p, hess_log_p)

# ---- The start and the library's path --------------------------------------------------------------------------------


def covariances(structure: str) -> Any:
    """K different covariances of a structure."""
    roots = np.random.default_rng(SEED + 1).normal(0.0, 0.3, (K, d, d)) + np.eye(d)
    matrices = roots @ roots.swapaxes(-1, -2)
    if "diagonal" in structure:
        return matrices * np.eye(d)
    if "isotropic" in structure:
        return np.trace(matrices, axis1=1, axis2=2)[:, None, None] / d * np.eye(d)
    return matrices


def start_mixture(family: Family, means: Any, spread: Any) -> Mixture:
    return Mixture(np.log(PI / PI[-1]), family.start(means, spread))


class Step(NamedTuple):
    """The draws of one step, the points they led to, and the mixture after it."""

    noise: Any
    points: Any
    mixture: Mixture

    @property
    def weights(self) -> Any:
        return np.exp(log_weights(self.mixture.log_ratios))


def library_path(algorithm: Algorithm, mixture: Mixture, n: int, omega: Any, rho: Any) -> list[Step]:
    """ask and tell, with noise drawn here."""
    rng, path = np.random.default_rng(SEED), []
    for t in range(len(omega)):
        noise = algorithm.proposal.noise(rng, algorithm.family, K, n, d)
        proposed = ask(algorithm, mixture, noise)
        evaluation = OBJECTIVE.evaluate(proposed.points, algorithm.needs)
        mixture, _ = tell(algorithm, mixture, proposed, evaluation, None, Settings(omega[t], Rates(rho[t], rho[t])))
        path.append(Step(noise, proposed.points, mixture))
    return path
