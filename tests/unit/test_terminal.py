"""The line on the terminal: late, rarely rewritten, never wrapped, wiped at the end."""

import threading

import pytest

from allmodes import terminal
from allmodes.terminal import Line, Shown, Ticker, columns, visible, wrapped


def shown(clock, line, capsys, after, text="so far"):
    clock.now += after
    line.show(lambda elapsed: f"{text} {elapsed:g}")
    captured = capsys.readouterr()
    assert captured.out == ""
    return captured.err


def test_what_takes_less_than_two_seconds_shows_nothing(clock, capsys):
    line = Line(True)
    assert shown(clock, line, capsys, 0.0) == ""
    assert shown(clock, line, capsys, 1.9) == ""
    line.close()
    assert capsys.readouterr().err == ""


def test_after_two_seconds_the_text_is_told_how_long_it_has_lasted(clock, capsys):
    line = Line(True)
    assert shown(clock, line, capsys, 2.5) == "\r" + "so far 2.5".ljust(79)


def test_it_is_rewritten_five_times_a_second_at_most(clock, capsys):
    line = Line(True)
    assert shown(clock, line, capsys, 3.0)
    assert shown(clock, line, capsys, 0.1) == ""
    assert shown(clock, line, capsys, 0.15).strip() == "so far 3.25"
    assert shown(clock, line, capsys, 0.1) == ""


def test_the_text_is_not_made_when_it_is_not_shown(clock):
    asked = []

    def text(elapsed):
        asked.append(elapsed)
        return "so far"

    line, quiet = Line(True), Line(False)
    line.show(text)  # too early
    clock.now += 100.0
    quiet.show(text)
    assert asked == []
    line.show(text)
    line.show(text)  # too soon after the one before
    assert asked == [100.0]


def test_a_line_that_is_not_wanted_writes_nothing(clock, capsys):
    line = Line(False)
    assert shown(clock, line, capsys, 100.0) == ""
    line.close()
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("length", [3, 79, 300])
def test_every_line_covers_the_one_before_and_none_wraps(clock, capsys, length):
    line = Line(True)
    written = shown(clock, line, capsys, 3.0, "x" * length)
    assert written[0] == "\r"
    assert len(written) == 80
    assert "\n" not in written


def test_the_line_is_wiped(clock, capsys):
    line = Line(True)
    written = shown(clock, line, capsys, 3.0, "x" * 300)
    line.close()
    wiped = capsys.readouterr().err
    assert wiped == "\r" + " " * (len(written) - 1) + "\r"


def test_control_characters_are_made_visible_and_layout_is_kept():
    assert visible("a\x1b[2J\x07b\x9bc\x7f\r\u202ed") == "a\\x1b[2J\\x07b\\x9bc\\x7f\\r\\u202ed"
    assert visible("two\nlines\tand é") == "two\nlines\tand é"


@pytest.mark.parametrize(("asked", "wide"), [("200", 199), ("80", 79), ("3", 39)])
def test_texts_are_as_wide_as_the_terminal(asked, wide, monkeypatch, clock, capsys):
    monkeypatch.setenv("COLUMNS", asked)
    assert columns() == wide
    assert max(map(len, wrapped("word " * 100))) in range(wide - 5, wide + 1)
    assert max(map(len, wrapped("word " * 100, 60))) <= 60
    assert len(shown(clock, Line(True), capsys, 3.0, "x" * 300)) == wide + 1


# ---- while one call takes long


def ticking(clock, text="12 evaluations", is_shown=True):
    """A line that has begun, whose thread does nothing by itself."""
    line = Line(is_shown)
    line.begin(Shown(text))
    if line.ticker is not None:
        line.ticker.stop()
    return line


def test_while_a_call_takes_long_the_line_says_for_how_long(clock, capsys):
    line = ticking(clock)
    clock.now += 1.9
    line._tick()
    assert capsys.readouterr().err == ""
    clock.now += 5.0
    line._tick()
    assert capsys.readouterr().err.strip() == "12 evaluations  no value for 7 s"
    clock.now += 0.3
    line.show(lambda elapsed: Shown("13 evaluations"))
    line.ticker.stop()
    capsys.readouterr()
    line._tick()  # there was news just now
    assert capsys.readouterr().err == ""
    clock.now += 2.0
    line._tick()
    assert capsys.readouterr().err.strip() == "13 evaluations  no value for 2 s"
    line.close()
    assert capsys.readouterr().err.endswith(" \r")


def test_how_long_is_said_even_where_the_line_is_full(clock, capsys):
    line = ticking(clock, "x" * 300)
    clock.now += 9.0
    line._tick()
    written = capsys.readouterr().err
    assert len(written) == 80
    assert written.endswith("x  no value for 9 s")


def test_a_line_that_is_not_shown_needs_no_thread(clock):
    assert ticking(clock, is_shown=False).ticker is None


def test_a_ticker_ticks_until_it_is_stopped():
    ticks = threading.Semaphore(0)
    ticker = Ticker(ticks.release, every=0.001)
    for _ in range(2):
        ticker.start()
        ticker.start()  # once is enough
        assert len([thread for thread in threading.enumerate() if thread.name == "allmodes"]) == 1
        assert all(ticks.acquire(timeout=10.0) for _ in range(3))
        ticker.stop()
        ticker.stop()
        assert not [thread for thread in threading.enumerate() if thread.name == "allmodes"]


def test_there_is_no_thread_while_a_process_forks(clock, capsys):
    line = Line(True)
    line.begin(Shown("12 evaluations"))
    assert line.ticker.thread is not None
    terminal._before_fork()
    assert line.ticker.thread is None
    line.show(lambda elapsed: "news")
    assert line.ticker.thread is not None
    line.close()
    assert line.ticker.thread is None
