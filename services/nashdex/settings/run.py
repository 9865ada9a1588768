"""A whole run: every section of the settings. The larger ones have modules of their own."""

import hashlib
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Final, Literal

from pydantic import Field, NonNegativeFloat, field_validator

from nashdex.core.ids import SAMPLED, RunIdField
from nashdex.core.keys import MAX_ITERATIONS
from nashdex.core.section import Needs, Section
from nashdex.settings.networks import NetworkChoice, SlotsSettings
from nashdex.settings.opponents import MetaStrategySettings, OpponentsChoice
from nashdex.settings.population import PolicyName, PopulationSettings, stored_policy
from nashdex.settings.solve import SolveSettings
from nashdex.settings.train import TrainSettings

FORMAT_ALIASES: Final = {
    "gen9vgc2023regulationc": "gen9vgc2023regc",
    "gen9vgc2025regg": "gen9vgc2024regg",
    "gen9vgc2025reggbo3": "gen9vgc2024reggbo3",
}
"""EliteFurretAI and older releases of poke-env have the regulation's long name. Regulation G was played in two years,
and the simulator has it under the first."""


class ActorSettings(Section):
    """Processes that play a training's battles with its newest weights."""

    shards: int = Field(
        1,
        ge=0,
        le=1000,
        description="Actor processes or pods, beside the trainers; 0: each trainer plays its own battles and needs a "
        "gateway. The trainer itself always plays games without gateways.",
    )
    chunk_battles: Annotated[int, Needs("shards")] = Field(
        100,
        ge=2,
        le=1_000_000,
        multiple_of=2,
        description="Battles of a chunk, which an actor plays and stores at a time.",
    )
    patience_seconds: Annotated[float, Needs("shards")] = Field(
        3600.0,
        gt=0,
        le=604_800,
        description="Longest time that learner and actors wait for each other; then they give up, and a retry goes on.",
    )
    keep_chunks: Annotated[bool, Needs("shards")] = Field(
        False,
        description="Whether to keep the chunks and the journal of a training, for replaying it. They take about "
        "as much space as all its decisions.",
    )


class ArenaSettings(Section):
    """How each process of a run plays its battles: collectors, actors, trainers, the tournament and gates.

    None of these values changes what is played: a battle's seeds and every draw follow from the run's seed.
    """

    gateways: int = Field(1, ge=0, le=64, description="Gateway processes; 0: collectors choose by a short benchmark.")
    concurrent_battles: int = Field(
        64, ge=0, le=4096, description="Battles that a process runs at once; 0: collectors choose by a short benchmark."
    )
    deadline_seconds: float = Field(300.0, ge=1, le=86_400, description="Longest wall time of one battle.")


class CollectSettings(Section):
    """Battles to learn from before training: the teacher's, for the first network. PPO plays its own battles."""

    battles: int = Field(
        500, ge=1, le=10_000_000, description="Battles of an iteration that learns from them, over all shards."
    )
    shards: int = Field(2, ge=1, le=200, description="Processes or pods that share the battles.")
    device: Literal["cpu", "cuda"] = Field(
        "cpu",
        description="Where networks choose their actions in battles of collectors and actors; there is no fallback. "
        "For large networks without a memory of the battle.",
    )
    teacher: PolicyName = Field(
        "heuristic",
        description="Policy that the first iteration's policy is cloned from: scripted, STORE#ID or zoo:NAME. The run "
        "copies it when it begins.",
    )

    @field_validator("teacher")
    @classmethod
    def _teaches_its_distribution(cls, teacher: str) -> str:
        stored = stored_policy(teacher)
        if stored is not None and stored.temperature != SAMPLED:
            raise ValueError(f"{teacher!r}: a teacher plays its own distribution; leave the suffix out")
        return teacher

    @property
    def num_gpus(self) -> int:
        """The number of GPUs that a collector or actor holds."""
        return 1 if self.device == "cuda" else 0


class TeamStage(Section):
    """The teams of training battles from one iteration on."""

    from_iteration: int = Field(ge=0, description="The first iteration whose training battles draw from these sets.")
    sets: dict[str, NonNegativeFloat] = Field(
        description="Weight of each team set, by name, or by file as for `teams`. A set is drawn in proportion to its "
        "weight, then one of its teams uniformly."
    )


def check_schedule(stages: Sequence[TeamStage]) -> None:
    """Check that ``stages`` follow each other from iteration 0 on, and that each draws from a set.

    Raises:
        ValueError: they do not; names the stage and the expected value.
    """
    if stages and stages[0].from_iteration != 0:
        raise ValueError(
            f"the first stage begins at iteration {stages[0].from_iteration}; expected from_iteration = 0, so that "
            "every iteration has teams"
        )
    for earlier, later in pairwise(stages):
        if later.from_iteration <= earlier.from_iteration:
            raise ValueError(
                f"a stage from iteration {later.from_iteration} follows one from iteration {earlier.from_iteration}; "
                "expected from_iteration to increase from stage to stage"
            )
    for stage in stages:
        if not any(stage.sets.values()):
            raise ValueError(
                f"the stage from iteration {stage.from_iteration} has no set with a weight above 0; expected one such "
                "as { own = 1 }"
            )


class EvaluateSettings(Section):
    """The tournament that fills the payoff ledger."""

    battles_per_pair: int = Field(200, ge=2, le=1_000_000, description="Battles of each pair of policies, in all.")
    shards: int = Field(2, ge=1, le=200, description="Processes or pods that share the battles.")
    adaptive_battles: int = Field(
        0,
        ge=0,
        multiple_of=2,
        description="Adaptive schedule: further battles an iteration, at most, for the pairs with the largest effect "
        "on the meta-strategy. 0: the uniform schedule, all battles of each pair.",
    )
    first_battles: Annotated[int, Needs("adaptive_battles")] = Field(
        50, ge=2, multiple_of=2, description="Battles of a new pair under the adaptive schedule."
    )
    num_opponents: int = Field(
        0,
        ge=0,
        description="Sparse matchmaking for large populations: members that a new policy plays, at most; those that "
        "decide. As many cells that were left out are played later, where the mixture plays their policies. The "
        "payoffs of the others are imputed, so this needs another `solve.unplayed` than block. 0: all members.",
    )
    replays_per_pair: int = Field(1, ge=0, le=100, description="Battles of each pair kept as replays.")


class GateSettings(Section):
    """A test between train and evaluate that a new policy must pass to join the population."""

    test: Literal["none", "sprt"] = Field(
        "none",
        description="sprt: sequential test against the policy's parent, of no gain against `elo` points, with an error "
        "rate of 0.05 on either side. In a tabular game the exact payoff against the parent decides at once.",
    )
    elo: Annotated[float, Needs("test", "sprt")] = Field(
        50.0, gt=0, le=1000, description="Elo gap of the hypothesis that the policy is better."
    )
    max_battles: Annotated[int, Needs("test", "sprt")] = Field(
        2000, ge=2, le=1_000_000, multiple_of=2, description="Battles after which an undecided test accepts the policy."
    )


class RunSettings(Section):
    """A whole run. Stored with it as ``config.json``; a run refuses to go on under other settings."""

    run: RunIdField | None = Field(
        None, description="The run's id; by default the file's name and a hash of the settings."
    )
    format: str = Field("gen1ou", description="Showdown format, or kuhn_poker, leduc_poker or matrix.")
    opponents: OpponentsChoice = Field(
        default_factory=MetaStrategySettings,
        description="Opponent rule: the meta-strategy (PSRO), the learner itself, a league.",
    )
    iterations: int = Field(5, ge=1, le=MAX_ITERATIONS, description="Iterations of the loop, the cloning one included.")
    seed: int = Field(0, ge=0, lt=2**63, description="Root of every seed in the run.")
    teams: Path | None = Field(
        None,
        description="File of teams (export or packed), or the name of a team set; by default the format's own set.",
    )
    team_schedule: tuple[TeamStage, ...] = Field(
        (),
        description="Team sets of training battles by iteration, such as `[{ from_iteration = 0, sets = { own = 1 } }, "
        "{ from_iteration = 3, sets = { own = 1, mine = 2 } }]`; by default `teams` throughout. The tournament, the "
        "gate and the evaluations of a training always use `teams`, so that payoffs stay comparable.",
    )
    matrix: Path | None = Field(None, description="File of payoffs, for format matrix (see `nashdex solve --help`).")
    population: PopulationSettings = PopulationSettings()
    network: NetworkChoice = Field(
        SlotsSettings(),
        description="The network. Without network.kind in a file it is `pointer` in Showdown's singles and "
        "`pointer-pairs` in its doubles.",
    )
    arena: ArenaSettings = ArenaSettings()
    collect: CollectSettings = CollectSettings()
    train: TrainSettings = Field(default_factory=TrainSettings)
    actors: ActorSettings = ActorSettings()
    gate: GateSettings = GateSettings()
    evaluate: EvaluateSettings = EvaluateSettings()
    solve: SolveSettings = SolveSettings()

    @field_validator("format", mode="before")
    @classmethod
    def _by_its_own_name(cls, name: object) -> object:
        return canonical_format(name) if isinstance(name, str) else name

    @field_validator("team_schedule")
    @classmethod
    def _follows(cls, stages: tuple[TeamStage, ...]) -> tuple[TeamStage, ...]:
        check_schedule(stages)
        return stages

    @property
    def num_gates(self) -> int:
        """Shards of the gate step, one a trained policy; 0 where the run has no such step."""
        return 0 if self.gate.test == "none" else self.train.seeds

    def fingerprint(self) -> str:
        """Return 8 hex digits that change when any setting but the run's id does."""
        return hashlib.sha256(self.model_dump_json(exclude={"run"}).encode()).hexdigest()[:8]


def canonical_format(name: str) -> str:
    """Return the simulator's id of a format that other projects call ``name``; the name itself otherwise."""
    return FORMAT_ALIASES.get(name, name)
