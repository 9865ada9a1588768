"""The report of a run from the sources of its newest iteration and the rows of every iteration."""

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from nashdex.core.ids import PolicyId, RunId
from nashdex.metagame.analysis.exploit import ExploitVerdict
from nashdex.metagame.evidence.intervals import Estimate
from nashdex.metagame.evidence.large import lists_all
from nashdex.metagame.population import short_ids
from nashdex.metagame.ratings.ladder import ladder_ratings
from nashdex.report.assembly.cost import cost_of_rows
from nashdex.report.assembly.evidence import Context, parts
from nashdex.report.assembly.iterations import run_versions, shares
from nashdex.report.document import (
    NUM_DRAWN_ITERATIONS,
    EloEstimate,
    Intransitivity,
    IterationRow,
    PolicyRow,
    Replay,
    Report,
    policy_names,
)
from nashdex.report.sources import IterationSources
from nashdex.report.words import findings
from nashdex.report.words.texts import sentence
from nashdex.settings.run import RunSettings


def replays(sources: IterationSources) -> Iterable[Replay]:
    """Yield the battles that the iteration's tournament stored."""
    for evaluated in sources.evaluated:
        battles, saved_ones = evaluated.ledger.battles, evaluated.ledger.replays
        may_be_saved = battles[np.isin(battles.numbers // 2, [saved.pair for saved in saved_ones])]
        records = {(record.policies, record.pair): record for record in may_be_saved}
        for saved in saved_ones:
            record = records[saved.policies, saved.pair]
            described = evaluated.manifest.objects[saved.object]
            yield Replay(
                policies=saved.policies,
                winner=None if record.winner is None else record.policies[record.winner],
                turns=record.turns,
                iteration=sources.iteration,
                name=saved.object.removeprefix("replays/").removesuffix(".log"),
                key=described.key,
                shard=evaluated.manifest.shard,
                object=saved.object,
                size_bytes=described.size_bytes,
            )


def policy_rows(
    last: IterationSources, by_rating: Sequence[PolicyId], anchors: Sequence[PolicyId]
) -> tuple[PolicyRow, ...]:
    """Return a row for each policy of ``by_rating``."""
    entries = {entry.id: entry for entry in last.population.policies}
    probabilities = {share.policy: share.probability for share in shares(last)}
    short = short_ids(last.population.policies)
    ladder = ladder_ratings(last.totals.ladder, last.totals.tally()) if last.totals.battles else {}
    rows = []
    for policy in by_rating:
        entry, rating = entries[policy], last.analysis.ratings[policy]
        rows.append(
            PolicyRow(
                id=policy,
                short_id=short[policy],
                name=entry.name,
                kind=entry.kind,
                iteration=entry.iteration,
                parent=entry.parent,
                anchor=policy in anchors,
                probability=probabilities[policy],
                rating=EloEstimate(
                    elo=Estimate(value=rating.elo, low=rating.low, high=rating.high),
                    standard_error=rating.standard_error,
                ),
                ladder=ladder.get(policy),
                games=rating.games,
                retired=entry.retired,
            )
        )
    return tuple(rows)


def assemble(
    run: RunId,
    settings: RunSettings,
    last: IterationSources,
    *,
    rows: Sequence[IterationRow],
    replays: Sequence[Replay],
    exploits: Sequence[ExploitVerdict] = (),
) -> Report:
    """Return the report of a run.

    ``rows`` and ``replays`` are of every iteration up to ``last``. In an exploiter's run, ``exploits`` are the verdicts
    of smaller budgets, then the run's own.

    Raises:
        DataError: counts and ledgers contradict each other.
    """
    population, analysis = last.population, last.analysis
    base = next((entry.id for entry in population.policies if entry.kind == "network" and not entry.is_anchor), None)
    anchors = [entry.id for entry in population.policies if entry.is_anchor or entry.id == base]
    by_rating = sorted(population.ids, key=lambda policy: (-analysis.ratings[policy].elo, policy))
    policies = policy_rows(last, by_rating, anchors)
    names = policy_names(policies)
    mixture = findings.mixture_finding(
        rows[-1].meta_strategy,
        names,
        trained=[entry.id for entry in population.policies if not entry.is_anchor],
        final=last.iteration + 1 == settings.iterations,
    )
    found = parts(
        Context(
            settings=settings,
            last=last,
            rows=rows,
            names=names,
            base=base,
            anchors=anchors,
            by_rating=by_rating,
        )
    )
    return Report(
        run=run,
        format=settings.format,
        opponents=settings.opponents.kind,
        seed=settings.seed,
        iteration=last.iteration,
        planned_iterations=settings.iterations,
        versions=run_versions(rows),
        settings=settings.model_dump(mode="json"),
        anchor_scores=found.anchor_scores,
        anchor_payoffs=found.anchor_payoffs,
        trained=found.trained,
        progress=found.progress,
        findings=(findings.exploiter_finding(exploits[-1], names),)
        if exploits
        else (*found.leading_findings, mixture, *found.findings),
        warnings=_warnings(last, names),
        exploits=tuple(exploits),
        policies=policies,
        payoffs=found.payoffs,
        embedding=found.embedding,
        pairs=analysis.pairs,
        intransitivity=Intransitivity(
            value=analysis.intransitivity,
            interval=analysis.intransitivity_interval,
            by_chance=analysis.intransitivity_by_chance,
        ),
        cost=cost_of_rows(rows, found.progress, len(policies)),
        iterations=tuple(shortened(rows)),
        replays=_kept(replays, len(policies), last.iteration),
    )


def shortened(rows: Sequence[IterationRow]) -> Iterable[IterationRow]:
    """Yield the rows; trainings older than ``NUM_DRAWN_ITERATIONS`` without curves, which their own reports have."""
    for row in rows:
        if row.iteration > rows[-1].iteration - NUM_DRAWN_ITERATIONS:
            yield row
        else:
            short = (training.model_copy(update={"curves": (), "evaluations": ()}) for training in row.training)
            yield row.model_copy(update={"training": tuple(short)})


def _kept(replays: Sequence[Replay], num_policies: int, iteration: int) -> tuple[Replay, ...]:
    """Return the battles that the report lists: of a large population, those of the newest iteration."""
    return tuple(replay for replay in replays if lists_all(num_policies) or replay.iteration == iteration)


def _warnings(last: IterationSources, names: Mapping[PolicyId, str]) -> tuple[str, ...]:
    """Return what limits the numbers, with policies by their display names."""
    warnings = list(last.analysis.warnings)
    widths = last.analysis.interval_widths
    if widths.largest_cell is not None and widths.largest > findings.ROUGH_WIDTH:
        one, other = widths.largest_cell
        warnings.append(
            f"payoffs are rough: the 95 % interval of {one!r} against {other!r} is {widths.largest:.2f} wide; more "
            "battles per pair (evaluate.battles_per_pair) make it narrower"
        )
    if not last.meta_strategy.unique:
        is_one = last.meta_strategy.meta_solver == "nash"
        chosen = "is the one with the largest entropy" if is_one else "follows from one of them"
        warnings.append(f"the payoffs have many equilibria; the mixture {chosen}")
    rollbacks = sum(result.rollbacks for result in last.trained)
    if rollbacks:
        warnings.append(
            f"training was unstable: the guard restored a checkpoint {rollbacks} times in the last iteration"
        )
    met = {policy: share for result in last.trained for policy, share in result.scripted_opponents.items()}
    if met:
        warnings.append(findings.scripted_opponents_warning(met))
    for policy, name in names.items():
        warnings = [warning.replace(repr(policy), name) for warning in warnings]
    return tuple(sentence(warning) for warning in warnings)
