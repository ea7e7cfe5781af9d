"""A model for tests of the command, and the command itself."""

import json
import sys
from pathlib import Path

from click.testing import CliRunner

from allmodes import cli

MODEL = """
import os
import signal
import warnings

import numpy as np

calls = 0


def energy(x):
    return (x[0] ** 2 + x[1] - 11.0) ** 2 + (x[0] + x[1] ** 2 - 7.0) ** 2 + 2.0 * x[0] + 3.0 * x[1]


def gradient(x):
    a, b = x[0] ** 2 + x[1] - 11.0, x[0] + x[1] ** 2 - 7.0
    return np.array([4.0 * a * x[0] + 2.0 * b + 2.0, 2.0 * a + 4.0 * b * x[1] + 3.0])


def both(x):
    return energy(x), gradient(x)


def upside_down(x):
    return -energy(x)


def batch(points):
    return np.array([energy(x) for x in points])


def fails(x):
    return helper(x)


def helper(x):
    if x[0] > 3.0:
        raise ValueError("too large")
    return energy(x)


def fails_late(x):
    global calls
    calls += 1
    if calls == 200:
        raise OSError("the licence has run out")
    return energy(x)


def nothing(x):
    return None


def nan(x):
    return float("nan")


def talks(x):
    print("hello from Python")
    os.write(1, b"hello from C")
    return energy(x)


def warns(x):
    warnings.warn("units are mixed")
    return energy(x)


def interrupted(x):
    return energy(stop_at_200(x, signal.SIGINT))


def terminated(x):
    return energy(stop_at_200(x, signal.SIGTERM))


def stop_at_200(x, number):
    global calls
    calls += 1
    if calls == 200:
        os.kill(os.getpid(), number)
    return x
"""
BOUNDS = ["--bounds", "-6:6,-6:6"]
MINIMA = [-17.4989, 1.46927, 3.69795, 11.8615]


def run(*words):
    sys.modules.pop("clis_model", None)  # every command is a process of its own
    shown = CliRunner().invoke(cli.main, [str(word) for word in words])
    if shown.exception is not None and not isinstance(shown.exception, SystemExit):
        raise shown.exception
    return shown


def find(function, *words):
    return run("find", f"clis_model.py:{function}", *BOUNDS, "--seed", "1", *words)


def written(name):
    return json.loads(Path(name, "result.json").read_text())


def values(name):
    return [mode["fun"] for mode in written(name)["modes"]]
