"""Battles in the report's page: payoffs lead to them, and the analysis board is in the page if it was asked for."""

import json
import re
from pathlib import Path

import pytest

from nashdex.core import keys
from nashdex.report import step as report_step
from nashdex.report.page.board import Board
from nashdex.store import open_store
from nashdex.store.protocol import ObjectStore
from support.made_runs import made_settings, make_iteration

BOARD = Board('<main id="before">', "</main>", "a judge & jury")


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> ObjectStore:
    """A run of one iteration that stores two replays of each match-up."""
    found = open_store(str(tmp_path_factory.mktemp("store"))).at("made-run")
    settings = made_settings(iterations=1)
    make_iteration(found, settings, 0)
    report_step.run(found, settings, 0, 0)
    return found


def written(store: ObjectStore, folder: Path, board: Board | None) -> str:
    report_step.write_page(store, folder / "report.html", board)
    return (folder / "report.html").read_text("utf-8")


@pytest.mark.parametrize("board", [None, BOARD])
def test_every_payoff_leads_to_the_battles_of_its_pair(store: ObjectStore, tmp_path: Path, board: Board | None) -> None:
    page = written(store, tmp_path, board)
    links = re.findall(r'<td class="[^"]*" title="[^"]*"><a href="#battles-(\d+)-(\d+)" tabindex="-1">', page)
    rows = re.findall(r'<tr id="battles-(\d+)-(\d+)">', page)
    num_policies = len(json.loads(store.get(keys.published(0, keys.REPORT)))["payoffs"]["policies"])
    pairs = {(str(i), str(j)) for j in range(num_policies) for i in range(j)}
    assert set(rows) == pairs
    assert sorted(links) == sorted([*pairs, *pairs]), "both cells of a pair"


def test_a_page_with_the_board_holds_it_once_for_all_battles(store: ObjectStore, tmp_path: Path) -> None:
    page = written(store, tmp_path, BOARD)
    replays = json.loads(store.get(keys.published(0, keys.REPORT)))["replays"]
    (held,) = re.findall(r'<script type="application/json" id="board">(.*?)</script>', page)
    assert json.loads(held) == [BOARD.before, BOARD.after]
    assert "<" not in held
    names = set(re.findall(r'data-board="([^"]+)"', page))
    assert names == {replay["name"] for replay in replays}
    assert names == set(re.findall(r'data-page="([^"]+)" href="#replays" target="_blank">Showdown', page))
    assert "by the critic of a judge &amp; jury" in page
    assert "'wasm-unsafe-eval'" in page


def test_a_page_without_the_board_allows_nothing_for_it_and_says_how_to_get_it(
    store: ObjectStore, tmp_path: Path
) -> None:
    page = written(store, tmp_path, None)
    assert page.encode() == store.get(keys.published(0, keys.REPORT_PAGE))
    assert "wasm-unsafe-eval" not in page
    assert 'id="board"' not in page
    assert "data-board=" not in page
    assert "--board" in page
