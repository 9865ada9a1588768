"""What a seat knows as text, for language models and for people: the position, and the names of its legal actions.

It reads the tracker's state (docs/reference/tracker.md) and the request, nothing that the seat cannot see.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from nashdex.games.space import Space

_TEAM_SIZE: Final = 6
_MOVES: Final = 4
_GIMMICKS: Final = ("", "Mega Evolution", "Z-move", "Dynamax", "Terastallization")
_GIMMICK_OF_ACTION: Final = ("mega", "zmove", "dynamax", "terastallize")


def choices_of(
    space: Space, state: Mapping[str, Any], request: Mapping[str, Any], legal: NDArray[np.int64]
) -> dict[int, str]:
    """Return a name for each legal action, such as ``{2: "switch to Tauros", 7: "use Body Slam"}``.

    In doubles, an action is named by what each slot does.
    """
    if space.num_slots == 1:
        return {action: _choice(space.actions[action], action, state, request) for action in legal.tolist()}
    per_slot = len(space.actions)
    return {
        action: f"{space.actions[action // per_slot]}, {space.actions[action % per_slot]}" for action in legal.tolist()
    }


def position(state: Mapping[str, Any], choices: Mapping[int, str]) -> str:
    """Return the position and the legal choices as text, one fact a line."""
    return "\n".join(_lines(state, choices))


def _choice(name: str, action: int, state: Mapping[str, Any], request: Mapping[str, Any]) -> str:
    own = state["own"]["pokemon"]
    if action < _TEAM_SIZE:
        return f"{'lead with' if state['team_preview'] else 'switch to'} {own[action]['name']}"
    place, gimmick = (action - _TEAM_SIZE) % _MOVES, (action - _TEAM_SIZE) // _MOVES
    offered = (request.get("active") or [{}])[0].get("moves", [])
    known = own[state["own"]["active"]]["moves"]
    move_id = known[place]["id"] if place < len(known) else ""
    # A single offered move, such as Recharge or Struggle, has place 0 and need not be among the known ones.
    # An offered id may be longer, such as Hidden Power's with its type. Of Toxic and Toxic Spikes, Toxic is meant.
    alike = [move for move in offered if move_id and move["id"].startswith(move_id)]
    if alike:
        move = min(alike, key=lambda each: len(each["id"]))["move"]
    else:
        move = offered[place]["move"] if place < len(offered) else name
    return f"use {move}" + (f" with {_gimmick(name)}" if gimmick else "")


def _gimmick(name: str) -> str:
    words = name.lower().replace(" ", "").replace("-", "")
    return next((text for key, text in zip(_GIMMICK_OF_ACTION, _GIMMICKS[1:], strict=True) if key[:4] in words), name)


def _lines(state: Mapping[str, Any], choices: Mapping[int, str]) -> Iterator[str]:
    yield f"Turn {state['turn']}."
    field = [state["weather"], state["terrain"], *(state["rooms"] or {})]
    if any(field):
        yield f"Field: {', '.join(_name(part) for part in field if part)}."
    for whose, side in (("Your", state["own"]), ("The opponent's", state["opponent"])):
        if side["conditions"]:
            yield f"{whose} side: {', '.join(_name(each) for each in side['conditions'])}."
        num_able = sum(not each["fainted"] for each in side["pokemon"])
        yield f"{whose} team of {side['team_size']} ({num_able} seen and not fainted):"
        for pokemon in side["pokemon"]:
            yield f"- {_pokemon(pokemon)}"
    yield "Choices:"
    for action, name in choices.items():
        yield f"{action}: {name}"


def _name(part: Any) -> str:  # noqa: ANN401 a weather is a name, or a name with its turns
    return str(part["id"] if isinstance(part, Mapping) and "id" in part else part)


def _pokemon(pokemon: Mapping[str, Any]) -> str:
    if pokemon["fainted"]:
        return f"{pokemon['name']}, fainted"
    share = round(100 * pokemon["hp"] / pokemon["max_hp"]) if pokemon["max_hp"] else 0
    facts = [f"{pokemon['name']} L{pokemon['level']}", "/".join(pokemon["types"]), f"{share} % HP"]
    if pokemon["active"]:
        facts.insert(1, "active")
    facts += [part for part in (pokemon["status"], pokemon["item"], pokemon["ability"]) if part]
    facts += [f"{stat} {boost:+d}" for stat, boost in pokemon["boosts"].items() if boost]
    moves = ", ".join(f"{move['id']} ({move['pp']} PP)" for move in pokemon["moves"])
    return ", ".join(facts) + (f"; moves {moves}" if moves else "")
