"""Every shape of problem at every door: it works, with the right result, or is refused with what to do instead."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
from scipy.optimize import LinearConstraint, NonlinearConstraint

import allmodes
from allmodes.objective.grids import WithChoices, labels_of
from allmodes.report.plain import as_dict, as_json

BOX, INSIDE = [(-6, 6)] * 2, [(0.1, 6)] * 2
KINDS = {"oak": -3.8, "ash": 3.0, "elm": 3.5}


def himmelblau(x):
    return (x[0] ** 2 + x[1] - 11) ** 2 + (x[0] + x[1] ** 2 - 7) ** 2


def slope(x):
    a, b = x[0] ** 2 + x[1] - 11, x[0] + x[1] ** 2 - 7
    return np.array([4 * a * x[0] + 2 * b, 2 * a + 4 * b * x[1]])


def exchanged(x):
    return himmelblau(x) + himmelblau(x[::-1])


def slope_of_exchanged(x):
    return slope(x) + slope(x[::-1])[::-1]


def tilted(x):
    return himmelblau(x) + x[0]


def slope_of_tilted(x):
    return slope(x) + np.array([1.0, 0.0])


def mirrored(x):
    return (x[0] ** 2 - 4) ** 2 + (x[1] ** 2 - 1) ** 2 + 0.3 * x[0] * x[1]


def wooden(x):
    return himmelblau([KINDS[x[0]], float(x[1])])


def radius(x):
    return x[0] ** 2 + x[1] ** 2


@dataclass
class Vectorized:
    """A function of points (N, d)."""

    function: Any

    def __call__(self, points):
        return np.array([self.function(x) for x in points])


@dataclass
class Negative:
    """A function turned upside down."""

    function: Any

    def __call__(self, x):
        return -self.function(x)


@dataclass
class Shape:
    """A problem: a function, where to look, and what shapes it.

    Attributes:
        modes: where the modes are that are looked for, (J, d), best first where values differ.
        vectorized: arguments that differ for a function of points (N, d).
        slope: the gradient; None where there can be none.
    """

    function: Any
    bounds: Any
    modes: Any
    given: dict[str, Any] = field(default_factory=dict)
    vectorized: dict[str, Any] = field(default_factory=dict)
    slope: Any = None

    @property
    def task(self):
        return {"rng": 1, **self.given}

    def search(self, function=None, **more):
        return allmodes.find_minima(function or self.function, self.bounds, **(self.task | more))


DISC = NonlinearConstraint(radius, -np.inf, 9.0)
HELD = [[2.6118, 1.4759], [-1.8444, 2.3660], [-2.5179, -1.6310]]
SHAPES = {
    "inequality": Shape(
        himmelblau, BOX, HELD, {"constraints": DISC, "n_modes": 3},
        {"constraints": NonlinearConstraint(Vectorized(radius), -np.inf, 9.0)}, slope,
    ),
    "equality": Shape(
        himmelblau, BOX, HELD, {"constraints": {"type": "eq", "fun": lambda x: radius(x) - 9}, "n_modes": 3},
        {"constraints": {"type": "eq", "fun": lambda X: (X**2).sum(axis=1) - 9}}, slope,
    ),
    "linear": Shape(
        himmelblau, BOX, [[3.5844, -1.8481], [-3.7793, -3.2832], [-2.8051, 3.1313], [0.1850, 2.8150]],
        {"constraints": LinearConstraint([[1, 1]], -np.inf, 3), "n_modes": 4}, {}, slope,
    ),
    "periodic under a constraint": Shape(
        lambda x: np.cos(x[0]) + np.cos(2 * x[1]), [(0, 2 * np.pi)] * 2,
        [[2.0944, 1.5708], [2.0944, 4.7124], [4.1888, 1.5708], [4.1888, 4.7124]],
        {"periodic": True, "constraints": {"type": "ineq", "fun": lambda x: np.cos(x[0]) + 0.5}, "n_modes": 4},
        {"constraints": {"type": "ineq", "fun": lambda X: np.cos(X[:, 0]) + 0.5}},
    ),
    "whole numbers": Shape(himmelblau, BOX, [[3, 2], [-3, 3], [-4, -3], [4, -2]], {"integrality": True}),
    "mixed": Shape(
        himmelblau, BOX, [[3, 2], [-3, 3.1335], [-4, -3.3534], [4, -1.9455]], {"integrality": [1, 0], "maxfev": 3000}
    ),
    "sizes": Shape(
        himmelblau, [[-4.0, -3.5, 2.0, 3.0, 3.5, 5.0], (-6, 6)],
        [[3, 2], [3.5, -1.8281], [-4, -3.3534], [-3.5, 3.1306]], {"maxfev": 3000},
    ),
    "choices": Shape(wooden, [list(KINDS), (-6, 6)], [[1, 2], [0, -3.2898]], {"maxfev": 3000}),
    "whole and logarithmic": Shape(
        himmelblau, [(1, 6), (0.1, 6)], [[3, 2]], {"integrality": [1, 0], "scale": {1: "log"}, "maxfev": 2500}
    ),
    "logarithmic": Shape(himmelblau, INSIDE, [[3, 2]], {"scale": "log", "maxfev": 800}, {}, slope),
    "exchange": Shape(
        exchanged, BOX, [[-3.5414, -3.5414], [-2.3723, 3.3723], [2.5414, 2.5414]],
        {"symmetry": [0, 1], "maxfev": 800}, {}, slope_of_exchanged,
    ),
    "logarithmic exchange": Shape(
        exchanged, INSIDE, [[2.5414, 2.5414]], {"scale": "log", "symmetry": [0, 1], "maxfev": 800}, {},
        slope_of_exchanged,
    ),
    "sign": Shape(
        mirrored, BOX, [[2.0099, -1.0682], [1.9914, 0.9147]], {"symmetry": {"sign": [0, 1]}, "maxfev": 800}
    ),
    "within": Shape(
        tilted, BOX, [[-3.7886, -3.2862], [-2.8204, 3.1316]],
        {"within": 3.0, "maxfev": 800}, {}, slope_of_tilted,
    ),
    "distance": Shape(
        tilted, BOX, [[-3.7886, -3.2862], [-2.8204, 3.1316], [2.9838, 2.0095]],
        {"min_distance": 0.35, "maxfev": 1000}, {}, slope_of_tilted,
    ),
    "no bounds": Shape(
        himmelblau, None, [[3, 2], [-2.8051, 3.1313], [-3.7793, -3.2832], [3.5844, -1.8481]],
        {"x0": [1, 1], "spread": 6.0, "maxfev": 800}, {}, slope,
    ),
}  # fmt: skip
_known: dict[str, Any] = {}


@pytest.fixture(params=SHAPES)
def shape(request):
    return SHAPES[request.param]


@pytest.fixture
def result(shape):
    name = next(name for name, each in SHAPES.items() if each is shape)
    if name not in _known:
        _known[name] = shape.search()
    return _known[name]


def is_same(found, result):
    """The same modes to the last bit."""
    assert [mode.x.tolist() for mode in found.modes] == [mode.x.tolist() for mode in result.modes]
    assert [mode.fun for mode in found.modes] == [mode.fun for mode in result.modes]
    assert [mode.choices for mode in found.modes] == [mode.choices for mode in result.modes]


def has_modes(result, shape, tolerance=2e-4):
    found, wanted = np.array([mode.x for mode in result.modes]), np.array(shape.modes, dtype=float)
    assert len(found) == len(wanted)
    apart = np.abs(found[:, None] - wanted[None]).max(axis=2)
    assert (apart.min(axis=0) < tolerance).all(), found


class TestDoors:
    def test_minima(self, shape, result):
        has_modes(result, shape)

    def test_maxima(self, shape, result):
        found = allmodes.find_maxima(Negative(shape.function), shape.bounds, **shape.task)
        has_modes(found, shape)
        assert np.allclose([mode.fun for mode in found.modes], [-mode.fun for mode in result.modes])
        for mode, other in zip(found.modes, result.modes, strict=True):
            if other.multipliers is not None:
                assert np.allclose(mode.multipliers, -other.multipliers, atol=1e-3)

    def test_ask_and_tell_with_a_file_in_between(self, shape, result, tmp_path):
        finder = allmodes.ModeFinder(shape.bounds, **shape.task)
        labels = labels_of(finder._driver.state.frame.box.grids)
        function = WithChoices(shape.function, labels) if labels else shape.function
        constraints = {"constraints": shape.given["constraints"]} if "constraints" in shape.given else {}
        rounds = 0
        while not finder.stop():
            points = finder.ask()
            finder.tell(points, [function(x) for x in points])
            rounds += 1
            if rounds in (2, 5):
                finder.save(tmp_path / "finder.npz")
                finder = allmodes.ModeFinder.load(tmp_path / "finder.npz", **constraints)
        is_same(finder.result, result)

    def test_a_checkpoint(self, shape, result, tmp_path):
        shape.search(checkpoint=tmp_path / "run.ckpt", maxiter=4)
        is_same(shape.search(checkpoint=tmp_path / "run.ckpt"), result)

    def test_threads(self, shape, result):
        from concurrent.futures import ThreadPoolExecutor

        with ThreadPoolExecutor(2) as pool:
            is_same(shape.search(workers=pool), result)

    def test_points_at_once(self, shape, result):
        is_same(shape.search(Vectorized(shape.function), vectorized=True, **shape.vectorized), result)

    def test_gradients(self, shape, result):
        if shape.slope is not None:
            has_modes(shape.search(jac=shape.slope), shape)
        elif any(result.settings[name] for name in ("integrality", "choices")):
            with pytest.raises(ValueError, match="leave jac and hess out"):
                shape.search(jac=slope)

    def test_files(self, shape, result, tmp_path):
        result.save(tmp_path / "result.npz")
        again = allmodes.Result.load(tmp_path / "result.npz")
        is_same(again, result)
        assert as_json(again) == as_json(result)
        assert repr(again) == repr(result)
        plain = json.loads(as_json(result))
        assert [mode["x"] for mode in plain["modes"]] == [mode.x.tolist() for mode in result.modes]

    def test_text_fits_80_columns(self, result):
        assert max(map(len, repr(result).splitlines())) < 80

    def test_plots(self, shape, result):
        pytest.importorskip("matplotlib")
        for kind in ("pairs", "modes", "convergence", "parallel", "waterfall"):
            getattr(result.plot, kind)().figure.canvas.draw()
        ax = result.plot.landscape(shape.function, resolution=21)
        ax.figure.canvas.draw()
        entries = [text.get_text() for text in ax.get_legend().get_texts()]
        is_hatched = "constraints" in shape.given and "equality constraint" not in entries
        assert ("not feasible" in entries) == is_hatched

    def test_the_report(self, shape, result, tmp_path):
        pytest.importorskip("plotly")
        page = result.report(tmp_path / "page.html", fun=shape.function).read_text()
        names = {name for mode in result.modes for name in mode.choices.values()}
        assert all(f">{name}</td>" in page for name in names)
        assert ('"regions":{"0,1"' in page) == ("constraints" in shape.given)
        for name in ("integrality", "symmetry", "constraints", "scale", "within", "min_distance", "spread"):
            assert (f"    {name}=" in page) == (name in shape.given), name

    def test_what_is_known_already_is_free(self, shape, result):
        again = shape.search(warm_start=result)
        has_modes(again, shape)


# ---- fits and roots

TIME = np.linspace(0.0, 4.0, 25)


def decay(p):
    return p[0] * np.exp(-p[1] * TIME) - 2.0 * np.exp(-0.5 * TIME) - 0.02 * np.sin(9 * TIME)


def equations(x):
    return np.array([x[0] ** 2 + x[1] ** 2 - 4, x[0] - x[1]])


CALLS = {
    "fits": (allmodes.find_fits, decay, [(0, 6)] * 2, {"maxfev": 700}),
    "logarithmic fits": (allmodes.find_fits, decay, [(1e-2, 6)] * 2, {"maxfev": 700, "scale": "log"}),
    "roots": (allmodes.find_roots, equations, [(-3, 3)] * 2, {"maxfev": 700}),
}


@pytest.fixture(params=CALLS)
def call(request):
    return CALLS[request.param]


class TestDoorsOfFitsAndRoots:
    def test_all(self, call, tmp_path):
        find, function, bounds, given = call
        result = find(function, bounds, rng=0, **given)
        wanted = [[-np.sqrt(2)] * 2, [np.sqrt(2)] * 2] if find is allmodes.find_roots else [[2.0, 0.5]]
        assert np.allclose([mode.x for mode in result.modes], wanted, atol=0.02)
        is_same(find(Vectorized(function), bounds, rng=0, vectorized=True, **given), result)
        find(function, bounds, rng=0, checkpoint=tmp_path / "run.ckpt", maxiter=3, **given)
        is_same(find(function, bounds, rng=0, checkpoint=tmp_path / "run.ckpt", **given), result)
        result.save(tmp_path / "result.npz")
        again = allmodes.Result.load(tmp_path / "result.npz")
        assert as_json(again) == as_json(result)
        assert repr(again) == repr(result)

    def test_plots_and_report(self, call, tmp_path):
        pytest.importorskip("matplotlib")
        pytest.importorskip("plotly")
        find, function, bounds, given = call
        result = find(function, bounds, rng=0, **given)
        for kind in ("pairs", "modes", "convergence", "parallel", "waterfall"):
            getattr(result.plot, kind)().figure.canvas.draw()
        result.plot.landscape(function, resolution=21).figure.canvas.draw()
        page = result.report(tmp_path / "page.html", fun=function).read_text()
        assert f"allmodes.{find.__name__}(" in page
        assert '"0,1":{"x"' in page  # contours
        is_roots = find is allmodes.find_roots
        assert ("<h1><bdi>2 roots in 2 dimensions</bdi></h1>" in page) == is_roots
        assert ("Values, weights and flatness" in page) != is_roots  # of roots they are rounding

    def test_plain_data_has_what_is_known_of_modes(self, call):
        find, function, bounds, given = call
        mode = as_dict(find(function, bounds, rng=0, **given))["modes"][0]
        part = mode["root"] if find is allmodes.find_roots else mode["fit"]
        keys = {"residual", "certified", "box"} if find is allmodes.find_roots else {"chi2", "standard_errors", "aic"}
        assert keys <= set(part)


# ---- what is refused, and what is said

REFUSED = {
    "constraints and whole numbers": ({"constraints": DISC, "integrality": True}, "return inf from fun"),
    "constraints and choices": ({"constraints": DISC, "bounds": [[1, 2, 4], (0, 1)]}, "return inf from fun"),
    "constraints and logarithms": ({"constraints": DISC, "scale": "log", "bounds": INSIDE}, "search y = log10"),
    "constraints and symmetry": ({"constraints": DISC, "symmetry": [0, 1]}, "leave symmetry out"),
    "constraints and noise": ({"constraints": DISC, "noise": 0.1}, "leave noise out"),
    "constraints and populations": ({"constraints": DISC, "method": "black-box"}, 'wanted "auto" or "local"'),
    "constraints and annealing": ({"constraints": DISC, "method": "anneal"}, 'wanted "auto" or "local"'),
    "whole numbers and symmetry": ({"integrality": True, "symmetry": [0, 1]}, "leave it out"),
    "whole numbers and noise": ({"integrality": True, "noise": 0.1}, "return means"),
    "whole numbers and annealing": ({"integrality": True, "method": "anneal"}, 'wanted method "auto"'),
    "whole numbers with fractions": ({"integrality": [1, 0], "bounds": [(0, 5.5), (0, 1)]}, "wanted whole ones"),
    "whole numbers of another dimension": ({"integrality": [1, 0, 1]}, "2 booleans"),
    "whole and logarithmic": ({"integrality": True, "scale": "log", "bounds": [(1, 6)] * 2}, "wanted a real one"),
    "symmetry and noise": ({"symmetry": [0, 1], "noise": 0.1}, "leave symmetry out"),
    "a box without the symmetry": ({"symmetry": [0, 1], "bounds": [(0, 1), (0, 2)]}, "does not map the box to itself"),
    "a function without the symmetry": ({"symmetry": [0, 1]}, "fun does not have"),
    "an unknown name": ({"symmetry": ["a", "b"]}, "by name x0, x1"),
    "a matrix of another dimension": ({"constraints": LinearConstraint([[1, 1, 1]], 0, 1)}, r"wanted \(m, 2\)"),
    "bounds of another length": ({"constraints": NonlinearConstraint(slope, [0] * 3, 1)}, "3 entries and its fun 2"),
    "a misspelt option": ({"options": {"patiense": 3}}, "did you mean 'patience'"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_what_does_not_go_together_is_refused_with_advice(name):
    given, said = REFUSED[name]
    with pytest.raises(ValueError, match=said):
        allmodes.find_minima(
            himmelblau, given.get("bounds", BOX), rng=0, **{k: v for k, v in given.items() if k != "bounds"}
        )


@pytest.mark.parametrize(
    ("call", "given", "said"),
    [
        (allmodes.find_minima, {"constraint": DISC}, "did you mean 'constraints'"),
        (allmodes.find_maxima, {"integer": True}, "did you mean 'integrality'"),
        (allmodes.find_minima, {"max_nfev": 3}, "did you mean 'maxfev'"),
        (allmodes.find_minima, {"residuals": decay}, "find_fits"),
        (allmodes.find_fits, {"constraints": DISC}, "use find_minima"),
        (allmodes.find_fits, {"integrality": True}, "use find_minima"),
        (allmodes.find_roots, {"symmetry": [0, 1]}, "leave symmetry out"),
        (allmodes.find_roots, {"constraints": DISC}, "keep those"),
        (lambda *_, **given: allmodes.ModeFinder(BOX, **given), {"workers": 2}, "evaluate the function yourself"),
        (lambda *_, **given: allmodes.ModeFinder(BOX, **given), {"simmetry": [0, 1]}, "did you mean 'symmetry'"),
    ],
)  # fmt: skip
def test_a_misspelt_argument_is_answered_with_the_right_one(call, given, said):
    with pytest.raises(TypeError, match=said):
        call(himmelblau, BOX, **given)


def test_a_report_of_a_result_that_was_loaded_takes_the_constraints(tmp_path):
    pytest.importorskip("plotly")
    shape = SHAPES["inequality"]
    shape.search().save(tmp_path / "result.npz")
    again = allmodes.Result.load(tmp_path / "result.npz")
    page = tmp_path / "page.html"
    assert '"regions":{}' in again.report(page, fun=shape.function).read_text()
    assert '"regions":{"0,1"' in again.report(page, fun=shape.function, constraints=DISC).read_text()
    ax = again.plot.landscape(shape.function, constraints=DISC, resolution=21)
    assert "not feasible" in [text.get_text() for text in ax.get_legend().get_texts()]


def test_a_bar_makes_nothing_of_rounding(tmp_path):
    from allmodes.report.canvas import heights

    result = allmodes.find_minima(himmelblau, BOX, rng=0, maxfev=800)
    values = [mode.fun for mode in result.modes]
    assert any(values)
    assert max(values) < 1e-9
    assert not heights(result).any()
    assert heights(SHAPES["whole numbers"].search()).tolist() == [0, 2, 8, 10]


def test_tables_of_pandas_have_what_a_shape_adds():
    pytest.importorskip("pandas")
    assert SHAPES["choices"].search().to_dataframe()["x0"].tolist() == ["ash", "oak"]
    assert SHAPES["inequality"].search().to_dataframe()["active_constraints"].tolist() == [(0,)] * 3
    assert SHAPES["exchange"].search().to_dataframe()["multiplicity"].tolist() == [1, 2, 1]


def test_jax_derivatives():
    pytest.importorskip("jax")
    for name in ("inequality", "logarithmic", "within"):
        shape = SHAPES[name]
        has_modes(shape.search(jac="jax"), shape)
    with pytest.raises(ValueError, match="leave jac and hess out"):
        SHAPES["mixed"].search(jac="jax")
