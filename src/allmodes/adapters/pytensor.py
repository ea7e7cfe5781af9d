"""PyTensor's graphs as functions of many points, evaluated by NumPy: no compiler, and no seconds of waiting for one."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

_LATE = 60.0  # after all rewrites that look at sums and products (up to 49), before those that work in place (75)

Floats = NDArray[np.float64]


@functools.cache
def in_python() -> Any:
    """The mode for evaluation by NumPy: all rewrites that make formulas stable, none that a compiler would want.

    Sums and products of three and more terms are taken in pairs, or PyTensor would loop over their entries in Python: a
    factor of 40 for a thousand data.
    """
    from pytensor.compile.mode import Mode
    from pytensor.graph.rewriting.basic import WalkingGraphRewriter, node_rewriter
    from pytensor.scalar import Add, Mul
    from pytensor.tensor.elemwise import Elemwise

    def in_pairs(fgraph: Any, node: Any) -> Any:
        many = len(node.inputs) > 2 and isinstance(node.op.scalar_op, Add | Mul)
        return [functools.reduce(node.op, node.inputs)] if many else None

    mode = Mode("py", "fast_run").excluding("fusion", "inplace")
    return mode.register((WalkingGraphRewriter(node_rewriter([Elemwise])(in_pairs)), _LATE))


def compiled(model: Any, inputs: list[Any], outputs: list[Any], mode: Any = None) -> Any:
    """A function of the inputs that returns a list."""
    return model.compile_fn(outputs, inputs=inputs, mode=mode or in_python(), point_fn=False, on_unused_input="ignore")


def for_points(model: Any, joined: Any, outputs: list[Any], trial: Floats, mode: Any = None) -> Callable[[Floats], Any]:
    """A function of points (n, d) that returns the outputs, which are of one point, at each of them: (n, ...).

    Args:
        model: whose outputs they are.
        joined: the point, a vector.
        outputs: what depends on it.
        trial: points to try it with.
        mode: of PyTensor; for evaluation by NumPy if there is none.
    """
    from pytensor.graph.replace import vectorize_graph
    from pytensor.tensor import matrix

    try:
        points = matrix("points", dtype=joined.dtype)
        at_all = compiled(model, [points], vectorize_graph(outputs, {joined: points}), mode)
        at_all(trial)
    except Exception:  # whatever an operation raises that cannot be done for many points: one after another
        at_one = compiled(model, [joined], outputs, mode)
        return lambda x: tuple(np.array(rows) for rows in zip(*(at_one(point) for point in x), strict=True))

    def function(x: Floats) -> tuple[Floats, ...]:
        found = [np.asarray(each) for each in at_all(x)]
        pairs = zip(found, outputs, strict=True)  # what does not depend on the point comes once
        return tuple(np.broadcast_to(a, (len(x), *a.shape)) if a.ndim == one.ndim else a for a, one in pairs)

    return function
