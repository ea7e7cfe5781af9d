"""Replicates shared out among devices are the same runs."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

PROGRAM = """
import json, sys
import jax
import jax.numpy as jnp
import numpy as np
from allmodes import problems
from allmodes.nva import anneal, presets, schedules
from allmodes.nva.engine.jax_driver import _Devices

def hole(x):
    return jnp.where(x[0] > 0.8, jnp.nan, -(x**2).sum())

seen = []
def callback(snapshot):
    seen.append(np.shape(snapshot.means))

def run(objective, replicates, **more):
    return anneal(
        objective, algorithm=presets.nva_gm(order=more.pop("order", 1)), temperature=schedules.power(1.0, 1.0),
        learning_rate=schedules.coupled(0.1, 0.8), steps=40, rng=3, driver="jax", replicates=replicates,
        means=[[0.5, 1.0], [-1.0, 0.0], [1.0, -1.0]], covariances=1.0, **more)

def told(runs):
    return [[run.means.tobytes().hex(), run.covariances.tobytes().hex(), run.weights.tobytes().hex(), run.nit,
             run.status.name, None if run.failure_point is None else run.failure_point.tobytes().hex()]
            for run in runs]

smooth = problems.symmetric_mixture().objective
print(json.dumps({
    "devices": len(jax.devices()),
    "shared": [_Devices(n).count for n in (1, 2, 3, 4, 6)],
    "smooth": told(run(smooth, 4, callback=callback)),
    "failing": told(run(hole, 4, order=0)),
    "seen": seen,
}))
"""


def start_on(devices: int):
    env = {**os.environ, "XLA_FLAGS": f"--xla_force_host_platform_device_count={devices}", "JAX_PLATFORMS": "cpu"}
    pipe = subprocess.PIPE
    return subprocess.Popen([sys.executable, "-c", PROGRAM], env=env, stdout=pipe, stderr=pipe, text=True)


@pytest.fixture(scope="module")
def both():
    found = []
    for process in [start_on(1), start_on(2)]:
        said, complaints = process.communicate()
        assert process.returncode == 0, complaints
        found.append(json.loads(said))
    return found


def test_replicates_are_divided_among_devices(both):
    one, two = both
    assert (one["devices"], two["devices"]) == (1, 2)
    assert one["shared"] == [1, 1, 1, 1, 1]
    assert two["shared"] == [1, 2, 1, 2, 2]


def test_two_devices_give_the_runs_of_one_to_the_last_bit(both):
    one, two = both
    assert one["smooth"] == two["smooth"]
    assert len({run[0] for run in one["smooth"]}) == 4
    assert all(run[4] == "STEPS_DONE" for run in one["smooth"])


def test_a_failing_replicate_is_diagnosed_on_any_device(both):
    one, two = both
    assert one["failing"] == two["failing"]
    assert all(run[4] == "OBJECTIVE_NOT_FINITE" and run[5] for run in one["failing"])


def test_a_callback_sees_all_replicates(both):
    one, two = both
    assert one["seen"] == two["seen"] == [[4, 3, 2]]
