"""The pointer-pairs network: scores follow what actions name, slots are alike, and acting agrees with training."""

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from nashdex.core.errors import ConfigurationError
from nashdex.games.space import Space
from nashdex.policies.networks.actor_critic import make_network
from nashdex.policies.networks.observed import Observed
from nashdex.policies.networks.pointer_pairs.layout import Candidate, layout_of
from nashdex.policies.networks.pointer_pairs.network import PointerPairsNetwork, in_slots
from nashdex.settings.networks import PointerPairsSettings
from support.battle_spaces import Fields, random_observations, space_of, with_rows, with_team
from support.joint_space import joint_space

SMALL = PointerPairsSettings(
    embedding_size=3,
    move_size=5,
    pokemon_size=6,
    context_size=8,
    scorer_size=7,
    interaction_size=2,
)
ACTIONS = (
    "pass",
    "switch 3",
    "switch 1",
    "switch 2",
    "move 1 at own 2",
    "move 1 at own 1",
    "move 1",
    "move 2 at foe 2",
    "move 1 at foe 1",
    "mega move 2 at own 1",
    "mega move 2 at own 2",
)
"""Neither in the order of the rows, nor all that could be named."""
MIRRORED = [0, 1, 2, 3, 5, 4, 6, 7, 8, 10, 9]
"""Each action as the other slot says it."""


def doubles_space(actions: tuple[str, ...] = ACTIONS, *, slots: int = 2) -> Space:
    """Return a space of two sides of three Pokémon with two moves each, and two slots."""
    pokemon: Fields = {
        "active_a": (1, None),
        "active_b": (1, None),
        "species": (1, "species"),
        "types": (2, "type"),
        "hp": (1, None),
    }
    move: Fields = {"move": (1, "move"), "power": (1, None), "effectiveness": (2, None)}
    slot: Fields = {"boosts": (2, None), "last_move": (1, "move")}
    blocks = [
        ("own", 3, {**pokemon, "stats": (2, None)}),
        ("opponent", 3, pokemon),
        ("own_moves", 6, move),
        ("opponent_moves", 6, move),
        ("own_active", slots, {"can_tera": (1, None), **slot}),
        ("opponent_active", slots, slot),
        ("field", 1, {"turn": (1, None)}),
    ]
    return space_of(blocks, actions, {"species": 5, "type": 4, "move": 7}, num_slots=2)


SPACE = doubles_space()


def observations(num: int = 20, seed: int = 0) -> NDArray[np.float32]:
    """Return observations in which different Pokémon are in the slots, and sometimes none in the second one."""
    rng = np.random.default_rng(seed)
    values = random_observations(SPACE, num, rng)
    for block in ("own", "opponent"):
        first, second = SPACE.view(values, block, "active_a"), SPACE.view(values, block, "active_b")
        first[...] = second[...] = 0
        order = rng.permuted(np.tile(np.arange(3), (num, 1)), axis=1)
        first[np.arange(num), order[:, 0], 0] = 1
        second[np.arange(num), order[:, 1], 0] = rng.random(num) < 0.8
    return values


def network(seed: int = 0) -> PointerPairsNetwork:
    """Return a network whose scores differ clearly."""
    torch.manual_seed(seed)
    net = make_network(SPACE, SMALL)
    assert isinstance(net, PointerPairsNetwork)
    with torch.no_grad():
        for layer in (net.scorer.of_move, net.scorer.of_switch, net.scorer.of_pass):
            layer.weight.normal_()
            layer.bias.normal_()
    return net


def scores(net: PointerPairsNetwork, values: NDArray[np.float32]) -> NDArray[np.float32]:
    with torch.no_grad():
        found: NDArray[np.float32] = net.logits(torch.from_numpy(values)).numpy()
    return found


def test_shapes() -> None:
    net, values = network(), torch.from_numpy(observations(5))
    logits, critic = net(values)
    assert logits.shape == (5, 2, len(ACTIONS), 3)
    assert critic.shape == (5,)
    assert {id(p) for p in net.actor_parameters()}.isdisjoint(id(p) for p in net.critic.parameters())


def test_a_critic_counts_what_an_actor_sees_once() -> None:
    net, values = network(), observations()
    one, two = (torch.from_numpy(with_team(SPACE, values, team)) for team in ([0, 1, 1], [0, 0, 1]))
    with torch.no_grad():
        assert torch.equal(*(net.encoder(net.read(rows).inputs, net.fuse()).context for rows in (one, two)))
        assert not torch.allclose(net.values(one), net.values(two), atol=1e-3)


def test_actions_name_candidates_as_their_slot_sees_them() -> None:
    first, second = layout_of(SPACE).candidates
    assert first[:3] == (Candidate("pass"), Candidate("switch", 2), Candidate("switch", 0))
    targets = ["ally", "self", "none", "foe 2", "foe 1", "self", "ally"]
    assert [candidate.target for candidate in first[4:]] == targets
    assert first[4] == second[5] == Candidate("move", 0, "ally")
    assert first[7] == second[7] == Candidate("move", 1, "foe 2")
    assert first[9] == second[10] == Candidate("mega", 1, "self")


def test_the_order_of_a_team_means_nothing() -> None:
    """Scores of switches move with the Pokémon, and all others stay."""
    net, values = network(), observations()
    team = [2, 0, 1]
    moved = with_rows(SPACE, with_rows(SPACE, values, "own", team), "own_moves", [4, 5, 0, 1, 2, 3])
    before, after = scores(net, values), scores(net, moved)
    # "switch 3", "switch 1", "switch 2" name rows 2, 0, 1; these hold what rows 1, 2, 0 held.
    np.testing.assert_allclose(after[:, :, [1, 2, 3]], before[:, :, [3, 1, 2]], atol=1e-5)
    np.testing.assert_allclose(after[:, :, [0, *range(4, 11)]], before[:, :, [0, *range(4, 11)]], atol=1e-5)
    assert np.ptp(before[:, :, 1:4, 0], axis=2).min() > 1e-4


def test_slots_are_scored_alike() -> None:
    """With both slots exchanged, each gets the other's scores for what mirrors its actions."""
    net, values = network(), observations()
    mirrored = with_rows(SPACE, values, "own_active", [1, 0])
    first, second = SPACE.view(mirrored, "own", "active_a"), SPACE.view(mirrored, "own", "active_b")
    first[...], second[...] = second.copy(), first.copy()
    with torch.no_grad():  # the context and a Pokémon's own vector tell the slots apart: what does is left out here
        width = net.encoder.pokemon_second.out_features
        net.get_parameter("encoder.context.0.weight")[:, 2 * width : 4 * width] = 0
        net.encoder.pokemon.numbers[:2] = 0  # of "active_a" and "active_b"
    before, after = scores(net, values), scores(net, mirrored)
    np.testing.assert_allclose(after[:, 0, :, 0], before[:, 1][:, MIRRORED, 0], atol=1e-5)
    np.testing.assert_allclose(after[:, 1, :, 0], before[:, 0][:, MIRRORED, 0], atol=1e-5)
    assert np.abs(before[:, 0, :, 0] - before[:, 1, :, 0]).max() > 0.1


def test_an_empty_slot_shows_no_pokemon() -> None:
    net, values = network(), observations(1)
    for block in ("own", "opponent"):
        SPACE.view(values, block, "active_b")[...] = 0
    read = net.read(torch.from_numpy(values)).inputs
    moves = in_slots(net.encoder(read, net.fuse()).own.moves.transpose(1, 2), read.sides[0])
    assert (moves[1] == 0).all()
    assert moves[0].abs().sum() > 0


def test_acting_and_training_agree() -> None:
    net, values = network(), observations(300, 3)
    np.testing.assert_allclose(net.for_acting().logits(Observed(values)), scores(net, values), atol=1e-5)


def test_acting_goes_on_with_its_own_weights() -> None:
    net, values = network(), observations()
    acting = net.for_acting()
    before = acting.logits(Observed(values))
    with torch.no_grad():
        for parameter in net.parameters():
            parameter.zero_()
    np.testing.assert_array_equal(acting.logits(Observed(values)), before)


def test_every_parameter_learns() -> None:
    net = network()
    logits, values = net(torch.from_numpy(observations(200)))
    (logits.square().sum() + values.square().sum()).backward()
    learning = [parameter.grad is not None and bool(parameter.grad.any()) for parameter in net.parameters()]
    numbers = [parameter.numel() for parameter in net.parameters()]
    assert learning == [number > 0 for number in numbers]


def test_a_first_policy_is_close_to_uniform() -> None:
    torch.manual_seed(0)
    net = make_network(SPACE, SMALL)
    assert isinstance(net, PointerPairsNetwork)
    found = scores(net, observations(50))
    pairs = (
        found[:, 0, :, None, 0]
        + found[:, 1, None, :, 0]
        + np.einsum("baz,bcz->bac", found[:, 0, :, 1:], found[:, 1, :, 1:])
    )
    assert np.ptp(pairs.reshape(50, -1), axis=1).max() < 0.3


@pytest.mark.parametrize(
    ("space", "message"),
    [
        (joint_space(), "has no blocks 'own', 'own_moves' and 'own_active' of two slots"),
        (doubles_space(slots=3), "has no blocks 'own', 'own_moves' and 'own_active' of two slots"),
        (doubles_space(("pass", "dance")), "its action 'dance' names neither an own Pokémon nor a move"),
        (doubles_space(("pass", "switch 4")), "its action 'switch 4' names neither an own Pokémon nor a move"),
        (doubles_space(("pass", "move 3")), "its action 'move 3' names neither an own Pokémon nor a move"),
    ],
)
def test_a_space_that_does_not_fit_is_refused(space: Space, message: str) -> None:
    with pytest.raises(ConfigurationError, match=message):
        make_network(space, SMALL)
