"""A headless Chromium, spoken to over its pipe, with the network off.

The DevTools protocol is JSON between NUL bytes on file descriptors 3 (to the browser) and 4 (from it), so it needs
no port and no library. What must stay true: the browser cannot reach the network, and ends with its caller.
"""

from __future__ import annotations

import base64
import contextlib
import fcntl
import itertools
import json
import os
import select
import shutil
import signal
from pathlib import Path
from typing import Any

NAMES = ["chromium", "chromium-browser", "google-chrome"]
OPTIONS = [
    "--headless=new",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--disable-component-update",
    "--no-first-run",
    "--hide-scrollbars",
    "--host-resolver-rules=MAP * ~NOTFOUND",
    "--remote-debugging-pipe",
    # What it shows is ours, and in containers its sandbox often cannot be made.
    "--no-sandbox",
]
ANSWER_SECONDS_MAX = 60


def program() -> str | None:
    """The browser, if one is installed."""
    return next((found for name in NAMES if (found := shutil.which(name))), None)


def above_standard(descriptor: int) -> int:
    """The same descriptor under a number that is in nobody's way."""
    moved = fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, 10)
    os.close(descriptor)
    return moved


class Browser:
    """A running browser."""

    def __init__(self, path: str, profile: Path) -> None:
        """Starts it with a profile of its own."""
        theirs_in, self.out = map(above_standard, os.pipe())
        self.inward, theirs_out = map(above_standard, os.pipe())
        command = [path, *OPTIONS, f"--user-data-dir={profile}", "about:blank"]
        with open(os.devnull, "r+b") as nothing:
            actions = [(os.POSIX_SPAWN_DUP2, nothing.fileno(), number) for number in (0, 1, 2)]
            actions += [(os.POSIX_SPAWN_DUP2, theirs_in, 3), (os.POSIX_SPAWN_DUP2, theirs_out, 4)]
            self.process = os.posix_spawn(path, command, os.environ, file_actions=actions, setpgroup=0)
        os.close(theirs_in)
        os.close(theirs_out)
        self.numbers = itertools.count(1)
        self.buffer = b""
        self.events: list[dict[str, Any]] = []

    def read(self) -> dict[str, Any]:
        """The next message."""
        while b"\0" not in self.buffer:
            if not select.select([self.inward], [], [], ANSWER_SECONDS_MAX)[0]:
                raise RuntimeError(f"the browser has said nothing for {ANSWER_SECONDS_MAX} s")
            more = os.read(self.inward, 1 << 20)
            if not more:
                raise RuntimeError("the browser has ended")
            self.buffer += more
        message, _, self.buffer = self.buffer.partition(b"\0")
        return json.loads(message)

    def call(self, method: str, session: str | None = None, **params: Any) -> dict[str, Any]:
        """Calls a method and waits for what comes of it; keeps the events that come before."""
        number = next(self.numbers)
        message = {"id": number, "method": method, "params": params} | (
            {"sessionId": session} if session else {}
        )
        os.write(self.out, json.dumps(message).encode() + b"\0")
        while (answer := self.read()).get("id") != number:
            self.events.append(answer)
        if "error" in answer:
            raise RuntimeError(f"{method}: {answer['error']['message']}")
        return answer["result"]

    def wait(self, method: str) -> dict[str, Any]:
        """The first event of a kind."""
        while not any(event.get("method") == method for event in self.events):
            self.events.append(self.read())
        return next(event for event in self.events if event.get("method") == method)

    def close(self) -> None:
        """Ends it and all that it has started."""
        with contextlib.suppress(OSError, RuntimeError):
            self.call("Browser.close")
        with contextlib.suppress(OSError):
            os.killpg(self.process, signal.SIGKILL)
        os.waitpid(self.process, 0)
        os.close(self.inward)
        os.close(self.out)


class Page:
    """A page of its own, with all that it asks for and complains of."""

    def __init__(self, browser: Browser, path: Path, width: int = 1280, dark: bool = False) -> None:
        """Loads a file."""
        self.browser = browser
        browser.events.clear()
        self.target = browser.call("Target.createTarget", url="about:blank")["targetId"]
        attached = browser.call("Target.attachToTarget", targetId=self.target, flatten=True)
        self.session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(f"{domain}.enable")
        offline = {"offline": True, "latency": 0, "downloadThroughput": 0, "uploadThroughput": 0}
        self.call("Network.emulateNetworkConditions", **offline)
        size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 600}
        self.call("Emulation.setDeviceMetricsOverride", **size)
        scheme = "dark" if dark else "light"
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
        self.url = path.resolve().as_uri()
        self.call("Page.navigate", url=self.url)
        browser.wait("Page.loadEventFired")

    def call(self, method: str, **params: Any) -> dict[str, Any]:
        """Calls a method of the page."""
        return self.browser.call(method, self.session, **params)

    def ask(self, expression: str) -> Any:
        """The value of an expression in the page."""
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def complaints(self) -> list[str]:
        """Errors and warnings of its console, and errors that nobody caught."""
        kinds = {"Runtime.exceptionThrown", "Log.entryAdded"}
        found = [event for event in self.browser.events if event.get("method") in kinds]
        loud = ("error", "warning", "assert")
        for event in self.browser.events:
            if event.get("method") == "Runtime.consoleAPICalled" and event["params"]["type"] in loud:
                found.append(event)
        return [json.dumps(event["params"]) for event in found]

    def requests(self) -> list[str]:
        """All that it asked for, but the page itself."""
        sent = (event for event in self.browser.events if event.get("method") == "Network.requestWillBeSent")
        urls = (event["params"]["request"]["url"] for event in sent)
        return [url for url in urls if url != self.url]

    def screenshot(self, path: Path, selector: str | None = None) -> None:
        """A picture of the whole page or of one element."""
        box = (
            "document.documentElement"
            if selector is None
            else f"document.querySelector({json.dumps(selector)})"
        )
        rectangle = f"(({{x, y, width, height}}) => ({{x: x + scrollX, y: y + scrollY, width, height}}))({box}.getBoundingClientRect())"
        clip = self.ask(rectangle) | {"scale": 1}
        shot = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=True, clip=clip)
        path.write_bytes(base64.b64decode(shot["data"]))

    def close(self) -> None:
        """Closes it."""
        self.browser.call("Target.closeTarget", targetId=self.target)
