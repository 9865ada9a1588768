"""Side-swapped pairs: two battles with the same two teams, in which the policies change seats."""

from collections.abc import Iterator, Sequence
from itertools import count

from nashdex.core.ids import PolicyId
from nashdex.core.seeds import derive_seed, derive_uniform
from nashdex.games.interface import BattleSpec
from nashdex.games.teams import TeamPool
from nashdex.rollout.play import Assignment


class PairedBattles:
    """Numbered battles whose seeds and teams follow from ``root`` and their number alone.

    Battles 2p and 2p + 1 are pair p. Each seat keeps its team, and the first policy sits in seat n mod 2 of battle n.
    So each policy plays each team once, and the luck of the teams cancels.
    """

    def __init__(self, root: int, teams: Sequence[str] | TeamPool, deadline_seconds: float = 300.0) -> None:
        self._root = root
        self._pool = teams if isinstance(teams, TeamPool) else TeamPool(teams)
        self._deadline_seconds = deadline_seconds

    def assignment(
        self,
        number: int,
        policies: tuple[PolicyId, PolicyId],
        *,
        record: bool = False,
        record_opponent: bool = False,
        log: bool = False,
        game: int = 0,
    ) -> Assignment:
        """Return battle ``number``.

        Args:
            number: seats, seeds and teams follow from it.
            policies: the policy that the battle is counted for, then its opponent.
            record: keep the decisions of the first.
            record_opponent: keep the second's.
            log: keep the battle's log.
            game: of a series of battles with this number: equal but for the battle's seed.
        """
        seat = number % 2
        first_seed, second_seed = (derive_seed(self._root, "pair", number // 2, "team", side) for side in range(2))
        (first_name, first_team), (second_name, second_team) = self._pool.draw(first_seed), self._pool.draw(second_seed)
        spec = BattleSpec(
            seed=derive_seed(self._root, "battle", number, *(("game", game) if game else ())),
            teams=(first_team, second_team),
            team_seeds=(first_seed, second_seed),
            log=log,
            deadline_seconds=self._deadline_seconds,
        )
        first, second = policies
        return Assignment(
            spec=spec,
            seats=(second, first) if seat else (first, second),
            number=number,
            team_names=(first_name, second_name),
            first_seat=seat,
            record=(record_opponent, record) if seat else (record, record_opponent),
        )

    def self_play(self, policy: PolicyId) -> Iterator[Assignment]:
        """Yield battles of ``policy`` against itself without end, both seats recorded."""
        for number in count():
            yield self.assignment(number, (policy, policy), record=True, record_opponent=True)

    def pair_uniform(self, number: int, *path: str | int) -> float:
        """Return a draw in [0, 1) that both battles of ``number``'s pair share."""
        return derive_uniform(self._root, "pair", number // 2, *path)
