"""Names of the entries of arrays."""

from __future__ import annotations

import numpy as np


def entries(name: str, shape: tuple[int, ...]) -> list[str]:
    """One for each, as in NumPy's indexing.

    >>> entries("w", (2, 1)), entries("p", ())
    (['w[0,0]', 'w[1,0]'], ['p'])
    """
    return [f"{name}[{','.join(map(str, index))}]" if shape else name for index in np.ndindex(shape)]
