"""The page of `nashdex play` in a real browser: battles, help, the board, files, and equality with `nashdex battle`."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import pytest
from playwright.sync_api import BrowserContext, Page

from nashdex.core.ids import PolicyId
from nashdex.games.registry import showdown_game
from nashdex.page.bundle import page_directory
from nashdex.page.writing import write_play_page
from nashdex.rollout.pairs import PairedBattles
from nashdex.rollout.session import Session
from nashdex.store import open_store
from support.begun_runs import begin_run
from support.browser import Tab, chromium_path, open_tab, running_browser
from support.made_runs import finish_iteration
from support.stored_network import stored_network

pytestmark = [
    pytest.mark.integration,
    pytest.mark.slow,
    pytest.mark.skipif(chromium_path() is None, reason="no chromium or google-chrome on PATH"),
]

FORMAT = "gen1randombattle"
SEED = 7
MOST_CHOICES = 500
TIMEOUT_MS = 120_000


@pytest.fixture(scope="module")
def policy(tmp_path_factory: pytest.TempPathFactory) -> str:
    return stored_network(tmp_path_factory.mktemp("store"), FORMAT)


@pytest.fixture(scope="module")
def page_file(policy: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_play_page(FORMAT, [policy, "random", "max-power"], tmp_path_factory.mktemp("page"))


@pytest.fixture(scope="module")
def browser() -> Iterator[BrowserContext]:
    with running_browser() as context:
        context.set_default_timeout(TIMEOUT_MS)
        yield context


@pytest.fixture
def tab(browser: BrowserContext, page_file: Path) -> Iterator[Tab]:
    found = open_tab(browser, page_file.as_uri())
    found.page.wait_for_selector("form.setup")
    yield found
    assert found.problems == []
    assert all(re.match("file:|blob:|data:", url) for url in found.requests)
    found.page.close()


def serious_problems(page: Page) -> list[str]:
    """Return what axe finds that keeps somebody from using the page."""
    axe = page_directory() / "node_modules" / "axe-core" / "axe.min.js"
    page.evaluate(axe.read_text("utf-8"))
    found = page.evaluate("async () => (await axe.run()).violations")
    return [f"{each['id']}: {each['nodes'][0]['html']}" for each in found if each["impact"] in ("serious", "critical")]


def begin(page: Page, *, opponent: str = "made", side: str = "0", seed: int = SEED) -> None:
    page.select_option("#opponent", label=opponent)
    page.select_option("#side", side)
    page.fill("#seed", str(seed))
    page.click("button[type=submit]")
    page.wait_for_selector("button.choice")


def play_to_the_end(page: Page, *, by_key: bool) -> None:
    for _ in range(MOST_CHOICES):
        if page.locator("button.choice").count() == 0:
            return
        if by_key:
            page.keyboard.press("1")
        else:
            page.locator("button.choice").first.click()
        page.wait_for_selector("main:not([aria-busy])")
    pytest.fail(f"the battle goes on after {MOST_CHOICES} choices")


def saved(page: Page, name: str) -> dict[str, object]:
    with page.expect_download() as download:
        page.get_by_role("button", name=name).click()
    found: dict[str, object] = json.loads(download.value.path().read_text("utf-8"))
    return found


MIXED_RUN = """
format = "gen1randombattle"
iterations = 1
[population]
initial = ["random", "max-power"]
[network]
kind = "slots"
embedding_size = 4
entity_size = 8
hidden_size = 32
num_hidden_layers = 1
[collect]
battles = 2
shards = 1
[train]
first = "fresh"
[evaluate]
battles_per_pair = 2
shards = 1
[solve]
meta_solver = "uniform"
num_draws = 100
"""


def test_a_mixture_gives_hints_and_a_battle_with_help_does_not_count(browser: BrowserContext, tmp_path: Path) -> None:
    settings = tmp_path / "mixed.toml"
    settings.write_text(MIXED_RUN)
    run = begin_run(str(tmp_path / "store"), settings, name="mixed")
    finish_iteration(run.store, run.settings, 0)
    file = write_play_page(FORMAT, [f"{tmp_path / 'store'}/mixed#nash"], tmp_path / "page")
    found = open_tab(browser, file.as_uri())
    page = found.page
    page.wait_for_selector("form.setup")
    page.fill("#seed", str(SEED))
    page.click("button[type=submit]")
    page.wait_for_selector("button.choice")
    page.get_by_role("button", name="Hint").click()
    page.wait_for_selector("text=in your seat would choose")
    play_to_the_end(page, by_key=False)
    assert "this battle does not count in the score" in page.locator("main").inner_text()
    assert found.problems == []
    found.page.close()


@pytest.mark.parametrize("by_key", [False, True])
def test_a_person_plays_a_whole_battle_and_sees_it_on_the_board(tab: Tab, *, by_key: bool) -> None:
    page = tab.page
    begin(page, side="1")
    play_to_the_end(page, by_key=by_key)
    assert re.search("win|draw", page.locator("h2").first.inner_text())
    page.get_by_role("button", name="Analyse").click()
    page.wait_for_selector("svg.curve")
    assert re.search(r"(You|made) won\.|no winner", page.locator(".summary").inner_text())
    page.wait_for_selector("progress", state="detached")
    page.keyboard.press("Home")
    page.wait_for_selector("h3:has-text('Turn 1')")
    played = page.locator("tr.played")
    assert played.count() == 2
    # Every decision's probabilities are a distribution, and the played choice has a value.
    for row in played.all():
        assert re.search(r"\d+ %.*\d+ %", row.inner_text(), re.DOTALL)
    page.keyboard.press("End")
    page.wait_for_selector("h3:has-text('The end')")


def test_undo_takes_back_a_turn_and_help_does_not_count(tab: Tab) -> None:
    page = tab.page
    begin(page)
    page.locator("button.choice").first.click()
    page.wait_for_selector("h2:has-text('Turn 2')")
    page.keyboard.press("u")
    page.wait_for_selector("h2:has-text('Turn 1')")
    assert "does not count" in page.locator("main").inner_text()
    page.keyboard.press("h")
    page.wait_for_selector(".notice:has-text('would choose')")
    page.get_by_role("button", name="Resign").click()
    page.wait_for_selector("h2:has-text('You resigned')")
    page.get_by_role("button", name="New battle").click()
    assert "Your score" not in page.locator("main").inner_text()


def test_in_doubles_a_key_goes_back_to_the_first_pokemon(browser: BrowserContext, tmp_path: Path) -> None:
    file = write_play_page("gen9randomdoublesbattle", ["random"], tmp_path / "page")
    found = open_tab(browser, file.as_uri())
    page = found.page
    page.wait_for_selector("form.setup")
    page.fill("#seed", str(SEED))
    page.click("button[type=submit]")
    page.wait_for_selector("button.choice")
    first = page.locator("button.choice .name").all_inner_texts()
    page.keyboard.press("1")
    page.get_by_text(f"Second Pokémon (first: {first[0]})", exact=True).wait_for()
    page.keyboard.press("Backspace")
    page.get_by_text("First Pokémon", exact=True).wait_for()
    assert page.locator("button.choice .name").all_inner_texts() == first
    page.keyboard.press("2")
    page.get_by_text(f"Second Pokémon (first: {first[1]})", exact=True).wait_for()
    play_to_the_end(page, by_key=True)
    assert re.search("win|draw", page.locator("h2").first.inner_text())
    assert found.problems == []
    page.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_serious_on_any_screen(tab: Tab, scheme: Literal["light", "dark"]) -> None:
    page = tab.page
    page.emulate_media(color_scheme=scheme)
    assert serious_problems(page) == []
    begin(page)
    assert serious_problems(page) == []
    page.get_by_role("button", name="Resign").click()
    page.get_by_role("button", name="Analyse").wait_for()
    assert serious_problems(page) == []
    page.get_by_role("button", name="New battle").click()
    page.select_option("#side", "watch")
    page.click("button[type=submit]")
    page.wait_for_selector("svg.curve")
    assert serious_problems(page) == []


def test_play_on_from_a_turn_of_the_board(tab: Tab) -> None:
    page = tab.page
    begin(page, opponent="max-power")
    play_to_the_end(page, by_key=False)
    page.get_by_role("button", name="Analyse").click()
    page.wait_for_selector("svg.curve")
    page.keyboard.press("Home")
    page.get_by_role("button", name="as side 2").click()
    page.wait_for_selector("h2:has-text('Turn 1')")
    assert page.locator("button.choice").count() > 0


def test_two_policies_play_the_battle_that_python_plays(tab: Tab, policy: str) -> None:
    page = tab.page
    for number, (first, second) in enumerate([("made", "made"), ("made", "max-power"), ("random", "made")]):
        page.select_option("#opponent", label=first)
        page.select_option("#side", "watch")
        page.select_option("#other", label=second)
        page.fill("#seed", str(SEED + number))
        page.click("button[type=submit]")
        page.wait_for_selector("svg.curve")
        record = saved(page, "Save the battle")
        assert record["log"] == python_log(policy, first, second, SEED + number)
        page.get_by_role("button", name="New battle").click()


def python_log(policy: str, first: str, second: str, seed: int) -> str | None:
    """Return the log of the battle that `nashdex battle --seed` plays first."""
    store, _, made = policy.rpartition("#")
    ids = tuple(PolicyId(made if name == "made" else name) for name in (first, second))
    game = showdown_game(FORMAT)
    with Session(game.open_arena(num_gateways=1), 1) as session:
        session.load(open_store(store), set(ids))
        paired = PairedBattles(seed, game.teams(), 300.0)
        (finished,) = session.play([paired.assignment(0, (ids[0], ids[1]), log=True)])
    assert finished.outcome is not None
    return finished.outcome.log


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("not json", "no battle"),
        ("{}", "no battle"),
        ('{"kind": "nashdex battle", "version": 1, "format": "gen9ou"}', "this page plays gen1randombattle"),
        ('{"kind": "nashdex battle", "version": 1, "format": "gen1randombattle", "steps": [[[0]]]}', "not whole"),
        ("[" * 2_000_000, "at most"),
    ],
)
def test_a_wrong_file_gets_one_message(tab: Tab, tmp_path: Path, text: str, message: str) -> None:
    file = tmp_path / "battle.json"
    file.write_text(text)
    tab.page.set_input_files("#file", file)
    tab.page.wait_for_selector(".problem:has-text('')")
    tab.page.locator(".problem", has_text=message).wait_for()
