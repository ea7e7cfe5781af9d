"""Write docs/session.md: a terminal session of every command, run in a real terminal of 80 columns.

    python docs/make_session.py

`tests/terminal/test_session.py` runs it again and compares.
"""

from __future__ import annotations

import re
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

from screen import Session

PAGE = Path(__file__).parent / "session.md"

SIMULATOR = '''\
"""A simulator that stops for its licence after 100 calls."""

import time
from pathlib import Path

calls = 0


def energy(x):
    global calls
    calls += 1
    time.sleep(0.002)
    if calls == 101 and not Path("licence").exists():
        print("waiting for a licence")
        while not Path("licence").exists():
            time.sleep(0.1)
    a, b = x[0] ** 2 + x[1] - 11, x[0] + x[1] ** 2 - 7
    return a**2 + b**2 + 2 * x[0] + 3 * x[1]
'''
SETTINGS = """\
fun = "simulator.py:energy"
bounds = [[-6, 6], [-6, 6]]
names = ["width", "height"]
rng = 1
maxfev = 2000
out = "again"
"""
SHAPES = '''\
"""A constraint, a choice, data and equations."""

import numpy as np


def energy(x):
    return (x[0] ** 2 + x[1] - 11) ** 2 + (x[0] + x[1] ** 2 - 7) ** 2


def disc(x):
    return 9 - x[0] ** 2 - x[1] ** 2  # at least 0 where x is feasible


def beam(x):
    weight = {"oak": 3.0, "fir": 2.0}[x[0]]
    return weight * x[1] + 5 * (x[1] - 4) ** 2 / weight


def decay(t, height, rate):
    return height * np.exp(-rate * t)


def equations(x):
    return [x[0] ** 2 + x[1] ** 2 - 4, x[0] - x[1]]
'''
MISTAKES = """\
fun = "simulator.py:energy"
bounds = [[-6, 6], [6, -6]]
max_evalutions = 2000
method = "fast"
"""
DISC = """\
fun = "my.py:energy"
bounds = [[-6, 6], [-6, 6]]
constraint = "my.py:disc"
n_modes = 3
rng = 0
out = "disc"
"""
DECAY = """\
t,signal,error
0,2.01,0.02
1,1.22,0.02
2,0.73,0.02
3,0.45,0.02
4,0.27,0.02
"""
WAITING = "waiting for a licence"


RUNS = """\
x,y,fun
3,2,0
3.00001,1.99999,1e-09
-2.80512,3.13131,2e-09
3,2,0
-3.77931,-3.28319,1e-09
-2.80512,3.13131,0
3.58443,-1.84813,0
1.0,4.2,90.1
"""


@dataclass
class Transcript:
    """A page that grows as commands are run."""

    session: Session
    parts: list[str] = field(default_factory=list)

    def say(self, text: str) -> None:
        """A paragraph."""
        self.parts.append(text)

    def write(self, name: str, content: str, language: str) -> None:
        """A file, shown and written."""
        (self.session.directory / name).write_text(content, encoding="utf-8")
        self.parts.append(f"```{language}\n# {name}\n{content}```")

    def run(self, *commands: str, code: int = 0) -> None:
        """Commands and what they print; the last one ends with the code."""
        shown = []
        for command in commands:
            text, ended, _ = self.session.run(command)
            wanted = code if command == commands[-1] else 0
            if ended != wanted:
                raise RuntimeError(f"{command} ended with {ended} instead of {wanted}:\n{text}")
            shown.append(f"$ {command}\n{masked(text)}".rstrip())
            if ended:
                shown.append(f"$ echo $?\n{ended}")
        self._show(shown)

    def interrupt(self, command: str, when: str) -> None:
        """A command that is ended by Ctrl-C when something is on the screen; what was there then is shown, too."""
        text, ended, then = self.session.run(command, when=lambda seen: when in seen, send=b"\x03")
        if ended != 130:
            raise RuntimeError(f"{command} ended with {ended} after Ctrl-C:\n{text}")
        self._show([f"$ {command}\n{masked(then)}"])
        self.say("Ctrl-C ends the search. What it has found is printed and saved.")
        after = masked(text).partition(when)[2].strip("\n")
        self._show([f"{after}\n$ echo $?\n{ended}"])

    def _show(self, shown: list[str]) -> None:
        self.parts.append("```console\n" + "\n".join(shown) + "\n```")

    @property
    def text(self) -> str:
        return "\n\n".join(self.parts) + "\n"


def masked(text: str) -> str:
    """Times as 0:00 or 0.0 s: they are the only thing that differs from run to run."""
    text = re.sub(r" in \d+\.\d s\b", " in 0.0 s", text)
    return re.sub(r"\b\d+:\d\d\b(?!:)", "0:00", re.sub(r"\b\d+:\d\d:\d\d\b", "0:00", text))


def session(directory: Path) -> Transcript:
    """The session, run in an empty directory."""
    page = Transcript(Session(directory))
    page.say("# A session in a terminal")
    page.say(
        "All commands, as a terminal of 80 columns shows them. This page is written by `python docs/make_session.py`; "
        "a test runs it again and compares. Times are masked."
    )
    _problems(page)
    _function(page)
    _settings(page)
    _shapes(page)
    _look(page)
    _runs(page)
    _rest(page)
    return page


def _problems(page: Transcript) -> None:
    page.say("## A built-in problem")
    page.run("allmodes --version", "allmodes problems | head -6", "allmodes problems mixture-2d-10")
    page.run("allmodes find mixture-2d-10 --rng 0 --out mixture", "ls mixture")
    page.say(
        "`result.npz` is for Python (`allmodes.Result.load`) and the commands below, `result.json` for other programs, "
        "`run.json` and `checkpoint.npz` are what `allmodes resume` needs. A result is not replaced by accident:"
    )
    page.run("allmodes find mixture-2d-10 --rng 0 --out mixture", code=2)


def _function(page: Transcript) -> None:
    page.say("## A function of your own, interrupted and resumed")
    page.write("simulator.py", SIMULATOR, "python")
    page.say("While a search runs, its last line shows how far it is. What the function prints appears above it.")
    page.interrupt("allmodes find simulator.py:energy --bounds -6:6,-6:6 --rng 1 --out run", WAITING)
    page.say("With its licence the simulator runs, and the search goes on exactly where it was:")
    page.run("touch licence", "allmodes resume run")


def _settings(page: Transcript) -> None:
    page.say("## Settings in a file")
    page.write("mistakes.toml", MISTAKES, "toml")
    page.run("allmodes find mistakes.toml", code=2)
    page.write("run.toml", SETTINGS, "toml")
    page.run("allmodes find run.toml --n-modes 3 --quiet")


def _shapes(page: Transcript) -> None:
    page.say("## Constraints, choices, data and equations")
    page.write("my.py", SHAPES, "python")
    page.write("disc.toml", DISC, "toml")
    page.run("allmodes find disc.toml -q", "allmodes show disc --mode 1")
    page.run("allmodes find my.py:beam --bounds oak/fir,0:9 --integer 1 --rng 0 -q")
    page.run("allmodes roots my.py:equations --bounds -3:3,-3:3 --rng 0 -q")
    page.write("decay.csv", DECAY, "text")
    page.run("allmodes fit my.py:decay decay.csv --bounds 0:6,0:6 --rng 0 -q")


def _look(page: Transcript) -> None:
    page.say("## Looking at a result")
    page.run("allmodes show run --mode 1")
    page.run("allmodes plot run landscape --fun simulator.py:energy -o landscape.png")
    page.run("allmodes report mixture -o mixture.html")
    page.say("For other programs, JSON, and nothing else on the standard output:")
    page.run("allmodes find himmelblau --rng 0 --json --quiet | head -4")


def _runs(page: Transcript) -> None:
    page.say("## The runs of another multistart")
    page.write("runs.csv", RUNS, "text")
    page.run("allmodes audit runs.csv --bounds -6:6,-6:6")


def _rest(page: Transcript) -> None:
    page.say("## The experiments of the paper, and completion")
    page.run("allmodes reproduce", "allmodes completion bash | head -1")


def main() -> None:
    """Write the page."""
    with tempfile.TemporaryDirectory() as directory:
        PAGE.write_text(session(Path(directory).resolve()).text, encoding="utf-8")


if __name__ == "__main__":
    main()
