"""``nashdex serve`` and ``nashdex showdown``: a policy on a Showdown server, and such a server on this machine."""

import os
import sys
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from nashdex.core.errors import ConfigurationError, StoppedError
from nashdex.core.extras import required
from nashdex.core.stopping import check_stop, install_stop_handlers
from nashdex_cli.commands.output import JsonOption, print_json, print_text
from nashdex_cli.commands.run_options import PlayerArgument, SeedOption, TeamSetOption

if TYPE_CHECKING:
    from nashdex.serve.room import ServedBattle

PRESETS = {
    "localhost": "ws://localhost:8000/showdown/websocket",
    "showdown": "wss://sim3.psim.us/showdown/websocket",
    "pokeagent": "wss://pokeagentshowdown.com/showdown/websocket",
}
_BOT_RULES = (
    "The server's rules for bots apply: play under an account of your own, say in its name or profile that it is a "
    "bot, do not use it to raise ratings, do not play many battles at once, and stop when staff asks. Pass "
    "--i-have-permission once you have read the server's rules and its staff allows the bot."
)


def serve(
    policy: PlayerArgument,
    *,
    format_id: Annotated[str, typer.Option("--format", metavar="FORMAT", help="Showdown format, such as gen1ou.")],
    name: Annotated[str, typer.Option(metavar="NAME", help="User name.")],
    server: Annotated[
        str, typer.Option(metavar="HOST:PORT", help="Also ws:// or wss:// and a path, or: showdown, pokeagent.")
    ] = "localhost:8000",
    search: Annotated[
        bool, typer.Option("--search", help="Search for battles on the ladder. By default it waits for challenges.")
    ] = False,
    challenge: Annotated[
        str | None, typer.Option(metavar="USER", help="Challenge this user, again after every battle.")
    ] = None,
    best_of: Annotated[int, typer.Option(metavar="1|3", help="3: play series of up to three battles.")] = 1,
    battles: Annotated[
        int | None,
        typer.Option(min=1, help="End after this many battles, including those already in --record. [default: no end]"),
    ] = None,
    at_once: Annotated[int, typer.Option(min=1, max=64, help="Most battles at once; series, with --best-of 3.")] = 1,
    accept: Annotated[
        list[str] | None, typer.Option(metavar="USER", help="Accept challenges of this user alone; may be repeated.")
    ] = None,
    team_set: TeamSetOption = None,
    record: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Folder for results, logs and replays. A later call goes on there."),
    ] = None,
    timer: Annotated[bool, typer.Option("--timer", help="Start the server's timer in every battle.")] = False,
    open_sheets: Annotated[bool, typer.Option("--open-team-sheets", help="Accept Open Team Sheets.")] = False,
    stop_file: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Stop, as on SIGTERM, once this file exists.")
    ] = None,
    patience_seconds: Annotated[
        float, typer.Option(min=0, max=86_400, help="Longest wait for a server that does not answer.")
    ] = 60.0,
    action_url: Annotated[
        str,
        typer.Option(
            metavar="URL",
            help="Login server, for accounts with a password. [default: Showdown's own]",
            show_default=False,
        ),
    ] = "https://play.pokemonshowdown.com/action.php",
    i_have_permission: Annotated[
        bool, typer.Option("--i-have-permission", help="Play on a server that is not on this machine.")
    ] = False,
    seed: SeedOption = 0,
    as_json: JsonOption = False,
) -> None:
    """Play a policy on a Showdown server: accept challenges, challenge a user, or search for battles.

    Ctrl-C and SIGTERM end the command after the battles under way. The client reconnects when the connection breaks,
    and after a restart continues the battles that the server still holds. NASHDEX_SHOWDOWN_PASSWORD holds the
    account's password; without one, only servers without security take the name. `nashdex showdown` starts such a
    server.
    """
    if best_of not in (1, 3):
        raise ConfigurationError(f"--best-of is {best_of}; expected 1 or 3")
    if search and challenge is not None:
        raise ConfigurationError("--search and --challenge are two ways to find battles: leave one out")
    address = address_of(server)
    if not is_local(address) and not i_have_permission:
        raise ConfigurationError(f"{server} is not on this machine. {_BOT_RULES}")
    install_stop_handlers()

    from nashdex.games.teams import TeamPool
    from nashdex.runs.inputs import game_with_team_set

    required("websockets", extra="serve", needed_by="nashdex serve")
    from nashdex.serve.client import Client
    from nashdex.serve.connection import Connection
    from nashdex.serve.deciding import open_decider
    from nashdex.serve.lines import to_id
    from nashdex.serve.login import account
    from nashdex.serve.record import Record
    from nashdex.serve.service import Service
    from nashdex.telemetry.logging import configure_logging

    configure_logging()
    game = game_with_team_set(format_id, team_set)
    with closing(Record(record)) as kept:
        kept.check(game.format, name)
        if battles is not None and len(kept.battles) >= battles:
            sys.stderr.write(f"{record} holds {len(kept.battles)} battles: --battles {battles} leaves none to play\n")
        decider = open_decider(policy, game, seed)

        def show(battle: "ServedBattle") -> None:
            result = battle.void or battle.result
            sys.stderr.write(f"{battle.room} against {battle.opponent}: {result}. {kept.standing().text()}\n")

        service = Service(
            format_id=format_id,
            searches=search,
            opponent=challenge,
            best_of=3 if best_of == 3 else 1,  # noqa: PLR2004 - the one other choice
            battles=battles,
            at_once=at_once,
            users=frozenset(to_id(user) for user in accept or ()),
            timer=timer,
            open_sheets=open_sheets,
            stop_file=stop_file,
            patience_seconds=patience_seconds,
            action_url=action_url,
            seed=seed,
        )
        try:
            connection = Connection(address, patience_seconds)
            Client(connection, decider, kept, TeamPool(game.teams()), account(name), service, show).run()
        finally:
            decider.close()
            if as_json:
                print_json(kept.standing()._asdict())
            else:
                print_text(kept.standing().text())
    try:
        check_stop()
    except StoppedError as error:
        raise type(error)("stopped after the battles under way; the same command goes on") from error


def showdown(
    port: Annotated[int, typer.Option(min=1, max=65_535, help="Port to listen on.")] = 8000,
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
    state: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Folder for ladders and logs. [default: a temporary one]")
    ] = None,
) -> None:
    """Start the stock Showdown server on this machine, without accounts or limits, until Ctrl-C or SIGTERM.

    It prints one JSON line once it answers logins. Do not offer it to the internet: anyone may take any name.
    """
    from nashdex.games.showdown.stock_server import server_command

    command = server_command(port, host, state)
    sys.stdout.flush()
    os.execv(command[0], command)  # noqa: S606 - the server replaces this process, so that signals reach it


def address_of(server: str) -> str:
    """Return the websocket address of what ``--server`` names.

    Raises:
        ConfigurationError: it is no address.
    """
    if server in PRESETS:
        return PRESETS[server]
    if server.startswith(("ws://", "wss://")):
        return server
    from nashdex.core.address import Address

    try:
        return f"ws://{Address.of(server)}/showdown/websocket"
    except ValueError as error:
        raise ConfigurationError(
            f"--server: {error}, an address that begins with ws:// or wss://, or one of {', '.join(PRESETS)}"
        ) from None


def is_local(address: str) -> bool:
    """Say whether a websocket address is on this machine."""
    host = address.split("://", 1)[1].split("/", 1)[0].rpartition(":")[0] or address.split("://", 1)[1].split("/", 1)[0]
    return host.strip("[]") in {"localhost", "127.0.0.1", "::1"}
