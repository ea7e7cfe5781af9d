"""What follows from ways between modes, and the tree that is drawn of them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from drawn import mode, result
from matplotlib.figure import Figure

from allmodes.report import tree
from allmodes.report.accessor import OF_SOME, Plots
from allmodes.result import Barriers, Way
from allmodes.result.barriers import ordered


def way(i, j, value, is_saddle=True):
    return Way((i, j), value, np.array([0.5, float(i)]), is_saddle, np.array([[0.0, i], [1.0, j]]))


def some(maximise=False, left_out=(), is_complete=True):
    """Five modes: 1 and 2 join at 4, 3 and 5 at 5, all of these at 7, and 4 at 9; the way from 2 to 3 is no better."""
    sign = -1.0 if maximise else 1.0
    ways = [way(1, 2, 4.0), way(3, 5, 5.0), way(2, 5, 7.0), way(2, 3, 8.0), way(4, 5, 9.0, False)]
    kept = [replace(each, value=sign * each.value) for each in ways if each.modes not in left_out]
    return Barriers(sign * np.arange(5.0), maximise, ordered(kept[::-1], maximise), 321, 0, is_complete)


def connected(**changes):
    sign = -1.0 if changes.get("maximise") else 1.0
    kind = "maximum" if changes.get("maximise") else "minimum"
    modes = tuple(mode([0.4 * i - 1.0, 0.5], sign * i, is_global=not i, kind=kind) for i in range(5))
    return result(modes=modes, mixture=None, maximise=changes.get("maximise", False), barriers=some(**changes))


def axes(width=4.0):
    return Figure(figsize=(width, 3.0)).add_subplot()


# ---- barriers


def test_groups_join_as_the_level_rises():
    merges = [(merge.value, merge.better, merge.worse) for merge in some().merges]
    assert merges == [
        (4.0, (1,), (2,)), (5.0, (3,), (5,)), (7.0, (1, 2), (3, 5)), (9.0, (1, 2, 3, 5), (4,)),
    ]  # fmt: skip


def test_the_barrier_is_that_of_the_best_way_also_over_others():
    barriers = some()
    assert barriers.between(2, 3) == barriers.between(3, 2) == 7.0
    assert barriers.between(1, 4) == 9.0
    assert barriers.between(2, 2) == 1.0
    matrix = barriers.matrix
    np.testing.assert_array_equal(matrix, matrix.T)
    np.testing.assert_array_equal(np.diag(matrix), barriers.values)


def test_depths_lead_to_better_modes():
    np.testing.assert_array_equal(some().depths, [np.inf, 3.0, 5.0, 6.0, 1.0])
    np.testing.assert_array_equal(some(maximise=True).depths, [np.inf, 3.0, 5.0, 6.0, 1.0])


def test_the_best_way_goes_over_other_modes():
    barriers = some()
    assert [each.modes for each in barriers.way(1, 3)] == [(1, 2), (2, 5), (3, 5)]
    assert [each.modes for each in barriers.way(3, 1)] == [(3, 5), (2, 5), (1, 2)]
    assert max(each.value for each in barriers.way(1, 3)) == barriers.between(1, 3)
    assert barriers.way(4, 4) == []


def test_where_no_way_is_known_barriers_are_infinite():
    barriers = some(left_out=[(2, 5), (2, 3)])
    assert barriers.between(1, 3) == np.inf
    assert barriers.way(1, 3) == []
    assert some(maximise=True, left_out=[(2, 5), (2, 3)]).between(1, 3) == -np.inf
    assert "2 groups of modes that no way joins" in repr(barriers)


def test_ranks_that_are_none_are_refused():
    for rank in (0, 6, 1.5, True):
        with pytest.raises(ValueError, match="wanted two ranks from 1 to 5"):
            some().between(rank, 1)


def test_it_is_printed_as_a_table():
    said = repr(some())
    assert "5 modes: 5 ways, 321 evaluations" in said
    rows = [line.split() for line in said.splitlines()[3:]]
    assert rows[1][:5] == ["2", "1", "4", "3", "1"]
    assert said.splitlines()[6].endswith("no saddle")
    assert "ended by maxfev" in repr(some(is_complete=False))
    assert "lower" in repr(some(maximise=True))
    assert max(map(len, said.splitlines())) < 80


# ---- the tree


def test_lines_do_not_cross():
    laid = tree.arrange(some())
    assert sorted(laid.x) == [0.0, 1.0, 2.0, 3.0, 4.0]
    for merge in some().merges:  # every group is side by side
        places = sorted(laid.x[rank - 1] for rank in (*merge.better, *merge.worse))
        assert np.ptp(places) == len(places) - 1
    assert len(laid.tops) == 1


@pytest.mark.parametrize("maximise", [False, True])
def test_lines_end_at_values_and_join_at_barriers(maximise):
    shown = connected(maximise=maximise)
    ax = axes()
    assert shown.plot.tree(ax=ax) is ax
    laid, sign = tree.arrange(shown.barriers), -1.0 if maximise else 1.0
    marks = {(line.get_xdata()[0], line.get_ydata()[0]) for line in ax.get_lines()}
    assert marks == {(laid.x[i], sign * i) for i in range(5)}
    whole, dotted = ax.collections
    segments = [segment.tolist() for segment in whole.get_segments()]
    assert [[laid.x[1], sign * 1.0], [laid.x[1], sign * 4.0]] in segments
    assert {segment[0][1] for segment in segments if segment[0][1] == segment[1][1]} == {sign * v for v in (4, 5, 7)}
    assert [segment[0][1] for segment in dotted.get_segments()] == [sign * 9.0]  # no saddle
    assert [text.get_text() for text in ax.texts] == ["1", "2", "3", "4", "5"]
    said = [text.get_text() for text in ax.get_legend().get_texts()]
    assert said == ["global mode", "local mode", "joined at a saddle", "at the worst point seen"]


def test_groups_that_nothing_joins_are_dashed():
    ax = connected(left_out=[(2, 5), (2, 3)]).plot.tree(ax=axes())
    assert len(ax.collections[2].get_segments()) == 2
    assert "no way known" in [text.get_text() for text in ax.get_legend().get_texts()]


def test_past_thirty_modes_ranks_are_thinned():
    n = 200
    modes = tuple(mode([0.0, 0.0], i, is_global=not i) for i in range(n))
    ways = tuple(way(1, j, float(n + j)) for j in range(2, n + 1))
    many = result(modes=modes, mixture=None, barriers=Barriers(np.arange(float(n)), False, ways, 9, 0, True))
    ax = many.plot.tree(ax=axes())
    ranks = [int(text.get_text()) for text in ax.texts]
    assert ranks[0] == 1
    assert 5 < len(ranks) <= 30
    places = np.sort([text.xy[0] for text in ax.texts])
    assert np.diff(places).min() > 5.0


def test_without_barriers_it_says_how_to_get_them():
    with pytest.raises(ValueError, match=r"result = result\.connect\(fun\) finds them"):
        result().plot.tree()


def test_results_without_modes_say_so():
    empty = result(modes=(), barriers=Barriers(np.zeros(0), False, (), 0, 0, True))
    assert "No mode was found" in empty.plot.tree(ax=axes()).texts[0].get_text()


def test_every_plot_of_some_results_is_a_method():
    assert all(callable(getattr(Plots, kind)) for kind in OF_SOME)


def test_ways_and_passes_are_drawn_on_a_landscape():
    ax = connected().plot.landscape(ax=axes())
    crosses = [line for line in ax.get_lines() if line.get_marker() == "x"]
    assert len(crosses) == 4
    assert "lowest ways and passes" in [text.get_text() for text in ax.get_legend().get_texts()]
    assert not [line for line in result().plot.landscape(ax=axes()).get_lines() if line.get_marker() == "x"]
