"""PyMC: every mode of the posterior of a model."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from allmodes.adapters.peers import peer
from allmodes.adapters.posterior import Coordinates, PosteriorModes, find_posterior_modes
from allmodes.adapters.pytensor import compiled, for_points, in_python
from allmodes.checks import instance

Floats = NDArray[np.float64]


def find_modes(
    model: Any = None,
    *,
    starts: Mapping[str, Any] | None = None,
    prior_draws: int | None = None,
    jacobian: bool = True,
    hess: bool = False,
    mode: Any = None,
    draws: int = 4000,
    rng: Any = None,
    **options: Any,
) -> PosteriorModes:
    """Find every mode of the posterior of a PyMC model, and what each of them weighs.

    The search takes place in the space of PyMC's value variables: a positive parameter by its logarithm, a share by its
    logit. A mode is a maximum of the density *of these coordinates*, the one that NUTS sees; where a density has its
    maxima depends on the coordinates, its masses do not.

    Args:
        model: with continuous parameters only; within `with model:` it may be left out.
        starts: where to look, if not where the prior is: a dict with an array of draws, `(n, *shape)`, for each
            free variable, such as those of a sampler. Needed if the prior cannot be drawn from, as with `pm.Flat`.
        prior_draws: how many draws of the prior say where to look, 500 or ten for each coordinate unless given. The log
            density is evaluated at each once; these evaluations are not part of `result.nfev`.
        jacobian: False for the maxima of the density of the constrained parameters, the classical MAP, as
            `pm.find_MAP` has it, which may lie at their limits, where the search cannot arrive. There are no masses
            then.
        hess: True for PyTensor's exact Hessians at every point, which take long to compile; otherwise the search learns
            the curvature from gradients, and measures that of modes by their differences.
        mode: of PyTensor, for the density and its derivatives, such as "NUMBA". By default NumPy evaluates them, many
            points at once, and nothing is compiled: the second that takes is 20 with C or Numba, which pays for models
            with loops (`pytensor.scan`) or a single point of which takes NumPy more than some milliseconds.
        draws: how many weigh the modes, by importance sampling (see `allmodes.Result.masses`); 0 for no masses.
        rng: a seed or a numpy.random.Generator; the same seed gives the same result.
        options: whatever else `allmodes.find_maxima` takes: maxfev, n_modes, symmetry, callback, ...

    >>> posterior = find_modes(model, rng=0)  # doctest: +SKIP
    >>> posterior.modes[0]["sigma"], posterior.masses, posterior.to_arviz()  # doctest: +SKIP
    """
    pymc = peer("pymc")
    if model is not None:
        instance("model", model, pymc.Model, "Pass the model itself, as in `with pm.Model() as model`.")
    program = _Program(pymc.modelcontext(model), jacobian, hess, mode)
    return find_posterior_modes(program, starts, prior_draws, draws, rng, options)


class _Program:
    """A model as a density of the vector of its value variables."""

    def __init__(self, model: Any, jacobian: bool, hess: bool, mode: Any) -> None:
        from pymc.pytensorf import join_nonshared_inputs
        from pytensor.gradient import grad
        from pytensor.gradient import jacobian as jacobian_of

        _check(model)
        self.model, self.jacobian = model, jacobian
        self.dims, self.coords = model.named_vars_to_dims, model.coords
        point = model.initial_point()
        shapes = {variable.name: np.shape(point[variable.name]) for variable in model.value_vars}
        self.coordinates = Coordinates(shapes, {name: name for name in shapes})
        x = self.coordinates.join({name: np.asarray(point[name])[None] for name in shapes})
        self._names = [variable.name for variable in model.unobserved_RVs]
        inside = {each.name: each for each in model.unobserved_value_vars if each.name in self._names}
        outputs = [model.logp(jacobian=jacobian), *(inside[name] for name in self._names)]
        (value, *values), joined = join_nonshared_inputs(point, outputs, model.value_vars)
        gradient = grad(value, joined)
        self._density = for_points(model, joined, [value, gradient], x, mode)
        self._values = for_points(model, joined, values, x)
        self.objective = {"fun": self._density, "jac": True, "vectorized": True}
        if hess:
            curvature = for_points(model, joined, [jacobian_of(gradient, joined, vectorize=True)], x, mode)
            self.objective["hess"] = lambda x: curvature(x)[0]
        free = {variable.name for variable in model.free_RVs}
        self.shapes = {name: a.shape[1:] for name, a in self.constrained(x).items() if name in free}
        _check_repeatable(self.log_density, x)

    def log_density(self, x: Floats) -> Floats:
        """At points (n, d): (n,)."""
        return self._density(x)[0]

    def prior_draws(self, n: int, seed: int) -> dict[str, Any]:
        """Draws (n, *shape) of each free variable."""
        import pymc

        free = self.model.free_RVs
        draws = pymc.draw(free, draws=n, random_seed=seed, mode=in_python())
        return {variable.name: each for variable, each in zip(free, draws, strict=True)}

    def unconstrained(self, values: Mapping[str, Any]) -> Floats:
        """Draws (n, *shape) by name as points (n, d)."""
        from pytensor.graph.replace import clone_replace

        free = self.model.free_RVs
        forward = []
        for variable in free:
            transform = self.model.rvs_to_transforms[variable]
            forward.append(variable if transform is None else transform.forward(variable, *variable.owner.inputs))
        given = [variable.type() for variable in free]
        function = compiled(self.model, given, clone_replace(forward, dict(zip(free, given, strict=True))))
        rows = [function(*each) for each in zip(*(values[variable.name] for variable in free), strict=True)]
        names = [self.model.rvs_to_values[variable].name for variable in free]
        return self.coordinates.join({name: [row[i] for row in rows] for i, name in enumerate(names)})

    def constrained(self, x: Floats) -> dict[str, Floats]:
        """Points (n, d) as arrays (n, *shape) by name, deterministic ones among them."""
        return dict(zip(self._names, self._values(x), strict=True))

    def initial_values(self, x: Floats) -> list[dict[str, Floats]]:
        """What `pm.sample` takes as `initvals` for chains that begin at points (chains, d)."""
        values = self.constrained(x)
        return [{variable.name: values[variable.name][i] for variable in self.model.free_RVs} for i in range(len(x))]


def _check(model: Any) -> None:
    """Refuse models whose parameters cannot be searched."""
    discrete = [variable.name for variable in model.discrete_value_vars]
    if discrete:
        raise ValueError(
            f"the model has discrete parameters, {', '.join(map(repr, discrete))}; wanted continuous ones only: sum "
            "the discrete ones out, as pm.Mixture does."
        )
    if not model.free_RVs:
        raise ValueError("the model has no parameters: all its variables are observed; wanted at least one free one.")


def _check_repeatable(log_density: Callable[[Floats], Floats], x: Floats) -> None:
    """Refuse a density that is another one at each evaluation."""
    first, second = log_density(x), log_density(x)
    if not np.array_equal(first, second, equal_nan=True):
        raise ValueError(
            f"the log density is {first[0]} and then {second[0]} at one point: the model draws a part of its data, or "
            "a simulation, anew at each evaluation. A posterior has its modes given all data: leave pm.Minibatch out."
        )
