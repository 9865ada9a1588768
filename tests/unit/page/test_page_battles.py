"""Which battle a source names, and what is said of one that is none."""

import gzip
import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import ClassVar

import pytest

from nashdex.core import keys
from nashdex.core.errors import ConfigurationError, DataError, TryAgainError
from nashdex.metagame.evidence import large
from nashdex.report.document import Report, policy_names
from nashdex.report.sources import newest_report
from nashdex.store.documents import read_published, read_written
from nashdex_play.page import battles, fetching
from nashdex_play.page.battles import read_battle
from support.http_servers import JsonHandler, served_by
from support.made_runs import make_run

LOG = "|player|p1|A|\n|tier|[Gen 1] OU\n|turn|1\n"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (LOG, "gen1ou"),
        (json.dumps({"log": LOG}), "gen1ou"),
        (json.dumps({"kind": "nashdex battle", "version": 1, "format": "gen9ou"}), "gen9ou"),
        ("|tier|[Gen 9] VGC 2023 Regulation C\n", "gen9vgc2023regc"),
    ],
)
def test_a_file_names_its_format(tmp_path: Path, text: str, expected: str) -> None:
    file = tmp_path / "a battle.log"
    file.write_text(text)
    assert read_battle(str(file)).format == expected
    assert read_battle(file.as_uri()).text == text


def test_a_battle_of_a_report(tmp_path: Path) -> None:
    file = tmp_path / "report.html"
    pages = json.dumps({"a-b-0": f"<script>{LOG}"}).replace("<", "\\u003c")
    file.write_text(f'<p><script type="application/json" id="replay-pages">{pages}</script>')
    assert read_battle(f"{file}#a-b-0").text == f"<script>{LOG}"
    with pytest.raises(DataError, match="has no battle 'other'; it has a-b-0"):
        read_battle(f"{file}#other")
    file.write_text('<p><script type="application/json" id="replay-pages">{}</script>')
    with pytest.raises(DataError, match="holds no battles: a run on a Showdown format keeps"):
        read_battle(str(file))


@pytest.mark.parametrize(
    ("text", "fragment", "message"),
    [
        ("nothing", "", "does not name its format"),
        ("x" * (2**20 + 1), "", "more than 1,048,576 bytes"),
        ("<p>", "#name", "no report of nashdex"),
    ],
)
def test_what_is_no_battle(tmp_path: Path, text: str, fragment: str, message: str) -> None:
    file = tmp_path / "file"
    file.write_text(text)
    with pytest.raises(DataError, match=message):
        read_battle(f"{file}{fragment}")


def test_no_file(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="cannot be read"):
        read_battle(str(tmp_path / "missing.log"))


class _Web(JsonHandler):
    """Serves a log, a replay's page by its own address, a report, and what goes wrong."""

    REPORT = json.dumps({"a-b-0": LOG}).replace("<", "\\u003c")
    BOMB = gzip.compress(bytes(2**23))
    PAGES: ClassVar[dict[str, str]] = {
        "/battle.log": LOG,
        "/report.html": f'<script type="application/json" id="replay-pages">{REPORT}</script>',
        "/large": "x" * (2**20 + 1),
    }
    REDIRECTS: ClassVar[dict[str, str]] = {
        "/moved": "/battle.log",
        "/to-a-file": "file:///etc/passwd",
        "/to-ftp": "ftp://127.0.0.1/battle.log",
        "/round": "/round",
    }

    def do_GET(self) -> None:  # noqa: N802 - http.server's name
        if self.path in self.REDIRECTS:
            self.send_response(302)
            self.send_header("Location", self.REDIRECTS[self.path])
            self.send_header("Content-Length", "0")
            self.end_headers()
        elif self.path == "/broken":
            self.answer(503, b"")
        elif self.path == "/silent":
            time.sleep(1.0)
        elif self.path in ("/packed", "/not-packed"):
            body = gzip.compress(LOG.encode()) if self.path == "/packed" else LOG.encode()
            self.send_response(200)
            self.send_header("Content-Encoding", "gzip")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)
        elif self.path == "/bomb":
            self.send_response(200)
            self.send_header("Content-Encoding", "gzip")
            self.end_headers()
            self.wfile.write(self.BOMB)
        elif self.path == "/cut":
            self.send_response(200)
            self.send_header("Content-Length", str(len(LOG) + 1))
            self.end_headers()
            self.wfile.write(LOG.encode())
        elif self.path == "/dripping":
            for _ in range(20):
                self.wfile.write(b"H")
                time.sleep(0.1)
        else:
            page = self.PAGES.get(self.path)
            self.answer(404 if page is None else 200, (page or "").encode())


@pytest.fixture(scope="module")
def web() -> Iterator[str]:
    with served_by(_Web) as url:
        yield url


@pytest.mark.parametrize("path", ["/battle.log", "/moved", "/packed", "/report.html#a-b-0"])
def test_a_battle_of_the_web(web: str, path: str) -> None:
    assert read_battle(f"{web}{path}").text == LOG


def test_the_log_of_a_replay_lies_beside_its_page(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def fetch(address: str, most_bytes: int) -> bytes:
        assert most_bytes > len(LOG)
        asked.append(address)
        return LOG.encode()

    monkeypatch.setattr(battles, "fetch", fetch)
    read_battle("https://replay.pokemonshowdown.com/gen1ou-123")
    read_battle("https://replay.pokemonshowdown.com/gen1ou-123?p2")
    read_battle("https://replay.pokemonshowdown.com/gen1ou-123.json")
    assert asked == [f"https://replay.pokemonshowdown.com/gen1ou-123.{kind}" for kind in ("log", "log", "json")]


@pytest.mark.parametrize(
    ("path", "kind", "message"),
    [
        ("/missing", DataError, "answers 404 Not Found; check the address"),
        ("/large", DataError, "more than 1,048,576 bytes"),
        ("/report.html#other", DataError, "has no battle 'other'; it has a-b-0"),
        ("/report.html", DataError, "name one of its battles, as "),
        ("/broken", TryAgainError, "answers 503"),
        ("/cut", TryAgainError, "cannot be read"),
        ("/not-packed", DataError, "is not what its server says"),
        ("/bomb", DataError, "more than 1,048,576 bytes"),
        ("/to-a-file", ConfigurationError, "is no address"),
        ("/to-ftp", ConfigurationError, "is no address"),
        ("/round", DataError, "leads to more than 5 others"),
        ("/a b", ConfigurationError, "is no address"),
    ],
)
def test_what_is_no_battle_of_the_web(web: str, path: str, kind: type[Exception], message: str) -> None:
    with pytest.raises(kind, match=message):
        read_battle(f"{web}{path}")


@pytest.mark.parametrize("address", ["http://", "https:///battle.log", "http://[::1", "http://host:port/battle.log"])
def test_what_is_no_address(address: str) -> None:
    with pytest.raises(ConfigurationError, match="is no address"):
        read_battle(address)


def test_a_silent_server_is_not_waited_for(web: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fetching, "_SILENCE_SECONDS", 0.3)
    with pytest.raises(TryAgainError, match="cannot be reached"):
        read_battle(f"{web}/silent")


def test_a_slow_server_is_not_waited_for_for_ever(web: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fetching, "_SECONDS", 0.5)
    with pytest.raises(TryAgainError, match="did not arrive within"):
        read_battle(f"{web}/dripping")


def test_a_file_that_looks_like_a_report_is_read_at_once(tmp_path: Path) -> None:
    file = tmp_path / "report.html"
    file.write_text('<script type="application/json" id="replay-pages">' * 20_000)
    began = time.process_time()
    with pytest.raises(DataError, match="no report of nashdex"):
        read_battle(str(file))
    assert time.process_time() - began < 1.0


def test_a_battle_of_a_run(tmp_path: Path) -> None:
    store = make_run(str(tmp_path / "run"), iterations=1)
    report = read_written(store, newest_report(store), keys.REPORT, Report)
    replay, *_ = report.replays
    read = read_battle(f"{tmp_path / 'run'}#{replay.name}")
    assert read.format == report.format
    assert f"|player|p1|{policy_names(report.policies)[replay.policies[0]]}|" in read.text
    assert read_battle(f"{(tmp_path / 'run').as_uri()}#{replay.name[:-1]}").format == read.format
    with pytest.raises(DataError, match="has no battle 'other'; it has "):
        read_battle(f"{tmp_path / 'run'}#other")
    with pytest.raises(DataError, match=r"name one of its battles, as .*/run#NAME: "):
        read_battle(str(tmp_path / "run"))


def test_a_battle_that_only_an_older_report_lists(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(large, "MOST_LISTED", 4)
    store = make_run(str(tmp_path / "run"), iterations=3)
    first, newest = (read_published(store, iteration, keys.REPORT, Report) for iteration in (0, 2))
    name = first.replays[0].name
    assert name not in {replay.name for replay in newest.replays}
    assert read_battle(f"{tmp_path / 'run'}#{name}").format == first.format
