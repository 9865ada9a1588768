"""A real headless Chromium for tests, driven over its DevTools protocol. Cut off from every network."""

import base64
import json
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from websockets.sync.client import ClientConnection, connect

_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
_FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
    "--host-resolver-rules=MAP * ~NOTFOUND",
    "--remote-debugging-port=0",
    "about:blank",
)
_START_SECONDS = 60.0
_ANSWER_SECONDS = 30.0


def chromium_path() -> str | None:
    """Return where Chromium or Chrome is, or None."""
    return next((path for path in map(shutil.which, _NAMES) if path), None)


@dataclass
class Tab:
    """One tab. ``problems`` are console errors, warnings and uncaught exceptions; ``requests`` the URLs asked for."""

    _browser: "Browser"
    _session: str
    problems: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)

    def open(self, url: str) -> None:
        """Load ``url`` and wait until it is whole."""
        self._browser.call("Page.navigate", {"url": url}, self._session)
        self.wait_for("document.readyState === 'complete' && location.href !== 'about:blank'")

    def evaluate(self, expression: str) -> Any:  # noqa: ANN401 - any JSON value
        """Return the value of a JavaScript expression, awaited, as JSON gives it."""
        parameters = {"expression": expression, "returnByValue": True, "awaitPromise": True, "userGesture": True}
        answer = self._browser.call("Runtime.evaluate", parameters, self._session)
        if "exceptionDetails" in answer:
            raise AssertionError(f"{expression}: {answer['exceptionDetails']}")
        return answer["result"].get("value")

    def wait_for(self, expression: str) -> None:
        """Wait until ``expression`` is true."""
        deadline = time.monotonic() + _ANSWER_SECONDS
        while not self.evaluate(expression):
            assert time.monotonic() < deadline, f"never became true: {expression}"
            time.sleep(0.05)

    def press(self, key: str) -> None:
        """Press and release a key, such as ``ArrowDown``, wherever the focus is."""
        for kind in ("keyDown", "keyUp"):
            self._browser.call("Input.dispatchKeyEvent", {"type": kind, "key": key, "code": key}, self._session)

    def point_at(self, selector: str) -> None:
        """Move the mouse to the middle of the first element that ``selector`` finds, scrolled into view."""
        found = f"document.querySelector({json.dumps(selector)})"
        self.evaluate(f"{found}.scrollIntoView({{block: 'center', inline: 'center', behavior: 'instant'}})")
        x, y = self.evaluate(f"(r => [r.x + r.width / 2, r.y + r.height / 2])({found}.getBoundingClientRect())")
        self._browser.call("Input.dispatchMouseEvent", {"type": "mouseMoved", "x": x, "y": y}, self._session)

    def print_to_pdf(self) -> bytes:
        """Return what the page looks like on paper."""
        answer = self._browser.call("Page.printToPDF", {"printBackground": True}, self._session)
        return base64.b64decode(answer["data"])

    def resize(self, width: int, height: int) -> None:
        """Give the tab another size, in CSS pixels."""
        metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        self._browser.call("Emulation.setDeviceMetricsOverride", metrics, self._session)


class Browser:
    """A running Chromium and its tabs, by target id, those that pages open themselves included."""

    def __init__(self, connection: ClientConnection) -> None:
        self._connection = connection
        self._number = 0
        self._answers: dict[int, dict[str, Any]] = {}
        self.tabs: dict[str, Tab] = {}
        self._sessions: dict[str, Tab] = {}
        attach = {"autoAttach": True, "waitForDebuggerOnStart": False, "flatten": True}
        self.call("Target.setAutoAttach", {**attach, "filter": [{"type": "page"}]})

    def call(self, method: str, parameters: dict[str, Any] | None = None, session: str | None = None) -> dict[str, Any]:
        """Send a command and return its result; what happens meanwhile is noted in the tabs."""
        self._number += 1
        number = self._number
        message = {"id": number, "method": method, "params": parameters or {}}
        self._connection.send(json.dumps(message | ({"sessionId": session} if session else {})))
        # An event may make further calls before this one is answered.
        while number not in self._answers:
            received = json.loads(self._connection.recv(timeout=_ANSWER_SECONDS))
            if "id" in received:
                self._answers[received["id"]] = received
            else:
                self._note(received)
        answer = self._answers.pop(number)
        assert "error" not in answer, f"{method}: {answer['error']}"
        result: dict[str, Any] = answer["result"]
        return result

    def only_tab(self) -> Tab:
        """Return the tab that the browser began with."""
        (tab,) = self.tabs.values()
        return tab

    def new_tab_after(self, tab: Tab, expression: str) -> Tab:
        """Return the tab that a click, as ``expression`` in ``tab``, opens."""
        known = set(self.tabs)
        tab.evaluate(expression)
        deadline = time.monotonic() + _ANSWER_SECONDS
        while not (new := self.tabs.keys() - known):
            assert time.monotonic() < deadline, f"no tab was opened by: {expression}"
            tab.evaluate("1")
            time.sleep(0.05)
        return self.tabs[new.pop()]

    def _note(self, event: dict[str, Any]) -> None:
        method, parameters = event.get("method"), event.get("params", {})
        if method == "Target.attachedToTarget":
            session = parameters["sessionId"]
            tab = Tab(self, session)
            self.tabs[parameters["targetInfo"]["targetId"]] = self._sessions[session] = tab
            for domain in ("Page", "Runtime", "Log", "Network"):
                self.call(f"{domain}.enable", session=session)
        tab_of_event = self._sessions.get(event.get("sessionId", ""))
        if tab_of_event is None:
            return
        if method == "Network.requestWillBeSent":
            tab_of_event.requests.append(parameters["request"]["url"])
        elif method == "Runtime.exceptionThrown":
            tab_of_event.problems.append(str(parameters["exceptionDetails"]))
        elif method == "Runtime.consoleAPICalled" and parameters["type"] in ("error", "warning", "assert"):
            tab_of_event.problems.append(str(parameters["args"]))
        elif method == "Log.entryAdded" and parameters["entry"]["level"] in ("error", "warning"):
            tab_of_event.problems.append(str(parameters["entry"]))


@contextmanager
def running_browser(profile: Path) -> Iterator[Browser]:
    """Run Chromium with a fresh profile in the folder ``profile``."""
    path = chromium_path()
    assert path, "no Chromium: ask chromium_path first"
    process = subprocess.Popen(
        [path, f"--user-data-dir={profile}", *_FLAGS],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        address = _address(profile / "DevToolsActivePort", process)
        with connect(address, max_size=None, proxy=None) as connection:
            yield Browser(connection)
    finally:
        process.terminate()
        try:
            process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _address(port_file: Path, process: "subprocess.Popen[bytes]") -> str:
    deadline = time.monotonic() + _START_SECONDS
    while time.monotonic() < deadline:
        assert process.poll() is None, f"Chromium ended with {process.returncode}"
        lines = port_file.read_text().splitlines() if port_file.exists() else []
        if len(lines) == 2:
            return f"ws://127.0.0.1:{lines[0]}{lines[1]}"
        time.sleep(0.05)
    raise AssertionError(f"Chromium did not listen within {_START_SECONDS:.0f} s")
