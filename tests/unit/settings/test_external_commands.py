"""Declarations of programs that play by websocket: their command lines."""

import re
import tomllib
from pathlib import Path

import pytest
from pydantic import ValidationError

from nashdex.core.errors import ConfigurationError
from nashdex.settings.external import ExternalPlayer, arguments_of, external_players

SERVED = "bot {websocket} {username}"


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ({}, "exactly one of 'class', 'address', 'command' and 'server'"),
        ({"class": "m:C", "command": SERVED}, "exactly one of 'class', 'address', 'command' and 'server'"),
        ({"command": ""}, "the command is empty"),
        ({"command": "bot 'x {port} {username}"}, "quotes are not closed"),
        ({"command": f"{SERVED} {{address}}"}, "unknown placeholder; expected one of {websocket}, {host}"),
        ({"command": f"{SERVED} {{}}"}, "unknown placeholder"),
        ({"command": f"{SERVED} {{port.real}}"}, "unknown placeholder"),
        ({"command": f"{SERVED} {{port!r}}"}, "unknown placeholder"),
        ({"command": f"{SERVED} {{port:>9}}"}, "unknown placeholder"),
        ({"command": f"{SERVED} {{"}, "single brace"),
        ({"command": "bot {host} {username}"}, "neither {websocket} nor {port}"),
        ({"command": "bot {websocket}"}, "does not name {username}"),
        ({"command": SERVED, "challenges": True}, "does not name {opponent}"),
        ({"class": "m:C", "restarts": 3}, "'restarts' is for a 'command' or a 'server'"),
        ({"command": SERVED, "server": "h:80"}, "exactly one of 'class', 'address', 'command' and 'server'"),
        ({"server": "h:80"}, "'server' needs 'username'"),
        ({"server": "h", "username": "bot"}, "server"),
        ({"server": "h:80", "username": "bot", "folder": "/x"}, "'folder' is for"),
        ({"server": "h:80", "username": "bot", "challenges": True}, "'challenges' is for a 'command'"),
        ({"command": SERVED, "username": "a|b"}, "username"),
    ],
)
def test_a_wrong_declaration_says_what_is_wrong(table: dict[str, object], message: str) -> None:
    with pytest.raises(ValidationError) as refused:
        ExternalPlayer.model_validate(table)
    assert message in str(refused.value)


def test_a_command_becomes_words_without_a_shell() -> None:
    command = "python 'my bot.py' --user={username} {{literal}} \"$HOME\" {format}"
    values = {"username": "a b; rm", "format": "gen1ou"}
    assert arguments_of(command, values) == ["python", "my bot.py", "--user=a b; rm", "{literal}", "$HOME", "gen1ou"]


def test_a_fixed_name_needs_no_placeholder_and_battles_at_once_have_defaults() -> None:
    program = ExternalPlayer.model_validate({"command": "bot {port}", "username": "MyBot"})
    assert (program.most_at_once, ExternalPlayer.model_validate({"class": "m:C"}).most_at_once) == (1, 4)


def test_the_declarations_of_the_documentation_are_valid() -> None:
    page = (Path(__file__).parents[3] / "docs" / "how-to" / "external-players.md").read_text("utf-8")
    blocks = re.findall(r'```toml title="players.toml"\n(.*?)```', page, re.DOTALL)
    players = {name: table for block in blocks for name, table in tomllib.loads(block).items()}
    commands = {name: ExternalPlayer.model_validate(table).command for name, table in players.items()}
    assert {name for name, command in commands.items() if command} == {"foul-play"}
    assert "\n" not in (commands["foul-play"] or "")


def test_a_misspelt_key_gets_the_key_that_was_meant(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    declared = tmp_path / "players.toml"
    declared.write_text('[mine]\nclas = "my_bot:MyPlayer"\n')
    monkeypatch.setenv("NASHDEX_PLAYERS", str(declared))
    with pytest.raises(ConfigurationError, match=r"player 'mine': clas: no such key .*; did you mean class\?"):
        external_players()


def test_a_folder_begins_at_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    assert ExternalPlayer.model_validate({"class": "m:C", "folder": "~/bot"}).folder == tmp_path / "bot"
