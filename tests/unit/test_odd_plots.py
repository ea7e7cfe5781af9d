"""Results of every sort are drawn: without modes, with two hundred, with names that look like mathematics."""

from __future__ import annotations

import pytest
from drawn import NASTY, ODD, result
from matplotlib import cbook
from matplotlib.figure import Figure
from PIL import Image

from allmodes import find_minima
from allmodes.report import canvas
from allmodes.report.accessor import KINDS

STILL = [kind for kind in KINDS if kind not in ("weights", "animate")]


@pytest.mark.parametrize("kind", STILL)
@pytest.mark.parametrize("odd", ODD)
def test_odd_results_are_drawn(odd, kind, tmp_path):
    figure, modes = Figure(), len(ODD[odd].modes)
    ax = getattr(ODD[odd].plot, kind)(ax=figure.add_subplot())
    figure.savefig(tmp_path / "plot.png", dpi=40)
    if modes:
        assert ax.get_title().startswith(f"{modes} ")
        assert any(part.has_data() for part in (ax, *ax.child_axes))
    else:
        told = ax.get_title() or ax.texts[0].get_text()
        assert told.startswith(("0 ", "No mode was found.", "Nothing was evaluated."))
    with Image.open(tmp_path / "plot.png") as picture:
        assert len(picture.convert("L").getcolors()) > 1  # something is to be seen


def test_one_coordinate_is_drawn(tmp_path):
    found = find_minima(lambda x: (x[0] ** 2 - 1) ** 2, [(-2, 2)], rng=0, names=["$x$"])
    for kind in ("landscape", "modes", "convergence", "parallel"):
        ax = getattr(found.plot, kind)()
        ax.figure.savefig(tmp_path / "plot.png", dpi=40)
        assert ax.get_title().startswith("2 ")
    with pytest.raises(ValueError, match=r"at least two free coordinates; this result has 1"):
        found.plot.pairs()


@pytest.mark.parametrize("name", NASTY)
def test_names_stay_text(name):
    found = result(names=(name, "other"))
    ax = found.plot.landscape()
    assert not cbook.is_math_text(ax.get_xlabel())
    shown = ax.get_xlabel().replace(r"\$", "$")  # as matplotlib does with text that is not mathematics
    wanted = name.replace("\n", " ")
    assert shown == (wanted if len(name) <= 24 else wanted[:23] + "…")
    assert found.plot.parallel().get_xticklabels()[0].get_text() == ax.get_xlabel()
    assert found.plot.pairs().child_axes[0].get_xlabel() == ax.get_xlabel()


def test_long_names_are_cut():
    assert canvas.label("n" * 100) == "n" * 23 + "…"
