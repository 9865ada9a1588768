"""How a client finds battles, by what it sends for what a server says."""

import time

import pytest

from nashdex.core.errors import ConfigurationError, TryAgainError
from nashdex.serve.finding import Finder
from nashdex.serve.service import Service

FORMATS = frozenset({"gen1ou", "gen1oubo3"})


def _finder(service: Service, offered: frozenset[str] = FORMATS) -> tuple[Finder, list[str]]:
    sent: list[str] = []
    finder = Finder(service, sent.append, lambda: sent.append("/utm null"))
    finder.offer(offered)
    return finder, sent


def test_one_search_at_a_time() -> None:
    finder, sent = _finder(Service("gen1ou", searches=True))
    finder.look()
    finder.look()
    assert sent == ["/utm null", "/search gen1ou"]
    finder.update_search([])  # of the time before the search
    assert finder.num_asked == 1
    finder.update_search(["gen1ou"])
    finder.stop()
    assert sent[-1] == "/cancelsearch"
    assert finder.num_asked == 0


def test_a_search_that_has_ended_is_asked_for_until_its_battle_begins(monkeypatch: pytest.MonkeyPatch) -> None:
    """The server says that nothing is searched for any more before it sends the battle's room."""
    now = 100.0
    monkeypatch.setattr(time, "monotonic", lambda: now)
    finder, sent = _finder(Service("gen1ou", searches=True))
    finder.look()
    finder.update_search(["gen1ou"])
    finder.update_search([])
    finder.expire()
    assert finder.num_asked == 1
    finder.battle_began()
    assert finder.num_asked == 0
    finder.look()
    finder.update_search(["gen1ou"])
    finder.update_search([])
    now += 30.0
    finder.expire()  # no battle was found
    finder.look()
    assert sent.count("/search gen1ou") == 3


def test_a_refused_search_ends_it() -> None:
    finder, _ = _finder(Service("gen1ou", searches=True))
    finder.look()
    with pytest.raises(ConfigurationError, match="Your team was rejected"):
        finder.heed("Your team was rejected")


@pytest.mark.parametrize(
    ("best_of", "challenge", "accepts"),
    [
        (1, "gen1ou|gen1ou|||", True),
        (1, "gen1ou@@@Best of = 3|gen1ou|||", False),
        (1, "gen2ou|gen2ou|||", False),
        (3, "gen1ou|gen1ou|||", False),
        (3, "gen1oubo3|gen1oubo3|||", True),
        (3, "gen1ou@@@Best of = 3|gen1ou|||", True),
        (3, "gen1ou@@@Best of = 3, Sleep Clause Mod|gen1ou|||", False),
    ],
)
def test_challenges_of_the_wanted_format_and_length(best_of: int, challenge: str, *, accepts: bool) -> None:
    finder, sent = _finder(Service("gen1ou", best_of=3 if best_of == 3 else 1))
    finder.read_private("visitor", f"/challenge {challenge}", is_own=False)
    finder.look()
    assert sent == (["/utm null", "/accept visitor"] if accepts else ["/reject visitor"])


def test_a_challenge_that_is_withdrawn_and_a_stranger() -> None:
    finder, sent = _finder(Service("gen1ou", users=frozenset({"friend"})))
    finder.read_private("stranger", "/challenge gen1ou|gen1ou|||", is_own=False)
    finder.read_private("friend", "/challenge gen1ou|gen1ou|||", is_own=False)
    finder.read_private("friend", "/challenge", is_own=False)
    finder.look()
    assert sent == ["/reject stranger"]


def test_series_are_asked_for_by_the_servers_format_or_by_a_rule() -> None:
    service = Service("gen1ou", opponent="host", best_of=3)
    for offered, wanted in ((FORMATS, "gen1oubo3"), (frozenset({"gen1ou"}), "gen1ou@@@Best of = 3")):
        finder, sent = _finder(service, offered)
        finder.look()
        assert sent[-1] == f"/challenge host, {wanted}"
    with pytest.raises(ConfigurationError, match="no ladder for best of three"):
        _finder(Service("gen1ou", searches=True, best_of=3), frozenset({"gen1ou"}))


def test_an_opponent_that_is_not_there() -> None:
    finder, _ = _finder(Service("gen1ou", opponent="host", patience_seconds=-1))
    finder.look()
    with pytest.raises(TryAgainError, match="no user 'host'"):
        finder.heed("The user 'host' was not found.")


@pytest.mark.parametrize(
    "text",
    ["visitor is not challenging you. Maybe they cancelled before you accepted?", "The user 'visitor' was not found."],
)
def test_a_challenge_that_is_withdrawn_while_it_is_accepted(text: str) -> None:
    finder, sent = _finder(Service("gen1ou"))
    finder.read_private("visitor", "/challenge gen1ou|gen1ou|||", is_own=False)
    finder.look()
    finder.heed(text)
    assert finder.num_asked == 0
    finder.read_private("visitor", "/challenge gen1ou|gen1ou|||", is_own=False)
    finder.look()
    assert sent.count("/accept visitor") == 2


@pytest.mark.parametrize(
    ("service", "text"),
    [
        (
            Service("gen1ou", searches=True),
            "The server is restarting. Battles will be available again in a few minutes.",
        ),
        (Service("gen1ou", searches=True), "Due to high load, you are limited to 12 battles every 3 minutes."),
        (Service("gen1ou", opponent="host"), "This user already has 3 pending challenges."),
        (Service("gen1ou", opponent="host"), "The user 'Host' is not accepting challenges right now."),
        (Service("gen1ou", opponent="host"), "You challenged less than 10 seconds after your last challenge!"),
    ],
)
def test_a_request_that_is_refused_for_now_is_repeated(
    monkeypatch: pytest.MonkeyPatch, service: Service, text: str
) -> None:
    now = 100.0
    monkeypatch.setattr(time, "monotonic", lambda: now)
    finder, sent = _finder(service)
    finder.look()
    finder.heed(text)
    finder.look()
    assert len(sent) == 2
    now += 60.0
    finder.look()
    assert sent[2:] == sent[:2]


def test_a_format_that_the_server_lacks() -> None:
    with pytest.raises(ConfigurationError, match="does not offer gen9ou"):
        _finder(Service("gen9ou"))


def test_a_challenge_without_an_answer_is_repeated() -> None:
    finder, sent = _finder(Service("gen1ou", opponent="host", renew_seconds=-1))
    finder.look()
    finder.expire()
    assert sent == ["/utm null", "/challenge host, gen1ou", "/cancelchallenge host"]
    assert finder.num_asked == 0
    finder.heed("You are not challenging host. Maybe they accepted/rejected before you cancelled?")


def test_a_challenge_that_was_accepted_is_not_repeated() -> None:
    finder, sent = _finder(Service("gen1ou", opponent="host", renew_seconds=-1))
    finder.look()
    finder.read_private("host", "/challenge", is_own=False)
    finder.expire()
    assert (finder.num_asked, sent[-1]) == (1, "/challenge host, gen1ou")


def test_a_pause_delays_the_next_request() -> None:
    finder, sent = _finder(Service("gen1ou", opponent="host"))
    finder.pause(600)
    finder.look()
    assert sent == []
