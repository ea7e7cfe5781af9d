"""The documentation builds without a warning, asks nothing of the network, and its map of the paper is whole."""

from __future__ import annotations

import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import chromium
import pytest
import reference

from allmodes import hints

ROOT = Path(__file__).parents[2]
# Attributes of elements that a browser fetches without being asked. A link that a reader follows is not among them.
FETCHED = {"script": "src", "img": "src", "iframe": "src", "source": "src", "video": "src", "link": "href"}


class Requests(HTMLParser):
    """Collects what a page makes a browser fetch."""

    def __init__(self):
        super().__init__()
        self.found = []

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        if tag in FETCHED and given.get(FETCHED[tag]):
            self.found.append(given[FETCHED[tag]])


def requests(html):
    parser = Requests()
    parser.feed(html)
    return parser.found + re.findall(r"url\(['\"]?([^)'\"]+)", html) + re.findall(r"@import ['\"]([^'\"]+)", html)


def is_outside(address):
    return address.startswith(("http:", "https:", "//"))


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "--quiet", "-d", folder / "doctrees"]
    done = subprocess.run([*command, ROOT / "docs", folder / "html"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return folder / "html"


def test_the_site(site):
    """One test, so that the site is built once however tests are shared among processes."""
    files = {path.relative_to(site).as_posix(): path.read_text(encoding="utf-8") for path in site.rglob("*.html")}
    assert {"index.html", "gallery/index.html", "theory.html", "generated/finding.html"} <= set(files)
    outside = {(name, address) for name, html in files.items() for address in requests(html) if is_outside(address)}
    assert not outside
    for path in site.rglob("*.css"):
        assert not [address for address in requests(path.read_text(encoding="utf-8")) if is_outside(address)]
    check_formulas(files["theory.html"])
    check_map(files["theory.html"])
    check_reference(files)
    check_types(files["generated/finding.html"])
    if chromium.find() is not None:
        check_widths(site)


def check_types(html):
    """Arguments have types, under names that are explained on the page."""
    plain = re.sub(r"<[^>]+>", "", html)
    assert "bounds: Bounds | None = None" in plain
    assert "TypeAliasForwardRef" not in plain
    for name in hints.__all__:
        assert f'id="allmodes.hints.{name}"' in html, name


def check_widths(site):
    """In a browser 1280 pixels wide: no code is cut off at the right edge, and no page is wider than the screen."""
    cut = (
        "[...document.querySelectorAll('pre')].filter((e) => e.scrollWidth > e.clientWidth + 1).map((e) => e.innerText)"
    )
    with chromium.Chromium(chromium.find()) as browser:
        page = browser.open((site / "index.html").as_uri(), until="document.readyState === 'complete'")
        for path in sorted(site.glob("*.html")) + sorted(site.glob("g*/*.html")) + sorted(site.glob("adapters/*.html")):
            page.send("Page.navigate", url=path.as_uri())
            page.wait(f"location.href === '{path.as_uri()}' && document.readyState === 'complete'")
            assert page.run(cut) == [], path.name
            assert page.run("document.documentElement.scrollWidth") == 1280, path.name


def check_formulas(html):
    """Formulas are MathML, none is left as LaTeX."""
    assert html.count("<math") > 30
    assert "\\omega" not in html
    assert "$$" not in html


def check_map(html):
    """Every label that a docstring names is in the table, with a link to what carries it."""
    rows = re.findall(r"<tr.*?</tr>", html.split('id="the-equation-map"')[1], flags=re.DOTALL)[1:]
    labels = {re.search(r'<span class="pre">([^<]*)</span>', row)[1] for row in rows if "<td><p></p></td>" not in row}
    items = list(reference.tagged())
    assert len(rows) == sum(len(item.labels) for item in items) > 50
    assert {label for item in items for label in item.labels} <= labels
    assert not [row for row in rows if '<a class="reference internal" href=' not in row]


def check_reference(files):
    """Every public name is described."""
    import allmodes

    described = "".join(html for name, html in files.items() if name.startswith("generated/"))
    for name in allmodes.__all__:
        assert f'id="allmodes.{name}' in described, name
    for name in ("ask", "tell", "stop", "result", "save", "load"):
        assert f'id="allmodes.ModeFinder.{name}"' in described, name
    for name in ("anneal", "presets.nva_gm", "families.Family", "estimators.ScoreEstimator", "namespace"):
        assert f'id="allmodes.nva.{name}"' in described, name


def test_requests_are_seen():
    html = '<script src="https://a/b.js"></script><a href="https://a">a</a><style>@import "//c.css"; x {src: url(http://d)}</style>'
    assert [address for address in requests(html) if is_outside(address)] == ["https://a/b.js", "http://d", "//c.css"]


def test_every_label_in_the_source_is_one_of_the_papers():
    known = reference.LABELS.read_text(encoding="utf-8").split()
    assert {label for item in reference.tagged() for label in item.labels} <= set(known)
