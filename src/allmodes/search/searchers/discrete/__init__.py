"""Whole numbers and choices, alone or beside real coordinates."""
