"""Picture a report for the docs: ``report_pictures.py REPORT.html``.

Writes docs/images/report.png, the top of the page, and docs/images/report-learning.png, the newest training. Needs
Chromium or Chrome on PATH.
"""

import shutil
import sys
from pathlib import Path

from playwright.sync_api import sync_playwright

IMAGES = Path(__file__).parents[2] / "docs" / "images"
_WIDTH, _TOP_HEIGHT, _LEARNING_HEIGHT = 1100, 1440, 890
"""In CSS pixels."""


def main(report: Path) -> None:
    """Write the pictures."""
    browser_path = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if browser_path is None:
        sys.exit("error: no Chromium or Chrome on PATH; install one")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=browser_path, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": _WIDTH, "height": _TOP_HEIGHT})
        page.goto(report.resolve().as_uri())
        page.screenshot(path=IMAGES / "report.png")
        page.set_viewport_size({"width": _WIDTH, "height": _LEARNING_HEIGHT})
        page.evaluate("document.getElementById('learning').scrollIntoView()")
        page.screenshot(path=IMAGES / "report-learning.png")
        browser.close()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
