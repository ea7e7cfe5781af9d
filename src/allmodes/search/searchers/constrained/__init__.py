"""Searches under constraints: local searches whose every point is feasible."""
