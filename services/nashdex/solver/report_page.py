"""The report's page: one HTML file that needs nothing beside it, made of ``report.json`` and a few battle logs."""

import json
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from nashdex.core.ids import PolicyId
from nashdex.games.showdown.replays import rename_players, replay_page
from nashdex.metagame.exploitability import Estimator
from nashdex.solver import report_charts as charts
from nashdex.solver.report_document import Curve, Exploitability, Interval, Replay, Report, Training, policy_names
from nashdex.solver.report_findings import percent, signed

SECTIONS = (
    ("payoffs", "Payoffs"),
    ("meta-strategy", "Meta-strategy"),
    ("exploitability", "Exploitability"),
    ("ratings", "Ratings"),
    ("learning", "Learning"),
    ("throughput", "Throughput"),
    ("replays", "Replays"),
    ("configuration", "Configuration"),
)


@dataclass(frozen=True, slots=True)
class EstimatorText:
    """What an estimator can and cannot tell, and why it may be absent."""

    name: Estimator
    title: str
    meaning: str
    absent: str


ESTIMATORS = (
    EstimatorText(
        name="best_response_gap",
        title="Best-response gap",
        meaning="Win rate above ½ of the policy that this iteration trained against the mixture before it, on fresh "
        "battles. A lower bound: a better trained opponent may find more, so a small gap proves no strong mixture.",
        absent="No best response was trained against a mixture.",
    ),
    EstimatorText(
        name="restricted",
        title="Restricted exploitability",
        meaning="What the best member of the population gains against the mixture. 0 by construction for the Nash "
        "mixture of the same payoffs; the interval shows what those payoffs may have hidden. Says nothing about "
        "opponents outside the population.",
        absent="Not published: a payoff on the support is missing.",
    ),
    EstimatorText(
        name="legacy_dominance_gap",
        title="Legacy dominance gap",
        meaning="How badly the weakest member loses to the mixture. Kept for comparison with older work: it stays high "
        "for ever once a weak policy is in the population and is no measure of exploitability.",
        absent="Not published: a payoff is missing.",
    ),
    EstimatorText(
        name="exact",
        title="Exact exploitability",
        meaning="NashConv over the number of players, by best responses over the whole game tree: the true value.",
        absent="Only tabular games have it. The game tree of Showdown is too large to search.",
    ),
)


@dataclass(frozen=True, slots=True)
class LearningChart:
    """A chart of learning curves, drawn where at least one of them was measured."""

    title: str
    caption: str
    curves: tuple[tuple[str, str], ...]
    """Name of the curve, and what the legend calls it."""


LEARNING_CHARTS = (
    LearningChart(
        "KL gauges",
        "nats a decision",
        (("kl_behaviour", "behaviour"), ("kl_reference", "reference"), ("kl_iteration_start", "iteration start")),
    ),
    LearningChart("Policy entropy", "nats a decision", (("entropy", "entropy"),)),
    LearningChart("Clip fraction", "share of decisions", (("clip_fraction", "clip fraction"),)),
    LearningChart("Explained variance", "of returns, by the critic", (("explained_variance", "explained variance"),)),
    LearningChart("Value loss", "of the critic", (("value_loss", "value loss"),)),
    LearningChart("Policy loss", "of the actor", (("policy_loss", "policy loss"),)),
    LearningChart("Gradient norm", "before it is scaled down", (("gradient_norm", "gradient norm"),)),
    LearningChart("Reference coefficient", "β of the reference KL", (("beta_reference", "β"),)),
    LearningChart("Learning rate", "Adam's step size", (("learning_rate", "learning rate"),)),
    LearningChart(
        "Loss of cloning", "nats a decision", (("loss", "training"), ("validation_loss", "held-out battles"))
    ),
    LearningChart(
        "Accuracy of cloning",
        "share of decisions",
        (("accuracy", "training"), ("validation_accuracy", "held-out battles")),
    ),
)


@dataclass(frozen=True, slots=True)
class _EstimatorView:
    text: EstimatorText
    chart: Markup | None
    entries: Sequence[Exploitability | None]


@dataclass(frozen=True, slots=True)
class _LearningView:
    text: LearningChart
    svg: Markup
    legend: Sequence[tuple[str, str]]


def render_page(report: Report, logs: Mapping[str, str]) -> str:
    """Return the page of ``report``.

    Args:
        report: every number that the page shows.
        logs: Showdown logs to embed, by the replays' names.
    """
    names = policy_names(report.policies)
    colours = _colours(report)
    pages = _replay_pages(report, names, logs)
    last = report.iterations[-1]
    environment = Environment(
        loader=PackageLoader("nashdex.solver"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"percent": percent, "signed": signed, "thousands": _thousands, "typeset": typeset}
    environment.filters["named"] = lambda reference: _named_reference(reference, names)
    return environment.get_template("report.html.j2").render(
        report=report,
        last=last,
        names=names,
        colours=colours,
        sections=SECTIONS,
        num_colours=charts.NUM_COLOURS,
        fixed=[names[row.id] for row in report.policies if row.rating.standard_error == 0],
        collected=sum(row.collection.throughput.battles for row in report.iterations),
        evaluated=sum(row.evaluation.battles for row in report.iterations),
        gap=next((e for e in last.exploitability if e.estimator == "best_response_gap"), None),
        shares={row.iteration: {p.policy: p.probability for p in row.meta_strategy} for row in report.iterations},
        played=_ever_played(report),
        strategy_chart=_strategy_chart(report, names, colours),
        entropy_chart=_entropy_chart(report),
        most_entropy=math.log(len(report.policies)),
        estimators=[_estimator_view(report, text) for text in ESTIMATORS],
        whiskers=_whiskers(report, names, colours),
        learning={t.policy: _learning_views(t) for row in report.iterations for t in row.training},
        replay_groups=[
            (pair, list(group))
            for pair, group in groupby(
                sorted(report.replays, key=lambda r: (_pair(r, report), r.iteration, r.name)),
                key=lambda r: tuple(report.payoffs.policies[place] for place in _pair(r, report)),
            )
        ],
        embedded=pages.keys(),
        flat_settings=list(_flatten(report.settings)),
        report_json=_json_block(report.model_dump(mode="json")),
        pages_json=_json_block(pages),
    )


def typeset(text: str) -> str:
    """Return ``text`` with spaces that do not break before a number and before a percent sign."""
    return re.sub(r" (?=%)|(?<=[a-z]) (?=\d)", "\N{NO-BREAK SPACE}", text)


def _ever_played(report: Report) -> list[PolicyId]:
    """Return the policies that some iteration's mixture plays, in the order in which they joined."""
    order = [share.policy for row in report.iterations for share in row.meta_strategy if share.probability.value > 0]
    return list(dict.fromkeys(order))


def _colours(report: Report) -> dict[PolicyId, str]:
    """Give each policy that is ever played its colour; the others share a grey."""
    colours = {row.id: "other" for row in report.policies}
    return colours | {policy: f"c{i % charts.NUM_COLOURS}" for i, policy in enumerate(_ever_played(report))}


def _strategy_chart(report: Report, names: Mapping[PolicyId, str], colours: Mapping[PolicyId, str]) -> Markup:
    bars = [
        (
            str(row.iteration),
            [
                charts.Segment(
                    share.probability.value,
                    colours[share.policy],
                    f"Iteration {row.iteration}, {names[share.policy]}: {percent(share.probability.value)} "
                    f"({percent(share.probability.low)} to {percent(share.probability.high)})",
                )
                for share in row.meta_strategy
                if share.probability.value > 0
            ],
        )
        for row in report.iterations
    ]
    return charts.stacked_bars(bars, label="Probability of each policy by iteration", x_label="iteration")


def _entropy_chart(report: Report) -> Markup:
    points = [
        charts.Point(row.iteration, row.entropy, title=f"Iteration {row.iteration}: {row.entropy:.3f} nats")
        for row in report.iterations
    ]
    series = charts.Series("entropy", "c0", points)
    return charts.line_chart(
        [series],
        label="Entropy of the mixture by iteration",
        x_label="iteration",
        include=(0.0, math.log(len(report.policies))),
        whole_x=True,
    )


def _estimator_view(report: Report, text: EstimatorText) -> _EstimatorView:
    entries = [next((e for e in row.exploitability if e.estimator == text.name), None) for row in report.iterations]
    points = [
        charts.Point(row.iteration, entry.gap.value, entry.gap.low, entry.gap.high, _gap_title(row.iteration, entry))
        for row, entry in zip(report.iterations, entries, strict=True)
        if entry is not None
    ]
    chart = None
    if points:
        series = charts.Series(text.title, "c0", points)
        chart = charts.line_chart([series], label=f"{text.title} by iteration", x_label="iteration", whole_x=True)
    return _EstimatorView(text, chart, entries)


def _gap_title(iteration: int, entry: Exploitability) -> str:
    games = "" if entry.games is None else f", {entry.games} battles"
    low, high = signed(entry.gap.low, 3), signed(entry.gap.high, 3)
    return f"Iteration {iteration}: {signed(entry.gap.value, 3)} ({low} to {high}){games}"


def _whiskers(report: Report, names: Mapping[PolicyId, str], colours: Mapping[PolicyId, str]) -> dict[PolicyId, Markup]:
    rated: list[tuple[PolicyId, Interval]] = [(row.id, row.rating.elo) for row in report.policies]
    axis = (min(elo.low for _, elo in rated), max(elo.high for _, elo in rated))
    return {
        policy: charts.whisker(
            elo.value,
            elo.low,
            elo.high,
            axis=axis,
            colour=colours[policy],
            title=f"{names[policy]}: Elo {elo.value:.0f} ({elo.low:.0f} to {elo.high:.0f})",
        )
        for policy, elo in rated
    }


def _learning_views(training: Training) -> list[_LearningView]:
    curves = {curve.name: curve for curve in training.curves}
    views = []
    for text in LEARNING_CHARTS:
        found = [(curves[name], legend) for name, legend in text.curves if name in curves]
        if not found:
            continue
        series = [charts.Series(legend, f"c{i}", _points(curve)) for i, (curve, legend) in enumerate(found)]
        svg = charts.line_chart(series, label=f"{text.title} by update", x_label="update")
        views.append(_LearningView(text, svg, [(one.colour, one.name) for one in series] if len(series) > 1 else []))
    return views


def _points(curve: Curve) -> list[charts.Point]:
    return [charts.Point(update, value) for update, value in zip(curve.updates, curve.values, strict=True)]


def _pair(replay: Replay, report: Report) -> tuple[int, ...]:
    """Return the places in the payoff matrix of who played, the stronger first."""
    return tuple(sorted(report.payoffs.policies.index(policy) for policy in replay.policies))


def _replay_pages(report: Report, names: Mapping[PolicyId, str], logs: Mapping[str, str]) -> dict[str, str]:
    pages = {}
    for replay in report.replays:
        if replay.name in logs:
            first, second = (names[policy] for policy in replay.policies)
            log = rename_players(logs[replay.name], (first, second))
            pages[replay.name] = replay_page(log, f"{first} against {second}", report.format)
    return pages


def _json_block(value: Any) -> Markup:  # noqa: ANN401 - any JSON value
    """Return JSON that may stand in a script block: nothing in it can close the block or open a comment."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return Markup(text.replace("<", "\\u003c"))  # noqa: S704 - no markup is left in it


def _named_reference(reference: str, names: Mapping[PolicyId, str]) -> str:
    """Return ``snapshot:POLICY`` as "snapshot of" that policy's name; anything else as it is."""
    source, _, policy = reference.partition(":")
    return f"{source} of {names.get(PolicyId(policy), policy)}" if policy else source


def _thousands(value: float) -> str:
    return f"{value:,.0f}".replace(",", "\N{NARROW NO-BREAK SPACE}")


def _flatten(values: Mapping[str, Any], prefix: str = "") -> Iterable[tuple[str, str]]:
    for key, value in values.items():
        if isinstance(value, dict):
            yield from _flatten(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", json.dumps(value, ensure_ascii=False)
