"""The page of an experiment: Markdown that a person reads and commits."""

from collections.abc import Iterator, Sequence

from nashdex.experiments.drawing import curves_drawing
from nashdex.experiments.estimates import ClusteredEstimate
from nashdex.experiments.plan import Plan
from nashdex.experiments.records import Results, RunRecord, write_atomically
from nashdex.experiments.report import ArmReport, ExperimentReport, make_report

_GAUGES = ("entropy", "kl_iteration_start", "kl_reference", "explained_variance", "prediction_loss")
"""Final values that the page shows where an arm has them; the JSON document holds all."""

_METHOD = (
    "Each finished run's last policy in {style} play, {battles:,} battles against each reference (fixed Elo: "
    "{references}). Intervals are 95 %; their unit is the seed (Student), or the side-swapped pair where there "
    "is one seed."
)


def page(report: ExperimentReport, drawing: str | None = None) -> str:
    """Return the page; ``drawing`` is the name of a file with the learning curves."""
    return "\n".join(_lines(report, drawing)) + "\n"


def _lines(report: ExperimentReport, drawing: str | None) -> Iterator[str]:
    references = ", ".join(f"{name} = {elo:g}" for name, elo in report.anchors.items())
    yield from (
        f"# {report.name}",
        "",
        f"Status: **{report.status}**. First run: {report.began}. Base settings: `{report.base}`.",
        "",
        f"**Hypothesis.** {report.hypothesis.strip()}",
        "",
        f"**Rule, stated before the first run.** {report.rule}",
        "",
    )
    if not report.is_rule_unchanged:
        yield from ("**Hypothesis, rule or measurement were changed after the first run began.**", "")
    yield from (
        "```bash",
        report.command,
        "```",
        "",
        f"**Verdict.** {report.verdict}",
        "",
        "## Arms",
        "",
        _METHOD.format(style=report.style, battles=report.battles, references=references),
        "",
    )
    yield from _table(
        ("arm", "seeds", "Elo", "difference", *(f"score against {name}" for name in report.anchors), "verdict"),
        [
            (
                arm.name,
                f"{len(arm.seeds)} of {arm.planned_seeds}",
                _elo(arm.elo),
                _elo(arm.difference, sign="+"),
                *(_score(arm.scores.get(name)) for name in report.anchors),
                arm.judgement,
            )
            for arm in report.arms
        ],
    )
    yield from ("", "Changed settings:", "", *_changed(report.arms))
    yield from ("", "## Training", "")
    gauges = [name for name in _GAUGES if any(name in arm.summary for arm in report.arms)]
    yield from _table(
        ("arm", "decisions", "CPU-minutes", "rollbacks", *(name.replace("_", " ") for name in gauges)),
        [_training_row(arm, gauges) for arm in report.arms],
    )
    if drawing:
        yield from ("", f"![Learning curves]({drawing})", "", "Bands are 95 % intervals of the mean over the seeds.")
    yield from ("", "## Runs", "")
    yield from _table(
        ("arm", "seed", "run in the store", "status", "policy", "CPU-minutes", "reason"),
        [_run_row(run) for run in report.runs],
    )
    if report.follow_ups:
        yield from ("", "## Follow-ups", "", *(f"- {one}" for one in report.follow_ups))


def _changed(arms: Sequence[ArmReport]) -> Iterator[str]:
    """Yield what every arm changes, if there are several arms, and then what each changes besides."""
    common = [one for one in arms[0].changed if len(arms) > 1 and all(one in arm.changed for arm in arms)]
    if common:
        yield f"- every arm: {_code(common)}"
    for arm in arms:
        mixture = "; its mixture plays" if arm.plays == "mixture" else ""
        own = [one for one in arm.changed if one not in common]
        yield f"- `{arm.name}`: {_code(own) or ('no more' if common else 'none')}{mixture}"


def _code(settings: Sequence[str]) -> str:
    return ", ".join(f"`{one}`" for one in settings)


def _training_row(arm: ArmReport, gauges: Sequence[str]) -> tuple[str, ...]:
    values = (f"{arm.summary[name]:.3g}" if name in arm.summary else "" for name in gauges)
    return arm.name, f"{arm.decisions:,.0f}", f"{arm.cpu_minutes:.2f}", f"{arm.rollbacks}", *values


def _run_row(run: RunRecord) -> tuple[str, ...]:
    minutes = f"{run.cpu_minutes:.2f}" if run.policy else ""
    return run.arm, f"{run.seed}", f"`{run.stored or run.run}`", run.status, run.policy or "", minutes, run.reason


def _elo(interval: ClusteredEstimate | None, sign: str = "") -> str:
    if interval is None:
        return ""
    return f"{interval.value:{sign}.0f} [{interval.low:{sign}.0f}, {interval.high:{sign}.0f}]".replace("-", "−")


def _score(interval: ClusteredEstimate | None) -> str:
    if interval is None:
        return ""
    return f"{interval.value:.3f} [{max(0.0, interval.low):.3f}, {min(1.0, interval.high):.3f}]"


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    yield f"| {' | '.join(heads)} |"
    yield f"|{'---|' * len(heads)}"
    for row in rows:
        cells = (cell.replace("|", "\\|").replace("\n", " ") for cell in row)
        yield f"| {' | '.join(cells)} |"


def publish(plan: Plan, results: Results) -> ExperimentReport:
    """Write ``FILE.md``, and ``FILE.svg`` where there are learning curves; return the report.

    Raises:
        TryAgainError: a file cannot be written.
    """
    report = make_report(plan, results)
    drawing, drawn = plan.beside(".svg"), curves_drawing([(arm.name, arm.curves) for arm in report.arms])
    if drawn is not None:
        write_atomically(drawing, drawn.encode())
    write_atomically(plan.beside(".md"), page(report, drawing.name if drawn else None).encode())
    return report
