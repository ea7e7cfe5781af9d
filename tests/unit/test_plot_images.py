"""Pictures look as they did when somebody looked at them.

Text is taken away, because letters differ from one version of freetype to the next; other tests read it.
`python tests/unit/test_plot_images.py` draws the pictures anew. Look at them before they are committed.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from drawn import four_modes, result, some_barriers, some_trace, wells
from matplotlib.figure import Figure
from matplotlib.testing.compare import compare_images
from matplotlib.text import Text

IMAGES = Path(__file__).parent / "images"
TOLERANCE = 2.5  # root mean square of the difference, of 255: lines are smoothed differently from version to version
DPI = 50


def landscape(found):
    return found.plot.landscape(wells, ax=axes(), resolution=41)


def seen(found):
    """Without the function: contours between points that local searches went through."""
    return found.plot.landscape(ax=axes())


def line(found):
    return found.plot.landscape(wells, coordinates=[1], ax=axes())


def modes(found):
    return found.plot.modes(ax=axes(5.0, 2.4))


def weights(found):
    return replace(found, trace=some_trace()).plot.weights(ax=axes())


def convergence(found):
    return found.plot.convergence(ax=axes())


def parallel(found):
    changed = [replace(mode, x=np.append(mode.x, [0.2 * i, 1.0])) for i, mode in enumerate(found.modes)]
    return replace(found, modes=tuple(changed), x=changed[0].x, bounds=np.array([[-2.0, 2.0]] * 4)).plot.parallel(
        ax=axes(4.5)
    )


def pairs(found):
    deep = result(3, modes=tuple(replace(mode, x=np.append(mode.x, 0.3 * i)) for i, mode in enumerate(found.modes)),
                  mixture=None)  # fmt: skip
    return deep.plot.pairs(ax=axes(4.0, 4.0))


def tree(found):
    return replace(found, barriers=some_barriers()).plot.tree(ax=axes(4.4, 3.4))


def projected(found):
    deep = result(4, modes=tuple(replace(mode, x=np.append(mode.x, [0.3 * i, -0.2 * i])) for i, mode in
                                 enumerate(found.modes)), mixture=None)  # fmt: skip
    return deep.plot.map(ax=axes())


def connected(found):
    return replace(found, barriers=some_barriers()).plot.landscape(wells, ax=axes(), resolution=41, cmap="grey")


def animate(found, path):
    return replace(found, trace=some_trace()).plot.animate(path / "film.gif", wells, ax=axes(), frames=3)


KINDS = [
    landscape, seen, line, modes, weights, convergence, parallel, pairs, tree, projected, connected, animate,
]  # fmt: skip


def axes(width=3.6, height=3.6):
    return Figure(figsize=(width, height), layout="constrained").add_subplot()


def draw(kind, found, directory):
    """The picture of a kind, without text, in a file of this directory."""
    figure = (kind(found, directory) if kind is animate else kind(found)).figure
    for text in figure.findobj(Text):
        text.set_visible(False)
    path = directory / f"{kind.__name__}.png"
    figure.savefig(path, dpi=DPI)
    return path


@pytest.mark.parametrize("kind", KINDS)
def test_it_looks_as_it_did(kind, tmp_path):
    drawn = draw(kind, result(), tmp_path)
    assert compare_images(str(IMAGES / drawn.name), str(drawn), tol=TOLERANCE) is None


def without_ellipse():
    best, *others = four_modes()
    return result(modes=(replace(best, hessian=np.full((2, 2), np.nan)), *others), mixture=None)


def with_a_local_best():
    best, *others = four_modes()
    return result(modes=(replace(best, is_global=False), *others))


def with_one_moved():
    first, second, *others = four_modes()
    return result(modes=(first, replace(second, x=np.array([-0.6, 0.96]), fun=-0.2, weight=0.5), *others))


@pytest.mark.parametrize(
    ("kind", "changed"),
    [
        (landscape, without_ellipse), (landscape, with_a_local_best), (landscape, with_one_moved),
        (modes, with_a_local_best), (modes, with_one_moved), (parallel, with_one_moved), (pairs, with_a_local_best),
        (line, with_one_moved), (tree, with_a_local_best), (projected, with_a_local_best),
        (connected, with_a_local_best),
    ],
)  # fmt: skip
def test_a_small_change_is_seen(kind, changed, tmp_path):
    drawn = draw(kind, changed(), tmp_path)
    assert compare_images(str(IMAGES / drawn.name), str(drawn), tol=TOLERANCE) is not None


if __name__ == "__main__":
    import tempfile

    for kind in KINDS:
        with tempfile.TemporaryDirectory() as directory:
            (IMAGES / f"{kind.__name__}.png").write_bytes(draw(kind, result(), Path(directory)).read_bytes())
