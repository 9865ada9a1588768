"""Distillation: one network comes to think what its teacher, a network or an ensemble, thinks."""

from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
import torch

from nashdex.core.errors import ConfigurationError, StoppedError
from nashdex.core.ids import BarePolicyId, PolicyId
from nashdex.core.references import PolicyReference
from nashdex.core.results import TRAINING_RESULT, TrainingResult
from nashdex.policies.archive import load_network, save_policy
from nashdex.policies.ensembles.making import make_ensemble
from nashdex.policies.interface import WithDistribution
from nashdex.policies.networks.actor_critic import make_network
from nashdex.policies.sources import load_policies
from nashdex.runs.fit import check_fit
from nashdex.settings.networks import SlotsSettings
from nashdex.settings.run import RunSettings
from nashdex.store import open_store
from nashdex.store.attempt import read_object
from nashdex.store.protocol import ObjectStore
from nashdex.trainer.step import run
from support.bandit import FORMAT, bandit_space, decisions, play, write_iteration
from support.stopping import asked_to_stop

SMALL = SlotsSettings(embedding_size=4, entity_size=16, hidden_size=32, num_hidden_layers=1, critic_size=16)


def settings(**other: Any) -> RunSettings:  # noqa: ANN401
    document = {
        "format": FORMAT,
        "seed": 5,
        "network": SMALL.model_dump(),
        "collect": {"shards": 1, "teacher": "zoo:gen1randombattle"},
        "train": {
            "first": {"kind": "distil", "num_epochs": 30, "minibatch_decisions": 64, "learning_rate": 1e-2},
            "checkpoint_every_updates": 4,
        },
    }
    return RunSettings.model_validate(document | other)


def store_network(store: ObjectStore, seed: int, reward: str = "win-loss") -> BarePolicyId:
    """Store a network whose probabilities and values differ clearly from decision to decision."""
    torch.manual_seed(seed)
    network = make_network(bandit_space(), SMALL)
    with torch.no_grad():
        for name, parameter in network.named_parameters():
            if name.endswith("weight"):
                parameter.mul_(200 if name.startswith("actor") else 2)
    return save_policy(
        store,
        network,
        name=f"seed {seed}",
        parent=None,
        iteration=0,
        oracle="ppo",
        reward=reward,
        reward_version="1",
    )


def store_ensemble(folder: Path, store: ObjectStore) -> PolicyId:
    for seed in (1, 2):
        store_network(store, seed)
    ids = [path.name for path in sorted((folder / "policies").iterdir())]
    references = [PolicyReference.parse(f"{folder}#{ids[0]}"), PolicyReference.parse(f"{folder}#{ids[1]}@T0.5")]
    return PolicyId(make_ensemble(store, references, "two").id)


def distilled(store: ObjectStore, teacher: PolicyId, wanted: RunSettings) -> TrainingResult:
    policy = load_policies(store, [teacher], bandit_space())[teacher]
    write_iteration(store, wanted, 0, teacher, play(policy, 500, seed=3), first="distil")
    return result_of(store, wanted)


def result_of(store: ObjectStore, wanted: RunSettings) -> TrainingResult:
    return TrainingResult.from_json(read_object(store, run(store, wanted, 0, 0), TRAINING_RESULT), "result")


@pytest.mark.parametrize("kind", ["network", "ensemble"])
def test_the_network_comes_to_play_as_the_teacher(tmp_path: Path, kind: str) -> None:
    store = open_store(str(tmp_path))
    teacher = store_ensemble(tmp_path, store) if kind == "ensemble" else store_network(store, 1)
    result = distilled(store, teacher, settings())
    first, last = result.curve[0].values, result.summary
    assert first["kl_teacher"] > 0.1, "an untrained network is far from the teacher"
    assert last["validation_kl_teacher"] < first["kl_teacher"] / 20
    assert last["validation_value_error"] < first["value_error"] / 10
    assert last["validation_agreement"] > 0.9
    assert (result.oracle, result.num_decisions) == ("distil", 500)
    rows, _ = decisions(200, seed=9)
    space = bandit_space()
    policies = load_policies(store, [result.policy, teacher], space)
    taught, known = (cast("WithDistribution", policies[name]).log_probs(rows) for name in (result.policy, teacher))
    assert np.abs(np.exp(taught) - np.exp(known)).mean() < 0.05


def test_values_are_the_mean_of_the_members(tmp_path: Path) -> None:
    store = open_store(str(tmp_path))
    teacher = store_ensemble(tmp_path, store)
    policies = sorted(path.name for path in (tmp_path / "policies").iterdir())
    result = distilled(store, teacher, settings())
    rows, _ = decisions(200, seed=9)
    observations = torch.from_numpy(rows.observation)
    with torch.no_grad():
        taught, *known = (
            load_network(store, BarePolicyId(PolicyId(name)), bandit_space()).values(observations)
            for name in (result.policy, *policies)
        )
    assert float((taught - torch.stack(known).mean(dim=0)).abs().mean()) < 0.1 * float(torch.stack(known).std())


def test_an_interrupted_distillation_reaches_the_same_bits(tmp_path: Path) -> None:
    wanted = settings(
        train={
            "first": {"kind": "distil", "num_epochs": 3, "minibatch_decisions": 64},
            "checkpoint_every_updates": 4,
        }
    )
    results = []
    for name in ("through", "stopped"):
        store = open_store(str(tmp_path / name))
        teacher = store_network(store, 1)
        policy = load_policies(store, [teacher], bandit_space())[teacher]
        write_iteration(store, wanted, 0, teacher, play(policy, 200, seed=3), first="distil")
        if name == "stopped":
            for _ in range(7):
                with asked_to_stop(), pytest.raises(StoppedError):
                    run(store, wanted, 0, 0)
        results.append(
            TrainingResult.from_json(read_object(store, run(store, wanted, 0, 0), TRAINING_RESULT), "result")
        )
    assert results[0].num_updates > 7
    assert results[1].policy == results[0].policy
    assert results[1].curve == results[0].curve


def test_another_reward_is_refused(tmp_path: Path) -> None:
    store = open_store(str(tmp_path))
    teacher = store_network(store, 1, reward="metamon-default")
    with pytest.raises(ConfigurationError, match=r"train\.reward is 'win-loss', and collect\.teacher's values are of"):
        distilled(store, teacher, settings())


def test_a_scripted_teacher_is_refused_before_the_run() -> None:
    wanted = settings(collect={"shards": 1, "teacher": "heuristic"})
    with pytest.raises(ConfigurationError, match=r"collect\.teacher 'heuristic' is scripted"):
        check_fit(wanted)
