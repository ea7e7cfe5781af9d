"""The line on the terminal: late, rarely rewritten, never wrapped, wiped at the end."""

import pytest

from allmodes.terminal import Line, visible


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
