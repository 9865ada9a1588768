"""What an oracle is: the whole surface between an algorithm and the rest of nashdex."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeVar

from pydantic import ConfigDict, Field

from nashdex.core.errors import ConfigurationError
from nashdex.core.ids import AttemptId
from nashdex.core.results import Measured, PolicyKind, TrainingPoint
from nashdex.core.section import Choice
from nashdex.core.seeds import derive_seed
from nashdex.games.interface import Game
from nashdex.games.registry import game_of_run, tabular_game_of_run
from nashdex.games.tabular.tree import GameTree, Table
from nashdex.metagame.plan import IterationPlan
from nashdex.oracles.tree import TreeOpponents, tree_opponents
from nashdex.settings.oracles import ReplaySettings
from nashdex.settings.run import RunSettings
from nashdex.store.protocol import ObjectStore

if TYPE_CHECKING:
    from nashdex.policies.networks.actor_critic import ActorCritic

    TrainableValue = ActorCritic | Table
else:
    TrainableValue = Any  # torch takes seconds to import, and tables need none

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
        return game_of_run(self.store, self.settings)

    @cached_property
    def tree(self) -> GameTree:
        """The whole game as a tree.

        Raises:
            ConfigurationError: the format is not a tabular game.
            DataError: the stored matrix was altered.
        """
        return tabular_game_of_run(self.store, self.settings).tree

    def opponents_in_tree(self) -> TreeOpponents:
        """Return the plan's mixture of opponents as tables.

        Raises:
            ConfigurationError: the format is not a tabular game.
            DataError: a policy is missing, altered or of another game.
        """
        return tree_opponents(self.store, self.tree, self.plan.opponents)


class Trained(Measured):
    """A trained policy and its measurements: what an oracle returns. The train step stores both."""

    model_config = ConfigDict(arbitrary_types_allowed=True)

    policy: TrainableValue = Field(description="A network, or a table of shape (S, A): as the oracle's `makes` says.")
    magnet: TrainableValue | None = Field(None, description="The moving average that training was held to.")
    curve: tuple[TrainingPoint, ...] = Field(
        (), description="Values over optimiser steps, each one of the oracle's `metrics`."
    )
    objects: dict[str, bytes] = Field(
        default_factory=dict,
        description="What the next iteration goes on with, by name. The train step stores it with the result.",
    )


@dataclass(frozen=True, kw_only=True)
class Oracle(Generic[S]):
    """One way of training a policy. This is the whole of its surface."""

    settings: type[S]
    """The section ``[train.oracle]``. Its ``kind`` is the oracle's name."""
    summary: str
    """Description of the oracle in one line, for the documentation."""
    train: str
    """``module:function`` that trains one policy: takes a ``Task`` and the section, and returns ``Trained``. Imported
    when training begins, so that reading settings imports no torch.

    Raises DataError for data that is missing, altered or of another space; ConfigurationError for what this machine
    or game cannot do; TryAgainError where a battle could not be finished; StoppedError where the process was asked to
    stop and saved a checkpoint.
    """
    makes: PolicyKind
    """Kind of the policy that the oracle returns."""
    collects: Literal["learner", "teacher", "space"] | None
    """What the collect step records for it. "learner": the battles of the plan's learner. "teacher": the same, and the
    learner of the first iteration is `collect.teacher`. "space": one battle a shard, since the oracle reads only their
    space. None: nothing. An oracle that makes networks, and does not improve one, needs at least the space."""
    needs_tree: bool = False
    """Whether the oracle reads the game's tree; then it works only for tabular games."""
    replays: Callable[[S], ReplaySettings | None] = lambda _settings: None
    """The raw replays that it also learns from. The collect step turns them into episodes."""
    plays_rounds: bool = False
    """Whether training plays its own battles, round after round, with its newest weights. If so, actors run beside
    training."""
    improves: bool = False
    """Whether training continues from a network in the population. `train.first` trains the first network."""
    begins_from_policy: bool = False
    """Whether its network is initialised from ``network.init_from`` (``learning.initial``)."""
    answers_opponents: bool = True
    """Whether the policy responds to the plan's opponents."""
    is_random: bool = True
    """Whether the oracle depends on its seed; if not, further `train.seeds` have no effect."""
    shares_steps: bool = False
    """Whether `train.num_processes` processes can train one policy."""
    policy_name: str = "best response {iteration}"
    """The name of its policies, for people. May hold ``{iteration}``, ``{learner}`` and ``{start}``."""
    metrics: Mapping[str, str] = field(default_factory=dict)
    """Metrics of the oracle: the meaning of each value of its curve and summary, by name."""
    problems: Callable[[S, RunSettings], Iterator[str]] = lambda _settings, _run: iter(())
    """Yields each conflict between a run's settings as one line with the keys."""
    learner: Callable[[S], Literal["newest", "first"]] = lambda _settings: "newest"
    """Whether an oracle with ``improves`` continues from the newest network, or always from the first one."""

    exploiter: Callable[[int], Mapping[str, Any]] = lambda _decisions: {}
    """Its settings in ``nashdex exploit``, by the decisions that one training may learn from."""

    @property
    def name(self) -> str:
        """The name that settings use."""
        name: str = self.settings.model_fields["kind"].default
        return name

    def training(self) -> Callable[[Task, S], Trained]:
        """Import and return the function that ``train`` names.

        Raises:
            ConfigurationError: there is no such function.
        """
        try:
            function: Callable[[Task, S], Trained] = resolve_name(self.train)
        except (ImportError, AttributeError, ValueError) as error:
            raise ConfigurationError(
                f"the oracle {self.name!r} trains by {self.train!r}, which cannot be imported: {error}; expected "
                "module:function; repair the package or uninstall it"
            ) from error
        return function

    @property
    def plays_battles(self) -> bool:
        """Whether it learns from battles, collected or of its own rounds."""
        return self.collects is not None or self.plays_rounds


AnyOracle = Oracle[Any]
