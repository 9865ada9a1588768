"""The newest mixture and the best policy against the frozen anchors."""

from collections.abc import Sequence

import numpy as np

from nashdex.core.ids import PolicyId
from nashdex.core.seeds import derive_seed
from nashdex.metagame.analysis.progress import improvement, mixture_scores
from nashdex.metagame.evidence.ledger import BattleRecord
from nashdex.report.assembly.payoffs import exact_payoffs
from nashdex.report.document import AnchorPayoff, AnchorScore, Interval, Progress
from nashdex.report.sources import IterationSources
from nashdex.settings.run import RunSettings


def anchor_scores(
    settings: RunSettings, last: IterationSources, anchors: Sequence[PolicyId]
) -> tuple[AnchorScore, ...]:
    """Return the mixture's score against each anchor; none where payoffs are exact."""
    if last.matrix.payoffs is not None:
        return ()
    scores = mixture_scores(
        last.matrix,
        last.meta_strategy.meta_strategy,
        anchors,
        num_draws=settings.solve.num_draws,
        seed=derive_seed(settings.seed, "report", last.iteration),
    )
    return tuple(
        AnchorScore(
            opponent=score.opponent,
            rate=Interval(value=score.value, low=score.low, high=score.high),
            games=score.games,
        )
        for score in scores
    )


def anchor_payoffs(last: IterationSources, anchors: Sequence[PolicyId]) -> tuple[AnchorPayoff, ...]:
    """Return the mixture's exact payoff against each anchor; none where payoffs come from battles."""
    if last.matrix.payoffs is None:
        return ()
    strategy = last.meta_strategy.meta_strategy
    mixed = np.array([strategy[policy] for policy in last.matrix.policies]) @ exact_payoffs(last.matrix)
    return tuple(
        AnchorPayoff(opponent=anchor, payoff=float(mixed[last.matrix.policies.index(anchor)]))
        for anchor in anchors
        if strategy[anchor] < 1.0
    )


def progress(
    settings: RunSettings, last: IterationSources, base: PolicyId | None, records: Sequence[BattleRecord]
) -> Progress | None:
    """Return the Elo of the best trained policy above ``base``, where enough battles say so."""
    if base is None or last.matrix.payoffs is not None:
        return None
    found = improvement(
        last.population.ids,
        base,
        [entry.id for entry in last.population.policies if entry.kind != "scripted" and entry.id != base],
        records,
        anchors=last.analysis.anchors,
        num_draws=settings.solve.num_draws,
        seed=derive_seed(settings.seed, "progress", last.iteration),
    )
    if found is None:
        return None
    return Progress(
        best=found.best,
        base=found.base,
        elo=Interval(value=found.elo.value, low=found.elo.low, high=found.elo.high),
        standard_error=found.elo.standard_error,
    )
