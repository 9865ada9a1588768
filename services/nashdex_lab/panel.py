"""A panel: one policy against a fixed set of players of its format, with intervals and on one scale."""

import hashlib
import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib.util import find_spec
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from pydantic import Field, NonNegativeInt

import nashdex
from nashdex.core.documents import Document, Model
from nashdex.core.references import ZOO, PolicyReference
from nashdex.evaluator.match import MatchResult, play_match
from nashdex.games.registry import FORMATS
from nashdex.metagame.evidence.estimates import CONFIDENCE
from nashdex.policies.references import format_of_policy, read_published_names, resolve
from nashdex.policies.scripted.registry import SCRIPTED_POLICIES, scripted_policies_of
from nashdex.settings.external import is_external, named_player
from nashdex.store import open_store

ANCHOR_ELO: Final = 1000.0
_ANCHORS: Final = ("heuristic", "max-power", "random")
"""Scripted policies that the scale may be fixed by; the first that plays the format fixes it."""
_LEFT_OUT: Final = frozenset({"first-action", "search:matrix-small", "search:matrix-1s"})
"""Scripted policies that a panel leaves out: other sizes of a search, one that depends on the machine, and one for
tests."""
_NEEDS: Final = {"search:poke-engine": "poke_engine"}
"""Packages without which a scripted policy does not play."""


class Elo(Model):
    """A rating difference, with the ends of its interval."""

    value: float
    low: float
    high: float


class PanelRow(Model):
    """The policy's result against one member of the panel."""

    result: MatchResult
    elo: Elo = Field(description="The policy's Elo minus the opponent's, from this row's score alone.")


class Panel(Document):
    """A policy's results against a panel."""

    policy: str = Field(description="As it was named, with how it plays.")
    format: str
    seed: NonNegativeInt
    confidence: float = CONFIDENCE
    anchor: str | None = Field(description="The opponent whose Elo is 1000; null where none fixes the scale.")
    elo: Elo | None = Field(description="The policy's Elo on this scale, from its battles against the anchor alone.")
    rows: tuple[PanelRow, ...] = Field(min_length=1, description="From the worst matchup to the best.")

    @property
    def worst(self) -> PanelRow:
        """The row with the lowest score."""
        return self.rows[0]


class PlayedRows(Document):
    """The rows of a panel that is not finished."""

    rows: dict[str, MatchResult] = Field(description="Results by ``row_key``.")


def identity_of(player: str) -> dict[str, Any]:
    """Return who plays under a name now, as JSON: a run's newest may be another policy later.

    A player of another program is its declaration on this machine.

    Raises:
        ConfigurationError: the player is unknown.
        DataError: the player is missing.
    """
    if is_external(player):
        return {"name": player, "declared": named_player(player)[1].model_dump(mode="json")}
    return {"name": player, "mixture": dict(resolve(PolicyReference.parse(player)).mixture)}


def row_key(
    format_id: str,
    policy: Mapping[str, Any],
    opponent: Mapping[str, Any],
    *,
    battles: int,
    seed: int,
    teams_text: str | None = None,
) -> str:
    """Return the hash of everything that a row's result follows from: equal keys, equal battles.

    ``policy`` and ``opponent`` are as ``identity_of`` returns them.
    """
    content = [nashdex.__version__, format_id, policy, opponent, battles, seed, teams_text]
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def panel_of(format_id: str, policy: str, also: Sequence[str] = ()) -> tuple[str, ...]:
    """Return the opponents of ``policy`` in a format: scripted ones, the zoo's, and ``also``; never itself.

    Raises:
        ConfigurationError: there is no such format.
        DataError: the zoo is altered.
    """
    played = FORMATS[format_id]
    able = scripted_policies_of(format_id, played.game, played.num_slots)
    scripted = [
        name for name in able if name not in _LEFT_OUT and (name not in _NEEDS or find_spec(_NEEDS[name]) is not None)
    ]
    named = (PolicyReference(name, ZOO) for name in read_published_names(open_store(ZOO)).policies)
    zoo = [reference for reference in named if format_of_policy(reference) == format_id]
    itself = set(resolve(PolicyReference.parse(policy)).mixture)
    opponents = [*scripted, *(f"{reference}@greedy" for reference in zoo), *also]
    return tuple(o for o in dict.fromkeys(opponents) if set(resolve(PolicyReference.parse(o)).mixture) != itself)


def play_panel(
    format_id: str,
    policy: str,
    opponents: Sequence[str],
    *,
    battles: int,
    slow_battles: int,
    seed: int = 0,
    teams_text: str | None = None,
    num_gateways: int = 1,
    played: Mapping[str, MatchResult] = MappingProxyType({}),
    on_row: Callable[[str, MatchResult], None] = lambda _key, _result: None,
) -> Panel:
    """Play ``policy`` against each of ``opponents`` and return the results.

    Args:
        format_id: the format.
        policy: as people name it, like each of ``opponents``.
        opponents: at least one.
        battles: of each pairing.
        slow_battles: of a pairing with a player that searches.
        seed: of every pairing: each opponent meets the same teams.
        teams_text: packed teams that replace the format's own.
        num_gateways: simulator processes.
        played: results of earlier, by ``row_key``, which are not played again.
        on_row: called with the key and the result of each row that was played.

    Raises:
        ConfigurationError: a player is unknown or cannot play here.
        DataError: a player is missing, altered or of another space.
        StoppedError: the process was asked to stop.
    """
    rows = []
    identity = identity_of(policy)
    for opponent in opponents:
        num_battles = slow_battles if _is_slow(policy) or _is_slow(opponent) else battles
        key = row_key(format_id, identity, identity_of(opponent), battles=num_battles, seed=seed, teams_text=teams_text)
        result = played.get(key)
        if result is None:
            result = play_match(
                format_id,
                policy,
                opponent,
                battles=num_battles,
                teams_text=teams_text,
                seed=seed,
                num_gateways=num_gateways,
            )
            on_row(key, result)
        if result.score is not None:
            rows.append(PanelRow(result=result, elo=_elo(result)))
    by_score = tuple(sorted(rows, key=lambda row: (row.result.score, row.result.p2)))
    anchor = next((row for name in _ANCHORS for row in by_score if row.result.p2 == name), None)
    return Panel(
        policy=policy,
        format=format_id,
        seed=seed,
        anchor=None if anchor is None else anchor.result.p2,
        elo=None if anchor is None else _above(anchor.elo),
        rows=by_score,
    )


def _is_slow(player: str) -> bool:
    """Say whether a player takes long for a decision, as searches do."""
    scripted = player in SCRIPTED_POLICIES and SCRIPTED_POLICIES[player].max_concurrent_battles is not None
    return scripted or PolicyReference.parse(player).searches


def _above(elo: Elo) -> Elo:
    return Elo(value=ANCHOR_ELO + elo.value, low=ANCHOR_ELO + elo.low, high=ANCHOR_ELO + elo.high)


def _elo(result: MatchResult) -> Elo:
    """Return the Elo difference of a score that nobody can win or lose entirely: with half a battle for each side."""
    value, low, high = (_elo_of((score * result.battles + 0.5) / (result.battles + 1)) for score in _interval(result))
    return Elo(value=value, low=min(low, value), high=max(high, value))


class _Interval(NamedTuple):
    value: float
    low: float
    high: float


def _interval(result: MatchResult) -> _Interval:
    """Return the score of a row, which has one, with its interval."""
    assert result.score is not None
    assert result.low is not None
    assert result.high is not None
    return _Interval(result.score, result.low, result.high)


def _elo_of(score: float) -> float:
    return 400.0 * math.log10(score / (1.0 - score))


class Repetition(NamedTuple):
    """How far a panel agrees with another of the same policy."""

    num_agreeing: int
    """Scores whose difference is within its 95 % interval."""
    num_compared: int
    farthest: str
    """The opponent with the largest difference."""
    difference: float
    """The second panel's score minus the first's, against this opponent."""


def repetition(panel: Panel, again: Panel) -> Repetition | None:
    """Return how far ``again`` agrees with ``panel``; None if they have no opponent in common.

    The interval of a difference follows from the two scores' intervals, whose half widths are added as squares.
    """
    first = {row.result.p2: row.result for row in panel.rows}
    differences = {}
    num_agreeing = 0
    for row in again.rows:
        found, earlier = row.result, first.get(row.result.p2)
        if earlier is None:
            continue
        score, other = _interval(found), _interval(earlier)
        differences[found.p2] = score.value - other.value
        half_width = math.hypot(score.high - score.low, other.high - other.low) / 2
        num_agreeing += abs(differences[found.p2]) <= half_width
    if not differences:
        return None
    farthest = max(differences, key=lambda opponent: (abs(differences[opponent]), opponent))
    return Repetition(num_agreeing, len(differences), farthest, differences[farthest])


HEADINGS = ("opponent", "score", "95 % interval", "draws as losses", "battles", "Elo difference")


def panel_cells(row: PanelRow) -> tuple[str, ...]:
    """Return a row's cells, in the order of ``HEADINGS``."""
    result = row.result
    lost = "" if result.score_draws_as_losses is None else f"{result.score_draws_as_losses:.3f}"
    return (
        result.p2,
        f"{result.score:.3f}",
        f"{result.low:.3f} to {result.high:.3f}",
        lost,
        f"{result.battles:,}",
        f"{row.elo.value:+.0f} ({row.elo.low:+.0f} to {row.elo.high:+.0f})",
    )


def panel_lines(panel: Panel) -> Iterator[str]:
    """Yield the table, then the rating and the worst matchup."""
    rows = [HEADINGS, *map(panel_cells, panel.rows)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        yield "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
    if panel.elo is not None:
        yield f"{panel.policy} has Elo {_elo_text(panel.elo)} where {panel.anchor} has {ANCHOR_ELO:.0f}"
    worst = panel.worst.result
    yield f"worst matchup: {worst.p2}, {worst.score:.3f} ({worst.low:.3f} to {worst.high:.3f})"


def _elo_text(elo: Elo) -> str:
    return f"{elo.value:.0f} ({elo.low:.0f} to {elo.high:.0f})"
