"""Where points are evaluated: in worker processes of our own, or by an engine that the user brings.

One protocol for all of them (`Engine`), one loop over it (`Stream`). What is to be evaluated travels once to each
worker (`Parcel`); points travel in chunks whose size follows from the measured times (`Pace`); what comes back is
plain data, never an exception (`Reply`).
"""

from allmodes.objective.workers.opening import open_engine
from allmodes.objective.workers.parcel import Parcel
from allmodes.objective.workers.pools import Pool, open_pool
from allmodes.objective.workers.stream import Came, Halted, Stream

__all__ = ["Came", "Halted", "Parcel", "Pool", "Stream", "open_engine", "open_pool"]
