"""The progress line, and what a callback is shown."""

import itertools
import re
import threading
from contextlib import redirect_stderr
from io import StringIO
from types import SimpleNamespace

import numpy as np
import pytest
from functions import bowl

from allmodes import Status, find_minima, terminal
from allmodes.nva import anneal, presets
from allmodes.nva.engine.progress import ProgressLine


def line_at(clock, is_shown=True, label="NVA-GM"):
    return ProgressLine(label, 100, is_shown)


def test_nothing_is_shown_in_the_first_two_seconds(clock, capsys):
    line = line_at(clock)
    for _ in range(19):
        clock.now += 0.1
        line.update(1, 1.0, 2.0)
    line.close()
    assert capsys.readouterr() == ("", "")


def test_after_two_seconds_one_line_on_stderr_says_how_far(clock, capsys):
    line = line_at(clock)
    clock.now += 4.0
    line.update(40, 0.125, 3.5)
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("\r")
    assert "\n" not in err
    assert err.strip() == "NVA-GM  40/100 steps  temperature 0.12  best 3.5  6 s left"


def test_the_line_is_not_rewritten_all_the_time(clock, capsys):
    line = line_at(clock)
    clock.now += 3.0
    for _ in range(10):  # one second in steps of 0.1
        line.update(50, 1.0, 1.0)
        clock.now += 0.1
    assert 3 <= capsys.readouterr().err.count("\r") <= 6


def test_the_line_is_wiped_at_the_end(clock, capsys):
    line = line_at(clock)
    clock.now += 3.0
    line.update(50, 1.0, 1.0)
    written = capsys.readouterr().err
    line.close()
    wiped = capsys.readouterr().err
    assert wiped.startswith("\r")
    assert wiped.endswith("\r")
    assert wiped.strip() == ""
    assert len(wiped.strip("\r")) >= len(written.strip("\r"))


def test_a_long_name_does_not_wrap_the_line(clock, capsys):
    line = line_at(clock, label="N" * 200)
    clock.now += 3.0
    line.update(50, 1.0, 1.0)
    assert len(capsys.readouterr().err.strip("\r")) <= 79


def test_a_line_that_is_not_asked_for_is_not_shown(clock, capsys):
    line = line_at(clock, is_shown=False)
    clock.now += 100.0
    line.update(50, 1.0, 1.0)
    line.close()
    assert capsys.readouterr() == ("", "")


def short_run(fun=bowl, **changes):
    settings = {
        "algorithm": presets.nva_gm(order=0),
        "means": [[1.0], [-1.0]],
        "covariances": 0.5,
        "temperature": 1.0,
        "learning_rate": 0.01,
        "steps": 6,
        "rng": 0,
    }
    return anneal(fun, **settings | changes)


@pytest.fixture
def late(monkeypatch):
    """A clock on which an hour passes between one look and the next."""
    hours = itertools.count()
    monkeypatch.setattr(terminal, "time", SimpleNamespace(monotonic=lambda: 3600.0 * next(hours)))


class Terminal(StringIO):
    """A stream that takes itself for a terminal."""

    def isatty(self):
        return True


@pytest.mark.parametrize("driver", ["numpy", "jax"])
@pytest.mark.usefixtures("late")
def test_a_long_run_shows_its_progress_and_leaves_nothing_behind(driver, capsys):
    with redirect_stderr(Terminal()) as err:
        short_run(driver=driver, progress=True)
    assert "NVA-GM (black-box)" in err.getvalue()
    assert "/6 steps" in err.getvalue()
    assert err.getvalue().endswith(" \r")
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize("driver", ["numpy", "jax"])
@pytest.mark.usefixtures("late")
def test_a_run_is_silent_unless_asked(driver):
    with redirect_stderr(Terminal()) as err:
        short_run(driver=driver)
    assert err.getvalue() == ""


@pytest.mark.usefixtures("late")
def test_a_run_that_writes_to_a_file_is_silent(capsys):
    short_run(progress=True)
    assert capsys.readouterr() == ("", "")


@pytest.mark.usefixtures("late")
def test_replicates_count_together():
    with redirect_stderr(Terminal()) as err:
        short_run(progress=True, replicates=3)
    assert [int(n) for n in re.findall(r"(\d+)/18 steps", err.getvalue())] == list(range(1, 19))


@pytest.mark.usefixtures("late")
def test_the_line_is_wiped_also_when_the_objective_raises():
    """A traceback starts on a clean line."""
    calls = []

    def fragile(x):
        calls.append(x)
        if len(calls) > 20:
            raise ZeroDivisionError
        return 0.0

    with redirect_stderr(Terminal()) as err, pytest.raises(ZeroDivisionError):
        short_run(fragile, progress=True)
    assert "steps" in err.getvalue()
    assert err.getvalue().endswith(" \r")


@pytest.mark.parametrize("driver", ["numpy", "jax"])
def test_a_callback_is_shown_the_state_after_a_step(driver):
    seen = []
    run = short_run(driver=driver, callback=seen.append, temperature=lambda t: 1.0 / t)
    last = seen[-1]
    assert last.step == run.nit == 6
    assert last.temperature == pytest.approx(1 / 6)
    assert last.nfev == run.nfev == 48
    assert last.best_value == run.best_value
    np.testing.assert_allclose(last.means, run.means)
    np.testing.assert_allclose(last.weights, run.weights)


def test_a_callback_sees_every_step_in_numpy():
    seen = []
    short_run(callback=seen.append)
    assert [snapshot.step for snapshot in seen] == [1, 2, 3, 4, 5, 6]
    assert [snapshot.nfev for snapshot in seen] == [8, 16, 24, 32, 40, 48]


@pytest.mark.parametrize(
    "callback",
    [lambda s: s.step == 3, lambda s: np.float64(s.step) > 2.5],
    ids=["bool", "numpy bool"],
)
def test_a_callback_that_returns_true_stops_the_run(callback):
    run = short_run(callback=callback)
    assert run.status is Status.STOPPED
    assert run.nit == 3


def test_a_callback_that_raises_stop_iteration_stops_the_run():
    def stop(snapshot):
        if snapshot.step == 2:
            raise StopIteration

    run = short_run(callback=stop)
    assert run.status is Status.STOPPED
    assert run.nit == 2


@pytest.mark.parametrize("returned", [None, False, 0])
def test_a_callback_that_returns_anything_else_lets_it_go_on(returned):
    assert short_run(callback=lambda s: returned).status is Status.STEPS_DONE


def test_other_errors_of_a_callback_are_not_swallowed():
    def broken(snapshot):
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        short_run(callback=broken)


# ---- of a search


def double_well(x):
    return (x[0] ** 2 - 1.0) ** 2


@pytest.mark.usefixtures("late")
def test_a_long_search_shows_how_far_it_is_and_leaves_nothing_behind(capsys):
    with redirect_stderr(Terminal()) as err:
        find_minima(double_well, [(-2, 2)], rng=0, maxfev=120, progress=True)
    assert re.search(r"\r\d+ evaluations  2 modes( \+ \S+ expected)?  best \S+  \d+:\d\d  search ", err.getvalue())
    assert " s left" not in err.getvalue()
    assert err.getvalue().endswith(" \r")
    assert capsys.readouterr().out == ""


@pytest.mark.usefixtures("late")
def test_a_search_that_raises_ends_on_a_clean_line():
    with redirect_stderr(Terminal()) as err, pytest.raises(ZeroDivisionError):
        find_minima(lambda x: 1 / 0, [(-2, 2)], rng=0, progress=True)
    assert not [thread for thread in threading.enumerate() if thread.name == "allmodes"]
    assert not err.getvalue() or err.getvalue().endswith(" \r")


def test_a_line_changes_no_result():
    quiet = find_minima(double_well, [(-2, 2)], rng=0, maxfev=120)
    with redirect_stderr(Terminal()):
        shown = find_minima(double_well, [(-2, 2)], rng=0, maxfev=120, progress=True)
    assert repr(shown) == repr(quiet)
