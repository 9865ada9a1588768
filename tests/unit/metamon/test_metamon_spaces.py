"""States, observations, actions, tokens and rewards equal metamon's own."""

import json
from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nashdex.core.errors import ConfigurationError, DataError
from nashdex_metamon.actions import action_space
from nashdex_metamon.names import ability_name, item_name, move_name, type_words
from nashdex_metamon.observations import OBSERVATION_SPACES, SeenOpponents, observation_space
from nashdex_metamon.rewards import reward_function
from nashdex_metamon.state import BattleState
from nashdex_metamon.tokens import Tokenizer
from nashdex_metamon.views.definition import view_definition
from nashdex_replays.words import clean_name
from support.maybe_valid import maybe_valid
from support.metamon_goldens import BATTLES, METAMON_DATA, golden

VOCABULARIES = {
    "allreplays-v3": "tok_allreplaysv3.json",
    "DefaultObservationSpace-v0": "tok_DefaultObservationSpace-v0.json",
    "DefaultObservationSpace-v1": "tok_DefaultObservationSpace-v1.json",
}


@pytest.mark.parametrize("battle", BATTLES)
def test_every_golden_decision(battle: str) -> None:
    """Text, tokens and valid actions are equal, numbers to 1e-6; a state is written as it was read."""
    tokenizers = {name: Tokenizer.read(METAMON_DATA / "tokenizers" / file) for name, file in VOCABULARIES.items()}
    seen = (SeenOpponents(), SeenOpponents())
    previous: dict[int, BattleState] = {}
    for row in golden("spaces", battle)["decisions"]:
        state = BattleState.from_json(row["state"])
        seat = row["seat"]
        assert json.dumps(state.to_json()) == json.dumps(row["state"])
        seen[seat].add(state)
        for name, expected in row["obs"].items():
            space = OBSERVATION_SPACES[name]
            observation = space.observe(state, seen[seat])
            assert observation.text == expected["text"]
            assert observation.numbers == pytest.approx(expected["numbers"], abs=1e-6, rel=0)
            assert observation.numbers.dtype == np.float32
            assert (len(observation.words), len(observation.numbers)) == (space.num_words, space.num_numbers)
        text = row["obs"]["DefaultObservationSpace"]["text"]
        for name, tokens in row["tokens"].items():
            assert tokenizers[name].tokens(text.split(" ")).tolist() == tokens
        if not row["end"]:
            assert maybe_valid(state) == row["maybe_valid"]
        for name, reward in (row["rewards"] or {}).items():
            assert reward_function(name)(previous[seat], state) == pytest.approx(reward, abs=1e-9)
        previous[seat] = state


_NAMES = st.text("abcdefghijklmnopqrstuvwxyz", min_size=1, max_size=12)


@cache
def _states(battle: str) -> list[str]:
    return [json.dumps(row["state"]) for row in golden("spaces", battle)["decisions"]]


@cache
def _vocabulary() -> Tokenizer:
    return Tokenizer.read(METAMON_DATA / "tokenizers" / VOCABULARIES["allreplays-v3"])


@settings(max_examples=50)
@given(data=st.data())
def test_sizes_are_fixed_whatever_the_state(data: st.DataObject) -> None:
    """Missing moves, bench places and previews are padded, and a word has an id of the vocabulary or −1."""
    states = _states(data.draw(st.sampled_from(BATTLES)))
    row = json.loads(states[data.draw(st.integers(0, len(states) - 1))])
    row["available_switches"] = row["available_switches"][: data.draw(st.integers(0, 5))]
    row["opponent_teampreview"] = data.draw(st.lists(_NAMES, max_size=6))
    for pokemon in (row["player_active_pokemon"], row["opponent_active_pokemon"], *row["available_switches"]):
        pokemon["moves"] = pokemon["moves"][: data.draw(st.integers(0, 4))]
        pokemon["item"] = data.draw(_NAMES)
    state, seen = BattleState.from_json(row), SeenOpponents()
    seen.add(state)
    vocabulary = _vocabulary()
    sizes = []
    for space in OBSERVATION_SPACES.values():
        observation = space.observe(state, seen)
        tokens = vocabulary.tokens(observation.words)
        sizes.append((len(tokens), len(observation.numbers)))
        assert tokens.min() >= -1
        assert tokens.max() < len(vocabulary)
        assert (np.abs(observation.numbers) <= 10).all()
    assert sizes == [(87, 48), (100, 55), (106, 55), (106, 55)]


def test_names() -> None:
    """Names are letters and digits, or letters alone; unknown differs from none."""
    assert clean_name("Vivillon-High Plains") == "vivillonhighplains"
    assert [
        move_name(move) for move in ("hiddenpowerice60", "return102", "Vice Grip", "10,000,000 Volt Thunderbolt")
    ] == [
        "hiddenpower",
        "return",
        "visegrip",
        "voltthunderbolt",
    ]
    assert [item_name(item) for item in (None, "", "No Item", "Leftovers")] == [
        "unknownitem",
        "noitem",
        "noitem",
        "leftovers",
    ]
    assert [ability_name(ability) for ability in (None, "", "Sand Rush")] == [
        "unknownability",
        "noability",
        "sandrush",
    ]
    assert type_words(["Water"]) == "notype water"


def test_old_files_are_filled() -> None:
    """A state without the newer keys, and with five moves, is read as metamon reads it."""
    data = golden("spaces", "gen1ou-9000")["decisions"][0]["state"]
    del data["can_tera"], data["opponent_teampreview"]
    data["fainted_pokemon"] = []
    pokemon = data["player_active_pokemon"]
    del pokemon["tera_type"], pokemon["base_species"]
    pokemon["name"] = "shaymin-sky"
    pokemon["moves"] = [*pokemon["moves"], pokemon["moves"][0]]
    state = BattleState.from_json(data)
    assert (state.can_tera, state.opponent_teampreview) == (False, ())
    assert (state.player_active_pokemon.base_species, state.player_active_pokemon.tera_type) == ("shaymin", "notype")
    assert len(state.player_active_pokemon.moves) == 4


@pytest.mark.parametrize(
    ("key", "value", "words"),
    [
        ("weather", 3, "'weather'"),
        ("opponents_remaining", None, "'opponents_remaining'"),
        ("available_switches", {}, "available_switches"),
        ("player_active_pokemon", [], "a Pokémon"),
        ("forced_switch", "no", "'forced_switch'"),
    ],
)
def test_a_bad_state_is_named(key: str, value: object, words: str) -> None:
    """The error names what is wrong."""
    data = golden("spaces", "gen1ou-9000")["decisions"][0]["state"]
    data[key] = value
    with pytest.raises(DataError, match=words):
        BattleState.from_json(data)


@pytest.mark.parametrize("choose", [observation_space, action_space, reward_function])
def test_unknown_names(choose: Callable[[str], object]) -> None:
    """An unknown name is refused with the known ones."""
    with pytest.raises(ConfigurationError, match="expected one of"):
        choose("NoSuchThing")


@pytest.mark.parametrize("text", ["[1]", '{"a": 1}', '{"a": "0"}', "{", '{"a": 0, "b": 0}'])
def test_bad_vocabularies(tmp_path: Path, text: str) -> None:
    """A file that does not number its words from 0 is refused."""
    path = tmp_path / "vocabulary.json"
    path.write_text(text)
    with pytest.raises(DataError, match=r"vocabulary\.json"):
        Tokenizer.read(path)
    with pytest.raises(DataError, match="cannot be read"):
        Tokenizer.read(tmp_path / "none.json")


@pytest.mark.parametrize("name", OBSERVATION_SPACES)
def test_a_views_definition_names_every_word_and_number(name: str) -> None:
    space = OBSERVATION_SPACES[name]
    definition = view_definition(name, "DefaultActionSpace", "BinaryReward", "0" * 64)
    assert (len(definition.words), len(definition.numbers)) == (space.num_words, space.num_numbers)
    for names in (definition.words, definition.numbers, definition.actions):
        assert len(set(names)) == len(names)


def test_views_differ_in_their_fingerprints() -> None:
    """In spaces, actions, reward and vocabulary."""
    arguments = [
        ("DefaultObservationSpace", "DefaultActionSpace", "BinaryReward", "0" * 64),
        ("ExpandedObservationSpace", "DefaultActionSpace", "BinaryReward", "0" * 64),
        ("DefaultObservationSpace", "MinimalActionSpace", "BinaryReward", "0" * 64),
        ("DefaultObservationSpace", "DefaultActionSpace", "DefaultShapedReward", "0" * 64),
        ("DefaultObservationSpace", "DefaultActionSpace", "BinaryReward", "1" * 64),
    ]
    found = [view_definition(*names).identity.fingerprint for names in arguments]
    assert len(set(found)) == len(found)
    assert found[0] == view_definition(*arguments[0]).identity.fingerprint
