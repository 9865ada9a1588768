"""What a report says in words. A difference is called one only where its interval excludes none."""

from collections.abc import Collection, Mapping, Sequence

from nashdex.core.ids import PolicyId
from nashdex.report.document import (
    AnchorPayoff,
    AnchorScore,
    Exploitability,
    Interval,
    IterationRow,
    Probability,
    Progress,
)
from nashdex.report.words.numbers import capital, percent, percent_range, precise, signed, verdict
from nashdex.report.words.texts import other_opponents

ROUGH_WIDTH = 0.2
"""A 95 % interval of a payoff that is wider than this hides differences that matter: 96 battles give it."""
_MOST_NAMED = 4
_EVEN = 0.5
ROUNDING = 1e-9
"""An exact number below this is zero up to rounding."""


def mixture_finding(
    meta_strategy: Sequence[Probability],
    names: Mapping[PolicyId, str],
    *,
    trained: Collection[PolicyId],
    final: bool,
) -> str:
    """Say what the mixture plays; ``trained`` are the policies that the run made, ``final`` if no iteration follows."""
    mixture = "The final mixture" if final else "The mixture so far"
    played = sorted((p for p in meta_strategy if p.probability.value > 0), key=lambda p: -p.probability.value)
    scripted = "" if any(p.policy in trained for p in played) else " No trained policy is in it."
    if len(played) == 1:
        return f"{mixture} is a single policy: it always plays {names[played[0].policy]}.{scripted}"
    parts = [f"{names[p.policy]} ({percent(p.probability.value)})" for p in played[:_MOST_NAMED]]
    if len(played) > _MOST_NAMED:
        rest = sum(p.probability.value for p in played[_MOST_NAMED:])
        parts.append(f"{len(played) - _MOST_NAMED} others ({percent(rest)} together)")
    return f"{mixture} plays {_listed(parts)}.{scripted}"


def anchors_finding(scores: Sequence[AnchorScore], names: Mapping[PolicyId, str]) -> str:
    """Say how the mixture does against the frozen anchors."""
    if not scores:
        return "The run has no anchor to judge the mixture against."
    sides = {score.opponent: verdict(score.rate, _EVEN) for score in scores}
    parts = [
        f"{text} {_listed([names[policy] for policy, side in sides.items() if side == wanted])}"
        for wanted, text in (
            ("above", "scores above even against"),
            ("undecided", "shows no clear difference from even against"),
            ("below", "scores below even against"),
        )
        if wanted in sides.values()
    ]
    return f"It {_listed(parts)}."


def anchor_payoffs_finding(payoffs: Sequence[AnchorPayoff], names: Mapping[PolicyId, str]) -> str:
    """Say what the mixture gets from the frozen anchors of a tabular game."""
    if not payoffs:
        return "The run has no anchor to judge the mixture against."
    parts = [f"{signed(entry.payoff, 3)} against {names[entry.opponent]}" for entry in payoffs]
    return f"It gets {_listed(parts)}, a game and in the game's units."


def exact_finding(estimates: Sequence[Exploitability]) -> str:
    """Say how far the newest mixture is from an equilibrium of a tabular game, and the first one was.

    Args:
        estimates: ``exact`` of each iteration that has it.
    """
    if not estimates:
        return "How exploitable the mixture is was not computed."
    last, first = estimates[-1], estimates[0]
    said = f"Its exact exploitability is {precise(last.gap.value)} (NashConv {precise(last.nash_conv or 0.0)})"
    if last.gap.value < ROUNDING:
        return f"{said}: it is an equilibrium of the game, up to rounding."
    since = f", after {precise(first.gap.value)} in the first iteration" if len(estimates) > 1 else ""
    return f"{said}{since}: a best response over the whole game tree gains that much a game, so it is no equilibrium."


def unjudged_finding(row: IterationRow) -> str | None:
    """Say why the newest iteration has no best response to judge; None where it may have one.

    Nobody is new where a gate rejected them, or where what training found was a member already.
    """
    if not row.new_policies:
        return "Nobody new joined the population in this iteration, so there is no new best response to judge."
    if opponents := other_opponents(row.rule, row.iteration):
        return f"Training was against {opponents}, not against the mixture, so there is no best-response gap."
    return None


def exact_best_response_finding(gap: Exploitability | None, names: Mapping[PolicyId, str]) -> str:
    """Say what the newest best response of a tabular game gets from the mixture that it was trained against."""
    if gap is None or gap.policy is None:
        return "No best response has been trained against a mixture yet."
    begin = f"{capital(names[gap.policy])}, trained to beat the mixture before it,"
    if gap.gap.value > ROUNDING:
        return f"{begin} gains {precise(gap.gap.value)} a game against that mixture: it could be exploited."
    if gap.gap.value < -ROUNDING:
        return f"{begin} loses {precise(-gap.gap.value)} a game to that mixture: training found no best response."
    return f"{begin} only breaks even with that mixture."


def best_response_finding(gap: Exploitability | None, names: Mapping[PolicyId, str]) -> str:
    """Say how well the newest best response did against the mixture that it was trained against."""
    if gap is None:
        return "No best response has been trained against a mixture yet, so how exploitable one is remains unknown."
    rate = Interval(value=gap.gap.value + _EVEN, low=gap.gap.low + _EVEN, high=gap.gap.high + _EVEN)
    who = names[gap.policy] if gap.policy else "the best response"
    begin = (
        f"{capital(who)}, trained to beat the mixture before it, scored {percent(rate.value)} against that mixture "
        f"(95 % interval {percent_range(rate)})"
    )
    match verdict(gap.gap):
        case "above":
            return f"{begin}: that mixture can be exploited, by at least {signed(gap.gap.low, 3)} over an even score."
        case "below":
            return f"{begin}: it is too weak to tell how exploitable that mixture is."
        case "undecided":
            return f"{begin}, no clear difference from even: no sure way to exploit it was found, yet."


def progress_finding(progress: Progress | None, names: Mapping[PolicyId, str]) -> str:
    """Say whether the run has improved on the policy that training began with."""
    if progress is None:
        return "There is no progress to judge yet: that takes a second trained policy and a few battles of each pair."
    elo = progress.elo
    begin = (
        f"{capital(names[progress.best])} rates {signed(elo.value, 0)} Elo against {names[progress.base]}, where "
        f"training began (95 % interval {signed(elo.low, 0)} to {signed(elo.high, 0)})"
    )
    match verdict(elo):
        case "above":
            return f"{begin}: clear progress."
        case "below":
            return f"{begin}: the run made it worse."
        case "undecided":
            return f"{begin}. The interval includes 0: no progress can be claimed."


def _listed(parts: Sequence[str]) -> str:
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"
