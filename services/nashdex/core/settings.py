"""The settings of a run: one frozen model, every field with its unit and range, unknown keys refused.

Precedence: default < TOML file < environment (``NASHDEX_…``, ``__`` for nesting) < command line.
"""

import hashlib
import os
import tomllib
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict, SettingsError

from nashdex.core.documents import describe_problems
from nashdex.core.errors import ConfigurationError, DataError
from nashdex.core.ids import RunIdField

_ENV_PREFIX = "NASHDEX_"
_ENV_NESTING = "__"


Scripted = Literal["random", "max-power", "heuristic", "first-action"]
"""Policies that are programs. Tabular games have random and first-action, Showdown has all."""


_Share = Annotated[float, Field(ge=0, le=1)]


class _Section(BaseModel):
    # Built when first used: a section is, as part of the whole.
    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False, defer_build=True)


class PopulationSettings(_Section):
    """Who is in the population before the first iteration."""

    initial: tuple[Scripted, ...] = Field(
        default=("random", "max-power", "heuristic"),
        min_length=1,
        description="Scripted policies that the population begins with. They also anchor the ratings.",
    )

    @field_validator("initial")
    @classmethod
    def _names_differ(cls, initial: tuple[str, ...]) -> tuple[str, ...]:
        if len(set(initial)) != len(initial):
            raise ValueError("a policy is named twice")
        return initial


class NetworkSettings(_Section):
    """Sizes of the actor-critic network."""

    embedding_size: int = Field(32, ge=1, le=512, description="Values in the embedding of one category.")
    entity_size: int = Field(64, ge=4, le=4096, description="Values that stand for one Pokémon or other row.")
    hidden_size: int = Field(512, ge=8, le=8192, description="Width of the trunk.")
    num_hidden_layers: int = Field(2, ge=1, le=16, description="Layers of the trunk.")
    critic_size: int = Field(64, ge=1, le=8192, description="Width of the critic, a network of its own.")


class CollectSettings(_Section):
    """Collecting battles of the learner against the meta-strategy."""

    battles: int = Field(500, ge=1, le=10_000_000, description="Battles an iteration, over all shards.")
    shards: int = Field(2, ge=1, le=200, description="Processes or pods that share the battles.")
    gateways: int = Field(
        1, ge=0, le=64, description="Gateway processes a shard; 0 has a short trial choose, up to the cores there are."
    )
    concurrent_battles: int = Field(
        64, ge=0, le=4096, description="Battles under way at once in a shard; 0 has a short trial choose."
    )
    deadline_seconds: float = Field(300.0, gt=0, le=86_400, description="Longest wall time of one battle.")
    teacher: Scripted = Field(
        "heuristic", description="Scripted policy that the first iteration's policy is cloned from."
    )


class CloningSettings(_Section):
    """Behaviour cloning of the teacher for the first policy."""

    num_epochs: int = Field(6, ge=1, le=1000, description="Passes over the teacher's decisions.")
    minibatch_decisions: int = Field(256, ge=1, description="Decisions an optimiser step.")
    learning_rate: float = Field(2e-3, gt=0, le=1, description="Adam's step size.")
    validation_share: float = Field(0.1, gt=0, lt=1, description="Share of the battles held out.")
    critic_warmup_epochs: int = Field(2, ge=0, le=100, description="Further epochs, for the critic alone.")


ReferenceKind = Literal["none", "snapshot", "ema", "uniform", "league", "portfolio"]
"""What a policy in training is held to by a KL."""


class DampingSettings(_Section):
    """Overrides of the damping preset. A field that is not given keeps the preset's value.

    A schedule is s_k = initial · (1 + k/k₀)^(−power) at optimiser step k.
    """

    reference: ReferenceKind | None = Field(
        None,
        description="ρ, what the policy is held to: where the iteration began (snapshot), a moving average of the "
        "parameters (ema), uniform over the legal actions, the mixture of the opponents (league), or whichever of "
        "several is nearest (portfolio).",
    )
    beta_reference: float | None = Field(None, ge=0, description="Coefficient of KL(policy ‖ reference), at first.")
    beta_power: float | None = Field(None, ge=0, le=10, description="Power of its schedule; 0 for a constant.")
    beta_decay_updates: float | None = Field(None, gt=0, description="k₀ of its schedule, in optimiser steps.")
    beta_floor: float | None = Field(None, ge=0, description="It never falls below this.")
    beta_cap: float | None = Field(None, ge=0, description="It never rises above this.")
    beta_warmup_updates: int | None = Field(None, ge=0, description="Optimiser steps over which it grows from 0.")
    beta_target_nats: float | None = Field(
        None, ge=0, description="KL from the reference that a controller of it aims at; 0 for no controller."
    )
    ema_decay: float | None = Field(None, ge=0, lt=1, description="Share that the ema reference keeps a step.")
    beta_old: float | None = Field(None, ge=0, description="Coefficient of KL(policy ‖ behaviour policy).")
    entropy_coefficient: float | None = Field(None, ge=0, description="Coefficient of the entropy bonus, at first.")
    entropy_power: float | None = Field(None, ge=0, le=10, description="Power of its schedule; 0 for a constant.")
    entropy_decay_updates: float | None = Field(None, gt=0, description="k₀ of its schedule, in optimiser steps.")
    entropy_floor: float | None = Field(None, ge=0, description="It never falls below this.")
    learning_rate_power: float | None = Field(None, ge=0, le=10, description="Power of the step size's schedule.")
    learning_rate_decay_updates: float | None = Field(
        None, gt=0, description="k₀ of the step size's schedule, in optimiser steps."
    )
    learning_rate_target_nats: float | None = Field(
        None, ge=0, description="KL from the behaviour policy that a controller of the step size aims at; 0 for none."
    )
    clock: Literal["iteration", "run"] | None = Field(
        None, description="Whether schedules begin anew each iteration, or count the whole run's optimiser steps."
    )


class QLearningSettings(_Section):
    """Tabular Q-learning against the opponents' mixture, for games with a known tree."""

    battles: int = Field(500_000, ge=1, le=10**9, description="Simulated battles.")
    concurrent_battles: int = Field(1000, ge=1, le=1_000_000, description="Battles that step together.")
    exploration: float = Field(0.5, ge=0, le=1, description="ε at first: share of actions drawn uniformly.")
    final_exploration: float = Field(0.05, ge=0, le=1, description="ε at the end; linear in between.")
    step_size_power: float = Field(
        0.7, gt=0.5, le=1, description="ω of the step size n^(−ω) after n visits of a state and action."
    )


class TrainSettings(_Section):
    """Training the best response."""

    oracle: Literal["ppo", "exact", "q-learning"] = Field(
        "ppo", description="How a best response is found; exact and q-learning are for tabular games."
    )
    start: Literal["newest", "clone"] = Field(
        "newest",
        description="Whose weights PPO goes on from: the newest network, or always the first iteration's clone, which "
        "still tries everything. A newest network that has become nearly deterministic may not find another answer.",
    )
    preset: Literal["none", "s0-damped", "ppo-clip-kl", "kl-warmup", "adaptive-kl", "ema-magnet", "portfolio"] = Field(
        "ppo-clip-kl", description="Damping preset."
    )
    rounds: int = Field(
        1,
        ge=1,
        le=10_000,
        description="PPO rounds an iteration. The first learns from the collected battles; each further one plays "
        "battles of its own with the newest weights, in the training process.",
    )
    round_battles: int = Field(1000, ge=2, le=10_000_000, description="Battles of each further round.")
    seeds: int = Field(1, ge=1, le=64, description="Oracles trained an iteration, each from its own seed.")
    cloning: CloningSettings = CloningSettings()
    damping: DampingSettings = DampingSettings()
    q_learning: QLearningSettings = QLearningSettings()
    reward: Literal["win-loss", "shaped"] = Field("win-loss", description="Reward that the learner maximises.")
    num_epochs: int = Field(4, ge=1, le=1000, description="Passes over the collected decisions.")
    minibatch_decisions: int = Field(512, ge=1, description="Decisions an optimiser step.")
    learning_rate: float = Field(1e-4, gt=0, le=1, description="Adam's step size.")
    clip_range: float = Field(0.2, gt=0, le=1, description="PPO's ε.")
    discount: float = Field(1.0, gt=0, le=1, description="γ a decision; 1 suits the win/loss reward.")
    gae_lambda: float = Field(0.95, ge=0, le=1, description="λ of generalised advantage estimation.")
    value_coefficient: float = Field(0.5, ge=0, description="Weight of the critic's loss.")
    advantage_clip: float = Field(5.0, gt=0, description="Bound of a normalised advantage.")
    max_gradient_norm: float = Field(0.5, gt=0, description="Global norm that a gradient is scaled down to.")
    checkpoint_every_updates: int = Field(50, ge=1, description="Optimiser steps between checkpoints.")
    device: Literal["cpu", "cuda"] = Field("cpu", description="Where to train; never falls back by itself.")
    num_threads: int = Field(1, ge=1, le=256, description="CPU threads of the trainer.")


class EvaluateSettings(_Section):
    """The tournament that fills the payoff ledger."""

    battles_per_pair: int = Field(200, ge=2, le=1_000_000, description="Battles of each pair of policies, in all.")
    shards: int = Field(2, ge=1, le=200, description="Processes or pods that share the battles.")
    gateways: int = Field(1, ge=1, le=64, description="Gateway processes a shard.")
    concurrent_battles: int = Field(64, ge=1, le=4096, description="Battles under way at once in a shard.")
    deadline_seconds: float = Field(300.0, gt=0, le=86_400, description="Longest wall time of one battle.")
    schedule: Literal["uniform", "adaptive"] = Field(
        "uniform", description="adaptive: further battles go where they move the meta-strategy most."
    )
    first_battles: int = Field(
        50, ge=2, multiple_of=2, description="Battles of a new pair under the adaptive schedule."
    )
    adaptive_battles: int = Field(
        500, ge=0, multiple_of=2, description="Further battles an iteration under the adaptive schedule, at most."
    )
    replays_per_pair: int = Field(1, ge=0, le=100, description="Battles of each pair kept as replays.")


class GateSettings(_Section):
    """A test between train and evaluate that a new policy must pass to join the population."""

    test: Literal["none", "sprt"] = Field(
        "none",
        description="sprt: sequential test against the policy's parent. In a tabular game the exact payoff against it "
        "decides at once, and the settings below have no effect.",
    )
    elo0: float = Field(0.0, ge=-1000, le=1000, description="Elo gap of the hypothesis that the policy is no better.")
    elo1: float = Field(50.0, ge=-1000, le=1000, description="Elo gap of the hypothesis that it is better.")
    error_rate: float = Field(0.05, gt=0, lt=0.5, description="α and β: chance of each wrong decision.")
    max_battles: int = Field(
        2000, ge=2, le=1_000_000, multiple_of=2, description="After so many the policy is let through, undecided."
    )
    gateways: int = Field(1, ge=1, le=64, description="Gateway processes.")
    concurrent_battles: int = Field(64, ge=1, le=4096, description="Battles under way at once.")
    deadline_seconds: float = Field(300.0, gt=0, le=86_400, description="Longest wall time of one battle.")


class LeagueSettings(_Section):
    """Whom the learner meets in mode league: prioritised fictitious self-play over classes of opponents."""

    weighting: Literal["hard", "variance", "normal"] = Field("hard", description="PFSP weight of an opponent.")
    baseline: float = Field(0.05, ge=0, le=1, description="Share of the scripted policies.")
    itself: float = Field(0.30, ge=0, le=1, description="Share of the learner's newest self.")
    peer: float = Field(0.30, ge=0, le=1, description="Share of policies at most 100 Elo weaker, or stronger.")
    exploitable: float = Field(0.35, ge=0, le=1, description="Share of policies more than 50 Elo below.")
    final_shares: tuple[_Share, _Share, _Share, _Share] | None = Field(
        None, description="Shares of baseline, itself, peer and exploitable in the last iteration; linear in between."
    )


class SolveSettings(_Section):
    """Solving the empirical game."""

    meta_solver: Literal[
        "nash",
        "regret-matching",
        "prd",
        "alpha-rank",
        "uniform",
        "last",
        "last-k",
        "recency",
        "rectified-nash",
        "magnet",
    ] = Field("nash", description="Gives the meta-strategy.")
    alpha: float | None = Field(None, gt=0, description="Selection intensity of alpha-rank; by default swept.")
    population_size: int = Field(50, ge=2, le=10_000, description="Finite population of alpha-rank.")
    last_k: int = Field(5, ge=1, description="Newest policies that last-k plays.")
    recency_temperature: float = Field(1.0, gt=0, description="Of recency's softmax, in policies.")
    temperature: float = Field(0.1, gt=0, description="Weight of magnet's pull towards uniform, in payoff.")
    num_iterations: int = Field(
        100_000, ge=1, le=100_000_000, description="Of regret-matching, prd and magnet, at most."
    )
    unplayed: Literal["block", "bradley-terry", "interval"] = Field(
        "block", description="Payoff of a pair that has not played: refuse, predict from ratings, or assume the worst."
    )
    num_draws: int = Field(500, ge=100, le=100_000, description="Posterior draws behind every interval.")


class RunSettings(_Section):
    """A whole run. Stored with it as ``config.json``; a run refuses to go on under other settings."""

    run: RunIdField | None = Field(None, description="The run's id; by default made of the file's name and settings.")
    format: str = Field("gen1ou", description="Showdown format, or kuhn_poker, leduc_poker or matrix.")
    mode: Literal["psro", "self-play", "league"] = Field(
        "psro",
        description="Opponent rule: the meta-strategy (policy-space response oracles), the learner itself, a league.",
    )
    iterations: int = Field(5, ge=1, le=9999, description="Iterations of the loop, the cloning one included.")
    seed: int = Field(0, ge=0, lt=2**63, description="Root of every seed in the run.")
    teams: Path | None = Field(None, description="File of teams (export or packed); by default the format's own set.")
    matrix: Path | None = Field(None, description="File of payoffs, for format matrix (see `nashdex solve --help`).")
    population: PopulationSettings = PopulationSettings()
    network: NetworkSettings = NetworkSettings()
    collect: CollectSettings = CollectSettings()
    train: TrainSettings = TrainSettings()
    gate: GateSettings = GateSettings()
    league: LeagueSettings = LeagueSettings()
    evaluate: EvaluateSettings = EvaluateSettings()
    solve: SolveSettings = SolveSettings()

    @property
    def num_gates(self) -> int:
        """Shards of the gate step, one a trained policy; 0 where the run has no such step."""
        return 0 if self.gate.test == "none" else self.train.seeds

    def fingerprint(self) -> str:
        """Return 8 hex digits that change when any setting but the run's id does."""
        return hashlib.sha256(self.model_dump_json(exclude={"run"}).encode()).hexdigest()[:8]


class _SourcedSettings(RunSettings, BaseSettings):
    """The settings while they are gathered: only here is the environment read, never when a stored run is."""

    model_config = SettingsConfigDict(env_prefix=_ENV_PREFIX, env_nested_delimiter=_ENV_NESTING, frozen=True)

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Read the environment above what the constructor gets: that is the TOML file."""
        del settings_cls, dotenv_settings, file_secret_settings
        return env_settings, init_settings


def load_settings(path: Path, overrides: list[str] | None = None) -> RunSettings:
    """Resolve the settings of ``path`` with the environment and ``KEY=VALUE`` overrides above it.

    Raises:
        DataError: the file is missing or is no TOML.
        ConfigurationError: a key is unknown or a value does not fit.
    """
    try:
        values = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise DataError(f"{path}: cannot be read ({error.strerror}); expected a TOML file of settings") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise DataError(f"{path} is no TOML: {error}") from error
    _refuse_unknown_variables()
    try:
        merged = _SourcedSettings(**values).model_dump(mode="json")
        for override in overrides or ():
            _set(merged, override)
        return RunSettings.model_validate(merged)
    except ValidationError as error:
        raise ConfigurationError(f"{path}: {describe_problems(error)}") from error
    except SettingsError as error:
        raise ConfigurationError(
            f"environment: {error}; expected a JSON object, or {_ENV_PREFIX}SECTION__KEY"
        ) from error


def _refuse_unknown_variables() -> None:
    """Refuse a nested variable of an unknown section: it was meant as a setting and would have no effect."""
    for name in os.environ:
        section, nesting, _ = name.removeprefix(_ENV_PREFIX).lower().partition(_ENV_NESTING)
        if name.startswith(_ENV_PREFIX) and nesting and section not in RunSettings.model_fields:
            raise ConfigurationError(f"environment: {name} names no section of the settings; see nashdex config schema")


def _set(values: dict[str, Any], override: str) -> None:
    """Set ``a.b=value`` in nested ``values``; the value is TOML, or else a plain string."""
    key, equals, text = override.partition("=")
    if not equals or not key:
        raise ConfigurationError(f"--set {override!r}: expected KEY=VALUE, such as collect.battles=500")
    *parents, last = key.split(".")
    section = values
    for parent in parents:
        inner = section.setdefault(parent, {})
        if not isinstance(inner, dict):
            raise ConfigurationError(f"--set {override!r}: {parent!r} has no settings below it")
        section = inner
    try:
        section[last] = tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        section[last] = text


def differing_fields(one: RunSettings, other: RunSettings) -> list[str]:
    """Return ``key: value, was other value`` for each setting in which ``one`` differs from ``other``."""
    flat_one, flat_other = _flatten(one.model_dump(mode="json")), _flatten(other.model_dump(mode="json"))
    return [
        f"{key}: {flat_one.get(key)!r}, was {flat_other.get(key)!r}"
        for key in sorted(flat_one.keys() | flat_other.keys())
        if flat_one.get(key) != flat_other.get(key)
    ]


def _flatten(values: dict[str, Any], prefix: str = "") -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for key, value in values.items():
        if isinstance(value, dict):
            flat |= _flatten(value, f"{prefix}{key}.")
        else:
            flat[f"{prefix}{key}"] = value
    return flat
