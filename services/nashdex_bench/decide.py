"""``nashdex decide`` measured without HTTP: one question at a time, and batches of them."""

import time
from collections.abc import Iterator
from itertools import islice
from typing import Any, Final

import numpy as np
import psutil
from pydantic import NonNegativeInt, PositiveFloat, PositiveInt

from nashdex.core.documents import Model
from nashdex.core.errors import DataError
from nashdex.core.seeds import derive_seed
from nashdex.core.stopping import check_stop
from nashdex.games.interface import BattleSpec, RunningBattle
from nashdex.games.registry import showdown_game
from nashdex_bench.process_tree import cpu_seconds_of_tree
from nashdex_play.decide.deciding import Adviser, open_adviser
from nashdex_play.decide.documents import Question, RefusedError

Ask = dict[str, Any]
"""A question of ``nashdex decide``."""


def asked(format_id: str, seed: int, *, team: str | None = None) -> Iterator[Ask]:
    """Yield the question of every decision of one battle, as the seat had seen it by then."""
    arena = showdown_game(format_id).open_arena(num_gateways=1)
    generator = np.random.default_rng(seed)
    logs: tuple[list[str], list[str]] = ([], [])
    try:
        seeds = (derive_seed(seed, 0), derive_seed(seed, 1))
        spec = BattleSpec(seed=seed, teams=(team, team), team_seeds=seeds)
        arena.start([RunningBattle(0, spec, lines=(True, True))])
        is_over = False
        while not is_over:
            events = arena.poll()
            is_over = bool(events.outcomes or events.failures)
            for decisions in events.decisions:
                actions = np.array([generator.choice(decisions.legal[row]) for row in range(len(decisions))])
                for (_, seat), seen in decisions.lines.items():
                    logs[seat].extend(seen.lines)
                    yield {"log": list(logs[seat]), "seat": f"p{seat + 1}", "request": seen.request}
                arena.act(decisions.battle, decisions.seat, actions.astype(np.int64))
    finally:
        arena.close()


_WARM_UP: Final = 10
"""Questions before the first measurement."""


class DecideBench(Model):
    """How long decisions take. CPU time is of this process and the gateway together."""

    policy: str
    format: str
    questions: PositiveInt
    seed: NonNegativeInt
    p50_milliseconds: PositiveFloat
    """Time of a question asked alone: the median."""
    p99_milliseconds: PositiveFloat
    alone_cpu_milliseconds: PositiveFloat
    """CPU time of a question asked alone: the mean."""
    batch: PositiveInt
    """Questions of a batch."""
    batched_per_second: PositiveFloat
    batched_cpu_milliseconds: PositiveFloat
    """CPU time of a question in a batch: the mean."""


def bench_decide(
    policy: str, format_id: str | None = None, *, questions: int = 200, batch: int = 64, seed: int = 0
) -> DecideBench:
    """Ask for ``questions`` decisions of battles between random players, one after another and then in batches.

    Raises:
        ConfigurationError: there is no such policy, or the format is not Showdown's, or Node is missing.
        DataError: the policy does not answer one of them.
    """
    adviser = open_adviser(policy, format_id, seed=seed)
    try:
        every = [Question.model_validate(ask) for ask in islice(_asks(adviser.format, seed), questions)]
        _decide(adviser, every[:_WARM_UP])
        seconds, alone_cpu = [], cpu_seconds_of_tree(psutil.Process())
        for question in every:
            began = time.perf_counter()
            _decide(adviser, [question])
            seconds.append(time.perf_counter() - began)
        alone_cpu = cpu_seconds_of_tree(psutil.Process()) - alone_cpu

        batched_cpu, began = cpu_seconds_of_tree(psutil.Process()), time.perf_counter()
        for start in range(0, len(every), batch):
            _decide(adviser, every[start : start + batch])
        batched_seconds = time.perf_counter() - began
        batched_cpu = cpu_seconds_of_tree(psutil.Process()) - batched_cpu
        format_id = adviser.format
    finally:
        adviser.close()
    return DecideBench(
        policy=policy,
        format=format_id,
        questions=len(every),
        seed=seed,
        p50_milliseconds=1e3 * float(np.quantile(seconds, 0.5)),
        p99_milliseconds=1e3 * float(np.quantile(seconds, 0.99)),
        alone_cpu_milliseconds=1e3 * alone_cpu / len(every),
        batch=batch,
        batched_per_second=len(every) / batched_seconds,
        batched_cpu_milliseconds=1e3 * batched_cpu / len(every),
    )


def lines(result: DecideBench) -> Iterator[str]:
    """Yield the result as text."""
    yield (
        f"{result.policy} on {result.format}, {result.questions:,} questions one after another: median "
        f"{result.p50_milliseconds:.1f} ms, 99 % within {result.p99_milliseconds:.1f} ms; "
        f"{result.alone_cpu_milliseconds:.1f} ms of CPU each"
    )
    yield (
        f"in batches of {result.batch}: {result.batched_per_second:,.0f} decisions a second, "
        f"{result.batched_cpu_milliseconds:.1f} ms of CPU each"
    )


def _asks(format_id: str, seed: int) -> Iterator[Ask]:
    """Yield the questions of one battle after another, without end."""
    while True:
        yield from asked(format_id, seed)
        seed += 1


def _decide(adviser: Adviser, questions: list[Question]) -> None:
    check_stop()
    for answer in adviser.decide(questions):
        if isinstance(answer, RefusedError):
            raise DataError(f"a question of the benchmark has no answer: {answer}")
