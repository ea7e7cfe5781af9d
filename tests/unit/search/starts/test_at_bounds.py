import numpy as np

from allmodes.objective.bounds import Box
from allmodes.search.candidate import AT_BOUNDS
from allmodes.search.starts.at_bounds import draw


def test_starts_are_on_faces_edges_and_corners(make_context):
    box = Box.make([(0, 1)] * 3)
    starts = draw(make_context(box=box), 300)
    points = np.array([start.point for start in starts])
    assert box.inside(points).all()
    held = ((points == 0.0) | (points == 1.0)).sum(axis=1)
    assert set(held) == {1, 2, 3}
    for bound in (0.0, 1.0):
        assert (points == bound).any(axis=0).all()
    assert {start.kind for start in starts} == {AT_BOUNDS}


def test_no_start_is_put_on_a_bound_that_is_not_there(make_context):
    box = Box.make([(0, np.inf), (0, 1)], x0=[[0.5, 0.5]], periodic=[1])
    points = np.array([start.point for start in draw(make_context(box=box), 100)])
    assert np.isfinite(points).all()
    assert (points[:, 0] == 0.0).any()
    assert not np.isin(points[:, 1], [0.0, 1.0]).any()
