"""Published policies: names for good, half precision, and stored policies that a run begins with."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier, local

import numpy as np
import pytest
import torch

from nashdex.core import keys
from nashdex.core.errors import ConfigurationError, DataError
from nashdex.core.ids import BarePolicyId, PolicyId
from nashdex.core.references import ZOO, PolicyReference
from nashdex.core.results import TRAINING_RESULT, TrainingResult
from nashdex.core.steps import StepName
from nashdex.games.showdown.formats import GAME as SHOWDOWN
from nashdex.games.space import Space
from nashdex.metagame.population import short_ids
from nashdex.oracles.registry import ORACLES
from nashdex.planning.step import first_plan
from nashdex.policies.archive import load_network, read_weights, save_policy, tensors_bytes
from nashdex.policies.document import policy_objects, read_document
from nashdex.policies.ensembles.document import read_ensemble
from nashdex.policies.ensembles.making import make_ensemble
from nashdex.policies.networks.actor_critic import make_network
from nashdex.policies.references import Published, find_policy, format_of_policy, read_published_names
from nashdex.runs.creation import create_run, open_run, prepare_run
from nashdex.settings.networks import SlotsSettings
from nashdex.store import open_store
from nashdex.store.attempt import Attempt
from nashdex.store.protocol import ObjectStore
from nashdex_cli.cli import run_command_line
from nashdex_lab.exploits import Budget, prepare_exploit
from nashdex_lab.zoo.card import card_lines, read_card
from nashdex_lab.zoo.publishing import MAX_WEIGHTS_BYTES, half_precision, publish_card, training_of, without_places
from support.bandit import bandit_space
from support.memory_store import MemoryStore

SMALL = SlotsSettings(embedding_size=3, entity_size=5, hidden_size=16)
FORMAT = "gen1randombattle"
PINNED = {
    "gen1ou-4m": "pc37bfbe7ba128588",
    "gen1ou-7m": "pfb97fd9bdae0fa6f",
    "gen4ou-2m": "p5e93778f6424bacf",
    "gen9championsvgc2026regmb-1.6m": "p5e7b57cbcbd5f038",
    "gen1randombattle": "p5288e6850106d53b",
    "gen1randombattle-2.5m": "p18422ea5d5617ef9",
    "gen1randombattle-5m": "p95809f794e06d65a",
    "gen1randombattle-copy": "p9e0e7da87bbd75f6",
    "gen1randombattle-distilled": "p6c4ef19bb860e3f9",
    "gen9randombattle-2.5m": "p6fe2febfe88f4e41",
    "gen9randombattle-copy": "pe54df9ec894b49c4",
}
"""The zoo's names and ids, by hand: a published name never changes its weights. Add a line for each new entry."""


def space(game: str = "bandit") -> Space:
    return bandit_space().model_copy(update={"game": game, "format": FORMAT})


def stored(store: ObjectStore, seed: int = 0, game: str = "bandit") -> BarePolicyId:
    torch.manual_seed(seed)
    return save_policy(
        store, make_network(space(game), SMALL), name=f"seed {seed}", parent=None, iteration=0, oracle="ppo",
        reward="win-loss", reward_version="1",
    )  # fmt: skip


@pytest.fixture
def store(tmp_path: Path) -> ObjectStore:
    return open_store(str(tmp_path / "folder"))


def test_the_zoo_keeps_every_name_and_fits_its_promise() -> None:
    """Read with the hashes checked, so that a changed file fails too."""
    zoo = open_store(ZOO)
    assert read_published_names(zoo).policies == PINNED
    for name in PINNED:
        policy = find_policy(zoo, name)
        document, card = read_document(zoo, policy), read_card(zoo, policy)
        assert len(policy_objects(zoo, policy)[keys.policy_weights(policy)]) <= MAX_WEIGHTS_BYTES
        assert load_network(zoo, policy, document.space).num_parameters == document.num_parameters
        assert card is not None
        assert (card.name, card.policy) == (name, policy)


@pytest.mark.parametrize(
    ("text", "name", "search", "temperature"),
    [
        ("zoo:gen1ou", "gen1ou", "", 1.0),
        ("zoo:gen1ou@greedy", "gen1ou", "", 0.0),
        ("search:zoo:gen1ou", "gen1ou", "search:", 1.0),
        ("search-300:zoo:gen1ou@greedy", "gen1ou", "search-300:", 0.0),
    ],
)
def test_a_name_of_the_zoo_is_a_reference(text: str, name: str, search: str, temperature: float) -> None:
    reference = PolicyReference.parse(text)
    assert reference == PolicyReference(name, ZOO, temperature, search)
    assert str(reference) == text


def test_a_published_name_comes_before_others_and_misspellings_list_it(store: ObjectStore) -> None:
    one, other = stored(store, 1), stored(store, 2)
    store.put(keys.PUBLISHED, Published(policies={"seed 2": one, "gen1ou": other}).to_json())
    assert find_policy(store, "seed 2") == one
    assert find_policy(store, "gen1ou") == other
    with pytest.raises(DataError, match="has no policy 'gen1uo': did you mean gen1ou"):
        find_policy(store, "gen1uo")


def publish_name(store: ObjectStore, name: str, policy: BarePolicyId) -> None:
    zoo = open_store(ZOO)
    card = read_card(zoo, find_policy(zoo, "gen1ou-4m"))
    assert card is not None
    publish_card(store, card.model_copy(update={"name": name, "policy": policy}))


def test_names_that_are_published_at_once_are_all_kept(store: ObjectStore) -> None:
    policies = {f"name-{seed}": stored(store, seed) for seed in range(12)}
    store.put(keys.PUBLISHED, Published(policies={"earlier": stored(store, 99)}).to_json())
    with ThreadPoolExecutor(len(policies)) as pool:
        list(pool.map(lambda item: publish_name(store, *item), policies.items()))
    names = read_published_names(store).policies
    assert names == {"earlier": stored(store, 99), **policies}
    publish_name(store, "name-3", policies["name-3"])
    assert read_published_names(store).policies == names


def test_one_of_several_policies_gets_a_name(store: ObjectStore) -> None:
    policies = [stored(store, seed) for seed in range(6)]

    def publish(policy: BarePolicyId) -> bool:
        try:
            publish_name(store, "wanted", policy)
        except ConfigurationError:
            return False
        return True

    with ThreadPoolExecutor(len(policies)) as pool:
        got = list(pool.map(publish, policies))
    (winner,) = (policy for policy, has in zip(policies, got, strict=True) if has)
    assert read_published_names(store).policies == {"wanted": winner}
    loser = next(policy for policy in policies if policy != winner)
    with pytest.raises(ConfigurationError, match="a published name never changes its weights"):
        publish_name(store, "wanted", loser)
    with pytest.raises(ConfigurationError, match="is published as 'wanted'; expected that name"):
        publish_name(store, "other", winner)
    publish_name(store, "other", loser)
    assert read_published_names(store).policies == {"other": loser, "wanted": winner}


class _AtOnce(MemoryStore):
    """A store in which two writers come to their first claim at the same time."""

    def __init__(self) -> None:
        super().__init__()
        self._both = Barrier(2)
        self._writer = local()

    def put_if_absent(self, key: str, data: bytes) -> bool:
        if not getattr(self._writer, "has_come", False):
            self._writer.has_come = True
            self._both.wait()
        return super().put_if_absent(key, data)


def test_a_policy_that_is_published_under_two_names_at_once_gets_one() -> None:
    store, policy = _AtOnce(), PINNED["gen1ou-4m"]

    def publish(name: str) -> bool:
        try:
            publish_name(store, name, BarePolicyId(PolicyId(policy)))
        except ConfigurationError:
            return False
        return True

    names = ("one", "other")
    with ThreadPoolExecutor(2) as pool:
        (winner,) = (name for name, has in zip(names, pool.map(publish, names), strict=True) if has)
    assert read_published_names(store).policies == {winner: policy}
    assert list(store.list("names/")) == [keys.published_name(winner)]
    card = read_card(store, BarePolicyId(PolicyId(policy)))
    assert card is not None
    assert card.name == winner


def test_a_card_keeps_its_panel_beside_a_second_one_and_says_how_far_they_agree(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_command_line(["policy", "get", "zoo:gen1ou-4m", str(tmp_path)]) == 0
    zoo, policy = open_store(str(tmp_path)), BarePolicyId(PolicyId(PINNED["gen1ou-4m"]))
    publish_name(zoo, "gen1ou-4m", policy)
    first = read_card(zoo, policy)
    assert first is not None
    assert first.panel is not None
    row = first.panel.rows[0]
    moved = row.result.model_copy(update={"score": 1.0, "low": 0.99, "high": 1.0})
    changed = {"seed": 1_234_567, "rows": (row.model_copy(update={"result": moved}), *first.panel.rows[1:])}
    panel = first.panel.model_copy(update=changed)
    (tmp_path / "panel.json").write_bytes(panel.to_json())
    renew = ["policy", "publish", f"{tmp_path}#gen1ou-4m", "gen1ou-4m", "--zoo", str(tmp_path)]
    assert run_command_line([*renew, "--panel", str(tmp_path / "panel.json")]) == 0
    card = read_card(zoo, policy)
    assert card is not None
    assert (card.panel, card.earlier_panel) == (panel, first.panel)
    assert card.model_copy(update={"panel": first.panel, "earlier_panel": first.earlier_panel}) == first
    num = len(panel.rows)
    says = f"- seeds {first.panel.seed} and 1234567: {num - 1} of {num} scores agree within their 95 % intervals; the "
    assert [line.partition("largest")[0] for line in card_lines(card) if "scores agree" in line] == [says]
    (tmp_path / "panel.json").write_bytes(panel.model_copy(update={"format": "gen4ou"}).to_json())
    assert run_command_line([*renew, "--panel", str(tmp_path / "panel.json")]) == 64
    assert "in gen4ou; expected one of zoo:gen1ou-4m in gen1ou" in capsys.readouterr().err
    assert read_card(zoo, policy) == card


def test_half_precision_is_read_as_single(store: ObjectStore) -> None:
    network = load_network(store, stored(store), space())
    published = half_precision(network)
    weights = tensors_bytes(published)
    assert len(weights) < 0.7 * len(tensors_bytes(network.state_dict()))
    read = read_weights(space(), SMALL, weights, "here")
    for name, tensor in network.state_dict().items():
        assert read[name].dtype == torch.float32
        np.testing.assert_allclose(read[name], tensor, rtol=1e-3, atol=1e-6)


def test_weights_that_half_precision_cannot_hold_are_refused(store: ObjectStore) -> None:
    network = load_network(store, stored(store), space())
    name, parameter = next(iter(network.named_parameters()))
    with torch.no_grad():
        parameter.fill_(1e6)
    with pytest.raises(ConfigurationError, match=rf"{name} has weights above 65504"):
        half_precision(network)


def run_of(tmp_path: Path, *overrides: str) -> Path:
    config = tmp_path / "made.toml"
    config.write_text(f'format = "{FORMAT}"\niterations = 2\n' + "\n".join(overrides) + "\n")
    return config


def test_a_cards_settings_do_not_say_where_the_machine_keeps_its_stores() -> None:
    settings = {
        "format": "gen1ou",
        "teams": "/home/someone/teams.txt",
        "population": {
            "initial": [
                "random",
                "s3://bucket/runs/a#newest",
                "zoo:gen1ou-4m",
                "/runs/b#p1@greedy",
                "search:/runs/b#p1",
            ]
        },
        "network": {"init_from": {"policy": "runs/c#p0123456789abcdef"}, "memory_size": 0},
    }
    assert without_places(settings) == {
        "format": "gen1ou",
        "teams": "teams.txt",
        "population": {"initial": ["random", "a#newest", "zoo:gen1ou-4m", "b#p1@greedy", "search:b#p1"]},
        "network": {"init_from": {"policy": "c#p0123456789abcdef"}, "memory_size": 0},
    }


def test_a_card_counts_the_attempts_before_a_trainings_last(tmp_path: Path) -> None:
    """A manifest has the CPU time of the attempt that finished; a training that resumed has its own count."""
    run = create_run(str(tmp_path / "runs"), prepare_run(run_of(tmp_path)))
    policy = stored(run.store)
    result = TrainingResult(
        policy=policy, kind="network", name="best response 0", oracle="ppo", num_updates=1, num_decisions=100,
        num_parameters=1, rollbacks=0, curve=(), summary={}, parent=None, seconds=1.0, cpu_seconds=600.0,
    )  # fmt: skip
    trained = Attempt(run.store, 0, StepName.TRAIN, 0)
    trained.write(TRAINING_RESULT, result.to_json())
    trained.finish({})
    Attempt(run.store, 0, StepName.ACT, 0).finish({})
    training = training_of(run, read_document(run.store, policy), None, None)
    assert (training.cpu_minutes, training.run_decisions) == (10.0, 100)


def test_the_card_of_a_copy_names_its_teacher() -> None:
    zoo = open_store(ZOO)
    card = read_card(zoo, find_policy(zoo, "gen1ou-4m"))
    assert card is not None
    settings = {**card.training.settings, "collect": {"teacher": "ensembles#both"}}
    copied = card.model_copy(
        update={"training": card.training.model_copy(update={"oracle": "distil", "settings": settings})}
    )
    line = "It copies ensembles#both, whose decisions and time are not among these."
    assert (line in card_lines(card), line in card_lines(copied)) == (False, True)


def test_a_run_begins_with_networks_and_ensembles_of_other_stores(store: ObjectStore, tmp_path: Path) -> None:
    """They are members that never learn; the run holds all that they need."""
    one, other = stored(store, 1), stored(store, 2)
    references = [PolicyReference(policy, store.uri) for policy in (one, other)]
    ensemble = make_ensemble(store, references, "both").id
    named = f'initial = ["random", "{store.uri}#seed 1@greedy", "{store.uri}#both"]'
    config = run_of(tmp_path, "[population]", named, "[collect]", f'teacher = "{store.uri}#{ensemble}"')
    run = create_run(str(tmp_path / "runs"), prepare_run(config))
    again = open_run(run.store.uri)
    plan = first_plan(again.settings, again.store)
    assert plan.population.ids == ("random", f"{one}@greedy", ensemble)
    assert [entry.is_anchor for entry in plan.population.policies] == [True] * 3
    assert plan.learner == (ensemble if ORACLES[plan.oracle].collects == "teacher" else plan.learner)
    assert read_document(again.store, other).id == other, "a member of the ensemble"


@pytest.mark.parametrize(
    ("initial", "error", "message"),
    [
        ("{store}#nobody", DataError, "has no policy 'nobody'"),
        ("zoo:nobody", DataError, "nobody|published no policy"),
        ("{store}#nash", ConfigurationError, "no single stored policy"),
        ("search:{store}#nash", ConfigurationError, "no single stored policy"),
        (
            "search:{store}#seed 1",
            ConfigurationError,
            "search:p[0-9a-f]+ cannot search: it plays gen1randombattle, and",
        ),
        ("{store}#seed 1', '{store}#{one}", ConfigurationError, "twice; name each policy once"),
    ],
)
def test_members_that_a_run_cannot_have_are_named(
    store: ObjectStore, tmp_path: Path, initial: str, error: type[Exception], message: str
) -> None:
    one = stored(store, 1)
    text = initial.format(store=store.uri, one=one)
    with pytest.raises(error, match=message):
        prepare_run(run_of(tmp_path, "[population]", f"initial = ['random', '{text}']"))


def test_a_run_begins_with_policies_that_search(store: ObjectStore, tmp_path: Path) -> None:
    """Each is a member beside the policy that it searches around, and the run holds what both need."""
    one, other = stored(store, 1, SHOWDOWN), stored(store, 2, SHOWDOWN)
    ensemble = make_ensemble(store, [PolicyReference(policy, store.uri) for policy in (one, other)], "both").id
    named = f'initial = ["{store.uri}#seed 1@greedy", "search:{store.uri}#seed 1@greedy"]'
    teacher = f'teacher = "search:{store.uri}#both"'
    run = create_run(str(tmp_path / "runs"), prepare_run(run_of(tmp_path, "[population]", named, "[collect]", teacher)))
    again = open_run(run.store.uri)
    plan = first_plan(again.settings, again.store)
    assert plan.population.ids == (f"{one}@greedy", f"search:{one}@greedy")
    assert [(entry.kind, entry.name, entry.is_anchor) for entry in plan.population.policies] == [
        ("network", "seed 1", True),
        ("search", "search:seed 1", True),
    ]
    short = f"{one[:6]}@greedy"
    assert short_ids(plan.population.policies) == {f"{one}@greedy": short, f"search:{one}@greedy": f"search:{short}"}
    assert again.settings.collect.teacher == f"search:{store.uri}#{ensemble}"
    assert read_ensemble(again.store, ensemble).voters


def test_a_member_of_another_format_is_refused(store: ObjectStore, tmp_path: Path) -> None:
    one = stored(store, 1)
    config = tmp_path / "other.toml"
    config.write_text(f"format = 'gen1ou'\n[population]\ninitial = ['{store.uri}#{one}']\n")
    with pytest.raises(ConfigurationError, match=r"population\.initial.*plays gen1randombattle.*gen1ou"):
        prepare_run(config)


def test_an_ensemble_in_a_folder_can_be_exploited(store: ObjectStore, tmp_path: Path) -> None:
    """A folder has no run: the format is what its members play."""
    references = [PolicyReference(stored(store, seed), store.uri) for seed in (1, 2)]
    ensemble = make_ensemble(store, references, "both").id
    reference = PolicyReference(ensemble, store.uri)
    assert format_of_policy(reference) == FORMAT
    found = prepare_exploit(str(reference), Budget(decisions=1000, seeds=1, battles=100))
    run = create_run(str(tmp_path / "exploits"), found)
    assert first_plan(run.settings, run.store).opponents == {PolicyId(ensemble): 1.0}


def test_a_policy_that_searches_can_be_exploited(store: ObjectStore, tmp_path: Path) -> None:
    one = stored(store, 1, SHOWDOWN)
    found = prepare_exploit(f"search:{store.uri}#{one}@greedy", Budget(decisions=1000, seeds=1, battles=100))
    run = create_run(str(tmp_path / "exploits"), found)
    assert first_plan(run.settings, run.store).opponents == {PolicyId(f"search:{one}@greedy"): 1.0}
    assert read_document(run.store, one).id == one
    with pytest.raises(ConfigurationError, match="cannot search"):
        prepare_exploit(f"search:{store.uri}#{stored(store, 2)}", Budget(decisions=1000, seeds=1, battles=100))


def test_a_policy_is_copied_whole(store: ObjectStore, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    references = [PolicyReference(stored(store, seed), store.uri) for seed in (1, 2)]
    ensemble = make_ensemble(store, references, "both").id
    target = tmp_path / "copy"
    assert run_command_line(["policy", "get", f"{store.uri}#both", str(target)]) == 0
    assert capsys.readouterr().out == f"{target}#{ensemble}\n"
    assert sorted(open_store(str(target)).list("")) == sorted(store.list(""))
    assert run_command_line(["policy", "show", f"{target}#both"]) == 0
    assert capsys.readouterr().out == f"{ensemble}: both, ensemble, {FORMAT}; it was not published: no card\n"
