"""The searching policies, under the names that the registry gives them."""

from typing import TYPE_CHECKING, Final

from nashdex.games.showdown.formats import GAME as SHOWDOWN
from nashdex.policies.scripted.declaration import ScriptedPlayer, ScriptedPolicy

if TYPE_CHECKING:
    from nashdex.games.space import Space


def _player(space: "Space", nodes: float, turns: float, milliseconds: float) -> ScriptedPlayer:
    # Late: a process that only knows the names needs no gateway client.
    from nashdex.policies.search.player import SearchPlayer  # noqa: PLC0415

    return SearchPlayer(space, int(nodes), int(turns), milliseconds or None)


def _poke_engine(space: "Space", worlds: float, milliseconds: float) -> ScriptedPlayer:
    # Late: as above.
    from nashdex.policies.search.engine import PokeEnginePlayer  # noqa: PLC0415

    return PokeEnginePlayer(space, int(worlds), milliseconds)


def _matrix(nodes: int, max_concurrent_battles: int, milliseconds: float = 0.0) -> ScriptedPolicy:
    return ScriptedPolicy(
        _player,
        games=frozenset({SHOWDOWN}),
        needs_lines=True,
        parameters={"nodes": nodes, "turns": 1, "milliseconds": milliseconds},
        max_concurrent_battles=max_concurrent_battles,
    )


MATRIX: Final = _matrix(nodes=100, max_concurrent_battles=8)
MATRIX_SMALL: Final = _matrix(nodes=1, max_concurrent_battles=16)
"""One world."""
MATRIX_ONE_SECOND: Final = _matrix(nodes=1_000_000, max_concurrent_battles=1, milliseconds=1000.0)
"""As many worlds as a second allows: the only one whose choices depend on the machine."""
POKE_ENGINE: Final = ScriptedPolicy(
    _poke_engine,
    games=frozenset({SHOWDOWN}),
    needs_lines=True,
    parameters={"worlds": 4, "milliseconds": 1000.0},
    max_concurrent_battles=1,
)
"""The search of the package poke-engine, for a second; refused where the package is not installed."""
