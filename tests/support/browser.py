"""The system's Chromium, headless, driven by Playwright and without any network."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Literal

from playwright.sync_api import BrowserContext, Page, sync_playwright

_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


def chromium_path() -> str | None:
    """Return where Chromium or Chrome is, or None."""
    return next((path for path in map(shutil.which, _NAMES) if path), None)


@contextmanager
def running_browser() -> Iterator[BrowserContext]:
    """Run Chromium with a fresh profile."""
    path = chromium_path()
    assert path, "no Chromium: check chromium_path first"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=path,
            # Tests run as root in containers, where Chromium's sandbox does not start and /dev/shm is small.
            args=["--no-sandbox", "--disable-dev-shm-usage", "--host-resolver-rules=MAP * ~NOTFOUND"],
        )
        try:
            yield browser.new_context()
        finally:
            browser.close()


@dataclass
class Tab:
    """A page, its problems (console errors and warnings, uncaught exceptions) and the URLs that it requested."""

    page: Page
    problems: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)


def open_tab(context: BrowserContext, url: str, wait_until: Literal["commit", "load"] = "load") -> Tab:
    """Load ``url`` in a new tab; return when it is loaded, or begins to load."""
    tab = Tab(context.new_page())
    tab.page.on("request", lambda request: tab.requests.append(request.url))
    tab.page.on("pageerror", lambda error: tab.problems.append(str(error)))
    tab.page.on(
        "console",
        lambda message: tab.problems.append(message.text) if message.type in ("error", "warning", "assert") else None,
    )
    tab.page.goto(url, wait_until=wait_until)
    return tab
