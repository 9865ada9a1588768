"""A first network that begins from another policy: what is copied, what trains, and what is refused before a battle."""

import shutil
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from nashdex.core import keys
from nashdex.core.errors import ConfigurationError, DataError, StoppedError
from nashdex.core.ids import BarePolicyId, PolicyId
from nashdex.core.results import TRAINING_RESULT, TrainingResult
from nashdex.core.steps import StepName
from nashdex.policies.archive import load_network
from nashdex.policies.document import read_document
from nashdex.runs.first_policies import with_policy_ids
from nashdex.runs.fit import check_fit
from nashdex.runs.inputs import read_inputs
from nashdex.settings.run import RunSettings
from nashdex.store import open_store
from nashdex.store.attempt import find_manifest, read_object
from nashdex.store.protocol import ObjectStore
from nashdex.trainer.step import run
from nashdex_metamon.checkpoints.archive import import_checkpoint
from support.kuhn import FIRST_ACTION, RANDOM, kuhn_settings, prepare, trained
from support.metamon_goldens import amago_mini
from support.stopping import asked_to_stop

ENCODERS = ("embeddings.", "encoders.")
TEACHERS = {RANDOM: 0.5, FIRST_ACTION: 0.5}


def with_network(settings: RunSettings, **network: object) -> RunSettings:
    """Return settings with other ones of the network."""
    values = settings.model_dump(mode="json")
    return RunSettings.model_validate(values | {"network": values["network"] | network})


def beginning(source: str, *, first: str = "fresh", seed: int = 3, **network: object) -> RunSettings:
    """Return settings of a run whose first network begins from ``source``."""
    section = {"kind": first} if first == "fresh" else {"num_epochs": 1, "critic_warmup_epochs": 1}
    settings = kuhn_settings(first=section, oracle={"decisions": 900, "learning_rate": 1e-2})
    init = {"policy": source} | (extra if isinstance(extra := network.pop("init_from", {}), dict) else {})
    return with_network(settings.model_copy(update={"seed": seed}), init_from=init, **network)


def begun(folder: Path, settings: RunSettings) -> ObjectStore:
    """Return the store of a run that has begun."""
    store = open_store(str(folder))
    for key, data in read_inputs(settings).items():
        store.put(key, data)
    return store


def first(store: ObjectStore, settings: RunSettings) -> PolicyId:
    """Return the policy that a run's first iteration trains."""
    return trained(store, settings, 0, settings.train.first.kind, RANDOM, TEACHERS, "initial").policy


def weights(store: ObjectStore, policy: PolicyId) -> dict[str, Tensor]:
    """Return a stored network's tensors."""
    bare = BarePolicyId(policy)
    tensors: dict[str, Tensor] = load_network(store, bare, read_document(store, bare).space).state_dict()
    return tensors


def equal(one: dict[str, Tensor], other: dict[str, Tensor]) -> set[str]:
    """Return the names of the tensors that agree to the bit."""
    return {name for name in one if torch.equal(one[name], other[name])}


@pytest.fixture
def source(tmp_path: Path) -> str:
    """Return a policy that another run stored, as STORE#ID."""
    store = open_store(str(tmp_path / "source"))
    return f"{tmp_path}/source#{first(store, kuhn_settings())}"


def weights_of(source: str) -> dict[str, Tensor]:
    uri, _, policy = source.rpartition("#")
    return weights(open_store(uri), PolicyId(policy))


def test_a_whole_copy_is_the_policy_itself(source: str, tmp_path: Path) -> None:
    """Same weights, same id; and the run needs nothing but its own store."""
    settings = beginning(source)
    store = begun(tmp_path / "run", settings)
    shutil.rmtree(tmp_path / "source")
    result = trained(store, settings, 0, settings.train.first.kind, RANDOM, TEACHERS, "initial")
    policy = source.rpartition("#")[2]
    assert (result.policy, result.name) == (policy, f"start from {policy}")


def test_only_named_parameters_are_copied_and_the_others_follow_from_the_seed(source: str, tmp_path: Path) -> None:
    copied, plain = {}, {}
    for seed in (1, 2):
        settings = beginning(source, seed=seed, init_from={"parameters": ENCODERS})
        copied[seed] = weights(store := begun(tmp_path / f"run-{seed}", settings), first(store, settings))
        fresh = with_network(settings, init_from={"policy": "", "parameters": ()})
        plain[seed] = weights(store := begun(tmp_path / f"plain-{seed}", fresh), first(store, fresh))
    names = {name for name in copied[1] if name.startswith(ENCODERS)}
    given = weights_of(source)
    for seed in (1, 2):
        assert names <= equal(copied[seed], given)
        assert equal(copied[seed], plain[seed]) >= set(given) - names
    assert "trunk.0.weight" not in equal(copied[1], copied[2])


@pytest.mark.parametrize("frozen", [ENCODERS, ("critic.0", "trunk.")], ids=str)
def test_frozen_parameters_never_move_and_the_others_do(source: str, tmp_path: Path, frozen: tuple[str, ...]) -> None:
    """In cloning and in PPO, over rounds, with checkpoints of Adam's state."""
    settings = beginning(source, first="clone", freeze=frozen)
    store = begun(tmp_path / "run", settings)
    clone = first(store, settings)
    result = trained(store, settings, 1, "ppo", clone, {RANDOM: 1.0})
    given = weights_of(source)
    held = {name for name in given if name.startswith(frozen)}
    for policy in (clone, result.policy):
        assert equal(weights(store, policy), given) == held
    assert not equal(weights(store, clone), weights(store, result.policy)) - held


@pytest.mark.slow
def test_a_training_that_was_stopped_again_and_again_reaches_the_same_bits(source: str, tmp_path: Path) -> None:
    settings = beginning(source, first="clone", freeze=ENCODERS, init_from={"parameters": [*ENCODERS, "trunk."]})
    results = []
    for folder in ("through", "stopped"):
        store = begun(tmp_path / folder, settings)
        prepare(store, settings, 0, "clone", RANDOM, TEACHERS, "initial")
        results.append([finished(store, settings, 0, stops=3 * (folder == "stopped"))])
        prepare(store, settings, 1, "ppo", results[-1][0].policy, {RANDOM: 1.0})
        results[-1].append(finished(store, settings, 1, stops=5 * (folder == "stopped")))
    through, stopped = results
    assert [(r.policy, r.summary, r.curve) for r in through] == [(r.policy, r.summary, r.curve) for r in stopped]


def finished(store: ObjectStore, settings: RunSettings, iteration: int, *, stops: int) -> TrainingResult:
    for _ in range(stops):
        with asked_to_stop(), pytest.raises(StoppedError):
            run(store, settings, iteration, 0)
    return TrainingResult.from_json(read_object(store, run(store, settings, iteration, 0), TRAINING_RESULT), "result")


def test_how_a_network_is_trained_is_no_part_of_its_id(source: str, tmp_path: Path) -> None:
    """A policy's document has the sizes that its weights need, whatever run they came from."""
    settings = beginning(source, first="clone", freeze=ENCODERS)
    store = begun(tmp_path / "run", settings)
    key = keys.policy_document(BarePolicyId(first(store, settings)))
    assert b"freeze" not in store.get(key)
    assert b"init_from" not in store.get(key)


WIDER: dict[str, Any] = {"hidden_size": 24}


@pytest.mark.parametrize(
    ("network", "message"),
    [
        (
            WIDER,
            (
                r"network.init_from: policy p\w{16} does not fit .*: actor.weight is \(2, 16\), expected \(2, 24\); .*"
                r"trunk.0.bias is \(16,\), expected \(24,\); .*name in network.init_from.parameters only what fits"
            ),
        ),
        ({"num_hidden_layers": 2}, r"trunk.2.bias is expected as \(16,\) and missing"),
        (
            {"init_from": {"parameters": ["trunks."]}},
            (
                "network.init_from.parameters holds 'trunks.', which no parameter's name begins with; this network's "
                "begin with actor, critic, embeddings, encoders, trunk"
            ),
        ),
        ({"freeze": ["trunks."]}, "network.freeze holds 'trunks.', which no parameter's name begins with"),
        ({"freeze": ["critic."]}, "network.freeze holds all parameters of the critic"),
        ({"freeze": ["actor.", "trunk.", *ENCODERS]}, "network.freeze holds all parameters of the actor"),
        (
            {"freeze": ["trunk."], "init_from": {"parameters": ENCODERS}},
            "network.freeze would keep parameters at random values .*: trunk.0.weight, trunk.0.bias; expected",
        ),
    ],
    ids=str,
)
def test_what_does_not_fit_is_refused_before_a_battle(
    source: str, tmp_path: Path, network: dict[str, Any], message: str
) -> None:
    settings = beginning(source, **network)
    store = begun(tmp_path / "run", settings)
    with pytest.raises(ConfigurationError, match=message):
        prepare(store, settings, 0, "fresh", RANDOM, TEACHERS, "initial")
    assert find_manifest(store, 0, StepName.COLLECT, 0) is None


def test_other_sizes_beside_what_is_copied_are_welcome(source: str, tmp_path: Path) -> None:
    settings = beginning(source, init_from={"parameters": ENCODERS}, **WIDER)
    store = begun(tmp_path / "run", settings)
    made = weights(store, first(store, settings))
    assert made["trunk.0.weight"].shape[0] == WIDER["hidden_size"]


def test_an_imported_policy_has_other_parameters(tmp_path: Path) -> None:
    document = import_checkpoint(open_store(str(tmp_path / "imports")), amago_mini())
    settings = beginning(f"{tmp_path}/imports#{document.id}")
    store = begun(tmp_path / "run", settings)
    with pytest.raises(ConfigurationError, match=rf"policy {document.id} does not fit .*actor.bias is expected as"):
        prepare(store, settings, 0, "fresh", RANDOM, TEACHERS, "initial")


def test_a_policy_that_is_missing_or_altered_is_refused_when_the_run_begins(source: str, tmp_path: Path) -> None:
    with pytest.raises(DataError, match="has no policy 'p0000000000000000'"):
        read_inputs(beginning(f"{tmp_path}/source#p{'0' * 16}"))
    path = tmp_path / "source" / keys.policy_weights(BarePolicyId(PolicyId(source.rpartition("#")[2])))
    path.write_bytes(path.read_bytes()[:-1] + b"\1")
    with pytest.raises(DataError, match="altered"):
        read_inputs(beginning(source))


def test_what_is_altered_in_the_run_is_refused(source: str, tmp_path: Path) -> None:
    settings = beginning(source)
    store = begun(tmp_path / "run", settings)
    policy = settings.network.init_from.policy_id
    assert policy is not None
    store.put(f"{keys.INITIAL}/{keys.policy_weights(policy)}", b"nothing")
    with pytest.raises(DataError, match="altered"):
        prepare(store, settings, 0, "fresh", RANDOM, TEACHERS, "initial")


def test_the_policy_to_begin_from_may_be_named_in_any_way(source: str) -> None:
    given = beginning(source)
    policy = given.network.init_from.policy_id
    assert policy is not None
    store = given.network.init_from.store
    for name in (policy, policy[:6], read_document(open_store(store), policy).name):
        named = with_policy_ids(with_network(given, init_from={"policy": f"{store}#{name}"}))
        assert named.network.init_from.policy == f"{store}#{policy}"
    with pytest.raises(DataError, match=r"no policy 'best respons': .*policy list"):
        with_policy_ids(with_network(given, init_from={"policy": f"{store}#best respons"}))
    with pytest.raises(ConfigurationError, match="'random' is scripted and has no weights"):
        with_policy_ids(with_network(given, init_from={"policy": f"{store}#random"}))


@pytest.mark.parametrize(
    ("network", "message"),
    [
        ({"freeze": ["trunk."]}, "freeze would keep parameters at random values without init_from.policy"),
        ({"init_from": {"parameters": ["trunk."]}}, "parameters has no effect without policy"),
        ({"init_from": {"policy": "p0123456789abcdef"}}, "expected STORE#ID"),
        ({"init_from": {"policy": "runs/a#p0123@greedy"}}, "names no weights"),
        ({"init_from": {"policy": "runs/a#nash"}}, "names no weights"),
        ({"init_from": {"policy": "runs/a#"}}, "names no policy"),
        ({"init_from": {"policy": "runs/a#p0123", "parameters": [""]}}, "at least 1 character"),
    ],
    ids=str,
)
def test_settings_that_say_nothing_are_refused(network: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        with_network(kuhn_settings(), **network)


@pytest.mark.parametrize(
    ("train", "message"),
    [
        ({"oracle": "exact"}, "network.init_from has no effect with the oracle 'exact', which starts afresh"),
        ({"oracle": "null"}, "network.init_from has no effect with the oracle 'null'"),
        ({"first": {"kind": "null"}}, "no effect with train.first 'null'; expected 'clone' or 'distil' or 'fresh'"),
        ({"first": {"kind": "fresh"}, "seeds": 2}, "the 2 first policies of train.seeds would be one"),
    ],
    ids=str,
)
def test_settings_without_effect_are_refused(train: dict[str, Any], message: str) -> None:
    settings = with_network(kuhn_settings(), init_from={"policy": "runs/a#p0123"}).model_dump(mode="json")
    del settings["train"]
    with pytest.raises(ConfigurationError, match=message):
        check_fit(RunSettings.model_validate(settings | {"train": train}))
