"""HOST:PORT is read in one way."""

import pytest

from nashdex.core.address import Address, open_listener
from nashdex.core.errors import ConfigurationError
from nashdex.games.showdown.external_player import listen
from nashdex.games.showdown.gateway import Gateway
from nashdex.settings.external import ExternalPlayer
from nashdex_cli.commands.serve import address_of

BAD = [
    "",
    "nowhere",
    ":80",
    "h:",
    "h:0",
    "h:65536",
    "h:-1",
    "h:+80",
    "h:\uff18\uff10",
    "a b:80",
    "::1:80",
    "[::1]",
    "[]:80",
    "u@h:80",
]
BAD += [f"{'x' * 64}:80", "a..b:80", "http://h:80", "h:80/path"]


@pytest.mark.parametrize(
    ("text", "host", "port"),
    [
        ("localhost:1", "localhost", 1),
        ("10.0.0.1:65535", "10.0.0.1", 65535),
        ("[::1]:8100", "::1", 8100),
        ("a-b.svc_1.cluster.local.:080", "a-b.svc_1.cluster.local.", 80),
    ],
)
def test_an_address_has_a_host_and_a_port(text: str, host: str, port: int) -> None:
    address = Address.of(text)
    assert (address.host, address.port) == (host, port)
    assert Address.of(str(address)) == address


@pytest.mark.parametrize("text", BAD)
def test_everything_that_takes_an_address_refuses_what_is_none(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ValueError, match=r"is no address; expected HOST:PORT with a port from 1 to 65535"):
        Address.of(text)
    with pytest.raises(ValueError, match="expected HOST:PORT"):
        ExternalPlayer(address=text)
    with pytest.raises(ValueError, match="expected HOST:PORT"):
        ExternalPlayer(server=text, username="x")
    with pytest.raises(ConfigurationError, match=r"--server: .* expected HOST:PORT.* ws://"):
        address_of(text)
    monkeypatch.setenv("NASHDEX_GATEWAY_ADDRESS", text)
    with pytest.raises(ConfigurationError, match=r"address: .*expected HOST:PORT"):
        Gateway("gen1randombattle")
    with pytest.raises(ConfigurationError, match=r"--listen: .*expected HOST:PORT"):
        listen("poke_env.player:RandomPlayer", text)


def test_a_service_may_leave_port_and_host_to_the_system() -> None:
    for text in ("0", "127.0.0.1:0"):
        with open_listener(text) as listener:
            assert listener.getsockname()[0] == "127.0.0.1"
    with pytest.raises(ConfigurationError, match=r"--listen: 'h:65536' is no address.* or PORT alone"):
        open_listener("h:65536")


def test_an_ipv6_host_is_in_brackets() -> None:
    assert address_of("[::1]:8000") == "ws://[::1]:8000/showdown/websocket"
