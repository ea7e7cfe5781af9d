"""What the adapters of probabilistic programs share: a model as a density of one vector, its modes in its own names."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from allmodes.adapters.names import entries
from allmodes.adapters.posterior_data import arviz_data
from allmodes.adapters.posterior_table import text_of
from allmodes.checks import real_array, whole_number
from allmodes.finding import find_maxima
from allmodes.result import Masses, Result

_PRIOR_DRAWS, _PER_COORDINATE = 500, 10  # quantiles known to 5 %
_FEWEST = 2  # for each coordinate
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
            name: x[..., begin:end].reshape((*x.shape[:-1], *shape))
            for (name, shape), begin, end in zip(self.shapes.items(), begins, ends, strict=True)
        }

    def join(self, values: Mapping[str, Any]) -> Floats:
        """Arrays (n, *shape) by name as vectors (n, d)."""
        parts = [np.asarray(values[name], dtype=np.float64) for name in self.shapes]
        return np.concatenate([part.reshape(len(part), -1) for part in parts], axis=1)


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
    def shapes(self) -> Mapping[str, tuple[int, ...]]:
        """Of the parameters, constrained."""

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
    prior_draws: int | None,
    draws: int,
    rng: Any,
    options: dict[str, Any],
) -> PosteriorModes:
    """Draw from the prior, search from there, weigh what is found, and name it as the model does."""
    taken = sorted(_OURS & options.keys())
    if taken:
        raise TypeError(f"find_modes() makes {', '.join(taken)} from the model itself; leave it out.")
    rng = np.random.default_rng(rng)
    given = options | {"options": {"temperature": 1.0} | (options.get("options") or {})}
    given["starts"] = _starts(program, starts, prior_draws, rng)
    result = find_maxima(**program.objective, names=program.coordinates.names, rng=rng, **given)
    modes: tuple[dict[str, Any], ...] = ()
    masses = None
    if result.modes:
        values = program.constrained(np.array([mode.x for mode in result.modes]))
        modes = tuple({name: rows[i] for name, rows in values.items()} for i in range(len(result.modes)))
        if draws and program.jacobian:
            symmetry = options.get("symmetry")
            masses = result.masses(program.log_density, draws=draws, rng=rng, vectorized=True, symmetry=symmetry)
    return PosteriorModes(result, modes, masses, program)


def _starts(program: Program, given: Mapping[str, Any] | None, n: int | None, rng: np.random.Generator) -> Floats:
    """Points (n, d) whose density is a positive number: of the draws that were given, or of the prior."""
    source = "starts" if given is not None else "the prior"
    if given is None:
        n = max(_PRIOR_DRAWS, _PER_COORDINATE * program.coordinates.d) if n is None else n
        try:
            given = program.prior_draws(whole_number("prior_draws", n, 2), int(rng.integers(2**31)))
        except NotImplementedError as error:
            why = str(error).partition("\n")[0] or "it is improper"
            raise ValueError(
                f"the prior cannot be drawn from ({why}); pass draws of the parameters that say "
                "where to look, as in starts={'mu': array of shape (n, *shape of mu), ...}."
            ) from error
    else:
        given = _checked(given, program.shapes)
    draws = program.unconstrained(given)
    inside = draws[np.isfinite(draws).all(axis=1)]
    values = program.log_density(inside) if len(inside) else np.zeros(0)
    possible = inside[np.isfinite(values)]
    wanted = max(2, _FEWEST * program.coordinates.d)
    if len(possible) < wanted:
        raise ValueError(_too_few(program, source, len(draws), len(possible), wanted, inside, values))
    return possible


def _too_few(program: Program, source: str, n: int, finite: int, wanted: int, inside: Floats, values: Floats) -> str:
    """What is wrong with draws where the density is hardly ever a positive number."""
    first = ""
    bad = np.flatnonzero(~np.isfinite(values))[:1]
    for i in bad:
        point = ", ".join(f"{name} = {x:.4g}" for name, x in zip(program.coordinates.names, inside[i], strict=True))
        first = f"; it is {values[i]} at {point}"
    return (
        f"the log density is finite at {finite or 'none'} of {n} draws of {source}, and {wanted} are needed{first}. "
        "Check whether the data lie in the support of the model; if they do, pass draws of the parameters at which it "
        "is finite, as in starts={'mu': array of shape (n, *shape of mu), ...}."
    )


def _checked(given: Mapping[str, Any], shapes: Mapping[str, tuple[int, ...]]) -> dict[str, Floats]:
    """Draws (n, *shape) of each parameter, as a user passed them."""
    missing = [name for name in shapes if name not in given]
    if missing:
        raise ValueError(f"starts lacks {', '.join(missing)}; wanted draws (n, *shape) of each of {', '.join(shapes)}.")
    wanted = "draws (n, *shape)"
    draws = {name: real_array(f"starts[{name!r}]", given[name], wanted) for name in shapes}
    sizes = {len(each) if each.ndim else 0 for each in draws.values()}
    wrong = {name: each.shape for name, each in draws.items() if each.shape[1:] != shapes[name]}
    if wrong or len(sizes) > 1 or 0 in sizes:
        found = ", ".join(f"{name} {each.shape}" for name, each in draws.items())
        listed = ", ".join(f"{name} {('n', *shape)}".replace("'", "") for name, shape in shapes.items())
        raise ValueError(f"starts has shapes {found}; wanted {listed}, with one n for all.")
    return draws


@dataclass(frozen=True, repr=False, eq=False)
class PosteriorModes:
    """The modes of a posterior, in the model's own names.

    Attributes:
        result: of the search, in unconstrained coordinates: how it ended, what may be missing, plots.
        modes: the value of each parameter and each deterministic quantity by name, for each of `result.modes`.
        masses: the share of the posterior around each mode, with errors, and the evidence; see
            `allmodes.Result.masses`. None if there are no modes, or if masses were not asked for.
        program: the model, as it was searched.
    """

    result: Result
    modes: tuple[dict[str, Any], ...]
    masses: Masses | None
    program: Program

    def __len__(self) -> int:
        return len(self.modes)

    def initial_values(self, chains: int | None = None) -> Any:
        """Where chains begin, each at a mode: what the sampler of the package takes.

        NumPyro: `MCMC(..., num_chains=n).run(..., init_params=posterior.initial_values(n))`; for `init_to_value` there
        is `modes[i]`. PyMC: `pm.sample(initvals=posterior.initial_values(n), chains=n, init="adapt_diag")`.

        Args:
            chains: how many; by default one for each mode. If there are more, they take turns, best mode first.
        """
        if not self.modes:
            raise ValueError(f"there are no modes for chains to begin at: {self.result.message}")
        chains = whole_number("chains", len(self.modes) if chains is None else chains, 1)
        return self.program.initial_values(np.array([self.result.modes[i % len(self.modes)].x for i in range(chains)]))

    def to_arviz(self, draws: int = 1000, rng: Any = None) -> Any:
        """Equally weighted draws for ArviZ, with a coordinate `mode` (from 0) beside `draw`.

        They are resampled from the weighted draws of `masses`, and labelled by the mode whose component they most
        probably come from: `data.posterior.sel(draw=data.posterior.mode == 0)` are those of the first.

        Args:
            draws: how many; more than `masses.ess` of them repeat each other.
            rng: a seed or a numpy.random.Generator.

        Returns:
            arviz.InferenceData, or from ArviZ 1.0 on xarray.DataTree.
        """
        return arviz_data(self, draws, rng)

    def __repr__(self) -> str:
        return text_of(self)
