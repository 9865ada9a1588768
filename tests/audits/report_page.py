"""Times a report's page in headless Chromium: ``PYTHONPATH=tests python -m audits.report_page REPORT.html``.

Each tab is opened with a fresh profile, as a file and without any network. A page is interactive when the heat map
answers the keyboard. Times are in seconds: wall time, and CPU time of the browser, which says more on a machine with
other work.
"""

import json
import os
import sys
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Annotated
from urllib.parse import urlparse
from urllib.request import url2pathname

import typer
from playwright.sync_api import BrowserContext

from audits.page import Spent, Watch
from support.browser import chromium_path, open_tab, running_browser

_TIMEOUT_MS = 300_000
_IS_INTERACTIVE = """() => {
  const cells = document.querySelectorAll("table.matrix tbody td");
  cells[1]?.focus();
  return document.querySelector(".readout")?.textContent.includes(" against ");
}"""
_FIRST_PAINT = "() => performance.getEntriesByName('first-contentful-paint').map((entry) => entry.startTime / 1000)[0]"


@dataclass(frozen=True)
class TimedTab:
    """One opening of the page."""

    page_bytes: int
    """Of all files that it loads before it is interactive."""
    requests: int
    first_paint_seconds: float
    """From the start of the navigation to the first text or picture, by the browser's own clock."""
    interactive: Spent
    """From asking for the page until the heat map answers."""
    all_pairs: Spent | None
    """From asking for all pairs of policies until they are drawn; None if the page does not offer them."""


def main(
    page: Annotated[Path, typer.Argument(exists=True, dir_okay=False, help="A run's report.html.")],
    tabs: Annotated[int, typer.Option(min=1, help="Times that the page is opened.")] = 5,
) -> None:
    """Print the page's size, and medians over the tabs, as JSON."""
    if chromium_path() is None:
        sys.exit("error: no chromium or google-chrome on PATH; install one")
    found = []
    for _ in range(tabs):
        with running_browser() as context:
            context.set_default_timeout(_TIMEOUT_MS)
            found.append(time_tab(context, page.resolve().as_uri()))
    drawn = [one.all_pairs for one in found if one.all_pairs is not None]
    result = {
        "page_bytes": found[0].page_bytes,
        "requests": found[0].requests,
        "load_average": os.getloadavg()[0],
        "first_paint_seconds": median(one.first_paint_seconds for one in found),
        "first_paint_seconds_all": [one.first_paint_seconds for one in found],
        "interactive_seconds": median(one.interactive.wall for one in found),
        "interactive_seconds_all": [one.interactive.wall for one in found],
        "interactive_cpu_seconds": median(one.interactive.cpu for one in found),
        "all_pairs_seconds": median(one.wall for one in drawn) if drawn else None,
        "all_pairs_cpu_seconds": median(one.cpu for one in drawn) if drawn else None,
    }
    sys.stdout.write(f"{json.dumps(result, indent=2)}\n")


def time_tab(context: BrowserContext, url: str) -> TimedTab:
    """Open ``url`` in a new tab, and all pairs of policies if it offers them; return the times."""
    open_tab(context, "about:blank")  # so that the browser's own start does not count
    began = Watch()
    tab = open_tab(context, url, wait_until="commit")
    tab.page.wait_for_function(_IS_INTERACTIVE, polling=20)
    interactive = began.spent()
    loaded = list(tab.requests)
    first_paint = tab.page.evaluate(_FIRST_PAINT)
    all_pairs = None
    if tab.page.locator(".all-pairs button").count():
        asked = Watch()
        tab.page.click(".all-pairs button")
        tab.page.wait_for_selector(".all-pairs canvas:not([hidden])")
        all_pairs = asked.spent()
    size_bytes = sum(Path(url2pathname(urlparse(each).path)).stat().st_size for each in loaded)
    return TimedTab(size_bytes, len(loaded), first_paint, interactive, all_pairs)


if __name__ == "__main__":
    typer.run(main)
