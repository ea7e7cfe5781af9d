"""From what users pass (fun, args, jac, hess, vectorized) to the parts that the evaluator calls."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from allmodes.objective.autodiff import traceable
from allmodes.objective.bounds import Box
from allmodes.objective.equations import Equations
from allmodes.objective.evaluation import BY_ORDER, VALUE, Needs
from allmodes.objective.grids import WithChoices, labels_of
from allmodes.objective.objective import Objective
from allmodes.objective.packages import PACKAGES, AutogradPart, JaxPart, Single, TorchPart, require
from allmodes.objective.parts import GRADIENT_NAME, HESSIAN_NAME, VALUE_NAME, Differences, Given, Pair, Part, WithArgs
from allmodes.objective.residuals import SumOfSquares

TWO_POINT = "2-point"
_KEPT = 4  # sources that a worker process keeps, with their compiled code; one search needs one or two

_restored: dict[str, Source] = {}


@dataclass(frozen=True)
class Source:
    """The user's function and its derivatives, as parts that the evaluator calls in order.

    Args:
        parts: together they provide values, and derivatives up to the order.
        order: 0 for values alone, 1 with gradients, 2 with Hessians.
        has_model: whether a model of the Hessian comes with gradients: the matrix of Gauss and Newton, of residuals.
        plain: the user's own functions, when all are functions: compiled as soon as they are seen to be JAX's.
        is_system: whether what comes as gradients and Hessians is F and its Jacobian: see `Equations`.
    """

    parts: tuple[Part, ...]
    order: int
    plain: Objective | None = None
    has_model: bool = False
    is_system: bool = False

    @staticmethod
    def make(
        fun: Any, args: Any = (), jac: Any = None, hess: Any = None, vectorized: bool = False, *, box: Box
    ) -> Source:
        """The source of what the user passed.

        Args:
            fun: value at one point (D,), or with `vectorized` values (N,) at points (N, D).
            args: further arguments of fun, jac and hess.
            jac: None or "2-point" for values alone; a function; True when fun returns (value, gradient); "jax",
                "torch" or "autograd" when fun is written with that package.
            hess: None, a function, "jax", "torch", "autograd" (which give the gradient too), or "2-point" for
                differences of gradients. Where Hessians are cheap they are worth it: `hess="jax"` gives Newton steps.
            vectorized: whether the functions take points (N, D).
            box: where fun may be called; differences stay inside it.

        >>> box = Box.make([(-1, 1), (-1, 1)])
        >>> Source.make(lambda x: (x**2).sum(), jac=lambda x: 2 * x, hess="2-point", box=box).order
        2
        """
        _check(fun, jac, hess, vectorized)
        jac = None if jac is False or jac == TWO_POINT else jac
        if jac is None and hess == TWO_POINT:
            hess = None
        if jac is None and isinstance(hess, str):
            jac = hess
        if jac is None and hess is not None:
            raise ValueError("hess was given without jac; give both: jac may be a function, True, 'jax' or 'torch'.")
        args = args if isinstance(args, tuple) else (args,)
        if any(box.grids):
            _check_grids(jac, hess)
        fun, jac, hess = (WithArgs(f, args) if callable(f) and args else f for f in (fun, jac, hess))
        labels = labels_of(box.grids)
        fun = WithChoices(fun, labels) if labels else fun
        return _source(fun, jac, hess, vectorized, box)

    @property
    def offers(self) -> Needs:
        """The derivatives that can be asked for."""
        return BY_ORDER[2 if self.has_model else self.order]

    def cost(self, needs: Needs) -> int:
        """Evaluations of the function for one point at which these derivatives are wanted, too."""
        wanted = needs | {VALUE_NAME}
        return sum(part.cost(part.provides & wanted).nfev for part in self.parts if part.provides & wanted)

    @property
    def is_derived(self) -> bool:
        """Whether gradients are made of differences: they need not be compared with any."""
        return any(isinstance(part, SumOfSquares | Equations) and part.jac is None for part in self.parts)

    @property
    def batched(self) -> bool:
        """Whether anything takes many points in one call, and so may round differently in batches of other sizes."""
        return any(part.batched for part in self.parts)

    def coarser(self, rounding: float) -> Source:
        """The same with differences over longer steps, for functions that are off by such a share of their values."""
        differenced = SumOfSquares | Equations | Differences
        parts = tuple(part.coarser(rounding) if isinstance(part, differenced) else part for part in self.parts)
        return self if parts == self.parts else replace(self, parts=parts)

    def compiled(self, D: int) -> Source:
        """The same as compiled code, if JAX can trace the user's functions; otherwise this source."""
        if self.plain is None:
            return self
        try:
            problem = traceable(self.plain, D, self.offers)
        except (TypeError, ValueError):  # what is wrong with the result is said where it is evaluated
            return self
        return self if problem else Source((JaxPart(self.plain, self.offers | {VALUE_NAME}),), self.order)

    def __reduce__(self) -> Any:
        """Travels with a name, by which a worker process finds code it has already compiled."""
        name = self.__dict__.setdefault("_name", uuid.uuid4().hex)
        return _restore, (name, self.parts, self.order, self.plain, self.has_model, self.is_system)


def _restore(name: str, *fields: Any) -> Source:
    if name not in _restored:
        while len(_restored) >= _KEPT:
            del _restored[next(iter(_restored))]
        _restored[name] = Source(*fields)
        _restored[name].__dict__["_name"] = name
    return _restored[name]


def _source(fun: Callable[[Any], Any], jac: Any, hess: Any, vectorized: bool, box: Box) -> Source:
    """The source of arguments that have been checked and completed."""
    asked = {GRADIENT_NAME: jac, HESSIAN_NAME: hess}
    packages = {given for given in asked.values() if isinstance(given, str) and given in PACKAGES}
    parts: list[Part] = []
    if packages:
        package = packages.pop()
        names = frozenset(name for name, given in asked.items() if given == package)
        parts += _package_parts(package, fun, names, vectorized, box)
    elif jac is True:
        parts.append(Pair(fun, vectorized))
    else:
        parts.append(Given(VALUE_NAME, fun, vectorized))
    parts += [Given(name, given, vectorized) for name, given in asked.items() if callable(given)]
    if hess == TWO_POINT:
        i = next(i for i, part in enumerate(parts) if GRADIENT_NAME in part.provides)
        parts[i] = Differences(parts[i], box)
    functions = all(given is None or callable(given) for given in asked.values())
    plain = Objective(fun, jac, hess, vectorized) if functions else None
    return Source(tuple(parts), (jac is not None) + (hess is not None), plain)


def _package_parts(package: str, fun: Callable[[Any], Any], names: Needs, vectorized: bool, box: Box) -> list[Part]:
    """Values, and the named derivatives by a package."""
    argument = "hess" if HESSIAN_NAME in names else "jac"
    require(package, argument)
    if package == "autograd":
        return [Given(VALUE_NAME, fun, vectorized), AutogradPart(Single(fun, vectorized), names)]
    if package == "torch":
        return [TorchPart(Single(fun, vectorized), names | {VALUE_NAME})]
    objective = Objective(fun, vectorized=vectorized)
    problem = traceable(objective, box.D, VALUE) or traceable(objective, box.D, names)
    if problem is not None:
        raise TypeError(
            f'{argument}="jax": JAX cannot derive fun ({problem}). It must be written with jax.numpy and return '
            "one number for a point. Otherwise give jac and hess as functions, or leave them out."
        ) from problem
    return [JaxPart(objective, names | {VALUE_NAME})]


def _check_grids(jac: Any, hess: Any) -> None:
    name = "jac" if jac is not None else "hess"
    if jac is not None or hess is not None:
        raise ValueError(
            f"{name} is given and some coordinates are whole numbers or choices, which have no derivatives; leave jac "
            "and hess out: real coordinates beside them are searched by differences of values."
        )


def _check(fun: Any, jac: Any, hess: Any, vectorized: Any) -> None:
    if not callable(fun):
        raise TypeError(f"fun is {fun!r} ({type(fun).__name__}); a function was wanted.")
    if not isinstance(vectorized, bool):
        raise TypeError(f"vectorized is {vectorized!r} ({type(vectorized).__name__}); True or False was wanted.")
    words = (*PACKAGES, TWO_POINT)
    allowed = ", ".join(f'"{word}"' for word in words)
    for name, given, more in (("jac", jac, "None, a function, True"), ("hess", hess, "None, a function")):
        if given is None or callable(given) or (isinstance(given, str) and given in words):
            continue
        if isinstance(given, bool) and name == "jac":
            continue
        error = ValueError if isinstance(given, str) else TypeError
        raise error(f"{name} is {given!r} ({type(given).__name__}); wanted {more}, or one of {allowed}.")
    packages = {given for given in (jac, hess) if isinstance(given, str) and given in PACKAGES}
    if len(packages) > 1:
        raise ValueError(f"jac={jac!r} and hess={hess!r}: fun cannot be written in both; use one package.")
    if packages and jac is True:
        raise ValueError(f"jac=True and hess={hess!r}: fun must return its value alone; use jac={hess!r}.")
