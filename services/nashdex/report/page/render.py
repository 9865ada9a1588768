"""The report's page: one HTML file that needs nothing beside it, made of ``report.json`` and a few battle logs."""

import json
import math
import re
from collections.abc import Iterable, Mapping
from itertools import groupby
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from nashdex.core import keys
from nashdex.core.errors import ConfigurationError
from nashdex.core.ids import PolicyId
from nashdex.games.showdown.replays import PLAYER_HOST, rename_players, replay_page
from nashdex.metagame.calibration.documents import Calibration
from nashdex.report.assembly.cost import in_sequence
from nashdex.report.cells import PayoffCells
from nashdex.report.document import MAX_PICTURED_POLICIES, NUM_DRAWN_ITERATIONS, Replay, Report, policy_names
from nashdex.report.page.board import Board
from nashdex.report.page.charts import NUM_COLOURS
from nashdex.report.page.views import exploitability, learning, matrix, mixture, policies
from nashdex.report.words import findings
from nashdex.report.words.texts import DECISIONS, capital, opponents_of, oracle_summary, percent, precise, signed

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
PICTURES = ("meta-strategy", "exploitability")
"""What ``render_picture`` draws."""
_MOST_OPEN = 12
"""Rows of iterations that a table shows; a longer table is folded."""
_MOST_LIKELY = 16
"""Policies of the newest mixture that are listed; the others are folded."""
_MOST_DRAWN_TRAININGS = 20
"""Trainings whose curves are drawn. Where an iteration trains many policies, those of fewer iterations are."""
_MOST_RATED = 200
"""Rows in the table of ratings of a large population."""


def render_page(
    report: Report,
    logs: Mapping[str, str],
    calibration: Calibration | None = None,
    board: Board | None = None,
    cells: PayoffCells | None = None,
) -> str:
    """Return the page of ``report``.

    A report with parts gets a page that loads them from beside it, unless they are given.

    Args:
        report: every number that the page shows.
        logs: Showdown logs to embed, by the replays' names.
        calibration: how often the report's intervals hold the truth, if that was simulated.
        board: the analysis board on which battles open; without one they open in Showdown's replay player.
        cells: the report's part with every pair of policies, to embed.
    """
    names = policy_names(report.policies)
    colours = policies.colours_of(report)
    pages = _replay_pages(report, names, logs)
    last = report.iterations[-1]
    has_parts = report.payoffs.num_omitted > 0
    num_drawn = min(NUM_DRAWN_ITERATIONS, max(1, _MOST_DRAWN_TRAININGS // report.settings["train"]["seeds"]))
    older = range(last.iteration - num_drawn, -1, -num_drawn)
    ranks = {row.id: place for place, row in enumerate(report.policies)}
    played = mixture.ever_played(report)
    most_entropy = math.log(len(report.policies))
    drawn = [row for row in report.iterations if any(training.curves for training in row.training)][-num_drawn:]
    return _TEMPLATES.get_template("report.html.j2").render(
        player_host=PLAYER_HOST if pages else "",
        report=report,
        calibration=None if calibration is None else findings.calibration_finding(calibration),
        last=last,
        exact=report.payoffs.exact is not None,
        names=names,
        colours=colours,
        sections=SECTIONS,
        num_colours=NUM_COLOURS,
        shades=list(matrix.shades()),
        folded=len(report.iterations) > _MOST_OPEN,
        fixed=[names[row.id] for row in report.policies if not report.payoffs.exact and row.rating.standard_error == 0],
        answered=findings.answered_mixture(last),
        top_rated=findings.top_rated_note(report.policies, report.progress, names),
        collected=sum(row.collection.throughput.battles for row in report.iterations),
        estimates={entry.estimator: entry for entry in last.exploitability},
        shares={row.iteration: {p.policy: p.probability for p in row.meta_strategy} for row in report.iterations},
        lists_shares=mixture.lists_shares(report),
        ever_played=played,
        legend=policies.legend(colours),
        others_played=any(colours[policy] == "other" for policy in played),
        known=policies.known_policies(report, names),
        opponents_of=opponents_of,
        resets={row.iteration: findings.reset_finding(row.reset, names) for row in report.iterations if row.reset},
        oracle_summary=oracle_summary,
        decisions=DECISIONS,
        learned=any(training.num_decisions for row in report.iterations for training in row.training),
        gated=any(row.gates for row in report.iterations),
        likely=mixture.likely(report),
        most_likely=_MOST_LIKELY,
        share_bars=mixture.share_bars(report, names, colours),
        strategy_chart=mixture.strategy_chart(report, names, colours),
        entropy_chart=mixture.entropy_chart(report, most_entropy),
        most_entropy=most_entropy,
        estimators=exploitability.estimator_views(report),
        budget_chart=exploitability.budget_chart(report),
        matrix=matrix.matrix_view(report),
        disc=matrix.disc_view(report, names, colours),
        most_pictured=MAX_PICTURED_POLICIES,
        whiskers=policies.whiskers(report, names, colours),
        drawn=drawn,
        learning={training.policy: learning.learning_views(training) for row in drawn for training in row.training},
        strength={training.policy: learning.strength_views(training) for row in drawn for training in row.training},
        cloned={
            training.policy: list(learning.cloned_groups(training, report.settings["collect"]["teacher"]))
            for row in drawn
            for training in row.training
        },
        constant={training.policy: learning.constant_curves(training) for row in drawn for training in row.training},
        replay_groups=[
            (pair, tuple(report.policies[place].id for place in pair), list(group))
            for pair, group in groupby(
                sorted(report.replays, key=lambda r: (_pair(r, ranks), r.iteration, r.name)),
                key=lambda r: _pair(r, ranks),
            )
        ],
        ranks=ranks,
        stored_pairs={_pair(replay, ranks) for replay in report.replays},
        board=board if pages else None,
        embedded=pages.keys(),
        watch=policies.battle_to_watch(report, pages),
        flat_settings=list(_flatten(report.settings)),
        is_beside_parts=has_parts and cells is None,
        cells_json=None if cells is None else _json_block(cells.model_dump(mode="json")),
        older_reports=[
            (number, f"../{keys.iteration_folder(number)}/{keys.REPORT_PAGE}") for number in reversed(older)
        ],
        most_rated=_MOST_RATED if has_parts else len(report.policies),
        report_json=None if has_parts and cells is None else _json_block(report.model_dump(mode="json")),
        pages_json=_json_block(pages),
        board_json=_json_block(None if board is None else [board.before, board.after]),
    )


def render_picture(report: Report, name: str) -> str:
    """Return one of the page's pictures as a page of its own. ``name`` is one of ``PICTURES``.

    Raises:
        ConfigurationError: there is no such picture, or the run has nothing to draw in it.
    """
    if name not in PICTURES:
        raise ConfigurationError(f"there is no picture {name!r}: expected one of {', '.join(PICTURES)}")
    names = policy_names(report.policies)
    colours = policies.colours_of(report)
    title, chart, legend = "Probability of each policy", None, list[PolicyId]()
    if name == "meta-strategy":
        chart, legend = mixture.strategy_chart(report, names, colours), policies.legend(colours)
    else:
        # In the page's order: exact values come before estimates.
        for view in exploitability.estimator_views(report):
            if view.chart is not None:
                title, chart = view.text.title, view.chart
                break
    if chart is None:
        raise ConfigurationError(f"there is nothing to draw in {name}: the run publishes no such estimate")
    return _TEMPLATES.get_template("picture.html.j2").render(
        title=title,
        chart=chart,
        legend=legend,
        names=names,
        colours=colours,
        num_colours=NUM_COLOURS,
        shades=list(matrix.shades()),
    )


def typeset(text: str) -> str:
    """Return ``text`` with non-breaking spaces before numbers and percent signs."""
    return re.sub(r" (?=%)|(?<=[a-z]) (?=\d)", "\N{NO-BREAK SPACE}", text)


def _pair(replay: Replay, ranks: Mapping[PolicyId, int]) -> tuple[int, int]:
    """Return the players' places by rating, the stronger first."""
    first, second = sorted(ranks[policy] for policy in replay.policies)
    return first, second


def _replay_pages(report: Report, names: Mapping[PolicyId, str], logs: Mapping[str, str]) -> dict[str, str]:
    pages = {}
    for replay in report.replays:
        if replay.name in logs:
            first, second = (names[policy] for policy in replay.policies)
            log = rename_players(logs[replay.name], (first, second))
            pages[replay.name] = replay_page(log, f"{first} against {second}", report.format)
    return pages


def _json_block(value: Any) -> Markup:  # noqa: ANN401 - any JSON value
    """Return JSON for a script block: nothing in it can close the block or open a comment."""
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


def _compiled_templates() -> Environment:
    """Return the templates, all of them compiled: children of a process that imported this module render at once."""
    environment = Environment(
        loader=PackageLoader("nashdex.report.page"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    environment.filters |= {
        "capital": capital,
        "percent": percent,
        "precise": precise,
        "signed": signed,
        "thousands": _thousands,
        "typeset": typeset,
        "named": _named_reference,
        "in_sequence": in_sequence,
    }
    environment.tests["of_group"] = learning.is_of_group
    for name in environment.list_templates(extensions=["j2", "css", "js"]):
        environment.get_template(name)
    return environment


_TEMPLATES = _compiled_templates()
