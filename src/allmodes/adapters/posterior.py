"""What the adapters of probabilistic programs share: a model as a density of one vector, and its modes in the model's names."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from allmodes.finding import find_maxima
from allmodes.result import Result

PRIOR_DRAWS = 500
_OURS = {"fun", "args", "jac", "names", "vectorized"}  # arguments of find_maxima that follow from the model

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Coordinates:
    """Named arrays, side by side in one vector.

    Args:
        shapes: of each array, by its name in the model.
        titles: what the coordinates of each are called in results.

    >>> coordinates = Coordinates({"mu": (2,), "p": ()}, {"mu": "mu", "p": "logit p"})
    >>> coordinates.names
    ('mu[0]', 'mu[1]', 'logit p')
    >>> coordinates.split(np.array([1.0, 2.0, 3.0]))
    {'mu': array([1., 2.]), 'p': array(3.)}
    """

    shapes: Mapping[str, tuple[int, ...]]
    titles: Mapping[str, str]

    @property
    def d(self) -> int:
        """Number of coordinates."""
        return sum(int(np.prod(shape)) for shape in self.shapes.values())

    @property
    def names(self) -> tuple[str, ...]:
        """One for each coordinate."""
        return tuple(name for key, shape in self.shapes.items() for name in entries(self.titles[key], shape))

    def split(self, x: Any) -> dict[str, Any]:
        """Vectors (..., d) as arrays (..., *shape) by name; NumPy's, JAX's, while they are traced, too."""
        ends = np.cumsum([int(np.prod(shape)) for shape in self.shapes.values()]).tolist()
        begins = [0, *ends[:-1]]
        return {
            name: x[..., begin:end].reshape(*x.shape[:-1], *shape)
            for (name, shape), begin, end in zip(self.shapes.items(), begins, ends, strict=True)
        }

    def join(self, values: Mapping[str, Any]) -> Floats:
        """Arrays (n, *shape) by name as vectors (n, d)."""
        parts = [np.asarray(values[name], dtype=np.float64) for name in self.shapes]
        return np.concatenate([part.reshape(len(part), -1) for part in parts], axis=1)


def entries(name: str, shape: tuple[int, ...]) -> list[str]:
    """The name of each entry of an array.

    >>> entries("w", (2, 1)), entries("p", ())
    (['w[0,0]', 'w[1,0]'], ['p'])
    """
    return [f"{name}[{','.join(map(str, index))}]" if shape else name for index in np.ndindex(shape)]


class Program(Protocol):
    """A probabilistic program with its data, as a density of a vector of unconstrained coordinates.

    Attributes:
        coordinates: of the vector.
        objective: what `find_maxima` is given: fun, jac, perhaps hess, and vectorized.
        jacobian: whether the density is that of the unconstrained coordinates.
        dims, coords: names of the dimensions of arrays, and their labels, for ArviZ.
    """

    coordinates: Coordinates
    objective: dict[str, Any]
    jacobian: bool

    @property
    def dims(self) -> Mapping[str, Any]: ...

    @property
    def coords(self) -> Mapping[str, Any]: ...

    def log_density(self, x: Floats, /) -> Floats:
        """At points (n, d): (n,)."""

    def prior_draws(self, n: int, seed: int) -> Mapping[str, Any]:
        """Draws (n, *shape) of each parameter, constrained."""

    def unconstrained(self, values: Mapping[str, Any]) -> Floats:
        """Such draws as points (n, d)."""

    def constrained(self, x: Floats, /) -> Mapping[str, Any]:
        """Points (n, d) as arrays (n, *shape) by name, deterministic ones among them."""

    def initial_values(self, x: Floats) -> Any:
        """What the package's sampler takes for chains that begin at points (chains, d)."""


def find_posterior_modes(
    program: Program,
    starts: Mapping[str, Any] | None,
    prior_draws: int,
    masses: bool,
    rng: Any,
    options: dict[str, Any],
) -> PosteriorModes:
    """Draw from the prior, search from there, weigh what is found, and name it as the model does."""
    taken = sorted(_OURS & options.keys())
    if taken:
        raise TypeError(f"find_modes() makes {', '.join(taken)} from the model itself; leave it out.")
    rng = np.random.default_rng(rng)
    draws = program.unconstrained(starts or program.prior_draws(prior_draws, int(rng.integers(2**31))))
    draws = _possible(program, draws)
    given = options | {"options": {"temperature": 1.0} | (options.get("options") or {})}
    if "bounds" not in given and "x0" not in given:
        lower, upper = np.quantile(draws, [0.005, 0.995], axis=0)
        given["bounds"] = np.stack([1.25 * lower - 0.25 * upper, 1.25 * upper - 0.25 * lower], axis=1)
    result = find_maxima(**program.objective, names=program.coordinates.names, rng=rng, **given)
    found = program.constrained(np.array([mode.x for mode in result.modes])) if result.modes else {}
    modes = tuple({name: rows[i] for name, rows in found.items()} for i in range(len(result.modes)))
    return PosteriorModes(result, modes, None, program)


def _possible(program: Program, draws: Floats) -> Floats:
    """The draws whose density is a positive number, or an error if there are none."""
    inside = draws[np.isfinite(draws).all(axis=1)]
    values = program.log_density(inside) if len(inside) else np.zeros(0)
    if not np.isfinite(values).any():
        first = (
            f"; it is {values[0]} at the first, {dict(zip(program.coordinates.names, inside[0].tolist(), strict=True))}"
            if len(inside)
            else ""
        )
        raise ValueError(
            f"the log density is not finite at any of {len(draws)} draws of the prior{first}. Check whether the data lie in "
            "the support of the model, or pass draws of the parameters at which it is finite as starts."
        )
    return inside[np.isfinite(values)]


@dataclass(frozen=True, repr=False, eq=False)
class PosteriorModes:
    """The modes of a posterior, in the model's own names.

    Attributes:
        result: of the search, in unconstrained coordinates: how it ended, what may be missing, plots.
        modes: in the order of `result.modes`, the value of each parameter and each deterministic quantity by name.
        masses: share of the posterior around each mode, by importance sampling; None if it was not asked for.
    """

    result: Result
    modes: tuple[dict[str, Any], ...]
    masses: Any
    program: Program
