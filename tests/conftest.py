"""Slow tests are marked, the longest files come first; Ctrl-C reaches tests; what was not tested is said in the end."""

from __future__ import annotations

import os
import signal

import pytest

from browser.chromium import find
from slow import is_slow, turn

# Most of what JAX does in tests is to compile programs that run once: a quarter of that is optimising them.
os.environ.setdefault("XLA_FLAGS", "--xla_backend_optimization_level=0 --xla_llvm_disable_expensive_passes=true")

if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:  # a shell in the background, such as of a CI, starts it so
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_modifyitems(items):
    for item in items:
        name = getattr(item, "originalname", None) or item.name
        if is_slow(item.path.parent.name, item.path.stem, name):
            item.add_marker(pytest.mark.slow)
    items.sort(key=lambda item: turn(item.path.stem))


def pytest_terminal_summary(terminalreporter):
    if find() is None:
        terminalreporter.write_line("Chromium not found: the report page was not tested in a browser.", yellow=True)
