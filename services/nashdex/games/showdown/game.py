"""Showdown's formats as games."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nashdex.core.errors import DataError
from nashdex.core.evidence import Evidence
from nashdex.games.interface import Reward, Situations
from nashdex.games.showdown.arena import ShowdownArena
from nashdex.games.showdown.gateway import Gateway
from nashdex.games.showdown.rewards import REWARD_VERSION, rewards
from nashdex.games.showdown.situations import situations
from nashdex.games.showdown.teams import split_teams
from nashdex.games.space import Space


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

    @property
    def reward_version(self) -> str:
        """The version of ``games.showdown.rewards``."""
        return REWARD_VERSION

    def rewards(
        self, kind: Reward, space: Space, observations: NDArray[np.float32], score: float, discount: float
    ) -> NDArray[np.float32]:
        """Return the reward of each of one seat's decisions (``games.showdown.rewards``)."""
        return rewards(kind, space, observations, score, discount)

    def situations(self, space: Space, observations: NDArray[np.float32]) -> Situations:
        """Return the situation of each of one seat's decisions (``games.showdown.situations``)."""
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
