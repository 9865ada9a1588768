"""Settings that were renamed: an old key is refused with the name of the new one."""

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any

from nashdex.core.errors import ConfigurationError

_PPO = (
    "start",
    "round_battles",
    "num_epochs",
    "minibatch_decisions",
    "learning_rate",
    "clip_range",
    "advantage_clip",
    "max_gradient_norm",
)
_DAMPING = {
    "reference": "reference",
    "beta_reference": "beta.initial",
    "beta_power": "beta.power",
    "beta_decay_updates": "beta.decay_decisions, in decisions instead of optimiser steps",
    "beta_floor": "beta.floor",
    "beta_cap": "beta.cap",
    "beta_warmup_updates": "beta.warmup_updates",
    "beta_target_nats": "beta.controller.target_nats",
    "ema_decay": "ema_decay",
    "beta_old": "beta_behaviour",
    "entropy_coefficient": "entropy.initial",
    "entropy_power": "entropy.power",
    "entropy_decay_updates": "entropy.decay_decisions, in decisions instead of optimiser steps",
    "entropy_floor": "entropy.floor",
    "learning_rate_power": "step_size.power",
    "learning_rate_decay_updates": "step_size.decay_decisions, in decisions instead of optimiser steps",
    "learning_rate_target_nats": "step_size.controller.target_nats",
    "clock": "clock",
}
_CLONE = ("num_epochs", "minibatch_decisions", "learning_rate", "validation_share", "critic_warmup_epochs")
_Q_LEARNING = ("battles", "concurrent_battles", "exploration", "final_exploration", "step_size_power")
_LEAGUE = ("weighting", "baseline", "itself", "peer", "exploitable", "final_shares")

RENAMED: MappingProxyType[str, str] = MappingProxyType(
    {
        "mode": "opponents, with 'meta-strategy' for 'psro'",
        **{f"league.{key}": f"opponents.{key}, below opponents.kind = 'league'" for key in _LEAGUE},
        **{f"train.{key}": f"train.oracle.{key}" for key in _PPO},
        **{
            f"{place}.{key}": new
            for place in ("train", "train.oracle")
            for key, new in {
                "gae_lambda": "train.oracle.advantages.lam, below train.oracle.advantages.kind = 'gae'",
                "rounds": "train.oracle.decisions, the length of a training in decisions",
                "value_coefficient": "train.oracle.critic_learning_rate, since actor and critic share no weights",
            }.items()
        },
        **{
            f"train.oracle.damping.{part}.decay_updates": (
                f"train.oracle.damping.{part}.decay_decisions, in decisions instead of optimiser steps"
            )
            for part in ("beta", "entropy", "step_size")
        },
        "train.oracle.pool.sampling": "train.oracle.pool.prioritised_share, where 1 is 'prioritised'",
        "train.preset": "train.oracle.damping.preset",
        **{f"train.damping.{old}": f"train.oracle.damping.{new}" for old, new in _DAMPING.items()},
        **{f"train.cloning.{key}": f"train.first.{key}" for key in _CLONE},
        **{
            f"train.q_learning.{key}": f"train.oracle.{key}, below train.oracle.kind = 'q-learning'"
            for key in _Q_LEARNING
        },
        "solve.alpha": "solve.meta_solver.alpha, with solve.meta_solver.kind = 'alpha-rank'",
        "solve.population_size": "solve.meta_solver.population_size, with solve.meta_solver.kind = 'alpha-rank'",
        "solve.last_k": "solve.meta_solver.num_policies, with solve.meta_solver.kind = 'last-k'",
        "solve.recency_temperature": "solve.meta_solver.temperature, with solve.meta_solver.kind = 'recency'",
        "solve.temperature": "solve.meta_solver.temperature, with solve.meta_solver.kind = 'magnet'",
        "solve.num_iterations": "solve.meta_solver.num_iterations, in the section of the meta-solver",
    }
)
"""New key by old key, both dotted, such as ``train.learning_rate``."""


def refuse_renamed(values: Mapping[str, Any], source: str) -> None:
    """Check that no key of nested ``values`` is an old one.

    Raises:
        ConfigurationError: one is; names the new key.
    """
    for key in _dotted(values):
        if new := RENAMED.get(key):
            raise ConfigurationError(f"{source}: {key} is now {new}; rename it")


def _dotted(values: Mapping[str, Any], prefix: str = "") -> Iterator[str]:
    """Yield each key of nested ``values``, those of sections included."""
    for key, value in values.items():
        yield f"{prefix}{key}"
        if isinstance(value, Mapping):
            yield from _dotted(value, f"{prefix}{key}.")
