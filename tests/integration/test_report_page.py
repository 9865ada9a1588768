"""The report's page in a real browser: it says what ``report.json`` says, asks no network for anything, and replays."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import BrowserContext, Page

from nashdex.core import keys
from nashdex.metagame.evidence import large
from nashdex.report import step as report_step
from nashdex.report.cells import PayoffCells
from nashdex.store import open_store, usage
from support.browser import Tab, chromium_path, open_tab, running_browser
from support.made_runs import LOG, ROCK_PAPER_SCISSORS, made_settings, make_iteration, make_tabular_run

pytestmark = [
    pytest.mark.integration,
    pytest.mark.skipif(chromium_path() is None, reason="no chromium or google-chrome on PATH"),
]

SECTIONS = ["summary", "payoffs", "meta-strategy", "exploitability", "ratings", "learning", "throughput", "replays"]
MAX_PAGE_BYTES = 3_000_000

Made = tuple[Path, dict[str, Any]]
"""A page's file and the report that it shows."""


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Made:
    directory = tmp_path_factory.mktemp("run")
    settings = made_settings()
    store = open_store(str(directory)).at("made-run")
    usage.count("get", 1_234_567)  # so that the first step reads more than nothing
    for iteration in range(settings.iterations):
        make_iteration(store, settings, iteration)
        report_step.run(store, settings, iteration, 0)
    output = directory / "report.html"
    report_step.write_page(store, output)
    return output, json.loads(store.get(keys.published(settings.iterations - 1, keys.REPORT)))


@pytest.fixture(scope="module")
def browser() -> Iterator[BrowserContext]:
    with running_browser() as context:
        yield context


@pytest.fixture(scope="module")
def tab(browser: BrowserContext, made: Made) -> Tab:
    return open_tab(browser, made[0].as_uri())


@pytest.fixture
def page(tab: Tab) -> Page:
    return tab.page


def shown(page: Page, selector: str) -> list[tuple[float, str]]:
    """Return value and text of every number below ``selector``."""
    found = page.evaluate(
        f"[...document.querySelectorAll({json.dumps(selector + ' data')})].map(d => [d.value, d.textContent])"
    )
    return [(float(value), text) for value, text in found]


def values_in(document: object) -> set[float]:
    """Return every number in a JSON document."""
    if isinstance(document, dict):
        return set().union(*(values_in(value) for value in document.values()))
    if isinstance(document, list):
        return set().union(*(values_in(value) for value in document))
    return {float(document)} if isinstance(document, int | float) else set()


def test_it_is_one_small_file_that_asks_for_nothing(tab: Tab, made: Made) -> None:
    assert made[0].stat().st_size < MAX_PAGE_BYTES
    assert tab.problems == []
    assert [url for url in tab.requests if not url.startswith(("file:", "data:", "blob:"))] == []
    assert len([url for url in tab.requests if url.startswith("file:")]) == 1


def test_every_section_is_there_and_says_something(page: Page) -> None:
    texts = page.evaluate(
        "Object.fromEntries([...document.querySelectorAll('main > section')].map(s => [s.id, s.innerText]))"
    )
    assert list(texts) == [*SECTIONS, "configuration"]
    assert all(len(text) > 40 for text in texts.values())
    assert not any(re.search(r"\b(None|nan|inf|undefined)\b", text) for text in texts.values())
    targets = page.evaluate("[...document.querySelectorAll('nav a')].map(a => a.getAttribute('href'))")
    assert [target.removeprefix("#") for target in targets] == [*SECTIONS[1:], "configuration"]


def test_its_numbers_are_those_of_report_json(page: Page, made: Made) -> None:
    report = made[1]
    row = report["iterations"][-1]
    known = values_in(report)
    totals = {
        float(sum(r["collection"]["throughput"]["battles"] for r in report["iterations"])),
        float(sum(r["evaluation"]["battles"] for r in report["iterations"])),
    }
    everything = shown(page, "body")
    assert len(everything) > 200
    assert {value for value, _ in everything} <= known | totals

    summary = {value for value, _ in shown(page, "#summary")}
    expected = values_in([score["rate"] for score in report["anchor_scores"]])
    gaps = [e for e in row["exploitability"] if e["estimator"] == "best_response_gap"]
    expected |= values_in([gap[key] for gap in gaps for key in ("value", "low", "high")])
    expected |= values_in([score["rate"] for score in report["trained"]["scores"]])
    expected |= values_in([report["progress"]["elo"], report["progress"]["standard_error"]])
    assert summary == expected
    cells = [cell["rate"] for line in report["payoffs"]["cells"] for cell in line if cell]
    assert [value for value, _ in shown(page, "#payoffs table")] == [
        c[k] for c in cells for k in ("value", "low", "high")
    ]


def test_numbers_are_rounded_never_changed(page: Page) -> None:
    for value, text in shown(page, "body"):
        plain = re.sub(r"[\s+%]", "", text).replace("−", "-")
        decimals = len(plain.partition(".")[2])
        scale = 100 if "%" in text else 1
        within = 0.5 * 10**-decimals + 1e-9
        # The low end of a range of shares leaves the sign to its high end. Bytes are shown in megabytes.
        assert any(abs(float(plain) - factor * value) <= within for factor in {scale, 100, 1e-6}), (value, text)


def test_the_report_can_be_taken_out_of_the_page(page: Page, made: Made) -> None:
    text = page.evaluate("fetch(document.querySelector('a[data-numbers]').href).then(r => r.text())")
    assert json.loads(text) == made[1]


def test_findings_are_readable(page: Page, made: Made) -> None:
    text = page.evaluate("document.querySelector('#summary').innerText").replace("\N{NO-BREAK SPACE}", " ")
    for finding in made[1]["findings"]:
        assert finding in text


def test_a_reader_meets_what_was_trained_first(page: Page) -> None:
    texts = page.evaluate("[...document.querySelectorAll('#summary .tiles')].map(t => t.innerText)")
    assert "where training began" in texts[0]
    assert "Mixture against" not in texts[0]
    assert "Mixture against" in texts[1]


def test_a_battle_of_the_newest_policy_is_one_click_away(browser: BrowserContext, page: Page, made: Made) -> None:
    newest = next(row["name"] for row in made[1]["policies"] if row["id"] == made[1]["trained"]["policy"])
    with browser.expect_page() as opened:
        page.click("#summary a[data-page]")
    assert newest in opened.value.content()
    opened.value.close()


def test_a_replay_opens_with_its_log(browser: BrowserContext, page: Page, made: Made) -> None:
    replay = made[1]["replays"][0]
    selector = f"a[target][data-page={json.dumps(replay['name'])}]"
    with browser.expect_page() as opening:
        page.click(selector)
    opened = opening.value
    opened.wait_for_function("(document.querySelector('.battle-log-text') || {}).textContent")
    names = {row["id"]: row["name"] for row in made[1]["policies"]}
    first, second = (names[policy] for policy in replay["policies"])
    text = opened.evaluate("document.querySelector('.battle-log-text').textContent")
    assert text == LOG.replace("Player 1", first).replace("Player 2", second)
    assert f"|win|{first}" in text
    assert opened.evaluate("document.querySelectorAll('.battle-log-data').length") == 1
    assert opened.evaluate("location.protocol") == "blob:"


def test_every_replay_can_be_downloaded(page: Page, made: Made) -> None:
    names = page.evaluate("[...document.querySelectorAll('a[download][data-page]')].map(a => a.download)")
    assert sorted(names) == sorted(f"{replay['name']}.html" for replay in made[1]["replays"])
    assert page.evaluate("[...document.querySelectorAll('a[data-page]')].every(a => a.href.startsWith('blob:'))")


POINTS = 50
"""How often a test points at a mark before it gives up: a page that is still being laid out moves under the pointer."""


def cell_title(report: dict[str, Any], row: int, column: int) -> str:
    """Return what pointing at a cell of the payoffs must say."""
    cell, policies = report["payoffs"]["cells"][row][column], report["payoffs"]["policies"]
    names = {policy["id"]: policy["name"] for policy in report["policies"]}
    rate, games = cell["rate"], cell["wins"] + cell["draws"] + cell["losses"]
    return (
        f"{names[policies[row]]} against {names[policies[column]]}: {rate['value']:.3f} ({rate['low']:.3f} to "
        f"{rate['high']:.3f}): {cell['wins']} wins, {cell['draws']} draws, {cell['losses']} losses in {games} battles, "
        f"as sure as {cell['effective_battles']:.0f} independent ones"
    )


def readout(page: Page) -> str:
    text: str = page.evaluate("document.querySelector('.readout').textContent")
    return text.replace("\N{NO-BREAK SPACE}", " ")


def test_pointing_at_a_payoff_tells_interval_and_counts(page: Page, made: Made) -> None:
    expected = cell_title(made[1], 1, 3)
    for _ in range(POINTS):
        page.hover("table.matrix tbody tr:nth-child(2) td:nth-of-type(4)")
        if readout(page) == expected:
            break
        page.wait_for_timeout(100)
    assert readout(page) == expected


def test_arrow_keys_walk_over_the_payoffs(page: Page, made: Made) -> None:
    assert page.evaluate("document.querySelectorAll('table.matrix td[tabindex=\"0\"]').length") == 1, "one stop of Tab"
    page.evaluate("document.querySelector('table.matrix td').focus()")
    for key in ("ArrowDown", "ArrowDown", "ArrowRight", "ArrowUp", "ArrowRight"):
        page.keyboard.press(key)
    assert readout(page) == cell_title(made[1], 1, 2)
    for _ in range(9):
        page.keyboard.press("ArrowLeft")
    assert readout(page) == cell_title(made[1], 1, 0), "the edge holds"
    assert page.evaluate("document.querySelectorAll('table.matrix td[tabindex=\"0\"]').length") == 1


def test_it_can_be_printed(page: Page) -> None:
    assert page.pdf().startswith(b"%PDF")


@pytest.mark.parametrize("width", [1200, 800, 390])
def test_nothing_is_cut_off_at_any_width(page: Page, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 900})
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    wide = page.evaluate(
        "[...document.querySelectorAll('main *')].filter(e => !e.closest('.scroll, svg, details:not([open])') && "
        "e.getBoundingClientRect().right > innerWidth + 1).map(e => e.outerHTML.slice(0, 80))"
    )
    assert wide == []


@pytest.fixture(scope="module")
def tabular(tmp_path_factory: pytest.TempPathFactory) -> Made:
    """The page of a solved matrix game and the report that it shows."""
    directory = tmp_path_factory.mktemp("tabular")
    store = open_store(str(directory))
    make_tabular_run(store, iterations=4, payoffs=ROCK_PAPER_SCISSORS)
    output = directory / "report.html"
    report_step.write_page(store, output)
    return output, json.loads(store.get(keys.published(3, keys.REPORT)))


@pytest.fixture(scope="module")
def tabular_tab(browser: BrowserContext, tabular: Made) -> Tab:
    return open_tab(browser, tabular[0].as_uri())


def test_the_page_of_a_tabular_game_shows_its_numbers(tabular_tab: Tab, tabular: Made) -> None:
    report = tabular[1]
    assert tabular_tab.problems == []
    assert {value for value, _ in shown(tabular_tab.page, "body")} <= values_in(report)
    exact = [value for row in report["payoffs"]["exact"] for value in row]
    diagonal = range(0, len(exact), len(report["payoffs"]["exact"]) + 1)
    expected = [value for place, value in enumerate(exact) if place not in diagonal]
    assert [value for value, _ in shown(tabular_tab.page, "#payoffs table")] == expected
    texts = tabular_tab.page.evaluate("[...document.querySelectorAll('main > section')].map(s => s.innerText)")
    assert not any(re.search(r"\b(None|nan|inf|undefined)\b|95 % (\w+ )?interval", text) for text in texts)


def test_the_labels_of_the_picture_do_not_overlap(tabular_tab: Tab, tabular: Made) -> None:
    report = tabular[1]
    labels = tabular_tab.page.evaluate("[...document.querySelectorAll('svg.disc text.label')].map(t => t.textContent)")
    assert sorted(labels) == sorted(policy["name"] for policy in report["policies"])
    boxes = tabular_tab.page.evaluate(
        "[...document.querySelectorAll('svg.disc text.label')].map(t => t.getBoundingClientRect()).map(r => "
        "[r.left, r.top, r.right, r.bottom])"
    )
    for i, (left, top, right, bottom) in enumerate(boxes):
        for other in boxes[:i]:
            assert right <= other[0] or other[2] <= left or bottom <= other[1] or other[3] <= top


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path, PayoffCells]:
    """A page that lists four of six policies, beside its part and exported, and the part."""
    directory, settings = tmp_path_factory.mktemp("many"), made_settings(battles_per_pair=8)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(large, "MOST_LISTED", 4)
        store = open_store(str(directory)).at("made-run")
        for iteration in range(settings.iterations):
            make_iteration(store, settings, iteration)
            report_step.run(store, settings, iteration, 0)
        report_step.write_page(store, directory / "exported.html")
    newest = settings.iterations - 1
    part = PayoffCells.from_json(store.get(keys.published(newest, keys.REPORT_CELLS)), keys.REPORT_CELLS)
    return directory / "made-run" / keys.published(newest, keys.REPORT_PAGE), directory / "exported.html", part


@pytest.mark.parametrize("is_exported", [False, True])
def test_all_pairs_are_loaded_on_demand(
    browser: BrowserContext, many: tuple[Path, Path, PayoffCells], *, is_exported: bool
) -> None:
    beside, exported, part = many
    opened = open_tab(browser, (exported if is_exported else beside).as_uri())
    assert len([url for url in opened.requests if url.startswith("file:")]) == 1
    opened.page.click(".all-pairs button")
    opened.page.wait_for_selector(".all-pairs canvas:not([hidden])")
    assert [url.rpartition("/")[2] for url in opened.requests[1:]] == ([] if is_exported else [keys.REPORT_CELLS])
    assert opened.problems == []
    opened.page.focus(".all-pairs canvas")
    for key in ("ArrowDown", "ArrowDown", "ArrowDown"):  # from row 0, column 1
        opened.page.keyboard.press(key)
    cell = part.cell(3, 1)
    assert cell is not None
    rate, games = cell.rate, cell.wins + cell.draws + cell.losses
    assert opened.page.inner_text(".all-pairs [role=status]") == (
        f"{part.names[3]} against {part.names[1]}: {rate.value:.3f} ({rate.low:.3f} to {rate.high:.3f}): {cell.wins} "
        f"wins, {cell.draws} draws, {cell.losses} losses in {games} battles, as sure as "
        f"{cell.effective_battles:.0f} independent ones"
    )
    opened.page.close()


def test_a_page_without_its_part_says_so(
    browser: BrowserContext, many: tuple[Path, Path, PayoffCells], tmp_path: Path
) -> None:
    alone = tmp_path / "report.html"
    alone.write_bytes(many[0].read_bytes())
    opened = open_tab(browser, alone.as_uri())
    opened.page.click(".all-pairs button")
    opened.page.wait_for_selector(".all-pairs [role=status]:not([hidden])")
    assert "is not beside this page" in opened.page.inner_text(".all-pairs [role=status]")
    opened.page.close()
