"""The waterfall of an audit: every end by its value, modes as plateaus."""

import numpy as np
import pytest
from matplotlib.figure import Figure

from allmodes import audit
from allmodes.report.waterfall import waterfall_of_ends


@pytest.fixture
def result():
    """Three places, hit 20, 8 and once, and an end far above."""
    ends = np.repeat([0.1, 0.5, 0.9, 0.7], [20, 8, 1, 1])[:, None]
    return audit(ends, np.repeat([-1.0, 0.0, 0.5, 1e6], [20, 8, 1, 1]), bounds=[(0, 1)])


def drawn(result):
    ax = Figure().add_subplot()
    assert waterfall_of_ends(result, result.audit, ax) is ax
    return ax


def test_every_end_is_drawn_once_with_the_hits_of_its_mode(result):
    (points,) = drawn(result).collections
    assert len(points.get_offsets()) == 30
    np.testing.assert_array_equal(np.unique(points.get_array(), return_counts=True), [[1, 8, 20], [2, 8, 20]])
    assert np.all(np.diff(points.get_offsets()[:, 1]) >= 0.0)


def test_long_plateaus_have_numbers(result):
    assert [text.get_text() for text in drawn(result).texts][:2] == ["1", "2"]


def test_ends_far_above_are_at_the_rim():
    ends = np.repeat([0.1, 0.5, 0.7], [20, 20, 1])[:, None]
    values = np.repeat([-1.0, 0.0, 1e6], [20, 20, 1])
    some = audit(ends, values, fun=lambda x: -1.0 if x[0] < 0.3 else 0.0 if x[0] < 0.6 else 1e6, bounds=[(0, 1)], rng=0)
    ax = drawn(some)
    assert ax.get_ylim()[1] < 10.0
    assert "1 end beyond" in [text.get_text() for text in ax.get_legend().get_texts()]


def test_what_is_not_at_an_optimum_is_a_cross():
    ends = [[0.98726], [0.98726], [0.9], [-1.0123]]
    some = audit(ends, fun=lambda x: (x[0] ** 2 - 1.0) ** 2 + 0.1 * x[0], bounds=[(-2, 2)], rng=0)
    (crosses,) = (line for line in drawn(some).lines if line.get_marker() == "x")
    assert crosses.get_xdata().tolist() == [4]
    assert some.audit.ends("unconverged").tolist() == [2]


def test_maxima_go_down(result):
    ends = np.repeat([0.1, 0.5], [20, 8])[:, None]
    ax = drawn(audit(ends, np.repeat([3.0, 1.0], [20, 8]), maximise=True, bounds=[(0, 1)]))
    (points,) = ax.collections
    assert np.all(np.diff(points.get_offsets()[:, 1]) <= 0.0)


def test_the_accessor_draws_it(result):
    assert result.plot.waterfall().get_xlabel() == "run, best first"
    assert "runs" in [panel.get_xlabel() for panel in result.plot.convergence().child_axes]
