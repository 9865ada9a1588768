"""Estimated damage: numbers that follow from an observation, so that a network need not learn the games' formula.

Shapes: B decisions, F observation values, W values with the estimates, S = 2 sides (the own one first), P Pokémon of a
side, K moves of each.

A move does ((2 L / 5 + 2) · power · attack / defence / 50 + 2) · STAB · effectiveness · .925 damage to the opposing
active Pokémon; .925 is the mean of the random factors (https://bulbapedia.bulbagarden.net/wiki/Damage). Boosts, burns
and screens count. Critical hits, items, abilities, weather and moves without a fixed power do not. A side knows its own
stats. The opponent's follow from base stats and levels, with the effort that the generators of random battles choose:
all of it in generations 1 and 2, 84 points in each stat later.

It is computed at every decision, so all columns are gathered and scaled at once, and small operations are few.
"""

import re
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Final, NamedTuple

import torch
from torch import Tensor, nn

from nashdex.core.errors import ConfigurationError
from nashdex.games.space import ObservationField, Space

OF_MOVES: Final = ("damage", "damage_to_rest", "knock_out")
"""Estimates of a move of an active Pokémon: the damage as a share of the target's full HP (at most 1.5), as a share of
the HP that it has left (at most 1), and the share of random factors that leave it none. Moves on the bench have none:
equal rows are computed once (``pointer.encoder.distinct``), and estimates would tell them apart."""
OF_POKEMON: Final = ("best_damage", "type_damage", "type_damage_taken", "speed")
"""Estimates of a Pokémon: accuracy · damage of its best known move as a share of the target's full HP; the damage of a
move of power 80 of the best of its types; the same from the opposing active Pokémon to this one; and log2 of the ratio
of their Speeds, -1 to 1."""

_SIDES: Final = ("own", "opponent")
_NUM_STATS: Final = 6
_OFFENCES, _DEFENCES = slice(1, 4, 2), slice(2, 5, 2)
"""Attack and Special Attack, Defense and Special Defense among hp, atk, def, spa, spd, spe."""
_SPEED: Final = 5
_NUM_BOOSTS: Final = 5

_NO_EFFECT = -2.5
"""A log2 of a multiplier that is smaller stands for no effect at all."""
_STAB = 1.5
_MEAN_FACTOR, _RANGE = 0.925, 0.15
"""The random factors go from .85 to 1."""
_TYPICAL_POWER = 80.0
_MOST_DAMAGE = 1.5
_LEAST_SHARE = 1e-2
_STEPS = 32
"""Estimates of moves are multiples of 1 / 32, so that more rows are equal."""
_LAST_WITH_STAT_EXPERIENCE = 2
_LAST_OF_SEVERE_PARALYSIS = 6
_MOST_STAGES = 6


class _Part(NamedTuple):
    """A number of the observation and the factor that turns it into what the formula takes."""

    block: str
    field: str
    number: int = 0
    factor: float = 1.0


class DamageEstimates(nn.Module):
    """Adds the estimates to observations of a space that has one active Pokémon on each side.

    Raises:
        ConfigurationError: the space is another, or lacks a number that the formula needs.
    """

    _columns: Tensor
    _factors: Tensor
    _of_opponent: Tensor
    _effort: Tensor
    _least: Tensor
    _boosts: Tensor
    _order: Tensor

    def __init__(self, space: Space) -> None:
        super().__init__()
        found = re.match(r"gen(\d+)", space.format)
        if found is None or space.num_slots != 1:
            raise _unfit(space, "expected a Showdown format with one active Pokémon on each side")
        generation = int(found[1])
        self._num_pokemon = len(_columns_of(space, _Part("own", "active")))
        self._moves_each = len(_columns_of(space, _Part("own_moves", "power"))) // self._num_pokemon
        parts = [list(each) for each in _observed(generation)]
        columns, factors = zip(*(_gathered(space, self._num_pokemon, part) for part in parts), strict=True)
        self._sizes = [len(of_part) for of_part in columns]
        self.space = _widened(space)
        """The space with the estimates."""
        opponent = torch.tensor([0.0, 1.0]).view(1, 2, 1, 1)
        effort = torch.full((1, 1, _NUM_STATS, 1), 93.0 if generation <= _LAST_WITH_STAT_EXPERIENCE else 52.0)
        least = torch.full((1, 1, _NUM_STATS, 1), 5.0)
        effort[:, :, 0] += 100
        least[:, :, 0] += 5
        stages = range(-_MOST_STAGES, _MOST_STAGES + 1)
        for name, values in {
            "_columns": torch.tensor([*chain(*columns)]),
            "_factors": torch.tensor([*chain(*factors)]),
            "_of_opponent": opponent[..., 0],
            # In HP and the other stats of the opponent: ((2 base + effort) · level / 100 + least).
            "_effort": effort * opponent,
            "_least": least * opponent,
            "_boosts": torch.tensor([max(2, 2 + stage) / max(2, 2 - stage) - 1 for stage in stages]),
            "_order": torch.tensor(_order(space, self._num_pokemon, self._moves_each)),
        }.items():
            self.register_buffer(name, values, persistent=False)

    def forward(self, observations: Tensor) -> Tensor:
        """Return ``observations`` (B, F) with the estimates, (B, W)."""
        num, sides, num_pokemon = len(observations), len(_SIDES), self._num_pokemon
        values = observations.index_select(1, self._columns) * self._factors
        of_pokemon, effects, of_moves, of_sides = values.split(self._sizes, dim=1)
        of_pokemon = of_pokemon.view(num, sides, -1, num_pokemon)
        hp, level, active, burnt, paralysed = of_pokemon[:, :, _NUM_STATS:].unbind(2)
        boosts = self._boosts[(of_sides.view(num, sides, -1)[..., :_NUM_BOOSTS] + _MOST_STAGES).round().long()]
        screens = of_sides.view(num, sides, -1, 1)[:, :, _NUM_BOOSTS:]

        # Own stats are known: their factor is 1, and they have neither effort nor least.
        grown = torch.addcmul(1 - self._of_opponent, self._of_opponent, level / 100)
        stats = torch.addcmul(self._least, of_pokemon[:, :, :_NUM_STATS] + self._effort, grown.unsqueeze(2))
        stats[:, :, 1:] *= 1 + active.unsqueeze(2) * boosts.unsqueeze(3)
        stats[:, :, 1] *= 1 - burnt
        stats[:, :, _SPEED] *= 1 - paralysed

        # The opposing active Pokémon of each side, (B, S, 1) or (B, S, stats, 1).
        stands = active * (hp > 0)
        there, foe_share, foe_level = (
            (value * stands).sum(2, keepdim=True).flip(1) for value in (torch.ones_like(hp), hp, level)
        )
        foe = (stats * stands.unsqueeze(2)).sum(3, keepdim=True).flip(1).clamp(min=1)
        foe_hp, foe_speed = foe[:, :, 0], foe[:, :, _SPEED]

        attack = stats[:, :, _OFFENCES] / (foe[:, :, _DEFENCES] * (1 + screens.flip(1)))
        attacked = foe[:, :, _OFFENCES] / stats[:, :, _DEFENCES].clamp(min=1)
        multipliers = (effects.exp2() * (effects > _NO_EFFECT)).view(num, sides, -1, num_pokemon)
        of_moves = of_moves.view(num, sides, -1, self._moves_each, num_pokemon)
        power, accuracy, stab = of_moves[:, :, :3].unbind(2)
        power = power * (of_moves[:, :, 3:] * attack.unsqueeze(3)).sum(2)
        damage = _damage(level.unsqueeze(2), power) * (power > 0) * (1 + stab) * multipliers[:, :, : self._moves_each]
        damage = damage * (there / foe_hp).unsqueeze(2)

        given = _damage(level, _TYPICAL_POWER * attack.amax(2)) * multipliers[:, :, -2] / foe_hp
        taken = _damage(foe_level, _TYPICAL_POWER * attacked.amax(2)) * multipliers[:, :, -1]
        taken = taken / stats[:, :, 0].clamp(min=1)
        speed = (stats[:, :, _SPEED].clamp(min=1) / foe_speed).log2().clamp(-1, 1)
        estimates = torch.stack(((accuracy * damage).amax(2), _STAB * given, _STAB * taken, speed), 2)
        estimates = estimates.clamp(max=_MOST_DAMAGE) * (there * (level > 0)).unsqueeze(2)
        of_active = _shares(damage, foe_share.clamp(min=_LEAST_SHARE).unsqueeze(2)) * active.view(num, sides, 1, 1, -1)
        joined = torch.cat((observations, estimates.flatten(1), of_active.flatten(1)), 1)
        return joined.index_select(1, self._order)


def _damage(level: Tensor, power: Tensor) -> Tensor:
    """Return the mean damage before STAB and effectiveness; ``power`` is that of the move times attack / defence."""
    return torch.addcmul(torch.full_like(power, 2 * _MEAN_FACTOR), level * 0.4 + 2, power, value=_MEAN_FACTOR / 50)


def _shares(damage: Tensor, rest: Tensor) -> Tensor:
    """Return ``OF_MOVES`` (B, S, 3, …) from mean damage and the target's ``rest``, both as shares of its full HP."""
    to_rest = damage / rest
    # Of the factors from .85 to 1, those from .925 / to_rest on.
    knock_out = (1 - _MEAN_FACTOR / to_rest.clamp(min=_LEAST_SHARE)) / _RANGE
    shares = torch.stack((damage.clamp(max=_MOST_DAMAGE), to_rest.clamp(max=1), knock_out.clamp(0, 1)), 2)
    return (shares * _STEPS).round() / _STEPS


def _observed(generation: int) -> Iterator[Iterable[_Part]]:
    """Yield what the formula reads: numbers of Pokémon, logarithms of multipliers, numbers of moves and of sides.

    The factors undo the observation's scales (docs/reference/observation.md).
    """
    moves = [f"{side}_moves" for side in _SIDES]
    lost_speed = 0.75 if generation <= _LAST_OF_SEVERE_PARALYSIS else 0.5
    yield (
        part
        for side, stats, scale in zip(_SIDES, ("stats", "base_stats"), (500.0, 2 * 255.0), strict=True)
        for part in (
            *(_Part(side, stats, stat, scale) for stat in range(_NUM_STATS)),
            _Part(side, "hp"),
            _Part(side, "level", factor=100.0),
            _Part(side, "active"),
            _Part(side, "status", 0, 0.5),  # burnt: half the Attack is lost
            _Part(side, "status", 1, lost_speed),  # paralysed
        )
    )
    yield (
        part
        for side, of_moves in zip(_SIDES, moves, strict=True)
        for part in (
            _Part(of_moves, "effectiveness", factor=2.0),
            _Part(side, "attack_matchup", factor=2.0),
            _Part(side, "defence_matchup", factor=2.0),
        )
    )
    yield (
        _Part(of_moves, field, factor=factor)
        for of_moves in moves
        for field, factor in {
            "power": 150.0,
            "accuracy": 1.0,
            "stab": _STAB - 1,
            "physical": 1.0,
            "special": 1.0,
        }.items()
    )
    # Generation 1 has screens of a Pokémon, later ones of a side.
    prefix = "" if generation == 1 else "side_"
    yield (
        part
        for side in _SIDES
        for part in (
            *(_Part("field", f"{side}_boosts", stat, float(_MOST_STAGES)) for stat in range(_NUM_BOOSTS)),
            *(_Part("field", f"{side}_{prefix}{screen}") for screen in ("reflect", "lightscreen")),
        )
    )


def _columns_of(space: Space, part: _Part) -> list[int]:
    """Return the part's column in the observation for each row of its block."""
    for block in space.blocks:
        for field in block.fields:
            if (block.name, field.name) == (part.block, part.field) and part.number < field.size:
                start = block.offset + field.offset + part.number
                return list(range(start, start + block.rows * block.stride, block.stride))
    raise _unfit(space, f"its block {part.block!r} has no {part.field!r}")


def _gathered(space: Space, num_pokemon: int, parts: Iterable[_Part]) -> tuple[list[int], list[float]]:
    """Return columns and factors of ``parts``, part by part; of moves first all first ones, then all second ones."""
    columns: list[int] = []
    factors: list[float] = []
    for part in parts:
        of_part = _columns_of(space, part)
        each = max(1, len(of_part) // num_pokemon)
        columns += [column for move in range(each) for column in of_part[move::each]]
        factors += [part.factor] * len(of_part)
    return columns, factors


def _widened(space: Space) -> Space:
    """Return ``space`` with the fields of the estimates at the end of their rows."""
    added = {**dict.fromkeys(_SIDES, OF_POKEMON), **{f"{side}_moves": OF_MOVES for side in _SIDES}}
    blocks = []
    offset = 0
    for block in space.blocks:
        fields = list(block.fields)
        stride = block.stride
        for name in added.get(block.name, ()):
            fields.append(ObservationField(name=name, offset=stride, size=1, kind="number"))
            stride += 1
        blocks.append(block.model_copy(update={"offset": offset, "stride": stride, "fields": tuple(fields)}))
        offset += block.rows * stride
    return space.model_copy(update={"blocks": tuple(blocks), "observation_size": offset})


def _order(space: Space, num_pokemon: int, moves_each: int) -> list[int]:
    """Return where each value of the widened observation is among the observation's and, after them, the estimates.

    Those are ``OF_POKEMON`` of each Pokémon, (S, 4, P), and then ``OF_MOVES`` of each move, (S, 3, K, P).
    """
    starts = {}
    at = space.observation_size
    for names, suffix, rows in ((OF_POKEMON, "", num_pokemon), (OF_MOVES, "_moves", num_pokemon * moves_each)):
        for side in _SIDES:
            starts[side + suffix] = at, len(names), rows
            at += len(names) * rows
    order: list[int] = []
    for block in space.blocks:
        start, num_names, rows = starts.get(block.name, (0, 0, 1))
        each = rows // num_pokemon
        for row in range(block.rows):
            order += range(block.offset + row * block.stride, block.offset + (row + 1) * block.stride)
            place = row if each <= 1 else row % each * num_pokemon + row // each
            order += [start + name * rows + place for name in range(num_names)]
    return order


def _unfit(space: Space, why: str) -> ConfigurationError:
    return ConfigurationError(
        f"network.estimates_damage does not fit {space.format}: {why}; leave it out, or set it to false"
    )
