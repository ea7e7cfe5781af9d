"""Drives a real Chromium by its DevTools protocol over a pair of pipes; needs nothing but Python.

A browser package would be a large dependency for a dozen calls, and would want a browser of its own.
"""

from __future__ import annotations

import base64
import fcntl
import json
import os
import select
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage",
    "--hide-scrollbars", "--remote-debugging-pipe",
)  # fmt: skip
PATIENCE = 60.0  # seconds for one answer, on a machine that does other things, too
_HIGH = 20  # file descriptors are moved above those that Chromium expects (3 and 4)

DRAWN = "document.documentElement?.dataset.drawn === 'true'"  # of a report
# Whether every plot is as wide as its place.
_FOLLOWED = (
    "[...document.querySelectorAll('.plot .main-svg')].every((svg) => "
    "Math.abs(svg.getBoundingClientRect().width - svg.closest('.plot').getBoundingClientRect().width) < 2)"
)


def find() -> str | None:
    """The path of a Chromium, or None."""
    return next(filter(None, map(shutil.which, NAMES)), None)


class Chromium:
    """A browser with a fresh profile. Use it in a with statement."""

    def __init__(self, path: str) -> None:
        self.profile = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        theirs_in, self.out = os.pipe()
        self.into, theirs_out = os.pipe()
        high_in, high_out = (fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, _HIGH) for end in (theirs_in, theirs_out))

        def connect() -> None:
            os.dup2(high_in, 3)
            os.dup2(high_out, 4)

        self.process = subprocess.Popen(
            [path, *FLAGS, f"--user-data-dir={self.profile.name}", "about:blank"],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            preexec_fn=connect, close_fds=False,
        )  # fmt: skip
        for end in (theirs_in, theirs_out, high_in, high_out):
            os.close(end)
        self.number, self.buffer = 0, b""
        self.events: list[dict] = []

    def __enter__(self) -> Chromium:
        return self

    def __exit__(self, *error: object) -> None:
        try:
            self.send("Browser.close")
            self.process.wait(PATIENCE)
        finally:
            self.process.kill()
            self.process.wait()
            os.close(self.out)
            os.close(self.into)
            self.profile.cleanup()

    def send(self, method: str, session: str | None = None, **params: object) -> dict:
        """Ask, and wait for the answer; events that come meanwhile are kept."""
        self.number += 1
        number = self.number
        message = {"id": number, "method": method, "params": params} | ({"sessionId": session} if session else {})
        os.write(self.out, json.dumps(message).encode() + b"\0")
        end = time.monotonic() + PATIENCE
        while True:
            answer = self._receive(end - time.monotonic())
            if answer is None:
                raise TimeoutError(f"Chromium did not answer {method} within {PATIENCE:.0f} s")
            if answer.get("id") == number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]

    def _receive(self, seconds: float) -> dict | None:
        """The next message, or None if there is none in time. Events are kept."""
        while b"\0" not in self.buffer:
            if not select.select([self.into], [], [], max(seconds, 0.0))[0]:
                return None
            piece = os.read(self.into, 1 << 20)
            if not piece:
                raise ConnectionError("Chromium has ended")
            self.buffer += piece
        text, self.buffer = self.buffer.split(b"\0", 1)
        message = json.loads(text)
        if "id" not in message:
            self.events.append(message)
        return message

    def open(self, url: str, **screen: object) -> Page:
        """A page with a screen of its own; returns when its plots are drawn."""
        return Page(self, url, **screen)


class Page:
    """One tab. `width`, `height` and `dark` say what it is shown on."""

    def __init__(
        self, browser: Chromium, url: str, width: int = 1280, height: int = 900, dark: bool = False, until: str = DRAWN
    ) -> None:
        self.browser = browser
        self.target = browser.send("Target.createTarget", url="about:blank")["targetId"]
        self.session = browser.send("Target.attachToTarget", targetId=self.target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.send(f"{domain}.enable")
        self.resize(width, height)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.send("Emulation.setEmulatedMedia", features=[scheme])
        self.send("Page.navigate", url=url)
        self.wait(until)

    def send(self, method: str, **params: object) -> dict:
        return self.browser.send(method, self.session, **params)

    def resize(self, width: int, height: int) -> None:
        """Another screen; returns when the plots have followed."""
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 500}
        self.send("Emulation.setDeviceMetricsOverride", **size)
        self.wait(f"innerWidth === {width} && {_FOLLOWED}")

    def close(self) -> None:
        self.browser.send("Target.closeTarget", targetId=self.target)

    def events(self, *methods: str) -> list[dict]:
        """What happened on this page, of these kinds."""
        mine = (event for event in self.browser.events if event.get("sessionId") == self.session)
        return [event["params"] for event in mine if event["method"] in methods]

    def run(self, code: str) -> object:
        """The value of an expression; promises are awaited."""
        answer = self.send("Runtime.evaluate", expression=code, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(f"{code}: {answer['exceptionDetails']}")
        return answer["result"].get("value")

    def wait(self, code: str, pointing_at: Callable[[], tuple[float, float]] | None = None) -> None:
        """Until an expression is true; meanwhile, perhaps, moving the mouse about a place as a hand does."""
        end = time.monotonic() + PATIENCE
        while not self.run(f"Boolean({code})"):
            if time.monotonic() > end:
                raise TimeoutError(f"{code} did not become true within {PATIENCE:.0f} s")
            if pointing_at is not None:
                self.point_at(*pointing_at())
            time.sleep(0.1)

    def point_at(self, x: float, y: float) -> None:
        """Move the mouse there, as a hand does: in two steps."""
        for shift in (3.0, 0.0):
            self.send("Input.dispatchMouseEvent", type="mouseMoved", x=x + shift, y=y)

    def click(self, x: float, y: float) -> None:
        self.point_at(x, y)
        for kind in ("mousePressed", "mouseReleased"):
            self.send("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def drag(self, x: float, y: float, to_x: float, to_y: float) -> None:
        """Press, move, let go."""
        self.point_at(x, y)
        self.send("Input.dispatchMouseEvent", type="mousePressed", x=x, y=y, button="left", clickCount=1)
        for share in (0.3, 0.7, 1.0):
            where = {"x": x + share * (to_x - x), "y": y + share * (to_y - y)}
            self.send("Input.dispatchMouseEvent", type="mouseMoved", button="left", buttons=1, **where)
        self.send("Input.dispatchMouseEvent", type="mouseReleased", x=to_x, y=to_y, button="left", clickCount=1)

    def press(self, key: str, code: int) -> None:
        text = {"text": "\r"} if key == "Enter" else {}
        for kind in ("keyDown", "keyUp"):
            self.send("Input.dispatchKeyEvent", type=kind, key=key, code=key, windowsVirtualKeyCode=code, **text)

    def middle(self, selector: str) -> tuple[float, float]:
        """Where an element is, after it was scrolled into view."""
        return tuple(self.run(
            f"(() => {{ const e = document.querySelector({json.dumps(selector)});"
            "e.scrollIntoView({block: 'center', behavior: 'instant'}); const r = e.getBoundingClientRect();"
            "return [r.x + r.width / 2, r.y + r.height / 2]; })()"
        ))  # fmt: skip

    def picture(self, path: Path, whole: bool = True) -> None:
        """A screenshot, of all of the page or of what is seen."""
        shot = self.send("Page.captureScreenshot", format="png", captureBeyondViewport=whole)
        path.write_bytes(base64.b64decode(shot["data"]))

    def pdf(self) -> bytes:
        """The page as it prints on A4."""
        size = {"paperWidth": 8.27, "paperHeight": 11.69, "preferCSSPageSize": True, "printBackground": False}
        return base64.b64decode(self.send("Page.printToPDF", **size)["data"])
