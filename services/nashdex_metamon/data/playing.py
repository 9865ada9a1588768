"""Battles between two contestants, written as trajectories in metamon's layout."""

import gzip
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from nashdex.core.errors import ConfigurationError
from nashdex.games.registry import FORMATS, game_for
from nashdex.games.showdown.formats import GAME as SHOWDOWN
from nashdex.rollout.contestants import draw_policies, load_contestant
from nashdex.rollout.pairs import PairedBattles
from nashdex.rollout.play import Assignment, require_finished
from nashdex.rollout.session import Session
from nashdex_metamon.data.first_person import FirstPerson, Turn
from nashdex_metamon.data.generation import (
    Header,
    RecordedPolicy,
    Written,
    player_names,
    spectator_replay,
    write_battle,
)
from nashdex_metamon.data.replay_file import whole_file
from nashdex_metamon.tracked import Knowledge


def generate(
    destination: Path,
    format_id: str,
    first: str,
    second: str,
    *,
    battles: int,
    seed: int = 0,
    knowledge: Knowledge = "online",
    logs: bool = False,
    concurrent_battles: int = 64,
    deadline_seconds: float = 300.0,
) -> Written:
    """Play ``battles`` battles as side-swapped pairs and write both seats' trajectories.

    With ``logs``, ``{destination}/{format}.jsonl.gz`` gets what a spectator sees of each battle, in the form of
    Showdown's own replays.

    Raises:
        ConfigurationError: the format is not a Showdown format, a contestant is unknown, or the destination is not a
            folder.
        DataError: a contestant's policy is missing, altered, or of another space.
        TryAgainError: every try of a battle failed.
        StoppedError: the process was asked to stop. What was written is complete.
    """
    if FORMATS[format_id].game != SHOWDOWN:
        raise ConfigurationError(f"{format_id} has no metamon trajectories; expected a Showdown format such as gen1ou")
    if FORMATS[format_id].num_slots > 1:
        raise ConfigurationError(
            f"{format_id} is a doubles format, and metamon's trajectories are of single battles; expected one "
            "such as gen1ou"
        )
    if destination.exists() and not destination.is_dir():
        raise ConfigurationError(f"{destination} is not a folder; name one, which need not exist")
    game = game_for(format_id)
    turns: dict[tuple[int, int], list[Turn]] = {}
    written = Written()
    now = datetime.now(UTC)
    date = now.strftime("%m-%d-%Y")
    with (
        _log_file(destination / f"{format_id}.jsonl.gz" if logs else None) as log_file,
        FirstPerson(format_id, knowledge) as maker,
        Session(game.open_arena(num_gateways=1), min(concurrent_battles, battles)) as session,
    ):
        contestants = (load_contestant(first, session.space), load_contestant(second, session.space))
        for contestant in contestants:
            session.policies |= {id_: RecordedPolicy(policy, turns) for id_, policy in contestant.policies.items()}
        paired = PairedBattles(seed, game.teams(), deadline_seconds)

        def assignment(number: int) -> Assignment:
            return paired.assignment(number, draw_policies(contestants, paired, number), log=True)

        for finished in session.play(assignment(number) for number in range(battles)):
            outcome, players = require_finished(finished), player_names(finished.assignment.seats)
            battle = f"nashdex-{format_id}-{seed % 10_000:04d}{finished.assignment.number:06d}"
            if log_file is not None:
                log_file.write(spectator_replay(outcome, players, battle, format_id, now))
            write_battle(maker, destination, outcome, turns, Header(battle, players, date), written)
    return written


@contextmanager
def _log_file(path: Path | None) -> Iterator[gzip.GzipFile | None]:
    """Open the file of logs under a temporary name, and rename it when it is complete."""
    if path is None:
        yield None
        return
    with (
        whole_file(path) as temporary,
        temporary.open("wb") as raw,
        gzip.GzipFile("", "wb", fileobj=raw, mtime=0) as file,
    ):
        yield file
