"""Times the page of ``nashdex play`` in headless Chromium: ``PYTHONPATH=tests python -m audits.page POLICY``.

A battle is played by clicking the first choice until it ends, and then analysed on the board. Times are wall time in
seconds. The page is opened as a file, without any network.
"""

import json
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from statistics import median, quantiles
from typing import Annotated

import typer
from playwright.sync_api import BrowserContext

from nashdex.core.errors import NashdexError
from nashdex.page.writing import write_play_page
from nashdex.runs.played_format import format_to_play
from support.browser import chromium_path, open_tab, running_browser

_TIMEOUT_MS = 300_000
_MOST_CHOICES = 500


def main(
    policy: Annotated[str, typer.Argument(help="Policy to play against: zoo:NAME or RUN#newest.")],
    format_id: Annotated[str | None, typer.Option("--format", help="By default the policy's own.")] = None,
    battles: Annotated[int, typer.Option(min=1, help="Battles, each in a fresh tab.")] = 3,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the first battle.")] = 1,
) -> None:
    """Print the page's size, and medians over the battles, as JSON."""
    if chromium_path() is None:
        sys.exit("error: no chromium or google-chrome on PATH; install one")
    try:
        chosen = format_to_play(format_id, {"POLICY": policy})
        with tempfile.TemporaryDirectory() as folder:
            began = time.monotonic()
            file = write_play_page(chosen, [policy], Path(folder))
            written_seconds = time.monotonic() - began
            with running_browser() as context:
                context.set_default_timeout(_TIMEOUT_MS)
                found = [time_battle(context, file.as_uri(), seed + number) for number in range(battles)]
            size_bytes = file.stat().st_size
    except NashdexError as error:
        sys.exit(f"error: {error}")
    answers = [each for one in found for each in one.answer_seconds]
    result = {
        "policy": policy,
        "format": chosen,
        "page_bytes": size_bytes,
        "written_seconds": written_seconds,
        "first_choice_seconds": median(one.first_choice_seconds for one in found),
        "answers": len(answers),
        "answer_seconds_p50": median(answers),
        "answer_seconds_p95": quantiles(answers, n=20)[-1],
        "turns": [one.turns for one in found],
        "analysis_seconds": [one.analysis_seconds for one in found],
    }
    sys.stdout.write(f"{json.dumps(result, indent=2)}\n")


@dataclass(frozen=True)
class TimedBattle:
    """A battle on the page. Times are in seconds."""

    first_choice_seconds: float
    """From opening the page to the first choice."""
    answer_seconds: list[float]
    """From each click to the next choice: the policy's decision and the simulator's turn."""
    analysis_seconds: float
    turns: int


def time_battle(context: BrowserContext, url: str, seed: int) -> TimedBattle:
    """Play a battle in a new tab and analyse it; return its times."""
    began = time.monotonic()
    page = open_tab(context, url).page
    page.wait_for_selector("form.setup")
    page.fill("#seed", str(seed))
    page.click("button[type=submit]")
    page.wait_for_selector("button.choice")
    first_choice = time.monotonic() - began
    answers: list[float] = []
    while page.locator("button.choice").count() and len(answers) < _MOST_CHOICES:
        asked = time.monotonic()
        page.locator("button.choice").first.click()
        page.wait_for_selector("main:not([aria-busy])")
        answers.append(time.monotonic() - asked)
    asked = time.monotonic()
    page.get_by_role("button", name="Analyse").click()
    page.wait_for_selector("svg.curve")
    page.wait_for_selector("progress", state="detached")
    analysis = time.monotonic() - asked
    page.keyboard.press("End")
    page.keyboard.press("ArrowLeft")
    turn = page.locator("h3:has-text('Turn')").first.inner_text()
    page.close()
    return TimedBattle(first_choice, answers, analysis, int(turn.split()[1]))


if __name__ == "__main__":
    typer.run(main)
