"""The report page in a real browser: it draws, sorts, zooms and prints, and stays silent and alone."""

from __future__ import annotations

import csv
import io
import json
import re
from dataclasses import replace

import chromium
import numpy as np
import pytest

from allmodes import find_minima
from allmodes.report.page import write_report

pytest.importorskip("jinja2")
pytest.importorskip("plotly")
if chromium.find() is None:
    pytest.skip("Chromium not found", allow_module_level=True)  # said again in the last line of the tests

HOSTILE = (
    "<script>window.hacked = 1</script>",
    "</script><img src=x onerror=\"window.hacked = 2\">",
    "<a href='javascript:window.hacked = 3'>link</a><b>bold</b> &lt;i&gt; %{x} " + "long " * 40,
)  # fmt: skip
NOISE = ("Runtime.exceptionThrown", "Runtime.consoleAPICalled", "Log.entryAdded", "Page.javascriptDialogOpening")
POINTS = "#plot-slice .scatterlayer .trace:last-child .points path"
HOVER = "document.querySelector('#plot-{} .hoverlayer .hovertext')"


def himmelblau(x):
    return (x[0] ** 2 + x[1] - 11) ** 2 + (x[0] + x[1] ** 2 - 7) ** 2 + (x[2:] ** 2).sum()


def failing(x):
    if x[0] > 4.0:
        raise ValueError(HOSTILE[1])
    return himmelblau(x)


@pytest.fixture(scope="module")
def results():
    plain = find_minima(himmelblau, [(-6, 6)] * 2, rng=0, names=["alpha", "beta"], maxfev=1500)
    plain = plain.connect(himmelblau, rng=0)
    hostile = find_minima(failing, [(-6, 6)] * 3, rng=0, names=HOSTILE, on_error="nan", maxfev=1500)
    annealed = find_minima(himmelblau, [(-6, 6)] * 2, rng=0, method="anneal", maxfev=2500)
    rng = np.random.default_rng(0)
    many = tuple(
        replace(
            plain.modes[k % 4], x=rng.uniform(-6, 6, 12), fun=float(k), is_global=k < 2, flatness=[1.0, np.inf][k % 2]
        )
        for k in range(300)
    )
    bounds = np.tile([-np.inf, np.inf], (12, 1))
    no_paths = type(plain.paths)()
    large = replace(plain, modes=many, x=many[0].x, mixture=None, names=(), paths=no_paths, bounds=bounds)
    failed = find_minima(lambda x: np.nan, [(-6, 6)], rng=0)
    wide = replace(large, barriers=None)
    kinds = ("minimum", "boundary", "flat", "unverified")
    crowd = tuple(
        replace(many[k % 300], x=rng.uniform(-6, 6, 5), fun=0.01 * k, is_global=k < 2, kind=kinds[k % 4])
        for k in range(2000)
    )
    crowd = replace(wide, modes=crowd, x=crowd[0].x, bounds=np.tile([-6.0, 6.0], (5, 1)))
    return {"plain": plain, "hostile": hostile, "annealed": annealed, "large": wide, "failed": failed, "crowd": crowd}


@pytest.fixture(scope="module")
def addresses(results, tmp_path_factory):
    """Of the pages, written to disk as a user has them."""
    folder = tmp_path_factory.mktemp("pages")
    functions = {"plain": himmelblau, "hostile": failing, "crowd": himmelblau}
    return {
        name: write_report(result, folder / f"{name}.html", fun=functions.get(name), title=f"The {name} one").as_uri()
        for name, result in results.items()
    }


@pytest.fixture(scope="module")
def browser():
    with chromium.Chromium(chromium.find()) as started:
        yield started


@pytest.fixture(scope="module")
def show(browser, addresses):
    """Opens a page by its name, once: loading takes a second. What a test does there must not disturb the others."""
    pages = {}

    def opened(name, dark=False):
        if (name, dark) not in pages:
            pages[name, dark] = browser.open(addresses[name], dark=dark)
        page = pages[name, dark]
        page.send("Page.bringToFront")  # what is behind is not drawn
        page.resize(1280, 900)
        return page

    yield opened
    for (name, _), page in pages.items():
        assert page.events(*NOISE) == [], name  # none of the tests made it complain
        assert requests(page) == [addresses[name]]
        page.close()


def requests(page):
    """What was asked for; pictures that are part of the page were not."""
    asked = [event["request"]["url"] for event in page.events("Network.requestWillBeSent")]
    return [url for url in asked if not url.startswith("data:")]


def column(page, heading):
    """The texts of a column of the table, from the top."""
    return page.run(
        "(() => { const place = [...document.querySelectorAll('.modes thead th')].findIndex((th) => "
        f"th.textContent === '{heading}'); return [...document.querySelectorAll('.modes tbody tr')].map((row) => "
        "row.cells[place].dataset.key); })()"
    )


def sorting(page, heading):
    return page.run(
        f"[...document.querySelectorAll('.modes thead th')].find((th) => th.textContent === '{heading}').ariaSort"
    )


def heading_at(page, heading):
    number = page.run(
        f"[...document.querySelectorAll('.modes thead th')].findIndex((th) => th.textContent === '{heading}')"
    )
    return page.middle(f".modes thead th:nth-child({number + 1}) button")


# ---- it loads, alone and without a word


@pytest.mark.parametrize(
    ("name", "dark"),
    [("plain", False), ("plain", True), ("hostile", False), ("annealed", False), ("large", False), ("failed", False),
     ("crowd", False)],
)  # fmt: skip
def test_it_loads_without_errors_or_requests(show, addresses, name, dark):
    page = show(name, dark)
    assert page.events(*NOISE) == []
    assert requests(page) == [addresses[name]]
    assert page.run("document.title") == f"The {name} one"
    assert page.run("document.getElementById('trouble').hidden")
    drawn = page.run("[...document.querySelectorAll('.plot')].map((plot) => plot.querySelectorAll('.main-svg').length)")
    assert drawn
    assert all(drawn)


def test_an_error_would_be_seen(browser, tmp_path):
    """The test above would pass if the browser told nothing."""
    noisy = tmp_path / "noisy.html"
    noisy.write_text("<html data-drawn='true'><img src='missing.png'><script>console.error('a'); nothing()</script>")
    page = browser.open(noisy.as_uri())
    page.wait("document.readyState === 'complete'")
    assert all(page.events(kind) for kind in NOISE[:3])
    assert requests(page) == [noisy.as_uri(), (tmp_path / "missing.png").as_uri()]
    page.close()


def test_the_dark_page_is_dark_and_its_plots_can_be_read(show):
    page = show("plain", dark=True)
    back, text, label = page.run(
        "[getComputedStyle(document.body).backgroundColor, getComputedStyle(document.body).color,"
        "getComputedStyle(document.querySelector('#plot-slice .xtick text')).fill]"
    )
    brightness = [sum(map(int, re.findall(r"\d+", colour)[:3])) for colour in (back, text, label)]
    assert brightness[0] < 120
    assert min(brightness[1:]) > 600


@pytest.mark.parametrize("name", ["plain", "hostile", "large", "failed", "annealed", "crowd"])
def test_nothing_is_wider_than_a_phone(show, name):
    page = show(name)
    page.resize(375, 700)
    assert page.run("document.documentElement.scrollWidth") == 375
    wide = page.run(
        "[...document.querySelectorAll('main *')].filter((e) => !e.closest('.scroller, pre, .plot, .hidden') && "
        "e.getBoundingClientRect().right > innerWidth + 1).map((e) => e.outerHTML.slice(0, 80))"
    )
    assert wide == []
    assert page.run(
        "[...document.querySelectorAll('.main-svg')].every((e) => e.getBoundingClientRect().right <= innerWidth)"
    )


# ---- the table


def test_the_table_sorts_by_a_click_and_back(show, results):
    page = show("plain")
    page.click(*heading_at(page, "weight"))
    weights = [mode.weight for mode in results["plain"].modes]
    assert [float(key) for key in column(page, "weight")] == sorted(weights)
    assert (sorting(page, "weight"), sorting(page, "rank")) == ("ascending", "none")
    page.click(*heading_at(page, "weight"))
    assert [float(key) for key in column(page, "weight")] == sorted(weights, reverse=True)
    assert sorting(page, "weight") == "descending"
    assert "weight" in page.run("document.getElementById('sorted').textContent")


def test_the_table_sorts_by_the_keyboard(show, results):
    page = show("plain")
    page.run("document.querySelectorAll('.modes thead button')[1].focus()")
    page.press("Tab", 9)
    assert page.run("document.activeElement.textContent") == "kind"
    page.press("Tab", 9)
    page.press("Tab", 9)
    page.press("Enter", 13)
    assert [float(key) for key in column(page, "flatness")] == sorted(mode.flatness for mode in results["plain"].modes)


def test_numbers_sort_as_numbers_and_infinity_comes_last(show, results):
    page = show("large")
    page.click(*heading_at(page, "value"))
    page.click(*heading_at(page, "value"))
    assert [float(key) for key in column(page, "value")] == [float(k) for k in reversed(range(300))]
    page.click(*heading_at(page, "flatness"))
    assert column(page, "flatness") == ["1.0"] * 150 + ["inf"] * 150


# ---- the plots


def test_hovering_shows_the_coordinates_of_a_mode(show, results):
    page = show("plain")
    page.wait(HOVER.format("slice") + "?.textContent.startsWith('mode')", lambda: page.middle(POINTS))
    said = page.run(HOVER.format("slice") + ".textContent").replace("−", "-")
    rank = int(re.search(r"mode (\d)", said)[1])
    mode = results["plain"].modes[rank - 1]
    assert float(re.search(r"alpha = (-?[\d.]+?)(?=beta)", said)[1]) == pytest.approx(mode.x[0], rel=1e-4)
    assert float(re.search(r"beta = (-?[\d.]+)(?=weight)", said)[1]) == pytest.approx(mode.x[1], rel=1e-4)


def test_hovering_over_the_landscape_shows_the_function(show):
    page = show("plain")

    def beside_the_modes():
        x, y = page.middle("#plot-slice .plotly .nsewdrag")
        return x + 40, y + 15

    page.wait(HOVER.format("slice") + "?.textContent.startsWith('value')", beside_the_modes)
    said = page.run(HOVER.format("slice") + ".textContent").replace("−", "-")
    value, alpha, beta = re.fullmatch(r"value (.+)alpha = (.+)beta = (.+)", said).groups()
    assert float(value) == pytest.approx(himmelblau(np.array([float(alpha), float(beta)])), rel=1e-3)


@pytest.mark.parametrize("key", ["modes", "parallel", "convergence"])
def test_hovering_works_in_every_plot(show, key):
    page = show("plain")
    selector = f"#plot-{key} " + (".point path" if key == "modes" else ".points path")
    page.wait(HOVER.format(key), lambda: page.middle(selector))


def test_dragging_zooms_and_a_button_goes_back(show):
    page = show("plain")
    before = page.run("document.getElementById('plot-slice').layout.xaxis.range")
    x, y = page.middle("#plot-slice .plotly .nsewdrag")
    page.drag(x - 60, y - 60, x + 60, y + 60)
    page.wait(f"document.getElementById('plot-slice').layout.xaxis.range[0] > {before[0]} + 1")
    inside = page.run("document.getElementById('plot-slice').layout.xaxis.range")
    assert before[0] < inside[0] < inside[1] < before[1]
    page.click(*page.middle("#plot-slice .modebar-btn[data-title='Reset axes']"))
    page.wait(f"document.getElementById('plot-slice').layout.xaxis.range[0] === {before[0]}")


def pick(page, which, option):
    """Choose from a list as a hand does: by the keyboard."""
    page.run(
        f"(() => {{ const list = document.getElementById('{which}'); list.selectedIndex = {option};"
        "list.dispatchEvent(new Event('change', {bubbles: true})); })()"
    )


def shown(page):
    return page.run(
        "(() => { const plot = document.getElementById('plot-slice'), last = plot.data.at(-1); return "
        "[plot.layout.xaxis.title.text, plot.layout.yaxis.title.text, Array.from(last.x), Array.from(last.y)]; })()"
    )


def test_another_pair_of_coordinates_is_another_plot(show, results):
    page = show("large")
    assert shown(page)[:2] == ["x0", "x1"]
    pick(page, "across", 5)
    across, up, x, y = shown(page)
    best = results["large"].modes[0].x
    assert (across, up) == ("x5", "x1")
    assert (x[-1], y[-1]) == pytest.approx((best[5], best[1]))
    pick(page, "up", 5)  # never a coordinate against itself: the two change places
    assert shown(page)[:2] == ["x1", "x5"]
    assert page.run("[across.value, up.value]") == ["1", "5"]
    pick(page, "up", 12)
    assert shown(page)[1] == "value"


def test_a_click_in_the_pairs_shows_that_pair(show):
    page = show("hostile")
    before = shown(page)[:2]
    point = "#plot-pairs .subplot.x3y3 .points path"
    page.wait(HOVER.format("pairs"), lambda: page.middle(point))  # a busy machine is slow to see what is pointed at
    page.click(*page.middle(point))
    page.wait("document.getElementById('across').value === '1'")
    assert page.run("[across.value, up.value]") == ["1", "2"]
    assert shown(page)[:2] != before
    pick(page, "across", 0)
    pick(page, "up", 1)


# ---- a mode that is chosen


def chosen(page):
    """The ranks of rows that are marked, and of modes that have a ring in the slice."""
    return page.run(
        "[[...document.querySelectorAll('tr[aria-current]')].map((row) => Number(row.cells[0].dataset.key)),"
        "(() => { const [x, y] = document.getElementById('plot-slice').data.filter((t) => t.meta?.isRing)"
        ".map((t) => [t.x[0], t.y[0]])[0];"
        "return data.x.flatMap(([a, b], k) => (a === x && b === y ? [k + 1] : [])); })()]"
    )


def rings(page):
    """How many plots show a ring, or another line, around what is chosen."""
    return page.run(
        "places.filter((place) => place.data.some((t) => t.meta?.isRing && t.x.length)).map((p) => p.id.slice(5))"
    )


def test_a_click_on_a_row_shows_its_mode_in_every_plot(show):
    page = show("plain")
    page.click(*page.middle(".modes tbody tr:nth-child(3) td:nth-child(3)"))
    rank = page.run("Number(document.querySelector('.modes tbody tr:nth-child(3) th').dataset.key)")
    page.wait("places.filter((p) => p.data.some((t) => t.meta?.isRing && t.x.length)).length === 5")
    assert chosen(page) == [[rank], [rank]]
    assert rings(page) == ["slice", "tree", "modes", "parallel", "convergence"]
    page.press("Escape", 27)
    page.wait("places.every((p) => p.data.every((t) => !t.meta?.isRing || !t.x.length))")
    assert chosen(page) == [[], []]


def test_a_click_on_a_point_shows_its_row(show, results):
    page = show("crowd")
    page.run("sortBy(headings[0])")  # descending: the best mode is at the end, far beyond the rows laid out
    assert page.run("document.querySelectorAll('.modes tbody tr:not(.later)').length") == 200
    best = "#plot-slice .scatterlayer .trace:last-child .points path:last-child"
    page.wait(HOVER.format("slice") + "?.textContent.startsWith('mode 1 ')", lambda: page.middle(best))
    page.click(*page.middle(best))
    page.wait("document.querySelectorAll('tr[aria-current]').length === 1")
    assert chosen(page) == [[1], [1]]
    seen = page.run(
        "(() => { const [row, box] = [document.querySelector('tr[aria-current]'), table.parentElement]"
        ".map((e) => e.getBoundingClientRect()); return row.top > box.top && row.bottom < box.bottom + 1; })()"
    )
    assert seen
    page.run("choose(null)")
    page.run("sortBy(headings[0])")


def test_rows_are_chosen_by_the_keyboard(show):
    page = show("plain")
    page.run("document.querySelector('.modes tbody tr').focus()")
    page.press("ArrowDown", 40)
    page.press("Enter", 13)
    page.wait("document.querySelectorAll('tr[aria-current]').length === 1")
    assert page.run("document.querySelector('tr[aria-current]').rowIndex") == 2
    page.press("Enter", 13)
    assert chosen(page) == [[], []]


def test_marks_have_the_shape_of_what_they_are(show):
    page = show("crowd")
    shapes = page.run(
        "[...new Set(document.getElementById('plot-slice').data.filter((t) => t.customdata)"
        ".flatMap((t) => t.customdata.map((k, n) => `${data.kind[k]} ${t.marker.symbol[n]}`)))].sort()"
    )
    assert shapes == ["boundary square", "flat diamond", "minimum circle", "unverified triangle-up"]


def test_the_map_shows_the_chosen_mode(show):
    page = show("crowd")
    page.run("choose(7)")
    ring = "document.getElementById('plot-map').data.find((t) => t.meta?.isRing)"
    page.wait(f"{ring}.x.length === 1")
    assert page.run(f"{ring}.x[0] === data.map.x[7] && {ring}.y[0] === data.map.y[7]")
    page.run("choose(null)")
    page.wait(f"{ring}.x.length === 0")


# ---- many modes


def test_past_thirty_modes_only_some_are_numbered(show):
    page = show("crowd")
    numbered = "document.querySelectorAll('#plot-slice .scatterlayer .textpoint').length"
    assert 1 <= page.run(numbered) <= 30


def test_one_of_many_small_marks_is_a_mode_that_can_be_chosen(show):
    page = show("crowd")
    drawn = "document.getElementById('plot-map').data.find((t) => t.fill === 'toself')"
    assert page.run(f"{drawn}.customdata.filter((k) => k !== null).length") > 4 * 1900
    page.middle("#plot-map .plotly .nsewdrag")  # into view
    where = page.run(
        "(() => { const plot = byId('plot-map'), { left, top } = plot.getBoundingClientRect(),"
        "{ xaxis, yaxis } = plot._fullLayout; return [left + xaxis._offset + xaxis.d2p(data.map.x[1500]),"
        "top + yaxis._offset + yaxis.d2p(data.map.y[1500])]; })()"
    )
    page.wait(HOVER.format("map") + "?.textContent.startsWith('mode')", lambda: where)
    page.click(*where)
    page.wait("chosen !== null")
    assert page.run("Math.hypot(data.map.x[chosen] - data.map.x[1500], data.map.y[chosen] - data.map.y[1500])") < 0.03
    page.run("choose(null)")


def test_below_many_modes_the_function_is_an_image(show):
    """Contours around hundreds of modes were 5 MB of curves, drawn again at every click."""
    page = show("crowd")
    kinds = page.run("document.getElementById('plot-slice').data.map((t) => t.type)")
    assert "heatmap" in kinds
    assert "contour" not in kinds
    assert page.run("document.querySelector('#plot-slice .heatmaplayer').innerHTML.length") < 1_000_000


def test_among_many_modes_the_global_ones_have_bars_of_their_own(show):
    bars = "document.getElementById('plot-modes').data.filter((t) => t.type === 'bar' && t.yaxis === 'y')[0]"
    assert show("crowd").run(f"[[...{bars}.x].sort(), {bars}.marker.color]") == [[1, 2], "#0072B2"]


@pytest.mark.parametrize(
    ("asked", "kept"),
    [
        ("value < 3", lambda mode: mode.fun < 3), ("boundary", lambda mode: mode.kind == "boundary"),
        ("value<3, boundary", lambda mode: mode.fun < 3 and mode.kind == "boundary"),
        ("x0 >= 5.5 x1 < 0", lambda mode: mode.x[0] >= 5.5 and mode.x[1] < 0), ("rank = 17", None),
        ("nothing like it", lambda mode: False), ("kind != flat", lambda mode: mode.kind != "flat"),
        ("", lambda mode: True),
    ],
)  # fmt: skip
def test_rows_are_filtered(show, results, asked, kept):
    page = show("crowd")
    page.run(f"(() => {{ byId('filter').value = {asked!r}; byId('filter').dispatchEvent(new Event('input')); }})()")
    modes = results["crowd"].modes
    wanted = [17] if kept is None else [rank for rank, mode in enumerate(modes, 1) if kept(mode)]
    laid_out = page.run(
        "[...document.querySelectorAll('.modes tbody tr')].filter((row) => row.offsetHeight)"
        ".map((row) => Number(row.cells[0].dataset.key))"
    )
    assert laid_out == wanted[:200]
    assert page.run("byId('counted').textContent") == (f"{len(wanted)} of 2000" if asked else "")


def test_more_rows_come_as_one_scrolls(show):
    page = show("crowd")
    laid_out = "document.querySelectorAll('.modes tbody tr:not(.later)').length"
    assert page.run(laid_out) == 200
    page.run("table.parentElement.scrollTop = 1e6")
    page.wait(f"{laid_out} === 400")
    page.run("restart()")


def test_what_is_downloaded_has_all_digits(show, results):
    page = show("crowd")
    head, *lines = list(csv.reader(io.StringIO(page.run("asCsv()"))))
    assert head[:2] == ["rank", "value"]
    assert head[-5:] == ["x0", "x1", "x2", "x3", "x4"]
    modes = results["crowd"].modes
    assert [float(line[1]) for line in lines] == [mode.fun for mode in modes]
    np.testing.assert_array_equal(np.array([line[-5:] for line in lines], float), [mode.x for mode in modes])
    read = json.loads(page.run("asJson()"))
    assert [mode["x"] for mode in read["modes"]] == [mode.x.tolist() for mode in modes]
    assert [mode["rank"] for mode in read["modes"]] == list(range(1, 2001))


def test_barriers_are_downloaded(show, results):
    read = json.loads(show("plain").run("asJson()"))
    merges = results["plain"].barriers.merges
    assert [way["value"] for way in read["barriers"]] == [merge.value for merge in merges]
    assert [way["ranks"] for way in read["barriers"]] == [list(merge.way.modes) for merge in merges]


# ---- the landscape


def test_colours_become_grey_and_come_back(show):
    page = show("plain")
    scale = "document.getElementById('plot-slice').data.find((t) => t.type === 'contour').colorscale"
    assert page.run(scale) == "Viridis"
    pick(page, "colours", 1)
    page.wait(f"{scale} !== 'Viridis'")
    pick(page, "colours", 0)
    page.wait(f"{scale} === 'Viridis'")


def test_pointing_at_a_pass_says_its_value(show, results):
    page = show("plain")
    crosses = page.run("document.getElementById('plot-slice').data.findIndex((t) => t.marker?.symbol === 'x-thin-open' "
                       "&& t.x.length === 3)")  # fmt: skip
    said = page.run(f"document.getElementById('plot-slice').data[{crosses}].hovertext")
    values = [merge.value for merge in results["plain"].barriers.merges]
    assert [float(re.search(r"value ([\d.]+)<br>a saddle", text)[1]) for text in said] == pytest.approx(
        values, rel=1e-5
    )


# ---- what the user wrote


def test_hostile_names_stay_text(show):
    page = show("hostile")
    page.wait(HOVER.format("slice"), lambda: page.middle(POINTS))
    said = page.run(HOVER.format("slice") + ".textContent")
    assert "<script>window.hacked…" in said
    assert "</script><img src=x o…" in said
    for option in (1, 2):
        pick(page, "across", option)
    titles = page.run("[...document.querySelectorAll('#plot-slice .infolayer text')].map((text) => text.textContent)")
    assert any(text.startswith("<a href='javascript:") for text in titles)
    assert page.run("typeof window.hacked") == "undefined"
    assert page.run("document.querySelectorAll('img, svg a, .plot b, bdi *').length") == 0
    assert page.run("document.querySelectorAll('script').length") == 4  # three of the page, and plotly.js unpacked
    assert page.events(*NOISE) == []


# ---- paper


def pages_of(pdf):
    return len(re.findall(rb"/Type\s*/Page\b(?!s)", pdf))


@pytest.mark.parametrize(("name", "fewest", "most"), [("plain", 3, 5), ("hostile", 3, 7), ("large", 20, 45)])
def test_it_prints(show, name, fewest, most):
    page = show(name)
    pdf = page.pdf()
    assert pdf.startswith(b"%PDF")
    assert len(pdf) > 20_000
    assert fewest <= pages_of(pdf) <= most
    assert page.run("document.querySelector('details').open") is False  # as before
    assert page.run("document.querySelectorAll('.main-svg[viewBox]').length") == 0
    assert page.events(*NOISE) == []


def test_what_is_printed_fits_the_page(show):
    """The layout of paper, looked at on a screen as wide as an A4 page between its margins."""
    page = show("large")
    page.resize(703, 1000)
    page.send("Emulation.setEmulatedMedia", media="print")
    page.run("dispatchEvent(new Event('beforeprint'))")
    assert page.run("document.documentElement.scrollWidth") == 703
    wide = page.run(
        "[...document.querySelectorAll('main *')].filter((e) => e.getBoundingClientRect().right > innerWidth + 1 && "
        "!e.closest('.hidden, .main-svg')).length"
    )
    assert wide == 0
    assert page.run("[...document.querySelectorAll('details')].every((part) => part.open)")
    assert page.run("getComputedStyle(document.querySelector('.modebar')).display") == "none"
    assert page.run("getComputedStyle(document.querySelector('.scroller')).maxHeight") == "none"
    page.run("dispatchEvent(new Event('afterprint'))")
    page.send("Emulation.setEmulatedMedia", media="")
