"""Ctrl-C in the first second of the command: no traceback."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import allmodes
from allmodes import starting

SOURCE = Path(allmodes.__file__).parents[1]
INTERRUPTED = "import os, signal, time\nos.kill(os.getpid(), signal.SIGINT)\ntime.sleep(60)\n"


@pytest.mark.parametrize("module", ["numpy", "click"])
def test_there_is_no_traceback_whatever_is_imported_just_then(module, tmp_path):
    (tmp_path / f"{module}.py").write_text(INTERRUPTED)
    done = subprocess.run(
        [sys.executable, "-m", "allmodes.cli", "find", "himmelblau"], capture_output=True, text=True,
        env=os.environ | {"PYTHONPATH": f"{tmp_path}{os.pathsep}{SOURCE}"},
    )  # fmt: skip
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "")


def test_programs_that_import_the_package_get_their_traceback(tmp_path):
    (tmp_path / "numpy.py").write_text(INTERRUPTED)
    done = subprocess.run(
        [sys.executable, "-c", "import allmodes"], capture_output=True, text=True,
        env=os.environ | {"PYTHONPATH": f"{tmp_path}{os.pathsep}{SOURCE}"},
    )  # fmt: skip
    assert "KeyboardInterrupt" in done.stderr


@pytest.mark.parametrize(
    ("started", "argv", "is_it"),
    [
        (["python", "-m", "allmodes.cli", "find"], ["-m", "find"], True),
        (["python", "-m", "allmodes", "find"], ["-m", "find"], True),
        (["python", "-W", "error", "-m", "allmodes.cli"], ["-m"], True),
        (["python", "/usr/bin/allmodes", "find"], ["/usr/bin/allmodes", "find"], True),
        (["allmodes.exe"], ["allmodes.exe"], True),
        (["python", "-m", "pytest", "allmodes.cli"], ["pytest", "allmodes.cli"], False),
        (["python", "-m"], ["-m"], False),
        (["python", "mine.py", "allmodes"], ["mine.py", "allmodes"], False),
        (["python"], [""], False),
        ([], [], False),
    ],
)
def test_whether_this_is_the_command(started, argv, is_it, monkeypatch):
    monkeypatch.setattr(sys, "orig_argv", started)
    monkeypatch.setattr(sys, "argv", argv)
    assert starting.is_command() is is_it


def test_handlers_are_put_back_and_others_left_alone(monkeypatch):
    monkeypatch.setattr(starting, "is_command", lambda: True)
    before = signal.getsignal(signal.SIGINT)
    try:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        starting.begin()
        assert signal.getsignal(signal.SIGINT) is starting._end
        starting.over()
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        starting.begin()
        starting.over()
        assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, before)
