"""``max-power``: plays the strongest move. N rows, A actions.

In doubles it plays each slot's strongest attack, with spread moves and harm to the ally counted (M actions of one slot,
L legal pairs of all decisions).
"""

import numpy as np
from numpy.typing import NDArray

from nashdex.core.errors import ConfigurationError
from nashdex.games.interface import Decisions
from nashdex.games.showdown.doubles_slots import NUM_MOVES, NUM_ROWS, slot_choice
from nashdex.games.showdown.formats import GAME as SHOWDOWN
from nashdex.games.space import Space
from nashdex.policies.interface import Actions
from nashdex.policies.scripted.declaration import SINGLES_AND_DOUBLES, ScriptedPlayer, ScriptedPolicy

_IMMUNE_BELOW = -1.25
"""Layouts write a multiplier's log2 / 2; a quarter is −1, no effect at all is −1.5."""
_SPREAD = 0.75
"""Share of a move's power where it hits several Pokémon."""
_GIMMICK = -4.0
"""A gimmick is used only where nothing else is legal, as in singles."""


class MaxPowerDoublesPlayer(ScriptedPlayer):
    """Plays the legal pair with the largest sum of power × accuracy × effectiveness × STAB over the foes that it hits.

    A spread move counts three quarters against each foe, and as much less for the ally if it hits that: by neutral
    effectiveness, since the observation has only the foes'. Damage to the ally by aim counts in full. Every move comes
    before every switch. A switch goes to the Pokémon whose best move is the strongest.
    """

    def __init__(self, space: Space, stab: float) -> None:
        self._space = space
        self._stab = stab
        self._choices = [slot_choice(number) for number in range(len(space.actions))]

    def act(self, decisions: Decisions, uniforms: NDArray[np.float64]) -> Actions:
        """Answer each row; the choice is certain, so log-probabilities are 0."""
        del uniforms
        values = self._values(decisions.observation)
        legal = decisions.legal
        first, second = np.divmod(legal.actions, len(self._choices))
        pairs = values[legal.rows, 0, first] + values[legal.rows, 1, second]
        best = np.maximum.reduceat(pairs, legal.offsets[:-1])
        is_best = np.flatnonzero(pairs >= best[legal.rows])
        chosen = is_best[np.searchsorted(is_best, legal.offsets[:-1])]
        return Actions(legal.actions[chosen].astype(np.int64), np.zeros(len(legal), dtype=np.float32))

    def _values(self, observations: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return how much each slot's actions are worth, (N, 2, M)."""
        raw, by_foe = self._damage(observations)
        spreads, hits_ally = (
            self._field(observations, "own_moves", name)[..., 0].reshape(-1, NUM_ROWS, NUM_MOVES)
            for name in ("spreads", "hits_ally")
        )
        strongest = by_foe.max(axis=(2, 3))
        decisions = np.arange(len(observations))
        values = np.zeros((len(observations), 2, len(self._choices)), dtype=np.float32)
        for slot, name in enumerate(("active_a", "active_b")):
            active = self._field(observations, "own", name)[..., 0].argmax(axis=1)
            own, at_foes = raw[decisions, active], by_foe[decisions, active]
            spread = _SPREAD * (at_foes.sum(axis=2) - own * hits_ally[decisions, active])
            untargeted = np.where(spreads[decisions, active] > 0, spread, at_foes.mean(axis=2))
            for number, choice in enumerate(self._choices):
                value = values[:, slot, number]
                if choice.kind == "switch":
                    value[:] = -1.0 / (1.0 + strongest[:, choice.row - 1]) - 1.0
                elif choice.gimmick:
                    value[:] = _GIMMICK
                elif choice.kind == "move":
                    move = choice.move - 1
                    if choice.target > 0:
                        value[:] = at_foes[:, move, choice.target - 1]
                    else:
                        value[:] = untargeted[:, move] if choice.target == 0 else -own[:, move]
        return values

    def _damage(self, observations: NDArray[np.float32]) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Return each own Pokémon's power by move, (N, 6, 4), and by foe, (N, 6, 4, 2); 0 at a slot without a foe."""
        power, accuracy, stab = (
            self._field(observations, "own_moves", name)[..., 0] for name in ("power", "accuracy", "stab")
        )
        raw = power * accuracy * np.where(stab > 0, self._stab, 1.0)
        effectiveness = self._field(observations, "own_moves", "effectiveness")
        by_foe = raw[..., None] * np.where(effectiveness < _IMMUNE_BELOW, 0.0, 4.0**effectiveness)
        stands = 1.0 - self._field(observations, "opponent", "fainted")
        is_there = [(self._field(observations, "opponent", f"active_{s}") * stands).sum(axis=(1, 2)) for s in "ab"]
        by_foe *= np.stack(is_there, axis=1)[:, None, :]
        shape = (len(observations), NUM_ROWS, NUM_MOVES)
        return raw.reshape(shape), by_foe.reshape(*shape, 2)

    def _field(self, observations: NDArray[np.float32], block: str, field: str) -> NDArray[np.float32]:
        return self._space.view(observations, block, field)


class MaxPowerPlayer(ScriptedPlayer):
    """Plays the move with the largest power × accuracy × effectiveness × STAB against the opposing active Pokémon.

    It switches only where no move is legal, to the Pokémon whose best move is the strongest by the same measure.
    Reads the observation alone, by the names of the space's fields. ``stab`` multiplies moves of the user's own type.
    """

    def __init__(self, space: Space, stab: float) -> None:
        self._space = space
        self._stab = stab
        for block, field in [
            ("own", "active"),
            *(("own_moves", f) for f in ("power", "accuracy", "effectiveness", "stab")),
        ]:
            _require_field(space, block, field)
        self._moves = _actions_named(space, "move")
        self._switches = _actions_named(space, "switch")

    def act(self, decisions: Decisions, uniforms: NDArray[np.float64]) -> Actions:
        """Answer each row; the choice is certain, so log-probabilities are 0."""
        del uniforms
        damage = self._damage(decisions.observation)
        active = self._space.view(decisions.observation, "own", "active")[..., 0].argmax(axis=1)
        preference = np.full(decisions.mask.shape, -2.0, dtype=np.float32)
        # Damage is never negative: every move comes before every switch, and that before everything else.
        preference[:, self._switches] = -1.0 / (1.0 + damage.max(axis=2)[:, : len(self._switches)])
        preference[:, self._moves] = damage[np.arange(len(active)), active][:, : len(self._moves)]
        action = np.where(decisions.mask, preference, -np.inf).argmax(axis=1)
        return Actions(action, np.zeros(len(action), dtype=np.float32))

    def _damage(self, observations: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return each own Pokémon's expected power by move, shape (N, Pokémon, moves)."""
        power, accuracy, effectiveness, stab = (
            self._space.view(observations, "own_moves", field)[..., 0]
            for field in ("power", "accuracy", "effectiveness", "stab")
        )
        multiplier = np.where(effectiveness < _IMMUNE_BELOW, 0.0, 4.0**effectiveness)
        damage = power * accuracy * multiplier * np.where(stab > 0, self._stab, 1.0)
        num_pokemon = next(block.rows for block in self._space.blocks if block.name == "own")
        return damage.reshape(len(observations), num_pokemon, -1)


def max_power_player(space: Space, stab: float) -> ScriptedPlayer:
    """Return the player for the space: with one Pokémon active, or with two."""
    return MaxPowerPlayer(space, stab) if space.num_slots == 1 else MaxPowerDoublesPlayer(space, stab)


MAX_POWER = ScriptedPolicy(
    max_power_player, games=frozenset({SHOWDOWN}), slots=SINGLES_AND_DOUBLES, parameters={"stab": 1.5}
)


def _require_field(space: Space, block: str, field: str) -> None:
    if not any(b.name == block and any(f.name == field for f in b.fields) for b in space.blocks):
        has = ", ".join(b.name for b in space.blocks)
        raise ConfigurationError(
            f"policy 'max-power' cannot play {space.format}: it reads field {field!r} of block {block!r}, which "
            f"version {space.version} of the observation does not have (its blocks: {has})"
        )


def _actions_named(space: Space, verb: str) -> list[int]:
    index = {name: i for i, name in enumerate(space.actions)}
    found: list[int] = []
    while (name := f"{verb} {len(found) + 1}") in index:
        found.append(index[name])
    if not found:
        raise ConfigurationError(
            f"policy 'max-power' cannot play {space.format}: no action is called '{verb} 1' (there are: "
            f"{', '.join(space.actions)})"
        )
    return found
