"""The report of an experiment: what its records say under the rule of its plan."""

from collections.abc import Mapping, Sequence
from typing import Literal

from pydantic import Field, NonNegativeFloat, NonNegativeInt

from nashdex.core.documents import Document, Model
from nashdex.experiments.commands import as_typed
from nashdex.experiments.estimates import ClusteredEstimate, fixed_reference_elo, over_seeds
from nashdex.experiments.plan import DifferenceRule, Plan, ScoreRule
from nashdex.experiments.records import Results, RunRecord, Status
from nashdex.metagame.evidence.estimates import NORMAL_QUANTILE

Judgement = Literal["control", "better", "worse", "nothing shown", "reached", "not reached", "no result"]


class CurvePoint(Model):
    """The mean score of an arm's seeds at one evaluation."""

    decisions: NonNegativeFloat = Field(description="Mean over the seeds.")
    cpu_minutes: NonNegativeFloat = Field(description="Mean over the seeds, without evaluations.")
    score: ClusteredEstimate


class ArmCurve(Model):
    """The learning curve of an arm against one anchor in one style."""

    anchor: str
    style: str
    points: tuple[CurvePoint, ...]


class ArmReport(Model):
    """One arm."""

    name: str
    changed: tuple[str, ...] = Field(description="KEY=VALUE, against the base; without the seed.")
    plays: Literal["last", "mixture"] = Field(description="The last trained policy, or the final mixture.")
    seeds: tuple[int, ...] = Field(description="Seeds of completed runs.")
    planned_seeds: NonNegativeInt
    elo: ClusteredEstimate | None = Field(description="Against the fixed references; null without a completed run.")
    difference: ClusteredEstimate | None = Field(
        description="Elo minus the control's, paired by seed; null without a pair."
    )
    scores: dict[str, ClusteredEstimate] = Field(description="Against each anchor.")
    judgement: Judgement
    reached: tuple[int, ...] = Field(description="Completed seeds that reach the aim of a score rule.")
    decisions: NonNegativeFloat = Field(description="Mean over the seeds.")
    cpu_minutes: NonNegativeFloat = Field(description="Mean over the seeds.")
    rollbacks: NonNegativeInt
    summary: dict[str, float] = Field(description="Final values of training, means over the seeds.")
    curves: tuple[ArmCurve, ...]


class ExperimentReport(Document):
    """An experiment: its plan and what it showed."""

    name: str
    hypothesis: str
    rule: str
    is_rule_unchanged: bool = Field(
        description="Whether hypothesis, rule and measurement are as the first run found them."
    )
    base: str
    command: str
    began: str
    status: Status
    anchors: dict[str, float]
    style: str
    battles: NonNegativeInt
    arms: tuple[ArmReport, ...]
    runs: tuple[RunRecord, ...]
    verdict: str = Field(description="What the rule says, as sentences.")
    follow_ups: tuple[str, ...]


def make_report(plan: Plan, results: Results) -> ExperimentReport:
    """Return the report of the runs so far."""
    experiment = plan.experiment
    planned = {run.id for run in plan.runs}
    records = tuple(record for record in results.runs if record.run in planned)
    done = {arm.name: _completed(records, arm.name) for arm in experiment.all_arms}
    arms = tuple(_arm_report(plan, name, done) for name in done)
    return ExperimentReport(
        name=plan.name,
        hypothesis=experiment.hypothesis,
        rule=experiment.verdict.words,
        is_rule_unchanged=results.rule == experiment.rule_digest(),
        base=str(experiment.base),
        command=as_typed(["experiment", "run", plan.path.name if plan.path.is_absolute() else str(plan.path)]),
        began=results.began,
        status=_status(records),
        anchors=experiment.measure.anchors,
        style=experiment.measure.style,
        battles=experiment.measure.battles,
        arms=arms,
        runs=records,
        verdict=_verdict(plan, arms, records),
        follow_ups=experiment.follow_ups,
    )


def _completed(records: Sequence[RunRecord], arm: str) -> dict[int, RunRecord]:
    """Return the completed runs of an arm by seed."""
    return {one.seed: one for one in records if one.arm == arm and one.status is Status.COMPLETED and one.matches}


def _status(records: Sequence[RunRecord]) -> Status:
    found = {record.status for record in records}
    for status in (Status.RUNNING, Status.FAILED, Status.PLANNED, Status.COMPLETED):
        if status in found:
            if status is Status.PLANNED and Status.COMPLETED in found:
                return Status.RUNNING
            return status
    return Status.INVALIDATED


def _arm_report(plan: Plan, name: str, done: Mapping[str, Mapping[int, RunRecord]]) -> ArmReport:
    experiment, runs = plan.experiment, done[name]
    elos = {seed: fixed_reference_elo(run.matches, experiment.measure.anchors) for seed, run in runs.items()}
    difference = None
    if isinstance(experiment.verdict, DifferenceRule) and name != experiment.verdict.control:
        difference = _difference(plan, elos, done[experiment.verdict.control])
    scores = {
        anchor: over_seeds(
            [run.matches[anchor].score for run in runs.values()], [_error(run, anchor) for run in runs.values()]
        )
        for anchor in experiment.measure.anchors
        if runs
    }
    keys = set.intersection(*(set(run.summary) for run in runs.values())) if runs else set()
    return ArmReport(
        name=name,
        changed=next(run.overrides[:-1] for run in plan.runs if run.arm == name),
        plays=next(arm.plays for arm in experiment.all_arms if arm.name == name),
        seeds=tuple(runs),
        planned_seeds=len(experiment.seeds),
        elo=over_seeds([elo for elo, _ in elos.values()], [error for _, error in elos.values()]) if runs else None,
        difference=difference,
        scores=scores,
        judgement=_judgement(plan, name, runs, difference),
        reached=_reached(plan, runs),
        decisions=_mean([run.decisions for run in runs.values()]),
        cpu_minutes=_mean([run.cpu_minutes for run in runs.values()]),
        rollbacks=sum(run.rollbacks for run in runs.values()),
        summary={key: _mean([run.summary[key] for run in runs.values()]) for key in sorted(keys)},
        curves=_curves(list(runs.values())),
    )


def _difference(
    plan: Plan, elos: Mapping[int, tuple[float, float]], control: Mapping[int, RunRecord]
) -> ClusteredEstimate | None:
    """Return the mean difference over the seeds that both have; None if there is no such seed."""
    pairs = [
        (elos[seed], fixed_reference_elo(run.matches, plan.experiment.measure.anchors))
        for seed, run in control.items()
        if seed in elos
    ]
    if not pairs:
        return None
    values = [one - other for (one, _), (other, _) in pairs]
    return over_seeds(values, [(a**2 + b**2) ** 0.5 for (_, a), (_, b) in pairs])


def _judgement(plan: Plan, name: str, runs: Mapping[int, RunRecord], difference: ClusteredEstimate | None) -> Judgement:
    rule = plan.experiment.verdict
    if not runs:
        return "no result"
    if isinstance(rule, ScoreRule):
        return "reached" if len(_reached(plan, runs)) == len(runs) else "not reached"
    if name == rule.control:
        return "control"
    if difference is None:
        return "no result"
    sides: dict[str, Judgement] = {"above": "better", "below": "worse", "no": "nothing shown"}
    return sides[difference.excludes(rule.margin_elo)]


def _reached(plan: Plan, runs: Mapping[int, RunRecord]) -> tuple[int, ...]:
    """Return the seeds that reach the aim of a score rule."""
    rule = plan.experiment.verdict
    if not isinstance(rule, ScoreRule):
        return ()
    return tuple(seed for seed, run in runs.items() if run.matches[rule.anchor].low > rule.above)


def _error(run: RunRecord, anchor: str) -> float:
    match = run.matches[anchor]
    return (match.high - match.low) / (2 * NORMAL_QUANTILE)


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else 0.0


def _curves(runs: Sequence[RunRecord]) -> tuple[ArmCurve, ...]:
    """Return the mean curves: the n-th evaluation of each seed is one point, as far as every seed has it."""
    kinds = dict.fromkeys((one.anchor, one.style) for run in runs for one in run.curve)
    curves = []
    for anchor, style in kinds:
        each = [[one for one in run.curve if (one.anchor, one.style) == (anchor, style)] for run in runs]
        points = tuple(
            CurvePoint(
                decisions=_mean([one.decisions for one in column]),
                cpu_minutes=_mean([one.cpu_seconds / 60 for one in column]),
                score=over_seeds(
                    [one.score for one in column], [(one.high - one.low) / (2 * NORMAL_QUANTILE) for one in column]
                ),
            )
            for column in zip(*each, strict=False)
        )
        curves.append(ArmCurve(anchor=anchor, style=style, points=points))
    return tuple(curves)


def _verdict(plan: Plan, arms: Sequence[ArmReport], records: Sequence[RunRecord]) -> str:
    """Return what the rule says of every arm."""
    said = []
    for arm in arms:
        match arm.judgement:
            case "control":
                continue
            case "no result":
                said.append(f"{arm.name}: no result yet.")
            case "reached" | "not reached":
                said.append(f"{arm.name}: {_aim(arm)}.")
            case _ if arm.difference is not None:
                interval = f"{arm.difference.value:+.0f} Elo [{arm.difference.low:+.0f}, {arm.difference.high:+.0f}]"
                interval = interval.replace("-", "−")
                is_shown = {"better": "is better", "worse": "is worse"}.get(arm.judgement, "shows no difference")
                said.append(f"{arm.name} {is_shown}: {interval}.")
    if any(arm.elo is not None and arm.elo.unit == "battles" for arm in arms):
        said.append("One seed: the interval is of its battles alone, and another training may differ by more.")
    left = sum(record.status not in (Status.COMPLETED, Status.INVALIDATED) for record in records)
    if left:
        said.append(f"{left} of {len(plan.runs)} runs are missing.")
    return " ".join(said)


def _aim(arm: ArmReport) -> str:
    """Return how many seeds reach the aim; whether the arm does, where the seeds that are missing cannot change it."""
    num_done = len(arm.seeds)
    is_finished = num_done == arm.planned_seeds
    seeds = f"{num_done}{'' if is_finished else ' finished'} seed{'s' if num_done > 1 else ''}"
    reach = "reaches" if len(arm.reached) == 1 or num_done == 1 else "reach"
    said = f"{len(arm.reached)} of {seeds} {reach} the aim"
    if is_finished or arm.judgement == "not reached":
        said += f", so it is {arm.judgement}"
    return said if is_finished else f"{said}; {arm.planned_seeds} are planned"
