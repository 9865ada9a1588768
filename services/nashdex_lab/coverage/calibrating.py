"""``nashdex calibrate``: the coverage of every interval of a run, or of a file of counts, at its own design."""

import multiprocessing
import os
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from functools import partial
from multiprocessing import resource_tracker
from pathlib import Path

import numpy as np

from nashdex.core import keys
from nashdex.core.errors import DataError, TryAgainError
from nashdex.core.ids import PolicyId
from nashdex.core.seeds import derive_seed
from nashdex.core.steps import StepName
from nashdex.core.stopping import blocking_interrupts, check_stop
from nashdex.core.user_input import read_file
from nashdex.metagame.analysis.documents import MetaGameAnalysis
from nashdex.metagame.calibration.documents import Calibration, warnings_of
from nashdex.metagame.evidence.estimates import EVEN, Floats, centred
from nashdex.metagame.evidence.matrix import InteractionMatrix
from nashdex.metagame.evidence.pairs import pair_statistics
from nashdex.metagame.evidence.sampled import SampledCounts
from nashdex.metagame.evidence.tally import Tally
from nashdex.metagame.opponents.registry import OPPONENT_RULES
from nashdex.metagame.plan import IterationPlan
from nashdex.metagame.population import Population
from nashdex.metagame.ratings.bradley_terry import expected_scores_of
from nashdex.metagame.ratings.table import ELO_PER_STRENGTH, rate
from nashdex.oracles.registry import ORACLES
from nashdex.settings.solve import NashSettings, SolveSettings
from nashdex.solver.matrix_file import counts_in
from nashdex.store.attempt import newest_manifest, read_manifest
from nashdex.store.documents import read_published, read_written
from nashdex.store.protocol import ObjectStore
from nashdex_lab.coverage.simulating import Design, Held, Truth, held, summarised

_SETS_A_TASK = 5
_PRIOR_GAMES = 1.0
"""Half a win and half a loss: no true score is 0 or 1."""


def design_of_run(store: ObjectStore, solve: SolveSettings) -> tuple[Design, int]:
    """Return the design of a run's newest solved iteration, and the iteration. Its true scores are the measured ones.

    Raises:
        DataError: no iteration is solved, its documents were altered, or payoffs are exact: nothing is estimated.
    """
    newest = newest_manifest(store, StepName.SOLVE)
    if newest is None:
        raise DataError(f"{store.uri} holds no run with a solved iteration; run `nashdex run` first")
    solved = read_manifest(store, newest.iteration, StepName.SOLVE, 0)
    matrix = read_written(store, solved, keys.INTERACTION_MATRIX, InteractionMatrix)
    if not isinstance(matrix, SampledCounts):
        raise DataError(f"{store.uri}: the run's payoffs are exact; there are no intervals to calibrate")
    population = read_written(store, solved, keys.POPULATION, Population)
    analysis = read_written(store, solved, keys.META_GAME_ANALYSIS, MetaGameAnalysis)
    plan = read_published(store, newest.iteration, keys.PLAN, IterationPlan)
    before = set(plan.population.ids)
    answers = ORACLES[plan.oracle].answers_opponents and (
        OPPONENT_RULES[plan.rule].answers_meta_strategy or plan.iteration == 0
    )
    networks = [entry.id for entry in population.policies if entry.kind == "network" and not entry.is_anchor]
    trained = tuple(entry.id for entry in population.policies if not entry.is_anchor)
    base = networks[0] if networks else None
    elo = np.array([analysis.ratings[policy].elo for policy in matrix.policies])
    design = _design(
        matrix.policies,
        matrix.tally,
        expected_scores_of(elo / ELO_PER_STRENGTH),
        meta_solver=solve.meta_solver,
        unplayed=solve.unplayed,
        num_draws=solve.num_draws,
        anchors=analysis.anchors,
        opponents=plan.answered,
        candidates=tuple(policy for policy in population.ids if policy not in before) if answers else (),
        base=base,
        trained=tuple(policy for policy in trained if policy != base),
        scripted=tuple(entry.id for entry in population.policies if entry.is_anchor),
    )
    return design, newest.iteration


def design_of_counts(path: Path) -> Design:
    """Return the design of a file of counts, solved by ``nash`` and rated without an anchor.

    Raises:
        DataError: the file is missing, or holds no counts, or wrong or incomplete ones.
    """
    counts = counts_in(read_file(path, "a JSON file with a matrix"), str(path))
    table = rate(counts.policies, counts.tally, anchors={}, num_draws=100, seed=0)
    elo = np.array([table.ratings[policy].elo for policy in counts.policies])
    # Names of other projects are no ids, and no number of a calibration depends on them.
    policies = tuple(PolicyId(f"p{place}") for place in range(len(counts.policies)))
    return _design(
        policies,
        counts.tally,
        expected_scores_of(elo / ELO_PER_STRENGTH),
        meta_solver=NashSettings(),
        unplayed="bradley-terry",
        scripted=policies,
    )


def _design(policies: tuple[PolicyId, ...], tally: Tally, predicted: Floats, **more: object) -> Design:
    """Return a design with the battles of ``tally``: true scores are those measured, or predicted where unplayed."""
    measured = (tally.scores + _PRIOR_GAMES / 2) / (tally.games + _PRIOR_GAMES)
    scores = EVEN + centred(np.where(tally.games > 0, measured, predicted))
    found = pair_statistics(tally).correlation
    played = np.triu(tally.games, 1)
    even = float((played * 4 * scores * (1 - scores)).sum())
    return Design(
        policies=policies,
        scores=scores,
        pairs=tally.pairs,
        single_battles=tally.games - 2 * tally.pairs,
        correlation=found.value if found is not None else 0.0,
        draw_share=min(1.0, float(np.triu(tally.draws, 1).sum()) / even) if even else 0.0,
        **more,  # type: ignore[arg-type]  # the fields that both callers name
    )


def calibrate(
    design: Design, *, num_sets: int, seed: int, processes: int, on_set: Callable[[], None] = lambda: None
) -> Calibration:
    """Return the coverage of every interval over ``num_sets`` simulated tournaments.

    The result follows from the design and the seed; the number of processes does not change it.

    Raises:
        TryAgainError: a process was ended from outside.
        StoppedError: this one was asked to stop.
    """
    began = time.monotonic()
    found: list[Held] = []
    for each in _all_held(design, num_sets, seed, min(processes, num_sets)):
        found.append(each)
        on_set()
    numbers = summarised(found)
    battles = int((2 * np.triu(design.pairs, 1) + np.triu(design.single_battles, 1)).sum())
    return Calibration(
        policies=len(design.policies),
        battles=battles,
        correlation=design.true_correlation(),
        seed=seed,
        seconds=time.monotonic() - began,
        numbers=numbers,
        warnings=warnings_of(numbers),
    )


def _all_held(design: Design, num_sets: int, seed: int, processes: int) -> Iterator[Held]:
    one = partial(held, design, Truth.of(design))
    seeds = [derive_seed(seed, "calibrate", number) for number in range(num_sets)]
    if processes == 1:
        yield from map(one, seeds)
        return
    # One thread each: the matrices are small, and the processes share the cores.
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    pool = ProcessPoolExecutor(processes, mp_context=multiprocessing.get_context("spawn"))
    try:
        for task in _in_order(pool, partial(_each, one), seeds, most_waiting=2 * processes):
            yield from task
    except BrokenProcessPool as error:
        check_stop()  # a signal to the whole group ended them too
        raise TryAgainError(
            "a process that simulates was ended by a signal, perhaps for want of memory; run the same command again, "
            "with fewer --processes"
        ) from error
    finally:
        pool.shutdown(cancel_futures=True)


def _in_order(
    pool: ProcessPoolExecutor, work: Callable[[Sequence[int]], list[Held]], seeds: Sequence[int], *, most_waiting: int
) -> Iterator[list[Held]]:
    """Yield what ``work`` makes of each task's seeds, in their order.

    Only a few tasks wait at a time, and none is cancelled from here: where a process has ended, the pool's own thread
    fails at a task that is added or cancelled meanwhile.
    """
    waiting: deque[Future[list[Held]]] = deque()
    for first in range(0, len(seeds), _SETS_A_TASK):
        with _shielding_children():  # the first ones start them
            waiting.append(pool.submit(work, seeds[first : first + _SETS_A_TASK]))
        if len(waiting) == most_waiting:
            yield waiting.popleft().result()
    while waiting:
        yield waiting.popleft().result()


def _each(one: Callable[[int], Held], seeds: Sequence[int]) -> list[Held]:
    return list(map(one, seeds))


@contextmanager
def _shielding_children() -> Iterator[None]:
    """Block SIGINT, as ``blocking_interrupts``, while multiprocessing starts children."""
    resource_tracker.ensure_running()  # where the child's start does it, it ends with SIGINT unblocked
    with blocking_interrupts():
        yield
