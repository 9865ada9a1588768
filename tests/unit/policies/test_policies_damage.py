"""Estimated damage against the formula written out, move by move, and networks that see it."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from nashdex.core import keys
from nashdex.core.errors import ConfigurationError
from nashdex.games.space import Space
from nashdex.learning.initial import first_network
from nashdex.policies.archive import save_policy
from nashdex.policies.networks.actor_critic import ActorCritic, make_network
from nashdex.policies.networks.damage import OF_MOVES, OF_POKEMON, DamageEstimates
from nashdex.policies.networks.observed import Observed
from nashdex.settings.networks import (
    InitSettings,
    MemorySettings,
    NetworkSettings,
    PointerPairsSettings,
    PointerSettings,
    TransformerSettings,
)
from nashdex.store import open_store
from support.battle_spaces import ACTIONS, Fields, space_of

NUM_POKEMON, MOVES_EACH = 3, 2
PAIR_ACTIONS = ("pass", "switch 1", "switch 2", "switch 3", "move 1", "move 2 at foe 1")
ROWS = {"embedding_size": 3, "move_size": 5, "pokemon_size": 6, "scorer_size": 7}
SMALL = ROWS | {"context_size": 8}
TOKENS = ROWS | {"token_size": 8, "num_heads": 2, "num_layers": 2, "feedforward_size": 9}


def damage_space(format_id: str = "gen9test", num_slots: Literal[1, 2] = 1) -> Space:
    """Return a space like Showdown's with all that the formula reads."""
    flags = ("active",) if num_slots == 1 else ("active_a", "active_b")
    pokemon: Fields = {
        **dict.fromkeys(flags, (1, None)),
        "species": (1, "species"),
        "level": (1, None),
        "hp": (1, None),
        "status": (6, None),
        "base_stats": (6, None),
        "attack_matchup": (num_slots, None),
        "defence_matchup": (num_slots, None),
    }
    move: Fields = {
        "move": (1, "move"),
        **dict.fromkeys(("physical", "special", "power", "accuracy"), (1, None)),
        "effectiveness": (num_slots, None),
        **({"spreads": (1, None)} if num_slots > 1 else {}),
        "stab": (1, None),
    }
    prefix = "" if format_id.startswith("gen1") else "side_"
    screens: Fields = {
        f"{side}_{prefix}{screen}": (1, None) for side in ("own", "opponent") for screen in ("reflect", "lightscreen")
    }
    blocks: list[tuple[str, int, Fields]] = [
        ("own", NUM_POKEMON, {**pokemon, "stats": (6, None)}),
        ("opponent", NUM_POKEMON, pokemon),
        ("own_moves", NUM_POKEMON * MOVES_EACH, move),
        ("opponent_moves", NUM_POKEMON * MOVES_EACH, move),
    ]
    if num_slots == 1:
        boosts: Fields = {"own_boosts": (7, None), "opponent_boosts": (7, None)}
        blocks.append(("field", 1, {**screens, **boosts, "force_switch": (1, None)}))
    else:
        blocks += [(f"{side}_active", 2, {"boosts": (7, None)}) for side in ("own", "opponent")]
        blocks.append(("field", 1, screens))
    actions = ACTIONS if num_slots == 1 else PAIR_ACTIONS
    made = space_of(blocks, actions, {"species": 5, "move": 7}, num_slots)
    return made.model_copy(update={"format": format_id})


CHANCES = {"physical": 0.6, "stab": 0.5, "spreads": 0.4, "force_switch": 0.2, "reflect": 0.3, "lightscreen": 0.3}
CHOICES = {
    "hp": [0, 0.25, 0.5, 1],
    "level": [0, 0.4, 0.8, 1],  # 0 for one that was not seen yet
    "power": [0, 40 / 150, 90 / 150, 1],
    **{name: [-1.5, -1, -0.5, 0, 0.5, 1] for name in ("effectiveness", "attack_matchup", "defence_matchup")},
}


def random_battles(space: Space, num: int, seed: int = 0) -> NDArray[np.float32]:
    """Return observations of battles: a slot has a Pokémon or none, it stands or has fainted, is boosted or burnt."""
    rng = np.random.default_rng(seed)
    values = np.zeros((num, space.observation_size), dtype=np.float32)
    for block in space.blocks:
        for field in block.fields:
            view = space.view(values, block.name, field.name)
            view[...] = _random_numbers(field.name, view.shape, rng)
            if field.vocabulary:
                view[...] = rng.integers(0, space.vocabularies[field.vocabulary], view.shape)
    for side in ("own", "opponent"):
        special = space.view(values, f"{side}_moves", "special")
        physical = space.view(values, f"{side}_moves", "physical")
        special[...] = (1 - physical) * (rng.random(special.shape) < 0.7)
        order = rng.permuted(np.tile(np.arange(NUM_POKEMON), (num, 1)), axis=1)
        for slot, flag in enumerate(_flags(space)):
            active = space.view(values, side, flag)
            active[...] = 0
            active[np.arange(num), order[:, slot], 0] = rng.random(num) < 0.9
    return values


def _random_numbers(name: str, shape: tuple[int, ...], rng: np.random.Generator) -> NDArray[Any]:
    kind = name.rpartition("_")[2]
    if kind in CHANCES or name in CHANCES:
        return rng.random(shape) < CHANCES.get(name, CHANCES.get(kind, 0))
    if name in CHOICES:
        return rng.choice(CHOICES[name], shape)
    if kind == "boosts":
        return rng.integers(-6, 7, shape) / 6
    if name == "status":
        return np.eye(6)[rng.integers(0, 6, shape[:-1])]
    return rng.uniform(0.1, 1, shape)


def _flags(space: Space) -> tuple[str, ...]:
    return ("active",) if space.num_slots == 1 else ("active_a", "active_b")


class Written:
    """The estimates of one decision, number by number."""

    def __init__(self, space: Space, row: NDArray[np.float32]) -> None:
        self._space, self._row = space, row[None]
        self._generation = int(space.format[3])

    def get(self, block: str, field: str, row: int, number: int = 0) -> float:
        return float(self._space.view(self._row, block, field)[0, row, number])

    def in_slot(self, side: str, slot: int) -> int | None:
        """Return the Pokémon that stands in a slot."""
        flag = _flags(self._space)[slot]
        found = [p for p in range(NUM_POKEMON) if self.get(side, flag, p) and self.get(side, "hp", p) > 0]
        return found[0] if found else None

    def stats(self, side: str, pokemon: int) -> list[float]:
        level = self.get(side, "level", pokemon) * 100
        if side == "own":
            stats = [self.get(side, "stats", pokemon, s) * 500 for s in range(6)]
        else:
            effort = 93 if self._generation < 3 else 52
            stats = [(2 * self.get(side, "base_stats", pokemon, s) * 255 + effort) * level / 100 + 5 for s in range(6)]
            stats[0] += level + 5
        for slot, flag in enumerate(_flags(self._space)):
            if self.get(side, flag, pokemon):
                for s in range(5):
                    stage = round(6 * self._boost(side, slot, s))
                    stats[1 + s] *= (2 + stage) / 2 if stage >= 0 else 2 / (2 - stage)
        if self.get(side, "status", pokemon, 0):
            stats[1] /= 2
        if self.get(side, "status", pokemon, 1):
            stats[5] *= 0.25 if self._generation < 7 else 0.5
        return stats

    def _boost(self, side: str, slot: int, stat: int) -> float:
        if self._space.num_slots == 1:
            return self.get("field", f"{side}_boosts", 0, stat)
        return self.get(f"{side}_active", "boosts", slot, stat)

    def screen(self, side: str, stat: int) -> float:
        """Return the factor of a defence, by the stat that it defends."""
        prefix = "" if self._generation == 1 else "side_"
        there = self.get("field", f"{side}_{prefix}{'reflect' if stat == 2 else 'lightscreen'}", 0)
        return 1 + there * (1 if self._space.num_slots == 1 else 0.5)

    def move(self, side: str, row: int, slot: int) -> float:
        """Return the damage of a move as a share of the target's full HP."""
        foe = "opponent" if side == "own" else "own"
        target, block = self.in_slot(foe, slot), f"{side}_moves"
        power, effect = self.get(block, "power", row) * 150, self.get(block, "effectiveness", row, slot)
        attack = next((a for kind, a in (("physical", 1), ("special", 3)) if self.get(block, kind, row)), None)
        if target is None or attack is None or power == 0 or effect < -1.25:
            return 0
        stats, of_target = self.stats(side, row // MOVES_EACH), self.stats(foe, target)
        defence = max(1, of_target[attack + 1] * self.screen(foe, attack + 1))
        level = self.get(side, "level", row // MOVES_EACH) * 100
        damage = ((2 * level / 5 + 2) * power * stats[attack] / defence / 50 + 2) * 0.925 * 4**effect
        if stats[attack] == 0:
            damage = 0
        if self.get(block, "stab", row):
            damage *= 1.5
        everyone = all(self.in_slot(foe, slot) is not None for slot in range(self._space.num_slots))
        if self._space.num_slots > 1 and everyone and self.get(block, "spreads", row):
            damage *= 0.75
        return damage / max(1, of_target[0])

    def by_type(
        self, side: str, matchup: str, pokemon: int, slot: int, attacker: tuple[str, int], ratio: float
    ) -> float:
        """Return the damage of a move of power 80 of the attacker's best type, in HP."""
        effect, level = self.get(side, matchup, pokemon, slot), self.get(attacker[0], "level", attacker[1]) * 100
        multiplier = 0 if effect < -1.25 else 4**effect
        return multiplier * 1.5 * 0.925 * ((2 * level / 5 + 2) * 80 * ratio / 50 + 2)


Got = Callable[[str, str, int, int], float]
"""Returns what was estimated: of a block, field, row and slot."""


def estimated(space: Space, num: int, seed: int) -> Iterator[tuple[Written, Got, str, str]]:
    """Yield each side of random decisions: numbers written out, those estimated, the side and its opponent."""
    values = random_battles(space, num, seed)
    estimates = DamageEstimates(space)
    found = estimates(torch.from_numpy(values)).numpy()
    for i, row in enumerate(values):

        def got(block: str, field: str, place: int, slot: int, i: int = i) -> float:
            return float(estimates.space.view(found[i : i + 1], block, field)[0, place, slot])

        for side, foe in (("own", "opponent"), ("opponent", "own")):
            yield Written(space, row), got, side, foe


@pytest.mark.parametrize("format_id", ["gen1test", "gen4test", "gen9test"])
@pytest.mark.parametrize("num_slots", [1, 2])
def test_estimates_of_moves_are_those_of_the_formula(format_id: str, num_slots: Literal[1, 2]) -> None:
    space = damage_space(format_id, num_slots)
    compared = 0
    for written, got, side, foe in estimated(space, 80, seed=0):
        for move in range(NUM_POKEMON * MOVES_EACH):
            is_active = any(written.get(side, flag, move // MOVES_EACH) for flag in _flags(space))
            for slot in range(num_slots):
                share = written.move(side, move, slot) if is_active else 0
                target = written.in_slot(foe, slot)
                rest = max(0.01, 0 if target is None else written.get(foe, "hp", target))
                rolls = np.linspace(0.85, 1, 10_001) / 0.925 * share
                expected = [min(1.5, share), min(1, share / rest), (rolls >= rest).mean()]
                found = [got(f"{side}_moves", name, move, slot) for name in OF_MOVES]
                np.testing.assert_allclose(found, expected, atol=1e-3)
                compared += share > 0
    assert compared > 100


@pytest.mark.parametrize("num_slots", [1, 2])
def test_estimates_of_pokemon_are_those_of_the_formula(num_slots: Literal[1, 2]) -> None:
    space = damage_space("gen9test", num_slots)
    compared = 0
    for written, got, side, foe in estimated(space, 40, seed=1):
        for pokemon in range(NUM_POKEMON):
            for slot in range(num_slots):
                found = {name: got(side, name, pokemon, slot) for name in OF_POKEMON}
                target = written.in_slot(foe, slot)
                if target is None or written.get(side, "level", pokemon) == 0:
                    assert set(found.values()) == {0}
                    continue
                moves = range(MOVES_EACH * pokemon, MOVES_EACH * (pokemon + 1))
                best = max(written.get(f"{side}_moves", "accuracy", m) * written.move(side, m, slot) for m in moves)
                mine, theirs = written.stats(side, pokemon), written.stats(foe, target)
                speed = np.log2(max(1, mine[5]) / max(1, theirs[5]))
                ratio = max(mine[a] / max(1, theirs[a + 1] * written.screen(foe, a + 1)) for a in (1, 3))
                taken = max(max(1, theirs[a]) / max(1, mine[a + 1]) for a in (1, 3))
                expected = {
                    "best_damage": best,
                    "type_damage": written.by_type(side, "attack_matchup", pokemon, slot, (side, pokemon), ratio)
                    / max(1, theirs[0]),
                    "type_damage_taken": written.by_type(side, "defence_matchup", pokemon, slot, (foe, target), taken)
                    / max(1, mine[0]),
                    "speed": max(-1, min(1, speed)),
                }
                assert found == pytest.approx({name: min(1.5, each) for name, each in expected.items()}, abs=1e-4)
                compared += 1
    assert compared > 100


def test_observed_values_stay_as_they_are() -> None:
    space = damage_space()
    values = random_battles(space, 10)
    estimates = DamageEstimates(space)
    found = estimates(torch.from_numpy(values)).numpy()
    for block in space.blocks:
        for field in block.fields:
            seen = estimates.space.view(found, block.name, field.name)
            np.testing.assert_array_equal(seen, space.view(values, block.name, field.name))


NETWORKS = [PointerSettings(**SMALL, estimates_damage=True), MemorySettings(**SMALL, estimates_damage=True)]


def _network(space: Space, settings: NetworkSettings) -> ActorCritic:
    torch.manual_seed(0)
    network = make_network(space, settings)
    with torch.no_grad():
        for name, weight in network.named_parameters():
            if name.startswith("scorer."):
                weight.normal_()
    return network


@pytest.mark.parametrize("settings", NETWORKS, ids=lambda settings: settings.kind)
def test_acting_computes_what_training_does(settings: NetworkSettings) -> None:
    space = damage_space()
    network, values = _network(space, settings), random_battles(space, 20)
    starts = np.zeros((len(values), 1 if network.remembers else 0), dtype=np.float32)  # battles of one decision
    with torch.no_grad():
        expected = network.logits(torch.from_numpy(np.hstack((values, starts)))).numpy()
    acting: Any = network.for_acting()
    if network.remembers:
        with torch.inference_mode():
            memory = {name: torch.zeros(20, *shape) for name, shape in acting.memory_shapes().items()}
            found = acting.step({"observations": torch.from_numpy(values)}, memory, torch.arange(20)).numpy()
    else:
        found = acting.logits(Observed(values))
    np.testing.assert_allclose(found, expected, atol=1e-4)
    assert np.ptp(expected) > 0.5


@pytest.mark.parametrize(
    ("kind", "num_slots", "larger"),
    [
        (PointerSettings(**SMALL), 1, {"move_size": 12, "context_size": 24}),
        (PointerPairsSettings(**SMALL, interaction_size=2), 2, {"move_size": 12, "context_size": 24}),
        (TransformerSettings(**TOKENS), 1, {"move_size": 12, "token_size": 12}),
    ],
    ids=lambda value: getattr(value, "kind", ""),
)
def test_networks_that_read_the_same_read_it_once(
    kind: NetworkSettings, num_slots: Literal[1, 2], larger: dict[str, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    space = damage_space(num_slots=num_slots)
    actors: list[Any] = [
        _network(space, kind.model_copy(update={**sizes, "estimates_damage": sees})).for_acting()
        for sizes, sees in (({}, True), (larger, True), ({}, False))
    ]
    values = random_battles(space, 300)  # three chunks, the last one of 44 decisions
    expected = [acting.logits(Observed(values)) for acting in actors]
    estimated: list[int] = []
    forward = DamageEstimates.forward

    def counted(self: DamageEstimates, observations: torch.Tensor) -> torch.Tensor:
        estimated.append(len(observations))
        return forward(self, observations)

    monkeypatch.setattr(DamageEstimates, "forward", counted)
    observed = Observed(values)
    for acting, alone in zip(actors, expected, strict=True):
        np.testing.assert_array_equal(acting.logits(observed), alone)
    assert estimated == [128, 128, 44]


def test_both_slots_of_doubles_see_the_estimates() -> None:
    space = damage_space("gen9test", 2)
    sees, ignores = (
        _network(space, PointerPairsSettings(**SMALL, interaction_size=2, estimates_damage=each))
        for each in (True, False)
    )
    values = random_battles(space, 20)
    with torch.no_grad():
        expected = sees.logits(torch.from_numpy(values)).numpy()
    acting: Any = sees.for_acting()
    np.testing.assert_allclose(acting.logits(Observed(values)), expected, atol=1e-4)
    assert sees.num_parameters > ignores.num_parameters


@pytest.mark.parametrize("num_slots", [1, 2])
def test_what_a_network_knew_is_the_same_once_it_sees_estimates(num_slots: Literal[1, 2]) -> None:
    space, values = damage_space("gen9test", num_slots), random_battles(damage_space("gen9test", num_slots), 20)
    kind = PointerSettings if num_slots == 1 else PointerPairsSettings
    knows, sees = (_network(space, kind(**SMALL, estimates_damage=each)) for each in (False, True))
    fitted = sees.fitted(knows.state_dict())
    sees.load_state_dict(fitted)
    with torch.no_grad():
        for expected, found in zip(*(network(torch.from_numpy(values)) for network in (knows, sees)), strict=True):
            torch.testing.assert_close(found, expected)
    again = sees.fitted(fitted)
    assert all(torch.equal(tensor, fitted[name]) for name, tensor in again.items())


def test_a_run_with_estimates_begins_from_a_policy_without_them(tmp_path: Path) -> None:
    space, values = damage_space(), torch.from_numpy(random_battles(damage_space(), 20))
    store, knows = open_store(str(tmp_path)), _network(space, PointerSettings(**SMALL))
    policy = save_policy(
        store.at(keys.INITIAL),
        knows,
        name="source",
        parent=None,
        iteration=0,
        oracle="ppo",
        reward="win-loss",
        reward_version="1",
    )
    source = InitSettings(policy=f"{tmp_path}#{policy}")
    begun = first_network(store, space, PointerSettings(**SMALL, estimates_damage=True, init_from=source), seed=0)
    with torch.no_grad():
        torch.testing.assert_close(begun.logits(values), knows.logits(values))


def test_a_network_without_estimates_keeps_the_id_that_it_had_before_there_were_any() -> None:
    assert "estimates_damage" not in PointerSettings().sizes()
    assert PointerSettings(estimates_damage=True).sizes()["estimates_damage"] is True


def test_a_space_without_what_the_formula_reads_is_refused() -> None:
    space = damage_space()
    blocks = tuple(block for block in space.blocks if block.name != "field")
    without = space.model_copy(update={"blocks": blocks, "observation_size": space.blocks[-1].offset})
    with pytest.raises(ConfigurationError, match=r"network.estimates_damage .* its block 'field' has no 'own_boosts'"):
        make_network(without, NETWORKS[0])
    with pytest.raises(ConfigurationError, match="expected a Showdown format"):
        make_network(space.model_copy(update={"format": "tiny"}), NETWORKS[0])
