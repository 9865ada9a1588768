"""Estimated damage: numbers that follow from an observation, so that a network need not learn the games' formula.

Shapes: B decisions, F observation values, W values with the estimates, S = 2 sides (the own one first), P Pokémon of a
side, K moves of each, T slots of a side: 2 in doubles, otherwise 1.

A move does ((2 L / 5 + 2) · power · attack / defence / 50 + 2) · STAB · effectiveness · .925 damage to an opposing
active Pokémon; .925 is the mean of the random factors (https://bulbapedia.bulbagarden.net/wiki/Damage). Boosts, burns,
screens and spread moves count. Critical hits, items, abilities, weather and moves without a fixed power do not. A side
knows its own stats. The opponent's follow from base stats and levels, with the effort that the generators of random
battles choose: all of it in generations 1 and 2, 84 points in each stat later.

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
"""Estimates of a move of an active Pokémon, for each slot of the other side: the damage as a share of the target's full
HP (at most 1.5), as a share of the HP that it has left (at most 1), and the share of random factors that leave it none.
Moves on the bench have none: equal rows are computed once (``pointer.encoder.distinct``), and estimates would tell them
apart."""
OF_POKEMON: Final = ("best_damage", "type_damage", "type_damage_taken", "speed")
"""Estimates of a Pokémon, for each slot of the other side: accuracy · damage of its best known move as a share of the
target's full HP; the damage of a move of power 80 of the best of its types; the same from the opposing Pokémon to this
one; and log2 of the ratio of their Speeds, -1 to 1."""
ESTIMATES: Final = frozenset((*OF_MOVES, *OF_POKEMON))
"""The names of all estimates."""

_SIDES: Final = ("own", "opponent")
_ADDED: Final = {**dict.fromkeys(_SIDES, OF_POKEMON), **{f"{side}_moves": OF_MOVES for side in _SIDES}}
"""Estimates by block, in the order in which they are computed."""
_NUM_STATS: Final = 6
_OFFENCES, _DEFENCES = slice(1, 4, 2), slice(2, 5, 2)
"""Attack and Special Attack, Defense and Special Defense among hp, atk, def, spa, spd, spe."""
_SPEED: Final = 5
_NUM_BOOSTS: Final = 5

_NO_EFFECT = -2.5
"""A log2 of a multiplier that is smaller stands for no effect at all."""
_STAB = 1.5
_SPREAD = 0.75
"""What a spread move keeps of its damage where it hits several Pokémon."""
_MEAN_FACTOR, _RANGE = 0.925, 0.15
"""The random factors go from .85 to 1."""
_TYPICAL_POWER = 80.0
_MOST_DAMAGE = 1.5
_LEAST_SHARE = 1e-2
_LAST_WITH_STAT_EXPERIENCE = 2
_LAST_OF_SEVERE_PARALYSIS = 6
_MOST_STAGES = 6


class _Part(NamedTuple):
    """A number of the observation's rows, and the factor that turns it into what the formula takes."""

    block: str
    field: str
    number: int = 0
    factor: float = 1.0
    move: int = 0
    """Which of each Pokémon's moves, in a block of moves."""


class AsObserved(nn.Module):
    """What a network sees: the observation as it is."""

    def __init__(self, space: Space) -> None:
        super().__init__()
        self.space = space
        """The space of what it sees."""

    def forward(self, observations: Tensor) -> Tensor:
        """Return what the network sees of ``observations`` (B, F)."""
        return observations


class DamageEstimates(AsObserved):
    """What a network sees: the observation of a Showdown space with the estimates.

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
        super().__init__(_widened(space))
        found = re.match(r"gen(\d+)", space.format)
        if found is None:
            raise _unfit(space, "expected a Showdown format")
        generation = int(found[1])
        self._num_observed, self._num_slots = space.observation_size, space.num_slots
        self._num_pokemon = len(_columns_of(space, _Part("own", "hp")))
        self._moves_each = len(_columns_of(space, _Part("own_moves", "power"))) // self._num_pokemon
        gathered = [
            [(column, part.factor) for part in parts for column in _columns_of(space, part, self._moves_each)]
            for parts in _observed(generation, space.num_slots, self._moves_each)
        ]
        self._sizes = [len(columns) for columns in gathered]
        columns, factors = zip(*chain.from_iterable(gathered), strict=True)
        opponent = torch.tensor([0.0, 1.0]).view(1, 2, 1, 1)
        effort = torch.full((1, 1, _NUM_STATS, 1), 93.0 if generation <= _LAST_WITH_STAT_EXPERIENCE else 52.0)
        least = torch.full((1, 1, _NUM_STATS, 1), 5.0)
        effort[:, :, 0] += 100
        least[:, :, 0] += 5
        stages = range(-_MOST_STAGES, _MOST_STAGES + 1)
        for name, values in {
            "_columns": torch.tensor(columns),
            "_factors": torch.tensor(factors),
            "_of_opponent": opponent[..., 0],
            # The opponent's stats are (2 base + effort) · level / 100 + least.
            "_effort": effort * opponent,
            "_least": least * opponent,
            "_boosts": torch.tensor([max(2, 2 + stage) / max(2, 2 - stage) - 1 for stage in stages]),
            "_order": _order(space, self._num_pokemon, self._moves_each),
        }.items():
            self.register_buffer(name, values, persistent=False)

    def forward(self, observations: Tensor) -> Tensor:
        """Return ``observations`` (B, F) with the estimates, (B, W)."""
        shape = len(observations), len(_SIDES)
        values = observations.index_select(1, self._columns) * self._factors
        of_pokemon, effects, of_moves, stages, screens = values.split(self._sizes, dim=1)
        of_pokemon = of_pokemon.view(*shape, -1, self._num_pokemon)
        hp, level, burnt, paralysed, *_ = of_pokemon[:, :, _NUM_STATS:].unbind(2)
        active = of_pokemon[:, :, -self._num_slots :]  # (B, S, T, P)
        stats = self._stats(of_pokemon[:, :, :_NUM_STATS], level, active, stages.view(*shape, _NUM_BOOSTS, -1))
        stats[:, :, 1] *= 1 - burnt
        stats[:, :, _SPEED] *= 1 - paralysed

        # The opposing active Pokémon of each side, (B, S, T, 1) or (B, S, stats, T, 1).
        stands = active * (hp > 0).unsqueeze(2)
        of_foe = (stands, stands * hp.unsqueeze(2), stands * level.unsqueeze(2))
        there, foe_share, foe_level = (each.sum(3, keepdim=True).flip(1) for each in of_foe)
        foe = (stats.unsqueeze(3) * stands.unsqueeze(2)).sum(4, keepdim=True).flip(1).clamp(min=1)
        foe_hp = foe[:, :, 0]

        # By stat, slot and Pokémon, (B, S, 2, T, P).
        stats = stats.unsqueeze(3)
        attack = stats[:, :, _OFFENCES] / (foe[:, :, _DEFENCES] * (1 + screens.view(*shape, 2, 1, 1).flip(1)))
        attacked = foe[:, :, _OFFENCES] / stats[:, :, _DEFENCES].clamp(min=1)
        multipliers = effects.exp2() * (effects > _NO_EFFECT)
        multipliers = multipliers.view(*shape, -1, self._num_slots, self._num_pokemon)  # by moves, then both matchups
        of_moves = of_moves.view(*shape, -1, self._moves_each, 1, self._num_pokemon)
        power, accuracy, stab = of_moves[:, :, :3].unbind(2)
        power = power * (of_moves[:, :, 3:5] * attack.unsqueeze(3)).sum(2)  # (B, S, K, T, P)
        damage = _damage(level.view(*shape, 1, 1, -1), power) * (power > 0) * (1 + stab)
        damage = damage * multipliers[:, :, : self._moves_each] * (there / foe_hp).unsqueeze(2)
        if self._num_slots > 1:
            is_spread = of_moves[:, :, 5] * (there.sum(2, keepdim=True) > 1).unsqueeze(2)
            damage = damage * (1 - (1 - _SPREAD) * is_spread)

        given = _damage(level.unsqueeze(2), _TYPICAL_POWER * attack.amax(2)) * multipliers[:, :, -2] / foe_hp
        taken = _damage(foe_level, _TYPICAL_POWER * attacked.amax(2)) * multipliers[:, :, -1]
        taken = taken / stats[:, :, 0].clamp(min=1)
        speed = (stats[:, :, _SPEED].clamp(min=1) / foe[:, :, _SPEED]).log2().clamp(-1, 1)
        estimates = torch.stack(((accuracy * damage).amax(2), _STAB * given, _STAB * taken, speed), 2)
        estimates = estimates.clamp(max=_MOST_DAMAGE) * (there * (level > 0).unsqueeze(2)).unsqueeze(2)
        of_active = _shares(damage, foe_share.clamp(min=_LEAST_SHARE).unsqueeze(2))
        of_active = of_active * active.sum(2).view(*shape, 1, 1, 1, -1)
        # A network that remembers gets one value more.
        joined = torch.cat((observations[:, : self._num_observed], estimates.flatten(1), of_active.flatten(1)), 1)
        return joined.index_select(1, self._order)

    def _stats(self, observed: Tensor, level: Tensor, active: Tensor, stages: Tensor) -> Tensor:
        """Return the stats under boosts, (B, S, stats, P), from what is ``observed`` and ``stages`` (B, S, 5, T)."""
        # Own stats are known: their factor is 1, and they have neither effort nor least.
        grown = torch.addcmul(1 - self._of_opponent, self._of_opponent, level / 100)
        stats = torch.addcmul(self._least, observed + self._effort, grown.unsqueeze(2))
        boosts = self._boosts[(stages + _MOST_STAGES).round().long().clamp(0, 2 * _MOST_STAGES)]
        stats[:, :, 1:] *= 1 + (boosts.unsqueeze(4) * active.unsqueeze(2)).sum(3)
        return stats


def _damage(level: Tensor, power: Tensor) -> Tensor:
    """Return the mean damage before STAB and effectiveness; ``power`` is the move's, times attack / defence."""
    return torch.addcmul(torch.full_like(power, 2 * _MEAN_FACTOR), level * 0.4 + 2, power, value=_MEAN_FACTOR / 50)


def _shares(damage: Tensor, rest: Tensor) -> Tensor:
    """Return ``OF_MOVES`` (B, S, 3, …) from mean damage and the target's ``rest``, both as shares of its full HP."""
    to_rest = damage / rest
    # Of the factors from .85 to 1, those from .925 / to_rest on.
    knock_out = (1 - _MEAN_FACTOR / to_rest.clamp(min=_LEAST_SHARE)) / _RANGE
    return torch.stack((damage.clamp(max=_MOST_DAMAGE), to_rest.clamp(max=1), knock_out.clamp(0, 1)), 2)


def _observed(generation: int, num_slots: int, moves_each: int) -> Iterator[Iterable[_Part]]:
    """Yield what the formula reads: numbers of Pokémon, log2 of multipliers, numbers of moves, boosts and screens.

    The factors undo the observation's scales (docs/reference/observation.md).
    """
    moves = [f"{side}_moves" for side in _SIDES]
    slots = range(num_slots)
    lost_speed = 0.75 if generation <= _LAST_OF_SEVERE_PARALYSIS else 0.5
    active = ("active",) if num_slots == 1 else ("active_a", "active_b")
    yield (
        part
        for side, stats, scale in zip(_SIDES, ("stats", "base_stats"), (500.0, 2 * 255.0), strict=True)
        for part in (
            *(_Part(side, stats, stat, scale) for stat in range(_NUM_STATS)),
            _Part(side, "hp"),
            _Part(side, "level", factor=100.0),
            _Part(side, "status", 0, 0.5),  # burnt: half the Attack is lost
            _Part(side, "status", 1, lost_speed),  # paralysed
            *(_Part(side, flag) for flag in active),
        )
    )
    yield (
        part
        for side, of_moves in zip(_SIDES, moves, strict=True)
        for part in (
            *(_Part(of_moves, "effectiveness", slot, 2.0, move) for move in range(moves_each) for slot in slots),
            *(_Part(side, "attack_matchup", slot, 2.0) for slot in slots),
            *(_Part(side, "defence_matchup", slot, 2.0) for slot in slots),
        )
    )
    factors = {"power": 150.0, "accuracy": 1.0, "stab": _STAB - 1, "physical": 1.0, "special": 1.0}
    if num_slots > 1:
        factors["spreads"] = 1.0
    yield (
        _Part(of_moves, field, 0, factor, move)
        for of_moves in moves
        for field, factor in factors.items()
        for move in range(moves_each)
    )
    yield (
        _Part("field", f"{side}_boosts", stat, float(_MOST_STAGES))
        if num_slots == 1
        else _Part(f"{side}_active", "boosts", stat, float(_MOST_STAGES))
        for side in _SIDES
        for stat in range(_NUM_BOOSTS)
    )
    # Generation 1 has screens of a Pokémon, later ones of a side. They halve damage, in doubles they take a third.
    prefix = "" if generation == 1 else "side_"
    yield (
        _Part("field", f"{side}_{prefix}{screen}", factor=1.0 if num_slots == 1 else 0.5)
        for side in _SIDES
        for screen in ("reflect", "lightscreen")
    )


def _columns_of(space: Space, part: _Part, moves_each: int = 1) -> list[int]:
    """Return the part's column in the observation for each row of its block, or for each Pokémon's one move."""
    for block in space.blocks:
        for field in block.fields:
            if (block.name, field.name) == (part.block, part.field) and part.number < field.size:
                start = block.offset + field.offset + part.number
                columns = range(start, start + block.rows * block.stride, block.stride)
                return list(columns[part.move :: moves_each] if block.name.endswith("_moves") else columns)
    raise _unfit(space, f"its block {part.block!r} has no {part.field!r}")


def _widened(space: Space) -> Space:
    """Return ``space`` with the fields of the estimates at the end of their rows."""
    blocks = []
    offset = 0
    for block in space.blocks:
        fields = list(block.fields)
        stride = block.stride
        for name in _ADDED.get(block.name, ()):
            fields.append(ObservationField(name=name, offset=stride, size=space.num_slots, kind="number"))
            stride += space.num_slots
        blocks.append(block.model_copy(update={"offset": offset, "stride": stride, "fields": tuple(fields)}))
        offset += block.rows * stride
    return space.model_copy(update={"blocks": tuple(blocks), "observation_size": offset})


def _order(space: Space, num_pokemon: int, moves_each: int) -> Tensor:
    """Return where each value of the widened observation is among the observation's and, after them, the estimates.

    Those are ``OF_POKEMON`` of each Pokémon, (S, 4, T, P), and then ``OF_MOVES`` of each move, (S, 3, K, T, P).
    """
    starts = {}
    at = space.observation_size
    for block_name, names in _ADDED.items():
        each = moves_each if block_name.endswith("_moves") else 1
        places = torch.arange(at, at + len(names) * each * space.num_slots * num_pokemon)
        at += len(places)
        # Row by row, in the order of the fields.
        by_row = places.view(len(names), each, space.num_slots, num_pokemon).permute(3, 1, 0, 2)
        starts[block_name] = by_row.reshape(num_pokemon * each, -1)
    order = []
    for block in space.blocks:
        rows = torch.arange(block.offset, block.offset + block.rows * block.stride).view(block.rows, -1)
        added = starts.get(block.name)
        order.append((rows if added is None else torch.cat((rows, added), 1)).flatten())
    return torch.cat(order)


def _unfit(space: Space, why: str) -> ConfigurationError:
    return ConfigurationError(
        f"network.estimates_damage does not fit {space.format}: {why}; leave it out, or set it to false"
    )
