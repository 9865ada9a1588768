"""A whole run: every section of the settings."""

import hashlib
from pathlib import Path

from pydantic import Field, field_validator

from nashdex.core.ids import RunIdField
from nashdex.core.keys import MAX_ITERATIONS
from nashdex.core.section import Section
from nashdex.settings.actors import ActorSettings
from nashdex.settings.aliases import canonical_format
from nashdex.settings.arena import ArenaSettings
from nashdex.settings.collect import CollectSettings
from nashdex.settings.networks import NetworkChoice, SlotsSettings
from nashdex.settings.opponents import MetaStrategySettings, OpponentsChoice
from nashdex.settings.population import PopulationSettings
from nashdex.settings.solve import SolveSettings
from nashdex.settings.teams import TeamStage, check_schedule
from nashdex.settings.tournament import EvaluateSettings, GateSettings
from nashdex.settings.train import TrainSettings


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
