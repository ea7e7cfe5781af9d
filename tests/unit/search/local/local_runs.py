"""Local searches on their own: functions with known optima, and a loop that evaluates what is asked for."""

import numpy as np

from allmodes.objective import Evaluation
from allmodes.objective.bounds import Box
from allmodes.search.archive import Archive, Frozen
from allmodes.search.candidate import LOCAL, SPACE_FILLING, Start
from allmodes.search.context import Context
from allmodes.search.searchers.local.local_search import LocalSearch


def quartic(z):
    """Four maxima in a unit square, near its corners, with derivatives."""
    x = 4.0 * z - 2.0
    value = -((x**2 - 1.0) ** 2).sum(axis=-1) + 0.3 * x.sum(axis=-1)
    gradient = 4.0 * (-4.0 * x * (x**2 - 1.0) + 0.3)
    hessian = 16.0 * (4.0 - 12.0 * x**2)[..., None] * np.eye(z.shape[-1])
    return value, gradient, hessian


def cone(z):
    """One peak, (0.3, 0.6), at a kink in every coordinate; nowhere curved."""
    apart = z - np.array([0.3, 0.6])
    return -np.abs(apart).sum(axis=-1), -np.sign(apart), np.zeros((*z.shape, z.shape[-1]))


def a_context(order=0, bounds=((0, 1), (0, 1)), function=None, **options):
    """With the level and the scale of the function, if there is one."""
    box = Box.make(bounds)
    context = Context(box, Archive(box), np.random.default_rng(0), order=order, **options)
    if function is not None:
        context.observe_level(function(np.random.default_rng(1).random((101, box.d)))[0])
    return context


def freeze(context, point, value, hessian=None, kind="optimum"):
    d = context.box.d
    record = Frozen(
        np.zeros(d), -50.0 * np.eye(d) if hessian is None else hessian, np.zeros(d, bool), kind, "differences", 1
    )
    return context.archive.add(np.array(point, dtype=float), value, record)


def begin(context, points, recognises=True, kind=SPACE_FILLING, radius=0.0):
    local = LocalSearch(context, recognises)
    local.open([Start(np.array(point, dtype=float), kind, radius) for point in points], LOCAL)
    return local


def answer(context, blocks, function):
    """What the function says about each block, as far as the order goes."""
    told = []
    for block in blocks:
        assert np.isfinite(block.points).all()
        assert context.box.inside(block.points.reshape(-1, context.box.d)).all()
        value, gradient, hessian = function(block.points)
        context.observe(block.points.reshape(-1, context.box.d), value.reshape(-1), value.size)
        order = context.order
        told.append(Evaluation(value, gradient if order > 0 else None, hessian if order > 1 else None))
    return told


def run(local, function, most=None, rounds=2000):
    """Evaluate until all searches are over; their events in the order in which they ended."""
    events = []
    for _ in range(rounds):
        if not len(local):
            break
        blocks = local.ask(most)
        events += local.tell(blocks, answer(local.context, blocks, function))
    assert not len(local)
    return events
