"""Policies against programs that play by websocket, in a match and in a run's tournament.

The server draws teams and chance, so no two battles are a side-swapped pair. In a tournament such battles have numbers
as others do; the seats and the pairs that follow from these numbers are names alone.
"""

import math
import time
from collections import Counter, deque
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from nashdex.core.ids import PolicyId
from nashdex.core.seeds import derive_seed
from nashdex.evaluator.match import MatchResult
from nashdex.games.interface import Game
from nashdex.games.registry import game_for
from nashdex.games.showdown.gateway import Gateway
from nashdex.metagame.evidence.battles import BattleRecord, PlannedBattle
from nashdex.metagame.evidence.estimates import clustered_wilson_interval
from nashdex.policies.interface import Policy
from nashdex.rollout.play import RolloutCounts
from nashdex.serve.deciding import Decider, open_decider
from nashdex.serve.programs.match import play_battles
from nashdex.serve.room import SCORES, ServedBattle
from nashdex.settings.external import ExternalPlayer
from nashdex.telemetry import metrics

ESTIMATOR: Final = "mean-score, wilson"
"""The mean score, with Wilson's interval over single battles."""


def play_program_match(
    format_id: str,
    policy: str,
    player: str,
    declared: ExternalPlayer,
    *,
    battles: int,
    program_is_first: bool = False,
    teams_text: str | None = None,
    seed: int = 0,
    on_battle: Callable[[int], None] = lambda _: None,
) -> MatchResult:
    """Play ``battles`` battles between ``policy`` and the program ``player``; the result is the first one's.

    Draws of the policy follow from ``seed`` and the server's names of the rooms. ``teams_text`` replaces the policy's
    teams; the program brings its own. The result's decisions are the policy's.

    Raises:
        ConfigurationError: the policy, the format or the program is not available.
        DataError: the policy is missing, altered, or of another space.
        TryAgainError: the server or the gateway does not answer.
        StoppedError: the process was asked to stop.
    """
    started = time.monotonic()
    game = game_for(format_id, teams_text)
    failures: Counter[str] = Counter()
    served: list[ServedBattle] = []
    own: list[float] = []

    def note(battle: ServedBattle) -> None:
        served.append(battle)
        if battle.result is not None:
            own.append(SCORES[battle.result])
        on_battle(len(own))

    decider = open_decider(policy, game, seed)
    try:
        play_battles(game, player, declared, decider, battles=battles, seed=seed, failures=failures, on_battle=note)
    finally:
        decider.close()
    scores = [1 - score for score in own] if program_is_first else own
    low, high = clustered_wilson_interval(scores, range(len(scores))) if scores else (None, None)
    return MatchResult(
        format=game.format,
        p1=player if program_is_first else policy,
        p2=policy if program_is_first else player,
        seed=seed,
        score=math.fsum(scores) / len(scores) if scores else None,
        low=low,
        high=high,
        estimator=ESTIMATOR,
        score_draws_as_losses=scores.count(1.0) / len(scores) if scores else None,
        battles=len(scores),
        wins=scores.count(1.0),
        losses=scores.count(0.0),
        draws=scores.count(0.5),
        rejected=sum(battle.refused for battle in served),
        untracked=sum(battle.untracked for battle in served),
        failed=battles - len(scores),
        failures=dict(+failures),
        decisions=sum(battle.decisions for battle in served),
        seconds=time.monotonic() - started,
    )


def play_planned_battles(
    game: Game,
    program: PolicyId,
    declared: ExternalPlayer,
    policies: Mapping[PolicyId, Policy],
    planned: Sequence[PlannedBattle],
    *,
    seed: int,
    counts: RolloutCounts,
    on_battle: Callable[[BattleRecord], None],
) -> None:
    """Play battles of ``program`` against ``policies``, cell after cell, until it failed too often in a row.

    A void battle is played again. ``counts`` has its cause, and the totals of the battles with a result.

    Raises:
        ConfigurationError: the program is not available.
        TryAgainError: the server or the gateway does not answer.
        StoppedError: the process was asked to stop.
    """
    waiting = deque(planned)
    begun: dict[str, PlannedBattle] = {}

    def opponent(battle: PlannedBattle) -> PolicyId:
        return battle.b if battle.a == program else battle.a

    def draw(room: str) -> PolicyId:
        begun[room] = waiting.popleft()
        return opponent(begun[room])

    def note(served: ServedBattle) -> None:
        battle = begun.pop(served.room)
        if served.result is None:
            waiting.appendleft(battle)
            return
        counts.battles += 1
        counts.decisions += served.decisions
        counts.rejected_choices += served.refused
        own = battle.seats.index(opponent(battle))
        on_battle(
            BattleRecord(
                policies=battle.seats,
                pair=battle.pair,
                seed=derive_seed(seed, served.room),
                teams=None,
                winner={"win": own, "loss": 1 - own, "tie": None}[served.result],
                turns=served.turns,
                decisions=served.decisions,
            )
        )

    failures: Counter[str] = Counter()
    gateway = Gateway(game.format)
    try:
        decider = Decider(gateway, policies, draw, seed)
        play_battles(
            game, program, declared, decider, battles=len(planned), seed=seed, failures=failures, on_battle=note
        )
    finally:
        gateway.close()
        for cause, number in (+failures).items():
            counts.failures[cause] += number
            metrics.FAILED_BATTLES.add(number, cause=cause)
