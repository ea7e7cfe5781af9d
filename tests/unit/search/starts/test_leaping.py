import numpy as np

from allmodes.objective.bounds import Box
from allmodes.search.candidate import LEAPING
from allmodes.search.starts.leaping import draw


def test_starts_are_anywhere_in_the_box(make_context):
    starts = draw(make_context(box=Box.make([(0, 1)] * 3)), 40)
    assert {start.kind for start in starts} == {LEAPING}
    assert np.ptp([start.point for start in starts], axis=0).min() > 0.7
