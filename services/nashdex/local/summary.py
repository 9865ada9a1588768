"""The results of an iteration in a few lines, from its ``report.json``."""

from collections.abc import Mapping

from nashdex.core import keys
from nashdex.core.ids import PolicyId
from nashdex.local.step_progress import describe_seconds
from nashdex.metagame.evidence.intervals import Estimate
from nashdex.metagame.tournament.gate import GateResult
from nashdex.report.document import IterationRow, Report, policy_names
from nashdex.report.words.findings import found_again, reset_finding
from nashdex.report.words.texts import DECISIONS, other_opponents, precise, signed
from nashdex.store.documents import read_published
from nashdex.store.protocol import ObjectStore

_MOST_NAMED = 4
"""Policies of a meta-strategy."""


def summarise(store: ObjectStore, iteration: int) -> str:
    """Return the summary of an iteration whose report step is done.

    Raises:
        DataError: the report is missing or altered.
    """
    return describe_iteration(read_published(store, iteration, keys.REPORT, Report), iteration)


def describe_iteration(report: Report, iteration: int) -> str:
    """Return the lines of one iteration of ``report``."""
    row = next(row for row in report.iterations if row.iteration == iteration)
    names = policy_names(report.policies)
    exact = report.payoffs.exact is not None
    played = [f"{row.collection.throughput.battles:,} battles collected"] if row.collection.throughput.battles else []
    played.append("payoffs computed exactly" if exact else f"{row.evaluation.battles:,} evaluated")
    played.append(describe_seconds(row.seconds))
    lines = [f"iteration {iteration} ({iteration + 1} of {report.planned_iterations}): {', '.join(played)}"]
    if row.role:
        reset = f", {reset_finding(row.reset, names)}" if row.reset else ""
        lines.append(f"  role            {row.role}{reset}")
    for policy in row.new_policies:
        lines.append(f"  new policy      {names[policy]} ({policy})")
        lines.append(f"  its {'payoffs  ' if exact else 'win rates'}   {' · '.join(_against_anchors(report, policy))}")
    lines.extend(f"  gate            {_describe_gate(gate)}" for gate in row.gates if gate.decision != "exempt")
    lines.append(f"  best response   {_best_response_gap(row, names)}")
    lines.extend(
        f"  exploitability  exact {precise(entry.value)} (NashConv {precise(entry.nash_conv)})"
        for entry in row.exploitability
        if entry.nash_conv is not None
    )
    shares = sorted(row.meta_strategy, key=lambda share: -share.probability.value)
    support = [
        f"{names[share.policy]} {share.probability.value:.2f}" for share in shares if share.policy in row.support
    ]
    if len(support) > _MOST_NAMED:
        support[_MOST_NAMED:] = [f"{len(support) - _MOST_NAMED} more"]
    lines.append(f"  meta-strategy   {' · '.join(support)}")
    if num_retired := sum(policy.retired for policy in report.policies):
        lines.append(f"  retired         {num_retired} of {len(report.policies)} policies")
    return "\n".join(lines)


def _against_anchors(report: Report, policy: PolicyId) -> list[str]:
    """Return the policy's scores against the anchors, or its payoffs in a tabular game."""
    payoffs = report.payoffs
    if policy not in payoffs.policies:
        return ["in report_cells.js"]
    place = payoffs.policies.index(policy)
    names = policy_names(report.policies)
    anchors = {row.id: names[row.id] for row in report.policies if row.anchor and row.id != policy}
    scores = []
    for column, opponent in enumerate(payoffs.policies):
        cell = payoffs.cells[place][column] if payoffs.cells is not None else None
        if opponent not in anchors:
            continue
        if payoffs.exact is not None:
            scores.append(f"{anchors[opponent]} {signed(payoffs.exact[place][column], 3)}")
        elif cell is not None:
            scores.append(f"{anchors[opponent]} {_interval(cell.rate)}")
    return scores


def _best_response_gap(row: IterationRow, names: Mapping[PolicyId, str]) -> str:
    gap = next((e for e in row.exploitability if e.estimator == "best_response_gap"), None)
    if gap is not None:
        return f"gap {precise(gap.value) if gap.low == gap.high else _interval(gap)}"
    if not row.new_policies and (name := found_again(row, names)):
        return f"no gap: training found {name} again, which the population has"
    if not row.new_policies:
        return "no gap: no policy joined the population"
    if opponents := other_opponents(row.rule, row.iteration):
        return f"no gap: training was against {opponents}, not against the meta-strategy"
    return "no gap: the first policy answers no meta-strategy"


def _describe_gate(gate: GateResult) -> str:
    if gate.payoff is not None:
        evidence = f"payoff {signed(gate.payoff, 3)} against its parent"
    else:
        evidence = f"{gate.wins} won, {gate.draws} drawn, {gate.losses} lost against its parent"
    return f"{gate.policy} {DECISIONS[gate.decision]}: {evidence}"


def _interval(interval: Estimate) -> str:
    return f"{interval.value:.2f} [{interval.low:.2f}, {interval.high:.2f}]"
