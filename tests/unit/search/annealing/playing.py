"""Annealing played against functions whose modes are known."""

import numpy as np

from allmodes.objective import Evaluation
from allmodes.objective.bounds import Box
from allmodes.search.archive import Archive, Frozen
from allmodes.search.context import Context
from allmodes.search.searchers.annealing.annealing import Annealing

HIMMELBLAU = np.array([[3.0, 2.0], [-2.805118, 3.131313], [-3.77931, -3.283186], [3.584428, -1.848127]])


def himmelblau(x):
    """Value, gradient and Hessian of minus Himmelblau's function."""
    a, b = x[:, 0] ** 2 + x[:, 1] - 11, x[:, 0] + x[:, 1] ** 2 - 7
    gradient = -np.stack([4 * x[:, 0] * a + 2 * b, 2 * a + 4 * x[:, 1] * b], axis=1)
    hessian = np.empty((len(x), 2, 2))
    hessian[:, 0, 0], hessian[:, 1, 1] = 42 - 12 * x[:, 0] ** 2 - 4 * x[:, 1], 26 - 12 * x[:, 1] ** 2 - 4 * x[:, 0]
    hessian[:, 0, 1] = hessian[:, 1, 0] = -4 * (x[:, 0] + x[:, 1])
    return -(a**2) - b**2, gradient, hessian


def frozen(hessian):
    d = len(hessian)
    return Frozen(np.zeros(d), np.array(hessian, float), np.zeros(d, bool), "optimum", "derivatives", 0)


def make(
    order=2, maxfev=5000, bounds=((-5, 5), (-5, 5)), seed=0, is_global=False, periodic=None, repels=None, **options
):
    box = Box.make(bounds, periodic=periodic)
    context = Context(box, Archive(box), np.random.default_rng(seed), order=order, maxfev=maxfev, is_global=is_global)
    annealing = Annealing(context, **options)
    annealing.repels = annealing.repels if repels is None else repels
    return annealing


def settle_on(modes, hessian=None):
    """A polish that knows the answer: the nearest mode is archived."""

    def settle(context, point):
        units = context.box.to_unit(modes)
        mode = units[np.argmin(((units - point) ** 2).sum(axis=1))]
        if context.archive.closest(mode)[1] > 1e-6:
            context.archive.add(mode, 0.0, frozen(-np.eye(len(mode)) if hessian is None else hessian))

    return settle


def play(annealing, fun=himmelblau, rounds=1000, settle=None):
    """Ask and tell until it ends; every point asked for, in unit coordinates, and all events."""
    context = annealing.context
    box, points, events = context.box, [np.zeros((0, context.box.d))], []
    for _ in range(rounds):
        request = annealing.ask(is_settled=True)
        if not len(request.points):
            break
        assert box.inside(request.points).all()
        points.append(request.points)
        value, gradient, hessian = fun(box.to_user(request.points))
        context.observe(request.points, value, len(value))
        told = annealing.tell(
            Evaluation(
                value,
                gradient * box.scale if "gradient" in request.needs else None,
                hessian * (box.scale[:, None] * box.scale) if "hessian" in request.needs else None,
            )
        )
        events += told
        for event in told:
            if settle is not None:
                settle(context, event.point)
    return np.concatenate(points), events


def ends_of(annealing, events):
    """Where the events are, in the user's coordinates."""
    points = np.array([event.point for event in events]).reshape(-1, annealing.context.box.d)
    return annealing.context.box.to_user(points)
