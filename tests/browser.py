"""A headless Chromium, driven over its debugging pipe: JSON messages, each ended by a zero byte.

python -m tests.browser report.html image.png     # an image of a page, 1000 pixels wide
"""

import base64
import itertools
import json
import os
import pathlib
import select
import shlex
import subprocess
import sys
import tempfile
import time
from types import TracebackType
from typing import Any, Self

TIMEOUT_S = 60.0
# As root it refuses to run in its own sandbox; pages come from the test alone.
COMMAND = "chromium --headless --no-sandbox --disable-gpu --hide-scrollbars --no-first-run --remote-debugging-pipe"

# For functions in pages: how a colour of an element's style stands out from what is behind it (contrast as WCAG 2 defines
# it, from 1 to 21).
CONTRAST = """
  const parts = text => text.match(/[\\d.]+/g).map(Number);
  const light = text => {
    const linear = parts(text).slice(0, 3).map(v => v / 255).map(v => v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2];
  };
  const behind = element => {
    for (; element; element = element.parentElement) {
      const colour = getComputedStyle(element).backgroundColor;
      if (parts(colour).length < 4 || parts(colour)[3] > 0) return colour;
    }
    return "rgb(255, 255, 255)";
  };
  const contrast = (element, colour) => {
    const both = [getComputedStyle(element)[colour], behind(element)].map(light).sort((a, b) => b - a);
    return (both[0] + 0.05) / (both[1] + 0.05);
  };
"""


class Browser:
    """One page at a time; a thread at a time."""

    def __init__(self) -> None:
        if "chromium" in os.environ.get("HEADRACE_HIDDEN", "").split(","):
            raise PermissionError("./test --ci installs Chromium for tests marked browser or site alone: mark this one")
        self._folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        commands, self._write = os.pipe()
        self._read, answers = os.pipe()
        # The browser reads from its descriptor 3 and writes to 4.
        script = f"exec {COMMAND} --user-data-dir={shlex.quote(self._folder.name)} 3<&{commands} 4>&{answers}"
        self._process = subprocess.Popen(
            ["bash", "-c", script],
            pass_fds=(commands, answers),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(commands)
        os.close(answers)
        self._numbers = itertools.count(1)
        self._received = b""
        self._session: str | None = None
        # What the page, or the browser about it, wrote to the console.
        self.console: list[str] = []
        # The URLs that the page asked for, in this order.
        self.requests: list[str] = []
        self._events: list[str] = []
        try:
            self._attach()
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        os.close(self._write)
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        os.close(self._read)
        self._folder.cleanup()

    def open(self, page: pathlib.Path, width: int, dark: bool, height: int = 900, query: str = "") -> None:
        """Loads the page in a window of this size, in pixels, and waits until it is there. `query`: what its URL ends with."""
        self._send("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self._send("Emulation.setEmulatedMedia", features=[scheme])
        self._events.clear()
        self._send("Page.navigate", url=page.resolve().as_uri() + query)
        end = time.monotonic() + TIMEOUT_S
        while "Page.loadEventFired" not in self._events:
            self._note(self._receive(end))

    def evaluate(self, script: str) -> Any:
        """The value of a JavaScript expression, or what its promise is fulfilled with."""
        answer = self._send("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")

    def screenshot(self) -> bytes:
        """The whole page, as PNG."""
        size = self._send("Page.getLayoutMetrics")["cssContentSize"]
        clip = {"x": 0, "y": 0, "width": size["width"], "height": size["height"], "scale": 1}
        shot = self._send("Page.captureScreenshot", format="png", clip=clip, captureBeyondViewport=True)
        return base64.b64decode(shot["data"])

    def _attach(self) -> None:
        target = self._send("Target.createTarget", url="about:blank")["targetId"]
        self._session = self._send("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self._send(f"{domain}.enable")

    def _send(self, method: str, **parameters: Any) -> dict[str, Any]:
        number = next(self._numbers)
        message: dict[str, Any] = {"id": number, "method": method, "params": parameters}
        if self._session is not None:
            message["sessionId"] = self._session
        os.write(self._write, json.dumps(message).encode() + b"\0")
        end = time.monotonic() + TIMEOUT_S
        while True:
            answer = self._receive(end)
            if answer.get("id") == number:
                assert "error" not in answer, (method, answer)
                result: dict[str, Any] = answer["result"]
                return result
            self._note(answer)

    def _note(self, event: dict[str, Any]) -> None:
        method, parameters = event.get("method", ""), event.get("params", {})
        self._events.append(method)
        if method in ("Runtime.exceptionThrown", "Log.entryAdded", "Runtime.consoleAPICalled"):
            self.console.append(json.dumps(parameters))
        if method == "Network.requestWillBeSent":
            self.requests.append(parameters["request"]["url"])

    def _receive(self, end: float) -> dict[str, Any]:
        while b"\0" not in self._received:
            if not select.select([self._read], [], [], max(0.0, end - time.monotonic()))[0]:
                raise TimeoutError(f"Chromium did not answer within {TIMEOUT_S:.0f} seconds")
            part = os.read(self._read, 1 << 20)
            if not part:
                raise ConnectionError(f"Chromium ended, with status {self._process.wait()}")
            self._received += part
        message, _, self._received = self._received.partition(b"\0")
        answer: dict[str, Any] = json.loads(message)
        return answer


if __name__ == "__main__":
    with Browser() as browser:
        browser.open(pathlib.Path(sys.argv[1]), 1000, dark=False)
        pathlib.Path(sys.argv[2]).write_bytes(browser.screenshot())
