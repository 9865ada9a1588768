"""``nashdex decide``: a policy's decisions for battles that run elsewhere."""

import sys
from typing import Annotated

import typer

from nashdex.core.errors import StoppedError
from nashdex.core.extras import required
from nashdex.core.stopping import check_stop, install_stop_handlers
from nashdex_cli.commands.output import print_note
from nashdex_cli.commands.run_options import PlayerArgument, SeedOption


def decide(
    policy: PlayerArgument,
    *,
    format_id: Annotated[
        str | None,
        typer.Option(
            "--format", metavar="FORMAT", help="Showdown format. [default: the format of the policy or its run]"
        ),
    ] = None,
    listen: Annotated[
        str | None,
        typer.Option(
            metavar="[HOST:]PORT", help="Answer HTTP at this address instead; without HOST, on this machine alone."
        ),
    ] = None,
    batch: Annotated[int, typer.Option(min=1, max=4096, help="Most questions of one HTTP request.")] = 64,
    body_mib: Annotated[int, typer.Option(min=1, max=1024, help="Largest body of an HTTP request, in MiB.")] = 8,
    concurrent: Annotated[int, typer.Option(min=1, max=4096, help="Most HTTP requests at once.")] = 64,
    seconds: Annotated[float, typer.Option(min=0.1, max=3600, help="Longest time of an HTTP request.")] = 30.0,
    seed: SeedOption = 0,
) -> None:
    """Decide for battles that run elsewhere: one JSON a line in, one JSON a line out, until standard input ends.

    A line has the battle's log as one seat saw it, and the seat: `{"log": "...", "seat": "p1"}`. The answer has the
    choice in Showdown's words, every legal choice with its probability, the critic's value, and the predicted choice
    of the opponent. With --listen the same questions are posted to `/decide`, one or a list; SIGTERM and Ctrl-C stop
    the service after the open requests.
    """
    if listen is not None:
        _listen(policy, format_id, listen, seed, batch=batch, body_mib=body_mib, concurrent=concurrent, seconds=seconds)
        return

    from nashdex_play.decide.deciding import answer_lines, open_adviser

    _log_to_stderr()
    adviser = open_adviser(policy, format_id, seed=seed)
    try:
        answer_lines(adviser, sys.stdin.buffer, sys.stdout)
    finally:
        adviser.close()


def _listen(
    policy: str,
    format_id: str | None,
    address: str,
    seed: int,
    *,
    batch: int,
    body_mib: int,
    concurrent: int,
    seconds: float,
) -> None:
    required("fastapi", extra="decide", needed_by="--listen")
    required("uvicorn", extra="decide", needed_by="--listen")
    from nashdex.core.address import Address, open_listener
    from nashdex_play.decide.deciding import open_adviser
    from nashdex_play.decide.service import Limits, listen

    install_stop_handlers()
    _log_to_stderr()
    with open_listener(address) as listener:
        adviser = open_adviser(policy, format_id, seed=seed, answer_seconds=seconds)
        print_note(f"{policy} decides for {adviser.format} at http://{Address.of_socket(listener)}")
        try:
            limits = Limits(body_bytes=body_mib << 20, batch=batch, concurrent=concurrent, seconds=seconds)
            listen(adviser, limits, listener)
        finally:
            adviser.close()
    try:
        check_stop()
    except StoppedError as error:
        raise type(error)("stopped after the open requests") from error


def _log_to_stderr() -> None:
    from nashdex.telemetry.logging import configure_logging

    configure_logging()
