"""Whose turn it is, and when the search is over."""
