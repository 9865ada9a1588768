"""What metamon's code reads from lines, and what it overlooks."""

import pytest

from nashdex_metamon.appearance import Appearance
from nashdex_metamon.conditions import Conditions
from nashdex_metamon.dex import dex
from nashdex_metamon.lines import read_lines, read_request

COMES_IN = "|switch|p2a: Foe|Koffing, M|100/100"


def foe(*lines: str, generation: int = 4) -> Appearance:
    conditions = Conditions.of_generation(dex(generation))
    read_lines(conditions, ("|switch|p1a: Own|Kadabra|100/100", *lines))
    return conditions.appearances.of_side("p2")


@pytest.mark.parametrize(
    ("line", "ability"),
    [
        ("|-ability|p2a: Foe|Pressure", "pressure"),
        ("|-activate|p2a: Foe|ability: Shed Skin", "shedskin"),
        ("|-immune|p2a: Foe|[from] ability: Volt Absorb", "voltabsorb"),
        ("|-heal|p2a: Foe|100/100|[from] ability: Water Absorb|[of] p1a: Own", "waterabsorb"),
        ("|-damage|p1a: Own|88/100|[from] ability: Rough Skin|[of] p2a: Foe", "roughskin"),
        # Causes that metamon's code does not search.
        ("|-weather|SandStorm|[from] ability: Sand Stream|[of] p2a: Foe", None),
        ("|-status|p1a: Own|brn|[from] ability: Flame Body|[of] p2a: Foe", None),
        ("|-curestatus|p2a: Foe|slp|[from] ability: Early Bird", None),
        ("|-ability", None),
    ],
)
def test_abilities(line: str, ability: str | None) -> None:
    assert foe("|switch|p2a: Foe|Nidoking|100/100", line).shown_ability == ability


def test_the_ability_of_a_species_that_has_one_alone_is_known() -> None:
    assert foe(COMES_IN).shown_ability == "levitate"
    assert foe(COMES_IN, "|-endability|p2a: Foe").shown_ability is None


@pytest.mark.parametrize(
    ("lines", "item"),
    [
        (("|-heal|p2a: Foe|100/100|[from] item: Leftovers",), "leftovers"),
        (("|-damage|p2a: Foe|90/100|[from] item: Life Orb",), "lifeorb"),
        (("|-item|p2a: Foe|Choice Band|[from] move: Trick",), "choiceband"),
        (("|-status|p2a: Foe|tox|[from] item: Toxic Orb",), None),
        (("|-enditem|p2a: Foe|Sitrus Berry|[eat]", "|-heal|p2a: Foe|100/100|[from] item: Sitrus Berry"), None),
    ],
)
def test_items(lines: tuple[str, ...], item: str | None) -> None:
    assert foe(COMES_IN, *lines).item == item


def test_boosts_stay_until_the_next_comes_in_and_are_not_passed() -> None:
    raised = (COMES_IN, "|-boost|p2a: Foe|atk|2", "|-unboost|p2a: Foe|spe|9", "|-boost|p2a: Foe|def|x")
    assert foe(*raised, "|faint|p2a: Foe").boosts == {
        "accuracy": 0, "atk": 2, "def": 0, "evasion": 0, "spa": 0, "spd": 0, "spe": -6,
    }  # fmt: skip
    assert not any(foe(*raised, "|switch|p2a: Next|Absol|100/100|[from] Baton Pass").boosts.values())


def test_a_fifth_move_takes_the_place_of_the_last_but_itself() -> None:
    used = [f"|move|p2a: Foe|{move}|p1a: Own" for move in ("Tackle", "Smog", "Sludge", "Haze", "Struggle", "Curse")]
    assert foe(COMES_IN, *used).moves == ["curse", "tackle", "smog", "sludge"]


def test_names_have_cosmetic_formes() -> None:
    assert foe("|switch|p2a: Foe|Florges-White, F|100/100", generation=9).name == "florgeswhite"
    conditions = Conditions.of_generation(dex(3))
    own = {"ident": "p1: Own", "details": "Unown-Exclamation", "baseAbility": "levitate"}
    read_request(conditions, {"side": {"pokemon": [own]}})
    assert conditions.own_names == ("unownexclamation",)


@pytest.mark.parametrize(("move", "effect"), [("Tackle", "charge"), ("Thunderbolt", "noeffect")])
def test_an_electric_move_ends_charge(move: str, effect: str) -> None:
    conditions = Conditions.of_generation(dex(4))
    read_lines(conditions, (COMES_IN, "|-start|p2a: Foe|Charge", f"|move|p2a: Foe|{move}|p1a: Own"))
    assert conditions.effect("p2") == effect


def test_struggle_is_no_previous_move() -> None:
    conditions = Conditions.of_generation(dex(1))
    read_lines(conditions, (COMES_IN, "|move|p2a: Foe|Tackle|p1a: Own", "|move|p2a: Foe|Struggle|p1a: Own"))
    assert conditions.last_move("p2") is None


DITTO, KOFFING = "|switch|p2a: Copy|Ditto, L80|100/100", "|switch|p2a: Foe|Koffing, M|100/100"
TRANSFORM = "|-transform|p2a: Copy|p1a: Own"


@pytest.mark.parametrize(
    ("lines", "copied"),
    [
        ((DITTO,), ""),
        ((DITTO, TRANSFORM), "kadabra"),
        ((DITTO, TRANSFORM, KOFFING, DITTO), "kadabra"),
        ((DITTO, TRANSFORM, "|faint|p2a: Copy"), "kadabra"),
        ((DITTO, TRANSFORM, KOFFING, "|switch|p2a: Copy|Ditto, L80, shiny|100/100"), ""),
        ((DITTO, TRANSFORM, "|-formechange|p2a: Copy|Castform-Rainy"), ""),
    ],
)
def test_a_copy_keeps_the_species_until_its_details_change(lines: tuple[str, ...], copied: str) -> None:
    assert foe(*lines).copied == copied
