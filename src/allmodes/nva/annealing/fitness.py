"""What the components climb."""

from __future__ import annotations

from allmodes.arrays import Array
from allmodes.objective import Evaluation


def fitness(l: Evaluation, log_q: Evaluation, omega: Array, log_p: Evaluation | None = None) -> Evaluation:  # noqa: E741
    """f = l - omega log q, or with a log-prior f = l - omega (log q - log p): values and derivatives alike.

    l drives the components towards modes, -omega log q keeps them apart. With a prior the target at temperature omega
    is the Gibbs posterior exp(l / omega) p.

    Paper: eq:potential_decomposition, eq:gibbs_variational_formulation
    """
    driving = l if log_p is None else l.plus(omega, log_p)
    return driving.plus(-omega, log_q)
