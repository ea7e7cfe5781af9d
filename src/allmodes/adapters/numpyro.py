"""NumPyro: every mode of the posterior of a model."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from allmodes.adapters.peers import peer
from allmodes.adapters.posterior import Coordinates, PosteriorModes, find_posterior_modes

_TOGETHER = 64  # points that are handed to JAX at once
_MOST_FOR_HESSIANS = 30  # coordinates: above, a Hessian costs more than it saves
_TITLES = {"ExpTransform": "log ", "SigmoidTransform": "logit ", "IdentityTransform": ""}

Floats = NDArray[np.float64]


class _Looped:
    """A function of one point, in JAX and in float64, for any number of points: compiled once.

    Points are taken one after another within the compiled code, so that no batch is filled up and no size of a batch
    is compiled anew.
    """

    def __init__(self, function: Callable[[Any], Any]) -> None:
        import jax
        import jax.numpy as jnp

        def run(points: Any, n: Any) -> Any:
            shapes = jax.eval_shape(function, jax.tree.map(lambda leaf: leaf[0], points))
            nothing = jax.tree.map(lambda each: jnp.zeros((_TOGETHER, *each.shape), each.dtype), shapes)

            def step(i: Any, out: Any) -> Any:
                found = function(jax.tree.map(lambda leaf: leaf[i], points))
                return jax.tree.map(lambda rows, row: rows.at[i].set(row), out, found)

            return jax.lax.fori_loop(0, n, step, nothing)

        self._run = jax.jit(run)

    def __call__(self, points: Any) -> Any:
        """Arrays (n, ...) of points, or a dict of them -> arrays (n, ...), or whatever the function returns of them."""
        import jax

        N = len(jax.tree.leaves(points)[0])
        with jax.enable_x64(True):
            pieces = [self._piece(points, begin, min(begin + _TOGETHER, N)) for begin in range(0, N, _TOGETHER)]
        return jax.tree.map(lambda *parts: np.concatenate(parts), *pieces)

    def _piece(self, points: Any, begin: int, end: int) -> Any:
        import jax

        rows = np.minimum(np.arange(begin, begin + _TOGETHER), end - 1)
        found = self._run(jax.tree.map(lambda leaf: np.asarray(leaf)[rows], points), end - begin)
        return jax.tree.map(lambda leaf: np.asarray(leaf)[: end - begin], found)


def find_modes(
    model: Callable[..., Any],
    *args: Any,
    model_kwargs: Mapping[str, Any] | None = None,
    starts: Mapping[str, Any] | None = None,
    prior_draws: int | None = None,
    jacobian: bool = True,
    hess: bool | None = None,
    draws: int = 4000,
    rng: Any = None,
    **options: Any,
) -> PosteriorModes:
    """Find every mode of the posterior of a NumPyro model, and what each of them weighs.

    The search takes place in NumPyro's unconstrained space: a positive parameter by its logarithm, a share by its
    logit. A mode is a maximum of the density *of these coordinates*, the one that NUTS sees; where a density has its
    maxima depends on the coordinates, its masses do not. Everything is computed in float64, whatever JAX is set to.

    Args:
        model: with continuous parameters only; sum discrete ones out, as in `dist.MixtureSameFamily`.
        args: of the model, the data among them.
        model_kwargs: its keyword arguments.
        starts: where to look, if not where the prior is: a dict with an array of draws, `(n, *shape)`, for each
            latent site, such as those of a sampler. Needed if the prior cannot be drawn from, as with
            `dist.ImproperUniform`.
        prior_draws: how many draws of the prior say where to look, 500 or ten for each coordinate unless given. The log
            density is evaluated at each once; these evaluations are not part of `result.nfev`.
        jacobian: False for the maxima of the density of the constrained parameters, the classical MAP, which may lie at
            their limits, where the search cannot arrive. There are no masses then.
        hess: whether to compute Hessians; unless given, with up to 30 coordinates.
        draws: how many weigh the modes, by importance sampling (see `allmodes.Result.masses`); 0 for no masses.
        rng: a seed or a numpy.random.Generator; the same seed gives the same result.
        options: whatever else `allmodes.find_maxima` takes: maxfev, n_modes, symmetry, callback, ...

    >>> posterior = find_modes(model, y, rng=0)  # doctest: +SKIP
    >>> posterior.modes[0]["sigma"], posterior.masses, posterior.to_arviz()  # doctest: +SKIP
    """
    if not callable(model):
        raise TypeError(f"model is {model!r} ({type(model).__name__}); wanted the function that samples.")
    program = _Program(model, args, dict(model_kwargs or {}), jacobian, hess)
    return find_posterior_modes(program, starts, prior_draws, draws, rng, options)


class _Program:
    """A model with its data, as a density of a vector of unconstrained coordinates."""

    dims: ClassVar[Mapping[str, Any]] = {}  # NumPyro names none
    coords: ClassVar[Mapping[str, Any]] = {}

    def __init__(
        self, model: Any, args: tuple[Any, ...], kwargs: dict[str, Any], jacobian: bool, hess: bool | None
    ) -> None:
        peer("numpyro")
        import jax
        from numpyro.infer import util

        self.jacobian = jacobian
        with jax.enable_x64(True):
            trace = _shapes(model, args, kwargs)
            sites = _latent(trace)
            self.coordinates = _coordinates(sites)
            self.model, self.call = _fixed(model, args, kwargs, trace), (args, kwargs)
        self.shapes = {name: tuple(np.shape(site["value"])) for name, site in sites.items()}
        self._names = tuple(name for name, site in trace.items() if name in sites or site["type"] == "deterministic")
        split = self.coordinates.split

        def log_density(x: Any) -> Any:
            return -util.potential_energy(self.model, args, kwargs, split(x))

        def constrained(x: Any) -> dict[str, Any]:
            values: dict[str, Any] = util.constrain_fn(self.model, args, kwargs, split(x), return_deterministic=True)
            return values

        def without_jacobian(x: Any) -> Any:
            values = util.constrain_fn(self.model, args, kwargs, split(x))
            return util.log_density(self.model, args, kwargs, values)[0]

        def unconstrained(values: Any) -> Any:
            return util.unconstrain_fn(self.model, args, kwargs, values)

        searched = log_density if jacobian else without_jacobian
        self.log_density = _Looped(searched)
        self._constrained = _Looped(constrained)
        self._unconstrained = _Looped(unconstrained)
        self.objective = {"fun": _Looped(jax.value_and_grad(searched)), "jac": True, "vectorized": True}
        if self.coordinates.d <= _MOST_FOR_HESSIANS if hess is None else hess:
            self.objective["hess"] = _Looped(jax.hessian(searched))

    def prior_draws(self, n: int, seed: int) -> dict[str, Any]:
        """Draws (n, *shape) of each latent site."""
        import jax
        from numpyro.infer import Predictive

        args, kwargs = self.call
        predictive = Predictive(self.model, num_samples=n, return_sites=list(self.shapes))
        with jax.enable_x64(True):
            draws = jax.jit(lambda key: predictive(key, *args, **kwargs))(jax.random.key(seed))
            return {name: np.asarray(draws[name]) for name in self.shapes}

    def unconstrained(self, values: Mapping[str, Any]) -> Floats:
        """Draws (n, *shape) by site as points (n, d)."""
        return self.coordinates.join(self._unconstrained({name: np.asarray(values[name]) for name in self.shapes}))

    def constrained(self, x: Floats) -> dict[str, Floats]:
        """Points (n, d) as arrays (n, *shape) by site, deterministic ones among them, in the order of the model."""
        values = self._constrained(x)
        return {name: values[name] for name in self._names}

    def initial_values(self, x: Floats) -> dict[str, Floats]:
        """What `MCMC.run` takes as `init_params` for chains that begin at points (chains, d)."""
        return self.coordinates.split(x if len(x) > 1 else x[0])


def _traced(model: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
    """The sites of a model at unconstrained values between -2 and 2."""
    from numpyro import handlers
    from numpyro.infer import init_to_uniform

    begun = handlers.substitute(handlers.seed(model, 0), substitute_fn=init_to_uniform())
    trace: dict[str, Any] = handlers.trace(begun).get_trace(*args, **kwargs)
    return trace


def _shapes(model: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
    """The same sites with shapes in the place of values, which takes no time: nothing is computed."""
    import jax

    kept: dict[str, Any] = {}
    jax.eval_shape(lambda: kept.update(_traced(model, args, kwargs)))
    return kept


def _latent(trace: dict[str, Any]) -> dict[str, Any]:
    """The sites of the parameters, if these can be searched."""
    parts = [
        name
        for name, site in trace.items()
        if site["type"] == "plate" and site["args"][1] not in (None, site["args"][0])
    ]
    if parts:
        raise ValueError(
            f"the model draws a part of its data anew at each evaluation, in {_listed('plate', parts)}; a posterior "
            "has its modes given all data: leave subsample_size out."
        )
    sites = {name: site for name, site in trace.items() if site["type"] == "sample" and not site["is_observed"]}
    discrete = [name for name, site in sites.items() if site["fn"].support.is_discrete]
    if discrete:
        raise ValueError(
            f"the model has discrete parameters, {_listed('site', discrete)}; wanted continuous ones only: sum the "
            "discrete ones out, as dist.MixtureSameFamily does."
        )
    if not sites:
        raise ValueError("the model has no parameters: no sample site without obs; wanted at least one.")
    return sites


def _listed(kind: str, names: list[str]) -> str:
    return f"{kind}{'s' if len(names) > 1 else ''} {', '.join(map(repr, names))}"


def _fixed(model: Any, args: tuple[Any, ...], kwargs: dict[str, Any], trace: dict[str, Any]) -> Any:
    """The model with what is neither drawn nor observed (`numpyro.param`, states of networks) as it begins."""
    from numpyro import handlers

    names = [name for name, site in trace.items() if site["type"] in ("param", "mutable")]
    if not names:
        return model
    begun = _traced(model, args, kwargs)
    return handlers.substitute(model, data={name: begun[name]["value"] for name in names})


def _coordinates(sites: dict[str, Any]) -> Coordinates:
    """The unconstrained coordinates of sites."""
    from numpyro.distributions import biject_to

    shapes, titles = {}, {}
    for name, site in sites.items():
        transform = biject_to(site["fn"].support)
        shapes[name] = tuple(transform.inverse_shape(np.shape(site["value"])))
        while hasattr(transform, "base_transform"):  # for each entry of an array
            transform = transform.base_transform
        titles[name] = _TITLES.get(type(transform).__name__, "unconstrained ") + name
    return Coordinates(shapes, titles)
