"""Every engine, any number of workers and any order of completion: the same results as in one process."""

import os
import random
import shutil
import subprocess
import sys
import threading
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from misbehaviour import ENGINES, has

from allmodes import find_minima

HERE = Path(__file__).parent
WELL = [(-2.0, 2.0), (-2.0, 2.0)]
METHODS = ("auto", "local", "black-box", "anneal")


def double_well(x):
    return float((x[0] ** 2 - 1.0) ** 2 + x[1] ** 2 + 0.1 * np.sin(5.0 * x[0]))


def search(workers=1, method="auto", **settings):
    return find_minima(double_well, WELL, rng=3, maxfev=400, method=method, workers=workers, **settings)


def assert_same(a, b):
    assert (a.nfev, a.nfail, a.status, len(a.modes)) == (b.nfev, b.nfail, b.status, len(b.modes))
    for ours, theirs in zip(a.modes, b.modes, strict=True):
        np.testing.assert_array_equal(ours.x, theirs.x)
        assert (ours.fun, ours.weight, ours.found_at) == (theirs.fun, theirs.weight, theirs.found_at)


class Shuffling:
    """An executor that finishes its tasks in a random order."""

    def __init__(self, seed, max_workers):
        self._max_workers, self._random, self._waiting = max_workers, random.Random(seed), []
        self._lock = threading.Lock()

    def submit(self, function, *arguments):
        future = Future()
        with self._lock:
            self._waiting.append((future, partial(function, *arguments)))
            if len(self._waiting) == 1:
                threading.Timer(self._random.random() * 2e-3, self._finish).start()
        return future

    def _finish(self):
        with self._lock:
            waiting, self._waiting = self._waiting, []
        self._random.shuffle(waiting)
        for future, call in waiting:
            future.set_result(call())


@pytest.mark.parametrize("method", METHODS)
def test_the_order_of_completion_changes_nothing(method):
    alone = search(method=method)
    assert_same(alone, search(Shuffling(0, 4), method))
    assert_same(alone, search(Shuffling(1, 3), method))


def test_the_number_of_workers_changes_nothing():
    alone = search()
    for n in (2, 4):
        assert_same(alone, search(n))


def test_chunks_change_nothing(monkeypatch):
    """Chunks follow from measured times, which are never the same twice: here from random ones."""
    alone = search()
    draw = random.Random(0)
    monkeypatch.setattr(
        "allmodes.objective.workers.pace.Pace.sizes",
        lambda self, N, workers, needs: _random_sizes(N, draw),
    )
    with ThreadPoolExecutor(3) as executor:
        assert_same(alone, search(executor))


def _random_sizes(N, draw):
    sizes = []
    while sum(sizes) < N:
        sizes.append(draw.randint(1, N - sum(sizes)))
    return sizes


@pytest.mark.parametrize("name", [name for name in ENGINES if name != "loky"])
def test_another_engine_changes_nothing(name):
    alone = search()
    with ENGINES[name]() as workers:
        assert_same(alone, search(workers))
        if name == "dask":
            assert_same(alone, search(workers.get_executor()))
        else:
            assert_same(alone, search(workers.map))
            assert_same(alone, search(partial(workers.map)))  # nobody can see that this is a pool


def test_two_searches_in_two_threads():
    alone = search()
    found = {}
    threads = [threading.Thread(target=lambda n=n: found.setdefault(n, search(2))) for n in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for n in range(2):
        assert_same(alone, found[n])


def nested(x):
    """A function that searches with workers of its own."""
    return find_minima(lambda y: float((y[0] - x[0]) ** 2), [(-2.0, 2.0)], rng=0, maxfev=20, workers=2).fun + float(
        (x**2).sum()
    )


def test_workers_in_workers():
    given = {"rng": 0, "maxfev": 6}
    alone = find_minima(nested, WELL, **given)
    inside = find_minima(nested, WELL, workers=2, **given)
    assert_same(alone, inside)


FORKED = """
import os, sys
from test_engines import assert_same, search
alone = search(2)  # leaves warm processes behind, which the fork must not touch
child = os.fork()
if child == 0:
    code = 1
    try:
        assert_same(alone, search(2))
        code = 0
    finally:
        os._exit(code)
_, status = os.waitpid(child, 0)
assert_same(alone, search(2))
sys.exit(os.waitstatus_to_exitcode(status))
"""


def run_here(directory, code, *before, python=(sys.executable,)):
    """Run a program of its own, with what is in this directory."""
    program = directory / "program.py"
    program.write_text(code)
    path = os.pathsep.join([str(HERE), *sys.path])
    given = os.environ | {"PYTHONPATH": path, "RAY_USAGE_STATS_ENABLED": "0"}
    return subprocess.run([*before, *python, str(program)], env=given, capture_output=True, text=True, timeout=600)


def test_a_search_in_a_forked_process(tmp_path):
    done = run_here(tmp_path, FORKED)
    assert done.returncode == 0, done.stderr


RAY = """
from pathlib import Path
import subprocess, sys, tempfile
subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
import ray
from misbehaviour import KINDS, check, check_once
from test_engines import assert_same, search
ray.init(num_cpus=2, _node_ip_address="127.0.0.1", include_dashboard=False, log_to_driver=False, logging_level="ERROR")
assert_same(search(), search(ray))
for kind in KINDS:
    check(kind, ray, batches=1)
with tempfile.TemporaryDirectory() as directory:
    check_once(ray, Path(directory) / "killed")
ray.shutdown()
print("all well")
"""
ALONE = ("unshare", "--map-root-user", "--net")  # a network of its own, in which there is the loopback alone


MPI = """
from mpi4py.futures import MPIPoolExecutor
from misbehaviour import KINDS, check
from test_engines import assert_same, search
if __name__ == "__main__":
    with MPIPoolExecutor() as pool:
        assert_same(search(), search(pool))
        for kind in KINDS.keys() - {"kills"}:  # MPI ends the whole job when a process dies
            check(kind, pool, batches=1)
    print("all well")
"""
MPIEXEC = shutil.which("mpiexec", path=os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")]))


def can_be_alone():
    try:
        return subprocess.run([*ALONE, "ip", "link", "set", "lo", "up"], capture_output=True).returncode == 0
    except OSError:
        return False


if has("ray") and can_be_alone():

    def test_ray_in_a_network_of_its_own(tmp_path):
        done = run_here(tmp_path, RAY, *ALONE)
        assert "all well" in done.stdout, done.stderr


if has("mpi4py") and MPIEXEC and can_be_alone():

    def test_mpi_in_a_network_of_its_own(tmp_path):
        command = f'ip link set lo up; exec {MPIEXEC} --allow-run-as-root --oversubscribe -n 3 "$@"'
        python = (sys.executable, "-m", "mpi4py.futures")
        done = run_here(tmp_path, MPI, *ALONE, "sh", "-c", command, "mpiexec", python=python)
        assert "all well" in done.stdout, done.stderr
