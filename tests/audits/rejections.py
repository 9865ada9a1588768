"""Choices that the mask allows and the simulator rejects: ``PYTHONPATH=tests python -m audits.rejections --format F``.

Random legal actions find errors of a mask sooner than policies do. See docs/reference/gateway.md, "Rejected choices".
"""

import json
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, NamedTuple

import numpy as np
import typer
from numpy.typing import NDArray

from nashdex.core.errors import NashdexError, TryAgainError
from nashdex.core.seeds import derive_seed, derive_uniform, hex_seed
from nashdex.games.interface import Decisions
from nashdex.games.registry import showdown_game
from nashdex.games.showdown.gateway import Gateway
from nashdex.games.showdown.protocol import BattleStart, Failed, Finished, GatewayMessage, Lines, Rejected, Start

_NUM_CONCURRENT = 64
_SILENCE_SECONDS = 120.0
_DEADLINE_SECONDS = 600.0


class Refusal(NamedTuple):
    """Why a choice was rejected, and what its seat knew at the time."""

    cause: str
    """The simulator's own words."""
    maybe_trapped: bool
    """The request left open whether the Pokémon is trapped. Otherwise the mask is wrong."""
    opponent: str
    """Apparent species of the opponent's active Pokémon."""
    ability: str
    """Its ability; empty if unknown."""


@dataclass
class Rejections:
    """Rejected choices, and the battles with any."""

    format: str
    battles: int = 0
    failed: int = 0
    decisions: int = 0
    refusals: Counter[Refusal] = field(default_factory=Counter)
    battles_with: set[int] = field(default_factory=set)

    def as_json(self) -> dict[str, Any]:
        """Return counts, and the share of battles without a rejected choice."""
        return {
            "format": self.format,
            "battles": self.battles,
            "failed": self.failed,
            "decisions": self.decisions,
            "rejected_choices": self.refusals.total(),
            "battles_with_rejection": len(self.battles_with),
            "share_without": 1 - len(self.battles_with) / self.battles,
            "causes": [{**refusal._asdict(), "count": count} for refusal, count in self.refusals.most_common()],
        }


def count_rejections(format_id: str, num_battles: int, seed: int) -> Rejections:
    """Play battles of uniformly random legal actions and count the choices that the simulator rejects.

    Battles with a rejected choice are played a second time, with the seats' knowledge recorded.

    Raises:
        ConfigurationError: the format is unknown.
        TryAgainError: the gateway was lost.
    """
    showdown_game(format_id)
    counts = Rejections(format_id)
    for message in _play(format_id, range(num_battles), seed, states=False):
        if isinstance(message, Decisions):
            counts.decisions += len(message) - int(message.asked_again.sum())
        elif isinstance(message, Rejected):
            counts.battles_with.add(message.battle)
        elif isinstance(message, Finished):
            counts.battles += len(message.battles)
        elif isinstance(message, Failed):
            counts.failed += len(message.battles)
    states: dict[tuple[int, int], Mapping[str, Any]] = {}
    for message in _play(format_id, sorted(counts.battles_with), seed, states=True):
        if isinstance(message, Lines):
            states |= {(view.battle, view.seat): view.state for view in message.rows if view.state is not None}
        elif isinstance(message, Rejected):
            counts.refusals[_refusal(message.cause, states[message.battle, message.seat])] += 1
    return counts


def _refusal(cause: str, state: Mapping[str, Any]) -> Refusal:
    opponent = next((pokemon for pokemon in state["opponent"]["pokemon"] if pokemon["active"]), None)
    if opponent is None:
        return Refusal(cause, state["maybe_trapped"], "", "")
    return Refusal(cause, state["maybe_trapped"], opponent["forme"], opponent["ability"])


def _play(format_id: str, numbers: Sequence[int], seed: int, *, states: bool) -> Iterator[Decisions | GatewayMessage]:
    """Play the battles of these numbers and yield the gateway's messages, each after it is answered."""
    if not numbers:
        return
    teams = showdown_game(format_id).teams()
    draws: Counter[tuple[int, int]] = Counter()
    gateway = Gateway(format_id)
    num_started = num_ended = 0

    def start(count: int) -> None:
        nonlocal num_started
        now = numbers[num_started : num_started + count]
        num_started += len(now)
        gateway.send(Start(battles=tuple(_battle_start(number, seed, teams, states=states) for number in now)))
        gateway.flush()

    try:
        start(_NUM_CONCURRENT)
        while num_ended < len(numbers):
            message = gateway.receive(_SILENCE_SECONDS)
            if message is None:
                raise TryAgainError(f"the gateway was silent for {_SILENCE_SECONDS:.0f} s")
            if isinstance(message, Decisions):
                gateway.act(message.battle, message.seat, _draw(message, seed, draws))
                gateway.flush()
            elif isinstance(message, Finished | Failed):
                num_ended += len(message.battles)
                start(len(message.battles))
            yield message
    finally:
        gateway.close()


def _battle_start(number: int, seed: int, teams: Sequence[str], *, states: bool) -> BattleStart:
    root = derive_seed(seed, "rejections", number)
    first, second = (derive_seed(root, "team", seat) for seat in (0, 1))
    return BattleStart(
        battle=number,
        seed=hex_seed(root),
        teams=(teams[first % len(teams)], teams[second % len(teams)]) if teams else (None, None),
        team_seeds=(hex_seed(first), hex_seed(second)),
        lines=(False, False),
        states=(states, states),
        draws=(None, None),
        log=False,
        deadline_seconds=_DEADLINE_SECONDS,
    )


def _draw(decisions: Decisions, seed: int, draws: Counter[tuple[int, int]]) -> NDArray[np.int64]:
    """Return one legal action of each row, shape (N,); a seat's k-th draw follows from seed, battle, seat and k."""
    actions = np.empty(len(decisions), dtype=np.int64)
    for row, key in enumerate(zip(decisions.battle.tolist(), decisions.seat.tolist(), strict=True)):
        legal = np.flatnonzero(decisions.mask[row])
        actions[row] = legal[int(derive_uniform(seed, "choice", *key, draws[key]) * len(legal))]
        draws[key] += 1
    return actions


def main(
    format_id: Annotated[str, typer.Option("--format", help="A supported format.")],
    battles: Annotated[int, typer.Option(min=1, help="Battles to play.")] = 2000,
    seed: Annotated[int, typer.Option(min=0, help="Seed of teams, battles and choices.")] = 1,
) -> None:
    """Print the rejected choices by cause, and the number of battles with any."""
    try:
        counts = count_rejections(format_id, battles, seed)
    except NashdexError as error:
        sys.stderr.write(f"error: {error}\n")
        sys.exit(error.exit_code)
    sys.stdout.write(json.dumps(counts.as_json()) + "\n")


if __name__ == "__main__":
    typer.run(main)
