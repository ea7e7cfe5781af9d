"""Says at the end what was not tested, because a line of dots does not."""

from __future__ import annotations

from browser.chromium import find


def pytest_terminal_summary(terminalreporter):
    if find() is None:
        terminalreporter.write_line("Chromium not found: the report page was not tested in a browser.", yellow=True)
