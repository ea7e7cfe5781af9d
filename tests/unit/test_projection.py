"""Modes in many dimensions on the plane in which they differ most."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from drawn import ODD, mode, result
from matplotlib.figure import Figure

from allmodes.report import canvas
from allmodes.report.projection import plane_of
from allmodes.result import Paths


def axes():
    return Figure(figsize=(4.0, 4.0)).add_subplot()


def spread():
    """Modes in a tilted plane of five dimensions, within bounds of different widths."""
    rng = np.random.default_rng(0)
    flat = rng.normal(size=(12, 2)) * [0.1, 0.03]
    axes_ = np.linalg.qr(rng.normal(size=(5, 2)))[0]
    wide = np.array([1.0, 10.0, 100.0, 4.0, 2.0])
    x = (0.5 + flat @ axes_.T) * wide
    modes = tuple(mode(each, i, is_global=not i) for i, each in enumerate(x))
    bounds = np.stack([np.zeros(5), wide], axis=1)
    return result(5, modes=modes, x=x[0], bounds=bounds, mixture=None, paths=Paths()), flat


def test_the_plane_keeps_distances_in_shares_of_the_bounds():
    shown, flat = spread()
    plane = plane_of(shown)
    places = plane.of(np.array([each.x for each in shown.modes]))
    apart = np.linalg.norm(places[:, None] - places[None], axis=-1)
    np.testing.assert_allclose(apart, np.linalg.norm(flat[:, None] - flat[None], axis=-1), atol=1e-12)
    assert plane.shares.sum() == pytest.approx(1.0)
    assert plane.shares[0] > plane.shares[1]


def test_modes_are_numbered_and_axes_say_what_they_are_made_of():
    shown, _ = spread()
    ax = axes()
    assert shown.plot.map(ax=ax) is ax
    assert "12 modes; the plane shows 100 %" in ax.get_title().replace("\n", " ")
    assert {"1", "2"} <= {text.get_text() for text in ax.texts}
    assert any(f"x{i}" in ax.get_xlabel() for i in range(5))


def test_one_coordinate_alone_is_an_axis_by_its_name():
    modes = tuple(mode([x, y, 0.0], x, is_global=not x) for x in (0.0, 1.0, 2.0) for y in (0.0, 0.5))
    ax = result(3, modes=modes, x=modes[0].x, mixture=None).plot.map(ax=axes())
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("x0", "x1")


def test_paths_of_searches_are_drawn():
    ax = result(4).plot.map(ax=axes())
    assert len([line for line in ax.get_lines() if line.get_color() == canvas.PATH]) == len(result(4).paths)


def test_of_two_coordinates_there_is_a_landscape():
    with pytest.raises(ValueError, match=r"here are 2: use plot\.landscape"):
        result().plot.map()


@pytest.mark.parametrize("name", ["200 modes in 7-d", "no mode", "level", "huge"])
def test_odd_results_are_drawn(name):
    odd = ODD[name]
    if len(odd.x) < 3:
        deeper = tuple(replace(each, x=np.append(each.x, 0.0)) for each in odd.modes)
        odd = replace(odd, modes=deeper, x=np.append(odd.x, 0.0), bounds=None, paths=Paths(), mixture=None)
    ax = odd.plot.map(ax=axes())
    assert len([text for text in ax.texts if text.get_text().isdigit()]) <= 30
    ax.figure.canvas.draw()
