"""Imported policies with memory in real battles, and metamon's action numbers against its own code."""

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from nashdex.core.ids import PolicyId
from nashdex.games.interface import NO_ACTION, BattleSpec, Decisions, RunningBattle, SeatLines
from nashdex.games.registry import showdown_game
from nashdex.games.showdown.gateway import Gateway
from nashdex.games.showdown.protocol import Lines, Track, TrackedSeat
from nashdex.games.showdown.wire_actions import WireActions
from nashdex.games.space import Space
from nashdex.policies.interface import Policy
from nashdex.policies.scripted.playing import scripted_policy
from nashdex.rollout.pairs import PairedBattles
from nashdex.rollout.session import Session
from nashdex.store import open_store
from nashdex_cli.cli import run_command_line
from nashdex_metamon.checkpoints import archive
from nashdex_metamon.checkpoints.playing import MemoryPlayer
from nashdex_metamon.checkpoints.seats import ImportedSeats, load_imported_seats
from nashdex_metamon.live import orders
from nashdex_metamon.names import move_name
from nashdex_replays.words import clean_name
from support.metamon_goldens import BATTLES, amago_mini, golden

pytestmark = pytest.mark.integration

MINI_RNN = PolicyId("metamon:mini-rnn")
RANDOM = PolicyId("random")
NUM_BATTLES = 12


def tracked(battle: str) -> Iterator[tuple[dict[str, Any], SeatLines, np.ndarray[Any, Any], Space]]:
    """Yield each decision of a golden battle: metamon's own view, ours, the legal actions, and the space."""
    gateway = Gateway(battle.partition("-")[0])
    expected = [
        [row for row in golden("spaces", battle)["decisions"] if row["seat"] == seat and not row["end"]]
        for seat in (0, 1)
    ]
    try:
        for row in golden("battles", battle)["rows"]:
            seat, request = row["seat"], row["request"]
            asked = TrackedSeat(battle=1, seat=seat, lines=tuple(row["lines"]), request=request, state=True)
            gateway.send(Track(rows=(asked,)))
            gateway.flush()
            is_decision = bool(request) and not request.get("wait")
            state = mask = None
            while state is None or (is_decision and mask is None):
                received = gateway.receive(60.0)
                assert received is not None
                if isinstance(received, Lines):
                    state = received.rows[0].state
                elif isinstance(received, Decisions):
                    mask = received.mask[0].copy()
            if is_decision and not request.get("teamPreview"):
                assert mask is not None
                yield expected[seat].pop(0), SeatLines(row["lines"], request, state), mask, gateway.space
    finally:
        gateway.close()


def named(said: SeatLines, action: int, space: Space) -> str:
    """Return an action as metamon's orders say it: by the names of Pokémon and moves."""
    assert said.state is not None
    own = said.state["own"]["pokemon"]
    word, _, number = space.actions[action].rpartition(" ")
    if word == "switch":
        return f"switch {clean_name(own[int(number) - 1]['forme'])}"
    known = [move_name(move["id"]) for move in own[said.state["own"]["active"]]["moves"]]
    offered = [move_name(move["id"]) for move in said.request["active"][0]["moves"]]
    name = offered[0] if len(offered) == 1 and offered[0] not in known else known[int(number) - 1]
    return f"move {name}{' terastallize' if word.startswith('tera') else ''}"


@pytest.mark.slow
def test_metamons_actions_mean_what_they_mean_there() -> None:
    """Of 1,052 decisions all but two are equal: there metamon has no order for the first generation's ``fight``."""
    num_decisions = num_fights = 0
    for battle in BATTLES:
        for expected, said, mask, space in tracked(battle):
            ours = {
                number: named(said, action, space)
                for number, action in enumerate(orders(said, mask, WireActions.of(space)).tolist())
                if action != NO_ACTION
            }
            theirs = {}
            for number, order in expected["orders"].items():
                _, kind, name, *tera = order.split(" ")
                # It orders a recharge by its place.
                name = "recharge" if name == "1" else name
                theirs[int(number)] = " ".join((kind, move_name(name) if kind == "move" else name, *tera))
            num_decisions += 1
            if "move fight" in ours.values():
                num_fights += 1
                assert {number: ours[number] for number in theirs} == theirs
            else:
                assert ours == theirs
    assert (num_decisions, num_fights) == (1052, 2)


def play(policy: Policy, num_battles: int = NUM_BATTLES) -> float:
    """Return the mean score of ``policy`` against random choices, over side-swapped pairs."""
    game = showdown_game("gen1ou")
    with Session(game.open_arena(num_gateways=1), num_battles) as session:
        session.policies |= {policy.id: policy, RANDOM: scripted_policy("random", session.space)}
        paired = PairedBattles(3, game.teams(), 300.0)
        assignments = [paired.assignment(number, (policy.id, RANDOM)) for number in range(num_battles)]
        ended = list(session.play(assignments))
    assert all(finished.outcome is not None for finished in ended)
    return float(np.mean([f.outcome.score(f.assignment.first_seat) for f in ended if f.outcome is not None]))


def gen1ou_space() -> Space:
    gateway = Gateway("gen1ou")
    gateway.close()
    return gateway.space


@pytest.mark.slow
def test_mini_rnn_beats_random_choices() -> None:
    assert play(scripted_policy(MINI_RNN, gen1ou_space())) >= 0.75


@pytest.mark.slow
@pytest.mark.parametrize("suffix", ["", "@greedy", "@T0.5"])
def test_a_stored_agent_plays_and_remembers_no_battle_that_ended(suffix: str, tmp_path: Path) -> None:
    store = open_store(str(tmp_path))
    document = archive.import_checkpoint(
        store,
        amago_mini(strict_mask=not suffix),
    )
    space = gen1ou_space()
    player = MemoryPlayer(archive.load_imported(store, document.id), space)
    play(ImportedSeats(document.id, player), num_battles=4)
    assert (player.num_remembered, player.view.num_remembered, player.view.num_leaked) == (0, 0, 0)
    play(load_imported_seats(store, PolicyId(f"{document.id}{suffix}"), space), num_battles=2)


@pytest.mark.slow
def test_a_seat_that_was_not_forgotten_is_counted_and_begins_again() -> None:
    """Two battles of one number, without ``forget`` between them, are played like two of different numbers."""
    game = showdown_game("gen1ou")
    chosen: list[list[int]] = []
    arena = game.open_arena(num_gateways=1)
    try:
        player = scripted_policy(MINI_RNN, arena.space)
        view = player.view
        assert view is not None
        for battle in (0, 0, 1):
            spec = BattleSpec(seed=5, teams=(game.teams()[0], game.teams()[1]))
            arena.start([RunningBattle(battle, spec, lines=(True, True), states=(True, True))])
            chosen.append([])
            while True:
                events = arena.poll()
                assert not events.failures
                for decisions in events.decisions:
                    seen = replace(decisions, viewed=view.read(decisions))
                    action = player.act(seen, np.full(len(decisions), 0.5)).action
                    chosen[-1] += action.tolist()
                    arena.act(decisions.battle, decisions.seat, action)
                if events.outcomes:
                    break
    finally:
        arena.close()
    assert chosen[0] == chosen[1] == chosen[2]


def test_the_time_of_a_view_is_measured(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command_line(["bench", "view", "--format", "gen1ou", "--battles", "2", "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert result["view"] == "metamon/OpponentMoveObservationSpace/DefaultActionSpace"
    assert result["num_decisions"] > 50
    assert result["median_microseconds"] > 0
