"""The tracker against poke-env: both follow the same battles, and every shared fact is compared.

``PYTHONPATH=tests python -m audits.tracker.differential --format gen1ou --battles 2000 --seed 1`` plays battles through
the gateway, passes each seat's lines and requests to poke-env, and compares its battle with the gateway's tracker at
every decision. It counts by reason the differences that ``known`` explains, and fails on any other.
"""

import json
import sys
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, Final

import numpy as np
import typer
from numpy.typing import NDArray

from audits.tracker.difference import Difference
from audits.tracker.features import features
from audits.tracker.known import KNOWN_DIFFERENCES
from nashdex.core.errors import ConfigurationError, TryAgainError
from nashdex.core.seeds import derive_seed, hex_seed
from nashdex.games.interface import Decisions
from nashdex.games.registry import showdown_game
from nashdex.games.showdown.gateway import Gateway
from nashdex.games.showdown.poke_env_players import PokeEnvSeat
from nashdex.games.showdown.protocol import BattleStart, Failed, FailedBattle, Finished, Lines, SeatView, Start

_NUM_CONCURRENT: Final = 16
_SILENCE_SECONDS: Final = 120.0
_DEADLINE_SECONDS: Final = 600.0
_HEURISTIC_SHARE: Final = 0.5
"""Share of decisions by the heuristics. The others are drawn from the legal actions, so that rare moves occur."""
_SWITCH_SHARE: Final = 0.15
"""Share of switches among drawn decisions that could be a move or a switch."""
_CONTEXT_LINES: Final = 40
_MAX_EXAMPLES_OF_A_KIND: Final = 3


@dataclass
class Report:
    """Results of a comparison."""

    format: str
    battles: int = 0
    decisions: int = 0
    failed: int = 0
    oddities: int = 0
    """Lines and requests that poke-env could not read."""
    compared: Counter[str] = field(default_factory=Counter)
    explained: dict[str, Counter[str]] = field(default_factory=dict)
    """Explained differences by feature and name of the explanation."""
    unexplained: Counter[str] = field(default_factory=Counter)
    examples: list[dict[str, Any]] = field(default_factory=list)

    def as_json(self) -> dict[str, Any]:
        """Return it as plain JSON."""
        return {
            "format": self.format,
            "battles": self.battles,
            "decisions": self.decisions,
            "failed": self.failed,
            "poke_env_oddities": self.oddities,
            "compared": self.compared.total(),
            "explained": sum(reasons.total() for reasons in self.explained.values()),
            "unexplained": self.unexplained.total(),
            "features": {
                name: {
                    "compared": count,
                    "explained": dict(self.explained.get(name, {})),
                    "unexplained": self.unexplained[name],
                }
                for name, count in sorted(self.compared.items())
            },
            "examples": self.examples,
        }


@dataclass
class _Seat:
    """One seat of a running battle."""

    player: PokeEnvSeat
    generator: np.random.Generator
    """One per seat, so that its draws depend on its battle alone."""
    lines: list[str] = field(default_factory=list)
    """All lines that it has seen."""


class Comparison:
    """Plays battles of one format and compares both views of them at every decision.

    Args:
        format_id: one of the supported formats.
        seed: of teams, battles and choices.
        max_examples: differences to keep with the lines before them, a few of each kind.
        shows_explained: keep examples of explained differences too.
    """

    def __init__(self, format_id: str, seed: int, *, max_examples: int = 20, shows_explained: bool = False) -> None:
        self._seed = seed
        self._max_examples = max_examples
        self._shows_explained = shows_explained
        self._report = Report(format_id)
        self._num_slots = 1
        self._teams = showdown_game(format_id).teams()
        self._num_started = 0
        self._seats: dict[tuple[int, int], _Seat] = {}
        self._views: dict[tuple[int, int], SeatView] = {}

    def run(self, num_battles: int) -> Report:
        """Play ``num_battles`` battles, two seats each.

        Raises:
            TryAgainError: the gateway was lost.
        """
        report = self._report
        gateway = Gateway(report.format)
        self._num_slots = gateway.space.num_slots
        try:
            self._start(gateway, min(_NUM_CONCURRENT, num_battles))
            while report.battles + report.failed < num_battles:
                message = gateway.receive(_SILENCE_SECONDS)
                if message is None:
                    raise TryAgainError(f"the gateway was silent for {_SILENCE_SECONDS:.0f} s")
                if isinstance(message, Decisions):
                    gateway.act(message.battle, message.seat, self._answer(message))
                    gateway.flush()
                elif isinstance(message, Lines):
                    self._views |= {(view.battle, view.seat): view for view in message.rows}
                elif isinstance(message, Finished | Failed):
                    self._end(message)
                    self._start(gateway, min(len(message.battles), num_battles - self._num_started))
        finally:
            gateway.close()
        return report

    def _start(self, gateway: Gateway, count: int) -> None:
        rows = []
        for number in range(self._num_started, self._num_started + count):
            paths = ("battle", "team 1", "team 2")
            battle_seed, *team_seeds = (
                hex_seed(derive_seed(self._seed, self._report.format, path, number)) for path in paths
            )
            generator = np.random.default_rng(derive_seed(self._seed, self._report.format, "teams", number))
            drawn = generator.integers(len(self._teams), size=2) if self._teams else ()
            first, second = (self._teams[team] for team in drawn) if self._teams else (None, None)
            rows.append(
                BattleStart(
                    battle=number,
                    seed=battle_seed,
                    teams=(first, second),
                    team_seeds=(team_seeds[0], team_seeds[1]),
                    lines=(True, True),
                    states=(True, True),
                    draws=(None, None),
                    log=False,
                    deadline_seconds=_DEADLINE_SECONDS,
                )
            )
        self._num_started += count
        if rows:
            gateway.send(Start(battles=tuple(rows)))
            gateway.flush()

    def _end(self, message: Finished | Failed) -> None:
        for ended in message.battles:
            for seat in (0, 1):
                left = self._seats.pop((ended.battle, seat), None)
                self._report.oddities += left.player.num_oddities if left else 0
            if isinstance(ended, FailedBattle):
                self._report.failed += 1
                self._report.examples.append(ended.model_dump())
            else:
                self._report.battles += 1

    def _answer(self, decisions: Decisions) -> NDArray[np.int64]:
        """Compare each decision and return an action for it, shape (N,)."""
        actions = np.empty(len(decisions), dtype=np.int64)
        for row, key in enumerate(zip(decisions.battle.tolist(), decisions.seat.tolist(), strict=True)):
            view = self._views.pop(key)
            if key not in self._seats:
                generator = np.random.default_rng(derive_seed(self._seed, self._report.format, "choices", *key))
                self._seats[key] = _Seat(PokeEnvSeat(self._report.format, key[1], self._num_slots), generator)
            seat = self._seats[key]
            seat.lines += view.lines
            seat.player.read(view.lines, view.request or {})
            offsets = decisions.legal.offsets
            legal = decisions.legal.actions[offsets[row] : offsets[row + 1]]
            self._judge(key, seat, view, legal)
            actions[row] = _choose(seat, legal, view.state or {})
        return actions

    def _judge(self, key: tuple[int, int], seat: _Seat, view: SeatView, legal: NDArray[np.uint16]) -> None:
        """Compare one decision and count the outcome."""
        report = self._report
        report.decisions += 1
        state, request = view.state or {}, view.request or {}
        for compared in features(seat.player.battle, state, request, legal):
            report.compared[compared.feature] += 1
            if compared.tracker == compared.poke_env:
                continue
            difference = Difference(
                feature=compared.feature,
                tracker=compared.tracker,
                poke_env=compared.poke_env,
                state=compared.state,
                battle_state=state,
                pokemon=compared.pokemon,
                battle=seat.player.battle,
                request=request,
                lines=seat.lines,
            )
            known = next((name for name, explains in KNOWN_DIFFERENCES.items() if explains(difference)), None)
            if known is None:
                report.unexplained[compared.feature] += 1
            else:
                report.explained.setdefault(compared.feature, Counter())[known] += 1
            if known is None or self._shows_explained:
                self._show(key, difference, known or "unexplained")

    def _show(self, key: tuple[int, int], difference: Difference, reason: str) -> None:
        """Keep a difference with the lines before it, if there are not enough of its kind."""
        examples = self._report.examples
        kind = f"{reason}: {difference.feature}"
        of_kind = sum(example.get("kind") == kind for example in examples)
        if len(examples) < self._max_examples and of_kind < _MAX_EXAMPLES_OF_A_KIND:
            examples.append(
                {
                    "kind": kind,
                    "battle": key[0],
                    "seat": key[1],
                    "turn": difference.battle_state["turn"],
                    "pokemon": difference.state.get("name"),
                    "tracker": repr(difference.tracker),
                    "poke_env": repr(difference.poke_env),
                    "lines": list(difference.lines[-_CONTEXT_LINES:]),
                }
            )


def _choose(seat: _Seat, legal: NDArray[np.uint16], state: Mapping[str, Any]) -> int:
    """Return the heuristics' action with probability ½, else a drawn one: moves more often than switches."""
    generator = seat.generator
    preferred = seat.player.choose(generator.random()) if generator.random() < _HEURISTIC_SHARE else None
    if preferred is not None and preferred in legal:
        return preferred
    is_switch = np.array(["switch" in state["choices"][str(action)] for action in legal])
    moves, switches = legal[~is_switch], legal[is_switch]
    switches_out = not len(moves) or (len(switches) and generator.random() < _SWITCH_SHARE)
    return int(generator.choice(switches if switches_out else moves))


def main(
    format_id: Annotated[str, typer.Option("--format", help="One of the supported formats.")],
    battles: Annotated[int, typer.Option(min=1)] = 100,
    seed: Annotated[int, typer.Option()] = 1,
    examples: Annotated[int, typer.Option(min=0, help="Differences to show with their lines.")] = 20,
    *,
    explained: Annotated[bool, typer.Option("--explained", help="Show examples of explained differences too.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
) -> None:
    """Compare the gateway's tracker with poke-env; exit 1 on a difference that is not explained."""
    try:
        showdown_game(format_id)
    except ConfigurationError as error:
        raise typer.BadParameter(str(error), param_hint="--format") from error
    report = Comparison(format_id, seed, max_examples=examples, shows_explained=explained).run(battles).as_json()
    typer.echo(json.dumps(report) if as_json else _text(report))
    if report["unexplained"] or report["failed"]:
        sys.exit(1)


def _text(report: Mapping[str, Any]) -> str:
    summary = (
        f"{report['format']}: {report['battles']} battles, {report['decisions']} decisions, {report['failed']} failed; "
        f"{report['compared']} comparisons, {report['explained']} differences explained, "
        f"{report['unexplained']} unexplained"
    )
    lines = [summary]
    for name, counts in report["features"].items():
        reasons = "; ".join(f"{reason} {count}" for reason, count in counts["explained"].items())
        lines.append(f"{name:32} {counts['compared']:9} compared {counts['unexplained']:6} unexplained  {reasons}")
    lines += [json.dumps(example, indent=1, ensure_ascii=False) for example in report["examples"]]
    return "\n".join(lines)


if __name__ == "__main__":
    typer.run(main)
