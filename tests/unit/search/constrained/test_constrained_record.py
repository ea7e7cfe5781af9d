"""What the archive keeps of a mode under constraints."""

import numpy as np
import pytest
from constrained_runs import DISC, MIDDLE, make_context, play, verify

from allmodes.search.candidate import SPACE_FILLING
from allmodes.search.searchers.constrained.launch import Launch
from allmodes.search.searchers.constrained.record import frozen_of


def test_multipliers_are_those_of_the_function_that_is_minimised_in_units_of_the_constraint():
    context = make_context(DISC, order=1)
    launch = Launch(0, MIDDLE.copy(), SPACE_FILLING)
    fun, grad = (lambda z: -z[0]), (lambda z: np.array([-1.0, 0.0]))
    play(launch, context, fun, grad)
    found = frozen_of(context, verify(launch, context, fun, grad))
    assert found.kind == "constrained"
    assert found.held.constraints == (0,)
    assert found.held.multipliers * 2.0 * 0.3 == pytest.approx([-1.0], rel=1e-4)  # gradient = multiplier * 2 (x - m)
    assert found.held.violation <= 1e-8
    assert found.held.free == 1
    assert found.gradient == pytest.approx([1.0, 0.0])  # of what is maximised
    assert np.linalg.eigvalsh(found.hessian)[0] == pytest.approx(-1.0 / 0.3, rel=1e-3)  # the curvature is the circle's


def test_in_the_interior_it_is_an_ordinary_optimum():
    context = make_context(DISC, order=1)
    launch = Launch(0, MIDDLE + 0.1, SPACE_FILLING)
    fun, grad = (lambda z: float((z - MIDDLE) @ (z - MIDDLE))), (lambda z: 2.0 * (z - MIDDLE))
    play(launch, context, fun, grad)
    found = frozen_of(context, verify(launch, context, fun, grad))
    assert (found.kind, found.held.constraints, found.held.free) == ("optimum", (), 2)
    assert found.hessian == pytest.approx(-2.0 * np.eye(2), rel=1e-4)
