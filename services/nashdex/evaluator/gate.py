"""The gate step: a new policy plays its parent until a sequential test decides whether it joins the population.

Many battles run at once and long ones end last, so the test reads results in the order of the battles' numbers. The
decision then depends on seeds alone: a gate that was killed reaches the same decision when it runs again.
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
from nashdex.games.tabular.values import expected_payoffs
from nashdex.metagame.tournament.gate import GATE_RESULT, GateResult, SequentialState, SequentialTest
from nashdex.policies.tables import load_table
from nashdex.rollout.pairs import PairedBattles
from nashdex.rollout.play import require_finished
from nashdex.rollout.session import Session
from nashdex.rollout.sizing import choose_sizes, cores_of_shard
from nashdex.settings.run import RunSettings
from nashdex.store.attempt import Attempt, find_done, read_manifest
from nashdex.store.documents import read_written
from nashdex.store.protocol import ObjectStore
from nashdex.telemetry.progress import Progress


def run(store: ObjectStore, settings: RunSettings, iteration: int, shard: int) -> Manifest:
    """Test the policy that the train step's ``shard`` left.

    Raises:
        DataError: the training result or a policy is missing or altered.
        TryAgainError: a battle could not be finished, or the store or a gateway is unreachable.
        StoppedError: the process was asked to stop.
    """
    if done := find_done(store, iteration, StepName.GATE, shard):
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
    if game.tree is not None:
        tables = [load_table(store, each, game.tree) for each in (policy, parent)]
        payoff = float(expected_payoffs(game.tree, tables)[0, 1])
        return GateResult(policy=policy, parent=parent, decision="accept" if payoff > 0 else "reject", payoff=payoff)
    return play_gate(store, settings, game, policy, parent, shard)


def play_gate(
    store: ObjectStore, settings: RunSettings, game: Game, policy: PolicyId, parent: PolicyId, shard: int
) -> GateResult:
    """Play side-swapped pairs of ``policy`` and ``parent`` until the gate's test decides or its battles run out.

    Raises:
        DataError: a policy is missing or altered.
        TryAgainError: a battle could not be finished, or the gateway is unreachable.
        StoppedError: the process was asked to stop.
    """
    gate, arena = settings.gate, settings.arena
    paired = PairedBattles(derive_seed(settings.seed, "gate", policy, parent), game.teams(), arena.deadline_seconds)
    assignments = (paired.assignment(number, (policy, parent)) for number in range(gate.max_battles))
    sizes = choose_sizes(arena, gate.max_battles, cores_of_shard(settings.train.seeds))
    # The session's end stops the battles that the decision did not need.
    with (
        Session(game.open_arena(num_gateways=sizes.gateways), sizes.concurrent_battles) as session,
        Progress(StepName.GATE, shard, gate.max_battles, "battles") as progress,
    ):
        session.load(store, [policy, parent])
        results = (
            (finished.assignment.number, require_finished(finished).score(finished.assignment.first_seat))
            for finished in session.play(assignments, progress)
        )
        verdict = judge(SequentialTest(elo_high=gate.elo), results)
    state = verdict.state
    return GateResult(
        policy=policy,
        parent=parent,
        decision="undecided" if state.decision == "continue" else state.decision,
        wins=verdict.scores[1.0],
        draws=verdict.scores[0.5],
        losses=verdict.scores[0.0],
        pair_scores=verdict.pair_scores,
        log_evidence_against_low=state.log_evidence_against_low,
        log_evidence_against_high=state.log_evidence_against_high,
        accept_bound=state.test.accept_bound,
        reject_bound=state.test.reject_bound,
        failures=dict(session.counts.failures),
    )


@dataclass(frozen=True, slots=True)
class Verdict:
    """A test's state when it decided or the battles ran out, and the scores that it counted."""

    state: SequentialState
    scores: Counter[float]
    pairs: Counter[float]
    """Counts of the sums of a pair's two scores."""

    @property
    def pair_scores(self) -> tuple[int, int, int, int, int]:
        """How many pairs scored 0, ½, 1, 1½ and 2."""
        return (self.pairs[0.0], self.pairs[0.5], self.pairs[1.0], self.pairs[1.5], self.pairs[2.0])


def judge(test: SequentialTest, results: Iterable[tuple[int, float]]) -> Verdict:
    """Read numbered scores (1, ½ or 0) in the order of their numbers, not of their arrival, until the test decides.

    The test looks after every side-swapped pair. No result is read after its decision.
    """
    state, scores, pairs = SequentialState(test), Counter[float](), Counter[float]()
    pair: list[float] = []
    for score in in_order(results):
        pair.append(score)
        if len(pair) == test.battles_per_look:
            state = state.observe(sum(pair) / test.battles_per_look)
            scores.update(pair)
            pairs[sum(pair)] += 1
            pair = []
            if state.decision != "continue":
                break
    return Verdict(state, scores, pairs)


def in_order(results: Iterable[tuple[int, float]]) -> Iterator[float]:
    """Yield numbered scores from number 0 on, each as soon as all before it have arrived."""
    early: dict[int, float] = {}
    due = 0
    for number, score in results:
        early[number] = score
        while due in early:
            yield early.pop(due)
            due += 1
