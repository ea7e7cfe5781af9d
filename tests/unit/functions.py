"""Functions that several tests search or climb."""


def bowl(x):
    """One maximum, 0 at the origin; for NumPy and JAX."""
    return -(x**2).sum()
