"""Noisy functions: candidates are measured again before they count."""
