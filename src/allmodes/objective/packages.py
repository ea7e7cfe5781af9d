"""Values and derivatives by JAX, PyTorch and autograd, in float64, without touching global settings."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from allmodes.objective.autodiff import compiled
from allmodes.objective.evaluation import Evaluation, Needs
from allmodes.objective.objective import Objective
from allmodes.objective.parts import GRADIENT_NAME, HESSIAN_NAME, VALUE_NAME, Counts

PACKAGES = ("jax", "torch", "autograd")

Floats = NDArray[np.float64]


def require(package: str, argument: str) -> None:
    """Raise ImportError that says what to install when a package that was asked for is missing."""
    try:
        importlib.import_module(package)
    except ImportError as error:
        raise ImportError(f'{argument}="{package}" needs {package}: pip install "allmodes[{package}]"') from error


@dataclass(frozen=True)
class Single:
    """A function of one point, made from one that may take a batch."""

    function: Callable[[Any], Any]
    vectorized: bool

    def __call__(self, x: Any) -> Any:
        """The function at one point."""
        return self.function(x[None])[0] if self.vectorized else self.function(x)


@dataclass(frozen=True)
class JaxPart:
    """A function written in JAX: compiled for a few batch sizes, with the derivatives JAX derives from it.

    Batches are filled up to powers of two by repeating a point: JAX compiles once for each size it meets.
    """

    objective: Objective
    provides: Needs
    batched: ClassVar[bool] = True
    _compiled: dict[Needs, Callable[[Floats], Evaluation]] = field(default_factory=dict, compare=False, repr=False)

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_compiled": {}}  # compiled code stays in its process

    def __call__(self, x: Floats, wanted: Needs) -> dict[str, Any]:
        """What is wanted at points (N, D)."""
        needs = wanted - {VALUE_NAME}
        if needs not in self._compiled:
            self._compiled[needs] = compiled(self.objective, needs)
        N = len(x)
        rows = np.minimum(np.arange(1 << (N - 1).bit_length()), N - 1)
        found = self._compiled[needs](x[rows])
        return {name: part[:N] for name, part in found._asdict().items() if part is not None}

    def cost(self, wanted: Needs) -> Counts:
        """One of each."""
        return Counts.of(wanted & self.provides)


@dataclass(frozen=True)
class JaxVector:
    """A vector-valued function written in JAX, or its Jacobian, compiled for points (N, D)."""

    function: Single
    is_jacobian: bool
    _compiled: list[Callable[[Floats], Any]] = field(default_factory=list, compare=False, repr=False)

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_compiled": []}  # compiled code stays in its process

    def __call__(self, x: Floats) -> Floats:
        """(N, m), or (N, m, D); batches are filled up to powers of two, as in `JaxPart`."""
        import jax

        if not self._compiled:
            derived = jax.jacfwd(self.function) if self.is_jacobian else self.function
            self._compiled.append(jax.jit(jax.vmap(derived)))
        N = len(x)
        rows = np.minimum(np.arange(1 << (N - 1).bit_length()), N - 1)
        with jax.enable_x64(True):
            return np.asarray(self._compiled[0](x[rows]), dtype=np.float64)[:N]


@dataclass(frozen=True)
class TorchPart:
    """A function written in PyTorch; all points at once where torch.func.vmap can, one by one where it cannot."""

    function: Single
    provides: Needs
    batched: ClassVar[bool] = True

    def __call__(self, x: Floats, wanted: Needs) -> dict[str, Any]:
        """What is wanted at points (N, D)."""
        import torch

        points = torch.tensor(x, dtype=torch.float64)
        try:
            found = self._mapped(points, wanted)
        except Exception:  # branches on values, random numbers, ...: the loop works, or says what is wrong
            rows = [self._one(point, wanted) for point in points]
            found = {name: torch.stack([row[name] for row in rows]) for name in rows[0]}
        return {name: part.detach().cpu().numpy() for name, part in found.items()}

    def cost(self, wanted: Needs) -> Counts:
        """One of each."""
        return Counts.of(wanted & self.provides)

    def _scalar(self, x: Any) -> Any:
        import torch

        return torch.as_tensor(self.function(x), dtype=torch.float64).reshape(())

    def _mapped(self, points: Any, wanted: Needs) -> dict[str, Any]:
        import torch

        found = {}
        if GRADIENT_NAME in wanted:
            both = torch.func.vmap(torch.func.grad_and_value(self._scalar))(points)
            found[GRADIENT_NAME], found[VALUE_NAME] = both
        elif VALUE_NAME in wanted:
            with torch.no_grad():
                found[VALUE_NAME] = torch.func.vmap(self._scalar)(points)
        if HESSIAN_NAME in wanted:
            found[HESSIAN_NAME] = torch.func.vmap(torch.func.hessian(self._scalar))(points)
        return found

    def _one(self, point: Any, wanted: Needs) -> dict[str, Any]:
        import torch

        found = {}
        if GRADIENT_NAME in wanted:
            found[GRADIENT_NAME] = torch.autograd.functional.jacobian(self._scalar, point.clone())
        if VALUE_NAME in wanted:
            with torch.no_grad():
                found[VALUE_NAME] = self._scalar(point.clone())
        if HESSIAN_NAME in wanted:
            found[HESSIAN_NAME] = torch.autograd.functional.hessian(self._scalar, point.clone())
        return found


@dataclass(frozen=True)
class AutogradPart:
    """Derivatives by the autograd package, point by point; values come from the function itself."""

    function: Single
    provides: Needs
    batched: ClassVar[bool] = False

    def __call__(self, x: Floats, wanted: Needs) -> dict[str, Any]:
        """What is wanted at one point (D,)."""
        import autograd

        found = {}
        if GRADIENT_NAME in wanted:
            found[GRADIENT_NAME] = autograd.grad(self.function)(x)
        if HESSIAN_NAME in wanted:
            found[HESSIAN_NAME] = autograd.hessian(self.function)(x)
        return found

    def cost(self, wanted: Needs) -> Counts:
        """One of each."""
        return Counts.of(wanted & self.provides)
