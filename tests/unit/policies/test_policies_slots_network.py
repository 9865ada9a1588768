"""Networks: encoding by the space's layout, sampling that is always legal, and agreement with the trainer."""

from collections.abc import Callable

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from nashdex.core.ids import GREEDY, PolicyId
from nashdex.games.interface import Decisions
from nashdex.games.legal import LegalActions
from nashdex.games.space import ObservationBlock, ObservationField, Space
from nashdex.policies.inference import NetworkPolicy
from nashdex.policies.masked import kl_divergence, masked_log_softmax, uniform_log_probs
from nashdex.policies.networks import onednn
from nashdex.policies.networks.actor_critic import make_network
from nashdex.policies.networks.observed import Observed
from nashdex.policies.networks.slots import SlotsNetwork
from nashdex.policies.sampling import sample_masked
from nashdex.settings.networks import SlotsSettings
from support.spaces import tiny_space

SMALL = SlotsSettings(embedding_size=3, entity_size=5, hidden_size=16, num_hidden_layers=2)
JUST_BELOW_1 = float(np.nextafter(1.0, 0.0))


def space_of(
    rows: list[tuple[str, int, int, tuple[ObservationField, ...]]],
    *,
    actions: tuple[str, ...],
    vocabularies: dict[str, int],
) -> Space:
    """Return a space whose blocks, each a name, a number of rows, their stride and fields, follow one another."""
    blocks, at = [], 0
    for name, count, stride, fields in rows:
        blocks.append(ObservationBlock(name=name, offset=at, rows=count, stride=stride, fields=fields))
        at += count * stride
    return Space(
        game="tiny",
        format="tiny",
        version="1",
        observation_size=at,
        num_actions=len(actions),
        actions=actions,
        vocabularies=vocabularies,
        blocks=tuple(blocks),
    )


def sides_space() -> Space:
    """Return a space with two sides of two Pokémon with three moves each, and a field without categories."""
    pokemon = (
        ObservationField(name="hp", offset=0, size=1, kind="number"),
        ObservationField(name="types", offset=1, size=2, kind="category", vocabulary="type"),
        ObservationField(name="boosts", offset=3, size=2, kind="number"),
    )
    move = (
        ObservationField(name="move", offset=0, size=1, kind="category", vocabulary="move"),
        ObservationField(name="power", offset=1, size=1, kind="number"),
    )
    field = (ObservationField(name="turn", offset=0, size=3, kind="number"),)
    rows = [("own", 2, 5, pokemon), ("opponent", 2, 5, pokemon), ("own_moves", 6, 2, move)]
    rows += [("opponent_moves", 6, 2, move), ("field", 1, 3, field)]
    return space_of(rows, actions=tuple("abcdefghi"), vocabularies={"type": 4, "move": 7})


def active_space() -> Space:
    """Return a space with sides of other sizes and fields, a field between them, and rows that are active or not."""

    def number(name: str, offset: int) -> ObservationField:
        return ObservationField(name=name, offset=offset, size=1, kind="number")

    types = ObservationField(name="types", offset=1, size=1, kind="category", vocabulary="type")
    rows = [("own", 3, 2, (number("active", 0), types)), ("field", 2, 1, (number("turn", 0),))]
    rows += [("opponent", 2, 3, (number("hp", 0), types, number("active", 2)))]
    return space_of(rows, actions=("left", "right"), vocabularies={"type": 4})


def observations(space: Space, num: int, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    values = rng.normal(size=(num, space.observation_size)).astype(np.float32)
    for block in space.blocks:
        for field in block.fields:
            if field.vocabulary:
                view = space.view(values, block.name, field.name)
                view[...] = rng.integers(0, space.vocabularies[field.vocabulary], view.shape)
    return values


def network(space: Space, seed: int = 0) -> SlotsNetwork:
    torch.manual_seed(seed)
    made = make_network(space, SMALL)
    assert isinstance(made, SlotsNetwork)
    return made


def plain_rows(net: SlotsNetwork, space: Space, values: np.ndarray) -> torch.Tensor:
    """Return the rows' vectors of ``sides_space`` by the definition: one linear layer over [numbers, embeddings]."""

    def embed(vocabulary: str, index: torch.Tensor) -> torch.Tensor:
        table: torch.Tensor = net.embeddings[f"of_{vocabulary}"]
        return table[index.long()]

    vectors = []
    for side in ("own", "opponent"):
        get = {
            (b, f): torch.from_numpy(space.view(values, b, f).copy())
            for b, fields in [(side, ("hp", "types", "boosts")), (f"{side}_moves", ("move", "power"))]
            for f in fields
        }
        encoder = net.row_encoders[0]
        for p in range(2):
            moves = range(3 * p, 3 * p + 3)
            numbers = [get[side, "hp"][:, p], get[side, "boosts"][:, p]]
            numbers += [get[f"{side}_moves", "power"][:, m] for m in moves]
            embedded = [embed("type", get[side, "types"][:, p, i]) for i in range(2)]
            embedded += [embed("move", get[f"{side}_moves", "move"][:, m, 0]) for m in moves]
            row = torch.cat(numbers, dim=1) @ encoder.numbers + encoder.bias
            vectors.append(row + sum(e @ w for e, w in zip(embedded, encoder.categories, strict=True)))
    turn = torch.from_numpy(space.view(values, "field", "turn")[:, 0].copy())
    vectors.append(turn @ net.row_encoders[1].numbers + net.row_encoders[1].bias)
    return torch.cat(vectors, dim=1)


def test_encoding_is_a_linear_layer_over_numbers_and_embeddings_of_each_row() -> None:
    space = sides_space()
    net = network(space)
    assert len(net.encoders) == 2, "both sides have the same fields and share their encoder"
    values = observations(space, 5, 1)
    logits, value = net(torch.from_numpy(values))
    hidden = net.trunk(plain_rows(net, space, values).relu())
    torch.testing.assert_close(logits, net.actor(hidden))
    assert logits.shape == (5, 9)
    assert value.shape == (5,)


def test_the_active_row_is_seen_alike_wherever_it_is() -> None:
    """The trunk gets the active row's vector beside the rows' own, so two places differ only by those."""
    fields = tuple(ObservationField(name=n, offset=i, size=1, kind="number") for i, n in enumerate(("active", "x")))
    space = Space(
        game="tiny",
        format="tiny",
        version="1",
        observation_size=6,
        num_actions=2,
        actions=("left", "right"),
        vocabularies={},
        blocks=(ObservationBlock(name="own", offset=0, rows=3, stride=2, fields=fields),),
    )
    net = network(space)
    encoded: list[torch.Tensor] = []
    net.trunk.register_forward_pre_hook(lambda _trunk, inputs: encoded.append(inputs[0].view(4, -1)))
    for observation in ([1.0, 0.7, 0, 0, 0, 0], [0, 0, 0, 0, 1.0, 0.7]):
        net(torch.tensor([observation]))
    assert encoded[0][3].abs().sum() > 0
    torch.testing.assert_close(encoded[0][3], encoded[0][0])
    torch.testing.assert_close(encoded[0][3], encoded[1][3])


def test_the_critic_reads_every_number_and_no_category() -> None:
    space = sides_space()
    net = network(space)
    values = observations(space, 16, 2)
    base = net.values(torch.from_numpy(values))
    read = set()
    for column in range(space.observation_size):
        changed = values.copy()
        changed[:, column] = np.where(changed[:, column] == 1.0, 2.0, 1.0)
        if not torch.equal(net.values(torch.from_numpy(changed)), base):
            read.add(column)
    of_column = np.arange(space.observation_size, dtype=np.float32)[np.newaxis]
    numbers = {
        int(column)
        for block in space.blocks
        for field in block.fields
        if field.kind == "number"
        for column in space.view(of_column, block.name, field.name).ravel()
    }
    assert read == numbers


def test_the_critic_shares_no_weight_with_the_actor() -> None:
    space = sides_space()
    net = network(space)
    net.values(torch.from_numpy(observations(space, 4, 1))).sum().backward()
    assert {name.split(".")[0] for name, p in net.named_parameters() if p.grad is not None} == {"critic"}


def test_sides_with_other_fields_have_encoders_of_their_own() -> None:
    space = tiny_space()
    assert len(network(space).encoders) == 2


def test_every_observed_value_can_change_the_logits() -> None:
    space = sides_space()
    net = network(space)
    values = observations(space, 16, 2)
    base, _ = net(torch.from_numpy(values))
    for column in range(space.observation_size):
        changed = values.copy()
        changed[:, column] = np.where(changed[:, column] == 1.0, 2.0, 1.0)
        assert not torch.equal(net(torch.from_numpy(changed))[0], base), f"column {column} is not read"


def test_numbers_alone_and_two_actions_are_enough() -> None:
    field = ObservationField(name="x", offset=0, size=2, kind="number")
    block = ObservationBlock(name="all", offset=0, rows=1, stride=2, fields=(field,))
    space = Space(
        game="tiny",
        format="tiny",
        version="1",
        observation_size=2,
        num_actions=2,
        actions=("left", "right"),
        vocabularies={},
        blocks=(block,),
    )
    logits, values = network(space)(torch.zeros(3, 2))
    assert (logits.shape, values.shape) == ((3, 2), (3,))


@pytest.mark.parametrize(("wrong", "read_as"), [(-3.0, 0), (4.0, 3), (2.7, 2)])
def test_a_category_outside_its_vocabulary_is_read_as_the_nearest_inside(wrong: float, read_as: int) -> None:
    space = sides_space()
    net = network(space)
    values = observations(space, 2, 3)
    types = space.view(values, "own", "types")
    types[0, 0, 0] = wrong
    found, _ = net(torch.from_numpy(values))
    types[0, 0, 0] = read_as
    torch.testing.assert_close(found, net(torch.from_numpy(values))[0])


def test_all_weights_learn() -> None:
    space = sides_space()
    net = network(space)
    logits, values = net(torch.from_numpy(observations(space, 64, 4)))
    (logits.square().sum() + values.square().sum()).backward()
    dead = [name for name, p in net.named_parameters() if p.numel() and (p.grad is None or not p.grad.any())]
    assert not dead


def test_a_fresh_network_is_close_to_uniform() -> None:
    space = sides_space()
    torch.manual_seed(0)
    net = make_network(space, SlotsSettings())
    mask = torch.ones(32, 9, dtype=torch.bool)
    logits, _ = net(torch.from_numpy(observations(space, 32, 5)))
    divergence = kl_divergence(masked_log_softmax(logits, mask), uniform_log_probs(mask), mask)
    assert divergence.max() < 0.01


@given(
    seed=st.integers(0, 2**32 - 1),
    scale=st.sampled_from([0.0, 1.0, 30.0, 1e4]),
    uniform=st.sampled_from([0.0, 5e-324, 0.5, JUST_BELOW_1]) | st.floats(0, JUST_BELOW_1),
)
def test_an_illegal_action_is_never_drawn(seed: int, scale: float, uniform: float) -> None:
    rng = np.random.default_rng(seed)
    logits = (rng.normal(size=(40, 10)) * scale).astype(np.float32)
    mask = rng.random((40, 10)) < 0.4
    mask[np.arange(40), rng.integers(0, 10, 40)] = True
    answers = sample_masked(logits, mask, np.full(40, uniform))
    assert mask[np.arange(40), answers.action].all()
    assert np.isfinite(answers.log_prob).all()


def test_draws_follow_the_distribution() -> None:
    logits = np.log(np.array([[0.5, 9.0, 0.2, 0.3]], dtype=np.float32))
    mask = np.array([[True, False, True, True]])
    uniforms = (np.arange(1000) + 0.5) / 1000
    answers = sample_masked(logits.repeat(1000, 0), mask.repeat(1000, 0), uniforms)
    assert np.bincount(answers.action, minlength=4).tolist() == [500, 0, 200, 300]
    np.testing.assert_allclose(np.exp(answers.log_prob[0]), 0.5, rtol=1e-6)


def test_greedy_play_takes_the_first_of_the_likeliest_legal_actions() -> None:
    logits = np.array([[1.0, 9.0, 3.0, 3.0], [-1.0, -2.0, -1.0, 0.0]], dtype=np.float32)
    mask = np.array([[True, False, True, True], [True, True, True, False]])
    for uniform in (0.0, 0.5, JUST_BELOW_1):
        answers = sample_masked(logits, mask, np.full(2, uniform), GREEDY)
        assert answers.action.tolist() == [2, 0]
        assert answers.log_prob.tolist() == [0.0, 0.0]
        assert (answers.action.dtype, answers.log_prob.dtype) == (np.int64, np.float32)


def test_a_temperature_sharpens_the_distribution() -> None:
    logits = np.log(np.array([[0.3, 9.0, 0.1]], dtype=np.float32))
    mask = np.array([[True, False, True]])
    uniforms = (np.arange(1000) + 0.5) / 1000
    answers = sample_masked(logits.repeat(1000, 0), mask.repeat(1000, 0), uniforms, 0.5)
    assert np.bincount(answers.action, minlength=3).tolist() == [900, 0, 100], "0.3² : 0.1²"
    np.testing.assert_allclose(np.exp(answers.log_prob[[0, -1]]), [0.9, 0.1], rtol=1e-6)


def test_a_network_plays_as_the_id_says() -> None:
    space = sides_space()
    net = network(space)
    rng = np.random.default_rng(6)
    values, mask = observations(space, 200, 6), rng.random((200, 9)) < 0.5
    mask[:, 3] = True
    decisions, draws = as_decisions(values, mask), rng.random(200)
    masked = np.where(mask, net.for_acting().logits(Observed(values)), -np.inf)
    greedy = NetworkPolicy(PolicyId("newest@greedy"), net)
    assert greedy.id == "newest@greedy"
    np.testing.assert_array_equal(greedy.act(decisions, draws).action, masked.argmax(axis=1))
    tempered = NetworkPolicy(PolicyId("newest@T0.5"), net).act(decisions, draws)
    log_probs = masked_log_softmax(net(torch.from_numpy(values))[0] * 2, torch.from_numpy(mask))
    expected = log_probs.gather(1, torch.from_numpy(tempered.action)[:, None]).squeeze(1)
    np.testing.assert_allclose(tempered.log_prob, expected.detach(), atol=1e-4, rtol=0)


def as_decisions(values: np.ndarray, mask: np.ndarray) -> Decisions:
    num = len(values)
    return Decisions(
        np.arange(num), np.zeros(num, np.int8), np.zeros(num, np.bool_), values, LegalActions.of_mask(mask)
    )


def test_recorded_log_probabilities_are_those_that_training_computes() -> None:
    space = sides_space()
    net = network(space)
    with torch.no_grad():
        net.get_parameter("actor.weight").mul_(300)
    rng = np.random.default_rng(6)
    values, mask = observations(space, 200, 6), rng.random((200, 9)) < 0.5
    mask[:, 3] = True
    answers = NetworkPolicy(PolicyId("p1"), net).act(as_decisions(values, mask), rng.random(200))
    net.train()
    log_probs = masked_log_softmax(net(torch.from_numpy(values))[0], torch.from_numpy(mask))
    recomputed = log_probs.gather(1, torch.from_numpy(answers.action)[:, None]).squeeze(1)
    assert recomputed.min() < -3, "some draws were unlikely, so that the comparison says something"
    np.testing.assert_allclose(answers.log_prob, recomputed.detach(), atol=1e-4, rtol=0)
    assert answers.log_prob.dtype == np.float32
    assert answers.action.dtype == np.int64


@pytest.mark.parametrize("make_space", [sides_space, tiny_space, active_space])
@pytest.mark.parametrize("has_onednn", [True, False])
def test_acting_computes_what_training_does_whatever_the_number_of_rows(
    *, make_space: Callable[[], Space], has_onednn: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(onednn, "HAS_ONEDNN", has_onednn)
    space = make_space()
    net = network(space)
    with torch.no_grad():
        net.get_parameter("actor.weight").mul_(300)
    acting = net.for_acting()
    for num_rows in (300, 128, 1, 7, 129):
        values = observations(space, num_rows, seed=num_rows)
        with torch.no_grad():
            expected = net.logits(torch.from_numpy(values)).numpy()
        assert num_rows < 300 or np.ptp(expected) > 1, "the logits differ, so that the comparison says something"
        np.testing.assert_allclose(acting.logits(Observed(values)), expected, atol=1e-4, rtol=0)


@pytest.mark.parametrize("has_onednn", [True, False])
def test_a_policy_that_acts_is_not_changed_by_further_training(
    *, has_onednn: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(onednn, "HAS_ONEDNN", has_onednn)
    space = sides_space()
    net = network(space)
    values = observations(space, 20, 9)
    acting = net.for_acting()
    before = acting.logits(Observed(values))
    with torch.no_grad():
        for parameter in net.parameters():
            parameter.add_(1.0)
    np.testing.assert_array_equal(acting.logits(Observed(values)), before)


def test_the_same_weights_give_the_same_bits_with_and_without_gradients() -> None:
    """So that the KL from a reference is exactly 0 before the first step."""
    space = sides_space()
    torch.manual_seed(0)
    net = make_network(space, SlotsSettings())
    values = torch.from_numpy(observations(space, 512, 8))
    with torch.no_grad():
        acting = net.logits(values, net.fuse())
    assert torch.equal(net.logits(values), acting)


def test_a_row_is_answered_alike_in_any_batch() -> None:
    space = sides_space()
    policy = NetworkPolicy(PolicyId("p1"), network(space))
    rng = np.random.default_rng(7)
    values, mask, uniforms = observations(space, 50, 7), np.ones((50, 9), np.bool_), rng.random(50)
    together = policy.act(as_decisions(values, mask), uniforms).action
    alone = [
        int(policy.act(as_decisions(values[i : i + 1], mask[:1]), uniforms[i : i + 1]).action[0]) for i in range(50)
    ]
    assert together.tolist() == alone
