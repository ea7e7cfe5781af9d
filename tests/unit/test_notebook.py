"""Lines in a notebook: found without importing anything, text without widgets, a bar where tqdm has one."""

import sys
from types import ModuleType, SimpleNamespace

import pytest

from allmodes import find_minima, notebook
from allmodes.notebook import NotebookBar, NotebookText, in_notebook, notebook_line
from allmodes.terminal import Line, Shown, can_show


@pytest.fixture
def cell(monkeypatch):
    """What a cell of a notebook shows, the last state of everything that it was told."""
    shown = []

    class Handle:
        def __init__(self):
            shown.append("")
            self.place = len(shown) - 1

        def update(self, data, raw):
            assert raw
            shown[self.place] = data["text/plain"]

    def display(data, raw, display_id):
        handle = Handle()
        handle.update(data, raw)
        return handle

    python, module = ModuleType("IPython"), ModuleType("IPython.display")
    python.get_ipython = lambda: SimpleNamespace(kernel=object())
    module.display = display
    monkeypatch.setitem(sys.modules, "IPython", python)
    monkeypatch.setitem(sys.modules, "IPython.display", module)
    return shown


@pytest.fixture
def bars(monkeypatch):
    """tqdm.notebook, which remembers what it drew."""
    made = []

    class Bar:
        def __init__(self, **given):
            self.said, self.closed = [], False
            made.append(self)
            assert given["leave"] is False

        def set_description_str(self, text):
            self.said.append((self.n, text))

        def close(self):
            self.closed = True

    module = ModuleType("tqdm.notebook")
    module.tqdm = Bar
    monkeypatch.setitem(sys.modules, "tqdm.notebook", module)
    monkeypatch.setattr(notebook.importlib.util, "find_spec", lambda name: object())
    return made


def test_outside_a_notebook_there_is_none(monkeypatch):
    monkeypatch.delitem(sys.modules, "IPython", raising=False)
    assert not in_notebook()
    assert "IPython" not in sys.modules
    python = ModuleType("IPython")
    monkeypatch.setitem(sys.modules, "IPython", python)
    assert not in_notebook()  # half imported
    python.get_ipython = lambda: None
    assert not in_notebook()
    python.get_ipython = lambda: SimpleNamespace()  # in a terminal
    assert not in_notebook()


def test_text_is_rewritten_and_wiped(cell):
    line = NotebookText()
    line.wipe()
    assert cell == []
    line.write("12 evaluations", 0.5)
    line.write("13 evaluations")
    assert cell == ["13 evaluations"]
    line.wipe()
    assert cell == [""]


def test_a_bar_shows_how_much_is_used_up(cell, bars):
    line = notebook_line()
    assert isinstance(line, NotebookBar)
    line.write("12 evaluations", 0.123)
    line.write("13 evaluations")
    line.wipe()
    assert bars[0].said == [(12, "12 evaluations"), (0, "13 evaluations")]
    assert bars[0].closed
    assert cell == []


def test_without_widgets_there_is_no_bar(monkeypatch):
    monkeypatch.setattr(notebook.importlib.util, "find_spec", lambda name: None if name == "ipywidgets" else object())
    assert isinstance(notebook_line(), NotebookText)


def test_a_line_finds_its_place(cell, clock, capsys):
    assert can_show()
    line = Line(True, place=NotebookText())
    assert isinstance(Line(True).place, NotebookText | NotebookBar)
    clock.now += 3.0
    line.show(lambda elapsed: Shown("x" * 300, 0.2))
    assert cell == ["x" * 100]
    line.close()
    assert cell == [""]
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize("maxfev", [None, 200])
def test_a_search_shows_its_progress(cell, bars, maxfev, monkeypatch):
    monkeypatch.setattr("allmodes.terminal._FIRST_AFTER", 0.0)
    monkeypatch.setattr("allmodes.terminal._EVERY", 0.0)
    result = find_minima(lambda x: (x[0] ** 2 - 1) ** 2, [(-2, 2)], rng=0, maxfev=maxfev, progress=True)
    (bar,) = bars
    assert bar.closed
    share, text = bar.said[-1]
    assert share == (100 if maxfev else 0)
    assert text.startswith(f"{result.nfev} evaluations  2 modes")
    assert len(bar.said) > 10  # pieces of rounds
