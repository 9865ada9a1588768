"""The gate step: a new policy meets its parent until a sequential test has decided whether it may join the population.

Many battles are under way at once, and long ones end last, so results are taken in the order of the battles' numbers:
the decision follows from seeds alone, whatever was scheduled how, and a gate that was killed comes to the same one.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from nashdex.core.ids import PolicyId
from nashdex.core.manifest import Manifest
from nashdex.core.results import TRAINING_RESULT, TrainingResult
from nashdex.core.seeds import derive_seed
from nashdex.core.steps import StepName
from nashdex.games.interface import Game
from nashdex.games.registry import game_of_run
from nashdex.games.tabular.game import TabularGame
from nashdex.games.tabular.values import expected_payoffs
from nashdex.metagame.tournament.gate import GATE_RESULT, GateResult
from nashdex.metagame.tournament.settings import GateSettings
from nashdex.metagame.tournament.sprt import SequentialState, SequentialTest
from nashdex.policies.tables import load_table
from nashdex.rollout.loading import load_policies
from nashdex.rollout.pairs import PairedBattles
from nashdex.rollout.play import Rollout, require_finished
from nashdex.settings.run import RunSettings
from nashdex.store.attempt import Attempt, find_manifest, read_manifest
from nashdex.store.documents import read_written
from nashdex.store.protocol import ObjectStore
from nashdex.telemetry.progress import Progress

BATTLES_PER_LOOK = 2
"""A side-swapped pair: the luck of its teams cancels."""


def run(store: ObjectStore, settings: RunSettings, iteration: int, shard: int) -> Manifest:
    """Test the policy that the train step's ``shard`` left.

    Raises:
        DataError: the training result or a policy is missing or altered.
        TryAgainError: a battle could not be finished, or the store or a gateway is not there.
        StoppedError: the process was asked to stop.
    """
    if done := find_manifest(store, iteration, StepName.GATE, shard):
        return done
    attempt = Attempt(store, iteration, StepName.GATE, shard)
    manifest = read_manifest(store, iteration, StepName.TRAIN, shard)
    trained = read_written(store, manifest, TRAINING_RESULT, TrainingResult)
    result = _test(store, settings, trained, shard)
    attempt.write(GATE_RESULT, result.to_json())
    return attempt.finish({"battles": result.battles, "rejected": int(result.decision == "reject")})


def _test(store: ObjectStore, settings: RunSettings, trained: TrainingResult, shard: int) -> GateResult:
    policy, parent = trained.policy, trained.parent
    if parent is None or parent == policy:
        return GateResult(policy=policy, parent=parent, decision="exempt")
    game = game_of_run(store, settings)
    if isinstance(game, TabularGame):
        tables = [load_table(store, each, game.tree) for each in (policy, parent)]
        payoff = float(expected_payoffs(game.tree, tables)[0, 1])
        return GateResult(policy=policy, parent=parent, decision="accept" if payoff > 0 else "reject", payoff=payoff)
    return play_gate(store, settings, game, policy, parent, shard)


def play_gate(
    store: ObjectStore, settings: RunSettings, game: Game, policy: PolicyId, parent: PolicyId, shard: int
) -> GateResult:
    """Play side-swapped pairs of ``policy`` and ``parent`` until the gate's test has decided or its battles run out.

    Raises:
        DataError: a policy is missing or altered.
        TryAgainError: a battle could not be finished, or the gateway is not there.
        StoppedError: the process was asked to stop.
    """
    gate = settings.gate
    paired = PairedBattles(derive_seed(settings.seed, "gate", policy, parent), game.teams(), gate.deadline_seconds)
    arena = game.open_arena(num_gateways=gate.gateways)
    try:
        policies = load_policies(store, [policy, parent], arena.space)
        rollout = Rollout(arena, policies, gate.concurrent_battles)
        with Progress(StepName.GATE, shard, gate.max_battles, "battles") as progress:

            def results() -> Iterator[tuple[int, float]]:
                assignments = (paired.assignment(number, (policy, parent)) for number in range(gate.max_battles))
                for finished in rollout.play(assignments):
                    score = require_finished(finished).score(finished.assignment.first_seat)
                    progress.advance(decisions=rollout.counts.decisions, failures=rollout.counts.failures.total())
                    yield finished.assignment.number, score

            verdict = judge(_test_of(gate), results())
    finally:
        arena.close()  # with the battles that the decision did not wait for
    state = verdict.state
    return GateResult(
        policy=policy,
        parent=parent,
        decision="undecided" if state.decision == "continue" else state.decision,
        wins=verdict.scores[1.0],
        draws=verdict.scores[0.5],
        losses=verdict.scores[0.0],
        log_evidence_against_low=state.log_evidence_against_low,
        log_evidence_against_high=state.log_evidence_against_high,
        accept_bound=state.test.accept_bound,
        reject_bound=state.test.reject_bound,
        failures=dict(rollout.counts.failures),
    )


def _test_of(gate: GateSettings) -> SequentialTest:
    return SequentialTest(
        elo_low=gate.elo0,
        elo_high=gate.elo1,
        alpha=gate.error_rate,
        beta=gate.error_rate,
        battles_per_look=BATTLES_PER_LOOK,
    )


@dataclass(frozen=True, slots=True)
class Verdict:
    """Where a test stood when it decided or the battles ran out, and the scores that it rests on."""

    state: SequentialState
    scores: Counter[float]


def judge(test: SequentialTest, results: Iterable[tuple[int, float]]) -> Verdict:
    """Take numbered scores (1, ½ or 0) in the order of their numbers, not of their arrival, until the test decides.

    Looks after every side-swapped pair. Asks for no further result once it has decided.
    """
    state, scores = test.start(), Counter[float]()
    pair: list[float] = []
    for score in in_order(results):
        pair.append(score)
        if len(pair) == BATTLES_PER_LOOK:
            state = state.observe(sum(pair) / BATTLES_PER_LOOK)
            scores.update(pair)
            pair = []
            if state.decision != "continue":
                break
    return Verdict(state, scores)


def in_order(results: Iterable[tuple[int, float]]) -> Iterator[float]:
    """Yield numbered scores from number 0 on, each as soon as all before it are there."""
    early: dict[int, float] = {}
    due = 0
    for number, score in results:
        early[number] = score
        while due in early:
            yield early.pop(due)
            due += 1
