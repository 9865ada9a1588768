"""Who is in the population. Everything refers to policies by id; nothing depends on their order."""

from collections import Counter
from collections.abc import Container, Iterable, Mapping, Sequence
from typing import Final, Literal, Protocol

from pydantic import Field, NonNegativeInt, PositiveInt, model_validator

from nashdex.core.documents import Document, Model
from nashdex.core.ids import PlayedPolicy, PolicyId, PolicyIdField
from nashdex.core.results import PolicyKind, TrainingResult

Kind = Literal["scripted", "imported", "ensemble", "external", "search", PolicyKind]

_LOW_ELO: Final = 100.0
"""Distance from the highest rating from which on an idle member retires."""


class PolicyEntry(Model):
    """One member of the population."""

    id: PolicyIdField
    kind: Kind
    name: str = Field(description="For people: 'heuristic', 'clone of heuristic', 'best response 3'.")
    iteration: int | None = Field(description="Iteration that trained it; none for what the run began with.")
    parent: PolicyIdField | None = Field(description="Whose weights its training began from.")
    role: str | None = Field(None, description="Whose turn it was in a league with roles, such as main-exploiter.")
    idle_iterations: NonNegativeInt = Field(
        0,
        exclude_if=lambda num: not num,
        description="Iterations in a row in which the meta-strategy did not play it, where members may retire.",
    )
    retired: bool = Field(
        False,
        exclude_if=lambda retired: not retired,
        description="Whether new policies neither play it nor train against it.",
    )

    @property
    def is_anchor(self) -> bool:
        """Whether it does not learn in the run: what the run began with, scripted policies, other programs."""
        return self.iteration is None or self.kind in {"scripted", "imported", "ensemble", "external", "search"}


class Reset(Model):
    """Why a role of a league starts again from the run's first network."""

    policy: PolicyIdField = Field(description="The role's newest policy, from which no training goes on.")
    cause: Literal["win-rate", "trainings"] = Field(description="It has won, or has trained for long.")
    opponent: PolicyIdField = Field(
        description="The opponent that it beats least, among the opponents that it has to beat."
    )
    win_rate: float = Field(ge=0, le=1, description="Against this opponent, from the payoffs before this iteration.")
    reset_win_rate: float = Field(ge=0, le=1, description="The win rate above which it has won.")
    trainings: PositiveInt = Field(description="Its trainings in a row, since it began from the first network.")


def newest(entries: Iterable[PolicyEntry], ratings: Mapping[str, float]) -> PolicyEntry:
    """Return the entry of the latest iteration; of several, the one with the highest rating. Unrated ones come last.

    Args:
        entries: at least one.
        ratings: Elo by policy.
    """

    def age(entry: PolicyEntry) -> tuple[int, float, PolicyId]:
        trained_in = -1 if entry.iteration is None else entry.iteration
        return trained_in, ratings.get(entry.id, float("-inf")), entry.id

    return max(entries, key=age)


_SHORTEST_ID: Final = 6


def short_ids(entries: Sequence[PolicyEntry]) -> dict[PolicyId, str]:
    """Return of each member the first characters of its id, enough to tell the members apart, and how it plays.

    A scripted policy's name stays whole.
    """
    short = shortened(entry.id for entry in entries if entry.kind != "scripted")
    return {entry.id: short.get(entry.id, entry.id) for entry in entries}


def shortened(policies: Iterable[PolicyId]) -> dict[PolicyId, str]:
    """Return of each stored policy the first characters of its id, enough to tell them apart, and how it plays.

    What is before a colon, such as ``search:``, stays whole.
    """
    played = {policy: PlayedPolicy.of(policy) for policy in policies}
    parts = {policy: one.policy.rpartition(":") for policy, one in played.items()}
    ids = {bare for _, _, bare in parts.values()}
    longest = max(map(len, ids), default=_SHORTEST_ID)
    length = next((n for n in range(_SHORTEST_ID, longest) if len({one[:n] for one in ids}) == len(ids)), longest)
    return {
        policy: before + colon + bare[:length] + played[policy].suffix
        for policy, (before, colon, bare) in parts.items()
    }


class Named(Protocol):
    """A policy with a name for people: ``PolicyEntry``, or a row of a report."""

    @property
    def id(self) -> PolicyId:
        """Its id."""

    @property
    def name(self) -> str:
        """Its name, which others may share."""


def display_names(policies: Sequence[Named], short: Mapping[PolicyId, str]) -> dict[PolicyId, str]:
    """Return the name of each policy and how it plays. Where other policies share the name, the short id follows it."""
    played = {row.id: PlayedPolicy.of(row.id) for row in policies}
    sharing = Counter(name for name, _ in {(row.name, played[row.id].policy) for row in policies})
    return {
        row.id: f"{row.name} {short[row.id] if sharing[row.name] > 1 else played[row.id].suffix}".rstrip()
        for row in policies
    }


class Population(Document):
    """The members, oldest first."""

    policies: tuple[PolicyEntry, ...]
    history: tuple[PolicyIdField, ...] = Field(
        default_factory=lambda checked: tuple(entry.id for entry in checked.get("policies", ())),
        description="Members in the order in which they joined. A member that a later training found again is listed "
        "again, because solvers that go by age count it again.",
    )

    @model_validator(mode="after")
    def _ids_are_unique(self) -> "Population":
        ids = self.ids
        if len(set(ids)) != len(ids):
            raise ValueError(f"a policy is named twice: {sorted(i for i in ids if ids.count(i) > 1)}")
        return self

    @model_validator(mode="after")
    def _history_is_of_members(self) -> "Population":
        if set(self.history) != set(self.ids):
            stranger = min(set(self.history) ^ set(self.ids))
            raise ValueError(f"{stranger!r} is only in one of policies and history; expected every member in both")
        return self

    @property
    def ids(self) -> tuple[PolicyId, ...]:
        """The members' ids, oldest first."""
        return tuple(entry.id for entry in self.policies)

    def grown(
        self, results: Iterable[tuple[PolicyId, TrainingResult]], iteration: int, role: str | None = None
    ) -> "Population":
        """Return the population with the policies that ``iteration`` trained; one that is there stays as it is.

        Args:
            results: what each training gave, and the id of its policy as a member.
            iteration: that trained them.
            role: whose turn it was, in a league with roles.
        """
        return self.with_members(
            tuple(
                PolicyEntry(
                    id=member,
                    kind=result.kind,
                    name=result.name,
                    iteration=iteration,
                    parent=result.parent,
                    role=role,
                )
                for member, result in results
            )
        )

    def with_retirement(
        self, support: Container[PolicyId], ratings: Mapping[str, float], *, after_iterations: int
    ) -> "Population":
        """Return the population after an iteration's results: with other members retired, or back.

        Anchors, the networks of iteration 0 and the newest of each role never retire: a run measures its progress by
        them and goes on from them.

        Args:
            support: the members that the meta-strategy plays.
            ratings: Elo by policy.
            after_iterations: how many in a row a member that retires was not played.
        """
        low = max(ratings.values()) - _LOW_ELO
        newest_of = {entry.role: entry.iteration for entry in self.policies if not entry.is_anchor}

        def judged(entry: PolicyEntry) -> PolicyEntry:
            idle = 0 if entry.is_anchor or entry.id in support else entry.idle_iterations + 1
            stays = entry.iteration in {0, newest_of.get(entry.role)} or ratings[entry.id] >= low
            return entry.model_copy(update={"idle_iterations": idle, "retired": idle >= after_iterations and not stays})

        return Population(policies=tuple(map(judged, self.policies)), history=self.history)

    @property
    def active(self) -> "Population":
        """The members that have not retired."""
        members = {entry.id: entry for entry in self.policies if not entry.retired}
        return Population(policies=tuple(members.values()), history=tuple(p for p in self.history if p in members))

    def with_members(self, entries: tuple[PolicyEntry, ...]) -> "Population":
        """Return the population after ``entries`` joined; a member that joins again stays as it is."""
        # Two seeds may train the same policy.
        members = {entry.id: entry for entry in (*entries[::-1], *self.policies[::-1])}
        order = dict.fromkeys((*self.ids, *(entry.id for entry in entries)))
        return Population(
            policies=tuple(members[policy] for policy in order),
            history=(*self.history, *(entry.id for entry in entries)),
        )
