"""What metamon's code knows of each Pokémon from the lines alone: name, ability, item, boosts, tera type.

It reads lines as poke-env 0.8.3 does and knows less than the tracker. An ability or item that a line shows only as a
cause (``[from]``) stays unknown but for the lines named here. Baton Pass passes no boosts. A fainted Pokémon keeps its
boosts and its tera type until the next comes in.
"""

from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from nashdex_metamon.dex import Dex
from nashdex_metamon.state import NUM_MOVES
from nashdex_replays.words import clean_name

STATS: Final = ("accuracy", "atk", "def", "evasion", "spa", "spd", "spe")
NOT_KEPT: Final = frozenset({"struggle", "recharge"})
"""Moves that poke-env does not keep."""
_MOST: Final = 6
_FROM_ABILITY: Final = "[from] ability:"
_FROM_ITEM: Final = "[from] item:"
_THEFTS: Final = ("[from] ability: Pickpocket", "[from] ability: Magician", "[from] move: Thief")


@dataclass(slots=True)
class Appearance:
    """One Pokémon."""

    name: str = ""
    """Its species' id, with a cosmetic forme, as its details had it when it came in last."""
    ability: str | None = None
    temporary_ability: str | None = None
    """Until it leaves; empty: none."""
    item: str | None = None
    lost_item: bool = False
    """Its item is gone, so no berry that it eats is shown any more."""
    moves: list[str] = field(default_factory=list)
    """Ids of at most four moves that it used: a fifth takes the place of the last but itself."""
    has_transformed: bool = False
    details: str = ""
    """Species, level and gender, as its last line has them."""
    copied: str = ""
    """Id of the species whose base stats and types it took by transforming: it keeps them when it leaves or faints."""
    tera: str = ""
    """Its type since it terastallized."""
    boosts: dict[str, int] = field(default_factory=lambda: dict.fromkeys(STATS, 0))

    @property
    def shown_ability(self) -> str | None:
        """The ability that a state shows; None if it is unknown."""
        return self.ability if self.temporary_ability is None else self.temporary_ability or None

    def leave(self) -> None:
        """Clear what ends when it leaves the field."""
        self.boosts = dict.fromkeys(STATS, 0)
        self.temporary_ability = None

    def boost(self, stat: str, stages: int) -> None:
        """Change a boost within its bounds."""
        self.boosts[stat] = max(-_MOST, min(_MOST, self.boosts.get(stat, 0) + stages))

    def use(self, move: str) -> None:
        """Note a move. If there are five, the new one and the first three others remain, in this order."""
        if move not in self.moves:
            self.moves.append(move)
        if len(self.moves) > NUM_MOVES:
            self.moves = [move, *(other for other in self.moves if other != move)][:NUM_MOVES]

    def hold(self, item: str | None) -> None:
        """Set the item; None: it has none any more."""
        self.item, self.lost_item = item, item is None


@dataclass(slots=True)
class Appearances:
    """Every Pokémon of a battle, by name such as ``p1: Pikachu``."""

    dex: Dex | None = None
    """The battle's generation; without it, abilities of species that have one alone stay unknown."""
    pokemon: defaultdict[str, Appearance] = field(default_factory=lambda: defaultdict(Appearance))
    active: dict[str, str] = field(default_factory=dict)
    """Active Pokémon by side."""

    def of_side(self, side: str) -> Appearance:
        """Return the active Pokémon of ``p1`` or ``p2``."""
        return self.pokemon[self.active.get(side, side)]

    def read(self, kind: str, parts: list[str]) -> None:
        """Read a line by its type and its further parts; lines of other types change nothing."""
        found = _HANDLERS.get(kind)
        if found is not None and len(parts) >= found[0]:
            found[1](self, parts)

    def named(self, position: str) -> Appearance:
        """Return the Pokémon at the beginning of a part, such as ``p1a: Pikachu``."""
        return self.pokemon[_key(position)]

    def learn_by_species(self, pokemon: Appearance, species: str) -> None:
        """Note the ability of a species that can have no other."""
        abilities = () if self.dex is None else self.dex.species(clean_name(species)).abilities
        if len(abilities) == 1:
            pokemon.ability = clean_name(abilities[0])


def _key(position: str) -> str:
    place, _, name = position.partition(": ")
    return f"{place[:2]}: {name}"


def _move(seen: Appearances, parts: list[str]) -> None:
    move = clean_name(parts[1])
    if move not in NOT_KEPT:
        seen.named(parts[0]).use(move)


def _switch(seen: Appearances, parts: list[str]) -> None:
    key = _key(parts[0])
    side, name = key[:2], clean_name(parts[1].partition(",")[0])
    if side in seen.active:
        seen.pokemon[seen.active[side]].leave()
    seen.active[side] = key
    pokemon = seen.pokemon[key]
    if pokemon.details != parts[1]:
        pokemon.details, pokemon.copied = parts[1], ""
    if pokemon.name != name:
        pokemon.name = name
        seen.learn_by_species(pokemon, name)


def _replace(seen: Appearances, parts: list[str]) -> None:
    key = _key(parts[0])
    seen.active[key[:2]] = key
    seen.pokemon[key].name = clean_name(parts[1].partition(",")[0])


def _change_forme(seen: Appearances, parts: list[str]) -> None:
    seen.named(parts[0]).copied = ""
    seen.learn_by_species(seen.named(parts[0]), parts[1].partition(",")[0])


def _ability(seen: Appearances, parts: list[str]) -> None:
    pokemon, ability = seen.named(parts[0]), clean_name(parts[1])
    if len(parts) > 2 and parts[2].startswith("[from] move:"):  # noqa: PLR2004 - a cause
        pokemon.temporary_ability = ability
    else:
        pokemon.ability = ability


def _end_ability(seen: Appearances, parts: list[str]) -> None:
    seen.named(parts[0]).temporary_ability = ""


def _activate(seen: Appearances, parts: list[str]) -> None:
    match parts:
        case [pokemon, effect, *_] if effect.startswith("ability: "):
            seen.named(pokemon).ability = clean_name(effect.removeprefix("ability: "))
        case [pokemon, "move: Skill Swap", given, lost, of] if pokemon:
            subject = seen.named(pokemon)
            subject.temporary_ability = clean_name(given)
            subject.ability = subject.ability or clean_name(lost)
            seen.named(of.removeprefix("[of] ")).temporary_ability = clean_name(lost)


def _damage(seen: Appearances, parts: list[str]) -> None:
    match parts:
        case [_, _, cause, of] if of.startswith("[of]"):
            other = seen.named(of.removeprefix("[of]").strip())
            if cause.startswith(_FROM_ITEM):
                other.hold(clean_name(cause.removeprefix(_FROM_ITEM)))
            elif cause.startswith(_FROM_ABILITY):
                other.ability = clean_name(cause.removeprefix(_FROM_ABILITY))
        case [pokemon, _, cause] if cause.startswith(_FROM_ITEM):
            seen.named(pokemon).hold(clean_name(cause.removeprefix(_FROM_ITEM)))


def _heal(seen: Appearances, parts: list[str]) -> None:
    match parts:
        case [pokemon, _, cause, of] if cause.startswith(_FROM_ABILITY):
            ability = clean_name(cause.removeprefix(_FROM_ABILITY))
            owner = of.removeprefix("[of] ").strip() if ability == "hospitality" else pokemon
            seen.named(owner).ability = ability
        case [pokemon, _, cause] if cause.startswith(_FROM_ITEM):
            if not seen.named(pokemon).lost_item:
                seen.named(pokemon).hold(clean_name(cause.removeprefix(_FROM_ITEM)))


def _immune(seen: Appearances, parts: list[str]) -> None:
    match parts:
        case [pokemon, cause] if cause.startswith(_FROM_ABILITY):
            seen.named(pokemon).ability = clean_name(cause.removeprefix(_FROM_ABILITY))


def _item(seen: Appearances, parts: list[str]) -> None:
    item = clean_name(parts[1])
    match parts:
        case [pokemon, _, "[from] ability: Frisk", of]:
            seen.named(of.removeprefix("[of] ")).ability = "frisk"
            seen.named(pokemon).hold(item)
        case [pokemon, _, cause, of] if cause in _THEFTS:
            seen.named(pokemon).hold(item)
            seen.named(of.removeprefix("[of] ")).hold(None)
            if "ability: " in cause:
                seen.named(pokemon).ability = clean_name(cause.removeprefix(_FROM_ABILITY))
        case [pokemon, *_]:
            seen.named(pokemon).hold(item)


def _end_item(seen: Appearances, parts: list[str]) -> None:
    seen.named(parts[0]).hold(None)


def _boost(seen: Appearances, parts: list[str]) -> None:
    if parts[2].isdecimal():
        seen.named(parts[0]).boost(parts[1], int(parts[2][:2]))


def _lower(seen: Appearances, parts: list[str]) -> None:
    if parts[2].isdecimal():
        seen.named(parts[0]).boost(parts[1], -int(parts[2][:2]))


def _set_boost(seen: Appearances, parts: list[str]) -> None:
    if parts[2].removeprefix("-").isdecimal():
        seen.named(parts[0]).boosts[parts[1]] = int(parts[2][:3])


def _clear_all(seen: Appearances, parts: list[str]) -> None:
    del parts
    for key in seen.active.values():
        seen.pokemon[key].boosts = dict.fromkeys(STATS, 0)


def _clear(seen: Appearances, parts: list[str]) -> None:
    seen.named(parts[0]).boosts = dict.fromkeys(STATS, 0)


def _keep_positive(seen: Appearances, parts: list[str]) -> None:
    pokemon = seen.named(parts[0])
    pokemon.boosts = {stat: max(stage, 0) for stat, stage in pokemon.boosts.items()}


def _keep_negative(seen: Appearances, parts: list[str]) -> None:
    pokemon = seen.named(parts[0])
    pokemon.boosts = {stat: min(stage, 0) for stat, stage in pokemon.boosts.items()}


def _invert(seen: Appearances, parts: list[str]) -> None:
    pokemon = seen.named(parts[0])
    pokemon.boosts = {stat: -stage for stat, stage in pokemon.boosts.items()}


def _copy_boosts(seen: Appearances, parts: list[str]) -> None:
    # The second gets the first one's boosts: the reverse of what Psych Up does.
    seen.named(parts[1]).boosts = dict(seen.named(parts[0]).boosts)


def _swap_boosts(seen: Appearances, parts: list[str]) -> None:
    first, second = seen.named(parts[0]), seen.named(parts[1])
    listed = parts[2] if len(parts) > 2 else "[from]"  # noqa: PLR2004 - the stats
    stats = STATS if "[from]" in listed else tuple(listed.split(", "))
    for stat in stats:
        first.boosts[stat], second.boosts[stat] = second.boosts.get(stat, 0), first.boosts.get(stat, 0)


def _transform(seen: Appearances, parts: list[str]) -> None:
    copy, original = seen.named(parts[0]), seen.named(parts[1])
    copy.boosts, copy.has_transformed, copy.copied = dict(original.boosts), True, original.name
    seen.learn_by_species(copy, original.name)


def _terastallize(seen: Appearances, parts: list[str]) -> None:
    seen.named(parts[0]).tera = clean_name(parts[1])


_HANDLERS: Final[dict[str, tuple[int, Callable[[Appearances, list[str]], None]]]] = {
    "move": (2, _move),
    "-prepare": (2, _move),
    "switch": (2, _switch),
    "drag": (2, _switch),
    "replace": (2, _replace),
    "-formechange": (2, _change_forme),
    "detailschange": (2, _change_forme),
    "-ability": (2, _ability),
    "-endability": (1, _end_ability),
    "-activate": (2, _activate),
    "-damage": (3, _damage),
    "-heal": (3, _heal),
    "-immune": (2, _immune),
    "-item": (2, _item),
    "-enditem": (2, _end_item),
    "-boost": (3, _boost),
    "-unboost": (3, _lower),
    "-setboost": (3, _set_boost),
    "-clearallboost": (0, _clear_all),
    "-clearboost": (1, _clear),
    "-clearnegativeboost": (1, _keep_positive),
    "-clearpositiveboost": (1, _keep_negative),
    "-invertboost": (1, _invert),
    "-copyboost": (2, _copy_boosts),
    "-swapboost": (2, _swap_boosts),
    "-transform": (2, _transform),
    "-terastallize": (2, _terastallize),
}
"""By type of line: how many parts it has at least, and what reads them."""
