"""PPO over a whole training on Kuhn poker: annealing, snapshots, warm-up, early ends of rounds and evaluations."""

import itertools
import json
from dataclasses import dataclass
from typing import Any

import prometheus_client
import pytest
import torch
from safetensors import torch as safetensors
from torch import Tensor

from nashdex.core.errors import DataError, StoppedError
from nashdex.core.ids import BarePolicyId, PolicyId
from nashdex.core.results import TRAINING_RESULT, Evaluation, TrainingResult
from nashdex.core.steps import StepName
from nashdex.games.registry import tabular_game_of_run
from nashdex.learning.evaluation.ledger import EVALUATION_LEDGER, EvaluationLedger, PlayedEvaluation
from nashdex.learning.updates.checkpoint import Checkpoint
from nashdex.policies.archive import load_network
from nashdex.policies.networks.actor_critic import ActorCritic
from nashdex.settings.run import RunSettings
from nashdex.store.attempt import read_manifest, read_object
from nashdex.telemetry.metric import identify_process
from nashdex.trainer.step import run
from support.kuhn import FIRST_ACTION, RANDOM, kuhn_settings, prepare, trained
from support.stopping import InterruptingStore, stop_handlers

IDENTITY = {"run": "run-1", "component": "train", "format": "kuhn_poker"}
ROUND = 450
"""Decisions of both seats in 200 battles of Kuhn poker, about."""
LENGTH = 6 * ROUND
EVALUATION: dict[str, Any] = {"every_decisions": 2 * ROUND, "battles": 40, "anchors": ["first-action", "start"]}
POOL: dict[str, Any] = {"share": 0.5, "size": 2, "every_decisions": 1}
SELF_PLAY = {
    "decisions": LENGTH,
    "learning_rate": 1e-2,
    "damping": {"preset": "none"},
    "pool": POOL,
    "evaluation": EVALUATION,
}


@dataclass
class Played:
    """A training that is done, and what it wrote on the way."""

    result: TrainingResult
    store: InterruptingStore
    learner: PolicyId
    settings: RunSettings
    stopped_at: dict[int, dict[str, Tensor]]
    """What the checkpoint of each stop holds, by optimiser steps."""

    def network(self, policy: PolicyId) -> ActorCritic:
        return load_network(self.store, BarePolicyId(policy), tabular_game_of_run(self.store, self.settings).space)

    def values(self, name: str) -> list[float]:
        return [point.values[name] for point in self.result.curve]

    @property
    def checkpoints(self) -> dict[int, Checkpoint]:
        return {checkpoint.state.update: checkpoint for checkpoint in self.store.checkpoints}


def self_play(stops_after: tuple[int, ...] = (), iterations: int = 2, **oracle: object) -> Played:
    """Return self-play from a clone of the random player that was stopped after these optimiser steps and resumed."""
    store = InterruptingStore()
    settings = kuhn_settings(oracle=SELF_PLAY | oracle, checkpoint_every_updates=1)
    settings = settings.model_copy(update={"iterations": iterations})
    learner = trained(store, settings, 0, "clone", RANDOM, {RANDOM: 0.5, FIRST_ACTION: 0.5}, "initial").policy
    prepare(store, settings, 1, "ppo", learner, {learner: 1.0}, "self-play")
    store.checkpoints.clear()
    store.stops_after = set(stops_after)
    stopped_at = {}
    for _ in stops_after:
        with stop_handlers(), pytest.raises(StoppedError):
            run(store, settings, 1, 0)
        newest = store.checkpoints[-1]
        stopped_at[newest.state.update] = safetensors.load(store.get(newest.tensors.key))
    result = TrainingResult.from_json(read_object(store, run(store, settings, 1, 0), TRAINING_RESULT), "result")
    return Played(result, store, learner, settings, stopped_at)


def iteration_2_of(first: Played) -> TrainingResult:
    """Return the iteration after ``first``, which goes on from its policy."""
    learner = first.result.policy
    prepare(first.store, first.settings, 2, "ppo", learner, {learner: 1.0}, "self-play")
    return TrainingResult.from_json(
        read_object(first.store, run(first.store, first.settings, 2, 0), TRAINING_RESULT), "result"
    )


def weights(tensors: dict[str, Tensor], kept: str = "now") -> dict[str, Tensor]:
    """Return the network's weights in a checkpoint, of now or as they were kept under a name."""
    prefix = f"{kept}/network/"
    return {name.removeprefix(prefix): weight for name, weight in tensors.items() if name.startswith(prefix)}


def critic(tensors: dict[str, Tensor]) -> Tensor:
    found = sorted(weights(tensors).items())
    return torch.cat([weight.flatten() for name, weight in found if name.startswith("critic")])


def without_time(evaluations: tuple[Evaluation, ...]) -> list[Evaluation]:
    return [evaluation.model_copy(update={"cpu_seconds": 0.0}) for evaluation in evaluations]


def ledger_of(played: Played) -> list[PlayedEvaluation]:
    """Return the battles of the evaluations as the training stored them, without CPU times."""
    data = read_object(played.store, read_manifest(played.store, 1, StepName.TRAIN, 0), EVALUATION_LEDGER)
    evaluations = EvaluationLedger.from_json(data, "ledger").evaluations
    return [one.model_copy(update={"cpu_seconds": 0.0}) for one in evaluations]


@pytest.mark.slow
def test_a_stopped_training_reaches_the_same_bits_with_everything_switched_on() -> None:
    """Within rounds, at their ends and right after: weights, curve, evaluations and snapshots."""
    both = {"styles": ["greedy", "sampled"], "anchors": ["first-action", "start", f"after-{ROUND}"]}
    everything: dict[str, Any] = {
        "evaluation": EVALUATION | both,
        "critic_warmup_decisions": ROUND // 2,
        "annealing": {"learning_rate": 0.1, "entropy": 0.2},
        "pool": POOL | {"size": 3},
    }
    through = self_play(**everything)
    at = through.checkpoints
    borders = [u for u in at if u + 1 in at and at[u].state.round != at[u + 1].state.round]
    assert len(borders) >= 4
    stops = sorted({3, borders[1], borders[1] + 1, borders[2] + 2, borders[3]})
    stopped = self_play(tuple(stops), **everything)
    assert stopped.store.stops_after == set()
    assert stopped.result.curve == through.result.curve
    assert (stopped.result.policy, stopped.result.summary) == (through.result.policy, through.result.summary)
    assert without_time(stopped.result.evaluations) == without_time(through.result.evaluations)
    assert ledger_of(stopped) == ledger_of(through)
    for update, checkpoint in stopped.checkpoints.items():
        kept = [(one.name, one.decisions, one.weights.sha256) for one in checkpoint.state.snapshots]
        assert kept == [(one.name, one.decisions, one.weights.sha256) for one in at[update].state.snapshots]
    assert len(through.store.checkpoints[-1].state.snapshots) == 3


def test_annealing_reaches_its_shares_in_equal_steps_of_decisions() -> None:
    annealing = {"learning_rate": 0.0, "entropy": 0.25}
    rates: dict[str, Any] = {"learning_rate": 1e-3, "critic_learning_rate": 5e-3}
    damping = {"preset": "none", "entropy": 0.04}
    played = self_play(annealing=annealing, damping=damping, pool={"share": 0.0}, evaluation={}, **rates)
    actor, entropy = played.values("learning_rate"), played.values("entropy_coefficient")
    assert actor[0] == 1e-3
    assert actor == sorted(actor, reverse=True)
    assert actor[-1] < 1e-3 / 12
    shares = [1 - rate / 1e-3 for rate in actor]
    for share, coefficient in zip(shares, entropy, strict=True):
        if share < 1:
            assert coefficient == pytest.approx(0.04 * (1 - 0.75 * share), rel=1e-6)
    steps = [after - before for before, after in itertools.pairwise(shares) if after < 1]
    assert max(steps) < 1.7 * min(steps), "rounds differ a little in their decisions"


@pytest.mark.slow
def test_annealing_reaches_the_critic() -> None:
    rates: dict[str, Any] = {"learning_rate": 1e-9, "critic_learning_rate": 1e-2}
    still = self_play(
        pool={"share": 0.0}, evaluation={}, annealing={"learning_rate": 0.0}, stops_after=(4, 5, 46, 47), **rates
    )
    moved = {
        update: (critic(after) - critic(before)).abs().max().item()
        for (update, after), before in zip(still.stopped_at.items(), [None, *still.stopped_at.values()], strict=False)
        if before is not None
    }
    assert moved[47] < moved[5] / 3


def test_the_clock_of_the_run_goes_on_over_iterations() -> None:
    annealing = {"learning_rate": 0.0}
    damping = {"preset": "none", "clock": "run"}
    first = self_play(
        iterations=3, learning_rate=1e-3, annealing=annealing, damping=damping, pool={"share": 0.0}, evaluation={}
    )
    second = iteration_2_of(first)
    rates = [point.values["learning_rate"] for result in (first.result, second) for point in result.curve]
    assert rates == sorted(rates, reverse=True)
    middle = first.values("learning_rate")[-1] / 1e-3
    assert 0.4 < middle < 0.6
    assert second.curve[0].values["learning_rate"] == pytest.approx(
        1e-3 * (1 - first.result.num_decisions / (2 * LENGTH))
    )
    assert rates[-1] < 1e-3 / 20


def test_snapshots_sit_opposite_in_their_share_of_the_battles() -> None:
    played = self_play(evaluation={}, pool=POOL | {"size": 3})
    decisions = {one.state.round: one.state.decisions_before_round for one in played.store.checkpoints}
    # Round 0 has no snapshots, and the only one of round 1 is the network that plays it.
    without, last = decisions[2] / 2, max(decisions)
    mean = (decisions[last] - decisions[2]) / (last - 2)
    assert 0.65 < mean / without < 0.85, "half of the battles are with a snapshot and record one seat of two"


def test_nothing_temporary_is_left() -> None:
    played = self_play(stops_after=(8, 14), evaluation={})
    kept = {key.rpartition("/")[2] for key in played.store.list("iterations/0001/train/")}
    assert kept == {"manifest.json", "result.json", "metrics.jsonl", "optimiser.safetensors", "controllers.json"}


@pytest.mark.slow
def test_the_best_evaluated_weights_are_kept_also_after_a_stop() -> None:
    """Chosen on the even pairs, scored on the odd ones. The step size is so large that the policy gets worse again."""
    wild: dict[str, Any] = {"keep": "best", "learning_rate": 5e-2, "evaluation": EVALUATION | {"every_decisions": 1}}
    through, stopped = self_play(**wild), self_play((9, 20), **wild)
    kept = through.result.kept
    assert kept is not None
    first = [one for one in through.result.evaluations if one.anchor == "first-action"]
    assert kept == max(first[1:], key=lambda one: one.selection_score or 0.0)
    assert 0 < kept.decisions < through.result.num_decisions, "neither the first nor the last"
    held_out = kept.held_out
    assert held_out is not None
    assert kept.selection_score is not None
    assert held_out.battles == 20
    assert kept.score == pytest.approx((kept.selection_score + held_out.score) / 2)
    assert stopped.result.policy == through.result.policy != self_play(**wild | {"keep": "last"}).result.policy


@pytest.mark.slow
def test_adam_and_controllers_go_on_where_the_weights_do() -> None:
    damping = {"preset": "adaptive-kl", "beta": {"target_nats": 1e-6}}
    first = self_play(pool={"share": 0.0}, evaluation={}, damping=damping, learning_rate=1e-3)
    assert first.result.rollbacks == 0, "a rollback takes Adam's steps back too"

    def second(learner: PolicyId) -> tuple[TrainingResult, float]:
        """Return iteration 2 from ``learner``, and how many steps its Adam has counted at the end."""
        store = InterruptingStore()
        store.objects |= first.store.objects
        prepare(store, first.settings, 2, "ppo", learner, {learner: 1.0}, "self-play")
        manifest = run(store, first.settings, 2, 0)
        steps = safetensors.load(read_object(store, manifest, "optimiser.safetensors"))
        result = TrainingResult.from_json(read_object(store, manifest, TRAINING_RESULT), "result")
        return result, max(value.item() for name, value in steps.items() if name.endswith("/step"))

    on, on_steps = second(first.result.policy)
    fresh, fresh_steps = second(first.learner)
    assert on_steps == first.result.num_updates + on.num_updates
    assert fresh_steps == fresh.num_updates
    assert first.values("beta_multiplier")[-1] > 1
    assert on.curve[0].values["beta_multiplier"] == pytest.approx(first.values("beta_multiplier")[-1], rel=0.51)
    assert on.curve[0].values["beta_multiplier"] > 1
    assert fresh.curve[0].values["beta_multiplier"] == 1


def test_an_altered_optimiser_is_refused() -> None:
    first = self_play(pool={"share": 0.0}, evaluation={}, decisions=ROUND)
    learner = first.result.policy
    prepare(first.store, first.settings, 2, "ppo", learner, {learner: 1.0}, "self-play")
    (key,) = (key for key in first.store.objects if key.endswith("optimiser.safetensors"))
    first.store.put(key, first.store.get(key)[:-1] + b"x")
    with pytest.raises(DataError, match="sha256"):
        run(first.store, first.settings, 2, 0)


def test_the_critic_warms_up_alone() -> None:
    """Not one bit of the actor changes in the first round; then it learns."""
    played = self_play(evaluation={}, critic_warmup_decisions=10, stops_after=(5, 18))
    start = played.network(played.learner)
    warm, later = weights(played.stopped_at[5]), weights(played.stopped_at[18])
    of_critic = {name for name in warm if name.startswith("critic")}
    assert of_critic
    for name, weight in start.state_dict().items():
        assert torch.equal(warm[name], weight) != (name in of_critic), name
    assert not all(torch.equal(later[name], warm[name]) for name in warm.keys() - of_critic)
    assert "policy_loss" not in played.result.curve[0].values
    assert "policy_loss" in played.result.curve[-1].values


def test_evaluations_are_at_the_start_at_the_end_and_between() -> None:
    styles = ("greedy", "sampled")
    played = self_play(evaluation=EVALUATION | {"styles": styles})
    found = played.result.evaluations
    moments = sorted({evaluation.decisions for evaluation in found})
    assert moments[0] == 0
    assert moments[-1] == played.result.num_decisions
    assert len(moments) >= 4
    assert [moment // (2 * ROUND) for moment in moments[:-1]] == list(range(len(moments) - 1))
    for moment in moments:
        at_once = [evaluation for evaluation in found if evaluation.decisions == moment]
        assert {(evaluation.anchor, evaluation.style) for evaluation in at_once} == {
            (anchor, style) for anchor in ("first-action", "start") for style in styles
        }
        assert all(one.low <= one.score <= one.high and one.battles == 40 for one in at_once)
    assert [one.decisions for one in ledger_of(played)] == moments
    assert without_time(found) == [one for each in ledger_of(played) for one in each.summarised()]
    cpu = [evaluation.cpu_seconds for evaluation in found]
    assert cpu == sorted(cpu)
    assert cpu[0] == 0 < cpu[-1] <= played.result.cpu_seconds


def test_every_evaluation_plays_the_same_battles() -> None:
    """A network that does not change scores the same each time, down to the last battle."""
    rates: dict[str, Any] = {"learning_rate": 1e-12, "critic_learning_rate": 1e-12}
    found = self_play(evaluation=EVALUATION | {"styles": ["sampled"]}, pool={"share": 0.0}, **rates).result.evaluations
    for anchor in ("first-action", "start"):
        scores = {(one.score, one.low, one.high, one.draws) for one in found if one.anchor == anchor}
        assert len(scores) == 1


def test_the_first_policy_is_an_anchor_of_later_iterations() -> None:
    """Iteration 2 begins with the score against the first policy that iteration 1 ended with against its start."""
    evaluation = EVALUATION | {"anchors": ["first-action", "start", "first"]}
    first = self_play(iterations=3, pool={"share": 0.0}, evaluation=evaluation)
    second = iteration_2_of(first)
    of_start, of_first = ([one for one in first.result.evaluations if one.anchor == a] for a in ("start", "first"))
    assert [one.score for one in of_start] == [one.score for one in of_first]
    begun = {one.anchor: one.score for one in second.evaluations if one.decisions == 0}
    assert begun["first"] == of_first[-1].score != begun["start"]


@pytest.mark.slow
def test_earlier_weights_of_a_training_are_anchors_of_its_later_evaluations() -> None:
    """They are the weights at the end of the round that reached the decisions, also after a stop."""
    anchor = f"after-{2 * ROUND}"
    evaluation = EVALUATION | {"every_decisions": 1, "anchors": ["start", anchor]}
    through = self_play(evaluation=evaluation)
    evaluated = [one.decisions for one in through.result.evaluations if one.anchor == "start"]
    became, *later = [decisions for decisions in evaluated if decisions >= 2 * ROUND]
    assert [one.decisions for one in through.result.evaluations if one.anchor == anchor] == later
    begins = min(u for u, one in through.checkpoints.items() if one.state.decisions_before_round == became)
    stopped = self_play((begins - 1, begins), evaluation=evaluation)
    then, kept = weights(stopped.stopped_at[begins - 1]), weights(stopped.stopped_at[begins], anchor)
    assert then.keys() == kept.keys()
    assert all(torch.equal(then[name], kept[name]) for name in then)
    assert without_time(stopped.result.evaluations) == without_time(through.result.evaluations)


def test_metrics_of_a_training_are_lines_of_json_and_gauges() -> None:
    identify_process(**IDENTITY)
    played = self_play(pool={"share": 0.0})
    (key,) = (key for key in played.store.objects if key.endswith("metrics.jsonl") and "/0001/" in key)
    lines = [json.loads(line) for line in played.store.get(key).splitlines()]
    points, evaluations = [one for one in lines if "update" in one], [one for one in lines if "anchor" in one]
    assert points == [{"update": point.update, **point.values} for point in played.result.curve]
    assert [Evaluation.model_validate(one) for one in evaluations] == list(played.result.evaluations)
    assert len(lines) == len(points) + len(evaluations)
    last = played.result.evaluations[-1]
    for bound, value in (("value", last.score), ("low", last.low), ("high", last.high)):
        labels = IDENTITY | {"anchor": last.anchor, "style": last.style, "bound": bound}
        assert prometheus_client.REGISTRY.get_sample_value("nashdex_evaluation_score", labels) == value


def test_a_critic_that_goes_on_has_no_second_warm_up() -> None:
    """Every update of the second iteration trains the actor."""
    warmup: dict[str, Any] = {"critic_warmup_decisions": 10, "pool": {"share": 0.0}, "evaluation": {}}
    first = self_play(iterations=3, decisions=2 * ROUND, **warmup)
    second = iteration_2_of(first)
    assert "policy_loss" not in first.result.curve[0].values
    assert "policy_loss" in second.curve[0].values


def test_the_last_round_trains_the_actor_whatever_the_warm_up() -> None:
    """The first round alone reaches the length of the training."""
    played = self_play(evaluation={}, pool={"share": 0.0}, decisions=300, critic_warmup_decisions=100)
    assert all("policy_loss" in point.values for point in played.result.curve)
    assert played.result.policy != played.learner
