"""Run by test_kill.py: searches in forked processes that are killed, and resumed by others until they are over.

Prints one JSON object: for every search how it was killed, its result, and the evaluations it cost.
"""

from __future__ import annotations

import json
import os
import random
import signal
import sys
import time
from pathlib import Path

import numpy as np

from allmodes import find_minima
from allmodes.storage import files

BOX = [(-3.0, 3.0), (-3.0, 3.0)]
BUDGET = 200
TRIES = 20
INSIDE = ("write", "fsync", "link", "replace", "rename")  # where a process kills itself in the middle of a checkpoint


def himmelblau(x):
    return (x[0] ** 2 + x[1] - 11.0) ** 2 + (x[0] + x[1] ** 2 - 7.0) ** 2


def content(result):
    modes = [[mode.x.tobytes().hex(), mode.fun, mode.hits, mode.found_at, mode.weight] for mode in result.modes]
    told = [result.x.tobytes().hex(), result.fun, result.nfev, result.nit, result.nfail, result.status.name, modes]
    return [*told, [list(row) for row in result.history.rows]]


def search(path, log, every, slow_after=BUDGET):
    """The search; every evaluation is noted in a file. After so many it is slow: whoever kills it is not too late."""
    calls = 0

    def fun(x):
        nonlocal calls
        calls += 1
        time.sleep(0.0003 if calls <= slow_after else 0.03)
        value = float(himmelblau(x))
        os.write(log, x.tobytes())
        return value

    return find_minima(fun, BOX, rng=5, maxfev=BUDGET, checkpoint=path, options={"checkpoint_every": every})


def sabotage(where, after):
    """Kill this process at the so-manieth call of something that a checkpoint is written by."""
    left = after

    def counted(function, early):
        def called(*args, **kwargs):
            nonlocal left
            left -= 1
            if left == 0 and early:
                os.kill(os.getpid(), signal.SIGKILL)
            result = function(*args, **kwargs)
            if left == 0:
                os.kill(os.getpid(), signal.SIGKILL)
            return result

        return called

    if where == "write":  # half of the file
        whole = files._content

        def half(*args):
            nonlocal left
            left -= 1
            return whole(*args) if left else Half(whole(*args))

        files._content = half
        plain = open

        def opened(*args, **kwargs):
            file = plain(*args, **kwargs)
            return file if left else Torn(file)

        files.open = opened
    else:
        name = "replace" if where in ("replace", "rename") else where
        setattr(os, name, counted(getattr(os, name), early=where == "replace"))


class Half(bytes):
    """Content that is not to be written whole."""


class Torn:
    """A file in which the process dies after half of what it writes."""

    def __init__(self, file):
        self.file = file

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.file.close()

    def write(self, content):
        self.file.write(bytes(content)[: len(content) // 2])
        self.file.flush()
        os.kill(os.getpid(), signal.SIGKILL)


def part(path, log, out, every, where, after, slow_after=BUDGET):
    """One process: until the search is over or somebody kills it."""
    pid = os.fork()
    if pid:
        return pid
    code = 1
    try:
        if where:
            sabotage(where, after)
        out.write_text(json.dumps(content(search(path, log, every, slow_after))))
        code = 0
    finally:
        os._exit(code)


def one(directory, seed):
    """A search that is killed from outside or in the middle of a write, and resumed."""
    rng = random.Random(seed)
    path, out = directory / f"{seed}.ckpt", directory / f"{seed}.json"
    log = os.open(directory / f"{seed}.log", os.O_CREAT | os.O_RDWR | os.O_APPEND)
    kills, how = 0, []
    while kills < 10:
        where = INSIDE[seed // 2 % len(INSIDE)] if seed % 2 and kills < 1 else None
        is_killed = where is None and kills < 1
        calls = rng.randint(BUDGET // 10, BUDGET // 2) if is_killed else BUDGET
        pid = part(path, log, out, 0.01, where, rng.randint(2, 9), calls)
        if is_killed:
            while os.fstat(log).st_size < calls * 8 * len(BOX):
                time.sleep(0.001)
            time.sleep(rng.uniform(0.0, 0.02))
            os.kill(pid, signal.SIGKILL)
        _, status = os.waitpid(pid, 0)
        if os.WIFEXITED(status):
            assert os.WEXITSTATUS(status) == 0
            break
        kills += 1
        how.append(where or "outside")
    points = np.frombuffer((directory / f"{seed}.log").read_bytes()).reshape(-1, len(BOX))
    left = [name for name in os.listdir(directory) if name.endswith(".tmp") and name.startswith(f".{seed}.")]
    return {"kills": kills, "how": how, "result": json.loads(out.read_text()), "calls": len(points), "left": left}


def main(directory):
    log = os.open(directory / "whole.log", os.O_CREAT | os.O_RDWR)
    begun = time.monotonic()
    whole = content(search(directory / "whole.ckpt", log, 0.01))
    plain = content(find_minima(himmelblau, BOX, rng=5, maxfev=BUDGET))
    found = [one(directory, seed) for seed in range(TRIES)]
    print(json.dumps({"whole": whole, "plain": plain, "killed": found, "seconds": time.monotonic() - begun}))  # noqa: T201


if __name__ == "__main__":
    main(Path(sys.argv[1]))
