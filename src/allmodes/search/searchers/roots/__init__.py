"""Searches for the roots of systems of as many equations as unknowns."""
