"""A report with the analysis board in it, in a real browser: battles open there, offline, and payoffs lead to them."""

import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, Page

from nashdex.games.showdown.replays import PLAYER_HOST
from nashdex.report import step as report_step
from nashdex.store import open_store
from nashdex_cli.cli import run_command_line
from nashdex_play.page.writing import report_board
from support.browser import Tab, chromium_path, open_tab, running_browser
from support.made_runs import LOG, made_settings, make_iteration
from support.stored_network import stored_network

pytestmark = [
    pytest.mark.integration,
    pytest.mark.slow,
    pytest.mark.skipif(chromium_path() is None, reason="no chromium or google-chrome on PATH"),
]

TIMEOUT_MS = 60_000
MOST_BYTES = 10_000_000


@pytest.fixture(scope="module")
def report_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The report of a run, moved away from its store."""
    settings = made_settings().model_copy(update={"format": "gen1randombattle"})  # the log's
    store = open_store(str(tmp_path_factory.mktemp("run"))).at("made-run")
    for iteration in range(settings.iterations):
        make_iteration(store, settings, iteration)
        report_step.run(store, settings, iteration, 0)
    judge = stored_network(tmp_path_factory.mktemp("judge"), settings.format)
    written, moved = tmp_path_factory.mktemp("written") / "report.html", tmp_path_factory.mktemp("sent") / "r.html"
    measured = tmp_path_factory.mktemp("measured") / "calibration.json"
    facts = {
        "is_self_play": True,
        "battles": 20,
        "decisions": 900,
        "error": 0.012,
        "error_low": 0.01,
        "error_high": 0.02,
    }
    measured.write_text(json.dumps({"policy_id": judge.partition("#")[2], **facts}))
    report_step.write_page(store, written, report_board(settings.format, [judge], [measured]))
    shutil.move(written, moved)
    return moved


@pytest.fixture(scope="module")
def browser() -> Iterator[BrowserContext]:
    with running_browser() as context:
        context.set_default_timeout(TIMEOUT_MS)
        yield context


@pytest.fixture
def tab(browser: BrowserContext, report_file: Path) -> Iterator[Tab]:
    found = open_tab(browser, report_file.as_uri())
    yield found
    assert found.problems == []
    assert all(re.match("file:|blob:|data:", url) for url in found.requests)
    found.page.close()


def plain(text: str) -> str:
    return text.replace("\N{NO-BREAK SPACE}", " ").strip()


def opened(browser: BrowserContext, page: Page, selector: str) -> tuple[Page, list[str]]:
    """Return the page that a click on ``selector`` opens, and what it says on its console and asks for."""
    seen: list[str] = []
    with browser.expect_page() as opening:
        page.locator(selector).first.click()
    new = opening.value
    new.on("console", lambda message: seen.append(message.text) if message.type == "error" else None)
    new.on("pageerror", lambda error: seen.append(str(error)))
    new.on("request", lambda request: seen.append(request.url) if not re.match("blob:|data:", request.url) else None)
    return new, seen


@pytest.mark.parametrize("where", ["#summary a[data-board]", "#replays a[data-board]"])
def test_a_battle_opens_on_the_board_and_is_judged_offline(
    browser: BrowserContext, tab: Tab, report_file: Path, where: str
) -> None:
    assert report_file.stat().st_size < MOST_BYTES
    board, seen = opened(browser, tab.page, where)
    board.wait_for_selector("svg.curve")
    report = json.loads(tab.page.locator("#report-json").text_content() or "")
    battle = tab.page.locator(where).first.get_attribute("data-board")
    names = {policy["id"]: policy["name"] for policy in report["policies"]}
    first, second = next(each["policies"] for each in report["replays"] if each["name"] == battle)
    assert board.locator("h2").inner_text() == f"{names[first]} against {names[second]}"
    board.keyboard.press("Home")
    board.wait_for_selector("h3:has-text('Turn 1')")
    assert board.locator(".decision th[scope=col]").all_inner_texts()[:2] == ["Choice", "Policy"]
    assert "Wins after it" not in board.locator("main").inner_text(), "a log has no dice to try choices with"
    board.keyboard.press("End")
    board.wait_for_selector("h3:has-text('The end')")
    assert "Judged by made" in board.locator("main").inner_text()
    assert "In 20 other battles against itself, 900 decisions, the expected" in board.locator("main").inner_text()
    assert seen == []
    board.close()


def test_showdowns_viewer_and_the_download_remain(browser: BrowserContext, tab: Tab) -> None:
    viewer, _ = opened(browser, tab.page, "#replays a[data-page][target]")
    assert LOG.splitlines()[-3] in (viewer.locator(".battle-log-text").text_content() or "")
    assert PLAYER_HOST in viewer.content()
    viewer.close()
    assert tab.page.locator("#replays a[download]").count() == tab.page.locator("#replays a[data-board]").count()


@pytest.mark.parametrize("by_key", [False, True])
def test_a_payoff_leads_to_its_battles(tab: Tab, *, by_key: bool) -> None:
    cell = tab.page.locator("table.matrix td:has(a)").first
    if by_key:
        cell.focus()
        tab.page.keyboard.press("Enter")
    else:
        cell.locator("a").click()
    row = tab.page.locator("tr:target")
    row.wait_for()
    names = [plain(name) for name in tab.page.locator("table.matrix tbody th").all_inner_texts()]
    first, second = map(int, tab.page.url.rpartition("#battles-")[2].split("-"))
    assert (first, second) == (0, 1)
    assert f"{names[first]} against {names[second]}" in plain(row.inner_text())
    assert row.locator("a[data-board]").count() > 0


def test_judges_without_a_board_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    output = str(tmp_path / "r.html")
    assert run_command_line(["report", str(tmp_path), "--output", output, "--judge", "random"]) == 64
    assert "add --board" in capsys.readouterr().err
