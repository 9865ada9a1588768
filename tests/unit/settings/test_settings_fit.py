"""Settings that are each right and do not go together are refused in one line that says what to do."""

from typing import Any

import pytest
from pydantic import ValidationError

from nashdex.core.errors import ConfigurationError
from nashdex.runs.fit import check_fit
from nashdex.settings.damping import DAMPING_PRESETS
from nashdex.settings.run import RunSettings

SPRT = {"test": "sprt"}
KUHN = {"format": "kuhn_poker", "population": {"initial": ["random"]}, "collect": {"teacher": "random"}}
ROLES = {"kind": "league", "roles": ["main", "main-exploiter", "league-exploiter"]}
EXACT = KUHN | {"train": {"oracle": "exact"}}
OFTEN = {"every_decisions": 5000}
V_TRACE = {"kind": "v-trace"}
RARE_POOL = {"share": 0.5, "every_decisions": 1000}
POINTER: dict[str, Any] = {"network": {"kind": "pointer", "predicts_opponent": True}}


def ppo(values: dict[str, Any] | None = None, **oracle: object) -> dict[str, Any]:
    """Return settings with these ones of PPO."""
    return (values or {}) | {"train": {"oracle": oracle}}


@pytest.mark.parametrize(
    "values",
    [
        {},
        {"opponents": "self-play"},
        {"network": "pointer"},
        {"network": "transformer", "collect": {"device": "cuda"}},
        {"format": "gen9vgc2024regg", "network": "pointer-pairs"},
        {"opponents": "initial"},
        {"opponents": "self-play", "solve": {"meta_solver": "nash"}, "gate": SPRT},
        {"opponents": {"kind": "league", "itself": 0, "peer": 1}},
        {"opponents": ROLES, "iterations": 4},
        {"opponents": "league", "gate": SPRT | {"elo": 30, "max_battles": 400}},
        {"evaluate": {"first_battles": 20, "adaptive_battles": 100}},
        KUHN | {"opponents": "league"},
        KUHN | {"gate": SPRT},
        KUHN | {"train": {"oracle": {"start": "clone", "decisions": 2000, "round_battles": 10}}},
        KUHN | {"train": {"oracle": {"kind": "q-learning", "battles": 10}}},
        EXACT,
        EXACT | {"opponents": "self-play"},
        ppo(POINTER | {"opponents": "self-play"}, decisions=10_000, pool={"share": 1.0}, keep="best", evaluation=OFTEN),
        ppo({"opponents": "self-play"}, decisions=1000, pool={"share": 0.9, "anchors": {"share": 0.1}}),
        ppo(KUHN, decisions=1000, evaluation={"every_decisions": 500, "anchors": ["random", "start"]}),
        ppo({"opponents": "self-play"}, decisions=1001, pool=RARE_POOL),
        ppo({"opponents": "self-play"}, decisions=1000, pool={"share": 0.5}),
        ppo({"opponents": "self-play"}, decisions=1000, pool={"every_decisions": 1000}),
        ppo(decisions=1000, evaluation={"every_decisions": 5000}),
        ppo(decisions=1000, round_battles=100, max_staleness_versions=2, advantages=V_TRACE),
        ppo(KUHN, decisions=1000, overlap_rounds=1, advantages=V_TRACE),
        {"actors": {"shards": 0}},
        EXACT | {"actors": {"shards": 0}, "network": "slots"},
        {"actors": {"shards": 2, "chunk_battles": 20, "keep_chunks": True}},
        *(ppo(damping={"preset": preset}) for preset in DAMPING_PRESETS.names),
        ppo(damping={"preset": "adaptive-kl", "beta": {"target_nats": 0.01}}),
        ppo(damping={"preset": "kl-warmup", "beta": {"initial": 0}}),
        ppo(damping={"preset": "s0-damped", "beta": {"initial": 0}, "entropy": 0}),
        ppo(damping={"preset": "s0-damped", "beta": {"decay_decisions": 0}}),
        ppo(damping={"preset": "none", "entropy": 0.02, "step_target_nats": 0.01}),
    ],
)
def test_goes_together(values: dict[str, Any]) -> None:
    """Also as it is stored: with every value, as if the user had set it."""
    settings = RunSettings.model_validate(values)
    check_fit(settings)
    check_fit(RunSettings.model_validate(settings.model_dump(mode="json")))


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (
            {"format": "gen9vgc2024regg"},
            "network.kind 'slots' does not fit gen9vgc2024regg; expected 'pointer-pairs'",
        ),
        (
            {"network": "pointer-pairs"},
            "network.kind 'pointer-pairs' does not fit gen1ou; expected 'slots' or 'pointer'",
        ),
        (
            {"format": "gen9vgc2024regg", "network": "pointer-pairs", "population": {"initial": ["metamon:grunt"]}},
            "holds 'metamon:grunt', which does not play gen9vgc2024regg; expected some of 'first-action', 'heuristic'",
        ),
        (EXACT | {"collect": {"teacher": "random", "device": "cuda"}}, "collect.device 'cuda' has no effect"),
        (
            {"network": "memory", "collect": {"device": "cuda"}},
            "network.kind 'memory' with a memory of the battle plays on the CPU alone",
        ),
        (EXACT | {"opponents": "league"}, "opponents 'league' .* the oracle 'exact' plays no battles"),
        (
            {"opponents": {"kind": "league", "baseline": 0, "itself": 0}},
            "opponents.baseline and opponents.itself are both 0",
        ),
        (
            {"opponents": {"kind": "league", "roles": ["main-exploiter", "main"]}},
            "opponents.roles begins with 'main-exploiter', which has nobody to exploit yet; expected 'main'",
        ),
        (
            {"opponents": {"kind": "league", "exploiters": {"max_trainings": 3}}},
            "opponents.exploiters has no effect without exploiters in opponents.roles",
        ),
        (
            {"opponents": ROLES, "iterations": 3},
            "has 3 roles and iterations is 3: .* 'league-exploiter' at its end never does; .* at least 4",
        ),
        ({"opponents": ROLES, "gate": SPRT}, "an exploiter of opponents.roles need not beat its parent"),
        (
            {"opponents": ROLES, "train": {"oracle": {"start": "clone"}}},
            "train.oracle.start 'clone' makes every role of opponents.roles start over",
        ),
        (
            {"gate": {"elo": 20}},
            "gate.elo has no effect with gate.test = 'none': leave it out, or give gate.test 'sprt'",
        ),
        (
            EXACT | {"gate": SPRT},
            "compares a policy with its parent, but policies of the oracle 'exact' have no parent",
        ),
        (
            {"evaluate": {"first_battles": 20}},
            "evaluate.first_battles has no effect with evaluate.adaptive_battles = 0",
        ),
        (EXACT | {"evaluate": {"adaptive_battles": 100}}, "kuhn_poker plays no battles to schedule"),
        (
            {"opponents": "self-play", "train": {"oracle": {"start": "clone"}}},
            "train.oracle.start 'clone' makes opponents 'self-play' start over",
        ),
        (KUHN | {"network": "pointer"}, "network.kind 'pointer' does not fit kuhn_poker; expected 'slots'"),
        (
            {"train": {"oracle": {"decisions": 1000, "critic_warmup_decisions": 1000}}},
            "critic_warmup_decisions is 1000 and train.oracle.decisions 1000, so the actor never learns",
        ),
        (
            ppo(decisions=1000, overlap_rounds=1),
            "train.oracle.advantages 'gae' does not correct for battles of older weights; expected 'v-trace'",
        ),
        (
            ppo(decisions=1000, max_staleness_versions=2),
            "train.oracle.max_staleness_versions is 2, and train.oracle.advantages 'gae' does not correct",
        ),
        (
            ppo(decisions=1000, max_staleness_versions=2, overlap_rounds=1, advantages=V_TRACE),
            "overlap_rounds is 1 and train.oracle.max_staleness_versions 2; expected one of them to be 0",
        ),
        (
            ppo(decisions=1000, max_staleness_versions=2, advantages=V_TRACE) | {"actors": {"shards": 0}},
            "max_staleness_versions is 2 and actors.shards 0, so the trainer plays each round with its newest weights",
        ),
        (
            ppo(decisions=1000, max_staleness_versions=2, round_battles=150, advantages=V_TRACE),
            "train.oracle.round_battles is 150 and actors.chunk_battles 100; expected a multiple",
        ),
        (
            ppo(KUHN, decisions=1000, round_battles=100, max_staleness_versions=2, advantages=V_TRACE),
            "max_staleness_versions is 2 and format 'kuhn_poker', which has no actors: .* expected 0 versions",
        ),
        (
            {"actors": {"shards": 0, "keep_chunks": True}},
            "actors.keep_chunks has no effect with actors.shards = 0: leave it out, or give actors.shards another",
        ),
        (
            EXACT | {"actors": {"shards": 2}},
            "actors.shards has no effect with the oracle 'exact' and format 'kuhn_poker', where no actors play",
        ),
        (
            ppo(KUHN | {"actors": {"chunk_battles": 20}}),
            "actors.chunk_battles has no effect with the oracle 'ppo' and format 'kuhn_poker'",
        ),
        (
            EXACT | {"network": {"hidden_size": 64}},
            "network.hidden_size has no effect with the oracle 'exact', whose policies are tables: leave it out",
        ),
        ({"actors": {"shards": 0, "chunk_battles": 20}}, "actors.chunk_battles has no effect with actors.shards = 0"),
        ({"actors": {"shards": 0, "patience_seconds": 9}}, "actors.patience_seconds has no effect with actors.shards"),
        (
            ppo(decisions=1000, keep="best"),
            "train.oracle.keep is 'best' and train.oracle.evaluation.every_decisions 0, so nothing is evaluated",
        ),
        (
            ppo(decisions=1000, evaluation={"battles": 100}),
            "evaluation.battles has no effect with train.oracle.evaluation.every_decisions = 0",
        ),
        (
            ppo(KUHN, decisions=1000, evaluation=OFTEN),
            "evaluation.anchors holds 'heuristic', which does not play kuhn_poker; expected first-action, random",
        ),
        (
            ppo(decisions=1000, evaluation=OFTEN | {"anchors": ["start", "after-500", "after-1000"]}),
            "evaluation.anchors holds 'after-1000' and train.oracle.decisions is 1000",
        ),
        (
            ppo({"opponents": "self-play"}, decisions=1000, pool={"share": 0, "size": 3}),
            "pool.size has no effect with train.oracle.pool.share = 0",
        ),
        (
            ppo({"opponents": "self-play"}, decisions=1000, pool=RARE_POOL),
            "pool.every_decisions is 1000 and train.oracle.decisions 1000, so the pool only ever holds its first",
        ),
        (
            ppo(decisions=1000, pool={"share": 0.5}),
            "pool.share has no effect with opponents 'meta-strategy', where the learner does not meet itself",
        ),
        (
            ppo({"opponents": "self-play"}, decisions=1000, pool={"share": 0.5, "anchors": {"share": 0.6}}),
            "pool.share is 0.5 and train.oracle.pool.anchors.share 0.6; expected a sum of at most 1",
        ),
        (
            ppo(KUHN | {"opponents": "self-play"}, decisions=1000, pool={"anchors": {"share": 0.1}}),
            "pool.anchors.policies holds 'heuristic', which does not play kuhn_poker; expected first-action, random",
        ),
        (
            ppo({"opponents": "self-play"}, decisions=1000, pool={"anchors": {"policies": ["random"]}}),
            "pool.anchors.policies has no effect with train.oracle.pool.anchors.share = 0",
        ),
        (
            ppo(decisions=1000, pool={"anchors": {"share": 0.5}}),
            "pool.anchors has no effect with opponents 'meta-strategy', where the learner does not meet itself",
        ),
        (
            ppo(annealing={"entropy": 0.5}, damping={"preset": "none", "entropy": 0}),
            "annealing.entropy is 0.5 and train.oracle.damping.entropy 0, so there is nothing to anneal",
        ),
    ],
)
def test_is_refused(values: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigurationError, match=message) as refused:
        check_fit(RunSettings.model_validate(values))
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    "evaluation",
    [
        {"anchors": ["start", "start"]},
        {"styles": ["greedy", "greedy"]},
        {"battles": 5},
        {"anchors": ["nobody"]},
        {"anchors": ["start", "after-5", "after-5"]},
        {"anchors": ["start", "after-"]},
        {"anchors": ["after-5", "start"]},
    ],
)
def test_evaluations_that_make_no_sense_are_refused(evaluation: dict[str, Any]) -> None:
    with pytest.raises(ValidationError, match="evaluation"):
        RunSettings.model_validate(ppo(decisions=1000, evaluation=OFTEN | evaluation))
