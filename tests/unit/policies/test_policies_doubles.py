"""``max-power``, ``random`` and ``first-action`` in doubles, on made observations."""

import numpy as np
import pytest

from nashdex.games.interface import Decisions
from nashdex.games.legal import LegalActions
from nashdex.games.showdown.doubles_slots import SlotChoice, joined, num_slot_choices
from nashdex.games.space import ObservationBlock, ObservationField, Space
from nashdex.policies.interface import Actions
from nashdex.policies.scripted.baselines import FirstActionPlayer, UniformPlayer
from nashdex.policies.scripted.max_power import max_power_player

SIZE = num_slot_choices(9)
MOVE_FIELDS = ("power", "accuracy", "effectiveness", "stab", "spreads", "hits_ally")


def doubles_space() -> Space:
    """Return what the players read of a doubles layout."""
    blocks, at = [], 0
    for name, rows, fields in (
        ("own", 6, {"active_a": 1, "active_b": 1}),
        ("opponent", 6, {"active_a": 1, "active_b": 1, "fainted": 1}),
        ("own_moves", 24, {field: 2 if field == "effectiveness" else 1 for field in MOVE_FIELDS}),
    ):
        offset, parts = 0, []
        for field, size in fields.items():
            parts.append(ObservationField(name=field, offset=offset, size=size, kind="number"))
            offset += size
        blocks.append(ObservationBlock(name=name, offset=at, rows=rows, stride=offset, fields=tuple(parts)))
        at += rows * offset
    return Space(
        game="showdown",
        format="gen9doubles",
        version="1",
        observation_size=at,
        num_actions=SIZE**2,
        actions=tuple(f"choice {i}" for i in range(SIZE)),
        num_slots=2,
        vocabularies={},
        blocks=tuple(blocks),
    )


SPACE = doubles_space()


def observation(moves: dict[tuple[int, int], dict[str, float | tuple[float, float]]], fainted: str = "") -> np.ndarray:
    """Return an observation: own rows 1 and 2 and the opponent's are active; ``moves`` by (row, move) from 1."""
    values = np.zeros((1, SPACE.observation_size), np.float32)
    for side in ("own", "opponent"):
        SPACE.view(values, side, "active_a")[0, 0] = SPACE.view(values, side, "active_b")[0, 1] = 1
    for slot in fainted:
        SPACE.view(values, "opponent", "fainted")[0, "ab".index(slot)] = 1
    for (row, move), fields in moves.items():
        for name, value in {"accuracy": 1.0, **fields}.items():
            SPACE.view(values, "own_moves", name)[0, 4 * (row - 1) + move - 1] = value
    return values


def choose(values: np.ndarray, pairs: list[tuple[SlotChoice, SlotChoice]]) -> tuple[SlotChoice, SlotChoice]:
    """Return which of the legal pairs ``max-power`` plays."""
    numbers = {joined(a.number, b.number, SIZE): (a, b) for a, b in pairs}
    legal = LegalActions.of_counts(np.array([len(numbers)]), np.array(sorted(numbers), np.uint16), SIZE**2)
    rows = Decisions(np.zeros(1, np.int64), np.zeros(1, np.int8), np.zeros(1, np.bool_), values, legal)
    return numbers[int(max_power_player(SPACE, 1.5).act(rows, np.zeros(1)).action[0])]


def move(number: int, target: int = 0, gimmick: int = 0) -> SlotChoice:
    return SlotChoice("move", move=number, target=target, gimmick=gimmick)


PASS = SlotChoice("pass")
SPREAD = {"power": 0.5, "spreads": 1.0}


@pytest.mark.parametrize(
    ("moves", "options", "expected"),
    [
        ({(1, 1): {"power": 0.5, "effectiveness": (0.0, 0.5)}}, [move(1, 1), move(1, 2)], move(1, 2)),
        ({(1, 1): {"power": 0.5}, (1, 2): SPREAD}, [move(1, 1), move(1, 2), move(2)], move(2)),
        ({(1, 1): {"power": 0.5}, (1, 2): {**SPREAD, "hits_ally": 1.0}}, [move(1, 1), move(2)], move(1, 1)),
        ({(1, 1): {"power": 0.5}}, [move(1, -2), move(1, 2)], move(1, 2)),
        ({(1, 1): {"power": 0.1}}, [SlotChoice("switch", row=3), move(1, 2)], move(1, 2)),
        ({(1, 1): {"power": 0.5}}, [move(1, 2), move(1, 2, gimmick=4)], move(1, 2)),
        ({(1, 1): {"power": 0.5, "effectiveness": (-1.5, -0.5)}}, [move(1, 1), move(1, 2)], move(1, 2)),
        (
            {(3, 1): {"power": 0.2}, (4, 1): {"power": 0.9}},
            [SlotChoice("switch", row=3), SlotChoice("switch", row=4)],
            SlotChoice("switch", row=4),
        ),
    ],
)
def test_the_strongest_pair_is_played(
    moves: dict[tuple[int, int], dict[str, float | tuple[float, float]]],
    options: list[SlotChoice],
    expected: SlotChoice,
) -> None:
    assert choose(observation(moves), [(option, PASS) for option in options]) == (expected, PASS)


def test_a_foe_that_fainted_is_not_aimed_at() -> None:
    moves: dict[tuple[int, int], dict[str, float | tuple[float, float]]] = {
        (2, 1): {"power": 0.5, "effectiveness": (0.5, -0.5)}
    }
    assert choose(observation(moves), [(PASS, move(1, 1)), (PASS, move(1, 2))])[1].target == 1
    assert choose(observation(moves, fainted="a"), [(PASS, move(1, 1)), (PASS, move(1, 2))])[1].target == 2


def test_random_draws_each_legal_pair_equally_and_first_action_the_lowest() -> None:
    legal = LegalActions(np.array([0, 3, 4]), np.array([5, 900, 11_000, 7], np.uint16), SIZE**2)
    rows = Decisions(np.arange(2), np.zeros(2, np.int8), np.zeros(2, np.bool_), np.zeros((2, 1), np.float32), legal)
    many = rows.take(np.zeros(300, np.int64))
    answers: Actions = UniformPlayer(SPACE).act(many, (np.arange(300) + 0.5) / 300)
    assert np.unique_counts(answers.action).counts.tolist() == [100, 100, 100]
    assert np.allclose(answers.log_prob, -np.log(3))
    assert UniformPlayer(SPACE).act(rows, np.array([0.999999, 0.999999])).action.tolist() == [11_000, 7]
    assert FirstActionPlayer(SPACE).act(rows, np.zeros(2)).action.tolist() == [5, 7]
