"""Which moves and switches a log certainly forbids."""

import pytest

from nashdex_replays.bindings import Bindings
from nashdex_replays.teams import Member

MOVES = ["surf", "recover", "icebeam", "protect"]
ENTRY = ["|switch|p1a: Mil|Milotic|100/100", "|switch|p2a: Tyr|Tyranitar|100/100", "|turn|1"]
SURF = "|move|p1a: Mil|Surf|p2a: Tyr"


def bindings(lines: list[str], item: str | None = "leftovers", ability: str | None = "marvelscale") -> Bindings:
    own = Member("Mil", "Milotic", list(MOVES), item=item, ability=ability)
    found = Bindings(([own, Member("Gen", "Gengar")], [Member("Tyr", "Tyranitar")]), 9)
    for line in [*ENTRY, *lines]:
        found.read(line)
    return found


@pytest.mark.parametrize(
    ("lines", "item", "forbidden"),
    [
        ([SURF], "leftovers", set()),
        ([SURF], None, set()),
        ([SURF], "choicespecs", {"recover", "icebeam", "protect"}),
        ([SURF, "|-enditem|p1a: Mil|Choice Specs|[from] move: Knock Off|[of] p2a: Tyr"], "choicespecs", set()),
        ([SURF, "|-item|p1a: Mil|Leftovers|[from] move: Trick"], "choicespecs", set()),
        ([SURF, "|-item|p2a: Tyr|Choice Specs|[from] ability: Magician|[of] p1a: Mil"], "choicespecs", set()),
        ([SURF, "|switch|p1a: Mil|Milotic|100/100"], "choicespecs", set()),
        ([SURF, "|-fieldstart|move: Magic Room"], "choicespecs", set()),
        (["|move|p1a: Mil|Surf|p2a: Tyr|[from] move: Copycat"], "choicespecs", set()),
        (["|-start|p1a: Mil|Disable|Ice Beam"], "leftovers", {"icebeam"}),
        (["|-start|p1a: Mil|Disable|Ice Beam", "|-end|p1a: Mil|Disable"], "leftovers", set()),
        ([SURF, "|-start|p1a: Mil|Encore"], "leftovers", {"recover", "icebeam", "protect"}),
        (["|-start|p1a: Mil|move: Taunt"], "leftovers", {"recover", "protect"}),
        (["|-start|p1a: Mil|move: Taunt", "|-end|p1a: Mil|move: Taunt"], "leftovers", set()),
        ([], "assaultvest", {"recover", "protect"}),
        (["|-start|p1a: Mil|move: Heal Block"], "leftovers", {"recover"}),
        ([SURF, "|-start|p1a: Mil|Torment"], "leftovers", {"surf"}),
    ],
)
def test_moves_are_forbidden_as_long_as_what_forbids_them_lasts(
    lines: list[str], item: str | None, forbidden: set[str]
) -> None:
    assert bindings(lines, item).forbidden("p1a", MOVES) == forbidden


def test_what_would_forbid_all_known_moves_forbids_none() -> None:
    assert not bindings(["|-start|p1a: Mil|move: Taunt"]).forbidden("p1a", ["recover"])


def test_an_only_move_needs_the_whole_moveset_or_a_binding_to_one() -> None:
    taunted = bindings(["|-start|p1a: Mil|move: Taunt"])
    assert taunted.only_move("p1a", ["surf", "recover"]) is None, "it may have other attacks"
    assert taunted.only_move("p1a", ["surf", "recover", "protect", "toxic"]) == "surf"
    assert bindings([SURF], "choicescarf").only_move("p1a", ["surf", "recover"]) == "surf"
    assert bindings([SURF]).only_move("p1a", MOVES) is None


WHIRLPOOL = ["|move|p2a: Tyr|Whirlpool|p1a: Mil", "|-activate|p1a: Mil|move: Whirlpool|[of] p2a: Tyr"]
BLOCK = ["|move|p2a: Tyr|Block|p1a: Mil", "|-activate|p1a: Mil|trapped"]


@pytest.mark.parametrize(
    ("lines", "item", "trapped"),
    [
        ([], None, []),
        (WHIRLPOOL, None, ["p1a"]),
        (WHIRLPOOL, "shedshell", []),
        ([*WHIRLPOOL, "|-end|p1a: Mil|Whirlpool|[partiallytrapped]"], None, []),
        ([*WHIRLPOOL, "|switch|p2a: Tyr|Tyranitar|100/100"], None, []),
        ([*WHIRLPOOL, "|-start|p1a: Mil|typechange|Ghost"], None, []),
        (BLOCK, None, ["p1a"]),
        ([*BLOCK, "|faint|p2a: Tyr"], None, []),
        (["|-start|p1a: Mil|move: Ingrain"], None, ["p1a"]),
        (["|-fieldactivate|move: Fairy Lock", "|upkeep"], None, ["p1a", "p2a"]),
        (["|-fieldactivate|move: Fairy Lock", "|upkeep", "|upkeep"], None, []),
    ],
)
def test_a_trap_lasts_until_the_trapper_leaves(lines: list[str], item: str | None, trapped: list[str]) -> None:
    found = bindings(lines, item)
    assert [place for place in ("p1a", "p2a") if found.is_trapped(place)] == trapped
