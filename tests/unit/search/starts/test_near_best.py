import numpy as np

from allmodes.search.candidate import NEAR_BEST
from allmodes.search.starts.near_best import draw
from allmodes.search.starts.tuning import TUNING


def test_starts_are_around_the_best_mode_at_distances_of_all_orders(make_context):
    context = make_context([[0.2, 0.3], [0.6, 0.4]], [1.0, 2.0])
    starts = draw(context, 2000)
    apart = np.array([start.point for start in starts]) - [0.6, 0.4]
    sizes = np.array([start.radius for start in starts])
    assert {start.kind for start in starts} == {NEAR_BEST}
    assert context.tolerances.near <= sizes.min() < 2 * context.tolerances.near
    assert TUNING.farthest / 1.1 < sizes.max() <= TUNING.farthest
    tenths = np.log10(sizes / sizes.min())
    assert 0.4 < np.mean(tenths < 0.5 * tenths.max()) < 0.6  # as many in each order of magnitude
    assert 0.9 < np.sqrt(np.mean((apart[sizes < 0.1] / sizes[sizes < 0.1, None]) ** 2)) < 1.1


def test_starts_stay_inside_the_bounds(make_context):
    points = np.array([start.point for start in draw(make_context([[0.0, 1.0]]), 500)])
    assert ((points >= 0.0) & (points <= 1.0)).all()
