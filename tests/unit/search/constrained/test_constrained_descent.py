"""A population whose every point is feasible goes on where a smooth search got stuck."""

import numpy as np
from constrained_runs import DISC, MIDDLE, make_context

from allmodes.search.candidate import SPACE_FILLING
from allmodes.search.searchers.constrained.descent import Descent
from allmodes.search.searchers.constrained.launch import Launch
from allmodes.storage import pack, unpack


def kinked(z):
    return abs(z[0] - 0.55) + 2.0 * abs(z[1] - 0.9)  # lowest where the disc ends


def run(descent, context):
    feasible = True
    while not descent.is_over:
        points = descent.ask(context)
        feasible &= bool(context.constraints.is_feasible(points).all())
        descent.tell(context, np.array([kinked(z) for z in points]))
    return feasible


def test_it_goes_down_over_kinks_to_the_edge():
    context = make_context(DISC)
    descent = Descent(
        Launch(0, MIDDLE + np.array([0.2, 0.0]), SPACE_FILLING, value=kinked(MIDDLE + np.array([0.2, 0.0])))
    )
    assert run(descent, context)
    lowest = 0.55, 0.5 + np.sqrt(0.09 - 0.05**2)
    assert np.abs(descent.launch.point - lowest).max() < 1e-4


def test_saved_and_resumed_it_draws_the_same():
    context = make_context(DISC)
    descent = Descent(Launch(0, MIDDLE.copy(), SPACE_FILLING, value=kinked(MIDDLE)))
    descent.tell(context, np.array([kinked(z) for z in descent.ask(context)]))
    other, rng = unpack(*pack(descent)), unpack(*pack(context.rng))
    ahead = descent.ask(context)
    context.rng = rng
    assert np.array_equal(other.ask(context), ahead)
