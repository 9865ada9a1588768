"""The game interface: an arena plays many battles at once and asks for decisions in batches."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from nashdex.core.documents import Model
from nashdex.core.evidence import Evidence
from nashdex.games.legal import LegalActions
from nashdex.games.space import Space
from nashdex.games.tabular.tree import GameTree

NO_ACTION: Final = -1
"""Marks an action of a view that means no action of the arena."""


class ViewIdentity(Model):
    """Names a view, in the documents of the policies that read it. Equal fingerprints see equal things."""

    name: str
    fingerprint: str


@dataclass(frozen=True, slots=True)
class Viewed:
    """What a view shows of N decisions."""

    inputs: Mapping[str, NDArray[Any]]
    """Inputs by name, (N, …)."""
    actions: NDArray[np.int64]
    """The arena's legal action that each of the view's means, (N, V); ``NO_ACTION`` where it means none."""
    is_shown: NDArray[np.bool_]
    """(N,), false where the view does not show the decision: its rows then hold nothing."""
    is_first: NDArray[np.bool_]
    """(N,), true where it is the first decision that the view shows of the seat's battle."""

    def take(self, rows: NDArray[np.int64] | slice) -> "Viewed":
        """Return the given rows."""
        inputs = {name: part[rows] for name, part in self.inputs.items()}
        return Viewed(inputs, self.actions[rows], self.is_shown[rows], self.is_first[rows])


class Position(Model):
    """A decision of a battle that was played elsewhere, as one seat knew it then."""

    seat: Literal[0, 1]
    seen: tuple[tuple[str, ...], tuple[str, ...]]
    """The game's own text up to there, as each seat received it."""
    request: dict[str, Any]
    """What the seat was asked, in the game's own terms."""
    teams: tuple[str, ...] = ()
    """Packed teams from which the game draws what the seat had not seen; empty if it generates teams."""
    inputs: tuple[str, ...] = ()
    """The simulator's input of the battle, with seed, teams and choices: played again instead of drawn. Empty where it
    is unknown."""


@dataclass(frozen=True, slots=True)
class BattleSpec:
    """One battle as it is planned. Everything random in it follows from the seeds."""

    seed: int
    teams: tuple[str | None, str | None] = (None, None)
    """Packed teams by seat. None: the game generates the team from ``team_seeds``."""
    team_seeds: tuple[int, int] = (0, 0)
    log: bool = False
    """Keep the whole log for a replay."""
    deadline_seconds: float = 300.0
    position: Position | None = None
    """Where the battle begins, in single battles of Showdown; the seat's rest is drawn. None: at the beginning."""


@dataclass(frozen=True, slots=True)
class RunningBattle:
    """One battle as an arena runs it."""

    battle: int
    """Chosen by the caller, unique among the running battles, below 2³²."""
    spec: BattleSpec
    lines: tuple[bool, bool] = (False, False)
    """Seats whose policies read the game's own text as well as observations."""
    states: tuple[bool, bool] = (False, False)
    """Seats whose policies also read the tracker's state; only with ``lines``."""
    draws: tuple[int | None, int | None] = (None, None)
    """Seats that an arena with ``draws_choices`` plays itself, by their seed: the k-th choice is the legal action that
    the seed's k-th of ``core.seeds.uniforms`` falls on. They have no decisions."""


@dataclass(frozen=True, slots=True)
class SeatLines:
    """The game's own text for one seat since its last decision."""

    lines: list[str]
    request: dict[str, Any]
    state: dict[str, Any] | None = None
    """The seat's knowledge in the game's own terms; None if the seat did not ask for it."""


@dataclass(frozen=True, slots=True)
class Decisions:
    """Decisions that are due, one per row. F observation values, A actions."""

    battle: NDArray[np.int64]
    """Shape (N,)."""
    seat: NDArray[np.int8]
    """Shape (N,), 0 or 1."""
    asked_again: NDArray[np.bool_]
    """Shape (N,): the previous answer was rejected and does not count."""
    observation: NDArray[np.float32]
    """Shape (N, F)."""
    legal: LegalActions
    """The legal actions of each row."""
    lines: dict[tuple[int, int], SeatLines] = field(default_factory=dict)
    """Lines by (battle, seat), for the seats that asked for them."""
    viewed: Viewed | None = None
    """The same rows as the policy's view shows them, for a policy that has one."""

    @classmethod
    def joined(cls, parts: Sequence["Decisions"]) -> "Decisions":
        """Return the rows of all ``parts`` in order, copied. There is at least one part, and none is ``viewed``."""
        return cls(
            battle=np.concatenate([part.battle for part in parts]),
            seat=np.concatenate([part.seat for part in parts]),
            asked_again=np.concatenate([part.asked_again for part in parts]),
            observation=np.concatenate([part.observation for part in parts]),
            legal=LegalActions.joined([part.legal for part in parts], parts[0].legal.num_actions),
            lines={seat: lines for part in parts for seat, lines in part.lines.items()},
        )

    def __len__(self) -> int:
        return len(self.battle)

    @property
    def mask(self) -> NDArray[np.bool_]:
        """Shape (N, A), true where the action is legal; never all false. For spaces of few actions."""
        return self.legal.mask

    def take(self, rows: NDArray[np.int64] | slice) -> "Decisions":
        """Return the given rows; of neighbours that a slice names, views."""
        return Decisions(
            battle=self.battle[rows],
            seat=self.seat[rows],
            asked_again=self.asked_again[rows],
            observation=self.observation[rows],
            legal=self.legal.take(rows),
            lines=self.lines,
            viewed=None if self.viewed is None else self.viewed.take(rows),
        )


class View(Protocol):
    """One way of seeing the decisions of one arena. This is the whole interface."""

    @property
    def identity(self) -> ViewIdentity:
        """Its name and fingerprint."""

    def read(self, decisions: Decisions) -> Viewed:
        """Return what it shows of each row. Call it once for each decision: it remembers what the seat saw."""

    def forget(self, battle: int, seat: int) -> None:
        """Forget a seat whose battle ended."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a battle ended."""

    battle: int
    winner: int | None
    """Seat, or None for a draw."""
    turns: int
    decisions: tuple[int, int]
    rejected: int
    """Choices that the simulator rejected and asked for again."""
    log: str | None = None
    first_score: float | None = None
    """Score of seat 0 in a game for stakes; None in a game that is only won, drawn or lost."""

    def score(self, seat: int) -> float:
        """Return 1, ½ or 0 for a win, draw or loss of ``seat``.

        In a game for stakes: ½ + payoff / (2 · the largest payoff of the game), anywhere from 0 to 1.
        """
        if self.first_score is not None:
            return self.first_score if seat == 0 else 1.0 - self.first_score
        return 0.5 if self.winner is None else float(self.winner == seat)


@dataclass(frozen=True, slots=True)
class Failure:
    """A battle that could not be finished. It has no result."""

    battle: int
    cause: str
    detail: str


@dataclass(frozen=True, slots=True)
class Events:
    """What happened since the last poll."""

    decisions: list[Decisions]
    outcomes: list[Outcome]
    failures: list[Failure]


@dataclass(frozen=True, slots=True)
class Situations:
    """Where one seat's T decisions were made, coarsely: decisions in equal situations are comparable."""

    team: str
    """Names the seat's team; empty in a game without teams."""
    turns: NDArray[np.int64]
    """Shape (T,)."""
    faint_differences: NDArray[np.int64]
    """Shape (T,): Pokémon left, own minus the opponent's; 0 in a game without Pokémon."""


class Arena(Protocol):
    """Plays battles of one format. This is the whole interface.

    ``act`` answers every row of every ``Decisions`` once; its battle waits for that. A battle ends with one outcome or
    one failure, after which its number is free again.
    """

    @property
    def space(self) -> Space:
        """Layout of observations and actions."""

    @property
    def versions(self) -> dict[str, str]:
        """Return the version of each program that plays the battles, by name."""

    @property
    def draws_choices(self) -> bool:
        """Whether it plays the seats of ``RunningBattle.draws``."""

    def start(self, battles: Sequence[RunningBattle]) -> None:
        """Start battles."""

    def poll(self) -> Events:
        """Apply starts and answers, wait for events, and return them."""

    def act(self, battle: NDArray[np.int64], seat: NDArray[np.int8], action: NDArray[np.int64]) -> None:
        """Answer decisions, one per row, in any order; arrays of shape (N,)."""

    def stop(self, battle: int, num_open: int) -> None:
        """Forget a running battle that waits for answers to ``num_open`` decisions. Its number is free again."""

    def resident_bytes(self) -> int:
        """Return the resident memory of the arena's child processes, in bytes."""

    def cpu_seconds(self) -> float:
        """Return the CPU time of the arena's child processes so far, user and system, in seconds."""

    def close(self) -> None:
        """Stop the child processes and free the arena's memory. Safe to call twice."""


class Game(Protocol):
    """A game that the steps can play. This is the whole interface."""

    @property
    def format(self) -> str:
        """The name that settings use."""

    def open_arena(self, *, num_gateways: int) -> Arena:
        """Open an arena with ``num_gateways`` simulator processes."""

    def teams(self) -> Sequence[str]:
        """Return the packed teams that battles draw from; empty if the game generates teams."""

    @property
    def evidence(self) -> Evidence:
        """How payoffs between policies become known: by battles, or exactly from ``tree``."""

    @property
    def largest_payoff(self) -> float:
        """The largest payoff of either seat, in the interaction matrix's units: ½ where battles are won or lost."""

    @property
    def tree(self) -> GameTree | None:
        """The whole game, where it is small enough to write down."""

    def situations(self, space: Space, observations: NDArray[np.float32]) -> Situations:
        """Return the situation of each of one seat's T decisions, from observations of shape (T, F)."""
