"""A search whose process is killed at any moment goes on from its checkpoint as if nothing had happened."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

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
    assert how["outside"] >= 5  # some may be over before
    assert all(how[where] == 2 for where in ("write", "fsync", "link", "replace", "rename"))


def test_nothing_is_left_behind_and_little_is_done_again(told):
    for search in told["killed"]:
        assert search["left"] == []
        assert told["whole"][2] <= search["calls"] < 2 * told["whole"][2]
