"""The logger "allmodes": silent unless somebody listens; modes and changes of plan at INFO, every round at DEBUG."""

import logging
import subprocess
import sys

import numpy as np
import pytest

from allmodes import ModeFinder, find_maxima, find_minima
from allmodes.journal import LOG, Journal

BOX = [(-6.0, 6.0)] * 2


def himmelblau(x):
    return (x[0] ** 2 + x[1] - 11) ** 2 + (x[0] + x[1] ** 2 - 7) ** 2


def logged(caplog, level=logging.INFO):
    return [record.getMessage() for record in caplog.records if record.levelno == level]


def test_nothing_is_written_by_default():
    code = (
        "import allmodes, logging; assert not logging.getLogger('allmodes').isEnabledFor(logging.INFO);"
        "logging.getLogger('allmodes').error('nothing');"
        "allmodes.find_minima(lambda x: x[0] ** 2, [(-1, 1)], rng=0, maxfev=50)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("", "")


def test_where_nobody_listens_nothing_is_made(monkeypatch):
    monkeypatch.setattr(Journal, "note", lambda *args: pytest.fail("called"))
    assert not LOG.isEnabledFor(logging.INFO)
    find_minima(himmelblau, BOX, rng=0, maxfev=100)


def test_modes_the_beginning_and_the_end(caplog):
    with caplog.at_level(logging.INFO, "allmodes"):
        result = find_minima(himmelblau, BOX, rng=0)
    first, *modes, last = logged(caplog)
    assert first == (
        "search of 2 coordinates, method auto, at most 30000 evaluations, 0 modes so far; with symmetry, populations, "
        "refinement"
    )
    assert [text.split(":")[0] for text in modes] == ["mode 1", "mode 2", "mode 3", "mode 4"]
    places = sorted(mode.found_at for mode in result)
    for text, nfev in zip(modes, places, strict=True):
        assert ": minimum, value " in text
        assert int(text.split("found after ")[1].split()[0]) >= nfev
    assert last == f"NOTHING_NEW: {result.message}"


def test_rounds_are_told_at_debug_alone(caplog):
    with caplog.at_level(logging.DEBUG, "allmodes"):
        result = find_maxima(lambda x: -himmelblau(x), BOX, jac=lambda x: np.zeros(2), rng=0, maxfev=60,
                             options={"check": False})  # fmt: skip
    rounds = logged(caplog, logging.DEBUG)
    assert len(rounds) == result.nit
    assert rounds[0].startswith("round 0: ")
    assert any(" points with gradient" in text for text in rounds)
    assert ", 2 of them known; 22 evaluations, 0 modes, best -5.91" in rounds[3]
    assert not any(" 1 points" in text or " 1 evaluations" in text for text in rounds)


def test_a_function_that_proves_noisy_is_said(caplog):
    noise = np.random.default_rng(0)
    with caplog.at_level(logging.INFO, "allmodes"):
        find_minima(lambda x: x[0] ** 2 + 0.1 * noise.normal(), [(-6, 6)], rng=0, maxfev=300)
    (said,) = (text for text in logged(caplog) if "noisy" in text and "NOISY" not in text and "BUDGET" not in text)
    assert "; the function is noisy: two values at one point are" in said


def test_populations_that_join_are_said_and_why(caplog):
    with caplog.at_level(logging.INFO, "allmodes"):
        find_minima(
            lambda x: np.floor(4 * abs(x[0]) + 3 * abs(x[1])), BOX, rng=0, maxfev=3000, jac=lambda x: np.zeros(2),
            options={"check": False},
        )  # fmt: skip
    said = [text for text in logged(caplog) if text.startswith("the plan changes: ")]
    assert any("populations" in text and "local searches" in text for text in said)


def test_many_modes_at_once_are_counted(caplog):
    with caplog.at_level(logging.INFO, "allmodes"):
        find_minima(lambda x: (x[0] * 7) % 5 + (x[1] * 3) % 4, [(0, 40)] * 2, integrality=True, rng=0)
    assert any(" more modes found, " in text for text in logged(caplog))
    assert len(logged(caplog)) < 200


def test_those_who_ask_and_tell_are_logged_too(caplog):
    finder = ModeFinder([(-2, 2)], rng=0, maxfev=200)
    with caplog.at_level(logging.INFO, "allmodes"):
        while not finder.stop():
            x = finder.ask()
            finder.tell(x, ((x**2 - 1) ** 2)[:, 0])
    assert sum(text.startswith("mode ") for text in logged(caplog)) == 2


def test_listening_changes_nothing(caplog):
    quiet = find_minima(himmelblau, BOX, rng=1, maxfev=400)
    with caplog.at_level(logging.DEBUG, "allmodes"):
        loud = find_minima(himmelblau, BOX, rng=1, maxfev=400)
    assert repr(quiet) == repr(loud)
