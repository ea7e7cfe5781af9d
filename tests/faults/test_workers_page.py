"""Every example of the page on workers runs as it stands, each as a script of its own."""

import re
import sys
from pathlib import Path

import pytest
from misbehaviour import has
from test_engines import ALONE, MPIEXEC, can_be_alone, run_here

PAGE = Path(__file__).parents[2] / "docs" / "workers.md"
SCRIPTS = dict(re.findall(r'```python title="(\w+\.py)"\n(.*?)```', PAGE.read_text(), re.DOTALL))
NEEDS = {"on_dask.py": "distributed", "on_ray.py": "ray", "on_mpi.py": "mpi4py", "processes.py": "joblib"}
IN_A_NETWORK_OF_ITS_OWN = ("on_ray.py", "on_mpi.py")


def can_run(name):
    if name == "on_mpi.py" and not MPIEXEC:
        return False
    if name in IN_A_NETWORK_OF_ITS_OWN and not can_be_alone():
        return False
    return name not in NEEDS or has(NEEDS[name])


def test_the_page_has_an_example_for_every_engine():
    assert len(SCRIPTS) == 9
    assert PAGE.read_text().count("```python") == len(SCRIPTS)


@pytest.mark.parametrize("name", [name for name in SCRIPTS if can_run(name)])
def test_examples_run(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    before, python = (), (sys.executable,)
    if name in IN_A_NETWORK_OF_ITS_OWN:
        command = "ip link set lo up; exec "
        if name == "on_mpi.py":
            command += f"{MPIEXEC} --allow-run-as-root --oversubscribe -n 3 "
            python = (sys.executable, "-m", "mpi4py.futures")
        before = (*ALONE, "sh", "-c", command + '"$@"', "sh")
    done = run_here(tmp_path, SCRIPTS[name], *before, python=python)
    assert done.returncode == 0, done.stderr
    assert "4 modes" in done.stdout
