"""A result in a notebook: whole and escaped HTML, in the colours of the page, with what may be missing."""

import xml.etree.ElementTree as ElementTree
from dataclasses import replace

import numpy as np
import pytest
from test_result import mode, result

from allmodes import curve_fit, find_roots
from allmodes.result.html import html_of
from allmodes.result.sketch import sketches_of


def parsed(found):
    return ElementTree.fromstring(html_of(found))


def words(element):
    return " ".join("".join(element.itertext()).split())


def test_summary_table_and_what_may_be_missing():
    page = parsed(result())
    assert words(page).startswith("3 modes (1 global) in 2-d, 1234 evaluations, method find_minima (local)")
    assert "What may be missing: 3 modes found; probably 0 to 61 more" in words(page)
    rows = [[words(cell) for cell in row] for row in page.iter("tr")]
    assert rows[0] == ["rank", "value", "kind", "weight", "hits", "x0", "x1"]
    assert rows[1][:5] == ["1*", "-1.5", "minimum", "0.2500", "3"]
    assert len(rows) == 4
    assert result()._repr_html_() == html_of(result())


def test_it_has_no_colours_of_its_own_but_one_that_is_seen_on_white_and_black():
    text = html_of(result(bounds=np.array([(-20.0, 20.0)] * 2)))
    assert text.count("<svg") == 2
    assert "<style" not in text
    assert "<script" not in text
    assert {part.split('"')[0] for part in text.split('fill="')[1:]} <= {"none", "currentColor", "#3b82c4"}
    assert "#" not in text.replace("#3b82c4", "")


def test_names_and_messages_cannot_become_markup():
    nasty = "<script>alert(1)</script>\x1b[2J"
    text = html_of(result(names=(nasty, '"&'), message=nasty, nfail=1, failures=((np.zeros(2), "raised", nasty),)))
    assert "<script" not in text
    assert "\x1b" not in text
    assert ElementTree.fromstring(text) is not None


def test_many_modes_and_coordinates_are_capped_and_said():
    page = parsed(result(d=30, n=300))
    assert len(list(page.iter("tr"))) == 21
    assert len(list(next(page.iter("tr")))) == 5 + 12
    assert "... and 280 more: result.to_dataframe() has all of them" in words(page)
    assert "x12 to x29 not shown: result.to_dataframe(), or result[0].x and so on" in words(page)
    assert len(html_of(result(d=30, n=3000))) < 100_000


@pytest.mark.parametrize("d", [1, 2, 5])
def test_pictures_stay_inside_their_frames(d):
    found = result(d=d, n=30, bounds=np.array([(-np.inf, 30.0)] * d))
    circles = list(parsed(found).iter("circle"))
    assert len(circles) == (30 if d == 1 else 60)
    for circle in circles:
        assert 40 <= float(circle.get("cx")) <= 240
        assert 0 <= float(circle.get("cy")) <= 140


def test_without_anything_to_see_there_is_no_picture():
    assert sketches_of(result(n=0)) == ""
    assert html_of(result(n=0)).count("<svg") == 0
    assert "best point [0, 0], value 7" in html_of(result(n=0))
    held = result(modes=(mode([1.0, 2.0]),), bounds=np.array([(1.0, 1.0), (2.0, 2.0)]))
    assert html_of(held).count("<svg") == 0
    level = result(modes=tuple(mode([i, 2.0], 1.0 + 1e-15 * i, is_global=True) for i in range(3)))
    assert html_of(level).count("<svg") == 1  # where they are, but not how they differ
    assert html_of(replace(level, modes=(mode([np.nan, 1.0], np.inf),))).count("<svg") == 0


def test_logarithmic_coordinates_are_drawn_in_logarithms():
    rates = tuple(mode([10.0**-i, 1.0], float(i)) for i in range(1, 4))
    found = result(modes=rates, bounds=np.array([(1e-5, 1.0), (0.0, 2.0)]), settings={"scale": ["log", "linear"]})
    places = sorted(float(circle.get("cx")) for circle in list(parsed(found).iter("circle"))[:3])
    np.testing.assert_allclose(np.diff(places), places[1] - places[0], atol=0.2)


def test_fits_show_errors_and_roots_show_proofs():
    t = np.linspace(0, 3, 12)
    fits = curve_fit(lambda t, a, b: a * np.exp(-b * t), t, 2 * np.exp(-t) + 0.01 * np.sin(9 * t), bounds=(0, 5), rng=0)
    page = parsed(fits)
    assert [words(cell) for cell in next(page.iter("tr"))][1:] == ["chi2", "reduced chi2", "weight", "hits", "a", "b"]
    assert "±" in words(page)
    assert words(page).startswith("1 explanation in 2-d")
    roots = find_roots(lambda x: [x[0] ** 2 - 1.0], [(-2, 2)], rng=0)
    assert words(parsed(roots)).startswith("2 roots (2 certified) in 1-d")
