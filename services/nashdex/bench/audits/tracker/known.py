"""Differences between the tracker and poke-env that are understood, by name.

The docstring of each test is the reason. For each, docs/reference/tracker.md shows an excerpt of a log that proves
which side is wrong.
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final

from nashdex.bench.audits.tracker.difference import Difference
from nashdex.bench.audits.tracker.reasons.doubles import (
    aims_z_moves_as_own_moves,
    keeps_preview_active,
    keeps_replaced_move,
    misses_pressure_of_field_moves,
    misses_pressure_of_partner,
    mixes_twins,
    numbers_moves_otherwise,
    offers_targets_of_locked,
)
from nashdex.bench.audits.tracker.reasons.formes import (
    confuses_disguise,
    confuses_own_disguise,
    copies_types_of_species,
    counts_disguised_lead_first,
    drops_what_was_passed,
    gives_imposter_transform,
    keeps_ability_of_copier,
    keeps_forme,
    keeps_forme_of_left,
    orders_copied_moves_as_seen,
    takes_stellar_for_a_type,
)
from nashdex.bench.audits.tracker.reasons.generations import (
    has_no_champions_data,
    has_no_lets_go_data,
    keeps_ability_of_mega,
    keeps_pp_of_changed_moves,
    keeps_trace_of_mega,
    lists_later_abilities,
    misses_moves_of_z_moves,
    misses_silent_pressure,
    misses_stone_of_line,
    offers_no_max_moves_of_locked,
    presses_callers,
    spends_pp_of_each_turn,
    types_hidden_power,
)
from nashdex.bench.audits.tracker.reasons.marks import (
    dates_weather_by_upkeep,
    ends_flash_fire,
    ends_yawn,
    keeps_boosts_of_fainted,
    keeps_destiny_bond,
    keeps_prepared_move,
    keeps_recharge,
    keeps_terastallization_of_fainted,
    keeps_types_of_fainted,
    misses_ability,
    misses_item_of_line,
    names_terastallization_in_details,
)
from nashdex.bench.audits.tracker.reasons.moves import (
    believes_desynchronisation,
    computes_max_pp_of_copies,
    copies_before_request,
    counts_mimicked_move_once,
    counts_pressure_of_disguise,
    gives_mimicked_move_own_pp,
    has_fifth_move,
    keeps_trapped,
    misses_pursuit,
    offers_switch_from_trap,
    presses_hidden_target,
    spends_pp_of_charge_at_once,
)

KNOWN_DIFFERENCES: Final[Mapping[str, Callable[[Difference], bool]]] = MappingProxyType(
    {
        "boosts of a fainted Pokémon": keeps_boosts_of_fainted,
        "Terastallization of a fainted Pokémon": keeps_terastallization_of_fainted,
        "Terastallization in details": names_terastallization_in_details,
        "types of a fainted Pokémon": keeps_types_of_fainted,
        "Destiny Bond that is over": keeps_destiny_bond,
        "Flash Fire": ends_flash_fire,
        "recharge that is over": keeps_recharge,
        "prepared move that is over": keeps_prepared_move,
        "start of a weather": dates_weather_by_upkeep,
        "ability shown by a line": misses_ability,
        "ability of later generations": lists_later_abilities,
        "item named by a line": misses_item_of_line,
        "stone named by a line": misses_stone_of_line,
        "ability of a Mega Evolution that is over": keeps_ability_of_mega,
        "Let's Go": has_no_lets_go_data,
        "PP in the champions formats": has_no_champions_data,
        "PP of Z-moves and Max moves": keeps_pp_of_changed_moves,
        "PP of later turns in the second generation": spends_pp_of_each_turn,
        "Max moves of a locked Pokémon": offers_no_max_moves_of_locked,
        "changed forme": keeps_forme,
        "forme for the time on the field": keeps_forme_of_left,
        "Stellar Terastallization": takes_stellar_for_a_type,
        "what was passed on": drops_what_was_passed,
        "types of a copy": copies_types_of_species,
        "copy of the own lead": copies_before_request,
        "Transform of an Imposter": gives_imposter_transform,
        "order of copied moves": orders_copied_moves_as_seen,
        "lead in disguise": counts_disguised_lead_first,
        "own disguise": confuses_own_disguise,
        "Yawn": ends_yawn,
        "trap that is over": keeps_trapped,
        "trap that is known": offers_switch_from_trap,
        "fifth move": has_fifth_move,
        "disguise": confuses_disguise,
        "PP of two-turn moves in the first generation": spends_pp_of_charge_at_once,
        "PP of Mimic": gives_mimicked_move_own_pp,
        "mimicked move twice": counts_mimicked_move_once,
        "most PP of copied moves": computes_max_pp_of_copies,
        "desynchronisation": believes_desynchronisation,
        "Pressure of a disguise": counts_pressure_of_disguise,
        "active without being brought": keeps_preview_active,
        "targets of a move that goes on": offers_targets_of_locked,
        "numbers of moves": numbers_moves_otherwise,
        "replaced move": keeps_replaced_move,
        "Pressure on moves of the field": misses_pressure_of_field_moves,
        "Pressure of a partner": misses_pressure_of_partner,
        "Pressure that is not announced": misses_silent_pressure,
        "Pressure on called moves": presses_callers,
        "Pressure on a hidden target": presses_hidden_target,
        "Pursuit of a switch": misses_pursuit,
        "move that a Z-move shows": misses_moves_of_z_moves,
        "Z-move of Hidden Power": types_hidden_power,
        "ability that a Mega Evolution traces": keeps_trace_of_mega,
        "targets of a Z-move": aims_z_moves_as_own_moves,
        "ability of a copier": keeps_ability_of_copier,
        "disguise beside its original": mixes_twins,
    }
)
"""In this order the first that applies explains a difference."""
