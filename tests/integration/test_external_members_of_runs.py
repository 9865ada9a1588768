"""Players of other programs as members of a run: rated, in the payoff table, and never lost by absence."""

import json
import shlex
import subprocess
import sys
import tempfile
import time
from contextlib import closing
from pathlib import Path

import psutil
import pytest

from nashdex.core import keys
from nashdex.core.errors import ConfigurationError
from nashdex.core.ids import PolicyId
from nashdex.core.steps import StepName
from nashdex.games.showdown.gateway import Gateway
from nashdex.metagame.analysis.documents import MetaGameAnalysis
from nashdex.metagame.evidence.ledger import LEDGER, ShardLedger, decode
from nashdex.metagame.evidence.sampled import SampledCounts
from nashdex.metagame.plan import IterationPlan
from nashdex.runs.verification import verify_run
from nashdex.store import open_store
from nashdex.store.attempt import read_manifest
from nashdex.store.documents import read_decoded, read_published
from nashdex.store.protocol import ObjectStore
from nashdex_cli.cli import run_command_line
from nashdex_play.page.policies import page_policies
from support.begun_runs import TINY_TRAINING, begin_run
from support.made_runs import finish_iteration
from support.processes import command_line

pytestmark = [pytest.mark.integration, pytest.mark.slow]
MEMBER = PolicyId("external:mine")
PROGRAM = Path(__file__).parents[1] / "support" / "programs" / "websocket_player.py"
RUN = f"""
format = "gen1randombattle"
iterations = 2
[population]
initial = ["random", "external:mine", "max-power"]
{TINY_TRAINING}
[train.oracle]
decisions = 200
round_battles = 2
[evaluate]
battles_per_pair = 2
shards = 2
[solve]
meta_solver = "uniform"
num_draws = 100
unplayed = "bradley-terry"
"""


def games(store: ObjectStore, iteration: int, member: PolicyId = MEMBER) -> dict[PolicyId, int]:
    """Return how many battles ``member`` has played with each other one."""
    matrix = read_published(store, iteration, keys.INTERACTION_MATRIX, SampledCounts)
    place = matrix.policies.index(member)
    return {policy: matrix.games[place][at] for at, policy in enumerate(matrix.policies) if at != place}


def test_a_member_from_outside_plays_when_it_is_there_and_loses_nothing_when_it_is_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    players = tmp_path / "players.toml"
    monkeypatch.setenv("NASHDEX_PLAYERS", str(players))
    players.write_text('[mine]\nclass = "no_such_module:Player"\n')
    settings = tmp_path / "run.toml"
    settings.write_text(RUN)
    run = begin_run(str(tmp_path / "store"), settings, name="outside")

    finish_iteration(run.store, run.settings, 0)
    assert set(games(run.store, 0).values()) == {0}, "absent: not played"
    analysis = read_published(run.store, 0, keys.META_GAME_ANALYSIS, MetaGameAnalysis)
    assert all(MEMBER in cell for cell in analysis.imputed_cells)
    assert MEMBER not in read_published(run.store, 0, keys.PLAN, IterationPlan).opponents

    players.write_text('[mine]\nclass = "poke_env.player:RandomPlayer"\nat_once = 1\n')
    command = ["run", str(settings), "--store", str(tmp_path / "store"), "--run", "outside", "--processes", "1"]
    assert run_command_line(command) == 0
    assert set(games(run.store, 1).values()) == {2}, "it plays all that it missed"
    assert len(games(run.store, 1)) == 4
    analysis = read_published(run.store, 1, keys.META_GAME_ANALYSIS, MetaGameAnalysis)
    assert MEMBER in analysis.ratings
    plan = read_published(run.store, 1, keys.PLAN, IterationPlan)
    assert MEMBER not in plan.opponents
    assert sum(plan.opponents.values()) == pytest.approx(1.0)
    assert verify_run(run).problems == []
    with closing(Gateway("gen1randombattle")) as gateway, pytest.raises(ConfigurationError, match="no page can play"):
        page_policies([f"{run.store.uri}#nash"], gateway.space)


@pytest.fixture
def players(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the file in which this machine declares players, and keep programs' output in the test's folder.

    The program has a path of the test's own, by which it is told from those of tests that run at the same time.
    """
    program = tmp_path / PROGRAM.name
    program.symlink_to(PROGRAM)
    monkeypatch.setattr(sys.modules[__name__], "PROGRAM", program)
    monkeypatch.setenv("NASHDEX_PLAYERS", str(tmp_path / "players.toml"))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path / "players.toml"


def websocket_player(options: str = "", name: str = "mine", **keys: float) -> str:
    """Return the declaration of a poke-env player that plays by websocket, in a process of its own."""
    program = f"{shlex.join([sys.executable, str(PROGRAM)])} {{websocket}} {{username}} {{format}} {options}"
    values = {"pause_seconds": 0.0, "start_seconds": 900.0, "decision_seconds": 900.0} | keys
    lines = [f"[{name}]", f"command = {json.dumps(program)}", *(f"{key} = {value}" for key, value in values.items())]
    return "\n".join(lines) + "\n"


def ledgers(store: ObjectStore, iteration: int) -> list[ShardLedger]:
    manifests = (read_manifest(store, iteration, StepName.EVALUATE, shard) for shard in range(2))
    return [read_decoded(store, manifest, LEDGER, decode) for manifest in manifests]


def programs_running() -> list[psutil.Process]:
    return [process for process in psutil.process_iter() if str(PROGRAM) in command_line(process)]


def test_a_program_by_websocket_is_a_member_and_its_crashes_lose_nothing(tmp_path: Path, players: Path) -> None:
    settings = tmp_path / "run.toml"
    settings.write_text(RUN.replace('"max-power"]', '"max-power", "external:other"]'))
    run = begin_run(str(tmp_path / "store"), settings, name="outside")

    players.write_text(websocket_player(name="other") + '[mine]\ncommand = "/no/such/program {port} {username}"\n')
    finish_iteration(run.store, run.settings, 0)
    assert set(games(run.store, 0).values()) == {0}, "it cannot start: not played"
    causes = [cell.cause for ledger in ledgers(run.store, 0) for cell in ledger.unplayed]
    assert any("'/no/such/program' cannot start" in cause for cause in causes)
    other = games(run.store, 0, PolicyId("external:other"))
    assert [other.pop(MEMBER), set(other.values())] == [0, {2}], "a program that is there plays"

    counter = tmp_path / "counter"
    crashes = websocket_player(f"--crash-every=3 --counter={shlex.quote(str(counter))}", at_once=1)
    players.write_text(crashes + websocket_player(name="other"))
    command = ["run", str(settings), "--store", str(tmp_path / "store"), "--run", "outside", "--processes", "1"]
    assert run_command_line(command) == 0
    played = games(run.store, 1)
    assert played.pop(PolicyId("external:other")) == 0, "no program challenges another"
    assert list(played.values()) == [2, 2, 2, 2]
    found = ledgers(run.store, 1)
    assert sum(MEMBER in battle.policies for ledger in found for battle in ledger.battles) == 8
    # Every third of the battles that it began is void and was played again.
    assert sum(ledger.failures.get("external_crash", 0) for ledger in found) == int(counter.read_text()) // 3 == 3
    analysis = read_published(run.store, 1, keys.META_GAME_ANALYSIS, MetaGameAnalysis)
    assert MEMBER in analysis.ratings
    assert MEMBER not in read_published(run.store, 1, keys.PLAN, IterationPlan).opponents
    assert verify_run(run).problems == []
    assert programs_running() == []


def test_a_program_that_always_crashes_loses_nothing(tmp_path: Path, players: Path) -> None:
    settings = tmp_path / "run.toml"
    settings.write_text(RUN)
    run = begin_run(str(tmp_path / "store"), settings, name="outside")
    counter = shlex.quote(str(tmp_path / "counter"))
    players.write_text(websocket_player(f"--crash-every=1 --counter={counter}", restarts=1))
    finish_iteration(run.store, run.settings, 0)
    assert set(games(run.store, 0).values()) == {0}
    found = ledgers(run.store, 0)
    assert [ledger.failures for ledger in found] == [{"external_crash": 2}, {}], "the first shard has its cells"
    causes = {cell.cause for ledger in found for cell in ledger.unplayed}
    assert causes == {"external_unavailable: external:mine failed more than 1 times in a row"}


def test_a_killed_run_ends_its_programs_and_goes_on(tmp_path: Path, players: Path) -> None:
    settings = tmp_path / "run.toml"
    settings.write_text(RUN.replace("iterations = 2", "iterations = 1"))
    players.write_text(websocket_player())
    arguments = ["run", str(settings), "--store", str(tmp_path / "store"), "--run", "outside", "--processes", "1"]
    with subprocess.Popen([sys.executable, "-m", "nashdex_cli", *arguments]) as process:
        deadline = time.monotonic() + 900
        while not (started := programs_running()):
            assert time.monotonic() < deadline, "the program did not start"
            assert process.poll() is None
            time.sleep(0.1)
        for child in psutil.Process(process.pid).children(recursive=True):
            if child not in started and "/bin/sh" not in command_line(child):
                child.kill()
        process.kill()
    psutil.wait_procs(started, timeout=120)
    assert programs_running() == []
    assert run_command_line(arguments) == 0
    store = open_store(f"{tmp_path / 'store'}/outside")
    assert list(games(store, 0).values()) == [2, 2, 2]
    assert programs_running() == []
