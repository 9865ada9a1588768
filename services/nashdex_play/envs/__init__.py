"""Environments of other libraries' interfaces over the battle gateway: Gymnasium and PettingZoo.

They play, and neither train nor store. Their libraries come with the extra ``envs``.
"""

from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final

from nashdex.core.extras import required

if TYPE_CHECKING:
    from nashdex_play.envs.episodes import Clone
    from nashdex_play.envs.single import BattleEnv
    from nashdex_play.envs.turns import BattleAECEnv, BattleParallelEnv
    from nashdex_play.envs.vector import BattleVectorEnv
    from nashdex_play.envs.views import EnvView

__all__ = ["BattleAECEnv", "BattleEnv", "BattleParallelEnv", "BattleVectorEnv", "Clone", "EnvView"]

_MODULES: Final = {
    "BattleAECEnv": "nashdex_play.envs.turns",
    "BattleEnv": "nashdex_play.envs.single",
    "BattleParallelEnv": "nashdex_play.envs.turns",
    "BattleVectorEnv": "nashdex_play.envs.vector",
    "Clone": "nashdex_play.envs.episodes",
    "EnvView": "nashdex_play.envs.views",
}


def __getattr__(name: str) -> Any:  # noqa: ANN401 - whatever the name means
    """Import an environment's library when it is first asked for."""
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return required(f"{_MODULES[name]}:{name}", extra="envs", needed_by=name)


with suppress(ModuleNotFoundError):  # the first environment that is asked for names the extra
    import gymnasium

    # Users of Gymnasium expect this of an import.
    gymnasium.register(
        "nashdex/Battle-v0",
        entry_point="nashdex_play.envs.single:BattleEnv",
        vector_entry_point="nashdex_play.envs.vector:BattleVectorEnv",
    )
