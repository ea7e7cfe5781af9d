"""The draws of a posterior as ArviZ has them."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import numpy as np

from allmodes.adapters.peers import peer

if TYPE_CHECKING:
    from allmodes.adapters.posterior import PosteriorModes


def arviz_data(posterior: PosteriorModes, draws: int, rng: Any) -> Any:
    """See `PosteriorModes.to_arviz`."""
    masses, program = posterior.masses, posterior.program
    if masses is None:
        why = (
            "the modes are those of a density without the Jacobian, which is not that of the posterior; leave "
            "jacobian=False out."
            if not program.jacobian
            else f"no mode was found: {posterior.result.message}"
            if not posterior.modes
            else "no draws were made; leave draws=0 out of find_modes."
        )
        raise ValueError(f"there are no draws for ArviZ: {why}")
    arviz = peer("arviz", extra="numpyro")
    if masses.reason:
        warnings.warn(f"the draws do not stand for the posterior: {masses.reason}", stacklevel=3)
    drawn = masses.resample(draws, rng)
    dataset = _dataset(program.constrained(drawn.x), drawn.mode, program.dims, program.coords)
    dataset.attrs = {
        "created_at": datetime.now(UTC).isoformat(),
        "inference_library": "allmodes",
        "inference_library_version": posterior.result.versions["allmodes"],
        "masses": masses.mass,
        "pareto_k": np.array([each.pareto_k for each in masses]),
    }
    if int(arviz.__version__.partition(".")[0]) < 1:
        return arviz.InferenceData(posterior=dataset)
    return peer("xarray", extra="numpyro").DataTree.from_dict({"posterior": dataset})


def _dataset(values: Mapping[str, Any], mode: Any, dims: Mapping[str, Any], coords: Mapping[str, Any]) -> Any:
    """One chain of draws, with dimensions called as in the model, or as ArviZ does."""
    variables: dict[str, Any] = {}
    labels = {"chain": [0], "draw": np.arange(len(mode)), "mode": ("draw", np.asarray(mode))}
    for name, rows in values.items():
        given = dims.get(name) or ()
        axes = [given[i] if i < len(given) and given[i] else f"{name}_dim_{i}" for i in range(np.ndim(rows) - 1)]
        variables[name] = (("chain", "draw", *axes), np.asarray(rows)[None])
        for axis, size in zip(axes, np.shape(rows)[1:], strict=True):
            labels[axis] = np.arange(size) if coords.get(axis) is None else np.asarray(coords[axis])
    return peer("xarray", extra="numpyro").Dataset(variables, labels)
