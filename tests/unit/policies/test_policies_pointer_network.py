"""The pointer network: scores follow the Pokémon and moves that actions name, and acting agrees with training."""

import itertools

import numpy as np
import pytest
import torch

from nashdex.core.errors import ConfigurationError
from nashdex.games.space import Space
from nashdex.policies.masked import kl_divergence, masked_log_softmax, uniform_log_probs
from nashdex.policies.networks import onednn
from nashdex.policies.networks.actor_critic import ActorCritic, make_network
from nashdex.policies.networks.observed import Observed
from nashdex.policies.networks.opponent_choices import UNKNOWN, choices, num_choices, opponent_choices
from nashdex.policies.networks.pointer import encoder, rows, sides
from nashdex.policies.networks.pointer.network import PointerNetwork
from nashdex.settings.networks import PointerSettings
from support.bandit import bandit_space
from support.battle_spaces import Fields, random_observations, space_of, with_rows, with_team

SMALL = PointerSettings(
    embedding_size=3,
    move_size=5,
    pokemon_size=6,
    context_size=8,
    scorer_size=7,
    predicts_opponent=True,
)
ACTIONS = (
    "move 2",
    "switch 1",
    "switch 3",
    "switch 2",
    "move 1",
    "z-move 1",
    "terastallize move 1",
    "terastallize move 2",
)
"""Neither in the order of the rows, nor one kind after another."""


def battle_space(*, actions: tuple[str, ...] = ACTIONS, last_move: bool = True) -> Space:
    """Return a space of two sides of three Pokémon with two moves each; own rows have one field more."""
    pokemon: Fields = {"active": (1, None), "species": (1, "species"), "types": (2, "type"), "hp": (1, None)}
    move: Fields = {"move": (1, "move"), "power": (1, None), "type": (1, "type")}
    last: Fields = {"last_move": (1, "move")} if last_move else {}
    blocks = [
        ("own", 3, {**pokemon, "stats": (2, None)}),
        ("opponent", 3, pokemon),
        ("own_moves", 6, move),
        ("opponent_moves", 6, move),
        ("field", 1, {"force_switch": (1, None), "turn": (1, None), **last}),
    ]
    return space_of(blocks, actions, {"species": 5, "type": 4, "move": 7})


def observations(space: Space, num: int, seed: int) -> np.ndarray:
    return random_observations(space, num, np.random.default_rng(seed), forced_switches=0.3)


def network(space: Space, seed: int = 0, settings: PointerSettings = SMALL) -> PointerNetwork:
    """Return a network whose logits differ clearly."""
    torch.manual_seed(seed)
    net = make_network(space, settings)
    assert isinstance(net, PointerNetwork)
    with torch.no_grad():
        net.get_parameter("scorer.score").mul_(100)
        net.get_parameter("scorer.kind").normal_()
    return net


def logits(net: ActorCritic, values: np.ndarray) -> np.ndarray:
    with torch.no_grad():
        return net.logits(torch.from_numpy(values)).numpy()


def test_shapes_and_sizes() -> None:
    net = network(battle_space())
    logit, value = net(torch.from_numpy(observations(battle_space(), 5, 0)))
    assert (logit.shape, value.shape) == ((5, 8), (5,))
    assert net.num_parameters == sum(p.numel() for p in net.parameters())


def test_a_pokemon_has_the_same_score_wherever_it_is_in_the_team() -> None:
    space = battle_space()
    net, values = network(space), observations(space, 20, 1)
    order = [2, 0, 1]
    moved = with_rows(space, values, "own", order)
    moved = with_rows(space, moved, "own_moves", [2 * p + m for p in order for m in range(2)])
    before, after = logits(net, values), logits(net, moved)
    at = {name: ACTIONS.index(name) for name in ACTIONS}
    for new, old in enumerate(order):
        np.testing.assert_allclose(after[:, at[f"switch {new + 1}"]], before[:, at[f"switch {old + 1}"]], atol=1e-5)
    stays = [at[name] for name in ACTIONS if "move" in name]
    np.testing.assert_allclose(after[:, stays], before[:, stays], atol=1e-5)


def test_moves_of_the_active_pokemon_that_change_places_change_scores() -> None:
    space = battle_space()
    net, values = network(space), observations(space, 20, 2)
    swapped = with_rows(space, values, "own_moves", [1, 0, 3, 2, 5, 4])
    before, after = logits(net, values), logits(net, swapped)
    for kind in ("move", "terastallize move"):
        one, two = ACTIONS.index(f"{kind} 1"), ACTIONS.index(f"{kind} 2")
        np.testing.assert_allclose(after[:, [one, two]], before[:, [two, one]], atol=1e-5)
    assert np.abs(before[:, ACTIONS.index("move 1")] - before[:, ACTIONS.index("move 2")]).max() > 1e-2


def test_every_observed_value_can_change_the_logits() -> None:
    space = battle_space()
    net = make_network(space, PointerSettings())
    values = observations(space, 32, 3)
    base = logits(net, values)
    for column in range(space.observation_size):
        changed = values.copy()
        changed[:, column] = np.where(changed[:, column] == 1.0, 2.0, 1.0)
        assert not np.array_equal(logits(net, changed), base), f"column {column} is not read"


def test_all_weights_learn() -> None:
    space = battle_space()
    net = network(space)
    values = torch.from_numpy(observations(space, 256, 4))
    with torch.no_grad():
        net.get_parameter("opponent.weight").normal_()
    logit, prediction = net.logits_and_prediction(values)
    assert prediction is not None
    (logit.square().sum() + prediction.square().sum() + net.values(values).square().sum()).backward()
    dead = [name for name, p in net.named_parameters() if p.numel() and (p.grad is None or not p.grad.any())]
    assert not dead


def test_actor_and_critic_share_no_weight() -> None:
    space = battle_space()
    net = network(space)
    net.values(torch.from_numpy(observations(space, 64, 5))).sum().backward()
    assert {name.split(".")[0] for name, p in net.named_parameters() if p.grad is not None} == {"critic"}


def test_a_critic_counts_what_an_actor_sees_once() -> None:
    space = battle_space()
    net, values = network(space), observations(space, 20, 5)
    one, two = (torch.from_numpy(with_team(space, values, team)) for team in ([0, 1, 1], [0, 0, 1]))
    with torch.no_grad():
        first, second = (net.logits_and_prediction(values)[1] for values in (one, two))
        assert first is not None
        assert second is not None
        assert torch.equal(first, second)
        assert not torch.allclose(net.values(one), net.values(two), atol=1e-3)


def test_a_fresh_network_is_close_to_uniform() -> None:
    space = battle_space()
    torch.manual_seed(0)
    net = make_network(space, PointerSettings())
    mask = torch.ones(32, 8, dtype=torch.bool)
    log_probs = masked_log_softmax(net.logits(torch.from_numpy(observations(space, 32, 6))), mask)
    assert kl_divergence(log_probs, uniform_log_probs(mask), mask).max() < 0.01


@pytest.mark.parametrize("last_move", [True, False])
@pytest.mark.parametrize("max_combinations", [1, 16_384])
def test_acting_computes_what_training_does_whatever_the_number_of_rows(
    *, last_move: bool, max_combinations: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rows, "MAX_COMBINATIONS", max_combinations)
    space = battle_space(last_move=last_move)
    net = network(space)
    acting = net.for_acting()
    for num_rows in (300, 128, 1, 7, 129):
        values = observations(space, num_rows, seed=num_rows)
        expected = logits(net, values)
        assert num_rows < 300 or np.ptp(expected) > 1, "the logits differ, so that the comparison says something"
        np.testing.assert_allclose(acting.logits(Observed(values)), expected, atol=1e-4, rtol=0)


def test_acting_needs_no_onednn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(onednn, "HAS_ONEDNN", False)
    space = battle_space()
    net, values = network(space), observations(space, 20, 7)
    np.testing.assert_allclose(net.for_acting().logits(Observed(values)), logits(net, values), atol=1e-4, rtol=0)


def test_categories_mean_the_same_alone_and_combined(monkeypatch: pytest.MonkeyPatch) -> None:
    space = battle_space()
    values = observations(space, 20, 8)
    combined = network(space)
    monkeypatch.setattr(rows, "MAX_COMBINATIONS", 1)
    alone = network(space)
    np.testing.assert_allclose(logits(alone, values), logits(combined, values), atol=1e-5)


def test_a_policy_that_acts_is_not_changed_by_further_training() -> None:
    space = battle_space()
    net, values = network(space), observations(space, 20, 9)
    acting = net.for_acting()
    before = acting.logits(Observed(values))
    with torch.no_grad():
        for parameter in net.parameters():
            parameter.add_(1.0)
    np.testing.assert_array_equal(acting.logits(Observed(values)), before)


def test_the_same_weights_give_the_same_bits_with_and_without_gradients() -> None:
    """So that the KL from a reference is exactly 0 before the first step."""
    space = battle_space()
    net, values = network(space), torch.from_numpy(observations(space, 512, 10))
    with torch.no_grad():
        expected = net.logits(values, net.fuse())
    assert torch.equal(net.logits(values), expected)
    assert torch.equal(net.logits_and_prediction(values)[0], expected)


def test_all_outputs_at_once_are_those_one_by_one() -> None:
    space = battle_space()
    net, values = network(space), torch.from_numpy(observations(space, 300, 15))
    with torch.no_grad():
        net.get_parameter("opponent.weight").normal_()
    outputs = net.outputs(values)
    logit, prediction = net.logits_and_prediction(values)
    assert torch.equal(outputs.logits, logit)
    assert outputs.prediction is not None
    assert prediction is not None
    assert torch.equal(outputs.prediction, prediction)
    assert torch.equal(outputs.values, net.values(values))
    assert torch.equal(net(values, net.fuse())[0], logit)


@pytest.mark.parametrize("tile_decisions", [1024, 3])
@pytest.mark.parametrize("max_combinations", [1, 16_384])
def test_gradients_are_those_of_numerical_differentiation(
    tile_decisions: int, max_combinations: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of all outputs by all weights, in double precision, with several tiles and with one."""
    monkeypatch.setattr(rows, "MAX_COMBINATIONS", max_combinations)
    monkeypatch.setattr(sides, "TILE_DECISIONS", tile_decisions)
    space = battle_space()
    net = network(space).double()
    with torch.no_grad():
        for name, weight in net.named_parameters():
            if name.endswith("bias"):
                weight.normal_()  # with a bias of 0, a unit may sit at the ReLU's kink
    values = torch.from_numpy(observations(space, 7, 13)).double()
    names, weights = zip(*net.named_parameters(), strict=True)

    def outputs(*weights: torch.Tensor) -> tuple[torch.Tensor, ...]:
        found: tuple[torch.Tensor, ...] = torch.func.functional_call(
            net, dict(zip(names, weights, strict=True)), (values,)
        )
        return found

    inputs = tuple(weight.detach().clone().requires_grad_() for weight in weights)
    assert torch.autograd.gradcheck(outputs, inputs, fast_mode=True)


@pytest.mark.parametrize("slots_log2", [18, 3])
def test_equal_rows_are_kept_once_and_different_ones_never_taken_for_equal(
    slots_log2: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where different rows share a slot of the table: then some equal ones are kept twice."""
    monkeypatch.setattr(encoder, "_HASH_SLOTS_LOG2", slots_log2)
    different = torch.rand(40, 5, generator=torch.Generator().manual_seed(1))
    values = different[torch.arange(400) % 40]
    kept, places = encoder.distinct(values)
    assert torch.equal(values[kept][places], values)
    assert kept.tolist() == sorted(set(kept.tolist()))
    assert len(kept) == 40 if slots_log2 == 18 else 40 < len(kept) < 400


def test_each_of_equal_pokemon_gets_the_whole_gradient_of_their_maximum() -> None:
    """The active one of two equals beside one more: what the critic learns counts both."""
    space = battle_space()
    net, values = network(space).double(), torch.from_numpy(observations(space, 1, 14)).double()
    for name in ("opponent", "opponent_moves"):
        part = next(b for b in space.blocks if b.name == name)
        rows = values[:, part.offset : part.offset + part.rows * part.stride].view(3, -1)
        rows[1:] = rows[0]
    inputs = net.encoder.read(values)
    fused = net.fuse()
    weight = net.encoder.pokemon_moves
    (of_equals,) = torch.autograd.grad(net.encoder(inputs, fused).context[:, 6:12].sum(), weight)  # the maximum
    active = int(inputs.sides[1].active_rows)
    assert 0 <= active < 3
    (of_active,) = torch.autograd.grad(net.encoder(inputs, net.fuse()).context[:, 18:24].sum(), weight)
    torch.testing.assert_close(of_equals, 3 * of_active)


@pytest.mark.parametrize(
    ("space", "problem"),
    [
        (bandit_space(), "it has no blocks 'own' and 'own_moves'"),
        (battle_space(actions=("move 1", "forfeit")), "its action 'forfeit' names neither"),
        (battle_space(actions=("move 1", "switch 4")), "its action 'switch 4' names neither"),
    ],
)
def test_a_space_that_does_not_fit_is_refused_with_what_fits(space: Space, problem: str) -> None:
    with pytest.raises(ConfigurationError, match=problem) as caught:
        make_network(space, SMALL)
    assert 'set network.kind = "slots"' in str(caught.value)


def test_a_choice_is_labelled_by_what_it_names() -> None:
    space = battle_space()
    values = observations(space, 50, 11)
    actions = np.random.default_rng(0).integers(0, 8, 50)
    found = choices(space, values, actions)
    for i, (row, action) in enumerate(zip(values, actions, strict=True)):
        kind, number = ACTIONS[action].rsplit(" ", 1)
        one = row[None]
        if kind == "switch":
            assert found[i] == 7 + space.view(one, "own", "species")[0, int(number) - 1, 0]
        else:
            active = int(space.view(one, "own", "active")[0, :, 0].argmax())
            assert found[i] == space.view(one, "own_moves", "move")[0, 2 * active + int(number) - 1, 0]
    assert found.max() < num_choices(space)


def test_decisions_of_one_turn_are_labelled_with_each_other() -> None:
    """A seat that replaces a fainted Pokémon decides alone."""
    space = battle_space()
    values = observations(space, 9, 12)
    force = space.view(values, "field", "force_switch")[:, 0, 0]
    mine, theirs = values[:5], values[5:]
    force[...] = [0, 1, 0, 0, 0, 0, 0, 1, 0]
    actions = np.array([0, 1, 2, 4])
    own = choices(space, theirs, actions)
    assert opponent_choices(space, mine, theirs, actions).tolist() == [own[0], UNKNOWN, own[1], own[3], UNKNOWN]


def test_cloning_learns_a_rule_about_the_named_move() -> None:
    """The strongest usable move: a rule that holds wherever the active Pokémon and its moves are."""
    space = battle_space(actions=("move 1", "move 2"))
    torch.manual_seed(0)
    net = make_network(space, PointerSettings(context_size=32, scorer_size=16))
    optimiser = torch.optim.Adam(net.parameters(), lr=3e-3)

    def lesson(seed: int) -> tuple[torch.Tensor, torch.Tensor]:
        values = observations(space, 512, seed)
        active = space.view(values, "own", "active")[:, :, 0].argmax(1)
        power = space.view(values, "own_moves", "power")[:, :, 0].reshape(512, 3, 2)[np.arange(512), active]
        return torch.from_numpy(values), torch.from_numpy(power.argmax(1))

    for seed in itertools.islice(itertools.count(100), 60):
        values, best = lesson(seed)
        optimiser.zero_grad()
        torch.nn.functional.cross_entropy(net.logits(values), best).backward()
        optimiser.step()
    values, best = lesson(1)
    assert (net.logits(values).argmax(1) == best).float().mean() > 0.9
