"""Checks an iteration's battles in a bucket: none missing, none counted twice."""

from math import comb

from nashdex.core import keys
from nashdex.core.ids import BarePolicyId, PolicyId
from nashdex.core.journal import JOURNAL, Journal
from nashdex.core.results import COLLECT_RESULT, CollectResult
from nashdex.core.steps import StepName
from nashdex.metagame.evidence.ledger import LEDGER, decode
from nashdex.metagame.evidence.sampled import SampledCounts
from nashdex.metagame.population import Population
from nashdex.planning.dag import iteration_steps, num_shards
from nashdex.runs.creation import Run
from nashdex.settings.ppo import PpoSettings
from nashdex.store.attempt import find_manifest, read_manifest
from nashdex.store.documents import read_decoded, read_from_shards, read_published, read_written


def assert_exact(run: Run, iteration: int) -> None:
    """Check the counts of every shard and cell of an iteration that has a new policy."""
    settings = run.settings
    collected = read_from_shards(
        run.store, iteration, StepName.COLLECT, settings.collect.shards, COLLECT_RESULT, CollectResult
    )
    planned = 0  # later trainings play their own
    if iteration == 0:  # of the battles' space alone, one a shard tells enough
        planned = settings.collect.shards if settings.train.first.kind == "fresh" else settings.collect.battles
    assert sum(result.battles for result in collected) == planned
    assert sum(o.wins + o.draws + o.losses for result in collected for o in result.opponents) >= planned

    old = len(settings.population.initial) + iteration
    new_pairs = comb(old + 1, 2) - (comb(old, 2) if iteration else 0)
    battles = [
        record.planned
        for shard in range(settings.evaluate.shards)
        for record in read_decoded(
            run.store, read_manifest(run.store, iteration, StepName.EVALUATE, shard), LEDGER, decode
        ).battles
    ]
    assert len(battles) == len(set(battles)) == new_pairs * settings.evaluate.battles_per_pair

    matrix = read_published(run.store, iteration, keys.INTERACTION_MATRIX, SampledCounts)
    size, each = old + 1, settings.evaluate.battles_per_pair
    assert matrix.games == tuple(tuple(each * (i != j) for j in range(size)) for i in range(size))


def journal_of(run: Run, iteration: int) -> Journal:
    """Return what a training with actors learned from."""
    manifest = read_manifest(run.store, iteration, StepName.TRAIN, 0)
    return read_written(run.store, manifest, JOURNAL, Journal)


def assert_journal_adds_up(run: Run, iteration: int) -> None:
    """Check that each round is in the journal once, with all its battles, and that its decisions are the training's."""
    journal = journal_of(run, iteration)
    oracle = run.settings.train.oracle
    assert isinstance(oracle, PpoSettings)
    assert [entry.round for entry in journal.entries] == list(range(len(journal.entries)))
    chunks = -(-oracle.round_battles // run.settings.actors.chunk_battles)
    for entry in journal.entries:
        assert (entry.battles, entry.num_chunks) == (oracle.round_battles, chunks)
    assert set().union(*(entry.chunks_by_actor for entry in journal.entries)) == set(range(run.settings.actors.shards))
    trained = read_manifest(run.store, iteration, StepName.TRAIN, 0)
    assert trained.counts["decisions"] == journal.learned_decisions


def weights_of(run: Run, iteration: int) -> bytes:
    """Return the weights of an iteration's policy."""
    return run.store.get(keys.policy_weights(BarePolicyId(newest_policy(run, iteration))))


def newest_policy(run: Run, iteration: int) -> PolicyId:
    """Return the policy that an iteration added."""
    population = read_published(run.store, iteration, keys.POPULATION, Population)
    (policy,) = (entry.id for entry in population.policies if entry.iteration == iteration)
    return policy


def manifests(run: Run, iteration: int) -> dict[str, bytes]:
    """Return every manifest of an iteration, as it is stored."""
    places = [
        keys.manifest(iteration, step.name, shard)
        for step in iteration_steps(run.settings)
        for shard in range(num_shards(run.settings, step.name))
    ]
    return {place: run.store.get(place) for place in places}


def num_done(run: Run, iteration: int) -> int:
    """Return the number of finished shards of an iteration."""
    shards = [
        (step.name, shard)
        for step in iteration_steps(run.settings)
        for shard in range(num_shards(run.settings, step.name))
    ]
    return sum(find_manifest(run.store, iteration, step, shard) is not None for step, shard in shards)


def longest_chain_seconds(run: Run, iteration: int) -> float:
    """Return the wall time of an iteration's steps, each by its slowest shard: the lower bound of the iteration."""
    return sum(
        max(
            read_manifest(run.store, iteration, step.name, shard).seconds
            for shard in range(num_shards(run.settings, step.name))
        )
        for step in iteration_steps(run.settings)
    )
