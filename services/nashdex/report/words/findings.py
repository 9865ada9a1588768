"""The report's findings as sentences. They claim a difference only if its 95 % interval excludes 0."""

from collections.abc import Collection, Mapping, Sequence

from nashdex.core.ids import PolicyId
from nashdex.metagame.analysis.exploit import ExploitVerdict
from nashdex.metagame.analysis.exploitability import ExploitabilityEstimate
from nashdex.metagame.calibration.documents import Calibration
from nashdex.metagame.evidence.intervals import Estimate
from nashdex.metagame.population import Reset
from nashdex.report.document import (
    AnchorPayoff,
    AnchorScore,
    IterationRow,
    NewestTrained,
    PolicyRow,
    Probability,
    Progress,
)
from nashdex.report.words.texts import capital, other_opponents, percent, percent_range, precise, signed, verdict

ROUGH_WIDTH = 0.2
"""A wider 95 % interval of a payoff hides differences that matter. 96 battles give an interval of this width."""
_MOST_NAMED = 4
_EVEN = 0.5
_FEWEST_TO_CHOOSE = 2
ROUNDING = 1e-9
"""An exact number below this is zero up to rounding."""


def trained_findings(trained: NewestTrained, names: Mapping[PolicyId, str]) -> tuple[str, ...]:
    """Return how strong the newest trained policy is, against the anchors and against where training began."""
    if not trained.scores:
        return ()
    newest = capital(names[trained.policy])
    if trained.base is None:
        return (f"{newest}, where training begins, {_scored('scores', trained.scores, names)}.",)
    return (
        f"{newest}, the newest trained policy, {_scored('scores', trained.scores, names)}.",
        f"Training began from {names[trained.base]}, which {_scored('scored', trained.base_scores, names)}.",
    )


def _scored(verb: str, scores: Sequence[AnchorScore], names: Mapping[PolicyId, str]) -> str:
    parts = [f"{percent(s.rate.value)} [{percent_range(s.rate)}] against {names[s.opponent]}" for s in scores]
    return f"{verb} {_listed(parts)}"


def exploiter_finding(verdict: ExploitVerdict, names: Mapping[PolicyId, str]) -> str:
    """Return what the exploiter scores against its target."""
    target = f"the mixture of {len(verdict.target)} policies"
    if len(verdict.target) == 1:
        (policy,) = verdict.target
        target = names[policy]
    score = Estimate(value=verdict.score, low=verdict.low, high=verdict.high)
    bounds = "" if score.low == score.high else f" [{percent_range(score)}]"
    scored = f"The exploiter scores {percent(verdict.score)}{bounds} against {target}"
    return f"{scored}. The score is a lower bound: a longer training may find more."


def mixture_finding(
    meta_strategy: Sequence[Probability],
    names: Mapping[PolicyId, str],
    *,
    trained: Collection[PolicyId],
    final: bool,
) -> str:
    """Return what the mixture plays.

    ``trained`` are the policies that the run trained; ``final`` says whether this is the last iteration.
    """
    mixture = "The final mixture" if final else "The mixture so far"
    played = sorted((p for p in meta_strategy if p.probability.value > 0), key=lambda p: -p.probability.value)
    scripted = "" if any(p.policy in trained for p in played) else " It contains no trained policy."
    if len(played) == 1:
        return f"{mixture} is a single policy: it always plays {names[played[0].policy]}.{scripted}"
    num_named = _MOST_NAMED if len(played) > _MOST_NAMED + 1 else len(played)
    parts = [f"{names[p.policy]} ({percent(p.probability.value)})" for p in played[:num_named]]
    if len(played) > num_named:
        rest = sum(p.probability.value for p in played[num_named:])
        parts.append(f"{len(played) - num_named} others ({percent(rest)} together)")
    return f"{mixture} plays {_listed(parts)}.{scripted}"


def anchors_finding(scores: Sequence[AnchorScore], names: Mapping[PolicyId, str]) -> str:
    """Return how the mixture scores against the frozen anchors."""
    if not scores:
        return "The run has no anchor to compare the mixture with."
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
    """Return the mixture's payoffs against the frozen anchors of a tabular game."""
    if not payoffs:
        return "The run has no anchor to compare the mixture with."
    parts = [f"{signed(entry.payoff, 3)} against {names[entry.opponent]}" for entry in payoffs]
    return f"Its payoff per game, in the game's units, is {_listed(parts)}."


def exact_finding(estimates: Sequence[ExploitabilityEstimate]) -> str:
    """Return how far the newest mixture of a tabular game is from an equilibrium, and how far the first one was.

    ``estimates`` are ``exact`` of each iteration that has it.
    """
    if not estimates:
        return "The exploitability of the mixture was not computed."
    last, first = estimates[-1], estimates[0]
    said = f"Its exact exploitability is {precise(last.value)} (NashConv {precise(last.nash_conv or 0.0)})"
    if last.value < ROUNDING:
        return f"{said}: it is an equilibrium of the game, up to rounding."
    since = f", after {precise(first.value)} in the first iteration" if len(estimates) > 1 else ""
    return (
        f"{said}{since}: a best response over the whole game tree gains this much per game, so the mixture is not an "
        "equilibrium."
    )


def found_again(row: IterationRow, names: Mapping[PolicyId, str]) -> str | None:
    """Return the name of a policy that training found although it was a member already, if it did."""
    rejected = {gate.policy for gate in row.gates if gate.decision == "reject"}
    again = [each.policy for each in row.training if each.policy not in {*row.new_policies, *rejected}]
    return names[again[0]] if again else None


def unjudged_finding(row: IterationRow, names: Mapping[PolicyId, str]) -> str | None:
    """Return why the newest iteration has no best response to evaluate; None if it may have one.

    No policy joins if the gate rejected it, or if training found a policy that is already a member.
    """
    if not row.new_policies and (name := found_again(row, names)):
        return (
            f"Training found {name} again, so the population did not grow. While the mixture stays the same, further "
            "iterations change nothing."
        )
    if not row.new_policies:
        return "No policy joined the population in this iteration, so there is no new best response to evaluate."
    if opponents := other_opponents(row.rule, row.iteration):
        return f"Training was against {opponents}, not against the mixture, so there is no best-response gap."
    return None


def reset_finding(reset: Reset, names: Mapping[PolicyId, str]) -> str:
    """Return why a role of a league started again from the run's first network."""
    begin = f"starts again: {names[reset.policy]} scored {reset.win_rate:.2f} against {names[reset.opponent]}"
    if reset.cause == "win-rate":
        return f"{begin}, above {reset.reset_win_rate:.2f}"
    times = "once" if reset.trainings == 1 else f"{reset.trainings} times"
    return f"{begin}, not above {reset.reset_win_rate:.2f}, and has trained {times}"


def answered_mixture(row: IterationRow) -> str:
    """Return the mixture that the iteration's policies were trained against; the first iteration has none before it."""
    return "the previous mixture" if row.iteration else "the initial population"


def exact_best_response_finding(gap: ExploitabilityEstimate | None, names: Mapping[PolicyId, str], mixture: str) -> str:
    """Return the payoff of a tabular game's newest best response against the ``mixture`` it was trained against."""
    if gap is None or gap.policy is None:
        return "No best response has been trained against a mixture yet."
    begin = f"{capital(names[gap.policy])}, trained against {mixture},"
    if gap.value > ROUNDING:
        return f"{begin} gains {precise(gap.value)} per game against it, so that mixture was exploitable."
    if gap.value < -ROUNDING:
        return f"{begin} loses {precise(-gap.value)} per game against it: training found no best response."
    return f"{begin} only breaks even against it."


def best_response_finding(gap: ExploitabilityEstimate | None, names: Mapping[PolicyId, str], mixture: str) -> str:
    """Return the score of the newest best response against the ``mixture`` that it was trained against."""
    if gap is None:
        return "No best response has been trained against a mixture yet, so its exploitability is unknown."
    rate = Estimate(value=gap.value + _EVEN, low=gap.low + _EVEN, high=gap.high + _EVEN)
    who = names[gap.policy] if gap.policy else "the best response"
    begin = (
        f"{capital(who)}, trained against {mixture}, scored {percent(rate.value)} against it "
        f"(95 % interval {percent_range(rate)})"
    )
    match verdict(gap):
        case "above":
            return f"{begin}, so that mixture is exploitable by at least {signed(gap.low, 3)} above an even score."
        case "below":
            return f"{begin}: it is too weak to show how exploitable that mixture is."
        case "undecided":
            return f"{begin}. This is no clear difference from even: that mixture may be exploitable or not."


def scripted_opponents_warning(shares: Mapping[PolicyId, float]) -> str:
    """Return the finding that training met scripted policies, so a score against them is no score against strangers."""
    met = _listed([f"{policy} in {percent(share)}" for policy, share in sorted(shares.items())])
    return f"training met {met} of the learner's battles with itself: scores against them are of opponents it knows"


def progress_finding(progress: Progress | None, names: Mapping[PolicyId, str]) -> str:
    """Return whether the run has improved on its first network."""
    if progress is None:
        return "Progress is not known yet: it needs a second trained policy and a few battles between each pair."
    elo = progress.elo
    begin = (
        f"{capital(names[progress.best])} is rated {signed(elo.value, 0)} Elo relative to {names[progress.base]}, "
        f"the run's first network (95 % interval {signed(elo.low, 0)} to {signed(elo.high, 0)})"
    )
    match verdict(elo):
        case "above":
            return f"{begin}: clear progress."
        case "below":
            return f"{begin}: the run made the policy weaker."
        case "undecided":
            return f"{begin}. The interval includes 0, so there is no evidence of progress."


def top_rated_note(
    policies: Sequence[PolicyRow], progress: Progress | None, names: Mapping[PolicyId, str]
) -> str | None:
    """Return the finding that the highest rating is flattered by its choice, with the held-out figure, if known.

    ``policies`` are by falling rating, and ``progress`` is the best policy's Elo by battles that did not choose it.
    """
    rated = [row for row in policies if row.rating.standard_error > 0]
    if len(rated) < _FEWEST_TO_CHOOSE or rated[0] is not policies[0]:
        return None
    top = rated[0]
    note = (
        f"{capital(names[top.id])} is the highest by the same battles that rate it, so its rating leans high: among "
        "equal policies one is highest by chance."
    )
    if progress is None or progress.best != top.id:
        return note
    base = next(row for row in policies if row.id == progress.base)
    elo = progress.elo
    return (
        f"{note} In this table it is {signed(top.rating.elo.value - base.rating.elo.value, 0)} Elo relative to "
        f"{names[base.id]}; by the battles that did not choose it, {signed(elo.value, 0)} "
        f"(95 % interval {signed(elo.low, 0)} to {signed(elo.high, 0)})."
    )


def calibration_finding(calibration: Calibration) -> str:
    """Return how often the report's 95 % intervals hold the truth, in simulated tournaments of the run's own design."""
    sets = max(number.sets for number in calibration.numbers)
    lowest = min(calibration.numbers, key=lambda number: number.coverage)
    highest = max(calibration.numbers, key=lambda number: number.coverage)
    begin = (
        f"In {sets} simulated tournaments of this design, the 95 % intervals hold the truth in "
        f"{percent(lowest.coverage)} ({_words(lowest.name)}) to {percent(highest.coverage)} ({_words(highest.name)})"
    )
    off = [_words(number.name) for number in calibration.numbers if number.is_off]
    if not off:
        return f"{begin}: they hold what they say."
    return f"{begin}. Over 1 % off what they say: {_listed(off)}."


def _words(name: str) -> str:
    return name.replace("_", " ")


def _listed(parts: Sequence[str]) -> str:
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"
