"""The page of an experiment: Markdown that a person reads and commits."""

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple, TypeAlias

from markupsafe import Markup

from nashdex.core.output_files import write_output
from nashdex.report.page.charts import NUM_COLOURS
from nashdex.report.page.charts.axes import HEIGHT, WIDTH
from nashdex.report.page.charts.lines import Point, Series, line_chart
from nashdex_lab.experiments.estimates import ClusteredEstimate
from nashdex_lab.experiments.plan import Plan
from nashdex_lab.experiments.records import Results, RunRecord
from nashdex_lab.experiments.report import (
    ArmCurve,
    ArmReport,
    ComparisonReport,
    CurvePoint,
    ExperimentReport,
    make_report,
)
from nashdex_lab.experiments.rules import ELO, score_measures
from nashdex_lab.experiments.sentences import against, interval_text, p_text

_COLOURS = (
    "#2f6fb0", "#d9822b", "#3f9142", "#b5476b", "#7b5cb8", "#8a6d3b", "#2a9d9a", "#c0504d", "#6b7a2f", "#5c646e",
)  # fmt: skip
_STYLE = """
svg { font-family: system-ui, sans-serif; } .paper { fill: #fdfdfb; }
.tick { font-size: 11px; fill: #5c646e; } .title { font-size: 12px; font-weight: 600; fill: #1d2126; }
.grid { stroke: #dfe1dc; } .axis { stroke: #5c646e; opacity: .7; }
.line { fill: none; stroke-width: 1.8; stroke-linejoin: round; } .band { opacity: .16; stroke: none; }
.dash1, .dash2 { stroke-dasharray: 6 8; } .dash2 { stroke-dashoffset: 7; }
"""
_TITLE, _ROW, _GAP = 20, 15, 12
_MILLION = 1e6

Arm: TypeAlias = tuple[str, Sequence[ArmCurve]]
"""A name and its learning curves."""


class Axis(NamedTuple):
    """What a chart's scores are drawn over."""

    label: str
    value: Callable[[CurvePoint], float]


DECISIONS = Axis("million decisions", lambda point: point.decisions / _MILLION)
CPU_MINUTES = Axis("CPU-minutes", lambda point: point.cpu_minutes)


def curves_drawing(arms: Sequence[Arm], axis: Axis = DECISIONS) -> str | None:
    """Return an SVG file with a chart for each anchor and style; None if nothing was evaluated during training.

    Arms with the same curves, such as those that share a run, are one line with both names.
    """
    arms = _with_equal_ones_joined(arms)
    kinds = dict.fromkeys((curve.anchor, curve.style) for _, curves in arms for curve in curves)
    if not kinds:
        return None
    num_rows = sum(bool(curves) for _, curves in arms)
    height = _TITLE + HEIGHT + _ROW * num_rows + _GAP
    parts = [_chart(arms, kind, axis, height * place) for place, kind in enumerate(kinds)]
    colours = "".join(
        f".c{i} {{ fill: {colour}; }} .line.c{i} {{ fill: none; stroke: {colour}; }}\n"
        for i, colour in enumerate(_COLOURS[:NUM_COLOURS])
    )
    total = height * len(kinds)
    return str(
        Markup(
            '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {0} {1}" width="{2}" height="{3}">\n'
            '<style>{4}</style>\n<rect class="paper" width="{0}" height="{1}"/>\n{5}\n</svg>\n'
        ).format(WIDTH, total, 2 * WIDTH, 2 * total, Markup(_STYLE + colours), Markup("\n").join(parts))  # noqa: S704 - constants
    )


def _with_equal_ones_joined(arms: Sequence[Arm]) -> list[Arm]:
    joined: list[Arm] = []
    for name, curves in arms:
        equal = next((place for place, (_, others) in enumerate(joined) if curves and others == curves), None)
        if equal is None:
            joined.append((name, curves))
        else:
            joined[equal] = (f"{joined[equal][0]}, {name}", curves)
    return joined


def _chart(arms: Sequence[Arm], kind: tuple[str, str], axis: Axis, top: int) -> Markup:
    anchor, style = kind
    series = list(_series(arms, kind, axis))
    drawn = line_chart(series, label=f"Score against {anchor} by {axis.label}", x_label=axis.label, include=(0.5,))
    rows = [
        Markup(
            '<rect class="{}" x="10" y="{}" width="9" height="9"/><text class="tick" x="24" y="{}">{}</text>'
        ).format(one.colour, top + _TITLE + HEIGHT + _ROW * row, top + _TITLE + HEIGHT + _ROW * row + 9, one.name)
        for row, one in enumerate(series)
    ]
    title = Markup('<text class="title" x="10" y="{}">Score against {}, {} play</text>').format(top + 15, anchor, style)
    inner = Markup('<svg x="0" y="{}" width="{}" height="{}">{}</svg>').format(top + _TITLE, WIDTH, HEIGHT, drawn)
    return title + inner + Markup("").join(rows)


def _series(arms: Sequence[Arm], kind: tuple[str, str], axis: Axis) -> Iterator[Series]:
    for place, (name, curves) in enumerate(arms):
        for curve in curves:
            if (curve.anchor, curve.style) == kind:
                points = [_point(point, axis) for point in curve.points]
                yield Series(name, f"c{place % NUM_COLOURS}", points, has_band=True)


def _point(point: CurvePoint, axis: Axis) -> Point:
    title = (
        f"{point.score.value:.3f} [{point.score.low:.3f}, {point.score.high:.3f}] after {point.decisions:,.0f} "
        f"decisions, {point.cpu_minutes:,.1f} CPU-minutes"
    )
    low, high = max(0.0, point.score.low), min(1.0, point.score.high)
    return Point(axis.value(point), point.score.value, low, high, title)


_GAUGES = ("entropy", "kl_iteration_start", "kl_reference", "explained_variance", "critic_rank", "prediction_loss")
"""Final values that the page shows where an arm has them; the JSON document holds all."""

_METHOD = (
    "Each finished run's last policy in {style} play, {battles:,} battles against each reference (fixed Elo: "
    "{references}). Intervals are 95 %, each by itself; their unit is the seed (Student), or the side-swapped pair "
    "where there is one seed."
)
_EXPLOITER = (
    "An exploiter learns from {decisions:,} decisions against each policy as it samples, beginning with the policy's "
    "own weights, or with those of a mixture's most probable network. The policy's score in {battles:,} further "
    "battles is an upper bound of its worst case: higher is better."
)
_POOLED = (
    "Student's test; one variance between seeds, estimated from all arms, and the error of the battles. Intervals hold "
    "together (Bonferroni, {level:.4g} % each); p after Holm decides."
)
_PAIRED = (
    "Student's test of the differences by seed. Intervals hold together (Bonferroni, {level:.4g} % each); p after Holm "
    "decides."
)
_CPU_TIME = (
    "CPU-minutes grow with what else the machine does, by an amount that differs between runs; decisions do not."
)


def page(report: ExperimentReport, drawing: str | None = None) -> str:
    """Return the page; ``drawing`` is the name of a file with the learning curves."""
    return "\n".join(_lines(report, drawing)) + "\n"


def _lines(report: ExperimentReport, drawing: str | None) -> Iterator[str]:
    references = ", ".join(f"{name} = {elo:g}" for name, elo in report.anchors.items())
    yield from (
        f"# {report.name}",
        "",
        f"Status: **{report.status}**. Begun: {report.began}. Base settings: `{report.base}`.",
        "",
        f"**Hypothesis.** {report.hypothesis.strip()}",
        "",
        _registration(report),
        "",
        f"**Rule.** {report.rule}",
        "",
        "```bash",
        report.command,
        "```",
        "",
        "**Verdict.**",
        "",
        *(f"- {sentence}" for sentence in report.verdict),
        "",
    )
    if report.comparisons:
        yield from ("## Comparisons", "", _comparison_method(report), "")
        yield from _table(
            ("arm", "compared with", "by", "difference", "p", "p after Holm", "decisions", "shown"),
            [_comparison_row(one, is_registered=report.registration is not None) for one in report.comparisons],
        )
        yield ""
    yield from (
        "## Arms",
        "",
        _METHOD.format(style=report.style, battles=report.battles, references=references),
        "",
    )
    if report.exploiter:
        yield from (_EXPLOITER.format(decisions=report.exploiter.decisions, battles=report.exploiter.battles), "")
    measures = score_measures(report.anchors, has_exploiter=report.exploiter is not None)
    judged = ("verdict",) if any(arm.judgement for arm in report.arms) else ()
    yield from _table(
        ("arm", "seeds", "Elo", *(f"score against {against(name)}" for name in measures), *judged),
        [
            (
                arm.name,
                f"{len(arm.seeds)} of {arm.planned_seeds}",
                _elo(arm.elo),
                *(_score(arm.scores.get(name)) for name in measures),
                *((arm.judgement,) if arm.judgement else ()),
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
    yield from ("", _CPU_TIME)
    if drawing:
        yield from ("", f"![Learning curves]({drawing})", "", "Bands are 95 % intervals of the mean over the seeds.")
    yield from ("", "## Runs", "")
    yield from _table(
        ("arm", "seed", "run in the store", "status", "policy", "CPU-minutes", "reason"),
        [_run_row(run) for run in report.runs],
    )
    if report.follow_ups:
        yield from ("", "## Follow-ups", "", *(f"- {one}" for one in report.follow_ups))


def _registration(report: ExperimentReport) -> str:
    found = report.registration
    if found is None:
        return "**Not registered**: nothing says that the rule was stated before the first run."
    digest = f"SHA-256 of what is registered: `{found.digest[:16]}…`."
    if found.is_after_runs:
        return (
            f"**Registered after the runs**, {found.registered}: the comparisons and the rule below were written when "
            f"results were known. {digest}"
        )
    return f"**Registered before the first run**, {found.registered}. {digest}"


def _comparison_method(report: ExperimentReport) -> str:
    assert report.level is not None, "a rule with comparisons"
    text = _PAIRED if report.variance == "paired" else _POOLED
    return text.format(level=100 * (1 - report.level / len(report.comparisons)))


def _comparison_row(one: ComparisonReport, *, is_registered: bool) -> tuple[str, ...]:
    is_elo = one.measure == ELO
    estimate = "" if one.difference is None else interval_text(one.difference, is_elo=is_elo)
    budgets = "equal" if is_registered else "not registered"
    if one.budgets is not None:
        budgets = " against ".join("no such number" if each is None else f"{each:,}" for each in one.budgets)
    by = "Elo" if is_elo else f"score against {against(one.measure)}"
    return one.arm, one.other, by, estimate, p_text(one.p), p_text(one.p_holm), budgets, one.found


def _changed(arms: Sequence[ArmReport]) -> Iterator[str]:
    """Yield what every arm changes, if there are several arms, and then what each changes besides."""
    common = [one for one in arms[0].changed if len(arms) > 1 and all(one in arm.changed for arm in arms)]
    if common:
        yield f"- every arm: {_code(common)}"
    for arm in arms:
        plays = "" if arm.plays == "last" else f"; its {arm.plays} plays"
        own = [one for one in arm.changed if one not in common]
        yield f"- `{arm.name}`: {_code(own) or ('no more' if common else 'none')}{plays}"


def _code(settings: Sequence[str]) -> str:
    return ", ".join(f"`{one}`" for one in settings)


def _training_row(arm: ArmReport, gauges: Sequence[str]) -> tuple[str, ...]:
    values = (f"{arm.summary[name]:.3g}" if name in arm.summary else "" for name in gauges)
    return arm.name, f"{arm.decisions:,.0f}", f"{arm.cpu_minutes:.2f}", f"{arm.rollbacks}", *values


def _run_row(run: RunRecord) -> tuple[str, ...]:
    minutes = f"{run.cpu_minutes:.2f}" if run.policy else ""
    return run.arm, f"{run.seed}", f"`{run.stored or run.run}`", run.status, run.policy or "", minutes, run.reason


def _elo(interval: ClusteredEstimate | None) -> str:
    if interval is None:
        return ""
    return f"{interval.value:.0f} [{interval.low:.0f}, {interval.high:.0f}]".replace("-", "−")


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
        ConfigurationError: what is registered has changed.
        DataError: a file cannot be written.
    """
    report = make_report(plan, results)
    drawing, drawn = plan.beside(".svg"), curves_drawing([(arm.name, arm.curves) for arm in report.arms])
    files = {} if drawn is None else {drawing: drawn.encode()}
    files[plan.beside(".md")] = page(report, drawing.name if drawn else None).encode()
    write_output(files, "folder for the experiment")
    return report
