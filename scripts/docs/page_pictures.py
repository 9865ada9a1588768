"""Picture the play page for the docs: ``page_pictures.py``.

Writes docs/images/play-battle.png and play-board.png, 1400 pixels wide, and play-battle-phone.png and
play-board-phone.png, 390 pixels wide: a battle of the zoo's policy by first choices, and its board. Needs Chromium or
Chrome on PATH.
"""

import shutil
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

from nashdex_play.page.writing import write_play_page

IMAGES = Path(__file__).parents[2] / "docs" / "images"
_FORMAT, _POLICY, _SEED = "gen1randombattle", "zoo:gen1randombattle-2.5m", 1
_SIZES = {"": (1400, 800), "-phone": (390, 844)}
"""Width and height in CSS pixels, by the end of the file's name."""
_BOARD_HEIGHT = 1340
"""The board's height where it is wide: down to what is expected of the other side."""
_NUM_CHOICES = 9
"""Choices before the picture of the battle: the log and both benches have something."""
_TIMEOUT_MS = 300_000


def main() -> None:
    """Write the pictures."""
    browser_path = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if browser_path is None:
        sys.exit("error: no Chromium or Chrome on PATH; install one")
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        file = write_play_page(_FORMAT, [_POLICY], Path(folder))
        browser = playwright.chromium.launch(executable_path=browser_path, args=["--no-sandbox"])
        page = browser.new_page()
        page.set_default_timeout(_TIMEOUT_MS)
        page.goto(file.as_uri())
        page.wait_for_selector("form.setup")
        page.fill("#seed", str(_SEED))
        page.click("button[type=submit]")
        page.wait_for_selector("button.choice")
        for _ in range(_NUM_CHOICES):
            _choose(page)
        _picture(page, "play-battle", _SIZES)
        while page.locator("button.choice").count():
            _choose(page)
        page.get_by_role("button", name="Analyse").click()
        page.wait_for_selector("svg.curve")
        page.wait_for_selector("progress", state="detached")
        page.locator("circle.blunder, circle.mistake").first.click()
        _picture(page, "play-board", {**_SIZES, "": (_SIZES[""][0], _BOARD_HEIGHT)})
        browser.close()


def _choose(page: Page) -> None:
    page.locator("button.choice").first.click()
    page.wait_for_selector("main:not([aria-busy])")


def _picture(page: Page, name: str, sizes: dict[str, tuple[int, int]]) -> None:
    for suffix, (width, height) in sizes.items():
        page.set_viewport_size({"width": width, "height": height})
        page.evaluate("window.scrollTo(0, 0)")
        page.screenshot(path=IMAGES / f"{name}{suffix}.png")


if __name__ == "__main__":
    main()
