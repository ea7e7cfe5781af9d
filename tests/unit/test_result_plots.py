"""`result.plot`: every kind shows what it should, on the axes given, for results of every sort."""

from __future__ import annotations

import pickle
import subprocess
import sys
from dataclasses import replace
from itertools import pairwise

import matplotlib
import numpy as np
import pytest
from drawn import ODD, four_modes, mode, result, some_trace, wells
from matplotlib.colors import to_rgba
from matplotlib.figure import Figure
from PIL import Image

from allmodes import Objective, find_maxima, problems
from allmodes.nva import anneal, presets
from allmodes.report import canvas, marks, slices
from allmodes.report.accessor import KINDS, Plots
from allmodes.result import History, Paths

STILL = [kind for kind in KINDS if kind != "animate"]


def axes():
    return Figure(figsize=(3.0, 3.0)).add_subplot()


def lines(ax, **wanted):
    """Lines of axes with these properties."""
    return [line for line in ax.get_lines() if all(getattr(line, f"get_{k}")() == v for k, v in wanted.items())]


def texts(ax):
    return [text.get_text() for text in ax.texts]


def panels(ax):
    return ax.child_axes


def annealed(**changes):
    return result(method="anneal", trace=some_trace(steps=5), **changes)


# ---- all kinds


def test_there_is_a_method_for_every_kind():
    assert KINDS == ("landscape", "pairs", "modes", "weights", "convergence", "parallel", "animate")
    assert all(callable(getattr(result().plot, kind)) for kind in KINDS)
    assert isinstance(result().plot, Plots)


@pytest.mark.parametrize("kind", STILL)
def test_the_axes_given_are_returned(kind):
    ax = axes()
    assert getattr(annealed().plot, kind)(ax=ax) is ax
    ax.figure.canvas.draw()


def open_figures():
    """Those that pyplot holds, perhaps of tests before this one."""
    pyplot = sys.modules.get("matplotlib.pyplot")
    return pyplot.get_fignums() if pyplot else []


@pytest.mark.parametrize("kind", STILL)
def test_without_axes_there_is_a_new_figure_and_nothing_global_changes(kind, tmp_path):
    before, figures = dict(matplotlib.rcParams), open_figures()
    getattr(annealed().plot, kind)().figure.savefig(tmp_path / "plot.png", dpi=40)
    assert dict(matplotlib.rcParams) == before
    assert open_figures() == figures


def test_notebooks_show_the_picture():
    ax = result().plot.modes()
    for shown in (ax, ax.figure, result().plot.pairs()):
        assert shown._repr_png_().startswith(b"\x89PNG")
    assert pickle.loads(pickle.dumps(ax)).get_title() == "4 modes by rank"
    assert not hasattr(result().plot.modes(ax=axes()), "_repr_png_")


def test_subfigures_will_do(tmp_path):
    upper, lower = Figure(figsize=(3.0, 6.0)).subfigures(2, 1)
    annealed().plot.landscape(wells, ax=upper.add_subplot(), resolution=5)
    annealed().plot.animate(tmp_path / "film.gif", ax=lower.add_subplot(), frames=2)
    with Image.open(tmp_path / "film.gif") as film:
        assert film.height == 2 * film.width


def test_matplotlib_is_imported_when_something_is_drawn():
    program = (
        "import sys, allmodes; found = allmodes.find_minima(lambda x: x[0] ** 2, [(-1, 1)], maxfev=20, rng=0);"
        "plots = found.plot; assert 'matplotlib' not in sys.modules; plots.modes(); assert 'matplotlib' in sys.modules;"
        "assert 'matplotlib.pyplot' not in sys.modules"
    )
    subprocess.run([sys.executable, "-W", "error", "-c", program], check=True)


@pytest.mark.parametrize("kind", STILL)
def test_without_matplotlib_the_error_says_what_to_install(kind, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(ImportError, match=r"pip install 'allmodes\[plot\]'"):
        getattr(annealed().plot, kind)()


# ---- landscape


def test_every_mode_is_marked_and_numbered_by_rank():
    found = result()
    ax = found.plot.landscape(wells, resolution=11)
    assert [text for text in texts(ax) if text.isdigit()] == ["4", "3", "2", "1"]
    for rank, each in enumerate(found.modes, 1):
        (number,) = (text for text in ax.texts if text.get_text() == str(rank))
        np.testing.assert_array_equal(number.xy, each.x)
        (marker,) = (line for line in ax.get_lines() if len(line.get_xydata()) == 1 and line.get_markersize() == 13.0
                     and np.array_equal(line.get_xydata()[0], each.x))  # fmt: skip
        colour = canvas.GLOBAL if each.is_global else canvas.LOCAL
        assert marker.get_color() == colour
        assert marker.get_markerfacecolor() == (colour if each.is_global else "white")
        assert marker.get_marker() == ("s" if each.kind == "boundary" else "o")
    entries = [text.get_text() for text in ax.get_legend().get_texts()]
    assert entries == [
        "global mode",
        "local mode",
        "local mode, at a bound",
        "local searches",
        "2 s.d. at temperature 0.1",
    ]


@pytest.mark.parametrize("maximise", [False, True])
def test_ellipses_are_two_standard_deviations(maximise):
    sign = -1.0 if maximise else 1.0
    found = result(maximise=maximise, modes=tuple(
        replace(m, hessian=sign * m.hessian, kind="maximum" if maximise and m.kind == "minimum" else m.kind)
        for m in four_modes()))  # fmt: skip
    ax = found.plot.landscape()
    outlines = [line.get_xydata() for line in ax.get_lines() if len(line.get_xydata()) == 73]
    assert len(outlines) == 3, "the mode at a bound has none"
    for outline, each in zip(outlines, found.modes, strict=False):
        apart = outline - each.x
        squared = np.einsum("ni,ij,nj->n", apart, sign * each.hessian / found.temperature, apart)
        np.testing.assert_allclose(squared, 4.0)


def test_an_ellipse_wider_than_the_picture_is_left_out():
    wide = replace(four_modes()[0], hessian=np.diag([1e-3, 1e3]))
    assert not [line for line in result(modes=(wide,)).plot.landscape().get_lines() if len(line.get_xydata()) == 73]


def test_ellipses_under_their_markers_are_not_in_the_legend():
    narrow = tuple(replace(each, hessian=1e4 * each.hessian) for each in four_modes())
    entries = [text.get_text() for text in result(modes=narrow).plot.landscape().get_legend().get_texts()]
    assert not [text for text in entries if "s.d." in text]


def test_the_bar_of_colours_has_round_numbers_and_the_label_given():
    ax = result().plot.landscape(lambda x: 100.0 * wells(x) - 300.0, resolution=41, label="log of it")
    (bar,) = (each for each in ax.figure.axes if each is not ax)
    assert bar.get_ylabel() == "log of it"
    shown = [label.get_text() for label in bar.get_yticklabels()]
    assert len(shown) == 5
    assert all(len(text.lstrip("−").strip("0")) <= 2 for text in shown), shown
    assert shown[0].startswith("−")
    assert not bar.yaxis.get_minorticklocs().size
    assert result().plot.landscape(wells, [0], label="log of it").get_ylabel() == "log of it"
    assert result().plot.landscape(wells, [0]).get_ylabel() == "value"


def test_a_mode_at_the_upper_bound_does_not_reach_the_title():
    at_the_top = mode([0.0, 2.0], 0.0, is_global=True, kind="boundary")
    ax = result(modes=(at_the_top,), mixture=None).plot.landscape(wells, resolution=11)
    ax.figure.canvas.draw()
    marker = next(line for line in ax.get_lines() if line.get_markersize() == 13.0)
    top = ax.transData.transform((0.0, 2.0))[1] + 0.5 * (13.0 + 1.2) * ax.figure.dpi / 72.0
    assert marker.get_xydata()[0, 1] == 2.0
    assert ax.title.get_window_extent().y0 > top


def test_local_searches_are_drawn_from_start_to_end():
    found = result()
    drawn = [line.get_xydata() for line in found.plot.landscape().get_lines()]
    for path in found.paths:
        assert any(np.array_equal(path, line) for line in drawn)


def test_components_are_drawn_instead_where_there_was_annealing():
    found = annealed()
    ax = found.plot.landscape()
    drawn = [line.get_xydata() for line in ax.get_lines()]
    for frames in found.trace.runs:
        for k in range(2):
            assert any(np.array_equal([found.trace.means[i][k] for i in frames], line) for line in drawn)
    assert "annealed components" in [text.get_text() for text in ax.get_legend().get_texts()]


def test_a_path_around_a_periodic_coordinate_is_broken():
    path = np.array([[1.5, 0.0], [1.9, 0.1], [-1.9, 0.2], [-1.8, 1.9]])
    found = result(settings={"periodic": [0]})
    drawn = marks.broken(found, path)
    np.testing.assert_array_equal(drawn[:2], path[:2])
    assert np.isnan(drawn[2]).all()
    np.testing.assert_array_equal(drawn[3:], path[2:])
    np.testing.assert_array_equal(marks.broken(result(), path), path)


def counted(**given):
    """A function that notes where it was called."""
    seen = []

    def fun(x):
        seen.append(np.array(x))
        return wells(x)

    return fun, seen


def test_the_function_is_called_inside_the_bounds_only():
    fun, seen = counted()
    result().plot.landscape(fun, resolution=21)
    points = np.array(seen)
    assert points.shape == (441, 2)
    assert (points.min(), points.max()) == (-2.0, 2.0)


def test_a_slice_goes_through_the_best_mode_or_the_point_given():
    found = result(4, modes=tuple(replace(m, x=np.append(m.x[:2], [0.1 * i, -0.1 * i])) for i, m in
                                  enumerate(four_modes(4), 1)))  # fmt: skip
    for at, wanted in ((None, found.x), (2, found.modes[1].x), ([0.3, 0.4, 0.5, 0.6], np.array([0.3, 0.4, 0.5, 0.6]))):
        fun, seen = counted()
        ax = found.plot.landscape(fun, coordinates=(3, 1), at=at, resolution=5)
        points = np.array(seen)
        assert (points[:, [0, 2]] == wanted[[0, 2]]).all()
        assert len(np.unique(points[:, 3])) == len(np.unique(points[:, 1])) == 5
        assert (ax.get_xlabel(), ax.get_ylabel()) == ("x3", "x1")
        assert "slice through" in ax.get_title().replace("\n", " ")


def test_modes_beside_the_slice_are_pale_and_behind():
    near, far = mode([-1.0, -1.0, 1.5], 1.0), mode([-1.0, -1.0, 0.0], 0.0, is_global=True)
    ax = result(3, modes=(far, near), mixture=None).plot.landscape(at=2)
    assert [text for text in texts(ax) if text.isdigit()] == ["2"], "the one on the slice bears its number"
    assert {line.get_alpha() for line in ax.get_lines() if line.get_markersize() in (5.0, 13.0)} == {1.0, 0.35}
    assert "beside the slice" in [text.get_text() for text in ax.get_legend().get_texts()]


def test_where_the_function_fails_the_picture_is_blank():
    def fun(x):
        if x[0] < -1.0:
            raise ArithmeticError("no")
        return np.nan if x[1] > 1.0 else np.inf if x[0] > 1.5 else wells(x)

    side = np.linspace(-2.0, 2.0, 17)
    values = slices.cut(result(), fun, [0, 1], np.zeros(2), [side, side]).values
    np.testing.assert_array_equal(np.isnan(values), (side[:, None] < -1.0) | (side > 1.0) | (side[:, None] > 1.5))
    result().plot.landscape(fun, resolution=17).figure.canvas.draw()


def test_a_function_that_always_fails_is_an_error():
    with pytest.raises(ValueError, match=r"fun failed at all of 25 points; at the first: TypeError\('no'\)"):
        result().plot.landscape(lambda x: (_ for _ in ()).throw(TypeError("no")), resolution=5)


def test_a_function_that_is_level_has_no_contours():
    assert "level" in result().plot.landscape(lambda x: 1.0, resolution=5).get_title()


def test_a_vectorised_function_is_called_once():
    calls = []

    def fun(x):
        calls.append(x.shape)
        return (x**2).sum(axis=1)

    result(settings={"vectorized": True}).plot.landscape(fun, resolution=9)
    result().plot.landscape(Objective(fun, vectorized=True), resolution=9)
    assert calls == [(81, 2), (81, 2)]
    with pytest.raises(ValueError, match=r"fun returned the shape \(\) for 81 points; wanted \(81,\)"):
        result(settings={"vectorized": True}).plot.landscape(lambda x: 1.0, resolution=9)


def test_a_function_that_returns_its_gradient_too_is_understood():
    side = [np.linspace(-2.0, 2.0, 5)] * 2
    plain = slices.cut(result(), wells, [0, 1], np.zeros(2), side).values
    found = slices.cut(result(), lambda x: (wells(x), 2 * x), [0, 1], np.zeros(2), side).values
    np.testing.assert_array_equal(found, plain)


@pytest.mark.parametrize("cmap", ["viridis", "cividis", "grey"])
def test_good_is_light(cmap):
    for maximise in (False, True):
        ax = result(maximise=maximise).plot.landscape(lambda x: x[0], ax=axes(), resolution=9, cmap=cmap)
        area = ax.collections[0]
        lightness = area.to_rgba(area.levels[:-1] + 1e-9)[:, :3] @ [0.2126, 0.7152, 0.0722]
        assert (np.diff(lightness) > 0.0).all() == maximise
        assert (np.diff(lightness) < 0.0).all() != maximise


def test_landscapes_are_in_colour_unless_grey_is_wanted():
    drawn = [result().plot.landscape(wells, ax=axes(), resolution=9, **how) for how in ({}, {"cmap": "grey"})]
    spreads = [np.ptp(ax.collections[0].get_facecolor()[:, :3], axis=1).max() for ax in drawn]
    assert spreads[0] > 0.3
    assert spreads[1] < 0.01


def test_an_unknown_colour_map_is_refused_with_what_there_is():
    with pytest.raises(ValueError, match="cmap is 'virdis'; wanted \"grey\" or a colour map of matplotlib"):
        result().plot.landscape(wells, ax=axes(), cmap="virdis")


def test_without_the_function_the_title_says_what_is_shown():
    assert "contours between 50 points" in result().plot.landscape().get_title().replace("\n", " ")
    assert "no contours: pass fun" in result(paths=Paths()).plot.landscape().get_title().replace("\n", " ")
    assert "no contours: pass fun" in result(3).plot.landscape().get_title().replace("\n", " ")
    assert "no curve: pass fun" in result().plot.landscape(coordinates=[0]).get_title().replace("\n", " ")


def test_a_single_coordinate_is_a_curve():
    ax = result().plot.landscape(wells, coordinates=["x1"])
    curve = max(ax.get_lines(), key=lambda line: len(line.get_xdata()))
    x = curve.get_xdata()
    np.testing.assert_array_equal(curve.get_ydata(), [wells([-1.04, at]) for at in x])
    assert ax.get_xlabel() == "x1"


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"coordinates": (0, 2)}, r"coordinates has 2; wanted numbers from 0 to 1 or names \(x0, x1\)"),
        ({"coordinates": ("x0", "y")}, r"coordinates has 'y'; wanted"),
        ({"coordinates": (0, -2)}, r"list each one only once"),
        ({"coordinates": ()}, r"wanted one or two of them"),
        ({"at": 5}, r"at is 5; wanted a point \(2,\) or the rank of a mode, 1 to 4"),
        ({"at": [1.0]}, r"at is \[1.0\]; wanted a point of 2 finite numbers"),
    ],
)
def test_what_cannot_be_drawn_is_refused(given, message):
    with pytest.raises(ValueError, match=message):
        result().plot.landscape(**given)


def test_fixed_coordinates_are_not_sliced():
    found = ODD["fixed"]
    assert (found.plot.landscape().get_xlabel(), found.plot.landscape().get_ylabel()) == ("x0", "x1")
    assert len(panels(found.plot.pairs())) == 1
    with pytest.raises(ValueError, match=r"'x2' is fixed by its bounds at 0; choose coordinates that are not"):
        found.plot.landscape(coordinates=(0, 2))


@pytest.mark.parametrize("bounds", [[(-np.inf, np.inf)] * 2, [(-2.0, np.inf), (-np.inf, 2.5)]])
def test_open_sides_show_where_the_modes_are(bounds):
    found = result(bounds=np.array(bounds))
    ax = found.plot.landscape()
    for i, (low, high) in enumerate((ax.get_xlim(), ax.get_ylim())):
        assert np.isfinite([low, high]).all()
        assert all(low <= each.x[i] <= high for each in found.modes)
        for end, side in zip((low, high), bounds[i], strict=True):
            assert np.isinf(side) or end == side


def test_of_many_modes_thirty_are_numbered():
    rng = np.random.default_rng(1)
    found = result(modes=tuple(mode(rng.uniform(-2, 2, 2), i) for i in range(200)), mixture=None)
    ax = found.plot.landscape()
    numbers = [int(text) for text in texts(ax) if text.isdigit()]
    assert 15 < len(numbers) <= 30
    assert max(numbers) <= 30
    dots = np.concatenate([line.get_xydata() for line in lines(ax, marker="o", linestyle="None")])
    assert {tuple(each.x) for each in found.modes} <= set(map(tuple, dots))


# ---- pairs


def test_pairs_have_a_panel_for_every_two_coordinates():
    found = result(4, names=("a", "b", "c", "d"))
    made = panels(found.plot.pairs())
    assert [panel.get_xlabel() for panel in made] == ["", "", "", "a", "b", "c"]
    assert [panel.get_ylabel() for panel in made] == ["b", "c", "", "d", "", ""]
    marked = {tuple(text.xy) for text in made[4].texts}
    assert marked <= {(each.x[1], each.x[3]) for each in found.modes}
    drawn = max(made[4].get_lines(), key=lambda line: len(line.get_xdata())).get_xydata()
    assert len(drawn) > 400
    assert np.abs(drawn).max() <= 2.0
    np.testing.assert_allclose(np.median(drawn[:, 1]), 0.0, atol=0.05)


def test_of_many_coordinates_those_with_differences_are_shown():
    x = np.zeros((3, 20))
    x[:, [2, 3, 5, 11, 17, 19]] = np.arange(3)[:, None] / 2.0
    found = result(20, modes=tuple(mode(each, i) for i, each in enumerate(x)), paths=Paths())
    ax = found.plot.pairs()
    assert [panel.get_xlabel() for panel in panels(ax)] == [""] * 10 + ["x2", "x3", "x5", "x11", "x17"]
    assert "6 coordinates in which" in ax.get_title().replace("\n", " ")
    assert len(panels(found.plot.pairs(coordinates=["x1", 4]))) == 1
    with pytest.raises(ValueError, match=r"coordinates has 20 of them; wanted 2 to 6"):
        found.plot.pairs(coordinates=range(20))


def test_pairs_take_axes_or_a_figure():
    own = Figure().subplots(2, 2)
    panels_of = panels(result(3).plot.pairs(ax=own[0, 1]))
    inside = own[0, 1].get_position()
    own[0, 1].figure.canvas.draw()
    for panel in panels_of:
        corners = panel.get_position().get_points()
        assert (corners > inside.get_points()[0] - 1e-9).all()
        assert (corners < inside.get_points()[1] + 1e-9).all()
    figure = Figure()
    assert result(3).plot.pairs(fig=figure).figure is figure
    with pytest.raises(ValueError, match=r"ax is of type ndarray; wanted one Axes, inside which the panels are drawn"):
        result(3).plot.pairs(ax=own)


# ---- modes, weights, convergence, parallel


def test_bars_are_as_long_as_weights_and_flatness():
    found = result()
    value, weight, flatness = panels(found.plot.modes())
    np.testing.assert_allclose([bar.get_width() for bar in weight.patches], [0.7, 0.2, 0.1, 0.0])
    np.testing.assert_allclose([bar.get_width() for bar in flatness.patches], [0.2, 0.125, 0.5, 0.0])
    assert texts(flatness) == ["0.2", "0.12", "0.5", "not known"]
    dots = [line.get_xydata()[0] for line in value.get_lines()]
    np.testing.assert_array_equal(dots, [(each.fun, rank) for rank, each in enumerate(found.modes, 1)])
    assert to_rgba(canvas.GLOBAL) == weight.patches[0].get_facecolor() != weight.patches[1].get_facecolor()


@pytest.mark.parametrize("n", [1, 3, 4])
def test_few_modes_leave_no_empty_row(n):
    for panel in panels(result(modes=four_modes()[:n]).plot.modes(ax=axes())):
        assert panel.get_ylim() == (n + 0.7, 0.3)


def test_of_many_modes_the_best_thirty_have_bars():
    ax = ODD["200 modes in 7-d"].plot.modes()
    assert len(panels(ax)[1].patches) == 30
    assert ax.get_title().replace("\n", " ") == "200 modes by rank; the best 30 are shown"
    assert panels(ax)[2].get_xscale() == "log"


def test_what_is_not_finite_is_said():
    ax = ODD["unknown"].plot.modes()
    assert texts(panels(ax)[1]) == ["not known"] * 3
    assert texts(panels(ax)[2]) == ["∞"] * 3


def test_values_equal_up_to_rounding_are_drawn_as_equal():
    found = result(modes=(mode([0.0, 0.0], 1e-17, is_global=True), mode([1.0, 1.0], 5e-16, is_global=True)))
    low, high = panels(found.plot.modes())[0].get_xlim()
    assert high - low > 0.1
    assert len(found.plot.parallel().figure.axes) == 1, "a bar of colours would tell rounding apart"


def test_weights_and_temperature_are_those_of_the_trace():
    found = annealed()
    above, below = panels(found.plot.weights())
    shown = [line.get_xydata() for line in above.get_lines() if len(line.get_xydata()) == 5]
    assert len(shown) == 4
    first = found.trace.runs[0]
    for k in range(2):
        wanted = np.stack([found.trace.nfev[first], [found.trace.weights[i][k] for i in first]], axis=1)
        assert any(np.array_equal(wanted, line) for line in shown)
    np.testing.assert_array_equal(below.get_lines()[0].get_ydata(), found.trace.temperature[first])
    assert below.get_yscale() == "log"


@pytest.mark.parametrize("kind", ["weights", "animate"])
def test_results_without_annealing_have_no_weights_over_time(kind, tmp_path):
    given = {"path": tmp_path / "film.gif"} if kind == "animate" else {}
    with pytest.raises(ValueError, match=r'method "local" did not anneal here; search with method="anneal"'):
        getattr(result(method="local").plot, kind)(**given)
    assert not (tmp_path / "film.gif").exists()


def test_convergence_follows_the_history_to_the_end():
    found = result()
    above, below = panels(found.plot.convergence())
    np.testing.assert_array_equal(above.get_lines()[0].get_xdata(), [*found.history.nfev, found.nfev])
    np.testing.assert_array_equal(above.get_lines()[0].get_ydata(), [*found.history.modes, 4])
    np.testing.assert_array_equal(below.get_lines()[0].get_ydata(), [*found.history.best, -0.61])
    assert below.get_yscale() == "linear"


def test_the_best_value_above_convergence_is_without_rounding():
    of_zeros = result(
        fun=5e-18, modes=tuple(mode([x, 0.0], fun, is_global=True) for x, fun in ((1, 5e-18), (2, 4e-12)))
    )
    ax = of_zeros.plot.convergence()
    assert ax.get_title().startswith("2 modes, best value 0")


def test_values_over_many_orders_are_drawn_by_their_distance_to_the_last():
    history = History()
    for row in ((1, np.inf, 0), (2, 1e6, 0), (3, 1.0, 0), (4, 1e-3, 1), (5, 0.0, 1)):
        history.add(*row)
    below = panels(result(history=history).plot.convergence())[1]
    assert below.get_yscale() == "log"
    np.testing.assert_allclose(below.get_lines()[0].get_ydata(), [1e6, 1.0, 1e-2, 1e-2, 1e-2])


def test_parallel_axes_end_at_the_bounds():
    found = result(bounds=np.array([[-2.0, 2.0], [-4.0, np.inf]]))
    ax = found.plot.parallel()
    drawn = [line.get_ydata() for line in ax.get_lines() if line.get_marker() == "o"]
    high = max(each.x[1] for each in found.modes)
    for each, line in zip(reversed(found.modes), drawn, strict=True):
        assert line[0] == pytest.approx((each.x[0] + 2.0) / 4.0)
        assert line[1] <= (each.x[1] + 4.0) / (high + 4.0)
    ends = texts(ax)
    assert ends[:3] == ["−2", "2", "−4"]
    assert ends[3].startswith("("), "what is no bound is in brackets"
    assert [label.get_text() for label in ax.get_xticklabels()] == ["x0", "x1"]
    assert [line.get_linewidth() for line in ax.get_lines() if line.get_marker() == "o"] == [1.0, 1.0, 1.0, 2.4]


def test_long_names_stay_inside_a_plain_figure():
    names = ("a rather long name of it", "another one of the sort", "c", "d")
    figure = Figure()
    ax = result(4, names=names).plot.parallel(ax=figure.add_subplot())
    figure.canvas.draw()
    for text in ax.get_xticklabels():
        extent = text.get_window_extent()
        assert text.get_rotation() == 60.0
        assert extent.y0 >= 0.0
        assert extent.x0 >= 0.0


# ---- animate


def test_the_film_has_the_frames_of_the_first_run(tmp_path):
    path = tmp_path / "film.gif"
    ax = axes()
    found = annealed()
    assert found.plot.animate(path, wells, ax=ax) is ax
    with Image.open(path) as film:
        assert film.n_frames == 5
        frames = []
        for i in range(5):
            film.seek(i)
            frames.append(np.asarray(film.convert("RGB"), dtype=int))
    assert all((one != other).any() for one, other in pairwise(frames))
    assert ax.get_title().startswith("run 1: temperature 2.4")
    ends = np.array([line.get_xydata()[0] for line in lines(ax, marker="o")])
    np.testing.assert_array_equal(ends, found.trace.means[4])


@pytest.mark.parametrize(("given", "frames"), [({"run": None}, 10), ({"run": 1, "frames": 3}, 3), ({"frames": 1}, 1)])
def test_the_film_can_have_other_frames(given, frames, tmp_path):
    annealed().plot.animate(tmp_path / "film.gif", ax=axes(), **given)
    with Image.open(tmp_path / "film.gif") as film:
        assert film.n_frames == frames


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"path": "film.mp4"}, r"animate writes a GIF: give it the ending \.gif"),
        ({"run": 2}, r"run is 2; wanted None for all runs, or one that was kept: \[0, 1\]"),
        ({"frames": 0}, r"frames is 0; wanted at least 1"),
        ({"coordinates": [0]}, r"animate needs two coordinates"),
    ],
)
def test_films_that_cannot_be_made_are_refused(given, message, tmp_path):
    with pytest.raises(ValueError, match=message):
        annealed().plot.animate(**{"path": tmp_path / "film.gif"} | given)


def test_without_pillow_the_error_says_what_to_install(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "PIL", None)
    with pytest.raises(ImportError, match=r"pip install 'allmodes\[plot\]'"):
        annealed().plot.animate(tmp_path / "film.gif")


# ---- real searches, and runs of the engine


def test_a_real_search_is_drawn(tmp_path):
    def fun(x):
        return -((x[0] ** 2 - 1) ** 2) - x[1] ** 2

    found = find_maxima(fun, [(-2, 2)] * 2, rng=0, method="anneal", maxfev=1200)
    assert len(found.modes) == 2
    drawn = {kind: getattr(found.plot, kind)(ax=axes()) for kind in ("landscape", "modes", "convergence", "parallel")}
    drawn["pairs"] = found.plot.pairs(fig=Figure())
    for ax in drawn.values():
        ax.figure.savefig(tmp_path / "plot.png", dpi=40)
        assert ax.get_title().startswith("2 "), "the title says how many were found"
    weights = found.plot.weights(ax=axes())
    weights.figure.savefig(tmp_path / "plot.png", dpi=40)
    _, below = panels(weights)
    np.testing.assert_array_equal(below.get_lines()[0].get_ydata(), found.trace.temperature[found.trace.runs[0]])
    found.plot.animate(tmp_path / "film.gif", fun, frames=2)
    with Image.open(tmp_path / "film.gif") as film:
        assert film.n_frames == 2


def test_a_run_of_the_engine_has_pictures(tmp_path):
    problem = problems.symmetric_mixture()
    means = np.random.default_rng(0).uniform(-1.0, 1.0, (3, 2))
    run = anneal(problem.objective, algorithm=presets.nva_gm(), means=means, covariances=0.1, temperature=0.1,
                 learning_rate=0.01, steps=20, rng=0)  # fmt: skip
    ax = run.plot.landscape(problem.objective, ax=axes(), resolution=11)
    drawn = [line.get_xydata() for line in ax.get_lines()]
    for k in range(3):
        assert any(np.array_equal(path, run.trace.means[:, k]) for path in drawn)
        assert (ax.get_xlim()[0] < run.trace.means[:, k, 0]).all()
    above, _ = panels(run.plot.weights())
    np.testing.assert_array_equal(above.get_lines()[0].get_ydata(), run.trace.weights[:, 0])
    assert above.get_lines()[0].get_xdata()[-1] == run.nfev
    assert run.plot.animate(tmp_path / "film.gif", frames=2, ax=ax) is ax
    assert (tmp_path / "film.gif").stat().st_size > 1000


def test_in_a_notebook_a_plot_is_shown_once(monkeypatch):
    from matplotlib import pyplot

    monkeypatch.setattr("allmodes.report.canvas.in_notebook", lambda: True)
    ax = result().plot.modes()
    assert pyplot.get_fignums() == [ax.figure.number]  # shown below the cell
    assert ax._repr_png_()[:4] == b"\x89PNG"  # shown by the cell, as its last line
    assert not pyplot.get_fignums()
