"""The loop inside `jax.lax.scan`: compiled, vmapped over replicates, ready for accelerators.

Noise is drawn in the parent from NumPy generators, in the order in which the NumPy driver draws it, so that both
drivers take the same steps for the same seed. Where JAX has several devices, replicates are shared out among them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import AxisType, NamedSharding, PartitionSpec

from allmodes.arrays import Array, leaves, map_leaves
from allmodes.nva.annealing.algorithm import Algorithm
from allmodes.nva.engine.numpy_driver import Callback, diagnose, displacement, make_run, snapshot, wants_to_stop
from allmodes.nva.engine.plan import Plan
from allmodes.nva.engine.progress import ProgressLine, Snapshot
from allmodes.nva.engine.run import Run
from allmodes.nva.engine.step import Settings, ask, is_finite, tell
from allmodes.nva.engine.trace import Recorder
from allmodes.nva.mixture.mixture import Mixture
from allmodes.objective import Objective
from allmodes.objective.autodiff import traced
from allmodes.status import Status

_CHUNK_NUMBERS = 2**22  # noise drawn ahead: 32 MB
_CHUNK_STEPS = 1000
_KERNELS = 8  # kept with their compiled code, so that the same call again does not compile

_RUNNING, _CONVERGED, _FAILED = 0, 1, 2


class _Carry(NamedTuple):
    """State of one replicate inside the scan. Once `end` is not _RUNNING nothing changes any more."""

    mixture: Mixture
    end: Array
    nit: Array
    best_value: Array
    best_point: Array


class _Inputs(NamedTuple):
    noise: Any
    settings: Settings
    is_active: Array  # False for the steps that pad the last chunk


@dataclass(frozen=True)
class _Chunk:
    start: int
    stop: int
    length: int
    num_samples: int


def _chunks(plan: Plan, replicates: int) -> Iterator[_Chunk]:
    """Stretches of steps with one mini-batch size, of equal lengths (padded), so that few programs are compiled."""
    changes = np.flatnonzero(np.diff(plan.num_samples)) + 1
    edges = [0, *changes.tolist(), plan.steps]
    for first, last in pairwise(edges):
        if first == last:
            continue
        B = int(plan.num_samples[first])
        sample = plan.algorithm.proposal.noise(np.random.default_rng(0), plan.algorithm.family, plan.K, B, plan.d)
        per_step = replicates * sum(leaf.size for leaf in leaves(sample))
        limit = max(1, min(_CHUNK_STEPS, _CHUNK_NUMBERS // per_step))
        pieces = -(-(last - first) // limit)
        length = -(-(last - first) // pieces)
        for start in range(first, last, length):
            yield _Chunk(start, min(start + length, last), length, B)


class _Devices:
    """Shares replicates out among as many devices as they can be divided by; one device is left to JAX's defaults.

    Args:
        replicates: how many there are.
    """

    def __init__(self, replicates: int) -> None:
        every = jax.local_devices()
        self.count = max(n for n in range(1, len(every) + 1) if replicates % n == 0)
        if self.count > 1:
            mesh = jax.make_mesh(
                (self.count,), ("replicates",), axis_types=(AxisType.Auto,), devices=every[: self.count]
            )
            self._first = NamedSharding(mesh, PartitionSpec("replicates"))
            self._second = NamedSharding(mesh, PartitionSpec(None, "replicates"))
            self._all = NamedSharding(mesh, PartitionSpec())

    def carry(self, carry: _Carry) -> _Carry:
        """Every replicate's state on its device."""
        return carry if self.count == 1 else jax.device_put(carry, self._first)

    def inputs(self, inputs: _Inputs) -> _Inputs:
        """Noise (steps, H, ...) where the replicates are, settings everywhere."""
        if self.count == 1:
            return inputs
        settings, is_active = jax.device_put((inputs.settings, inputs.is_active), self._all)
        return _Inputs(jax.device_put(inputs.noise, self._second), settings, is_active)


class _Kernel:
    """The steps as compiled code: everything of a plan that the code depends on.

    Shapes are JAX's to distinguish: other numbers of components or samples are compiled beside those before.
    """

    def __init__(
        self, objective: Objective, log_prior: Objective | None, algorithm: Algorithm, tolerance: float
    ) -> None:
        self.algorithm, self.tolerance = algorithm, tolerance
        self._evaluate = traced(objective, algorithm.needs)
        self._evaluate_prior = None if log_prior is None else traced(log_prior, algorithm.needs)
        self.scan = jax.jit(self._scan_chunk)
        self.retry = jax.jit(self._attempt)

    def _attempt(self, mixture: Mixture, noise: Any, settings: Settings) -> tuple[Any, ...]:
        """One step from a mixture: everything that may be wanted afterwards."""
        proposed = ask(self.algorithm, mixture, noise)
        evaluation = self._evaluate(proposed.points)
        log_prior = None if self._evaluate_prior is None else self._evaluate_prior(proposed.points)
        new, info = tell(self.algorithm, mixture, proposed, evaluation, log_prior, settings)
        return new, info, proposed.points, evaluation, log_prior

    def _step(self, carry: _Carry, noise: Any, settings: Settings, is_active: Array) -> tuple[_Carry, Array]:
        """One step of one replicate; its carry does not change once it has ended."""
        new, info, *_ = self._attempt(carry.mixture, noise, settings)
        moved = displacement(self.algorithm.family, new, carry.mixture)
        goes_on = is_active & (carry.end == _RUNNING)
        is_good = is_finite(new)
        takes = goes_on & is_good
        is_better = goes_on & (info.best_value > carry.best_value)
        end = jnp.where(is_good, jnp.where(moved <= self.tolerance, _CONVERGED, _RUNNING), _FAILED)
        carry = _Carry(
            map_leaves(lambda a, b: jnp.where(takes, a, b), new, carry.mixture),
            jnp.where(goes_on, end, carry.end),
            carry.nit + takes,
            jnp.where(is_better, info.best_value, carry.best_value),
            jnp.where(is_better, info.best_point, carry.best_point),
        )
        return carry, info.mean_value

    def _scan_chunk(self, carry: _Carry, inputs: _Inputs) -> tuple[_Carry, Any]:
        """All steps of a chunk, and for the trace: means, log-ratios, mean values, best values (steps, H, ...)."""
        step = jax.vmap(self._step, in_axes=(0, 0, None, None))
        means = jax.vmap(self.algorithm.family.means)

        def body(carry: _Carry, x: _Inputs) -> tuple[_Carry, Any]:
            carry, mean_value = step(carry, *x)
            mixture = carry.mixture
            return carry, (means(mixture.components), mixture.log_ratios, mean_value, carry.best_value)

        return jax.lax.scan(body, carry, inputs)


_kept_kernel = lru_cache(maxsize=_KERNELS)(_Kernel)


def _kernel(plan: Plan) -> _Kernel:
    """The kernel of a plan; the one of an earlier plan with the same functions and settings, compiled as it is."""
    given = plan.objective, plan.log_prior, plan.algorithm, plan.tolerance
    try:
        return _kept_kernel(*given)
    except TypeError:  # something in them cannot be looked up, such as an array
        return _Kernel(*given)


class JaxProgram:
    """A compiled annealing loop; one with the same functions, settings and shapes is not compiled again."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self._kernel = _kernel(plan)

    def run(
        self,
        mixtures: Sequence[Mixture],
        rngs: Sequence[np.random.Generator],
        callback: Callback | None,
        line: ProgressLine,
    ) -> list[Run]:
        """One run per mixture and generator."""
        with jax.enable_x64(True):
            plan, H = self.plan, len(mixtures)
            recorders = [Recorder(plan) for _ in mixtures]
            for recorder, mixture in zip(recorders, mixtures, strict=True):
                recorder.start(mixture)
            devices = _Devices(H)
            begin = _Carry(
                map_leaves(lambda *parts: jnp.asarray(np.stack(parts)), *mixtures),
                jnp.full(H, _RUNNING),
                jnp.zeros(H, dtype=int),
                jnp.full(H, -jnp.inf),
                jnp.full((H, plan.d), jnp.nan),
            )
            carry = devices.carry(begin)
            status = Status.BUDGET_SPENT if plan.is_cut_short else Status.STEPS_DONE
            failures: dict[int, tuple[Status, Any]] = {}
            try:
                for chunk in _chunks(plan, H):
                    inputs = self._inputs(chunk, rngs)
                    before, (carry, seen) = carry, self._kernel.scan(carry, devices.inputs(inputs))
                    ended = np.asarray(carry.end)  # waits for the result
                    self._record(recorders, chunk, carry, seen)
                    failures |= self._failures(before, carry, inputs, chunk)
                    best = float(carry.best_value.max())
                    line.update(chunk.stop, float(plan.temperatures[chunk.stop - 1]), best)
                    done = int(carry.nit.max())
                    if callback is not None and done and wants_to_stop(callback, self._snapshot(carry, done, best)):
                        status = Status.STOPPED
                        break
                    if not (ended == _RUNNING).any():
                        break
            except KeyboardInterrupt:
                status = Status.INTERRUPTED
            finally:
                line.close()
            return [self._finish(h, carry, recorders[h], status, failures.get(h)) for h in range(H)]

    def _inputs(self, chunk: _Chunk, rngs: Sequence[np.random.Generator]) -> _Inputs:
        """Noise and settings of a chunk; every generator is read in the order of its own run."""
        plan = self.plan
        draw, family = plan.algorithm.proposal.noise, plan.algorithm.family
        count = chunk.stop - chunk.start
        runs = [[draw(rng, family, plan.K, chunk.num_samples, plan.d) for _ in range(count)] for rng in rngs]
        padding = chunk.length - count

        def stack(*parts: Any) -> Any:  # one leaf of all draws, run by run, to (steps, H, ...)
            array = np.stack(parts).reshape(len(rngs), count, *np.shape(parts[0])).swapaxes(0, 1)
            return np.concatenate([array, np.repeat(array[-1:], padding, axis=0)])

        noise = map_leaves(stack, *(draws for run in runs for draws in run))
        settings = map_leaves(
            lambda values: np.concatenate([values, np.repeat(values[-1:], padding)]),
            plan.settings(chunk.start, chunk.stop),
        )
        return _Inputs(noise, settings, np.arange(chunk.length) < count)

    def _record(self, recorders: list[Recorder], chunk: _Chunk, carry: _Carry, seen: Any) -> None:
        steps = np.arange(chunk.start + 1, chunk.stop + 1)
        columns = [np.asarray(part) for part in seen]
        for h, recorder in enumerate(recorders):
            done = int((steps <= int(carry.nit[h])).sum())
            recorder.see_all(steps[:done], *(column[:done, h] for column in columns))

    def _failures(self, before: _Carry, after: _Carry, inputs: _Inputs, chunk: _Chunk) -> dict[int, tuple[Status, Any]]:
        """Why replicates failed in this chunk: the step that failed is made once more, outside the scan."""
        found = {}
        newly = (np.asarray(before.end) == _RUNNING) & (np.asarray(after.end) == _FAILED)
        for h in np.flatnonzero(newly).tolist():
            i = int(after.nit[h]) - chunk.start
            noise = map_leaves(lambda a, i=i, h=h: jnp.asarray(a[i, h]), inputs.noise)
            settings = map_leaves(lambda a, i=i: jnp.asarray(a[i]), inputs.settings)
            mixture = map_leaves(lambda a, h=h: a[h], after.mixture)
            new, _, points, evaluation, log_prior = self._kernel.retry(mixture, noise, settings)
            found[h] = diagnose(self.plan, new, np.asarray(points), evaluation, log_prior)
        return found

    def _snapshot(self, carry: _Carry, done: int, best_value: float) -> Snapshot:
        whole = snapshot(self.plan, done, carry.mixture, self.plan.evaluations(done), best_value)
        return whole._replace(means=whole.means[0], weights=whole.weights[0]) if len(whole.means) == 1 else whole

    def _finish(
        self, h: int, carry: _Carry, recorder: Recorder, status: Status, failure: tuple[Status, Any] | None
    ) -> Run:
        """The result of one replicate; `status` is the one of all that did not end by themselves."""
        nit, end = int(carry.nit[h]), int(carry.end[h])
        failure_point = None
        if failure is not None:
            status, failure_point = failure
        elif end == _CONVERGED:
            status = Status.CONVERGED
        return make_run(
            self.plan,
            map_leaves(lambda a: np.asarray(a[h]), carry.mixture),
            recorder,
            status,
            nit,
            self.plan.evaluations(nit + (end == _FAILED)),
            carry.best_point[h],
            float(carry.best_value[h]),
            failure_point,
        )
