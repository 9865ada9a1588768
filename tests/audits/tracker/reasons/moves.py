"""Reasons about moves, PP and traps."""

from typing import Final

from poke_env.data import to_id_str

from audits.tracker.difference import MIN_PARTS, Difference
from audits.tracker.reasons.doubles import offers_switch_of_trapped_slot

_FIRST_GENERATION_CHARGES: Final = frozenset({"dig", "fly", "razorwind", "skullbash", "skyattack", "solarbeam"})


def spends_pp_of_charge_at_once(difference: Difference) -> bool:
    """The first generation spends their PP in the second turn; poke-env in the first.

    Tests whether poke-env has counted exactly the uses whose second turn never came.
    """
    if not difference.is_about("pp") or difference.battle_state["generation"] != 1:
        return False
    move, left = difference.tracker
    if move not in _FIRST_GENERATION_CHARGES:
        return False
    unfinished = 0
    for parts in difference.parts():
        if parts[1] == "move" and parts[2] == difference.ident and to_id_str(parts[3]) == move:
            unfinished += -1 if any(part.startswith("[from]") for part in parts) else 1
    return bool(left - difference.poke_env[1] == unfinished)


def gives_mimicked_move_own_pp(difference: Difference) -> bool:
    """A mimicked move spends the PP of Mimic in the first generation, and has five later; poke-env gives it its own.

    Tests whether the move is Mimic, or one that this Pokémon has mimicked. Lines do not name Hidden Power's type.
    """
    if not difference.is_about("pp", "max_pp"):
        return False
    move = "hiddenpower" if difference.tracker[0].startswith("hiddenpower") else difference.tracker[0]
    return any(
        parts[2] == difference.ident
        and parts[1] in {"-start", "-activate"}
        and parts[3].removeprefix("move: ") == "Mimic"
        and (move == "mimic" or to_id_str(parts[4]) == move)
        for parts in difference.parts()
        if len(parts) > 4
    )


def copies_before_request(difference: Difference) -> bool:
    """A lead that transforms copies ability and moves of the own lead, which only the next request shows.

    Tests whether the Pokémon transformed before the first turn, when poke-env knew nothing of the original.
    """
    if difference.feature not in {"opponent.ability", "opponent.moves"}:
        return False
    stay = difference.since_entry()
    begun = next((at for at, parts in enumerate(stay) if parts[1] == "turn"), len(stay))
    return ["turn", "1"] in [parts[1:3] for parts in stay] and any(
        parts[1] == "-transform" and parts[2] == difference.ident for parts in stay[:begun]
    )


def keeps_trapped(difference: Difference) -> bool:
    """A Pokémon is trapped or bound only as long as the one that did it stays; a trap ends as soon as that one faints.

    poke-env takes it for trapped until it leaves, and for bound until a line says otherwise. Tests whether the one that
    trapped or bound the Pokémon has left or, of a trap, fainted since.
    """
    if not difference.is_about("volatile.trapped", "volatile.bound") or difference.tracker:
        return False
    is_bound = difference.is_about("volatile.bound")
    for parts in difference.parts():
        has_left = parts[1] in {"switch", "drag"} or (parts[1] == "faint" and not is_bound)
        if has_left and not parts[2].startswith(difference.role):
            return True
        if parts[1] == "-activate" and parts[2] == difference.ident and (is_bound or parts[3] == "trapped"):
            return False
    return False


def misses_pursuit(difference: Difference) -> bool:
    """Pursuit of a Pokémon that switches is a use of its own; poke-env takes it for a called move in some generations.

    Tests whether the move is Pursuit and poke-env misses no more than such uses, which Pressure doubles.
    """
    if not difference.is_about("pp") or difference.tracker[0] != "pursuit":
        return False
    uses = sum(parts[1] == "move" and "[from] move: Pursuit" in parts for parts in difference.parts())
    return bool(0 < difference.poke_env[1] - difference.tracker[1] <= 2 * uses)


def presses_hidden_target(difference: Difference) -> bool:
    """In doubles, some lines name no target, as that of a prepared move; poke-env takes it for one with Pressure.

    Tests whether poke-env counts at most one use more for each such line about the move.
    """
    if not difference.is_about("pp") or "slots" not in difference.battle_state["own"]:
        return False
    move, left = difference.tracker
    hidden = sum(
        parts[1] == "move" and difference.is_named(parts[2]) and to_id_str(parts[3]) == move and parts[4:5] == [""]
        for parts in difference.parts()
        if len(parts) > 3
    )
    return bool(0 < left - difference.poke_env[1] <= hidden)


def has_fifth_move(difference: Difference) -> bool:
    """poke-env gives a Pokémon five moves when one in its disguise, never seen through, has shown some of them."""
    return (
        difference.feature == "opponent.moves"
        and len(difference.tracker) == 4
        and set(difference.tracker) < set(difference.poke_env)
    )


def offers_switch_from_trap(difference: Difference) -> bool:
    """Where the request says that the Pokémon may be trapped, what is known of the opponent can make that certain.

    Tests whether the request leaves it open and the tracker offers what poke-env does but switches.
    """
    if difference.feature == "pairs":
        return offers_switch_of_trapped_slot(difference)
    return difference.feature == "choices" and difference.tracker == without_trapped_switches(difference)


def without_trapped_switches(difference: Difference) -> list[str]:
    """Return poke-env's choices, without switches if the Pokémon may be trapped and the tracker offers none."""
    theirs: list[str] = difference.poke_env
    offers_switch = any(choice.startswith("switch ") for choice in difference.tracker)
    if offers_switch or not difference.battle_state["maybe_trapped"]:
        return theirs
    return [choice for choice in theirs if not choice.startswith("switch ")]


def counts_mimicked_move_once(difference: Difference) -> bool:
    """A Pokémon can mimic a move that it knows, or copy one that did: it has it twice; poke-env keeps moves by name."""
    return (
        (difference.feature == "choices" or difference.is_about("moves"))
        and sorted(set(difference.tracker)) == difference.poke_env
        and any(
            parts[1] in {"-start", "-activate"} and parts[3].removeprefix("move: ") == "Mimic"
            for parts in difference.parts()
            if len(parts) > 3
        )
    )


def computes_max_pp_of_copies(difference: Difference) -> bool:
    """Before the fifth generation only requests say how many PP a copied move can have; poke-env computes it.

    Tests whether the moves are copies of a generation whose requests alone say how many PP they can have.
    """
    pokemon = difference.pokemon
    copies_have_own = difference.battle_state["generation"] >= 5
    return difference.is_about("max_pp") and pokemon is not None and pokemon.transformed and not copies_have_own


def believes_desynchronisation(difference: Difference) -> bool:
    """poke-env counts a move that a desynchronisation of the first generation lends as one of the user's own."""
    if not difference.is_about("moves", "pp"):
        return False
    lent = set()
    is_desynced = False
    for line in difference.lines:
        parts = line.split("|")
        if parts[1:3] == ["-hint", "Desync Clause Mod activated!"]:
            is_desynced = True
        elif is_desynced and parts[1:2] == ["move"]:
            is_desynced = False
            if parts[2] == difference.ident:
                lent.add(to_id_str(parts[3]))
    return bool(lent) and (difference.is_about("pp") or set(difference.poke_env) - set(difference.tracker) <= lent)


def counts_pressure_of_disguise(difference: Difference) -> bool:
    """poke-env takes PP for the Pressure that a disguised opponent would have, and does not read PP from requests.

    Tests whether poke-env counts one more for some of the uses against opponents whose disguise ended.
    """
    if difference.feature != "own.pp":
        return False
    move, left = difference.tracker
    uses = uses_in_stay = 0
    for line in difference.lines:
        parts = line.split("|")
        if len(parts) < MIN_PARTS:
            continue
        is_foe = not parts[2].startswith(difference.role)
        if parts[1] in {"switch", "drag"} and is_foe:
            uses_in_stay = 0
        elif parts[1] == "move" and parts[2] == difference.ident and to_id_str(parts[3]) == move:
            uses_in_stay += 1
        elif parts[1] == "replace" and is_foe:
            uses += uses_in_stay
    return bool(0 < left - difference.poke_env[1] <= uses)
