"""A replay page carries its battle's log whole, whatever players are called or say."""

import base64
import hashlib
import re
from html.parser import HTMLParser

import pytest

from nashdex.games.showdown.replays import PLAYER_URL, rename_players, replay_page

LOG = "|player|p1|Red|\n|player|p2|Blue|\n|tier|[Gen 1] OU\n|move|p1a: Onix|Rock Slide|p2a: Clefairy\n|win|Red"


class _Page(HTMLParser):
    """What a browser would see: script blocks with their attributes, and the titles."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.scripts: list[tuple[dict[str, str | None], str]] = []
        self.title = ""
        self._inside = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._inside = tag
        if tag == "script":
            self.scripts.append((dict(attrs), ""))

    def handle_endtag(self, tag: str) -> None:
        del tag
        self._inside = ""

    def handle_data(self, data: str) -> None:
        if self._inside == "script":
            attributes, text = self.scripts[-1]
            self.scripts[-1] = (attributes, text + data)
        elif self._inside == "title":
            self.title += data


def embedded_log(page: str) -> str:
    """Return the log as Showdown's player reads it."""
    (text,) = [text for attributes, text in _Page(page).scripts if attributes.get("class") == "battle-log-data"]
    return re.sub(r"\\/", "/", text)


def test_the_player_gets_the_log_as_it_was() -> None:
    page = replay_page(LOG, "heuristic against random", "gen1ou")
    assert embedded_log(page) == LOG
    assert _Page(page).title == "gen1ou replay: heuristic against random"
    assert [a["src"] for a, _ in _Page(page).scripts if "src" in a] == [PLAYER_URL]


@pytest.mark.parametrize(
    "name",
    [
        "</script><script>alert(1)</script>",
        "a/b",
        "\\/",
        "Flabébé & <b>",
        "]]>",
        "</SCRIPT ",
    ],
)
def test_names_and_chat_can_close_nothing(name: str) -> None:
    log = LOG.replace("Red", name)
    assert embedded_log(replay_page(log, "a against b", "gen1ou")) == log


def test_a_comment_in_the_chat_cannot_hide_the_end_of_the_block() -> None:
    page = replay_page(f"{LOG}\n|c|Red|<!-- <script>", "a against b", "gen1ou")
    assert "<!-- <script>" not in page
    assert embedded_log(page).startswith(LOG)
    assert len(_Page(page).scripts) == 3


def test_players_get_their_names_and_nothing_else_changes() -> None:
    log = "|player|p1|Player 1||\n|player|p2|Player 2||1500\n|move|p1a: Player 1|Wrap|p2a: Mew\n|win|Player 2"
    assert rename_players(log, ("heuristic", "random")) == (
        "|player|p1|heuristic||\n|player|p2|random||1500\n|move|p1a: Player 1|Wrap|p2a: Mew\n|win|random"
    )
    assert rename_players("|tie\n", ("a", "b")) == "|tie\n"


def test_the_title_is_text() -> None:
    page = replay_page(LOG, '<img src=x onerror="alert(1)">', "gen1ou")
    assert "<img" not in page


def test_the_page_may_load_the_player_and_nothing_else() -> None:
    page = replay_page(LOG, "</title><img src=http://elsewhere>", "gen1ou")
    (policy,) = re.findall(r'http-equiv="Content-Security-Policy" content="([^"]*)"', page)
    rules = {rule.split()[0]: rule.split()[1:] for rule in policy.split("; ")}
    assert rules["default-src"] == ["'none'"]
    hosts = {source for sources in rules.values() for source in sources if ":" in source and source != "data:"}
    assert hosts == {PLAYER_URL.partition("/js/")[0]}
    (inline,) = [text for attributes, text in _Page(page).scripts if not attributes]
    digest = base64.b64encode(hashlib.sha256(inline.encode()).digest()).decode()
    assert f"'sha256-{digest}'" in rules["script-src"]
    assert page.index("Content-Security-Policy") < page.index("<script")


def test_a_name_is_one_field_of_one_line() -> None:
    renamed = rename_players("|player|p1|One|1|\n|player|p2|Two|2|\n|win|One", ("a|b\n|win|Two", "c\r\nd"))
    assert renamed.split("\n") == ["|player|p1|a b win Two|1|", "|player|p2|c d|2|", "|win|a b win Two"]
