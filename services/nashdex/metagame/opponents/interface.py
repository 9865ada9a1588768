"""What an opponent rule is: the whole surface between the plan step and a rule."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from nashdex.core.ids import PolicyId
from nashdex.core.section import Choice
from nashdex.metagame.evidence.matrix import InteractionMatrix
from nashdex.metagame.population import Population, Reset

S = TypeVar("S", bound=Choice)


@dataclass(frozen=True)
class Situation:
    """State of the run that a rule may look at. Everything refers to policies by id."""

    population: Population
    learner: PolicyId
    """The member that trains."""
    iteration: int
    """The one to plan, from 0."""
    num_iterations: int
    """Iterations of the run, iteration 0 included."""
    matrix: InteractionMatrix
    """Payoffs between the members."""
    meta_strategy: Mapping[PolicyId, float]
    """The newest one; empty in iteration 0."""
    ratings: Mapping[str, float]
    """Elo by policy; some members may have none."""
    seed: int
    """The run's: the root of what a rule draws."""
    role: str | None = None
    """The role whose turn it is, if the rule has roles."""


@dataclass(frozen=True, kw_only=True)
class OpponentRule(Generic[S]):
    """One way of choosing opponents. This is the whole of its surface."""

    settings: type[S]
    """The section ``[opponents]``. Its ``kind`` is the rule's name."""
    summary: str
    """Description of the rule in one line, for the documentation."""
    words: str
    """Name of a learner's opponents for the report: ``a league``."""
    mixture: Callable[[S, Situation], dict[PolicyId, float]]
    """Returns how often the learner meets each member, by id; members that it never meets are left out.

    Raises ConfigurationError where the settings leave no opponent.
    """
    answers_meta_strategy: bool = False
    """Whether a trained policy is a response to the meta-strategy, so that its gain measures exploitability."""
    meets_itself: bool = False
    """Whether the learner as an opponent is its newest self, so that training learns from both seats."""
    needs_newest: bool = False
    """Whether the rule has no effect unless training goes on from the newest policy."""
    is_fixed: bool = False
    """Whether the mixture is the same in every iteration, also in the first. Then the initial population is its
    members, and tournaments play only the cells between them and the new policies."""
    needs_battles: bool = False
    """Whether the rule is for oracles that play battles."""
    roles: Callable[[S], Sequence[str]] = lambda _settings: ()
    """Returns the roles that train in turn, one an iteration, from iteration 1 on; none where one learner trains.

    The learner of a role is its newest network, at first the run's first one. Needs an oracle that improves networks.
    """
    reset: Callable[[S, Situation], Reset | None] = lambda _settings, _situation: None
    """Returns why the learner of a role starts again from the run's first network; None where it goes on."""
    problems: Callable[[S], Iterator[str]] = lambda _settings: iter(())
    """Yields the problems of the settings, one line each."""
