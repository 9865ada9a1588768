"""``search:poke-engine``: plays by the Monte Carlo tree search of the package ``poke-engine``, where it is installed.

The engine searches worlds that the seat cannot tell from its battle, the same as ``search:matrix``. The seat plays the
choice with the most visits over all worlds. The engine is in Rust and compiled for one generation; it does not say for
which.
"""

import importlib
from types import ModuleType
from typing import Any, Final

import numpy as np
import structlog
from numpy.typing import NDArray

from nashdex.core.errors import ConfigurationError
from nashdex.games.interface import Decisions
from nashdex.games.showdown.protocol import Sample, Sampled, SampledSeat
from nashdex.games.space import Space
from nashdex.policies.interface import Actions
from nashdex.policies.scripted.declaration import ScriptedPlayer
from nashdex.policies.search.engine_state import make_state, move_name
from nashdex.policies.search.searching import SearchGateway, search_roots

_log = structlog.get_logger()
_PACKAGE: Final = "poke_engine"
_USED: Final = (
    "State",
    "Side",
    "SideConditions",
    "Pokemon",
    "Move",
    "VolatileStatusDurations",
    "monte_carlo_tree_search",
)
_SUFFIXES: Final = {"": "", "mega": "-mega", "terastallize": "-tera"}
"""What the engine appends to a move, by the simulator's word. It has neither Z-moves nor Dynamax."""


class PokeEnginePlayer(ScriptedPlayer):
    """Asks the engine in ``worlds`` worlds, for ``milliseconds`` in all. Its choices depend on the machine."""

    def __init__(self, space: Space, worlds: int, milliseconds: float) -> None:
        """Raise ConfigurationError if the package is missing or has another interface."""
        self._engine = _installed()
        self._worlds = worlds
        self._milliseconds = milliseconds
        self._gateway = SearchGateway(space)
        self.illegal = 0
        """Number of answers with an illegal best choice; the best legal one was played instead."""
        self.failed = 0
        """Worlds that the engine did not accept."""

    def act(self, decisions: Decisions, uniforms: NDArray[np.float64]) -> Actions:
        """Answer each row. Its uniform number seeds the worlds, and draws an action where the engine has none."""
        rows = self._gateway.rows(decisions, search_roots(uniforms))
        sample = Sample(rows=rows, worlds=self._worlds, teams=self._gateway.teams)
        action = np.empty(len(decisions), dtype=np.int64)
        probability = np.ones(len(decisions))
        for row, found in enumerate(self._gateway.ask(sample, Sampled).rows):
            legal = decisions.legal[row].astype(np.int64)
            request = decisions.lines[found.battle, found.seat].request
            chosen = int(legal[0]) if len(legal) == 1 else self._search(found, request, set(legal.tolist()))
            if chosen is None:
                action[row], probability[row] = legal[int(uniforms[row] * len(legal))], 1.0 / len(legal)
            else:
                action[row] = chosen
        return Actions(action, np.log(probability).astype(np.float32))

    def forget(self, battle: int, seat: int) -> None:
        """Forget both seats of the battle, which has ended."""
        del seat
        self._gateway.forget(battle)

    def cpu_seconds(self) -> float:
        """Return the CPU time of the gateway that draws the worlds, in seconds; the engine runs in this process."""
        return self._gateway.cpu_seconds()

    def close(self) -> None:
        """Stop the gateway."""
        self._gateway.close()

    def _search(self, found: SampledSeat, request: dict[str, Any], legal: set[int]) -> int | None:
        """Return the legal action that the engine visits most, or None if it has none."""
        if found.cause is not None:
            _log.warning("a position was not searched", cause=found.cause.partition("\n")[0])
            return None
        visits: dict[str, float] = {}
        for world in found.worlds:
            for choice, share in self._shares(world).items():
                visits[choice] = visits.get(choice, 0.0) + share
        if not visits:
            return None
        actions = _actions(found, request)
        answers = sorted(visits, key=lambda choice: -visits[choice])
        playable = [actions[choice] for choice in answers if actions.get(choice) in legal]
        if actions.get(answers[0]) not in legal:
            self.illegal += 1
            _log.warning("poke-engine's choice is not legal", choice=answers[0], count=self.illegal)
        return playable[0] if playable else None

    def _shares(self, world: dict[str, Any]) -> dict[str, float]:
        """Return the share of visits of each choice in one world; empty if the engine does not accept the world."""
        duration = max(1, round(self._milliseconds / self._worlds))
        try:
            result = self._engine.monte_carlo_tree_search(make_state(self._engine, world), duration_ms=duration)
        except BaseException as error:
            # A panic in Rust is no Exception, and its class cannot be imported.
            if (
                not isinstance(error, OverflowError | TypeError | ValueError)
                and type(error).__name__ != "PanicException"
            ):
                raise
            self.failed += 1
            _log.warning("poke-engine did not accept a world", error=str(error).partition("\n")[0], count=self.failed)
            return {}
        total = sum(option.visits for option in result.side_one)
        return {option.move_choice: option.visits / total for option in result.side_one} if total else {}


def _actions(found: SampledSeat, request: dict[str, Any]) -> dict[str, int]:
    """Return the action of each choice, in the engine's words."""
    own, generation = found.worlds[0]["own"], found.worlds[0]["generation"]
    actions: dict[str, int] = {}
    for action, text in found.choices.items():
        kind, _, rest = text.partition(" ")
        if kind == "move":
            number, _, suffix = rest.partition(" ")
            if suffix not in _SUFFIXES:
                continue
            move = request["active"][0]["moves"][int(number) - 1]["id"]
            name = move_name(move, own["pokemon"][own["active"]], generation) + _SUFFIXES[suffix]
        else:
            # "switch 3", or "team 3, 1, 2": the leader comes first.
            name = f"switch {own['pokemon'][int(rest.partition(',')[0]) - 1]['species']}"
        actions.setdefault(name, int(action))
    return actions


def _installed() -> ModuleType:
    try:
        engine = importlib.import_module(_PACKAGE)
    except ImportError as error:
        raise ConfigurationError(
            f"search:poke-engine needs the package poke-engine, which cannot be imported here ({error}): install it, "
            "built for the format's generation (docs/reference/search.md), or play search:matrix"
        ) from error
    missing = [name for name in _USED if not hasattr(engine, name)]
    if missing:
        raise ConfigurationError(
            f"search:poke-engine needs the interface of poke-engine 0.0.48, and the installed package has no "
            f"{', '.join(missing)}: install that version (docs/reference/search.md)"
        )
    return engine
