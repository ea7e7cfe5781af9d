"""Commands in a real pseudo-terminal of 80 columns, and what is to be seen on its screen."""

from __future__ import annotations

import errno
import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Callable
from pathlib import Path

COLUMNS, ROWS = 80, 24
_PATIENCE = 120.0  # seconds after which a command counts as hung
_QUIET = 0.5  # seconds without output before something is typed
_TAB = 8
# Takes the terminal that it has as stdin for its own: Ctrl-C comes from there. Not by forking this process, which may
# have threads.
_TAKE = (
    "import fcntl, os, sys, termios; fcntl.ioctl(0, termios.TIOCSCTTY, 0); os.execl('/bin/sh', 'sh', '-c', sys.argv[1])"
)
_CONTROL = re.compile(r"\x1b\[(\??)([0-9;]*)([A-Za-z])")


class Screen:
    """What a terminal shows: lines, a cursor, and the few control sequences that a progress line needs."""

    def __init__(self) -> None:
        self.lines = [""]
        self.row = self.column = 0
        self.controls: set[str] = set()

    def feed(self, text: str) -> None:
        place = 0
        while place < len(text):
            control = _CONTROL.match(text, place)
            if control:
                self._obey(control)
                place = control.end()
                continue
            self._put(text[place])
            place += 1

    def _obey(self, control: re.Match[str]) -> None:
        private, number, letter = control.groups()
        self.controls.add(letter)
        count = int(number) if number.isdigit() else 1
        if letter == "A":
            self.row = max(0, self.row - count)
        elif letter == "K":
            self.lines[self.row] = "" if number == "2" else self.lines[self.row][: self.column]
        elif not (private or letter == "m"):
            raise ValueError(f"the screen does not know {control[0]!r}")

    def _put(self, letter: str) -> None:
        if letter == "\r":
            self.column = 0
        elif letter == "\n":
            self._next_line()
        elif letter == "\t":
            self.column = (self.column // _TAB + 1) * _TAB
        elif letter >= " ":
            if self.column == COLUMNS:
                self._next_line()
                self.column = 0
            line = self.lines[self.row].ljust(self.column)
            self.lines[self.row] = line[: self.column] + letter + line[self.column + 1 :]
            self.column += 1

    def _next_line(self) -> None:
        self.row += 1
        if self.row == len(self.lines):
            self.lines.append("")

    @property
    def text(self) -> str:
        return "\n".join(line.rstrip() for line in self.lines).strip("\n")


class Session:
    """A directory and a shell's environment in which commands run, one after the other."""

    def __init__(self, directory: Path, **more: str) -> None:
        self.directory = directory
        tools = directory / ".bin"
        tools.mkdir(exist_ok=True)
        program = tools / "allmodes"
        program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -P -m allmodes.cli "$@"\n')
        program.chmod(0o755)
        kept = {key: value for key, value in os.environ.items() if key not in ("COLUMNS", "LINES", "NO_COLOR")}
        self.environment = kept | {"PATH": f"{tools}:{os.environ['PATH']}", "TERM": "xterm-256color"} | more
        self.raw = ""

    def run(
        self, command: str, when: Callable[[str], bool] | None = None, send: bytes | int = b""
    ) -> tuple[str, int, str]:
        """What is on the screen in the end, the exit code, and what was there when `when` said so and `send` was sent.

        Args:
            command: as a shell takes it.
            when: of the text on the screen, whether something is to be sent once nothing more is printed for a while.
            send: bytes to type, such as Ctrl-C, or the number of a signal.
        """
        terminal, process = self._start(command)
        screen, then = Screen(), ""
        self.raw = ""
        deadline = time.monotonic() + _PATIENCE
        try:  # the terminal stays until the process has ended: it would be told that it is gone
            while (piece := _read(terminal, deadline, when is not None and when(screen.text))) is not None:
                self.raw += piece
                screen.feed(piece)
                if not piece:
                    then, when = screen.text, None
                    process.send_signal(send) if isinstance(send, int) else os.write(terminal, send)
            return screen.text, process.wait(_PATIENCE), then
        finally:
            process.kill()
            process.wait()
            os.close(terminal)

    def _start(self, command: str) -> tuple[int, subprocess.Popen[bytes]]:
        """A terminal of 80 columns and a process of which it is the terminal."""
        simple = not set(command) & set("|;&>")
        terminal, other = pty.openpty()
        fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
        words = [sys.executable, "-c", _TAKE, f"exec {command}" if simple else command]
        process = subprocess.Popen(
            words, stdin=other, stdout=other, stderr=other, cwd=self.directory, env=self.environment,
            start_new_session=True,
        )  # fmt: skip
        os.close(other)
        return terminal, process


def _read(terminal: int, deadline: float, may_be_quiet: bool) -> str | None:
    """The next piece of output; None when there is no more, and nothing if it is quiet for a while and may be."""
    left = max(0.0, deadline - time.monotonic())
    if not select.select([terminal], [], [], _QUIET if may_be_quiet else left)[0]:
        if may_be_quiet:
            return ""
        raise TimeoutError("the command did not end")
    try:
        data = os.read(terminal, 65536)
    except OSError as error:
        if error.errno != errno.EIO:  # how Linux says that nobody is left
            raise
        return None
    while data and data[-1] >= 0x80:  # in the middle of a letter, perhaps
        try:
            data.decode()
            break
        except UnicodeDecodeError:
            data += os.read(terminal, 1)
    return data.decode() if data else None
