"""The time that policies take to act, on the same decisions and in turn: a network, or an ensemble of several."""

import time
from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np
from pydantic import NonNegativeFloat, NonNegativeInt, PositiveFloat, PositiveInt

from nashdex.api.policies import load_policy
from nashdex.core.documents import Model
from nashdex.core.errors import ConfigurationError
from nashdex.core.stopping import check_stop
from nashdex_play.envs.vector import BattleVectorEnv

_TURNS_PLAYED: Final = 12
"""Random decisions before the measured one, so that battles differ."""
_WARM_UP: Final = 10


class ActingSpeed(Model):
    """One policy."""

    policy: str
    cpu_microseconds: PositiveFloat
    """Median CPU time of a decision."""
    ratio: PositiveFloat
    """To the first policy: the median over repetitions, each measured in turn."""
    ratio_low: PositiveFloat
    """The 10 % quantile of the repetitions."""
    ratio_high: NonNegativeFloat
    """The 90 % quantile."""


class ActingBench(Model):
    """All policies, on one batch of decisions."""

    format: str
    batch: PositiveInt
    repetitions: PositiveInt
    seed: NonNegativeInt
    policies: tuple[ActingSpeed, ...]


def bench_acting(names: Sequence[str], *, batch: int = 64, repetitions: int = 100, seed: int = 0) -> ActingBench:
    """Let each policy answer the same ``batch`` decisions, ``repetitions`` times in turn.

    Raises:
        ConfigurationError: there is no such policy, or two play different formats.
        DataError: a policy is missing or altered.
    """
    policies = [load_policy(name) for name in names]
    formats = {policy.space.format: name for policy, name in zip(policies, names, strict=True)}
    if len(formats) > 1:
        raise ConfigurationError(
            f"the policies play {' and '.join(formats)}: expected one format, so that they answer the same decisions"
        )
    format_id = next(iter(formats))
    generator = np.random.default_rng(seed)
    env = BattleVectorEnv(batch, format_id, "random", num_gateways=1)
    try:
        observations, _ = env.reset(seed=seed)
        for _ in range(_TURNS_PLAYED):
            masks = env.action_masks()
            observations, *_ = env.step((generator.random(masks.shape) * masks).argmax(axis=1))
        masks = env.action_masks().copy()
    finally:
        env.close()
    batches = [policy.batch(batch, seed) for policy in policies]
    seconds = np.zeros((repetitions + _WARM_UP, len(batches)))
    for repetition in seconds:
        check_stop()
        for place, playing in enumerate(batches):
            began = time.process_time()
            playing.act(observations, masks)
            repetition[place] = time.process_time() - began
    seconds = seconds[_WARM_UP:]
    ratios = seconds / seconds[:, :1]
    return ActingBench(
        format=format_id,
        batch=batch,
        repetitions=repetitions,
        seed=seed,
        policies=tuple(
            ActingSpeed(
                policy=name,
                cpu_microseconds=1e6 * float(np.median(seconds[:, place])) / batch,
                ratio=float(np.median(ratios[:, place])),
                ratio_low=float(np.quantile(ratios[:, place], 0.1)),
                ratio_high=float(np.quantile(ratios[:, place], 0.9)),
            )
            for place, name in enumerate(names)
        ),
    )


def lines(bench: ActingBench) -> Iterator[str]:
    """Yield the table as text."""
    yield f"{bench.format}, {bench.batch} decisions at once, {bench.repetitions} times in turn"
    yield f"{'µs/decision':>12} {'ratio':>6}  {'10 to 90 %':12} policy"
    for each in bench.policies:
        middle = f"{each.ratio_low:.2f} to {each.ratio_high:.2f}"
        yield f"{each.cpu_microseconds:12.1f} {each.ratio:6.2f}  {middle:12} {each.policy}"
