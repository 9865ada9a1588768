"""The tracker against poke-env: both follow the same battles, and everything that both know is compared.

``python -m nashdex.games.showdown.differential --format gen1ou --battles 2000 --seed 1`` plays battles through the
gateway, retells each seat's lines and requests to poke-env, and compares its battle with the gateway's tracker at
every decision. Differences that ``differential_known`` explains are counted by reason; the command fails on any other.
"""

import json
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, Final

import numpy as np
import typer
from poke_env.battle import Battle, Effect, Field, Pokemon, PokemonType, SideCondition, Status, Weather
from poke_env.data import GenData
from poke_env.environment import SinglesEnv

from nashdex.core.errors import TryAgainError
from nashdex.core.seeds import derive_seed, hex_seed
from nashdex.games.interface import Decisions
from nashdex.games.showdown.differential_known import KNOWN_DIFFERENCES, Difference
from nashdex.games.showdown.game import FORMATS, showdown_game
from nashdex.games.showdown.gateway import Gateway
from nashdex.games.showdown.poke_env_players import PokeEnvSeat

_NUM_CONCURRENT: Final = 16
_SILENCE_SECONDS: Final = 120.0
_HEURISTIC_SHARE: Final = 0.5
"""Of the decisions; the others are drawn among the legal actions, so that rare moves come up."""
_SWITCH_SHARE: Final = 0.15
"""Of drawn decisions that could be a move or a switch."""
_CONTEXT_LINES: Final = 40
_FIRST_MOVE_ACTION: Final = 6

_WEATHERS: Final = {Weather.SNOWSCAPE: "snowscape"}
_EFFECTS: Final = {
    "substitute": Effect.SUBSTITUTE,
    "confusion": Effect.CONFUSION,
    "leechseed": Effect.LEECH_SEED,
    "focusenergy": Effect.FOCUS_ENERGY,
    "disable": Effect.DISABLE,
    "bide": Effect.BIDE,
    "reflect": Effect.REFLECT,
    "attract": Effect.ATTRACT,
    "curse": Effect.CURSE,
    "encore": Effect.ENCORE,
    "destinybond": Effect.DESTINY_BOND,
    "trapped": Effect.TRAPPED,
    "charge": Effect.CHARGE,
    "flashfire": Effect.FLASH_FIRE,
    "imprison": Effect.IMPRISON,
    "ingrain": Effect.INGRAIN,
    "taunt": Effect.TAUNT,
    "torment": Effect.TORMENT,
    "yawn": Effect.YAWN,
    "aquaring": Effect.AQUA_RING,
    "healblock": Effect.HEAL_BLOCK,
    "magnetrise": Effect.MAGNET_RISE,
    "slowstart": Effect.SLOW_START,
    "smackdown": Effect.SMACK_DOWN,
    "throatchop": Effect.THROAT_CHOP,
    "noretreat": Effect.NO_RETREAT,
    "tarshot": Effect.TAR_SHOT,
    "saltcure": Effect.SALT_CURE,
    "syrupbomb": Effect.SYRUP_BOMB,
    "glaiverush": Effect.GLAIVE_RUSH,
    "minimize": Effect.MINIMIZE,
    **{f"paradox{stat}": Effect[f"PROTOSYNTHESIS{stat.upper()}"] for stat in ("atk", "def", "spa", "spd", "spe")},
}
"""Volatiles that both know, by the tracker's names."""
_FIRST_GENERATION_EFFECTS: Final = {"mist": Effect.MIST}
"""In later generations poke-env's effect stands for more than the volatile."""
_PARADOX_TWINS: Final = {f"paradox{s}": Effect[f"QUARKDRIVE{s.upper()}"] for s in ("atk", "def", "spa", "spd", "spe")}
_BOUND: Final = (Effect.BIND, Effect.CLAMP, Effect.FIRE_SPIN, Effect.INFESTATION, Effect.MAGMA_STORM, Effect.SAND_TOMB,
                 Effect.SNAP_TRAP, Effect.THUNDER_CAGE, Effect.WHIRLPOOL, Effect.WRAP)  # fmt: skip
_PERISH: Final = {Effect.PERISH3: 1, Effect.PERISH2: 2, Effect.PERISH1: 3, Effect.PERISH0: 4}
_STOCKPILE: Final = {Effect.STOCKPILE1: 1, Effect.STOCKPILE2: 2, Effect.STOCKPILE3: 3}


@dataclass(frozen=True)
class Compared:
    """One feature as both see it, in the same terms."""

    feature: str
    tracker: Any
    poke_env: Any
    state: Mapping[str, Any]
    """The tracker's entry of the Pokémon, or its whole state for a feature of the battle."""
    pokemon: Pokemon | None = None


@dataclass
class Report:
    """What was compared and how it came out."""

    format: str
    battles: int = 0
    decisions: int = 0
    failed: int = 0
    oddities: int = 0
    """Lines and requests that poke-env could not read."""
    compared: Counter[str] = field(default_factory=Counter)
    known: dict[str, Counter[str]] = field(default_factory=dict)
    """Explained differences by feature and name of the explanation."""
    unexplained: Counter[str] = field(default_factory=Counter)
    examples: list[dict[str, Any]] = field(default_factory=list)

    def as_json(self) -> dict[str, Any]:
        """Return it as plain JSON."""
        features = {
            name: {
                "compared": count,
                "unexplained": self.unexplained[name],
                "explained": dict(self.known.get(name, {})),
            }
            for name, count in sorted(self.compared.items())
        }
        return {
            "format": self.format,
            "battles": self.battles,
            "decisions": self.decisions,
            "failed": self.failed,
            "poke_env_oddities": self.oddities,
            "compared": self.compared.total(),
            "unexplained": self.unexplained.total(),
            "features": features,
            "examples": self.examples,
        }


@dataclass
class _Seat:
    """One seat of a battle under way."""

    player: PokeEnvSeat
    lines: list[str] = field(default_factory=list)


def compare(
    format_id: str, num_battles: int, seed: int, *, max_examples: int = 20, keep_known_examples: bool = False
) -> Report:
    """Play ``num_battles`` battles and compare at every decision.

    Args:
        format_id: one of the supported formats.
        num_battles: battles, two seats each.
        seed: of teams, battles and choices.
        max_examples: differences to keep with an excerpt of their lines, at most three of a kind.
        keep_known_examples: keep examples of explained differences too.

    Raises:
        TryAgainError: the gateway went away, or a battle failed there.
    """
    report = Report(format_id)
    generator = np.random.default_rng(derive_seed(seed, "differential", format_id))
    teams = showdown_game(format_id, None).teams()
    gateway = Gateway(format_id)
    seats: dict[tuple[int, int], _Seat] = {}
    rows: dict[tuple[int, int], Mapping[str, Any]] = {}
    started = 0

    def start(count: int) -> None:
        nonlocal started
        specs = []
        for number in range(started, started + count):
            drawn = [teams[i] for i in generator.integers(len(teams), size=2)] if teams else [None, None]
            paths = ("battle", "team 1", "team 2")
            battle_seed, *team_seeds = (hex_seed(derive_seed(seed, format_id, path, number)) for path in paths)
            specs.append(
                {"battle": number, "seed": battle_seed, "teams": drawn, "team_seeds": team_seeds,
                 "lines": [True, True], "states": [True, True], "log": False, "deadline_seconds": 600}
            )  # fmt: skip
        started += count
        gateway.send({"type": "start", "battles": specs})

    try:
        start(min(_NUM_CONCURRENT, num_battles))
        gateway.flush()
        while report.battles + report.failed < num_battles:
            message = gateway.receive(_SILENCE_SECONDS)
            if message is None:
                raise TryAgainError(f"the gateway was silent for {_SILENCE_SECONDS:.0f} s")
            if isinstance(message, Decisions):
                actions = []
                for row, key in enumerate(zip(message.battle.tolist(), message.seat.tolist(), strict=True)):
                    seat = seats.setdefault(key, _Seat(PokeEnvSeat(format_id, key[1])))
                    view = rows.pop(key)
                    seat.lines += view["lines"]
                    seat.player.read(view["lines"], view["request"])
                    _judge(report, key, seat, view, message.mask[row], max_examples, keep_known_examples)
                    actions.append(_choose(generator, seat.player, message.mask[row]))
                gateway.act(message.battle, message.seat, np.array(actions))
                gateway.flush()
            elif message["type"] == "lines":
                rows |= {(row["battle"], row["seat"]): row for row in message["rows"]}
            elif message["type"] in {"finished", "failed"}:
                for ended in message["battles"]:
                    for number in (0, 1):
                        seat_ended = seats.pop((ended["battle"], number), None)
                        report.oddities += seat_ended.player.num_oddities if seat_ended else 0
                    if message["type"] == "failed":
                        report.failed += 1
                        report.examples.append(dict(ended))
                    else:
                        report.battles += 1
                if started < num_battles:
                    start(min(len(message["battles"]), num_battles - started))
                    gateway.flush()
    finally:
        gateway.close()
    return report


def _choose(generator: np.random.Generator, player: PokeEnvSeat, mask: np.ndarray[Any, Any]) -> int:
    """Return a legal action: the heuristics' by one half, else one drawn, moves more often than switches."""
    preferred = player.choose() if generator.random() < _HEURISTIC_SHARE else None
    if preferred is not None and mask[preferred]:
        return preferred
    legal = np.flatnonzero(mask)
    moves = legal[legal >= _FIRST_MOVE_ACTION]
    switches = legal[legal < _FIRST_MOVE_ACTION]
    prefer_switch = not len(moves) or (len(switches) and generator.random() < _SWITCH_SHARE)
    return int(generator.choice(switches if prefer_switch else moves))


def _judge(
    report: Report,
    key: tuple[int, int],
    seat: _Seat,
    view: Mapping[str, Any],
    mask: np.ndarray[Any, Any],
    max_examples: int,
    keep_known_examples: bool,  # noqa: FBT001
) -> None:
    """Compare one decision and count the outcome."""
    report.decisions += 1
    battle = seat.player.battle
    for compared in features(battle, view["state"], view["request"], mask):
        report.compared[compared.feature] += 1
        if compared.tracker == compared.poke_env:
            continue
        difference = Difference(
            feature=compared.feature,
            tracker=compared.tracker,
            poke_env=compared.poke_env,
            state=compared.state,
            battle_state=view["state"],
            pokemon=compared.pokemon,
            battle=battle,
            request=view["request"],
            lines=seat.lines,
        )
        reason = next((known.name for known in KNOWN_DIFFERENCES if known.explains(difference)), None)
        kind = f"{compared.feature}: {reason}"
        if reason is None:
            report.unexplained[compared.feature] += 1
        else:
            report.known.setdefault(compared.feature, Counter())[reason] += 1
        if reason is not None and not keep_known_examples:
            continue
        if len(report.examples) < max_examples and sum(e["kind"] == kind for e in report.examples) < 500:
            report.examples.append(
                {"kind": kind, "battle": key[0], "seat": key[1], "turn": view["state"]["turn"],
                 "pokemon": compared.state.get("name"), "tracker": _plain(compared.tracker),
                 "poke_env": _plain(compared.poke_env), "lines": seat.lines[-_CONTEXT_LINES:]}
            )  # fmt: skip


def _plain(value: object) -> object:
    return value if isinstance(value, str | int | float | bool | None | dict) else repr(value)


def features(
    battle: Battle, state: Mapping[str, Any], request: Mapping[str, Any], mask: np.ndarray[Any, Any]
) -> Iterator[Compared]:
    """Yield every feature that both know, in the same terms."""
    yield Compared("turn", state["turn"], battle.turn, state)
    yield Compared("force_switch", state["force_switch"], bool(battle.force_switch), state)
    yield Compared("trapped", state["trapped"], bool(battle.trapped), state)
    yield Compared("maybe_trapped", state["maybe_trapped"], battle.maybe_trapped, state)
    yield Compared("reviving", state["reviving"], battle.reviving, state)
    for gimmick, theirs in (
        ("can_mega", battle.can_mega_evolve),
        ("can_z_move", battle.can_z_move),
        ("can_dynamax", battle.can_dynamax),
        ("can_tera", battle.can_tera),
    ):
        yield Compared(gimmick, state[gimmick], theirs, state)
    yield from _field_features(battle, state)
    yield from _choice_features(battle, state, request, mask)
    for name, team, conditions, used_tera in (
        ("own", battle.team, battle.side_conditions, battle.used_tera),
        ("opponent", battle.opponent_team, battle.opponent_side_conditions, battle.opponent_used_tera),
    ):
        side = state[name]
        yield Compared(f"{name}.used_tera", side["used_tera"], used_tera, state)
        yield from _condition_features(name, side["conditions"], conditions, state)
        by_name = {pokemon.name: pokemon for pokemon in team.values()}
        names = [entry["name"] for entry in side["pokemon"]]
        yield Compared(f"{name}.order", names, list(by_name), state)
        for entry in side["pokemon"]:
            if entry["name"] in by_name:
                yield from _pokemon_features(name, entry, by_name[entry["name"]], state)


def _field_features(battle: Battle, state: Mapping[str, Any]) -> Iterator[Compared]:
    weather = next(iter(battle.weather), None)
    ours = state["weather"]
    yield Compared("weather", ours["id"] if ours else "", _weather_id(weather), state)
    if ours and weather:
        yield Compared("weather.since", ours["since"], battle.weather[weather], state)
    fields = {_condition_id(known): since for known, since in battle.fields.items()}
    terrain = state["terrain"]
    mine = dict(state["rooms"]) | ({terrain["id"]: terrain["since"]} if terrain else {})
    yield Compared("fields", sorted(mine), sorted(fields), state)
    for condition, since in mine.items():
        if condition in fields:
            yield Compared("fields.since", since, fields[condition], state)


def _weather_id(weather: Weather | None) -> str:
    return "" if weather is None else _WEATHERS.get(weather, weather.name.lower())


def _condition_id(condition: Field | SideCondition) -> str:
    return condition.name.lower().replace("_", "")


def _condition_features(
    name: str, ours: Mapping[str, Any], conditions: Mapping[SideCondition, int], state: Mapping[str, Any]
) -> Iterator[Compared]:
    theirs = {_condition_id(condition): value for condition, value in conditions.items()}
    yield Compared(f"{name}.conditions", sorted(ours), sorted(theirs), state)
    for condition, entry in ours.items():
        if condition in theirs:
            stacks = condition in {"spikes", "toxicspikes"}
            value = entry["layers"] if stacks else entry["since"]
            feature = f"{name}.conditions.{'layers' if stacks else 'since'}"
            yield Compared(feature, value, theirs[condition], state)


def _choice_features(
    battle: Battle, state: Mapping[str, Any], request: Mapping[str, Any], mask: np.ndarray[Any, Any]
) -> Iterator[Compared]:
    """Compare what is legal, and what each action number means, in the simulator's terms."""
    ours = {int(action): _named_choice(choice, request) for action, choice in state["choices"].items()}
    yield Compared("mask", sorted(ours), np.flatnonzero(mask).tolist(), state)
    theirs = {}
    for action in np.flatnonzero(SinglesEnv.get_action_mask(battle)):
        order = SinglesEnv.action_to_order(np.int64(action), battle, fake=True)
        theirs[int(action)] = order.message.removeprefix("/choose ").replace("move 1", "move recharge")
    yield Compared("choices", sorted(ours.values()), sorted(theirs.values()), state)
    if sorted(ours.values()) == sorted(theirs.values()):
        yield Compared("action_numbers", ours, theirs, state)


def _named_choice(choice: str, request: Mapping[str, Any]) -> str:
    """Return a choice by numbers with the names that they stand for."""
    kind, number, *gimmick = choice.split()
    if kind == "switch":
        return f"switch {request['side']['pokemon'][int(number) - 1]['ident'][4:]}"
    return " ".join([kind, request["active"][0]["moves"][int(number) - 1]["id"], *gimmick])


def _pokemon_features(
    name: str, entry: Mapping[str, Any], pokemon: Pokemon, state: Mapping[str, Any]
) -> Iterator[Compared]:
    generation = state["generation"]

    def compared(feature: str, tracker: object, poke_env: object) -> Compared:
        return Compared(f"{name}.{feature}", tracker, poke_env, entry, pokemon)

    yield compared("species", entry["species"], _species(pokemon, entry["species"]))
    yield compared("level", entry["level"], pokemon.level)
    yield compared("hp", [entry["hp"], entry["max_hp"]], [pokemon.current_hp, pokemon.max_hp])
    status = pokemon.status
    yield compared("fainted", entry["fainted"], status == Status.FNT)
    yield compared("status", entry["status"], "" if status in {None, Status.FNT} else status.name.lower())
    yield compared("active", entry["active"], bool(pokemon.active))
    yield compared("boosts", entry["boosts"], {stat: pokemon.boosts[stat] for stat in entry["boosts"]})
    yield compared("types", sorted(entry["types"]), _type_names(pokemon))
    yield compared("terastallized", entry["terastallized"], pokemon.is_terastallized)
    if entry["terastallized"] and pokemon.tera_type:
        yield compared("tera", entry["tera"], pokemon.tera_type.name.lower())
    if generation >= 2:  # noqa: PLR2004 items came with the second generation
        item = pokemon.item
        yield compared("item", entry["item"], None if item == GenData.UNKNOWN_ITEM else item or "")
    if generation >= 3:  # noqa: PLR2004 abilities with the third
        yield compared("ability", entry["ability"], pokemon.ability or "")
    if name == "own":
        stats = {stat: value for stat, value in pokemon.stats.items() if value is not None}
        yield compared("stats", {stat: entry["stats"][stat] for stat in stats}, stats)
    yield compared("moves", sorted(move["id"] for move in entry["moves"]), sorted(pokemon.moves))
    for move in entry["moves"]:
        if move["id"] in pokemon.moves:
            theirs = pokemon.moves[move["id"]]
            yield compared("pp", [move["id"], move["pp"]], [move["id"], theirs.current_pp])
            yield compared("max_pp", [move["id"], move["max_pp"]], [move["id"], theirs.max_pp])
    if entry["active"]:
        yield from _volatile_features(name, entry, pokemon, generation)


def _type_names(pokemon: Pokemon) -> list[str]:
    """Return the types that are any."""
    return sorted(kind.name.lower() for kind in pokemon.types if kind is not PokemonType.THREE_QUESTION_MARKS)


def _species(pokemon: Pokemon, expected: str) -> str:
    """Return poke-env's species; a forme that differs in nothing but looks may count as the species itself."""
    if pokemon.species == expected:
        return expected
    dex = GenData.from_gen(pokemon.gen).pokedex
    base = dex[pokemon.base_species]
    looks = {forme.lower().replace("-", "").replace(" ", "").replace("é", "e") for forme in base.get("cosmeticFormes", [])}
    return pokemon.base_species if pokemon.species in looks else pokemon.species


def _volatile_features(
    name: str, entry: Mapping[str, Any], pokemon: Pokemon, generation: int
) -> Iterator[Compared]:
    ours = entry["volatiles"]
    effects = pokemon.effects
    known = _EFFECTS | (_FIRST_GENERATION_EFFECTS if generation == 1 else {})
    for volatile, effect in known.items():
        theirs = effect in effects or _PARADOX_TWINS.get(volatile) in effects
        yield Compared(f"{name}.volatile.{volatile}", volatile in ours, theirs, entry, pokemon)
    bound = any(effect in effects for effect in _BOUND)
    perish = max((count for effect, count in _PERISH.items() if effect in effects), default=0)
    stockpile = max((count for effect, count in _STOCKPILE.items() if effect in effects), default=0)
    for volatile, count, other in (
        ("bound", "bound" in ours, bound),
        ("perish", ours.get("perish", 0), perish),
        ("stockpile", ours.get("stockpile", 0), stockpile),
        ("recharge", "recharge" in ours, pokemon.must_recharge),
        ("transformed", "transformed" in ours, pokemon.transformed),
    ):
        yield Compared(f"{name}.volatile.{volatile}", count, other, entry, pokemon)
    preparing = pokemon.preparing_move.id if pokemon.preparing_move else ""
    yield Compared(f"{name}.prepared", entry["prepared"], preparing, entry, pokemon)


def main(
    format_id: Annotated[str, typer.Option("--format", help="One of the supported formats.")],
    battles: Annotated[int, typer.Option(min=1)] = 100,
    seed: Annotated[int, typer.Option()] = 1,
    examples: Annotated[int, typer.Option(min=0, help="Differences to show with their lines.")] = 20,
    *,
    known: Annotated[bool, typer.Option("--known", help="Show examples of explained differences too.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
) -> None:
    """Compare the gateway's tracker with poke-env; exit 1 on a difference that is not explained."""
    if format_id not in FORMATS:
        raise typer.BadParameter(f"{format_id!r}: expected one of {', '.join(FORMATS)}", param_hint="--format")
    report = compare(format_id, battles, seed, max_examples=examples, keep_known_examples=known)
    result = report.as_json()
    if as_json:
        typer.echo(json.dumps(result))
    else:
        _print(result)
    if result["unexplained"] or result["failed"]:
        sys.exit(1)


def _print(result: Mapping[str, Any]) -> None:
    typer.echo(f"{result['format']}: {result['battles']} battles, {result['decisions']} decisions, "
               f"{result['compared']} comparisons, {result['unexplained']} unexplained, {result['failed']} failed")  # fmt: skip
    for name, counts in result["features"].items():
        explained: Sequence[str] = [f"{reason} {count}" for reason, count in counts["explained"].items()]
        typer.echo(f"{name:32} {counts['compared']:9} compared {counts['unexplained']:7} unexplained  "
                   + "; ".join(explained))  # fmt: skip
    for example in result["examples"]:
        typer.echo(json.dumps(example, indent=1))


if __name__ == "__main__":
    typer.run(main)
