"""Metamon's baselines as scripted policies, under the names that the registry gives them.

Players and choosers are named: they import poke-env, which takes a moment.
"""

from pkgutil import resolve_name
from typing import TYPE_CHECKING, Final

from nashdex.policies.scripted.declaration import ScriptedPlayer, ScriptedPolicy

if TYPE_CHECKING:
    from nashdex.games.space import Space

_PACKAGE: Final = "nashdex_metamon.baselines"
_SHOWDOWN: Final = "showdown"


def _baseline(chooser: str, *, is_drawn: bool = False) -> ScriptedPolicy:
    """Return the policy of a baseline, ``module:function``; if ``is_drawn``, the function draws each battle's own."""

    def player(space: "Space") -> ScriptedPlayer:
        found = resolve_name(f"{_PACKAGE}.{chooser}")
        new_chooser = found if is_drawn else lambda _random: found
        made: ScriptedPlayer = resolve_name(f"{_PACKAGE}.seats:BaselinePlayer")(space, new_chooser)
        return made

    return ScriptedPolicy(player, games=frozenset({_SHOWDOWN}), needs_lines=True)


RANDOM: Final = _baseline("simple:uniform")
MAX_BP: Final = _baseline("simple:new_max_base_power", is_drawn=True)
GEN1_TRAINER: Final = _baseline("simple:gen1_trainer")
GEN1_TRAINER_GOOD_SWITCHING: Final = _baseline("simple:gen1_trainer_good_switching")
GEN1_BOSS_AI: Final = _baseline("simple:gen1_boss")
BASIC_SWITCHER: Final = _baseline("simple:basic_switcher")
GRUNT: Final = _baseline("simple:grunt")
BUG_CATCHER: Final = _baseline("simple:bug_catcher")
GYM_LEADER: Final = _baseline("gym_leader:gym_leader")
POKE_ENV_HEURISTIC: Final = _baseline("heuristics:poke_env_heuristic")
EASY_POKE_ENV_HEURISTIC: Final = _baseline("heuristics:easy_poke_env_heuristic")
EMERALD_KAIZO: Final = _baseline("kaizo.player:emerald_kaizo")
EMERALD_KAIZO_RISKY: Final = _baseline("kaizo.player:emerald_kaizo_risky")
EMERALD_KAIZO_REPAIRED: Final = _baseline("kaizo.player:emerald_kaizo_repaired")
