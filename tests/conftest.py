"""Ctrl-C reaches the tests however they are started; at the end it is said what was not tested."""

from __future__ import annotations

import signal

from browser.chromium import find

if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:  # a shell in the background, such as of a CI, starts it so
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_terminal_summary(terminalreporter):
    if find() is None:
        terminalreporter.write_line("Chromium not found: the report page was not tested in a browser.", yellow=True)
