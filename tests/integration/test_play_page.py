"""The page of `nashdex play` in a real browser: battles, help, the board, files, and equality with `nashdex battle`."""

import gzip
import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

import pytest
from playwright.sync_api import BrowserContext, Page, ViewportSize

from nashdex.core.ids import BarePolicyId, PolicyId
from nashdex.core.references import PolicyReference
from nashdex.games.registry import showdown_game
from nashdex.policies.ensembles.document import read_ensemble
from nashdex.policies.ensembles.making import make_ensemble
from nashdex.rollout.contestants import draw_policies, load_contestant
from nashdex.rollout.pairs import PairedBattles
from nashdex.rollout.session import Session
from nashdex.settings.networks import MemorySettings, PointerPairsSettings, PointerSettings
from nashdex.store import open_store
from nashdex_cli.cli import run_command_line
from nashdex_play.page.bundle import page_directory
from nashdex_play.page.writing import write_play_page
from support.begun_runs import TINY_TRAINING, begin_run
from support.browser import Tab, chromium_path, open_tab, running_browser
from support.made_runs import finish_iteration
from support.stored_network import SLOTS, stored_network

pytestmark = [
    pytest.mark.integration,
    pytest.mark.slow,
    pytest.mark.skipif(chromium_path() is None, reason="no chromium or google-chrome on PATH"),
]

FORMAT = "gen1randombattle"
VGC = "gen9vgc2024regg"
SEED = 7
MOST_CHOICES = 500
PHONE: ViewportSize = {"width": 390, "height": 844}
TIMEOUT_MS = 120_000


@pytest.fixture(scope="module")
def policy(tmp_path_factory: pytest.TempPathFactory) -> str:
    settings = PointerSettings(kind="pointer", **SMALL, predicts_opponent=True)
    made = stored_network(tmp_path_factory.mktemp("store"), FORMAT, settings)
    levels = ["policy", "levels", made, "--against", "random", "--battles", "4"]
    assert run_command_line([*levels, "--temperature", "0", "--temperature", "9"]) == 0
    return made


@pytest.fixture(scope="module")
def page_file(policy: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_play_page(FORMAT, [policy, "random", "max-power"], tmp_path_factory.mktemp("page"))


@pytest.fixture(scope="module")
def browser() -> Iterator[BrowserContext]:
    with running_browser() as context:
        context.set_default_timeout(TIMEOUT_MS)
        yield context


SMALL = {"embedding_size": 4, "move_size": 8, "pokemon_size": 8, "context_size": 16, "scorer_size": 8}
ENSEMBLE = "ensemble"


@pytest.fixture(scope="module")
def together(policy: str, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, str]:
    """A folder with an ensemble of two networks, one of which remembers, and the ensemble's id."""
    remembering = MemorySettings(kind="memory", **SMALL, memory_size=4)
    other = stored_network(tmp_path_factory.mktemp("other"), FORMAT, remembering)
    store = open_store(policy.rpartition("#")[0])
    made = make_ensemble(store, [PolicyReference.parse(each) for each in (policy, other)], ENSEMBLE)
    return store.uri, made.id


@pytest.fixture(scope="module")
def judges(policy: str, tmp_path_factory: pytest.TempPathFactory) -> str:
    """An ensemble whose critics value single positions."""
    wider = PointerSettings(kind="pointer", **SMALL | {"context_size": 24})
    other = stored_network(tmp_path_factory.mktemp("judge"), FORMAT, wider)
    store = open_store(policy.rpartition("#")[0])
    made = make_ensemble(store, [PolicyReference.parse(each) for each in (policy, other)], "judges")
    return f"{store.uri}#{made.id}"


@pytest.fixture
def together_tab(
    browser: BrowserContext, policy: str, together: tuple[str, str], judges: str, tmp_path: Path
) -> Iterator[Tab]:
    store, ensemble = together
    named = [f"{store}#{ensemble}", f"search:{policy}", "search:matrix-small", f"search-20:{judges}", "random"]
    found = open_tab(browser, write_play_page(FORMAT, named, tmp_path).as_uri())
    found.page.wait_for_selector("form.setup")
    yield found
    assert found.problems == []
    found.page.close()


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


MIXED_RUN = f"""
format = "gen1randombattle"
iterations = 1
[population]
initial = ["random", "max-power"]
{TINY_TRAINING}
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


def test_a_person_plays_a_whole_battle_and_sees_it_on_the_board(tab: Tab) -> None:
    page = tab.page
    begin(page, side="1")
    play_to_the_end(page, by_key=False)
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
        assert re.search(r"\d+\xa0%.*\d+\xa0%", row.inner_text(), re.DOTALL)
    page.get_by_role("button", name="Solve this turn as a matrix game").click()
    page.locator(".matrix table").wait_for()
    assert re.search(
        r"equilibrium does, made wins \d+\xa0% \(\d+\xa0% to \d+\xa0% by the dice\)",
        page.locator(".matrix").inner_text(),
    )
    shares = re.findall(r"Mixture of made: (.*?)\.", page.locator(".matrix").inner_text())
    assert 97 <= sum(map(int, re.findall(r"(\d+)\xa0%", shares[0]))) <= 103
    assert page.locator(".matrix td.both").count() == 1
    # In turn 1 each side has shown one Pokémon, and no move: everything is possible.
    assert page.get_by_text("what it has not shown 100 %").count() == 2
    page.keyboard.press("End")
    page.keyboard.press("ArrowLeft")
    assert re.search(r"Expected of (made|You): .*\d+\xa0%", page.locator(".board").inner_text())
    page.keyboard.press("End")
    page.wait_for_selector("h3:has-text('The end')")


def test_the_keyboard_goes_on_from_what_a_choice_changed(tab: Tab) -> None:
    page = tab.page
    focused = "document.activeElement.innerText"
    begin(page)
    assert page.evaluate(focused) == "Turn 1"
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    page.wait_for_selector("main:not([aria-busy])")
    assert page.evaluate(focused) == page.locator("h2").first.inner_text() != "Turn 1"
    page.keyboard.press("h")
    page.wait_for_selector(".notice:has-text('would choose')")
    assert "would choose" in page.evaluate(focused)


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


@contextmanager
def scripted_page(browser: BrowserContext, format_id: str, folder: Path) -> Iterator[Page]:
    """Open a page of ``format_id`` against ``random``, begin a battle, and check for problems afterwards."""
    found = open_tab(browser, write_play_page(format_id, ["random"], folder).as_uri())
    page = found.page
    page.wait_for_selector("form.setup")
    page.fill("#seed", str(SEED))
    page.click("button[type=submit]")
    page.wait_for_selector("button.choice")
    yield page
    assert found.problems == []
    assert all(re.match("file:|blob:|data:", url) for url in found.requests)
    page.close()


def test_on_a_phone_nothing_is_cut_off(tab: Tab) -> None:
    page = tab.page
    page.set_viewport_size(PHONE)
    width = "document.documentElement.scrollWidth"
    assert page.evaluate(width) == PHONE["width"]
    begin(page)
    assert page.evaluate(width) == PHONE["width"]
    page.locator("button.choice").first.click()
    page.wait_for_selector("main:not([aria-busy])")
    page.get_by_role("button", name="Resign").click()
    page.get_by_role("button", name="Analyse").click()
    page.wait_for_selector("svg.curve")
    page.wait_for_selector("progress", state="detached")
    assert page.evaluate(width) == PHONE["width"]
    page.keyboard.press("Home")
    page.get_by_role("button", name="Solve this turn as a matrix game").click()
    page.locator(".matrix table").wait_for()
    assert page.evaluate(width) == PHONE["width"]


TEAM = """Tauros
EVs: 252 HP / 252 Atk / 252 Def / 252 SpA / 252 SpD / 252 Spe
- Body Slam
- Hyper Beam
- Blizzard
- Earthquake
"""


def test_a_pasted_team_is_checked_and_plays(browser: BrowserContext, tmp_path: Path) -> None:
    found = open_tab(browser, write_play_page("gen1ou", ["random"], tmp_path).as_uri())
    page = found.page
    page.wait_for_selector("form.setup")
    page.fill("#team", TEAM.replace("Blizzard", "Spore"))
    page.click("button[type=submit]")
    page.locator(".problem", has_text="This team is not legal: ").wait_for()
    assert "can't learn Spore" in page.locator(".problem").inner_text()
    page.fill("#team", TEAM)
    page.fill("#seed", str(SEED))
    page.click("button[type=submit]")
    page.wait_for_selector("button.choice")
    assert page.locator(".side.own").get_by_text("Tauros").count() == 1
    play_to_the_end(page, by_key=True)
    assert re.search("win|draw", page.locator("h2").first.inner_text())
    assert found.problems == []
    page.close()


def test_levels_are_offered_with_their_measured_score(tab: Tab) -> None:
    page = tab.page
    offered = page.locator("#opponent option").all_inner_texts()
    expected = [r"made", *(rf"made, level {n} \(scores \d+\xa0% \(\d+ to \d+\) against random\)" for n in (1, 2))]
    assert all(re.fullmatch(*pair) for pair in zip([*expected, "random", "max-power"], offered, strict=True))
    begin(page, opponent=offered[1])
    page.get_by_role("button", name="Resign").click()
    page.get_by_role("button", name="Analyse").click()
    page.get_by_text("Judged by made:").wait_for()


def test_the_teacher_takes_back_clear_mistakes_once(tab: Tab) -> None:
    page = tab.page
    page.check("#teach")
    begin(page)
    insisted = 0
    for _ in range(MOST_CHOICES):
        if page.locator("button.choice").count() == 0:
            break
        page.keyboard.press("1")
        page.wait_for_selector("main:not([aria-busy])")
        if page.locator(".notice", has_text="Taken back").count():
            insisted += 1
            assert "against what is expected of made you win" in page.locator(".notice").inner_text()
            page.keyboard.press("1")
            page.wait_for_selector("main:not([aria-busy])")
    assert insisted > 0
    assert "does not count" in page.locator("main").inner_text()
    assert re.search("win|draw", page.locator("h2").first.inner_text())


def test_in_doubles_a_key_goes_back_to_the_first_pokemon(browser: BrowserContext, tmp_path: Path) -> None:
    with scripted_page(browser, "gen9randomdoublesbattle", tmp_path) as page:
        first = page.locator("button.choice .name").all_inner_texts()
        page.keyboard.press("1")
        page.get_by_text(f"Second Pokémon (first: {first[0]})", exact=True).wait_for()
        assert page.evaluate("document.activeElement.innerText").startswith("Second Pokémon")
        page.keyboard.press("Backspace")
        page.get_by_text("First Pokémon", exact=True).wait_for()
        assert page.locator("button.choice .name").all_inner_texts() == first
        page.keyboard.press("2")
        page.get_by_text(f"Second Pokémon (first: {first[1]})", exact=True).wait_for()


@pytest.mark.parametrize("format_id", ["gen9randombattle", VGC])
def test_whole_battles_of_generation_9_by_key_and_by_mouse(
    browser: BrowserContext, tmp_path: Path, format_id: str
) -> None:
    with scripted_page(browser, format_id, tmp_path) as page:
        if format_id == VGC:
            leads = choose_leads(page)
            page.locator("h2", has_text="Turn 1").wait_for()
            assert set(page.locator(".side.own .actives strong").all_inner_texts()) == leads
        play_to_the_end(page, by_key=True)
        page.keyboard.press("m")
        page.wait_for_selector("button.choice")
        play_to_the_end(page, by_key=False)
        assert re.search("win|draw", page.locator("h2").first.inner_text())
        assert re.search(r"Turn \d+", page.locator(".log").inner_text())
        page.get_by_role("button", name="Analyse").click()
        page.wait_for_selector("h3:has-text('Team Preview'), h3:has-text('Turn')")
        page.keyboard.press("End")
        page.wait_for_selector("h3:has-text('The end')")
        page.keyboard.press("n")  # No policy here judges, so there is no mistake to go to.
        assert page.locator("h3", has_text="The end").count() == 1


def choose_leads(page: Page) -> set[str]:
    """Choose the third and the first Pokémon to lead at Team Preview, and two behind; return the leads' names."""
    page.locator("h2", has_text="Team Preview").wait_for()
    names = page.locator("button.choice.switch .name").all_inner_texts()
    for key in "3112":
        page.keyboard.press(key)
        page.wait_for_selector("main:not([aria-busy])")
    return {name.removeprefix("Switch to ") for name in (names[2], names[0])}


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


def test_playing_on_from_two_turns_keeps_both_variations(tab: Tab, tmp_path: Path) -> None:
    page = tab.page
    begin(page, opponent="max-power")
    play_to_the_end(page, by_key=False)
    page.get_by_role("button", name="Analyse").click()
    for turn, side in ((1, 2), (2, 1)):
        page.wait_for_selector("svg.curve")
        if turn == 2:
            page.select_option("label:has-text('Line') select", "0")
            page.wait_for_selector("svg.curve")
        page.keyboard.press("Home")
        for _ in range(turn - 1):
            page.keyboard.press("ArrowRight")
        page.locator("h3", has_text=f"Turn {turn}").first.wait_for()
        page.get_by_role("button", name=f"as side {side}").click()
        page.locator("button.choice").nth(1).click()
        page.wait_for_selector("main:not([aria-busy])")
        page.get_by_role("button", name="Resign").click()
        page.get_by_role("button", name="Analyse").click()
    page.wait_for_selector("svg.curve")
    lines = page.locator("label:has-text('Line') select option").all_inner_texts()
    assert lines == [
        "1: the battle",
        "2: from turn 1 of line 1, made against You",
        "3: from turn 2 of line 1, You against made",
    ]
    assert page.locator("h2").first.inner_text() == "You against made"
    assert serious_problems(page) == []
    page.set_viewport_size(PHONE)
    assert page.evaluate("document.documentElement.scrollWidth") == PHONE["width"]
    with page.expect_download() as download:
        page.get_by_role("button", name="Save the battle").click()
    file = tmp_path / "battle.json"
    download.value.save_as(file)
    page.get_by_role("button", name="New battle").click()
    page.set_input_files("#file", file)
    page.wait_for_selector("svg.curve")
    assert page.locator("label:has-text('Line') select option").all_inner_texts() == lines
    page.select_option("label:has-text('Line') select", "1")
    page.locator("h2", has_text="made against You").wait_for()
    assert "made won." in page.locator(".summary").inner_text()


def test_two_policies_play_the_battle_that_python_plays(tab: Tab, policy: str) -> None:
    page = tab.page
    for number, (first, second) in enumerate([("made", "made"), ("made", "max-power"), ("random", "made")]):
        record = watched(page, first, second, SEED + number)
        players = [policy if name == "made" else name for name in (first, second)]
        assert record["log"] == python_log(players[0], players[1], SEED + number)
        page.get_by_role("button", name="New battle").click()


def watched(page: Page, first: str, second: str, seed: int) -> dict[str, object]:
    """Let two policies of the page play, and return the battle as the board saves it."""
    page.select_option("#opponent", label=first)
    page.select_option("#side", "watch")
    page.select_option("#other", label=second)
    page.fill("#seed", str(seed))
    page.click("button[type=submit]")
    page.wait_for_selector("svg.curve")
    return saved(page, "Save the battle")


def test_ensembles_and_searches_play_the_battle_that_python_plays(
    together_tab: Tab, together: tuple[str, str], judges: str, policy: str
) -> None:
    page = together_tab.page
    offered = page.locator("#opponent option").all_inner_texts()
    searching, judged = offered[1], "search-20:judges"
    assert offered == [ENSEMBLE, searching, "search:matrix-small", judged, "random"], "members play no battle alone"
    assert searching.startswith("search:made")
    store, ensemble = together
    by_name = {ENSEMBLE: f"{store}#{ensemble}", searching: f"search:{policy}", judged: f"search-20:{judges}"}
    pairs = [(ENSEMBLE, "search:matrix-small"), ("random", searching), ("random", judged)]
    for number, (first, second) in enumerate(pairs):
        record = watched(page, first, second, SEED + number)
        names = [by_name.get(name, name) for name in (first, second)]
        assert record["log"] == python_log(names[0], names[1], SEED + number)
        page.wait_for_selector("progress", state="detached")
        assert page.get_by_text(f"Judged by {ENSEMBLE}:").count() == 1
        page.get_by_role("button", name="New battle").click()


def test_what_no_page_plays_is_refused_by_name(
    policy: str, together: tuple[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    store, ensemble = together
    (other,) = (
        each
        for each in read_ensemble(open_store(store), BarePolicyId(PolicyId(ensemble))).members
        if each not in policy
    )
    refused = {
        f"search:{store}#{ensemble}": "its critic needs the whole battle",
        f"search:{store}#{other}": "its critic needs the whole battle",
        "heuristic": "'heuristic' cannot play in a page",
        "search:poke-engine": "'search:poke-engine' cannot play in a page",
    }
    for name, message in refused.items():
        assert run_command_line(["play", name, "--format", FORMAT, "--output", str(tmp_path)]) == 64
        found = capsys.readouterr().err
        assert message in found
        assert found.count("\n") == 1
    assert run_command_line(["play", "search:matrix", "--format", VGC, "--output", str(tmp_path)]) == 64
    assert "'search:matrix' cannot play in a page of gen9vgc2024regg" in capsys.readouterr().err


def python_log(first: str, second: str, seed: int) -> str | None:
    """Return the log of the battle that `nashdex battle --seed` plays first."""
    game = showdown_game(FORMAT)
    with Session(game.open_arena(num_gateways=1), 1) as session:
        contestants = load_contestant(first, session.space), load_contestant(second, session.space)
        for contestant in contestants:
            session.policies |= contestant.policies
        paired = PairedBattles(seed, game.teams(), 300.0)
        players = draw_policies(contestants, paired, 0)
        (finished,) = session.play([paired.assignment(0, players, log=True)])
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


SCRIPT = "<img src=x onerror=window.didRun=1><script>window.didRun=1</script>"
MOST_BYTES = 2**20
MOST_GAP_MS = 1000


@pytest.fixture(scope="module")
def log() -> str:
    """A whole battle of the page's format."""
    game = showdown_game(FORMAT)
    players = (PolicyId("random"), PolicyId("random"))
    with Session(game.open_arena(num_gateways=1), 1) as session:
        session.load(open_store("."), set(players))
        (finished,) = session.play([PairedBattles(SEED, game.teams(), 300.0).assignment(0, players, log=True)])
    assert finished.outcome is not None
    assert finished.outcome.log is not None
    return finished.outcome.log


def hostile(log: str, case: str) -> str:
    """Return the log as ``case`` says."""
    middle = log.index("|move|", len(log) // 2) + len("|move|p1")
    full = log + "|c|user|spam\n|-message|spam\n" * ((MOST_BYTES - len(log)) // 28)
    texts = {
        "another format": log.replace("|tier|[Gen 1] Random Battle", "|tier|[Gen 9] OU"),
        "cut mid-line": log[:middle],
        "cut between lines": log[: log.index("\n", middle)],
        "a megabyte": full,
        "more than a megabyte": full + "|c|user|" + "spam" * 10,
        "a turn of a megabyte": log[:middle] + "|-damage|p1a: x|1/100\n" * ((MOST_BYTES - middle) // 23),
        "a line of a megabyte": log + "|-message|" + "x" * (MOST_BYTES - len(log) - 20),
        "scripts": log.replace("Player 1", f"{SCRIPT}1").replace("Player 2", f"{SCRIPT}2")
        + f"|c|{SCRIPT}|{SCRIPT}\n|-message|{SCRIPT}\n|raw|{SCRIPT}\n|html|{SCRIPT}\n|uhtml|x|{SCRIPT}\n",
    }
    return texts[case]


@pytest.mark.parametrize(
    ("case", "message"),
    [
        ("another format", "this page plays gen1randombattle"),
        ("cut mid-line", "cannot be read at |move|p"),
        ("cut between lines", None),
        ("a megabyte", None),
        ("more than a megabyte", "expected a battle of at most"),
        ("a turn of a megabyte", None),
        ("a line of a megabyte", "expected at most 4096"),
        ("scripts", None),
    ],
)
def test_a_hostile_log_gets_one_message_or_its_board(
    tab: Tab, tmp_path: Path, log: str, case: str, message: str | None
) -> None:
    page = tab.page
    page.evaluate(
        """() => {
            window.longest = 0;
            new PerformanceObserver((list) => {
                window.longest = Math.max(window.longest, ...list.getEntries().map(({ duration }) => duration));
            }).observe({ type: "longtask" });
        }"""
    )
    file = tmp_path / "battle.log"
    file.write_text(hostile(log, case))
    page.set_input_files("#file", file)
    if message is None:
        page.wait_for_selector("h3:has-text('Turn 1')")
        page.keyboard.press("End")
        page.wait_for_selector("h3:has-text('The end')")
        page.keyboard.press("ArrowLeft")
        page.wait_for_selector("h3:has-text('Turn')")
        assert page.locator(".problem").count() == 0
    else:
        page.locator(".problem", has_text=message).wait_for()
    assert page.evaluate("window.longest") < MOST_GAP_MS
    assert page.evaluate("window.didRun") is None
    assert page.locator("main img, main script").count() == 0


REAL = Path(__file__).parents[1] / "data"


def real_battles(format_id: str) -> list[str]:
    """Return logs of battles that people played, as text that the page opens; of doubles every third one."""
    if format_id == "gen1ou":
        return [file.read_text("utf-8") for file in sorted((REAL / "metamon" / "logs").glob("gen1ou-*.json"))]
    rows = gzip.decompress((REAL / "vgc" / f"real-{format_id}.jsonl.gz").read_bytes()).decode().splitlines()
    return ["\n".join(json.loads(row)["log"]) for row in rows[::3]]


@pytest.mark.parametrize(("format_id", "count"), [("gen1ou", 3), ("gen9vgc2023regc", 6)])
def test_battles_of_people_open_on_the_board(
    browser: BrowserContext, tmp_path: Path, format_id: str, count: int
) -> None:
    is_doubles = format_id != "gen1ou"
    settings = PointerPairsSettings(kind="pointer-pairs", **SMALL) if is_doubles else SLOTS
    judge = stored_network(tmp_path / "store", format_id, settings)
    found = open_tab(browser, write_play_page(format_id, [judge], tmp_path / "page").as_uri())
    page = found.page
    texts = real_battles(format_id)
    assert len(texts) == count
    for number, text in enumerate(texts):
        page.wait_for_selector("form.setup")
        file = tmp_path / f"{number}.json"
        file.write_text(text)
        page.set_input_files("#file", file)
        page.wait_for_selector("svg.curve")
        page.keyboard.press("Home")
        page.locator("h3", has_text=re.compile("Turn 1$|Team Preview")).wait_for()
        page.keyboard.press("End")
        page.wait_for_selector("h3:has-text('The end')")
        winner = re.search(r"\|win\|([^|\\\n\"]+)", text)
        assert winner is not None
        assert f"{winner[1]} won." in page.locator(".summary").inner_text()
        assert page.locator(".problem").count() == 0
        page.get_by_role("button", name="New battle").click()
    assert found.problems == []
    assert all(re.match("file:|blob:|data:", url) for url in found.requests)
    page.close()
