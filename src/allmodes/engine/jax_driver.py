"""The loop inside `jax.lax.scan`: compiled, vmapped over replicates, ready for accelerators.

Noise is drawn in the parent from NumPy generators, in the order in which the NumPy driver draws it, so that both
drivers take the same steps for the same seed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from allmodes.arrays import Array, map_leaves
from allmodes.engine.numpy_driver import Callback, diagnose, make_run, wants_to_stop
from allmodes.engine.plan import Plan
from allmodes.engine.progress import ProgressLine, Snapshot
from allmodes.engine.run import Run
from allmodes.engine.step import Info, Settings, ask, is_finite, tell
from allmodes.engine.trace import Recorder
from allmodes.mixture.mixture import Mixture, log_weights
from allmodes.objective.autodiff import traced
from allmodes.status import Status

_CHUNK_NUMBERS = 2**22  # noise drawn ahead: 32 MB
_CHUNK_STEPS = 1000

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
        per_step = plan.algorithm.proposal.num_points(plan.K, B) * plan.d * replicates
        limit = max(1, min(_CHUNK_STEPS, _CHUNK_NUMBERS // per_step))
        pieces = -(-(last - first) // limit)
        length = -(-(last - first) // pieces)
        for start in range(first, last, length):
            yield _Chunk(start, min(start + length, last), length, B)


class JaxProgram:
    """A compiled annealing loop; running it again with the same shapes compiles nothing."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self._evaluate = traced(plan.objective, plan.algorithm.needs)
        prior = plan.log_prior
        self._evaluate_prior = None if prior is None else traced(prior, plan.algorithm.needs)
        self._scan = jax.jit(self._scan_chunk)

    def _attempt(self, mixture: Mixture, noise: Any, settings: Settings) -> tuple[Any, ...]:
        """One step from a mixture: everything that may be wanted afterwards."""
        proposed = ask(self.plan.algorithm, mixture, noise)
        evaluation = self._evaluate(proposed.points)
        log_prior = None if self._evaluate_prior is None else self._evaluate_prior(proposed.points)
        new, info = tell(self.plan.algorithm, mixture, proposed, evaluation, log_prior, settings)
        return new, info, proposed.points, evaluation, log_prior

    def _step(self, carry: _Carry, noise: Any, settings: Settings, is_active: Array) -> tuple[_Carry, Info]:
        new, info, *_ = self._attempt(carry.mixture, noise, settings)
        means = self.plan.algorithm.family.means
        moved = jnp.sum(jnp.linalg.norm(means(new.components) - means(carry.mixture.components), axis=-1))
        goes_on = is_active & (carry.end == _RUNNING)
        is_good = is_finite(new)
        takes = goes_on & is_good
        is_better = goes_on & (info.best_value > carry.best_value)
        end = jnp.where(is_good, jnp.where(moved <= self.plan.tolerance, _CONVERGED, _RUNNING), _FAILED)
        carry = _Carry(
            map_leaves(lambda a, b: jnp.where(takes, a, b), new, carry.mixture),
            jnp.where(goes_on, end, carry.end),
            carry.nit + takes,
            jnp.where(is_better, info.best_value, carry.best_value),
            jnp.where(is_better, info.best_point, carry.best_point),
        )
        return carry, info

    def _scan_chunk(self, carry: _Carry, inputs: _Inputs) -> tuple[_Carry, Any]:
        means = self.plan.algorithm.family.means

        def body(carry: _Carry, x: _Inputs) -> tuple[_Carry, Any]:
            carry, info = jax.vmap(self._step, in_axes=(0, 0, None, None))(carry, *x)
            v = carry.mixture.log_ratios
            seen = (
                jax.vmap(means)(carry.mixture.components),
                jax.vmap(log_weights)(v),
                info.mean_value,
                carry.best_value,
            )
            return carry, seen

        return jax.lax.scan(body, carry, inputs)

    def run(
        self,
        mixtures: Sequence[Mixture],
        rngs: Sequence[np.random.Generator],
        callback: Callback | None,
        line: ProgressLine,
    ) -> list[Run]:
        """One run per mixture and generator."""
        with jax.enable_x64(True):
            return self._run(mixtures, rngs, callback, line)

    def _run(
        self,
        mixtures: Sequence[Mixture],
        rngs: Sequence[np.random.Generator],
        callback: Callback | None,
        line: ProgressLine,
    ) -> list[Run]:
        plan, family = self.plan, self.plan.algorithm.family
        H = len(mixtures)
        recorders = [Recorder(plan) for _ in mixtures]
        for recorder, mixture in zip(recorders, mixtures, strict=True):
            recorder.start(family.means(mixture.components), np.exp(log_weights(mixture.log_ratios)))
        carry = _Carry(
            map_leaves(lambda *parts: jnp.asarray(np.stack(parts)), *mixtures),
            jnp.full(H, _RUNNING),
            jnp.zeros(H, dtype=int),
            jnp.full(H, -jnp.inf),
            jnp.full((H, plan.d), jnp.nan),
        )
        status = Status.BUDGET_SPENT if plan.is_cut_short else Status.STEPS_DONE
        failures: dict[int, tuple[Status, Any]] = {}
        done = 0
        try:
            for chunk in _chunks(plan, H):
                inputs = self._inputs(chunk, rngs)
                after, seen = self._scan(carry, inputs)
                after.nit.block_until_ready()
                self._record(recorders, chunk, after, seen)
                failures |= self._failures(carry, after, inputs, chunk)
                carry, done = after, chunk.stop
                best = float(jnp.max(carry.best_value))
                line.update(done, float(plan.temperatures[done - 1]), best)
                if callback is not None and wants_to_stop(callback, self._snapshot(carry, done)):
                    status = Status.STOPPED
                    break
                if not np.any(np.asarray(carry.end) == _RUNNING):
                    break
        except KeyboardInterrupt:
            status = Status.INTERRUPTED
        line.close()
        return [self._finish(h, carry, recorders[h], status, failures) for h in range(H)]

    def _inputs(self, chunk: _Chunk, rngs: Sequence[np.random.Generator]) -> _Inputs:
        plan = self.plan
        draw, family = plan.algorithm.proposal.noise, plan.algorithm.family
        count = chunk.stop - chunk.start
        runs = [
            [draw(rng, family, plan.K, chunk.num_samples, plan.d) for _ in range(count)] for rng in rngs
        ]  # each generator is read in the order of its own run
        steps = [map_leaves(lambda *parts: np.stack(parts), *row) for row in zip(*runs, strict=True)]
        padding = chunk.length - count
        noise = map_leaves(lambda *parts: np.stack(parts), *(steps + steps[-1:] * padding))
        settings = map_leaves(
            lambda values: np.concatenate([values, np.repeat(values[-1:], padding)]),
            plan.settings(chunk.start, chunk.stop),
        )
        return _Inputs(noise, settings, np.arange(chunk.length) < count)

    def _record(self, recorders: list[Recorder], chunk: _Chunk, carry: _Carry, seen: Any) -> None:
        means, log_pi, mean_values, best = (np.asarray(part) for part in seen)
        nit = np.asarray(carry.nit)
        for h, recorder in enumerate(recorders):
            for i in range(chunk.stop - chunk.start):
                step = chunk.start + i + 1
                is_last = step == nit[h] and (step == self.plan.steps or np.asarray(carry.end)[h] != _RUNNING)
                if step <= nit[h] and (self.plan.is_traced(step) or is_last):
                    recorder.add(step, means[i, h], np.exp(log_pi[i, h]), mean_values[i, h], float(best[i, h]))

    def _failures(self, before: _Carry, after: _Carry, inputs: _Inputs, chunk: _Chunk) -> dict[int, tuple[Status, Any]]:
        """Why replicates failed in this chunk: the step that failed is made once more, outside the scan."""
        found = {}
        newly = (np.asarray(before.end) == _RUNNING) & (np.asarray(after.end) == _FAILED)
        for h in np.flatnonzero(newly).tolist():
            i = int(after.nit[h]) - chunk.start
            noise = map_leaves(lambda a, i=i, h=h: jnp.asarray(a[i, h]), inputs.noise)
            settings = map_leaves(lambda a, i=i: jnp.asarray(a[i]), inputs.settings)
            mixture = map_leaves(lambda a, h=h: a[h], after.mixture)
            new, _, points, evaluation, log_prior = self._attempt(mixture, noise, settings)
            found[h] = diagnose(self.plan, new, np.asarray(points), evaluation, log_prior)
        return found

    def _snapshot(self, carry: _Carry, done: int) -> Snapshot:
        """What a callback sees; with replicates all arrays have the replicate as their first axis."""
        weights = np.exp(np.asarray(jax.vmap(log_weights)(carry.mixture.log_ratios)))
        means = np.asarray(jax.vmap(self.plan.algorithm.family.means)(carry.mixture.components))
        if len(weights) == 1:
            means, weights = means[0], weights[0]
        temperature = float(self.plan.temperatures[done - 1])
        return Snapshot(
            done, temperature, means, weights, self.plan.evaluations(done), float(jnp.max(carry.best_value))
        )

    def _finish(
        self, h: int, carry: _Carry, recorder: Recorder, status: Status, failures: dict[int, tuple[Status, Any]]
    ) -> Run:
        nit, end = int(carry.nit[h]), int(carry.end[h])
        failure_point = None
        if end == _CONVERGED:
            status = Status.CONVERGED
        elif end == _FAILED:
            status, failure_point = failures[h]
        mixture = map_leaves(lambda a: np.asarray(a[h]), carry.mixture)
        evaluated = self.plan.evaluations(nit + (end == _FAILED))
        return make_run(
            self.plan,
            mixture,
            recorder,
            status,
            nit,
            evaluated,
            np.asarray(carry.best_point[h]),
            float(carry.best_value[h]),
            failure_point,
        )
