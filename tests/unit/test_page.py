"""The report page: what is in it, what is kept out of it, and that it can be written of anything."""

from __future__ import annotations

import json
import math
import re
import sys
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pytest

from allmodes import find_maxima, find_minima
from allmodes.modes.coverage import estimate
from allmodes.nva import presets
from allmodes.report.page import html, rerun, write_report
from allmodes.report.page import table as page_table
from allmodes.report.page import text as page_text
from allmodes.result import History, Result
from allmodes.status import Status

pytest.importorskip("jinja2")
pytest.importorskip("plotly")

HOSTILE = (
    "<script>alert(1)</script>",
    "</script><img src=x onerror=alert(2)>",
    '"><b>&amp;</b>\u2028\u202e %{x} $y$ <!-- ' + "long " * 100,
)
MOST_BYTES = 2_600_000  # plotly.js packed is 2.0 MB; a page must not grow beyond what one sends by mail


def himmelblau(x):
    return (x[0] ** 2 + x[1] - 11) ** 2 + (x[0] + x[1] ** 2 - 7) ** 2


@pytest.fixture(scope="module")
def result():
    return find_minima(himmelblau, [(-6, 6)] * 2, rng=0, names=["alpha", "beta"], maxfev=1500)


class Reader(HTMLParser):
    """Elements with their attributes, text by the id of the element around it, and what can load something."""

    def __init__(self, page):
        super().__init__()
        self.elements, self.open, self.pieces = [], [], {}
        self.feed(page)
        self.close()
        self.texts = {name: "".join(some) for name, some in self.pieces.items()}

    def handle_starttag(self, tag, attributes):
        self.elements.append((tag, dict(attributes)))
        if tag not in ("meta", "img", "br", "link", "input"):
            self.open.append((tag, dict(attributes).get("id")))

    def handle_endtag(self, tag):
        assert self.open, f"</{tag}> ends nothing"
        begun = self.open.pop()
        assert begun[0] == tag, f"</{tag}> ends <{begun[0]}>"

    def handle_data(self, data):
        for name in {name for _, name in self.open}:
            self.pieces.setdefault(name, []).append(data)

    def named(self, tag):
        return [attributes for name, attributes in self.elements if name == tag]

    @property
    def data(self):
        return json.loads(self.texts["data"])


def wide(result, d):
    """The same result with more or fewer coordinates."""
    rng = np.random.default_rng(0)
    modes = tuple(
        replace(mode, x=rng.uniform(-1, 1, d), hessian=np.eye(d), eigenvalues=np.ones(d)) for mode in result.modes
    )
    changes = {"x": modes[0].x, "modes": modes, "names": (), "mixture": None, "bounds": np.tile([-1.0, 1.0], (d, 1))}
    return replace(result, **changes, paths=type(result.paths)())


# ---- structure


def test_a_page_has_all_its_parts(result):
    page = Reader(html(result, fun=himmelblau))
    assert not page.open  # every element is closed
    assert page.elements[0] == ("html", {"lang": "en"})
    assert [name["id"] for name in page.named("section")] == ["summary", "modes", "plots", "rerun"]
    assert "4 minima in 2 dimensions" in page.texts[None]
    for name in ("summary", "modes", "plots", "rerun"):
        assert any(link.get("href") == f"#{name}" for link in page.named("a"))
    for said in (result.status.name, str(result.coverage)[1:], result.coverage.assumes, f"{result.nfev} evaluations"):
        assert said in page.texts["summary"]
    assert repr(result.modes[0].fun) in [cell["title"] for cell in page.named("td") if cell["data-label"] == "value"]
    assert len(page.named("tr")) == 1 + len(result.modes)


def test_every_plot_has_an_alternative_text(result):
    figures = [div for div in Reader(html(result)).named("div") if div.get("role") == "img"]
    assert [div["id"] for div in figures] == ["plot-slice", "plot-modes", "plot-parallel", "plot-convergence"]
    assert all(len(div["aria-label"]) > 10 for div in figures)


def test_the_table_can_be_sorted_with_the_keyboard(result):
    page = Reader(html(result))
    headings = [cell for cell in page.named("th") if cell["scope"] == "col"]
    assert [cell["aria-sort"] for cell in headings] == ["ascending"] + ["none"] * (len(headings) - 1)
    buttons = [button for button in page.named("button") if "title" in button]
    assert len(buttons) == len(headings)
    keys = [float(cell["data-key"]) for cell in page.named("td") if cell["data-label"] == "value"]
    assert keys == [mode.fun for mode in result.modes]


def test_the_data_of_the_plots_are_those_of_the_result(result):
    data = Reader(html(result)).data
    assert np.allclose(data["x"], [mode.x for mode in result.modes], rtol=1e-7)
    assert np.allclose(data["value"], [mode.fun for mode in result.modes], rtol=1e-7)
    factor = result.mixture.components.factors.A[1]
    assert np.allclose(data["covariances"][1], factor @ factor.T, rtol=1e-6)
    assert data["history"]["modes"][-1] == len(result.modes)
    assert data["window"] == [[-6, 6], [-6, 6]]
    assert len(data["paths"]) == sum(len(path) > 1 for path in result.paths) > 3
    assert data["slices"] == {}


def test_contours_are_those_of_the_function(result):
    grid = Reader(html(result, fun=himmelblau)).data["slices"]["0,1"]
    row, column = 7, 60
    assert grid["value"][row][column] == pytest.approx(himmelblau([grid["x"][column], grid["y"][row]]), rel=1e-4)
    order = np.argsort(np.ravel(grid["value"]))
    shades = np.ravel(grid["shade"])[order]
    assert (np.diff(shades) >= -2e-3).all()  # values are rounded
    assert shades[0] == 0.0
    assert shades[-1] == pytest.approx(1.0)


def test_more_than_two_coordinates_have_pairs_and_slices_through_the_best_mode(result):
    seen = []

    def fun(x):
        seen.append(x)
        return float(x @ x)

    page = Reader(html(wide(result, 3), fun=fun))
    assert set(page.data["slices"]) == {"0,1", "0,2", "1,2"}
    assert "plot-pairs" in {div.get("id") for div in page.named("div")}
    best = wide(result, 3).x
    on = [np.isclose(np.array(seen)[:, i], best[i]).mean() for i in range(3)]
    assert min(on) >= 1 / 3 - 1e-9  # each coordinate is that of the best mode on one plane of three


def test_the_pictures_do_not_evaluate_a_large_problem_for_ever(result):
    count = 0

    def fun(x):
        nonlocal count
        count += 1
        return 0.0

    data = Reader(html(wide(result, 12), fun=fun)).data
    assert len(data["slices"]) == 10
    assert count < 20_000


# ---- nothing gets in, nothing goes out


@pytest.fixture(scope="module")
def hostile():
    def fun(x):
        if x[0] > 4.0:
            raise ValueError(HOSTILE[1] + HOSTILE[2])
        return himmelblau(x) + x[2] ** 2

    return find_minima(fun, [(-6, 6)] * 3, rng=0, names=HOSTILE, on_error="nan", maxfev=1500)


def test_what_the_user_wrote_stays_text(hostile):
    page = html(hostile, title=HOSTILE[1])
    read = Reader(page)
    plain = Reader(html(replace(hostile, names=("a", "b", "c"), failures=hostile.failures)))
    counts = [[tag for tag, _ in some.elements].count(tag) for some in (read, plain) for tag in ("script", "img", "b")]
    assert counts[:3] == counts[3:] == [3, 0, 0]  # no element more than with harmless names
    assert not any(name.startswith("on") for _, attributes in read.elements for name in attributes)
    assert read.data["names"] == list(HOSTILE)
    assert HOSTILE[1] in read.texts["failures"]
    assert HOSTILE[0] in read.texts["modes"]
    assert HOSTILE[1] in read.texts[None]


def test_the_data_cannot_end_their_element(hostile):
    page = html(hostile)
    start = page.index('id="data">') + len('id="data">')
    data = page[start : page.index("</script>", start)]
    assert not set("<>&\u2028\u2029") & set(data)
    assert json.loads(data)["names"][0] == HOSTILE[0]


def test_other_texts_of_the_user_stay_text(result):
    evil = HOSTILE[1]
    changed = replace(
        result, method=evil, message=evil, settings={"jac": evil, "options": {evil: evil}, "workers": evil},
        versions={"python": evil},
    )  # fmt: skip
    page = Reader(html(changed))
    assert not page.named("img")
    for part in ("summary", "rerun"):
        assert evil in page.texts[part]


def test_half_a_surrogate_pair_can_be_written(result, tmp_path):
    path = write_report(replace(result, names=("a\ud800", "b")), tmp_path / "page.html")
    assert "a\\ud800" in path.read_text(encoding="utf-8")


def test_nothing_is_loaded(result):
    page = html(result, fun=himmelblau)
    read = Reader(page)
    for _, attributes in read.elements:
        assert not {"src", "srcset", "action", "poster", "data"} & set(attributes)
        assert attributes.get("href", "#").startswith("#")
    assert not {"link", "iframe", "object", "embed", "base", "form"} & {tag for tag, _ in read.elements}
    assert "http://" not in page
    assert "https://" not in page
    assert "url(" not in page
    assert "@import" not in page


def test_only_the_two_scripts_of_the_page_may_run(result):
    policy = next(meta["content"] for meta in Reader(html(result)).named("meta") if "http-equiv" in meta)
    assert policy.startswith("default-src 'none';")
    assert policy.count("sha256-") == 2
    assert "unsafe-inline" not in policy.split("script-src")[1]
    assert "unsafe-eval" not in policy


# ---- odd results


@pytest.mark.parametrize("d", [1, 2, 3, 12, 60])
def test_every_dimension(result, d):
    page = Reader(html(wide(result, d), fun=lambda x: float(x @ x)))
    assert next(iter(page.data["slices"])) == ("0" if d == 1 else "0,1")
    assert len(page.named("select")) == (0 if d == 1 else 3)  # across, up, colours
    assert len(page.data["x"][0]) == d
    coordinates = [cell for cell in page.named("th") if cell.get("class") == "coordinate"]
    assert len(coordinates) == min(d, page_table.MOST_COORDINATES)
    assert ("The first 40 of 60 coordinates" in page.texts["modes"]) == (d == 60)
    is_wide = any("wide" in table.get("class", "") for table in page.named("table"))
    assert is_wide == (d > 5)


def test_no_mode():
    found = find_minima(lambda x: math.nan, [(-1, None), (None, 1)], x0=[0, 0], rng=0)
    assert found.status == Status.ALL_FAILED
    page = Reader(html(found, fun=lambda x: math.nan))
    assert "No mode was found" in page.texts["modes"]
    assert "nothing can be said" in page.texts["summary"]
    assert Status.ALL_FAILED.advice in page.texts["summary"]
    assert f"{found.nfail} of {found.nfev} evaluations failed" in page.texts["failures"]
    assert page.data["x"] == []


def test_a_best_point_without_a_mode_is_shown(result):
    page = Reader(html(replace(result, modes=(), mixture=None, status=Status.NO_MODE, success=False)))
    assert "Green cross" in page.texts["plots"]
    assert page.data["best"][:2] == pytest.approx(result.x)
    assert Status.NO_MODE.advice in page.texts["summary"]


def test_one_mode():
    page = Reader(html(find_minima(lambda x: float(x @ x), [(-1, 1)], rng=0, maxfev=300)))
    assert "1 minimum in 1 dimension" in page.texts[None]


@pytest.mark.parametrize(("count", "shown"), [(300, 300), (2100, 2000)])
def test_many_modes(result, count, shown):
    modes = tuple(replace(result.modes[k % 4], fun=float(k)) for k in range(count))
    page = Reader(html(replace(result, modes=modes, mixture=None)))
    assert len(page.named("tr")) == 1 + shown
    assert len(page.data["value"]) == shown
    assert ("The best 2000 of 2100 modes" in page.texts["modes"]) == (count == 2100)


def test_rows_beyond_the_first_come_when_one_scrolls_and_without_javascript_at_once(result):
    modes = tuple(replace(result.modes[k % 4], fun=float(k)) for k in range(300))
    written = html(replace(result, modes=modes, mixture=None))
    rows = Reader(written).named("tr")[1:]
    assert ["later" in row.get("class", "") for row in rows] == [False] * 200 + [True] * 100
    assert "<noscript><style>.modes tr.later { display: table-row; }" in written


def test_values_that_differ_by_rounding_look_equal_and_are_whole_when_pointed_at(result):
    values = [0.0, 3e-15, 5.0, 5.0 + 2e-12]
    modes = tuple(replace(mode, fun=value) for mode, value in zip(result.modes, values, strict=True))
    page = Reader(html(replace(result, modes=modes, temperature=1.0)))
    assert page.data["height"] == [0.0, 0.0, 5.0, 5.0]
    assert page.data["value"] == values
    cells = [cell for cell in page.named("td") if cell["data-label"] == "value"]
    assert [cell["title"] for cell in cells] == [repr(value) for value in values]


def test_without_the_function_the_page_says_how_to_get_contours(result):
    hint = "result.report(path, fun=fun)"
    assert hint in Reader(html(result)).texts["plots"]
    assert hint not in Reader(html(result, fun=himmelblau)).texts["plots"]


def test_barriers_are_a_tree(result):
    connected = result.connect(himmelblau, rng=0)
    page = Reader(html(connected))
    assert "plot-tree" in [div.get("id") for div in page.named("div")]
    tree = page.data["tree"]
    assert [way["value"] for way in tree["ways"]] == [merge.value for merge in connected.barriers.merges]
    assert [fork["level"] for fork in tree["forks"]] == pytest.approx([way["value"] for way in tree["ways"]])
    assert f"{connected.barriers.nfev} evaluations" in page.texts["plots"]
    assert Reader(html(result)).data["tree"] is None


def test_a_map_of_three_dimensions_or_more(result):
    deep = wide(result, 4)
    page = Reader(html(deep))
    assert "plot-map" in [div.get("id") for div in page.named("div")]
    assert len(page.data["map"]["x"]) == len(deep.modes)
    assert len(page.data["map"]["names"]) == 2
    assert f"it shows {page.data['map']['share']} of how they differ" in page.texts["plots"]
    assert Reader(html(result)).data["map"] is None


def test_numbers_that_are_not_finite(result):
    odd = [math.nan, math.inf, -math.inf, 1.0]
    modes = tuple(replace(mode, fun=value, flatness=value) for mode, value in zip(result.modes, odd, strict=True))
    history = History([(1, math.nan, 0), (5, math.inf, 1)])
    bounds = np.array([[-np.inf, np.inf], [0.0, np.inf]])
    page = Reader(html(replace(result, modes=modes, history=history, bounds=bounds, temperature=math.nan)))
    assert page.data["value"] == ["nan", "inf", "-inf", 1.0]
    assert np.isfinite(np.array(page.data["window"], dtype=float)).all()
    keys = [cell["data-key"] for cell in page.named("td") if cell["data-label"] == "value"]
    assert keys == ["nan", "inf", "-inf", "1.0"]
    assert "unknown" in page.texts["modes"]
    assert "∞" in page.texts["modes"]


def test_without_bounds_the_window_holds_the_modes(result):
    window = np.array(Reader(html(replace(result, bounds=None))).data["window"])
    for mode in result.modes:
        assert ((window[:, 0] < mode.x) & (mode.x < window[:, 1])).all()


def test_a_result_that_was_saved_before_results_kept_their_settings(result):
    bare = replace(
        result, bounds=None, settings={}, versions={}, seconds=0.0, paths=type(result.paths)(), trace=None, names=()
    )  # fmt: skip
    page = Reader(html(bare, fun=himmelblau))
    assert "allmodes.find_minima(" in page.texts["snippet"]
    assert "plot-slice" in {div.get("id") for div in page.named("div")}
    assert "Versions" not in page.texts["rerun"]


def test_maxima_are_called_so():
    found = find_maxima(lambda x: -himmelblau(x), [(-6, 6)] * 2, rng=0, maxfev=1500)
    page = Reader(html(found, fun=lambda x: -himmelblau(x)))
    assert "4 maxima in 2 dimensions" in page.texts[None]
    assert "find_maxima" in page.texts["snippet"]
    grid = page.data["slices"]["0,1"]
    best = np.argmax(grid["value"])
    assert np.ravel(grid["shade"])[best] == 0.0


def test_standard_errors_are_shown(result):
    modes = tuple(replace(mode, standard_error=0.125) for mode in result.modes)
    page = Reader(html(replace(result, modes=modes)))
    assert "error" in [cell.get("data-label") for cell in page.named("td")]
    assert page.data["error"] == [0.125] * 4


def test_annealing_is_drawn():
    found = find_minima(himmelblau, [(-6, 6)] * 2, rng=0, method="anneal", maxfev=2500)
    page = Reader(html(found))
    trace = page.data["trace"]
    assert len(trace["weights"]) == len(trace["temperature"]) == len(found.trace)
    assert np.allclose(trace["weights"][-1], found.trace.weights[-1])
    assert np.allclose(page.data["paths"][0][0], found.trace.means[0][0])
    assert "annealed components" in page.texts["plots"]
    assert "plot-weights" in {div.get("id") for div in page.named("div")}


def test_a_function_that_fails_in_the_picture_does_not_lose_the_page(result):
    def fun(x):
        if x[0] > 0.0:
            raise RuntimeError("not here")
        return himmelblau(x)

    values = np.array(Reader(html(result, fun=fun)).data["slices"]["0,1"]["value"])
    assert (values == "nan").mean() == pytest.approx(0.5, abs=0.02)
    assert Reader(html(result, fun=lambda: None)).data["slices"] == {}


def test_a_function_that_takes_too_long_is_left_out(result, monkeypatch):
    monkeypatch.setattr("allmodes.report.page.data._SECONDS", -1.0)
    page = Reader(html(result, fun=himmelblau))
    assert page.data["slices"] == {}
    assert "takes so long" in page.texts["plots"]
    assert "takes so long" not in Reader(html(result)).texts["plots"]


def test_vectorized_functions_are_called_with_many_points(result):
    asked = replace(result, settings=result.settings | {"vectorized": True})
    grid = Reader(html(asked, fun=lambda points: (points**2).sum(axis=1))).data["slices"]["0,1"]
    assert grid["value"][0][0] == pytest.approx(72.0)


# ---- to run it again


def test_the_snippet_makes_the_same_result_again(result):
    names = {"fun": himmelblau}
    exec(rerun.snippet(result).replace("print(result)", ""), names)
    again = names["result"]
    assert isinstance(again, Result)
    assert [mode.fun for mode in again.modes] == [mode.fun for mode in result.modes]
    assert again.names == result.names
    assert again.settings == result.settings


def test_a_snippet_with_everything():
    asked = {
        "jac": "2-point", "method": "local", "n_modes": 2, "maxfev": 900, "xtol": 1e-5, "periodic": [0], "rng": 7,
        "on_error": "nan", "options": {"patience": 9}, "names": ["it's", 'a "b"'], "x0": [[0.5, 0.5]],
        "target": "global",
    }  # fmt: skip
    found = find_minima(himmelblau, [(-6, 6), (0, None)], **asked)
    names = {"fun": himmelblau}
    exec(rerun.snippet(found).replace("print(result)", ""), names)
    assert [mode.fun for mode in names["result"].modes] == [mode.fun for mode in found.modes]
    assert names["result"].settings == found.settings
    assert rerun.remarks(found) == []


def test_what_a_snippet_cannot_say_is_said():
    found = find_maxima(
        lambda x: -himmelblau(x), [(-6, 6)] * 2, method=presets.fs_nva_gm(), rng=np.random.default_rng(0), maxfev=500,
        warm_start=(np.zeros((1, 2)), np.zeros(1)),
    )  # fmt: skip
    said = " ".join(rerun.remarks(found))
    for word in ("seed", "assembly", "warm_start"):
        assert word in said
    page = Reader(html(found))
    assert said.split(".")[0] in page.texts["rerun"]
    compile(rerun.snippet(found), "snippet", "exec")


def test_the_command_of_a_search_in_a_shell_is_shown_without_the_way_to_its_file(result):
    known = {"function": "/home/somebody/model.py:energy", "command": "allmodes find model.py:energy --seed 1"}
    page = html(replace(result, settings=result.settings | known))
    assert Reader(page).texts["command"] == known["command"]
    assert "somebody" not in page
    assert "command" not in Reader(html(result)).texts


def test_what_an_estimate_assumes_is_said_only_if_there_is_one(result):
    assert result.coverage.assumes in Reader(html(result)).texts["summary"]
    none = replace(result.coverage, searches=0, counts=(0,) * len(result.coverage.counts))
    page = Reader(html(replace(result, coverage=none)))
    assert "nothing is known about modes not found" in page.texts["summary"].lower()
    assert result.coverage.assumes not in page.texts["summary"]


def test_versions_and_settings_are_listed(result):
    page = Reader(html(result))
    assert not re.search(r"<dt>order</dt>", html(result))
    assert result.versions["numpy"] in page.texts["rerun"]
    assert "xtol" in page.texts["rerun"]


# ---- words


@pytest.mark.parametrize(("kind", "word"), [("boundary", "Wider bounds"), ("flat", "level"), ("unverified", "relying")])
def test_advice_on_kinds_of_modes(result, kind, word):
    modes = (*result.modes[1:], replace(result.modes[0], kind=kind))
    assert any(word in line for line in page_text.of(replace(result, modes=modes)).advice)
    assert not any(word in line for line in page_text.of(result).advice)


def test_advice_to_search_longer_says_how(result):
    open_ = estimate(np.array([3, 1, 1]))
    assert open_.share_upper > 0.3
    free = replace(result, coverage=open_, settings=result.settings | {"maxfev": None})
    spent = page_text.of(replace(free, status=Status.BUDGET_SPENT)).advice
    bored = page_text.of(replace(free, status=Status.NOTHING_NEW)).advice
    given = page_text.of(replace(result, coverage=open_, status=Status.NOTHING_NEW)).advice
    done = page_text.of(replace(result, coverage=open_, status=Status.ENOUGH_MODES)).advice
    late = page_text.of(replace(result, coverage=open_, status=Status.TIME_SPENT)).advice
    assert "maxfev" in spent[0]
    assert "effort" in bored[0]
    assert "maxfev" in given[0]
    assert "maxtime" in late[0]
    assert not done


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.0, "0"), (-1.5, "−1.5"), (math.nan, "unknown"), (-math.inf, "−∞"), (1e-300, "1e−300"), (123456.7, "123457")],
)
def test_numbers_as_they_are_shown(value, text):
    assert page_table.number(value) == text


# ---- files and packages


def test_the_file_is_written_and_replaced(result, tmp_path):
    path = tmp_path / "report.html"
    path.write_text("old")
    assert write_report(result, str(path), title="A title") == path
    text = path.read_text(encoding="utf-8")
    assert "<title>A title</title>" in text
    assert 1_000_000 < path.stat().st_size < MOST_BYTES
    assert result.report(path, title="Another") == path
    assert "<title>Another</title>" in path.read_text(encoding="utf-8")


def test_large_results_stay_small_pages(result):
    modes = tuple(replace(result.modes[k % 4], fun=float(k)) for k in range(300))
    many = replace(result, modes=modes, mixture=None)
    assert len(html(wide(many, 12), fun=lambda x: float(x @ x))) < 1.5 * MOST_BYTES


def test_the_same_result_gives_the_same_page(result):
    assert html(result) == html(result)


@pytest.mark.parametrize("package", ["plotly", "jinja2"])
def test_a_package_that_is_missing_is_named(result, monkeypatch, package):
    for name in [name for name in sys.modules if name.split(".")[0] == package]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(ImportError, match=re.escape("pip install 'allmodes[report]'")):
        html(result)
