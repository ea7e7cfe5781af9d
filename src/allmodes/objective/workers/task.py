"""One chunk of points for a worker, and what the worker answers. Nothing in an answer can fail to travel."""

from __future__ import annotations

import time
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from allmodes.objective.batch import Batch, Interrupted, evaluate_batch
from allmodes.objective.errors import Origin
from allmodes.objective.evaluation import Needs
from allmodes.objective.workers.parcel import MissingError, UnreadableError

DONE = "done"
MISSING = "missing"  # the worker does not have the parcel
UNREADABLE = "unreadable"  # the worker cannot open the parcel
INTERRUPTED = "interrupted"
FAILED = "failed"  # an error of ours, not of the user's function

Floats = NDArray[np.float64]


class Reply(NamedTuple):
    """A worker's answer: a batch if it is DONE, otherwise the reason why not; seconds spent on the points."""

    status: str
    batch: Batch | None = None
    seconds: float = 0.0
    text: str = ""
    origin: Origin | None = None


class Task(NamedTuple):
    """A chunk of points to evaluate.

    Args:
        parcel: the source, or what stands for it.
        points: (n, D).
        needs: derivatives wanted.
        stop: whether to stop at the first exception.
        limit: seconds for each point, enforced by the worker itself in a child process; None if there is no limit or
            the engine enforces it.
        retries: how often to retry a point whose child process died.
    """

    parcel: Any
    points: Floats
    needs: Needs
    stop: bool
    limit: float | None = None
    retries: int = 0


def run(task: Task) -> Reply:
    """Evaluate a chunk, in whatever process this is. Returns in every case that Python can survive."""
    try:
        if task.limit is not None:
            from allmodes.objective.workers.child import evaluate_in_child

            began = time.perf_counter()
            batch = evaluate_in_child(task)
        else:
            source = task.parcel.opened()
            began = time.perf_counter()
            batch = evaluate_batch(task.points, source, task.needs, task.stop, travels=True)
        return Reply(DONE, batch, time.perf_counter() - began)
    except MissingError:
        return Reply(MISSING)
    except UnreadableError as error:
        return Reply(UNREADABLE, text=str(error))
    except KeyboardInterrupt as error:
        return Reply(INTERRUPTED, error.batch if isinstance(error, Interrupted) else None)
    except Exception as error:
        return Reply(FAILED, origin=Origin.of(error))


def hold(parcel: Any) -> str | None:
    """Take a parcel and open it; the text of what is wrong with it, if anything is."""
    try:
        parcel.opened()
    except Exception as error:
        return str(error)
    return None
