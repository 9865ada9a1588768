"""Runs whose battles are drawn from known strengths: real documents in a real store, no simulator and no training.

Plan and solve are the project's own steps. What collect, train and evaluate would write is drawn from a fixed seed.
"""

import json
import math
import random
from collections.abc import Mapping
from pathlib import Path

from nashdex.core import keys
from nashdex.core.ids import PolicyId, RunId
from nashdex.core.results import (
    COLLECT_RESULT,
    TRAINING_RESULT,
    CollectResult,
    Evaluation,
    HeldOut,
    OpponentCount,
    TrainingPoint,
    TrainingResult,
)
from nashdex.core.steps import StepName, shard_range
from nashdex.games.tabular.matrix import MatrixDocument
from nashdex.metagame.evidence.battles import BattleRecord, Battles, PlannedBattle
from nashdex.metagame.evidence.ledger import LEDGER, SavedReplay, ShardLedger, encode
from nashdex.metagame.evidence.matrix import InteractionMatrix
from nashdex.metagame.evidence.sampled import SampledCounts
from nashdex.metagame.plan import IterationPlan
from nashdex.metagame.tournament.gate import GATE_RESULT, GateResult, admitted
from nashdex.metagame.tournament.schedule import demand_of
from nashdex.planning import step as plan_step
from nashdex.planning.dag import iteration_steps, num_shards, step_function
from nashdex.runs.creation import CONFIG_SCHEMA_VERSION
from nashdex.settings.run import CollectSettings, EvaluateSettings, GateSettings, RunSettings
from nashdex.settings.solve import SolveSettings
from nashdex.solver import step as solve_step
from nashdex.store import open_store
from nashdex.store.attempt import Attempt
from nashdex.store.checked import write_root
from nashdex.store.protocol import ObjectStore

ELO = {"random": 0.0, "max-power": 450.0, "heuristic": 640.0}
TRAINED_ELO = (620.0, 700.0, 730.0, 790.0, 800.0)
"""Of the policy that each iteration trains."""
LOG = (Path(__file__).parents[1] / "data" / "battle.log").read_text()
"""A real battle of gen1randombattle."""


def made_settings(
    *,
    iterations: int = 3,
    battles_per_pair: int = 40,
    meta_solver: str = "nash",
    replays_per_pair: int = 2,
    evaluate: Mapping[str, object] | None = None,
    gated: bool = False,
) -> RunSettings:
    """Return the settings of a small run; ``evaluate`` holds further ones of that section."""
    return RunSettings(
        run=RunId("made-run"),
        iterations=iterations,
        seed=7,
        collect=CollectSettings(battles=60, shards=2),
        gate=GateSettings(test="sprt" if gated else "none"),
        evaluate=EvaluateSettings.model_validate(
            {
                "battles_per_pair": battles_per_pair,
                "shards": 2,
                "replays_per_pair": replays_per_pair,
                **(evaluate or {}),
            }
        ),
        solve=SolveSettings.model_validate({"meta_solver": meta_solver, "num_draws": 100}),
    )


def trained_policy(iteration: int) -> PolicyId:
    """Return the id of the policy that ``iteration`` trains."""
    return PolicyId(f"p{iteration}c0ffee{iteration:010d}")


def make_iteration(
    store: ObjectStore, settings: RunSettings, iteration: int, elo: Mapping[str, float] | None = None
) -> None:
    """Write everything of one iteration up to its solve step. ``elo`` overrides strengths by policy."""
    trained: dict[str, float] = {trained_policy(i): value for i, value in enumerate(TRAINED_ELO)}
    strengths = {**ELO, **trained, **(elo or {})}
    plan_step.run(store, settings, iteration, 0)
    plan = IterationPlan.from_json(store.get(keys.published(iteration, keys.PLAN)), "plan")
    generator = random.Random(1000 + iteration)
    for shard in range(settings.collect.shards):
        _collect(store, settings, plan, shard, strengths, generator)
    result = _train(store, plan, generator)
    gates = [_gate(store, result, iteration, strengths)] if settings.num_gates else []
    population = plan.grown(admitted([result], gates))
    matrix: InteractionMatrix = SampledCounts.unplayed(())
    if iteration:
        key = keys.published(iteration - 1, keys.INTERACTION_MATRIX)
        matrix = InteractionMatrix.from_json(store.get(key), key)
    battles = [PlannedBattle(*each) for each in matrix.missing(population.ids, demand_of(plan, settings.evaluate))]
    for shard in range(settings.evaluate.shards):
        mine = [battles[i] for i in shard_range(len(battles), settings.evaluate.shards, shard)]
        _evaluate(store, settings, iteration, shard, mine, strengths, generator)
    solve_step.run(store, settings, iteration, 0)


def _winner(seats: tuple[str, str], strengths: Mapping[str, float], generator: random.Random) -> int | None:
    if generator.random() < 0.02:
        return None
    expected = 1 / (1 + 10 ** ((strengths[seats[1]] - strengths[seats[0]]) / 400))
    return 0 if generator.random() < expected else 1


def _collect(
    store: ObjectStore,
    settings: RunSettings,
    plan: IterationPlan,
    shard: int,
    strengths: Mapping[str, float],
    generator: random.Random,
) -> None:
    battles = len(shard_range(settings.collect.battles, settings.collect.shards, shard))
    scores: dict[PolicyId, list[int]] = {}
    for _ in range(battles):
        (opponent,) = generator.choices(list(plan.opponents), list(plan.opponents.values()))
        winner = _winner((plan.learner, opponent), strengths, generator)
        scores.setdefault(opponent, [0, 0, 0])[1 if winner is None else 2 * winner] += 1
    result = CollectResult(
        learner=plan.learner,
        battles=battles,
        decisions=50 * battles,
        recorded_decisions=25 * battles,
        opponents=tuple(
            OpponentCount(opponent=opponent, wins=wins, draws=draws, losses=losses)
            for opponent, (wins, draws, losses) in scores.items()
        ),
        failures={"deadline": 1} if shard == 0 else {},
        rejected_choices=3,
        seconds=4.0 + shard,
        cpu_seconds=8.0,
        versions={"pokemon-showdown": "0.11.11"},
    )
    attempt = Attempt(store, plan.iteration, StepName.COLLECT, shard)
    attempt.write(COLLECT_RESULT, result.to_json())
    attempt.finish({"battles": battles})


def _train(store: ObjectStore, plan: IterationPlan, generator: random.Random) -> TrainingResult:
    cloning = plan.oracle == "clone"
    points = []
    for update in range(300):
        done = update / 300
        noise = 1 + 0.08 * generator.gauss(0, 1)
        if cloning:
            values = {"loss": (0.7 + 1.5 * math.exp(-4 * done)) * noise, "accuracy": 0.66 - 0.3 * math.exp(-4 * done)}
            if update % 50 == 49:
                values |= {"validation_loss": values["loss"] + 0.05, "validation_accuracy": values["accuracy"] - 0.02}
        else:
            values = {
                "kl_round_start": 0.012 * done * noise,
                "kl_reference": 0.03 * (1 - math.exp(-3 * done)) * noise,
                "kl_iteration_start": 0.025 * (1 - math.exp(-3 * done)) * noise,
                "entropy": (1.1 - 0.3 * done) * noise,
                "clip_fraction": 0.1 * noise,
                "explained_variance": 0.5 * done * noise,
                "critic_rank": 12 + 8 * done,
                "value_loss": (0.5 - 0.2 * done) * noise,
                "policy_loss": -0.01 * done * noise,
                "gradient_norm": 0.4 * noise,
                "beta_reference": 0.02,
                "learning_rate": 1e-4,
            }
        points.append(TrainingPoint(update=update, values=values))
    evaluations = () if cloning else tuple(_evaluation(decisions) for decisions in (0, 500, 1000, 1500))
    result = TrainingResult(
        policy=trained_policy(plan.iteration),
        kind="network",
        name=f"clone of {plan.learner}" if cloning else f"best response {plan.iteration}",
        parent=None if cloning else plan.learner,
        oracle=plan.oracle,
        preset="ppo-clip-kl",
        reference="none" if cloning else f"snapshot:{plan.learner}",
        num_updates=300,
        num_decisions=1500,
        num_parameters=912_345,
        rollbacks=0,
        curve=tuple(points),
        summary={"validation_accuracy": 0.6312} if cloning else {},
        evaluations=evaluations,
        kept=None if cloning else evaluations[2],
        seconds=12.5,
    )
    attempt = Attempt(store, plan.iteration, StepName.TRAIN, 0)
    attempt.write(TRAINING_RESULT, result.to_json())
    attempt.finish({"updates": 300})
    return result


def _evaluation(decisions: int) -> Evaluation:
    score = 0.45 + decisions / 10_000
    return Evaluation(
        decisions=decisions,
        cpu_seconds=decisions / 20,
        anchor="heuristic",
        style="greedy",
        score=score,
        low=score - 0.05,
        high=score + 0.05,
        battles=400,
        draws=2,
        selection_score=score + 0.02,
        held_out=HeldOut(score=score - 0.02, low=score - 0.09, high=score + 0.05, battles=200),
    )


def _gate(store: ObjectStore, trained: TrainingResult, iteration: int, strengths: Mapping[str, float]) -> GateResult:
    """Pass whoever is stronger than its parent, after a few battles."""
    if trained.parent is None:
        result = GateResult(policy=trained.policy, parent=None, decision="exempt")
    else:
        better = strengths[trained.policy] > strengths[trained.parent]
        result = GateResult(
            policy=trained.policy,
            parent=trained.parent,
            decision="accept" if better else "reject",
            wins=20 if better else 4,
            losses=4 if better else 20,
            log_evidence_against_low=3.1 if better else -2.0,
            log_evidence_against_high=-2.5 if better else 3.2,
            accept_bound=math.log(20),
            reject_bound=math.log(20),
        )
    attempt = Attempt(store, iteration, StepName.GATE, 0)
    attempt.write(GATE_RESULT, result.to_json())
    attempt.finish({"battles": result.battles, "rejected": int(result.decision == "reject")})
    return result


def _evaluate(
    store: ObjectStore,
    settings: RunSettings,
    iteration: int,
    shard: int,
    battles: list[PlannedBattle],
    strengths: Mapping[str, float],
    generator: random.Random,
) -> None:
    attempt = Attempt(store, iteration, StepName.EVALUATE, shard)
    records, replays = [], []
    for battle in battles:
        record = BattleRecord(
            policies=battle.seats,
            pair=battle.pair,
            seed=generator.getrandbits(63),
            teams=(0, 1),
            winner=_winner(battle.seats, strengths, generator),
            turns=generator.randint(10, 60),
            decisions=50,
        )
        records.append(record)
        if battle.number < settings.evaluate.replays_per_pair:
            one, other = battle.seats
            name = f"replays/{one}-vs-{other}-{battle.pair}-{battle.number % 2}.log"
            attempt.write(name, LOG.encode())
            replays.append(SavedReplay(policies=battle.seats, pair=battle.pair, object=name))
    ledger = ShardLedger(
        battles=Battles.of(records),
        failures={},
        rejected_choices=1,
        decisions=50 * len(records),
        seconds=6.0,
        cpu_seconds=10.0,
        replays=tuple(replays),
    )
    attempt.write(LEDGER, encode(ledger))
    attempt.finish({"battles": len(records)})


ROCK_PAPER_SCISSORS = ((0.0, -0.25, 0.5), (0.25, 0.0, -0.05), (-0.5, 0.05, 0.0))
"""Biased: the equilibrium is (1, 10, 5) / 16, and best responses from rock need three iterations to hold all."""


def make_tabular_run(
    store: ObjectStore, *, iterations: int, payoffs: tuple[tuple[float, ...], ...], meta_solver: str = "nash"
) -> RunSettings:
    """Do a whole run of a matrix game with exact best responses, reports included, by the project's own steps."""
    settings = RunSettings.model_validate(
        {
            "run": "made-tabular-run",
            "format": "matrix",
            "matrix": "matrix.json",
            "iterations": iterations,
            "population": {"initial": ["first-action"]},
            "collect": {"shards": 1},
            "train": {"oracle": "exact"},
            "evaluate": {"shards": 2},
            "solve": {"meta_solver": meta_solver},
        }
    )
    names = tuple(str(row) for row in range(len(payoffs)))
    matrix = MatrixDocument(row_policies=names, column_policies=names, payoffs=payoffs).to_json()
    config = json.dumps({"schema_version": CONFIG_SCHEMA_VERSION, **settings.model_dump(mode="json")}).encode()
    store.put(keys.MATRIX, matrix)
    store.put(keys.CONFIG, config)
    write_root(store, {keys.MATRIX: matrix, keys.CONFIG: config})
    for iteration in range(iterations):
        finish_iteration(store, settings, iteration)
    return settings


def finish_iteration(store: ObjectStore, settings: RunSettings, iteration: int) -> None:
    """Run every step of an iteration that is not done yet."""
    for step in iteration_steps(settings):
        for shard in range(num_shards(settings, step.name)):
            step_function(step.name)(store, settings, iteration, shard)


def make_run(
    uri: str, *, iterations: int, settings: RunSettings | None = None, elo: Mapping[str, float] | None = None
) -> ObjectStore:
    """Make a run of finished iterations at ``uri``, with ``made_settings`` by default; return its store.

    ``elo`` overrides strengths by policy.
    """
    store, settings = open_store(uri), settings or made_settings(iterations=iterations)
    config = json.dumps({"schema_version": CONFIG_SCHEMA_VERSION, **settings.model_dump(mode="json")}).encode()
    store.put(keys.CONFIG, config)
    write_root(store, {keys.CONFIG: config})
    for iteration in range(iterations):
        make_iteration(store, settings, iteration, elo)
        finish_iteration(store, settings, iteration)
    return store


def copy_reports(store: ObjectStore, num: int) -> None:
    """Give every iteration below ``num`` the report and analysis of iteration 0."""
    documents = {name: store.get(keys.published(0, name)) for name in (keys.REPORT, keys.META_GAME_ANALYSIS)}
    for iteration in range(1, num):
        for name, data in documents.items():
            store.put(keys.published(iteration, name), data)
