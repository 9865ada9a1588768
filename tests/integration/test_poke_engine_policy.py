"""The adapter for poke-engine, in real battles, with a stand-in that has the package's interface and no engine."""

import importlib
import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from nashdex.core.ids import PolicyId
from nashdex.games.interface import BattleSpec, Decisions
from nashdex.games.registry import game_for
from nashdex.policies.interface import Actions
from nashdex.policies.scripted.playing import scripted_policy
from nashdex.policies.search.engine import PokeEnginePlayer
from nashdex.rollout.pairs import PairedBattles
from nashdex.rollout.play import Assignment
from nashdex.rollout.session import Session
from nashdex_cli.cli import run_command_line

pytestmark = pytest.mark.integration
STAND_IN = Path(__file__).parents[1] / "support" / "stand_in"
CLI = ("battle", "--p1", "search:poke-engine", "--p2", "random", "--battles", "1", "--format")
ENGINE, OPPONENT = PolicyId("search:poke-engine"), PolicyId("first-action")
STATS = {"attack": "atk", "defense": "def", "special_attack": "spa", "special_defense": "spd", "speed": "spe"}
FIRST_MOVE = 6


@pytest.fixture
def engine(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """The stand-in, where the package would be."""
    monkeypatch.syspath_prepend(str(STAND_IN))
    monkeypatch.delitem(sys.modules, "poke_engine", raising=False)
    yield importlib.import_module("poke_engine")
    sys.modules.pop("poke_engine", None)


@dataclass
class _Watched:
    """The engine's policy, with what the seat knew at each decision beside the states that the engine got."""

    player: PokeEnginePlayer
    engine: Any
    id: PolicyId = ENGINE
    needs_lines: bool = True
    needs_state: bool = True
    view: None = None
    asked: list[tuple[list[str], dict[str, Any], list[Any]]] = field(default_factory=list)
    """Lines, the tracker's state and the engine's states, by decision."""

    def act(self, decisions: Decisions, uniforms: NDArray[np.float64]) -> Actions:
        assert len(decisions) == 1
        before = len(self.engine.seen)
        answers = self.player.act(decisions, uniforms)
        said = decisions.lines[int(decisions.battle[0]), int(decisions.seat[0])]
        assert said.state is not None
        assert answers.action[0] in decisions.legal[0]
        self.asked.append((said.lines, said.state, self.engine.seen[before:]))
        return answers

    def forget(self, battle: int, seat: int) -> None:
        self.player.forget(battle, seat)

    def cpu_seconds(self) -> float:
        return self.player.cpu_seconds()

    def close(self) -> None:
        self.player.close()


class _FirstMove:
    """Uses its first move while it can, so that it shows nothing else."""

    id = OPPONENT
    needs_lines = False
    needs_state = False
    view = None

    def act(self, decisions: Decisions, uniforms: NDArray[np.float64]) -> Actions:
        del uniforms
        action = [
            FIRST_MOVE if FIRST_MOVE in row else int(row[0])
            for row in map(decisions.legal.__getitem__, range(len(decisions)))
        ]
        return Actions(np.array(action, dtype=np.int64), np.zeros(len(decisions), dtype=np.float32))

    def forget(self, battle: int, seat: int) -> None: ...


def _play(engine: ModuleType, format_id: str, spec: BattleSpec | None = None, worlds: int = 2) -> _Watched:
    """Play one battle to its end: the engine's policy in seat 0."""
    with Session(game_for(format_id).open_arena(num_gateways=1), concurrent_battles=1) as session:
        watched = _Watched(PokeEnginePlayer(session.space, worlds, 50.0), engine)
        opponent = _FirstMove() if spec else scripted_policy("random", session.space)
        session.policies |= {ENGINE: watched, OPPONENT: opponent}
        made = PairedBattles(3, game_for(format_id).teams(), deadline_seconds=1000.0).assignment(0, (ENGINE, OPPONENT))
        assignment = made if spec is None else Assignment(spec=spec, seats=(ENGINE, OPPONENT))
        (finished,) = session.play([assignment])
        assert finished.outcome is not None, finished.detail
    return watched


def _boosts(side: Any) -> dict[str, int]:  # noqa: ANN401
    names = STATS | {"accuracy": "accuracy", "evasion": "evasion"}
    return {short: getattr(side, f"{name}_boost") for name, short in names.items()}


def _plain(move: str) -> str:
    """Return a move's id without Hidden Power's type and power, which each side writes in its own way."""
    return "hiddenpower" if move.startswith("hiddenpower") else move


def _check_known(state: dict[str, Any], given: Any) -> None:  # noqa: ANN401
    """Check that a state of the engine has what the tracker knows."""
    statuses = {
        "": "none", "brn": "burn", "slp": "sleep", "frz": "freeze", "par": "paralyze", "psn": "poison", "tox": "toxic",
    }  # fmt: skip
    own = {pokemon.id: pokemon for pokemon in given.side_one.pokemon}
    foe = {pokemon.id: pokemon for pokemon in given.side_two.pokemon}
    assert len(own) == len(state["own"]["pokemon"])
    assert len(foe) == state["opponent"]["team_size"]
    for known in state["own"]["pokemon"]:
        pokemon = own[known["forme"]]
        assert pokemon.hp == known["hp"]
        assert pokemon.status == ("none" if known["fainted"] else statuses[known["status"]])
        if known["fainted"] or known["volatiles"].get("transformed"):
            continue
        assert pokemon.maxhp == known["max_hp"]
        assert {name: getattr(pokemon, name) for name in STATS} == {n: known["stats"][s] for n, s in STATS.items()}
        assert [(_plain(m.id), m.pp) for m in pokemon.moves] == [(_plain(m["id"]), m["pp"]) for m in known["moves"]]
    for known in state["opponent"]["pokemon"]:
        pokemon = foe[known["forme"]]
        assert pokemon.level == known["level"]
        assert pokemon.hp / pokemon.maxhp == pytest.approx(known["hp"] / known["max_hp"], abs=0.011)
        assert (pokemon.hp == 0) == known["fainted"]
        assert pokemon.status == ("none" if known["fainted"] else statuses[known["status"]])
        if not known["fainted"] and not known["volatiles"].get("transformed"):
            moves = {_plain(move.id): move.pp for move in pokemon.moves}
            assert {_plain(move["id"]): move["pp"] for move in known["moves"]}.items() <= moves.items()
    for side, known in ((given.side_one, state["own"]), (given.side_two, state["opponent"])):
        active = known["pokemon"][known["active"]]
        assert side.active.id == active["forme"]
        if not active["fainted"]:
            expected = {stat: active["boosts"][stat] for stat in _boosts(side)}
            assert _boosts(side) == expected


def test_without_the_package_it_is_refused(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "poke_engine", None)
    assert run_command_line((*CLI, "gen1randombattle")) == 64
    error = capsys.readouterr().err
    assert error.startswith("error: search:poke-engine needs the package poke-engine, which cannot be imported here")
    assert error.count("\n") == 1


def test_another_interface_is_refused(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    older = ModuleType("poke_engine")
    for name in ("State", "Side", "SideConditions", "Pokemon", "Move", "monte_carlo_tree_search"):
        setattr(older, name, object)
    monkeypatch.setitem(sys.modules, "poke_engine", older)
    assert run_command_line((*CLI, "gen1randombattle")) == 64
    assert "the installed package has no VolatileStatusDurations: install" in capsys.readouterr().err


@pytest.mark.usefixtures("engine")
def test_doubles_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command_line((*CLI, "gen9randomdoublesbattle")) == 64
    assert "'search:poke-engine' does not play gen9randomdoublesbattle" in capsys.readouterr().err


@pytest.mark.slow
@pytest.mark.parametrize("format_id", ["gen1randombattle", "gen3randombattle", "gen9ou"])
def test_the_engine_gets_what_the_seat_knows(engine: Any, format_id: str) -> None:  # noqa: ANN401
    watched = _play(engine, format_id)
    assert (watched.player.illegal, watched.player.failed) == (0, 0)
    compared = 0
    for _, state, given in watched.asked:
        assert len(given) == (2 if len(state["choices"]) > 1 else 0), "a world each, and none for a lone choice"
        for world in given:
            assert world.team_preview == state["team_preview"]
            if not state["team_preview"]:
                _check_known(state, world)
                compared += 1
    assert compared >= 10
    assert set(engine.durations_ms) == {25}, "the worlds share the time"


@pytest.mark.slow
def test_unseen_cards_change_nothing(engine: Any) -> None:  # noqa: ANN401
    """Two opponents whose leads open alike, with other moves and another bench."""

    def team(*sets: str) -> str:
        return "]".join(
            f"{name}||||{moves}||252,252,252,252,252,252|||||" for name, moves in (s.split(":") for s in sets)
        )

    own = team("Exeggutor:psychic,stunspore,explosion,doubleedge", "Starmie:surf,recover,thunderbolt,blizzard")
    opponents = (
        team("Tauros:bodyslam,earthquake,hyperbeam,blizzard", "Chansey:softboiled,thunderwave,icebeam,thunderbolt"),
        team("Tauros:bodyslam,thunderbolt,fireblast,stomp", "Gengar:thunderbolt,explosion,hypnosis,nightshade"),
    )
    played = []
    for opponent in opponents:
        engine.seen.clear()
        played.append(
            _play(engine, "gen1ou", BattleSpec(seed=11, teams=(own, opponent), deadline_seconds=1000.0)).asked
        )
    alike = 0
    for (lines, _, given), (other_lines, _, other_given) in zip(*played, strict=False):
        if lines != other_lines:
            break
        assert [asdict(state) for state in given] == [asdict(state) for state in other_given]
        alike += len(given) > 0
    assert alike >= 2


@pytest.mark.slow
def test_an_illegal_answer_is_counted_and_the_next_best_played(engine: Any) -> None:  # noqa: ANN401
    legal = _play(engine, "gen1randombattle", worlds=1)
    engine.first_choices[:] = ["switch missingno", "splash-mega"]
    watched = _play(engine, "gen1randombattle", worlds=1)
    searched = [state for _, state, given in watched.asked if given]
    assert watched.player.illegal == len(searched) > 5
    assert [lines for lines, _, _ in watched.asked] == [lines for lines, _, _ in legal.asked], "the same battle"


@pytest.mark.slow
def test_a_panic_of_the_engine_is_counted_and_the_battle_goes_on(engine: Any) -> None:  # noqa: ANN401
    engine.panics[:] = ["unwrap"] * 3
    watched = _play(engine, "gen1randombattle")
    assert watched.player.failed == 3
    assert watched.player.illegal == 0
