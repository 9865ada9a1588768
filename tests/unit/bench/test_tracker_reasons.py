"""Explanations of differences between the tracker and poke-env, on lines that random battles seldom have."""

import logging
from collections.abc import Callable

import pytest
from poke_env.battle import Battle

from audits.tracker.difference import Difference
from audits.tracker.reasons.doubles import (
    counts_pokemon_of_sheets,
    offers_no_pass_of_revival,
    presses_beside_the_target,
    presses_in_neutralizing_gas,
)
from audits.tracker.reasons.formes import confuses_own_disguise, copies_types_of_species
from audits.tracker.reasons.generations import offers_no_max_moves_of_locked, types_hidden_power
from audits.tracker.reasons.marks import (
    copies_boosts_backwards,
    keeps_ability_of_fainted,
    misses_regeneration,
    misses_swapped_abilities,
)
from audits.tracker.reasons.moves import gives_mimicked_move_own_pp, keeps_trapped


def of_wobbuffet(move: str, lines: list[str]) -> Difference:
    """Return a difference in the PP of ``move``, which p1's Wobbuffet has mimicked or not."""
    battle = Battle("battle-1", "somebody", logging.getLogger("referee"), gen=2)
    battle.player_role = "p1"
    return Difference(
        feature="own.pp",
        tracker=[move, 5],
        poke_env=[move, 24],
        state={"name": "Wobbuffet"},
        battle_state={"generation": 2},
        pokemon=None,
        battle=battle,
        request={},
        lines=["|switch|p1a: Wobbuffet|Wobbuffet, L95, M|554/554", *lines],
    )


@pytest.mark.parametrize(
    ("move", "mimicked", "explains"),
    [
        ("hiddenpowerdark", "Hidden Power", True),
        ("firepunch", "Fire Punch", True),
        ("mimic", "Fire Punch", True),
        ("counter", "Hidden Power", False),
        ("hiddenpowerdark", "Fire Punch", False),
    ],
)
def test_a_mimicked_hidden_power_is_known_without_its_type(move: str, mimicked: str, *, explains: bool) -> None:
    lines = [f"|-activate|p1a: Wobbuffet|move: Mimic|{mimicked}"]
    assert gives_mimicked_move_own_pp(of_wobbuffet(move, lines)) is explains
    assert not gives_mimicked_move_own_pp(of_wobbuffet(move, []))


def of_camerupt(tracker: str, ability: str, lines: list[str]) -> Difference:
    """Return a difference in the item of p2's Camerupt, whose opponent looks like an Electrode."""
    battle = Battle("battle-1", "somebody", logging.getLogger("referee"), gen=9)
    battle.player_role = "p1"
    name = "Zoroark" if ability == "illusion" else "Electrode"
    return Difference(
        feature="opponent.item",
        tracker=tracker,
        poke_env="leftovers",
        state={"name": "Camerupt"},
        battle_state={"generation": 9},
        pokemon=None,
        battle=battle,
        request={"side": {"pokemon": [{"active": True, "baseAbility": ability, "ident": f"p1: {name}"}]}},
        lines=["|switch|p1a: Electrode|Electrode-Hisui|282/282", *lines],
    )


SWAP = "|-item|p2a: Camerupt|Life Orb|[from] move: Trick"


@pytest.mark.parametrize(
    ("tracker", "ability", "lines", "explains"),
    [
        ("lifeorb", "illusion", [SWAP], True),
        ("lifeorb", "static", [SWAP], False),
        ("leftovers", "illusion", [SWAP], False),
        ("lifeorb", "illusion", [], False),
        ("lifeorb", "illusion", [SWAP, "|-enditem|p2a: Camerupt|Life Orb|[from] move: Knock Off"], False),
    ],
)
def test_a_swap_of_items_with_an_own_disguise_gives_the_item_of_the_line(
    tracker: str, ability: str, lines: list[str], *, explains: bool
) -> None:
    assert confuses_own_disguise(of_camerupt(tracker, ability, lines)) is explains


MEGA = "|-mega|p1a: Sceptile|Sceptile|Sceptilite"
COPY = "|-transform|p2a: Ditto|p1a: Sceptile|[from] ability: Imposter"
COMES_IN = "|switch|p1a: Sceptile|Sceptile, M|100/100"


@pytest.mark.parametrize(
    ("lines", "explains"),
    [
        ([COMES_IN, MEGA, COPY], True),
        ([COMES_IN, MEGA], False),
        ([COMES_IN, COPY], False),
        ([COMES_IN, COPY, MEGA], False),
    ],
)
def test_a_copied_mega_evolution_has_types_that_its_species_has_not(lines: list[str], *, explains: bool) -> None:
    battle = Battle("battle-1", "somebody", logging.getLogger("referee"), gen=6)
    battle.player_role = "p2"
    difference = Difference(
        feature="own.types",
        tracker=["dragon", "grass"],
        poke_env=["grass"],
        state={"name": "Ditto"},
        battle_state={"generation": 6},
        pokemon=None,
        battle=battle,
        request={},
        lines=[*lines, "|turn|2"],
    )
    assert copies_types_of_species(difference) is explains


@pytest.mark.parametrize(
    ("tracker", "poke_env", "z_moves", "explains"),
    [
        (["move hiddenpower", "move hiddenpower zmove"], ["move hiddenpower"], [{"move": "Breakneck Blitz"}], True),
        (["move hiddenpower"], ["move hiddenpower", "move hiddenpower zmove"], [None], True),
        (["move hiddenpower"], ["move hiddenpower", "move hiddenpower zmove"], None, True),
        (["move hiddenpower", "move hiddenpower zmove"], ["move hiddenpower"], [None], False),
        (["move hiddenpower", "move hiddenpower zmove"], ["move hiddenpower"], None, False),
        (["move hiddenpower", "move hiddenpower zmove"], [], [{"move": "Breakneck Blitz"}], False),
    ],
)
def test_hidden_power_has_the_z_move_of_its_own_type(
    tracker: list[str], poke_env: list[str], z_moves: list[dict[str, str] | None] | None, *, explains: bool
) -> None:
    active = {"moves": [{"id": "hiddenpower"}], **({} if z_moves is None else {"canZMove": z_moves})}
    difference = Difference(
        feature="choices",
        tracker=tracker,
        poke_env=poke_env,
        state={},
        battle_state={"generation": 7},
        pokemon=None,
        battle=Battle("battle-1", "somebody", logging.getLogger("referee"), gen=7),
        request={"active": [active]},
        lines=[],
    )
    assert types_hidden_power(difference) is explains


BOUND = "|-activate|p2a: Murkrow|move: Wrap|[of] p1a: Shuckle"
LEAVES = "|switch|p1a: Yanma|Yanma, L92, F|267/267"


@pytest.mark.parametrize(
    ("feature", "lines", "explains"),
    [
        ("opponent.volatile.bound", [BOUND, LEAVES], True),
        ("opponent.volatile.bound", [BOUND], False),
        ("opponent.volatile.bound", [LEAVES, BOUND], False),
        ("opponent.volatile.trapped", ["|-activate|p2a: Murkrow|trapped", LEAVES], True),
        ("opponent.volatile.trapped", [LEAVES, "|-activate|p2a: Murkrow|trapped"], False),
        ("opponent.volatile.curse", [BOUND, LEAVES], False),
    ],
)
def test_who_leaves_sets_free(feature: str, lines: list[str], *, explains: bool) -> None:
    battle = Battle("battle-1", "somebody", logging.getLogger("referee"), gen=3)
    battle.player_role = "p1"
    difference = Difference(
        feature=feature,
        tracker=False,
        poke_env=True,
        state={"name": "Murkrow"},
        battle_state={"generation": 3},
        pokemon=None,
        battle=battle,
        request={},
        lines=["|switch|p2a: Murkrow|Murkrow, L90, F|100/100", *lines],
    )
    assert keeps_trapped(difference) is explains


@pytest.mark.parametrize(
    ("tracker", "poke_env", "active", "explains"),
    [
        (["move roost", "move defog dynamax"], ["move roost"], {"canDynamax": True}, True),
        (["move roost", "move defog dynamax"], ["move roost", "switch Lunala"], {"canDynamax": True}, True),
        (["move defog", "move roost"], ["move roost"], {}, True),
        (["move defog", "move roost"], ["move roost"], {"canDynamax": True}, False),
        (["move roost", "switch Lunala"], ["move roost"], {}, False),
        (["move defog", "move roost"], ["move roost", "switch Lunala"], {"canDynamax": True}, False),
    ],
)
def test_what_locks_a_pokemon_does_not_bind_its_max_moves(
    tracker: list[str], poke_env: list[str], active: dict[str, bool], *, explains: bool
) -> None:
    difference = Difference(
        feature="choices",
        tracker=tracker,
        poke_env=poke_env,
        state={},
        battle_state={"maybe_trapped": True},
        pokemon=None,
        battle=Battle("battle-1", "somebody", logging.getLogger("referee"), gen=8),
        request={"active": [{"moves": [], "maxMoves": {"maxMoves": []}, **active}]},
        lines=[],
    )
    assert offers_no_max_moves_of_locked(difference) is explains


def of_doubles(feature: str, tracker: object, poke_env: object, lines: list[str], **state: object) -> Difference:
    """Return a difference about p2's Milotic, seen by p1 in doubles."""
    battle = Battle("battle-1", "somebody", logging.getLogger("referee"), gen=9)
    battle.player_role = "p1"
    return Difference(
        feature=feature,
        tracker=tracker,
        poke_env=poke_env,
        state={"name": "Milotic", **state},
        battle_state={"generation": 9},
        pokemon=None,
        battle=battle,
        request={"side": {"pokemon": [{"reviving": "[from] Revival Blessing" in lines}]}},
        lines=["|switch|p2a: Milotic|Milotic, F|100/100", *lines],
    )


COPIED = "|-copyboost|p1a: Raichu|p2a: Milotic|[from] move: Psych Up"
SIMPLE = "|-ability|p2a: Milotic|Simple|Marvel Scale|[from] move: Simple Beam"
SWAPPED = "|-activate|p2b: Druddigon|Skill Swap|||[of] p2a: Milotic"
GAS = "|-ability|p1b: Weezing|Neutralizing Gas"
STARSTORM = "|move|p2a: Milotic|Tera Starstorm|p1a: Raichu|[spread] p1a,p1b"
SHEET = "|showteam|p2|Milotic||Leftovers|Marvel Scale|]Gengar||Focus Sash|Cursed Body|"


@pytest.mark.parametrize(
    ("explains", "difference", "expected"),
    [
        (copies_boosts_backwards, of_doubles("opponent.boosts", {"spa": -1}, {"spa": 0}, [COPIED]), True),
        (copies_boosts_backwards, of_doubles("opponent.boosts", {"spa": -1}, {"spa": 0}, []), False),
        (
            keeps_ability_of_fainted,
            of_doubles("opponent.ability", "marvelscale", "simple", [SIMPLE], fainted=True, base_ability="marvelscale"),
            True,
        ),
        (
            keeps_ability_of_fainted,
            of_doubles(
                "opponent.ability", "marvelscale", "simple", [SIMPLE], fainted=False, base_ability="marvelscale"
            ),
            False,
        ),
        (misses_swapped_abilities, of_doubles("opponent.ability", "", "marvelscale", [SWAPPED]), True),
        (misses_swapped_abilities, of_doubles("opponent.ability", "", "marvelscale", [GAS]), False),
        (misses_regeneration, of_doubles("opponent.hp", [100, 100], [88, 100], [], base_ability="regenerator"), True),
        (misses_regeneration, of_doubles("opponent.hp", [90, 100], [40, 100], [], base_ability="regenerator"), False),
        (misses_regeneration, of_doubles("opponent.hp", [73, 100], [40, 100], [], base_ability="marvelscale"), False),
        (presses_in_neutralizing_gas, of_doubles("opponent.pp", ["surf", 23], ["surf", 22], [GAS]), True),
        (presses_in_neutralizing_gas, of_doubles("opponent.pp", ["surf", 22], ["surf", 23], [GAS]), False),
        (presses_in_neutralizing_gas, of_doubles("opponent.pp", ["surf", 23], ["surf", 22], []), False),
        (
            presses_beside_the_target,
            of_doubles("opponent.pp", ["terastarstorm", 7], ["terastarstorm", 6], [STARSTORM]),
            True,
        ),
        (
            presses_beside_the_target,
            of_doubles("opponent.pp", ["terastarstorm", 7], ["terastarstorm", 5], [STARSTORM]),
            False,
        ),
        (counts_pokemon_of_sheets, of_doubles("opponent.order", ["Milotic"], ["Gengar", "Milotic"], [SHEET]), True),
        (counts_pokemon_of_sheets, of_doubles("opponent.order", ["Milotic"], ["Gengar", "Milotic"], []), False),
        (counts_pokemon_of_sheets, of_doubles("opponent.order", ["Raichu"], ["Gengar", "Milotic"], [SHEET]), False),
        (offers_no_pass_of_revival, of_doubles("pairs", [0, 1, 2], [1, 2], ["[from] Revival Blessing"]), True),
        (offers_no_pass_of_revival, of_doubles("pairs", [0, 1, 2], [1, 2], []), False),
        (offers_no_pass_of_revival, of_doubles("pairs", [1, 2], [1], ["[from] Revival Blessing"]), False),
    ],
)
def test_reasons_of_doubles(explains: Callable[[Difference], bool], difference: Difference, *, expected: bool) -> None:
    assert bool(explains(difference)) is expected
