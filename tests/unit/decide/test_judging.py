"""What answers in ``nashdex decide``: it plays as the policy itself does, and asks each network once."""

from pathlib import Path

import numpy as np
import pytest
import torch

from nashdex.core.errors import DataError
from nashdex.core.ids import PolicyId
from nashdex.core.references import PolicyReference
from nashdex.policies.archive import save_policy
from nashdex.policies.ensembles.making import make_ensemble
from nashdex.policies.interface import WithDistribution
from nashdex.policies.networks.actor_critic import ActorCritic, make_network
from nashdex.policies.sources import load_policies
from nashdex.settings.networks import SlotsSettings
from nashdex.store import open_store
from nashdex.store.protocol import ObjectStore
from nashdex_play.decide.judging import Judge, Member, judge_of
from support.bandit import bandit_space, decisions

SMALL = SlotsSettings(embedding_size=3, entity_size=5, hidden_size=16)
NUM_ROWS = 40


def network(seed: int) -> ActorCritic:
    """Return a network whose probabilities differ clearly from those of other seeds."""
    torch.manual_seed(seed)
    made = make_network(bandit_space(), SMALL)
    with torch.no_grad():
        for name, parameter in made.named_parameters():
            if not name.startswith("critic"):
                parameter.mul_(6)
    return made


def stored(store: ObjectStore, seed: int) -> PolicyId:
    return save_policy(
        store, network(seed), name=f"seed {seed}", parent=None, iteration=0, oracle="ppo", reward="win-loss",
        reward_version="1",
    )  # fmt: skip


@pytest.mark.parametrize("style", ["", "@greedy", "@T0.5"])
@pytest.mark.parametrize("num_members", [1, 2])
def test_it_plays_and_thinks_as_the_policy_does(style: str, num_members: int, tmp_path: Path) -> None:
    store = open_store(str(tmp_path))
    members = [stored(store, seed) for seed in range(num_members)]
    bare = members[0]
    if num_members > 1:
        bare = make_ensemble(store, [PolicyReference.parse(f"{tmp_path}#{each}") for each in members], "both").id
    policy = PolicyId(f"{bare}{style}")
    loaded = load_policies(store, [policy, bare], bandit_space())
    judge = judge_of(store, loaded[policy], bandit_space())
    assert judge is not None
    rows, uniforms = decisions(NUM_ROWS, 1)
    np.testing.assert_array_equal(judge.act(rows, uniforms).action, loaded[policy].act(rows, uniforms).action)
    plain = loaded[bare]
    assert isinstance(plain, WithDistribution)
    found = [each for battle in rows.battle.tolist() for each in judge.thoughts[battle].probabilities.values()]
    np.testing.assert_allclose(found, np.exp(plain.log_probs(rows)), rtol=1e-3, atol=1e-6)


def test_it_asks_each_network_once_and_forgets_battles() -> None:
    made = network(0)
    passes: list[int] = []
    original = made.logits_and_prediction

    def counted(observations: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor | None]:
        passes.append(len(observations))
        return original(observations)

    made.logits_and_prediction = counted  # type: ignore[method-assign]
    judge = Judge(PolicyId("p" + "0" * 16), [Member(made, "win-loss")], bandit_space())
    rows, uniforms = decisions(NUM_ROWS, 1)
    judge.act(rows, uniforms)
    assert passes == [NUM_ROWS]
    for battle in rows.battle.tolist():
        judge.forget(battle, 0)
    assert judge.thoughts == {}


def test_numbers_that_are_not_finite_are_an_error() -> None:
    made = network(0)
    with torch.no_grad():
        for parameter in made.actor_parameters():
            parameter.fill_(float("nan"))
    judge = Judge(PolicyId("p" + "0" * 16), [Member(made, "win-loss")], bandit_space())
    with pytest.raises(DataError, match="not finite"):
        judge.act(*decisions(NUM_ROWS, 1))
