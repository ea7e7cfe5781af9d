"""A search whose process is killed at any moment goes on from its checkpoint as if nothing had happened."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from misbehaviour import until

PROGRAM = Path(__file__).with_name("kill_program.py")


@pytest.fixture(scope="module")
def told(tmp_path_factory):
    """Twenty searches in processes of their own: forked from one without threads, which loads everything once."""
    env = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    directory = tmp_path_factory.mktemp("killed")
    done = subprocess.run(
        [sys.executable, str(PROGRAM), str(directory)], env=env, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_checkpoints_change_nothing(told):
    assert told["whole"] == told["plain"]
    assert len(told["whole"][6]) > 1


def test_twenty_of_twenty_go_on_bit_for_bit(told):
    assert len(told["killed"]) == 20
    for search in told["killed"]:
        assert search["result"] == told["whole"]


def test_they_were_killed_and_also_inside_a_write(told):
    how = Counter(way for search in told["killed"] for way in search["how"])
    assert how["outside"] == 10
    assert all(how[where] == 2 for where in ("write", "fsync", "link", "replace", "rename"))


def test_nothing_is_left_behind_and_little_is_done_again(told):
    for search in told["killed"]:
        assert search["left"] == []
        assert told["whole"][2] <= search["calls"] < 2 * told["whole"][2]


ON_WORKERS = """
import json, os, sys, time
from pathlib import Path
from kill_program import BOX, content, himmelblau
from allmodes import find_minima

log = Path(sys.argv[1])

def fun(x):
    time.sleep(0.1 if sys.argv[3] != "1" else 0.0)
    file = os.open(log, os.O_CREAT | os.O_WRONLY | os.O_APPEND)
    os.write(file, x.tobytes())
    os.close(file)
    return float(himmelblau(x))

if __name__ == "__main__":
    options = {"width": 16, "checkpoint_every": 0.05}
    found = find_minima(
        fun, BOX, rng=5, maxfev=120, workers=int(sys.argv[3]), checkpoint=sys.argv[2], options=options
    )
    print(json.dumps(content(found)))
"""


def test_what_workers_have_done_of_a_round_survives_a_kill(tmp_path):
    """A round of sixteen local searches takes longer than the time between checkpoints: they hold parts of it."""
    env = {**os.environ, "PYTHONPATH": os.pathsep.join([str(PROGRAM.parent), *sys.path])}
    program = tmp_path / "on_workers.py"
    program.write_text(ON_WORKERS)

    def command(name, workers):
        return [sys.executable, str(program), str(tmp_path / f"{name}.log"), str(tmp_path / f"{name}.ckpt"), workers]

    whole = subprocess.run(command("whole", "1"), env=env, capture_output=True, text=True, check=True)
    log = tmp_path / "killed.log"
    with subprocess.Popen(command("killed", "2"), env=env, stdout=subprocess.DEVNULL) as process:
        assert until(lambda: log.exists() and log.stat().st_size >= 16 * 70)
        process.send_signal(signal.SIGKILL)
    resumed = subprocess.run(command("killed", "2"), env=env, capture_output=True, text=True, check=True)
    assert json.loads(resumed.stdout) == json.loads(whole.stdout)
    again = (log.stat().st_size - (tmp_path / "whole.log").stat().st_size) // 16
    assert again <= 16  # a chunk for each worker, and what came since the last checkpoint; a round has 48
