"""The report of an experiment: what its records say under the rule of its plan."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Literal

from pydantic import Field, NonNegativeFloat, NonNegativeInt

from nashdex.core.documents import Document, Model
from nashdex.core.results import Evaluation
from nashdex.metagame.evidence.estimates import NORMAL_QUANTILE
from nashdex_lab.experiments.commands import as_typed
from nashdex_lab.experiments.comparing import Sample, difference, holm
from nashdex_lab.experiments.estimates import ClusteredEstimate, fixed_reference_elo, over_seeds
from nashdex_lab.experiments.plan import ExploiterSettings, Plan, Plays
from nashdex_lab.experiments.records import Exploited, Match, Results, RunRecord, Status
from nashdex_lab.experiments.registration import require_unchanged
from nashdex_lab.experiments.rules import ELO, Comparison, DifferenceRule, Rule, ScoreRule
from nashdex_lab.experiments.sentences import Finding, finding, sentence

Judgement = Literal["reached", "not reached", "no result"]


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
    plays: Plays = Field(description="The last trained policy, its magnet, or the final mixture.")
    seeds: tuple[int, ...] = Field(description="Seeds of completed runs.")
    planned_seeds: NonNegativeInt
    elo: ClusteredEstimate | None = Field(description="Against the fixed references; null without a completed run.")
    scores: dict[str, ClusteredEstimate] = Field(
        description="Against each anchor, and against its `exploiter` where it has one."
    )
    judgement: Judgement | None = Field(description="Verdict of a score rule; null where arms are compared.")
    reached: tuple[int, ...] = Field(description="Completed seeds that reach the aim of a score rule.")
    decisions: NonNegativeFloat = Field(description="Mean over the seeds.")
    cpu_minutes: NonNegativeFloat = Field(description="Mean over the seeds.")
    rollbacks: NonNegativeInt
    summary: dict[str, float] = Field(description="Final values of training, means over the seeds.")
    curves: tuple[ArmCurve, ...]


class ComparisonReport(Model):
    """One arm against another."""

    arm: str
    other: str
    measure: str = Field(description="`elo`, or the anchor of the score.")
    smallest_difference: float | None = Field(description="Smallest difference of interest, in the measure's unit.")
    difference: ClusteredEstimate | None = Field(
        description="The arm's value minus the other's, with an interval of 1 − level / comparisons (Bonferroni); null "
        "without a result."
    )
    p: float = Field(description="Two-sided, of this comparison by itself; 1 without a result.")
    p_holm: float = Field(description="After Holm's correction for all registered comparisons.")
    budgets: tuple[int | None, int | None] | None = Field(
        description="Registered decisions of both arms, where they are not equal: null for an oracle without such a "
        "number."
    )
    found: Finding
    sentence: str


class RegistrationReport(Model):
    """What is known of the registration."""

    digest: str = Field(description="SHA-256 of what is registered.")
    registered: str = Field(description="UTC.")
    is_after_runs: bool = Field(description="Whether a run had begun before.")


class ExperimentReport(Document):
    """An experiment: its plan and what it showed."""

    name: str
    hypothesis: str
    rule: str
    registration: RegistrationReport | None = Field(description="Null if nothing was registered.")
    base: str
    command: str
    began: str
    status: Status
    anchors: dict[str, float]
    style: str
    battles: NonNegativeInt
    exploiter: ExploiterSettings | None = Field(None, description="Budget of the exploiter of each run's policy.")
    level: float | None = Field(description="What all comparisons are tested at together; null for a score rule.")
    variance: Literal["pooled", "paired"] | None
    comparisons: tuple[ComparisonReport, ...]
    arms: tuple[ArmReport, ...]
    runs: tuple[RunRecord, ...]
    verdict: tuple[str, ...] = Field(description="What the rule says, as sentences.")
    follow_ups: tuple[str, ...]


def make_report(plan: Plan, results: Results) -> ExperimentReport:
    """Return the report of the runs so far.

    Raises:
        ConfigurationError: what is registered has changed.
    """
    if results.registration is not None:
        require_unchanged(plan, results.registration)
    experiment = plan.experiment
    planned = {run.id for run in plan.runs}
    records = tuple(record for record in results.runs if record.run in planned)
    done = {arm.name: _completed(records, arm.name) for arm in experiment.all_arms}
    arms = tuple(_arm_report(plan, name, runs) for name, runs in done.items())
    rule = experiment.verdict if isinstance(experiment.verdict, DifferenceRule) else None
    budgets = results.registration.content.budgets if results.registration is not None else {}
    comparisons = _comparisons(plan, rule, done, budgets) if rule else ()
    return ExperimentReport(
        name=plan.name,
        hypothesis=experiment.hypothesis,
        rule=experiment.verdict.words(experiment.comparisons),
        registration=RegistrationReport.model_validate(
            results.registration.model_dump(include={*RegistrationReport.model_fields})
        )
        if results.registration
        else None,
        base=str(experiment.base),
        command=as_typed(["experiment", "run", plan.path.name if plan.path.is_absolute() else str(plan.path)]),
        began=results.began,
        status=_status(records),
        anchors=experiment.measure.anchors,
        style=experiment.measure.style,
        battles=experiment.measure.battles,
        exploiter=experiment.measure.exploiter,
        level=rule.level if rule else None,
        variance=rule.variance if rule else None,
        comparisons=comparisons,
        arms=arms,
        runs=records,
        verdict=tuple(_verdict(plan, comparisons, arms, records)),
        follow_ups=experiment.follow_ups,
    )


def _comparisons(
    plan: Plan,
    rule: DifferenceRule,
    done: Mapping[str, Mapping[int, RunRecord]],
    budgets: Mapping[str, int | None],
) -> tuple[ComparisonReport, ...]:
    comparisons = plan.experiment.comparisons
    samples = {
        measure: {arm: _sample(plan, arm, runs, measure) for arm, runs in done.items()}
        for measure in {one.measure for one in comparisons}
    }
    found = [
        difference(
            samples[one.measure][one.arm],
            samples[one.measure][one.other],
            samples[one.measure].values(),
            rule.variance,
        )
        for one in comparisons
    ]
    p_values = [1.0 if each is None else each.p_value() for each in found]
    intervals = [None if each is None else each.interval(rule.level / len(found)) for each in found]
    return tuple(
        _comparison_report(
            one, each, (p, p_holm), rule.level, (budgets.get(one.arm), budgets.get(one.other)) if budgets else None
        )
        for one, each, p, p_holm in zip(comparisons, intervals, p_values, holm(p_values), strict=True)
    )


def _comparison_report(
    comparison: Comparison,
    estimate: ClusteredEstimate | None,
    p_values: tuple[float, float],
    level: float,
    budgets: tuple[int | None, int | None] | None,
) -> ComparisonReport:
    p, p_holm = p_values
    found = "no result" if estimate is None else finding(comparison, estimate, p_holm, level)
    said = sentence(comparison, found, estimate, p_holm)
    one, other = budgets or (None, None)
    are_known = one is not None and other is not None
    if are_known and one != other:
        said += f" {comparison.arm} learns from {one:,} decisions and {comparison.other} from {other:,}."
    return ComparisonReport(
        arm=comparison.arm,
        other=comparison.other,
        measure=comparison.measure,
        smallest_difference=comparison.smallest_difference,
        difference=estimate,
        p=p,
        p_holm=p_holm,
        budgets=None if are_known and one == other else budgets,
        found=found,
        sentence=said,
    )


def _sample(plan: Plan, arm: str, runs: Mapping[int, RunRecord], measure: str) -> Sample:
    anchors = plan.experiment.measure.anchors
    found = {
        seed: fixed_reference_elo(run.matches, anchors)
        if measure == ELO
        else (run.scores[measure].score, _error(run.scores[measure]))
        for seed, run in runs.items()
    }
    return Sample(
        values={seed: value for seed, (value, _) in found.items()},
        battle_errors={seed: error for seed, (_, error) in found.items()},
        runs=tuple(sorted(run.stored for run in plan.runs if run.arm == arm and run.seed in runs)),
    )


def _completed(records: Sequence[RunRecord], arm: str) -> dict[int, RunRecord]:
    return {one.seed: one for one in records if one.arm == arm and one.status is Status.COMPLETED and one.matches}


def _status(records: Sequence[RunRecord]) -> Status:
    found = {record.status for record in records}
    for status in (Status.RUNNING, Status.FAILED, Status.PLANNED, Status.COMPLETED):
        if status in found:
            if status is Status.PLANNED and Status.COMPLETED in found:
                return Status.RUNNING
            return status
    return Status.INVALIDATED


def _arm_report(plan: Plan, name: str, runs: Mapping[int, RunRecord]) -> ArmReport:
    experiment = plan.experiment
    elos = {seed: fixed_reference_elo(run.matches, experiment.measure.anchors) for seed, run in runs.items()}
    scores = {
        measure: _mean_score([run.scores[measure] for run in runs.values()])
        for measure in experiment.measure.scores
        if runs
    }
    judgement, reached = _judged(experiment.verdict, runs)
    keys = set.intersection(*(set(run.summary) for run in runs.values())) if runs else set()
    return ArmReport(
        name=name,
        changed=next(run.overrides[:-1] for run in plan.runs if run.arm == name),
        plays=next(arm.plays for arm in experiment.all_arms if arm.name == name),
        seeds=tuple(runs),
        planned_seeds=len(experiment.seeds),
        elo=over_seeds([elo for elo, _ in elos.values()], [error for _, error in elos.values()]) if runs else None,
        scores=scores,
        judgement=judgement,
        reached=reached,
        decisions=_mean([run.decisions for run in runs.values()]),
        cpu_minutes=_mean([run.cpu_minutes for run in runs.values()]),
        rollbacks=sum(run.rollbacks for run in runs.values()),
        summary={key: _mean([run.summary[key] for run in runs.values()]) for key in sorted(keys)},
        curves=_curves(list(runs.values())),
    )


def _judged(rule: Rule, runs: Mapping[int, RunRecord]) -> tuple[Judgement | None, tuple[int, ...]]:
    """Return the verdict of a score rule on an arm, and the seeds that reach the aim."""
    if not isinstance(rule, ScoreRule):
        return None, ()
    reached = tuple(seed for seed, run in runs.items() if run.matches[rule.anchor].low > rule.above)
    if not runs:
        return "no result", reached
    return "reached" if len(reached) == len(runs) else "not reached", reached


def _error(measured: Match | Exploited | Evaluation) -> float:
    return (measured.high - measured.low) / (2 * NORMAL_QUANTILE)


def _mean_score(by_seed: Sequence[Match | Exploited | Evaluation]) -> ClusteredEstimate:
    return over_seeds([one.score for one in by_seed], [_error(one) for one in by_seed])


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
                score=_mean_score(column),
            )
            for column in zip(*each, strict=False)
        )
        curves.append(ArmCurve(anchor=anchor, style=style, points=points))
    return tuple(curves)


def _verdict(
    plan: Plan, comparisons: Sequence[ComparisonReport], arms: Sequence[ArmReport], records: Sequence[RunRecord]
) -> Iterator[str]:
    yield from (one.sentence for one in comparisons)
    for arm in arms:
        match arm.judgement:
            case None:
                continue
            case "no result":
                yield f"{arm.name}: no result yet."
            case _:
                yield f"{arm.name}: {_aim(arm)}."
    left = sum(record.status not in (Status.COMPLETED, Status.INVALIDATED) for record in records)
    if left:
        yield f"{left} of {len(plan.runs)} runs are missing."
        if comparisons:
            yield "Sentences before the last run are provisional: the level does not hold for looks in between."


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
