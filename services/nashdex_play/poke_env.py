"""A policy as a player of poke-env, for poke-env's users: it plays on a server and neither trains nor records.

Importing this module imports poke-env; ``import nashdex`` does not.
"""

from typing import Any, Final

import structlog
from poke_env import AccountConfiguration
from poke_env.battle import AbstractBattle
from poke_env.player import Player as PokeEnvPlayer
from poke_env.player.battle_order import BattleOrder
from poke_env.teambuilder import Teambuilder

from nashdex.core.arguments import FORMAT_OR_NONE, POLICY, TEAM_SET, Kind, check_type, whole_number
from nashdex.core.errors import ConfigurationError
from nashdex.core.seeds import derive_seed
from nashdex.games.teams import TeamPool
from nashdex.runs.inputs import game_with_team_set
from nashdex.runs.played_format import format_to_play
from nashdex.serve.deciding import DEFAULT, MOST_BATTLES, open_decider
from nashdex.serve.room import Room

__all__ = ["Player"]


_BEGINS: Final = "|init|battle"
_ACCOUNT: Final[Kind] = (AccountConfiguration | None, "an AccountConfiguration of poke-env, or None")
_log = structlog.get_logger()


class Player(PokeEnvPlayer):
    """Plays ``policy`` as a poke-env player: by ``battle_against``, ``send_challenges``, ``ladder`` and others.

    The project's tracker follows each battle, and the policy chooses. A mixture draws one policy for each battle.
    Close it after use.

    Args:
        policy: as for ``nashdex.battle``: a scripted policy, ``RUN#newest``, ``RUN#nash`` or ``RUN#NAME``, with
            ``@greedy`` if wanted.
        account_configuration: poke-env's; by default a generated name without a password.
        battle_format: by default the format of the policy's run.
        team: poke-env's; by default drawn for each battle, where the format needs one.
        team_set: teams to draw from; by default the format's own.
        seed: the policy's draws and the teams follow from it.
        max_concurrent_battles: at most 64.
        options: poke-env's other arguments, such as ``server_configuration``.

    Raises:
        ConfigurationError: an argument is of another type or out of range, a format, policy or set of teams is unknown,
            or they do not fit together.
        DataError: the policy is missing, altered, or of another version of the format's observations.
        TryAgainError: no simulator answers.
    """

    DEFAULT_CHOICE_CHANCE = 0
    """Chance of poke-env's own default after a choice that the server refused; the policy decides again."""

    def __init__(
        self,
        policy: str,
        account_configuration: AccountConfiguration | None = None,
        *,
        battle_format: str | None = None,
        team: str | Teambuilder | None = None,
        team_set: str | None = None,
        seed: int = 0,
        max_concurrent_battles: int = 1,
        **options: Any,  # noqa: ANN401 - as poke-env types them
    ) -> None:
        check_type("policy", policy, POLICY)
        check_type("account_configuration", account_configuration, _ACCOUNT)
        check_type("battle_format", battle_format, FORMAT_OR_NONE)
        check_type("team", team, (str | Teambuilder | None, "a team, a Teambuilder of poke-env, or None"))
        check_type("team_set", team_set, TEAM_SET)
        whole_number("seed", seed, 0)
        if not 1 <= whole_number("max_concurrent_battles", max_concurrent_battles) <= MOST_BATTLES:
            raise ConfigurationError(
                f"max_concurrent_battles is {max_concurrent_battles}: expected 1 to {MOST_BATTLES}"
            )
        format_id = format_to_play(battle_format, {"the policy": policy})
        game = game_with_team_set(format_id, team_set)
        if team is None and game.teams():
            team = _DrawnTeams(TeamPool(game.teams()), seed)
        self._rooms: dict[str, Room] = {}
        # First: poke-env begins to listen before its constructor returns.
        self._decider = open_decider(policy, game, seed)
        try:
            super().__init__(
                account_configuration,
                battle_format=format_id,
                team=team,
                max_concurrent_battles=max_concurrent_battles,
                **options,
            )
        except BaseException:
            self._decider.close()
            raise

    def choose_move(self, battle: AbstractBattle) -> BattleOrder:
        """Return the policy's choice for the open request."""
        return _Choice(self._choose(battle))

    def teampreview(self, battle: AbstractBattle) -> str:
        """Return the policy's choice of the team's order."""
        return self._choose(battle)

    def close(self) -> None:
        """Stop the tracker and the policy's child processes. Safe to call twice.

        The connection is poke-env's: ``await player.ps_client.stop_listening()`` ends it.
        """
        self._decider.close()

    async def _handle_battle_message(self, split_messages: list[list[str]]) -> None:
        self._read(split_messages[0][0].removeprefix(">"), ["|".join(words) for words in split_messages[1:]])
        await super()._handle_battle_message(split_messages)

    def _read(self, room_id: str, lines: list[str]) -> None:
        """Let a battle's room read its lines, before poke-env asks for a choice."""
        begins = any(line.startswith(_BEGINS) for line in lines)
        room = self._rooms.get(room_id)
        if room is None:
            if not begins:  # a battle that is over, or the room of a series
                return
            room = self._rooms[room_id] = self._decider.open(room_id, self.username)
        elif begins:
            self._decider.begin_again(room)
        for line in lines:
            room.read(line)
        if room.is_gone or room.result is not None:
            self._decider.finish(self._rooms.pop(room_id))

    def _choose(self, battle: AbstractBattle) -> str:
        room = self._rooms[battle.battle_tag]
        for _, choice in self._decider.decide([room]):
            return room.answer(choice)
        _log.warning("no request is open; the choice is the default", room=room.id)
        return f"/choose {DEFAULT}"


class _Choice(BattleOrder):
    """A choice in the server's words."""

    def __init__(self, text: str) -> None:
        self._text = text

    @property
    def message(self) -> str:
        return self._text


class _DrawnTeams(Teambuilder):
    """Draws a team for each battle, as ``nashdex serve`` does."""

    def __init__(self, teams: TeamPool, seed: int) -> None:
        self._teams = teams
        self._seed = seed
        self._num_drawn = 0

    def yield_team(self) -> str:
        self._num_drawn += 1
        _, packed = self._teams.draw(derive_seed(self._seed, "team", self._num_drawn))
        assert packed is not None, "there are teams to draw from"
        return packed
