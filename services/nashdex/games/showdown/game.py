"""Showdown's formats as games."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nashdex.core.errors import DataError
from nashdex.core.evidence import Evidence
from nashdex.games.interface import Situations
from nashdex.games.showdown.arena import ShowdownArena
from nashdex.games.showdown.gateway import Gateway
from nashdex.games.showdown.teams import split_teams
from nashdex.games.space import Space

_TURN_SCALE = 100
_LARGEST_TEAM = 6
"""What the observation's ``turn`` and ``…_left`` are divided by."""


@dataclass(frozen=True)
class ShowdownGame:
    """One Showdown format and the teams that battles draw from."""

    format: str
    packed_teams: tuple[str, ...] = ()

    def open_arena(self, *, num_gateways: int) -> ShowdownArena:
        """Open an arena with ``num_gateways`` gateways."""
        return ShowdownArena(self.format, num_gateways)

    def teams(self) -> Sequence[str]:
        """Return the packed teams that battles draw from; empty if the simulator generates teams."""
        return self.packed_teams

    @property
    def evidence(self) -> Evidence:
        """Counts: battles are played."""
        return Evidence.COUNTS

    @property
    def largest_payoff(self) -> float:
        """½: payoffs are expected scores above an even game."""
        return 0.5

    @property
    def tree(self) -> None:
        """None: the game is far too large."""

    def situations(self, space: Space, observations: NDArray[np.float32]) -> Situations:
        """Return the situation of each of one seat's decisions."""
        return situations(space, observations)


def pack_teams(format_id: str, text: str, source: str) -> str:
    """Return the teams of ``text`` packed, one a line, each checked by the simulator's validator.

    ``text`` holds packed teams, one a line, or export text with a blank line between Pokémon and a line ``===``
    between teams.

    Raises:
        DataError: a team is illegal, in the validator's words, or there is none.
    """
    teams = split_teams(text)
    if not teams:
        raise DataError(f"{source} has no team: expected export text, or packed teams, one a line")
    gateway = Gateway(format_id)
    try:
        return "\n".join(gateway.validate(teams)) + "\n"
    except DataError as error:
        raise DataError(f"{source}: {error}") from error
    finally:
        gateway.close()


def situations(space: Space, observations: NDArray[np.float32]) -> Situations:
    """Return the situation of each of T decisions, from observations of shape (T, F).

    Turns above 100 count as 100. A team is named by the numbers of its species at the first decision, sorted, so two
    teams of the same species have one name.
    """
    left = [np.rint(_LARGEST_TEAM * _field(space, observations, f"{side}_left")) for side in ("own", "opponent")]
    species = space.view(observations[:1], "own", "species").reshape(-1).astype(np.int64)
    return Situations(
        team=",".join(map(str, np.sort(species))),
        turns=np.rint(_TURN_SCALE * _field(space, observations, "turn")).astype(np.int64),
        faint_differences=(left[0] - left[1]).astype(np.int64),
    )


def _field(space: Space, observations: NDArray[np.float32], name: str) -> NDArray[np.float32]:
    return space.view(observations, "field", name)[:, 0, 0]
