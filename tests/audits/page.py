"""Times the page of ``nashdex play`` in headless Chromium: ``PYTHONPATH=tests python -m audits.page POLICY``.

A battle is played by clicking the first choice until it ends, and then analysed on the board. A battle of the policy
with itself of at least 40 turns is analysed too. Times are in seconds: wall time, and CPU time of the browser, which
says more on a machine with other work. The page is opened as a file, without any network.
"""

import json
import os
import sys
import tempfile
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from statistics import median, quantiles
from typing import Annotated

import psutil
import typer
from playwright.sync_api import BrowserContext

from nashdex.core.errors import NashdexError
from nashdex.runs.played_format import format_to_play
from nashdex_play.page.writing import write_play_page
from support.browser import chromium_path, open_tab, running_browser

_TIMEOUT_MS = 300_000
_MOST_CHOICES = 500
_LONG_TURNS = 40
_MOST_WATCHED = 60
"""Battles of the policy with itself that are looked at for a long one."""


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
                long = time_long_analysis(context, file.as_uri(), seed)
            size_bytes = file.stat().st_size
    except NashdexError as error:
        sys.exit(f"error: {error}")
    answers = [each for one in found for each in one.answer_seconds]
    result = {
        "policy": policy,
        "format": chosen,
        "page_bytes": size_bytes,
        "written_seconds": written_seconds,
        "load_average": os.getloadavg()[0],
        "first_choice_seconds": median(one.first_choice.wall for one in found),
        "first_choice_seconds_least": min(one.first_choice.wall for one in found),
        "first_choice_cpu_seconds": median(one.first_choice.cpu for one in found),
        "answers": len(answers),
        "answer_seconds_p50": median(answers),
        "answer_seconds_p95": quantiles(answers, n=20)[-1],
        "turns": [one.turns for one in found],
        "answers_cpu_seconds_mean": sum(one.answers_cpu for one in found) / len(answers),
        "analysis_seconds": [one.analysis.wall for one in found],
        "analysis_cpu_seconds": [one.analysis.cpu for one in found],
        "long_battle_turns": None if long is None else long[0],
        "long_analysis_seconds": None if long is None else long[1].wall,
        "long_analysis_cpu_seconds": None if long is None else long[1].cpu,
    }
    sys.stdout.write(f"{json.dumps(result, indent=2)}\n")


@dataclass(frozen=True)
class Spent:
    """Seconds."""

    wall: float
    cpu: float
    """Of the browser's processes, user and system."""


class Watch:
    """Measures from its making."""

    def __init__(self) -> None:
        self._wall, self._cpu = time.monotonic(), _cpu_seconds()

    def spent(self) -> Spent:
        """Return what was spent since then."""
        spent = (seconds - self._cpu.get(pid, 0.0) for pid, seconds in _cpu_seconds().items())
        return Spent(time.monotonic() - self._wall, sum(spent))


def _cpu_seconds() -> dict[int, float]:
    """Return the CPU time of each running process that this one has started."""
    found = {}
    for process in psutil.Process().children(recursive=True):
        with suppress(psutil.NoSuchProcess):
            times = process.cpu_times()
            found[process.pid] = times.user + times.system
    return found


@dataclass(frozen=True)
class TimedBattle:
    """A battle on the page."""

    first_choice: Spent
    """From opening the page to the first choice."""
    answer_seconds: list[float]
    """From each click to the next choice: the policy's decision and the simulator's turn. Wall time."""
    answers_cpu: float
    """CPU seconds of all of them."""
    analysis: Spent
    turns: int


def time_battle(context: BrowserContext, url: str, seed: int) -> TimedBattle:
    """Play a battle in a new tab and analyse it; return its times."""
    began = Watch()
    page = open_tab(context, url).page
    page.wait_for_selector("form.setup")
    page.fill("#seed", str(seed))
    page.click("button[type=submit]")
    page.wait_for_selector("button.choice")
    first_choice = began.spent()
    playing = Watch()
    answers: list[float] = []
    while page.locator("button.choice").count() and len(answers) < _MOST_CHOICES:
        asked = time.monotonic()
        page.locator("button.choice").first.click()
        page.wait_for_selector("main:not([aria-busy])")
        answers.append(time.monotonic() - asked)
    played = playing.spent()
    analysing = Watch()
    page.get_by_role("button", name="Analyse").click()
    page.wait_for_selector("svg.curve")
    page.wait_for_selector("progress", state="detached")
    analysis = analysing.spent()
    page.keyboard.press("End")
    page.keyboard.press("ArrowLeft")
    turn = page.locator("h3:has-text('Turn')").first.inner_text()
    page.close()
    return TimedBattle(first_choice, answers, played.cpu, analysis, int(turn.split()[1]))


def time_long_analysis(context: BrowserContext, url: str, seed: int) -> tuple[int, Spent] | None:
    """Analyse the first battle of the policy with itself of enough turns; return its turns and time, or None."""
    page = open_tab(context, url).page
    for number in range(_MOST_WATCHED):
        page.wait_for_selector("form.setup")
        page.select_option("#side", "watch")
        page.fill("#seed", str(seed + number))
        page.click("button[type=submit]")
        page.wait_for_selector("section.board")
        watch = Watch()
        page.wait_for_selector("svg.curve")
        page.keyboard.press("End")
        page.keyboard.press("ArrowLeft")
        turns = int(page.locator("h3:has-text('Turn')").first.inner_text().split()[1])
        if turns >= _LONG_TURNS:
            page.wait_for_selector("progress", state="detached")
            spent = watch.spent()
            page.close()
            return turns, spent
        page.get_by_role("button", name="New battle").click()
    return None


if __name__ == "__main__":
    typer.run(main)
