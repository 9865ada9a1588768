"""The searching policies in real battles."""

from pathlib import Path

import numpy as np
import psutil
import pytest
import torch
from pydantic import TypeAdapter

from nashdex.core import keys
from nashdex.core.errors import ConfigurationError
from nashdex.core.ids import BarePolicyId, PolicyId
from nashdex.core.references import SEARCH, PolicyReference
from nashdex.evaluator.match import MatchResult, play_match
from nashdex.games.registry import game_for
from nashdex.metagame.population import Population
from nashdex.planning.dag import iteration_steps, step_function
from nashdex.policies.archive import save_policy
from nashdex.policies.document import read_document
from nashdex.policies.ensembles.making import make_ensemble
from nashdex.policies.networks.actor_critic import make_network
from nashdex.policies.search.guided import load_guided_ensemble, load_guided_search
from nashdex.rollout.pairs import PairedBattles
from nashdex.rollout.play import require_finished
from nashdex.rollout.session import Session
from nashdex.runs.verification import verify_run
from nashdex.settings.networks import NetworkChoice
from nashdex.store import open_store
from nashdex.store.documents import read_published
from support.begun_runs import begin_run

pytestmark = pytest.mark.integration
NETWORK = TypeAdapter(NetworkChoice)


def _play(format_id: str, battles: int, seed: int = 3) -> MatchResult:
    return play_match(format_id, "search:matrix-small", "random", battles=battles, seed=seed)


@pytest.mark.slow
def test_it_plays_and_plays_the_same_again() -> None:
    first, second = (_play("gen1randombattle", 1) for _ in range(2))
    assert first.battles == 1
    assert first.failed == first.rejected == 0
    assert first.model_copy(update={"seconds": 0.0}) == second.model_copy(update={"seconds": 0.0})


@pytest.mark.slow
@pytest.mark.parametrize("format_id", ["gen1ou", "gen9randombattle"])
def test_it_plays_formats_with_teams_and_of_later_generations(format_id: str) -> None:
    result = _play(format_id, 1)
    assert (result.battles, result.failed) == (1, 0)


def test_it_refuses_doubles() -> None:
    with pytest.raises(ConfigurationError, match="'search:matrix-small' does not play gen9randomdoublesbattle"):
        _play("gen9randomdoublesbattle", 1)


def test_a_session_counts_the_search_s_cpu_time_and_ends_its_gateway(tmp_path: Path) -> None:
    seats = (PolicyId("search:matrix-small"), PolicyId("random"))
    before = set(psutil.Process().children())
    with Session(game_for("gen1randombattle").open_arena(num_gateways=1), concurrent_battles=1) as session:
        session.load(open_store(str(tmp_path)), seats)
        assert len(list(session.play([PairedBattles(1, [], deadline_seconds=60.0).assignment(0, seats)]))) == 1
        arena, gateway = (session.arena.cpu_seconds(), session.cpu_seconds() - session.arena.cpu_seconds())
        # A gateway alone takes some 0.3 s to load the simulator.
        assert arena > 0.1
        assert gateway > 0.1
    assert set(psutil.Process().children()) == before
    assert session.cpu_seconds() >= arena + gateway


def test_a_search_after_a_silence_that_ended_its_gateway_opens_another(tmp_path: Path) -> None:
    seats = (PolicyId("search:matrix-small"), PolicyId("random"))
    battles = PairedBattles(1, [], deadline_seconds=200.0)
    with Session(game_for("gen1randombattle").open_arena(num_gateways=1), concurrent_battles=1) as session:
        before = set(psutil.Process().children())
        session.load(open_store(str(tmp_path)), seats)
        (first,) = session.play([battles.assignment(0, seats)])
        (gateway,) = set(psutil.Process().children()) - before
        gateway.kill()
        gateway.wait(300)
        (again,) = session.play([battles.assignment(0, seats)])
        assert require_finished(first) == require_finished(again)


def _stored(folder: Path, format_id: str, reward: str = "win-loss", kind: str = "pointer", seed: int = 1) -> str:
    """Store an untrained network of the format; return its contestant's text."""
    arena = game_for(format_id).open_arena(num_gateways=1)
    space = arena.space
    arena.close()
    torch.manual_seed(seed)
    network = make_network(space, NETWORK.validate_python({"kind": kind}))
    policy = save_policy(
        open_store(str(folder)),
        network,
        name="untrained",
        parent=None,
        iteration=0,
        oracle="ppo",
        reward=reward,
        reward_version="1",
    )
    return f"{folder}#{policy}"


def _together(folder: Path, *members: str) -> str:
    """Store an ensemble; return its contestant's text."""
    made = make_ensemble(open_store(str(folder)), [PolicyReference.parse(each) for each in members], "together")
    return f"{folder}#{made.id}"


@pytest.mark.slow
@pytest.mark.parametrize("rewards", [["shaped"], ["shaped", "win-loss"]])
def test_a_stored_network_or_an_ensemble_searches_and_plays_the_same_again(tmp_path: Path, rewards: list[str]) -> None:
    members = [_stored(tmp_path, "gen1randombattle", reward, seed=seed) for seed, reward in enumerate(rewards, 1)]
    text = f"search:{members[0] if len(members) == 1 else _together(tmp_path, *members)}"
    first, second = (play_match("gen1randombattle", text, "max-power", battles=1, seed=3) for _ in range(2))
    assert (first.battles, first.failed, first.rejected) == (1, 0, 0)
    assert first.model_copy(update={"seconds": 0.0}) == second.model_copy(update={"seconds": 0.0})


@pytest.mark.slow
def test_the_name_of_a_search_has_its_nodes(tmp_path: Path) -> None:
    stored = _stored(tmp_path, "gen1randombattle")
    least, less, default, same = (
        play_match("gen1randombattle", f"{search}{stored}@greedy", "max-power", battles=2, seed=3).model_copy(
            update={"seconds": 0.0, "p1": ""}
        )
        for search in ("search-1:", "search-60:", "search:", "search-100:")
    )
    assert len({least.decisions, less.decisions, default.decisions}) == 3, "three other matches"
    assert default == same


def test_an_ensemble_is_judged_by_the_mean_of_its_critics(tmp_path: Path) -> None:
    members = [_stored(tmp_path, "gen1randombattle", seed=seed) for seed in range(2)]
    store = open_store(str(tmp_path))
    ids = [PolicyId(member.rpartition("#")[2]) for member in members]
    space = read_document(store, BarePolicyId(ids[0])).space
    observations = np.random.default_rng(0).random((5, space.observation_size), dtype=np.float32)
    ensemble = PolicyId(_together(tmp_path, *members, f"{members[0]}@T2").rpartition("#")[2])
    found = load_guided_ensemble(store, ensemble, space, SEARCH).values(observations)
    first, second = (load_guided_search(store, policy, space, SEARCH).values(observations) for policy in ids)
    assert not np.allclose(first, second, atol=1e-3)
    assert np.allclose(found, (first + second) / 2, atol=1e-6), "a member that votes twice judges once"


def test_an_ensemble_with_a_member_that_cannot_search_is_refused(tmp_path: Path) -> None:
    members = [_stored(tmp_path, "gen1randombattle", kind=kind) for kind in ("pointer", "memory")]
    with pytest.raises(ConfigurationError, match=r"search:e\w+ cannot search: its critic needs the whole battle"):
        play_match("gen1randombattle", f"search:{_together(tmp_path, *members)}", "random", battles=1)


@pytest.mark.parametrize(
    ("format_id", "reward", "kind", "why"),
    [
        ("gen1randombattle", "metamon-default", "pointer", "its critic values the reward 'metamon-default'"),
        ("gen1randombattle", "win-loss", "memory", "its critic needs the whole battle"),
        ("gen9randomdoublesbattle", "win-loss", "pointer-pairs", "it plays doubles, gen9randomdoublesbattle"),
        ("kuhn_poker", "win-loss", "slots", "it plays kuhn_poker, and the simulator searches Showdown's battles alone"),
    ],
)
def test_what_cannot_search_is_refused(tmp_path: Path, format_id: str, reward: str, kind: str, why: str) -> None:
    text = f"search:{_stored(tmp_path, format_id, reward, kind)}"
    with pytest.raises(ConfigurationError, match=f"cannot search: {why}"):
        play_match(format_id, text, "random", battles=1)


@pytest.mark.slow
def test_a_run_has_policies_that_search_as_teacher_and_as_member(tmp_path: Path) -> None:
    """Propose-and-judge wherever a policy is: the ensemble is cloned, a member searches, and the run is whole."""
    members = [_stored(tmp_path / "made", "gen1randombattle", seed=seed) for seed in range(2)]
    ensemble = _together(tmp_path / "made", *members)
    config = tmp_path / "searching.toml"
    config.write_text(f"""
format = "gen1randombattle"
iterations = 1
population.initial = ["random", "search-20:{members[0]}@greedy"]
collect = {{teacher = "search-5:{ensemble}", battles = 2, shards = 1}}
train.first = "clone"
arena.concurrent_battles = 2
evaluate = {{battles_per_pair = 2, shards = 1}}
""")
    run = begin_run(str(tmp_path / "runs"), config)
    for step in iteration_steps(run.settings):
        step_function(step.name)(run.store, run.settings, 0, 0)
    solved = read_published(run.store, 0, keys.POPULATION, Population).policies
    id_of = [text.rpartition("#")[2] for text in (members[0], ensemble)]
    assert [entry.id for entry in solved[:2]] == ["random", f"search-20:{id_of[0]}@greedy"]
    assert solved[2].name == f"clone of search-5:{id_of[1]}"
    assert verify_run(run).problems == []


def test_a_scripted_policy_after_the_prefix_is_no_contestant() -> None:
    with pytest.raises(ConfigurationError, match="'search:heuristic'"):
        play_match("gen1randombattle", "search:heuristic", "random", battles=1)


def test_a_scripted_policy_of_a_run_plays_without_search(tmp_path: Path) -> None:
    result = play_match("gen1randombattle", f"search:{tmp_path}#random", "max-power", battles=1)
    assert (result.battles, result.failed) == (1, 0)
