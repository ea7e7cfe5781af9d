"""The commands in a real terminal: the page docs/session.md is what they print now, Ctrl-C and SIGTERM end in order."""

import json
import re
import signal
import sys
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"
sys.path.insert(0, str(DOCS))

import make_session  # noqa: E402
from screen import COLUMNS, Screen, Session  # noqa: E402

NUMBER = re.compile(r"(?<![\w.])[-+]?\d+(?:\.\d+)?(?:e[-+]?\d+)?(?![\w])")
COLOUR = re.compile(r"\x1b\[[0-9;]*m")
LIVE = re.compile(r"^\d+ evaluations  .*$", re.MULTILINE)
FIND = "allmodes find simulator.py:energy --bounds -6:6,-6:6 --rng 1 --out"


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    return tmp_path_factory.mktemp("session").resolve()


@pytest.fixture(scope="module")
def page(place):
    return make_session.session(place)


def words(text):
    """The words of a page without its numbers; how it stands just when Ctrl-C comes differs from run to run."""
    return NUMBER.sub("#", LIVE.sub("LIVE", text)).split()


def numbers(text):
    return [float(found) for found in NUMBER.findall(LIVE.sub("LIVE", text))]


def modes(directory):
    found = json.loads((directory / "result.json").read_text())
    return found["nfev"], found["modes"]


class TestPage:
    def test_says_what_the_commands_print_now(self, page):
        """Rounding differs between processors: counts may differ by a third, values in the last digits."""
        kept = make_session.PAGE.read_text(encoding="utf-8")
        advice = "Run: python docs/make_session.py"
        assert words(page.text) == words(kept), advice
        for now, then in zip(numbers(page.text), numbers(kept), strict=True):
            is_count = now == int(now) and then == int(then)
            assert now == pytest.approx(then, rel=0.34 if is_count else 0.01, abs=1e-6), advice

    def test_fits_80_columns(self, page):
        blocks = re.findall(r"```console\n(.*?)```", page.text, re.DOTALL)
        assert len(blocks) > 5
        assert max(len(line) for block in blocks for line in block.splitlines()) <= COLUMNS

    def test_shows_every_command(self, page):
        from allmodes.cli import main

        assert all(f"allmodes {name}" in page.text for name in main.commands)

    def test_a_resumed_search_is_that_of_an_uninterrupted_one(self, page, place):
        text, code, _ = page.session.run(f"{FIND} whole")
        assert code == 0
        assert "4 minima" in text
        assert modes(place / "run") == modes(place / "whole")


class TestTerminal:
    @pytest.fixture
    def session(self, tmp_path):
        (tmp_path / "simulator.py").write_text(make_session.SIMULATOR)
        return Session(tmp_path)

    def test_there_is_a_line_while_it_lasts_and_none_afterwards(self, session):
        text, code, then = session.run(f"{FIND} run", when=lambda seen: "waiting" in seen, send=b"\x03")
        assert code == 130
        assert re.search(r"waiting for a licence\n\d+ evaluations  \d modes?", then)
        assert not LIVE.search(text)
        assert modes(session.directory / "run")[0] == 100
        assert COLOUR.search(session.raw)

    def test_sigterm(self, session):
        text, code, _ = session.run(f"{FIND} run", when=lambda seen: "waiting" in seen, send=signal.SIGTERM)
        assert code == 143
        assert "Ended by SIGTERM" in text
        assert modes(session.directory / "run")[0] == 100

    def test_no_colour_where_none_is_wanted(self, session):
        session.environment["NO_COLOR"] = "1"
        text, code, _ = session.run("allmodes find himmelblau --n-modes 1 --out run")
        assert (code, "maxim" in text) == (0, True)
        assert not COLOUR.search(session.raw)

    def test_annealing_shows_its_temperature(self, session):
        command = "allmodes find mixture-10d-50 --method anneal --rng 1 --maxtime 3 --out run"
        session.run(command)
        assert re.search(r"\d+ evaluations  \d+ modes?  best \S+  0:\d\d  temperature \S+  ends at 3 s", session.raw)


class TestScreen:
    def test_what_is_erased_is_gone(self):
        screen = Screen()
        screen.feed("one\r\ntwo\r\x1b[2K\x1b[1A\x1b[2Kthree\ta\x1b[1m")
        assert screen.text == "three   a"

    def test_long_lines_go_on_below(self):
        screen = Screen()
        screen.feed("a" * 81)
        assert screen.text == "a" * 80 + "\na"

    def test_what_it_does_not_know_is_an_error(self):
        with pytest.raises(ValueError, match="does not know"):
            Screen().feed("\x1b[5B")
