"""What several test modules need: a clock that is moved by hand, and directories in which the command is run."""

from __future__ import annotations

import sys

import pytest

from allmodes import terminal

SMALL_MODEL = """
import numpy as np


def energy(x):
    return (x[0] ** 2 + x[1] - 11) ** 2 + (x[0] + x[1] ** 2 - 7) ** 2


def disc(x):
    return 9 - x[0] ** 2 - x[1] ** 2


def decay(t, a, k):
    return a * np.exp(-k * t)


def residuals(x):
    return decay(np.arange(9.0), *x) - decay(np.arange(9.0), 2.0, 0.5)


def equations(x):
    return [x[0] ** 2 + x[1] ** 2 - 4, x[0] - x[1]]
"""
DATA = "t,y\n" + "".join(f"{t},{2.0 * 0.6**t + 0.01 * (t % 3)}\n" for t in range(9))
RUNS = "x,y,fun\n3,2,0\n-2.805118,3.131313,0\n3.00001,2,8e-9\n"
TOML = 'target = "model.py:energy"\nbounds = [[-6, 6], [-6, 6]]\nout = "other"\n'


class Clock:
    """A clock that is moved by hand."""

    def __init__(self):
        self.now = 1000.0

    def monotonic(self):
        return self.now


@pytest.fixture
def clock(monkeypatch):
    """The clock of lines on the terminal."""
    clock = Clock()
    monkeypatch.setattr(terminal, "time", clock)
    return clock


@pytest.fixture
def empty_place(tmp_path, monkeypatch):
    """An empty directory to be in; modules of users, and the path, are as they were afterwards."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    yield tmp_path
    for name in ("model", "clis_model"):
        sys.modules.pop(name, None)


@pytest.fixture
def model_place(empty_place):
    """A directory with model.py, run.toml, data.csv and runs.csv, as help texts name them."""
    (empty_place / "model.py").write_text(SMALL_MODEL)
    (empty_place / "run.toml").write_text(TOML)
    (empty_place / "data.csv").write_text(DATA)
    (empty_place / "runs.csv").write_text(RUNS)
    return empty_place


@pytest.fixture
def place(empty_place):
    """A directory with clis_model.py: functions that behave well, and others."""
    from cli_cases import MODEL

    (empty_place / "clis_model.py").write_text(MODEL)
    return empty_place
