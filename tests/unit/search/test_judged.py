"""Points are followed to where they lead, and judged there."""

import numpy as np
import pytest

from allmodes.loop import Execution, Function, find
from allmodes.search.judged import Judged
from allmodes.task import Task


def followed(fun, starts, bounds, **more):
    """The strategy after it is over, and the result."""
    kept = []

    def strategy(context):
        kept.append(Judged(context, context.box.to_unit(np.asarray(starts, dtype=float))))
        return kept[0]

    settings = {"maxfev": None, "maxiter": None, "maxtime": None, "n_modes": None, "noise": None, "options": None}
    task = Task(
        bounds=bounds, x0=None, warm_start=None, maximise=False, target="all", method="multistart", xtol=1e-6,
        periodic=None, polish=True, rng=0, names=None, strategy=strategy, **(settings | more),
    )  # fmt: skip
    result = find(task, Function(fun, (), None, None, False), Execution(1, None, 1, "nan", None, False, None))
    return kept[0], result


def two(x):
    return (x[0] ** 2 - 1.0) ** 2 + x[1] ** 2


def test_each_start_leads_where_its_basin_is_and_knows_how_far_that_was():
    judged, result = followed(two, [[1, 0], [-1, 0], [1.3, 0.2], [-0.8, 0.1]], [(-2, 2)] * 2)
    modes = [judged.verdicts[str(i)].mode for i in range(4)]
    assert modes[0] == modes[2] != modes[1] == modes[3]
    for i, wanted in enumerate([1.0, -1.0, 1.0, -1.0]):
        arrived = judged.context.box.to_user(judged.verdicts[str(i)].point[None])[0]
        np.testing.assert_allclose(arrived, [wanted, 0.0], atol=1e-3)
    assert len(result.modes) == 2
    assert judged.ending == "every place is checked"
    assert judged.account == "4 places checked"


def test_no_other_place_is_looked_at():
    _, result = followed(two, [[1, 0]], [(-2, 2)] * 2)
    assert len(result.modes) == 1
    assert result.nfev < 100


def test_on_a_level_valley_a_start_is_where_it_is():
    angle = np.linspace(0.0, 2.0, 5)
    starts = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    judged, result = followed(lambda x: (x[0] ** 2 + x[1] ** 2 - 1.0) ** 2, starts, [(-2, 2)] * 2)
    assert len(result.modes) == 1
    units = judged.context.box.to_unit(starts)
    points = np.array([judged.verdicts[str(i)].point for i in range(5)])
    np.testing.assert_allclose(points, units, atol=1e-4)


@pytest.mark.parametrize(
    ("fun", "start", "told"),
    [
        (lambda x: np.nan if x[0] > 0.5 else x[0] ** 2, [0.9, 0.0], "the function failed there"),
        (lambda x: x[0], [0.0, 0.0], "without end"),
    ],
)
def test_why_a_start_leads_to_no_mode(fun, start, told):
    box = [(-1, 1)] * 2 if "failed" in told else [(None, 1), (-1, 1)]
    judged, _ = followed(fun, [start], box)
    assert judged.verdicts["0"].mode == -1
    assert told in judged.verdicts["0"].reason


def test_the_budget_is_kept():
    grid = np.stack(np.meshgrid(np.linspace(-5, 5, 9), np.linspace(-5, 5, 9)), axis=-1).reshape(-1, 2)
    judged, result = followed(lambda x: (10 + x**2 - 10 * np.cos(6.28 * x)).sum(), grid, [(-5, 5)] * 2, maxfev=300)
    assert result.nfev <= 300
    assert 0 < len(judged.verdicts) < len(grid)
    assert judged.ending == ""


def test_where_every_value_fails_it_ends():
    judged, result = followed(lambda x: np.nan, [[0.0, 0.0]], [(-1, 1)] * 2)
    assert not result.modes
    assert judged.verdicts["0"].mode == -1
