"""What an oracle is: the whole surface between an algorithm and the rest of nashdex."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeVar

from nashdex.core.ids import PolicyId
from nashdex.core.results import Evaluation, PolicyKind, TrainingPoint
from nashdex.core.section import Choice
from nashdex.core.seeds import derive_seed

if TYPE_CHECKING:  # settings import this module, so it imports no more than core
    from nashdex.core.ids import AttemptId
    from nashdex.games.interface import Game
    from nashdex.games.space import Space
    from nashdex.games.tabular.tree import GameTree, Table
    from nashdex.learning.rounds.players import Player
    from nashdex.metagame.plan import IterationPlan
    from nashdex.oracles.replays import ReplaySettings
    from nashdex.oracles.tree import TreeOpponents
    from nashdex.policies.networks.actor_critic import ActorCritic
    from nashdex.settings.run import RunSettings
    from nashdex.store.protocol import ObjectStore

S = TypeVar("S", bound=Choice)


@dataclass(frozen=True)
class Task:
    """One policy to train: a shard of the train step of one iteration."""

    store: ObjectStore
    """The run's."""
    settings: RunSettings
    plan: IterationPlan
    """Names the learner and the mixture of opponents to answer."""
    shard: int
    attempt: AttemptId

    @property
    def seed(self) -> int:
        """Root of everything random in this task."""
        return derive_seed(self.settings.seed, "train", self.plan.iteration, self.shard)

    @cached_property
    def game(self) -> Game:
        """The run's game.

        Raises:
            DataError: the stored matrix was altered.
        """
        from nashdex.games.registry import game_of_run  # noqa: PLC0415

        return game_of_run(self.store, self.settings)

    @cached_property
    def tree(self) -> GameTree:
        """The whole game as a tree.

        Raises:
            ConfigurationError: the format is not a tabular game.
            DataError: the stored matrix was altered.
        """
        from nashdex.games.registry import tabular_game_of_run  # noqa: PLC0415

        return tabular_game_of_run(self.store, self.settings).tree

    def player(self, space: Space) -> Player:
        """Return what plays the training's further battles: actors, or this process."""
        from nashdex.games.team_schedule import training_teams  # noqa: PLC0415
        from nashdex.learning.actors.learner import ActorsPlayer  # noqa: PLC0415 - torch
        from nashdex.learning.rounds.players import LocalPlayer  # noqa: PLC0415 - torch
        from nashdex.oracles.actors import needs_actors  # noqa: PLC0415 - it imports the registry of oracles

        run = self.settings
        if needs_actors(run):
            return ActorsPlayer(self.store, run.actors, space, iteration=self.plan.iteration, shard=self.shard)
        teams = training_teams(self.store, run, self.game, self.plan.iteration)
        return LocalPlayer(self.store, run, self.game, teams)

    def opponents_in_tree(self) -> TreeOpponents:
        """Return the plan's mixture of opponents as tables.

        Raises:
            ConfigurationError: the format is not a tabular game.
            DataError: a policy is missing, altered or of another game.
        """
        from nashdex.oracles.tree import tree_opponents  # noqa: PLC0415

        return tree_opponents(self.store, self.tree, self.plan.opponents)


def _nothing() -> None:
    """Do nothing."""


@dataclass(frozen=True, kw_only=True)
class Trained:
    """What an oracle returns. The train step stores it."""

    policy: ActorCritic | Table
    """A network, or a table of shape (S, A): as the oracle's ``makes`` says."""
    summary: Mapping[str, float]
    """Final values by name, each one of the oracle's ``metrics``."""
    curve: tuple[TrainingPoint, ...] = ()
    """Values over optimiser steps, each one of the oracle's ``metrics``."""
    num_updates: int = 0
    """Optimiser steps."""
    num_run_updates: int = 0
    """Optimiser steps of the run so far, along this shard."""
    num_decisions: int = 0
    """Decisions that it learned from."""
    num_run_decisions: int = 0
    """Decisions of the run so far, along this shard."""
    evaluations: tuple[Evaluation, ...] = ()
    """Strength against fixed anchors, during training."""
    scripted_opponents: Mapping[PolicyId, float] = field(default_factory=dict)
    """Shares of its battles with itself in which scripted policies sat opposite."""
    kept: Evaluation | None = None
    """The evaluation of the weights that were kept as the best, if not the last ones."""
    objects: Mapping[str, bytes] = field(default_factory=dict)
    """What the next iteration goes on with, by name. The train step stores it with the result."""
    cpu_seconds: float = 0.0
    """Of all processes that trained and played for it, without evaluations."""
    rollbacks: int = 0
    """Times the instability guard restored an earlier state."""
    preset: str | None = None
    """Damping preset, if the oracle has any."""
    reference: str = "none"
    """Where the KL reference came from, such as ``snapshot:p0123``."""
    when_stored: Callable[[], None] = _nothing
    """Called when the policy and its result are stored, such as to remove checkpoints."""


def _no_problem(_settings: Choice, _run: RunSettings) -> Iterator[str]:
    yield from ()


@dataclass(frozen=True, kw_only=True)
class Oracle(Generic[S]):
    """One way of training a policy. This is the whole of its surface."""

    settings: type[S]
    """The section ``[train.oracle]``. Its ``kind`` is the oracle's name."""
    summary: str
    """What it does, in one line, for the documentation."""
    train: Callable[[Task, S], Trained]
    """Trains one policy.

    Raises DataError for data that is missing, altered or of another space; ConfigurationError for what this machine
    or game cannot do; TryAgainError where a battle could not be finished; StoppedError where the process was asked to
    stop and saved a checkpoint.
    """
    makes: PolicyKind
    """What kind of policy it returns."""
    plays: Literal["learner", "teacher"] | None
    """Who acts in the battles that it reads: the learner, the teacher of `collect.teacher` in the first iteration, or
    nobody: then the iteration collects no battles. An oracle that makes networks needs battles, if only for their
    space."""
    needs_tree: bool = False
    """Whether it reads the game's tree, so that only tabular games will do."""
    replays: Callable[[S], ReplaySettings | None] = lambda _settings: None
    """The raw replays that it also learns from. The collect step turns them into episodes."""
    plays_on: Callable[[S], bool] = lambda _settings: False
    """Whether training plays further battles with its newest weights. Then actors run beside it."""
    improves: bool = False
    """Whether it goes on from a network in the population. `train.first` trains the first one."""
    begins_from_policy: bool = False
    """Whether the network that it makes begins as ``network.init_from`` says (``learning.initial``)."""
    answers_opponents: bool = True
    """Whether the policy responds to the plan's opponents."""
    is_random: bool = True
    """Whether its seed matters; if not, more than one of `train.seeds` has no effect."""
    shares_steps: bool = False
    """Whether `train.num_processes` processes can train one policy."""
    policy_name: str = "best response {iteration}"
    """The name of its policies, for people. May hold ``{iteration}`` and ``{learner}``."""
    metrics: Mapping[str, str] = field(default_factory=dict)
    """What it measures: the meaning of each value of its curve and summary, by name."""
    problems: Callable[[S, RunSettings], Iterator[str]] = _no_problem
    """Yields what does not go together in a run's settings, each as one line that names the keys."""
    learner: Callable[[S], Literal["newest", "first"]] = lambda _settings: "newest"
    """Of an oracle that ``improves``: whether it goes on from the newest network, or always from the first one."""

    exploiter: Callable[[int], Mapping[str, Any]] = lambda _decisions: {}
    """Its settings in ``nashdex exploit``, by the decisions that one training may learn from."""

    @property
    def name(self) -> str:
        """The name that settings use."""
        name: str = self.settings.model_fields["kind"].default
        return name

    @property
    def needs_battles(self) -> bool:
        """Whether an iteration collects battles for it."""
        return self.plays is not None


AnyOracle = Oracle[Any]
