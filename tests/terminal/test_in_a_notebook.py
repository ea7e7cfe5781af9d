"""A notebook that is executed: results are HTML, plots appear once, progress moves during a slow call."""

import asyncio
import re
import sys
import warnings

import pytest

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    import nbformat
    from nbclient import NotebookClient

CELLS = (
    "import time\nimport numpy as np\nimport allmodes\n"
    "def f(x):\n    return (x[0]**2 + x[1] - 11)**2 + (x[0] + x[1]**2 - 7)**2\n"
    "result = allmodes.find_minima(f, [(-6, 6)] * 2, names=['a', '<b>'], rng=0)\nresult",
    "result.plot.landscape(f)",
    "ax = result.plot.modes()\ntype(ax).__name__, [type(part).__name__ for part in ax.figure.axes][:1]",
    "calls = []\n"
    "def slow(x):\n    calls.append(1)\n    time.sleep(4.5 if len(calls) == 3 else 0.0)\n    return f(x)\n"
    "seen = allmodes.find_minima(slow, [(-6, 6)] * 2, rng=0, maxfev=30, progress=True)",
)


@pytest.fixture(scope="module")
def executed():
    """The outputs of each cell, and every message that reached the page."""
    cells = [nbformat.v4.new_code_cell(code) for code in CELLS]
    book = nbformat.v4.new_notebook(cells=cells, metadata={})
    messages = []

    class Client(NotebookClient):
        def process_message(self, message, cell, cell_index):
            messages.append(message)
            return super().process_message(message, cell, cell_index)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        client = Client(book, timeout=120, kernel_name="python3")
        client.create_kernel_manager()
        client.km.kernel_spec.argv[0] = sys.executable
        asyncio.run(client.async_execute())
    return [cell.outputs for cell in book.cells], messages


def test_a_result_is_html(executed):
    (shown,) = executed[0][0]
    page = shown.data["text/html"]
    assert "4 modes (4 global)" in page
    assert "What may be missing:" in page
    assert "&lt;b&gt;" in page
    assert "<b>" not in page
    assert page.count("<svg") == 1
    assert shown.data["text/plain"].startswith("auto: ")


@pytest.mark.parametrize("cell", [1, 2])
def test_a_plot_is_drawn_once_and_returns_axes(executed, cell):
    outputs = executed[0][cell]
    assert sum("image/png" in output.get("data", {}) for output in outputs) == 1
    assert [output.output_type for output in outputs].count("error") == 0
    if cell == 2:
        assert "Axes" in outputs[0].data["text/plain"]


def test_progress_moves_during_a_slow_call_and_leaves_nothing(executed):
    told = [
        message["content"]["data"].get("text/plain", "")
        for message in executed[1]
        if message["msg_type"] in ("display_data", "update_display_data")
    ]
    waits = [int(found[1]) for text in told if (found := re.search(r"evaluations  no value for (\d+) s$", text))]
    assert len(waits) >= 2
    assert waits == sorted(waits)
    assert told[-1] == ""
    assert all(output.get("data", {}).get("text/plain") == "" for output in executed[0][3])
