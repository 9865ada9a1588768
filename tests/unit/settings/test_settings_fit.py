"""Settings that are each right and do not go together are refused in one line that says what to do."""

from typing import Any

import pytest
from pydantic import ValidationError

from nashdex.core.errors import ConfigurationError
from nashdex.learning.damping.registry import DAMPING_PRESETS
from nashdex.runs.fit import check_fit
from nashdex.settings.run import RunSettings

SPRT = {"test": "sprt"}
KUHN = {"format": "kuhn_poker", "population": {"initial": ["random"]}, "collect": {"teacher": "random"}}
ROLES = {"kind": "league", "roles": ["main", "main-exploiter", "league-exploiter"]}
EXACT = KUHN | {"train": {"oracle": "exact"}}
OFTEN = {"every_decisions": 5000}
STREAM = {"max_staleness_versions": 2}
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
        {"format": "gen9vgc2024regg", "network": "pairs"},
        {"opponents": "initial"},
        {"opponents": "self-play", "solve": {"meta_solver": "nash"}, "gate": SPRT},
        {"opponents": {"kind": "league", "itself": 0, "peer": 1}},
        {"opponents": ROLES, "iterations": 4},
        {"opponents": "league", "gate": SPRT | {"elo1": 30, "max_battles": 400}},
        {"evaluate": {"schedule": "adaptive", "first_battles": 20, "adaptive_battles": 100}},
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
        ppo(decisions=1000, round_battles=100, streaming=STREAM, advantages=V_TRACE),
        ppo(KUHN, decisions=1000, overlap_rounds=1, advantages=V_TRACE),
        {"actors": {"shards": 0}},
        {"actors": {"shards": 2, "chunk_battles": 20, "keep_chunks": True}},
        *(ppo(damping={"preset": preset}) for preset in DAMPING_PRESETS.names),
        ppo(damping={"preset": "ema-magnet", "ema_decay": 0.5}),
        ppo(damping={"preset": "adaptive-kl", "beta": {"controller": {"target_nats": 0.01}}}),
        ppo(damping={"preset": "kl-warmup", "beta": {"initial": 0}}),
        ppo(damping={"preset": "s0-damped", "beta": {"initial": 0}, "entropy": {"initial": 0}}),
        ppo(damping={"preset": "s0-damped", "beta": {"power": 0}, "entropy": {"power": 0}}),
        ppo(damping={"preset": "none", "entropy": {"power": 1, "decay_decisions": 500}, "step_size": {"power": 0.5}}),
        ppo(damping={"preset": "s0-damped", "step_size": {"controller": {"when_above": 1, "when_below": 1.5}}}),
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
            "network.kind 'slots' does not fit gen9vgc2024regg; expected 'pairs' or 'pointer-pairs'",
        ),
        ({"network": "pairs"}, "network.kind 'pairs' does not fit gen1ou; expected 'slots' or 'pointer'"),
        (
            {"format": "gen9vgc2024regg", "network": "pairs", "population": {"initial": ["metamon:grunt"]}},
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
        ({"opponents": {"kind": "league", "final_shares": [0, 0, 0.5, 0.5]}}, "both 0"),
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
        ({"gate": {"elo1": 20}}, "gate.elo1 has no effect without a gate"),
        ({"gate": SPRT | {"elo0": 50}}, "expected gate.elo0 to be the smaller"),
        (EXACT | {"gate": SPRT}, "plays a policy against its parent, and the oracle 'exact' gives policies none"),
        (KUHN | {"gate": SPRT | {"max_battles": 10}}, "gate.max_battles has no effect in kuhn_poker"),
        ({"evaluate": {"first_battles": 20}}, "evaluate.first_battles has no effect"),
        ({"evaluate": {"schedule": "adaptive", "battles_per_pair": 20}}, "no more than evaluate.battles_per_pair"),
        (EXACT | {"evaluate": {"schedule": "adaptive"}}, "kuhn_poker plays no battles to schedule"),
        (
            {"opponents": "self-play", "train": {"oracle": {"start": "clone"}}},
            "train.oracle.start 'clone' makes opponents 'self-play' start over",
        ),
        (KUHN | {"network": "pointer"}, "network.kind 'pointer' does not fit kuhn_poker; expected 'slots'"),
        (ppo(decisions=0, round_battles=10), "round_battles has no effect with train.oracle.decisions = 0"),
        (
            {"train": {"oracle": {"decisions": 1000, "critic_warmup_decisions": 1000}}},
            "critic_warmup_decisions is 1000 and train.oracle.decisions 1000, so the actor never learns",
        ),
        (
            ppo(decisions=1000, overlap_rounds=1),
            "train.oracle.advantages 'gae' does not correct for battles of older weights; expected 'v-trace'",
        ),
        (
            ppo(decisions=0, overlap_rounds=1, advantages={"kind": "v-trace"}),
            "train.oracle.overlap_rounds has no effect with train.oracle.decisions = 0",
        ),
        (
            ppo(decisions=1000, streaming=STREAM),
            "train.oracle.streaming.max_staleness_versions is 2, and train.oracle.advantages 'gae' does not correct",
        ),
        (
            ppo(decisions=1000, streaming={"max_staleness_seconds": 2}),
            "train.oracle.streaming.max_staleness_seconds has no effect with max_staleness_versions = 0: leave it out",
        ),
        (
            ppo(decisions=1000, streaming=STREAM, overlap_rounds=1, advantages=V_TRACE),
            "overlap_rounds is 1 and train.oracle.streaming.max_staleness_versions 2; expected one of them to be 0",
        ),
        (
            ppo(decisions=1000, streaming=STREAM, advantages=V_TRACE) | {"actors": {"shards": 0}},
            "max_staleness_versions is 2 and actors.shards 0, so the trainer plays each round with its newest weights",
        ),
        (
            ppo(decisions=1000, streaming=STREAM, round_battles=150, advantages=V_TRACE),
            "train.oracle.round_battles is 150 and actors.chunk_battles 100; expected a multiple",
        ),
        (
            ppo(KUHN, decisions=1000, round_battles=100, streaming=STREAM, advantages=V_TRACE),
            "max_staleness_versions is 2 and format 'kuhn_poker', which has no actors: .* expected 0 versions",
        ),
        (
            {"actors": {"shards": 0, "keep_chunks": True}},
            "actors.keep_chunks has no effect with actors.shards = 0, where the trainer plays its own battles",
        ),
        ({"actors": {"shards": 0, "chunk_battles": 20}}, "actors.chunk_battles has no effect with actors.shards = 0"),
        ({"actors": {"shards": 0, "patience_seconds": 9}}, "actors.patience_seconds has no effect with actors.shards"),
        (ppo(decisions=0, critic_warmup_decisions=1), "critic_warmup_decisions is 1 and train.oracle.decisions 0"),
        (ppo(decisions=0, keep="best"), "train.oracle.keep has no effect with train.oracle.decisions = 0"),
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
            ppo(decisions=1000, evaluation=OFTEN | {"anchors_after_decisions": [500, 1000]}),
            "evaluation.anchors_after_decisions holds 1000 and train.oracle.decisions is 1000",
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
            ppo({"opponents": "self-play"}, decisions=1000, pool={"size": 3, "opponents_a_round": 4}),
            "pool.opponents_a_round is 4 and train.oracle.pool.size 3",
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
            ppo({"network": "pointer"}, prediction_coefficient=0),
            "network.predicts_opponent is true and .*prediction_coefficient 0",
        ),
        (ppo(POINTER, prediction_coefficient=0), "network.predicts_opponent is true and .*prediction_coefficient 0"),
        (
            ppo({"network": {"kind": "pointer", "predicts_opponent": False}}, prediction_coefficient=0.5),
            "prediction_coefficient is 0.5 and the network 'pointer' has no head",
        ),
        (ppo(prediction_coefficient=0.5), "prediction_coefficient is 0.5 and the network 'slots' has no head"),
        (
            ppo(annealing={"entropy": 0.5}, damping={"preset": "none", "entropy": {"initial": 0}}),
            "annealing.entropy is 0.5 and damping.entropy.initial is 0",
        ),
    ],
)
def test_is_refused(values: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigurationError, match=message) as refused:
        check_fit(RunSettings.model_validate(values))
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("damping", "message"),
    [
        ({"preset": "ema-magnet", "ema_decay": 1}, "reference is 'ema' and ema_decay is 1, so the average never moves"),
        (
            {"preset": "ema-magnet", "snapshot": "round"},
            "snapshot is 'round' and reference is 'ema'; leave it out, or use reference = 'snapshot'",
        ),
        ({"ema_decay": 0.9}, "ema_decay is 0.9 and reference is 'snapshot'"),
        (
            {"preset": "none", "beta": {"controller": {"target_nats": 0.1}}},
            "target_nats is 0.1 and reference is 'none'",
        ),
        ({"beta": {"controller": {"when_above": 3}}}, "beta.controller.when_above has no effect with target_nats = 0"),
        ({"step_size": {"controller": {"slack": 3}}}, "step_size.controller.slack has no effect with target_nats = 0"),
        (
            {"preset": "adaptive-kl", "beta": {"controller": {"smallest": 20}}},
            "beta.controller.smallest is 20, above largest, which is 10",
        ),
        ({"entropy": {"floor": 0.2, "cap": 0.1}}, "entropy.floor is 0.2, above entropy.cap, which is 0.1"),
    ],
)
def test_damping_that_contradicts_itself_is_refused_with_both_keys(damping: dict[str, Any], message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        RunSettings.model_validate(ppo(damping=damping))


BETA_UPSIDE_DOWN = {"controller": {"target_nats": 0.02, "when_above": 0.5}}
STEP_UPSIDE_DOWN = {"controller": {"target_nats": 0.01, "when_above": 2}}


@pytest.mark.parametrize(
    ("damping", "message"),
    [
        ({"preset": "ema-magnet", "ema_decay": 0}, "ema_decay is 0 and reference 'ema', .* expected ema_decay above 0"),
        ({"beta": {"cap": 0}}, "beta.cap is 0 and reference 'snapshot', whose KL then always weighs 0"),
        (
            {"preset": "adaptive-kl", "beta": BETA_UPSIDE_DOWN},
            "beta.controller.when_above is 0.5 and beta.controller.target_nats 0.02: beta shrinks .* of at least 1",
        ),
        (
            {"preset": "adaptive-kl", "beta": {"controller": {"when_below": 1.5}}},
            "beta.controller.when_below is 1.5 and .* beta grows where the KL is below .* when_below of at most 1",
        ),
        (
            {"preset": "none", "step_size": STEP_UPSIDE_DOWN},
            "step_size.controller.when_above is 2 and .*target_nats 0.01: step_size grows where the KL is above .* 1",
        ),
        (
            {"preset": "s0-damped", "step_size": {"controller": {"when_below": 0.9}}},
            "step_size.controller.when_below is 0.9 and .* step_size shrinks .* when_below of at least 1",
        ),
        *(
            ({"preset": "none", "beta": {key: 0.5}}, f"beta.{key} is 0.5 and reference 'none', so there is no KL")
            for key in ("power", "decay_decisions", "floor", "cap")
        ),
        ({"preset": "none", "beta": {"warmup_updates": 20}}, "beta.warmup_updates is 20 and reference 'none'"),
        (
            {"preset": "kl-warmup", "beta": {"initial": 0, "warmup_updates": 9}},
            "beta.warmup_updates is 9 and reference 'none', so there is no KL",
        ),
        (
            {"beta": {"decay_decisions": 500}},
            "beta.decay_decisions is 500 and beta.power 0, so beta never falls; leave it out, or set beta.power above",
        ),
        ({"entropy": {"decay_decisions": 500}}, "entropy.decay_decisions is 500 and entropy.power 0, so entropy never"),
        ({"step_size": {"decay_decisions": 5}}, "step_size.decay_decisions is 5 and step_size.power 0, so step_size"),
        (
            {"entropy": {"initial": 0, "power": 1}},
            "entropy.power is 1 and entropy.initial 0, so there is nothing .*, or set entropy.initial above 0",
        ),
        (
            {"reference": "uniform", "beta": {"initial": 0, "floor": 0.1, "power": 1}},
            "beta.power is 1 and beta.initial 0, so there is nothing that falls",
        ),
        (
            {"preset": "s0-damped", "entropy": {"initial": 0, "decay_decisions": 500}},
            "entropy.decay_decisions is 500 and entropy.initial 0, so there is nothing that falls",
        ),
    ],
)
def test_damping_without_effect_is_refused_when_a_run_begins(damping: dict[str, Any], message: str) -> None:
    """Not when it is read: a stored run may have it."""
    settings = RunSettings.model_validate(ppo(damping=damping))
    for one in (settings, RunSettings.model_validate(settings.model_dump(mode="json"))):
        with pytest.raises(ConfigurationError, match="train.oracle.damping." + message) as refused:
            check_fit(one)
        assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    "evaluation",
    [
        {"anchors": ["start", "start"]},
        {"styles": ["greedy", "greedy"]},
        {"battles": 5},
        {"anchors": ["nobody"]},
        {"anchors_after_decisions": [5, 5]},
    ],
)
def test_evaluations_that_make_no_sense_are_refused(evaluation: dict[str, Any]) -> None:
    with pytest.raises(ValidationError, match="evaluation"):
        RunSettings.model_validate(ppo(decisions=1000, evaluation=OFTEN | evaluation))
