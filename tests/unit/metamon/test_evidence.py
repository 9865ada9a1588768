"""The gate for data from outside: a battle whose label disagrees with its own lines is refused by cause."""

import random
import re
from dataclasses import replace
from pathlib import Path

import pytest
from poke_env.data import GenData

from nashdex_metamon.data.evidence import check
from nashdex_metamon.data.folder import entries
from nashdex_metamon.data.replay_file import write
from nashdex_metamon.dex import dex
from nashdex_replays.refusal import RefusedReplayError
from nashdex_replays.replay import RawReplay, parse_log
from support.metamon_goldens import METAMON_DATA, golden

LABELS = ("gen1ou", "gen1uu", "gen2ou", "gen3ou", "gen4ou", "gen9ou", "gen9vgc2024regg")
MUTATIONS = 300


def battle(name: str) -> str:
    return str(golden("battles", name)["log"])


def cause_of(log: str, label: str, id_: str = "") -> str | None:
    try:
        parse_log(log, id_ or f"{label}-1", label, 0, "the log")
    except RefusedReplayError as refusal:
        return refusal.cause
    return None


@pytest.mark.parametrize("name", ["gen1ou-9000", "gen2ou-9000", "gen3ou-9000", "gen4ou-9000", "gen9ou-9000"])
def test_a_real_log_passes_under_its_own_label_alone(name: str) -> None:
    log, own = battle(name), name.partition("-")[0]
    assert cause_of(log, own) is None
    for label in LABELS:
        if label != own:
            assert cause_of(log, label) in {"generation", "gametype", "tier"}


@pytest.mark.parametrize(
    ("old", "new", "cause"),
    [
        ("|gen|4\n", "", "no-evidence"),
        ("|tier|[Gen 4] OU\n", "", "no-evidence"),
        ("|gen|4", "|gen|4\n|gen|3", "contradiction"),
        ("|gametype|singles", "|gametype|triples", "gametype"),
        ("|gametype|singles", "|gametype|doubles", "gametype"),
        ("[Gen 4] OU", "[Gen 4] UU", "tier"),
        ("|turn|2\n", "|turn|2\n|-terastallize|p1a: X|Fire\n", "rules"),
        ("|turn|2\n", "|turn|2\n|move|p1a: X|Scald|p2a: Y\n", "move"),
        ("|turn|2\n", "|turn|2\n|move|p1a: X|Thunderbplt|p2a: Y\n", "move"),
        ("|turn|2\n", "|turn|2\n|switch|p1a: X|Victini|100/100\n", "species"),
        ("|turn|2\n", "|turn|2\n|-damage|p1a: X|90/100|[from] item: Rocky Helmet\n", "item"),
        ("|turn|2\n", "|turn|2\n|-ability|p1a: X|Regenerator\n", "ability"),
    ],
)
def test_each_piece_of_evidence_is_checked(old: str, new: str, cause: str) -> None:
    log = battle("gen4ou-9000")
    assert log.count(old)
    assert cause_of(log.replace(old, new, 1), "gen4ou") == cause


def test_an_id_that_names_another_format_is_refused() -> None:
    log = battle("gen1ou-9000")
    assert cause_of(log, "gen1ou", "smogtours-gen1ou-501373") is None
    assert cause_of(log, "gen1ou", "smogtours-gen1uu-501373") == "id"
    assert cause_of(log, "gen1ou", "1234") is None


@pytest.mark.parametrize("tier", ["RBY OU", "OU", "Gen 1 OU", "[Gen 1] OU"])
def test_tiers_of_old_logs_are_recognised(tier: str) -> None:
    assert cause_of(battle("gen1ou-9000").replace("[Gen 1] OU", tier), "gen1ou") is None


def test_a_mutated_log_is_refused_by_cause_or_has_the_facts_of_its_own_lines() -> None:
    """Nothing is accepted under a generation, tier or game type that a line contradicts."""
    generator = random.Random(39)
    log = battle("gen3ou-9000").split("\n")
    accepted = 0
    for _ in range(MUTATIONS):
        lines = list(log)
        for _ in range(generator.randint(1, 4)):
            at = generator.randrange(len(lines))
            match generator.randrange(4):
                case 0:
                    del lines[at]
                case 1:
                    lines.insert(at, generator.choice(log))
                case 2:
                    lines[at] = re.sub(r"[a-z0-9]", lambda _: generator.choice("aeiou123456789"), lines[at], count=1)
                case _:
                    lines[at] = generator.choice(
                        ["|gen|1", "|tier|[Gen 3] UU", "|gametype|doubles", "|switch|p1a: A|Xerneas|1/1"]
                    )
        try:
            replay = parse_log("\n".join(lines), "gen3ou-1", "gen3ou", 0, "the log")
        except RefusedReplayError:
            continue
        accepted += 1
        stated = {line for line in replay.lines if line.startswith(("|gen|", "|tier|", "|gametype|"))}
        assert stated == {"|gen|3", "|tier|[Gen 3] OU", "|gametype|singles"}
        assert isinstance(replay, RawReplay)
    assert 0 < accepted < MUTATIONS


def test_parsed_replays_under_another_format_are_refused(tmp_path: Path) -> None:
    source = METAMON_DATA / "replays"
    entry = next(entries(source, ["gen9ou"]))
    name, replay = entry.read()
    falsified = replace(replay, states=tuple(replace(state, format="gen1ou") for state in replay.states))
    for number, (format_id, content) in enumerate([("gen1ou", replay), ("gen1ou", falsified), ("gen9ou", replay)]):
        battle = name.battle.replace("gen9ou", format_id)
        file = replace(name, battle=battle, date=f"01-0{number + 1}-2024").file_name
        write(tmp_path / format_id / file, content)
    write(tmp_path / "gen9ou" / replace(name, battle="gen9uu-1").file_name, replay)
    causes = []
    for found in entries(tmp_path):
        try:
            found.read()
        except RefusedReplayError as refusal:
            causes.append(refusal.cause)
    assert len(causes) == 3
    assert {"format", "id"} < set(causes)
    assert set(causes) - {"format", "id"} <= {"species", "move", "item", "ability", "base-stats"}


def test_a_replay_whose_every_label_is_rewritten_is_refused_by_what_differs_between_generations() -> None:
    """All that is left are gen3ou replays whose moves gen 4 has with the same numbers."""
    passed = set()
    for entry in entries(METAMON_DATA / "replays"):
        name, replay = entry.read()
        own = replay.states[0].format
        check(own, name, replay, "a replay")
        for label in (f"gen{generation}ou" for generation in range(1, 10)):
            if label != own:
                states = tuple(replace(state, format=label) for state in replay.states)
                try:
                    relabelled = replace(name, battle=name.battle.replace(own, label))
                    check(label, relabelled, replace(replay, states=states), "a replay")
                except RefusedReplayError:
                    continue
                passed.add((own, label))
    assert passed <= {("gen3ou", "gen4ou")}


def test_a_replay_with_one_odd_move_that_fits_no_generation_is_kept() -> None:
    """Files of other versions of the data may hold odd numbers: only what fits another generation is refused."""
    name, replay = next(entries(METAMON_DATA / "replays", ["gen4ou"])).read()
    state = replay.states[0]
    moves = tuple(replace(move, base_power=77) for move in state.player_active_pokemon.moves)
    odd = replace(state, player_active_pokemon=replace(state.player_active_pokemon, moves=moves))
    check("gen4ou", name, replace(replay, states=(odd, *replay.states[1:])), "a replay")


def test_a_terastallized_pokemon_on_the_bench_keeps_its_type() -> None:
    name, replay = next(entries(METAMON_DATA / "replays", ["gen9ou"])).read()
    state = replay.states[0]
    changed = replace(state.available_switches[0], types="notype water", tera_type="water")
    fits_gen_8 = replace(state, available_switches=(changed, *state.available_switches[1:]))
    check("gen9ou", name, replace(replay, states=(fits_gen_8, *replay.states[1:])), "a replay")


@pytest.mark.parametrize("generation", range(1, 10))
def test_every_species_that_any_generation_names_can_be_looked_up(generation: int) -> None:
    """Some generations name species of later ones without their types."""
    named = {name for each in range(1, 10) for name in GenData.from_gen(each).pokedex}
    assert all(dex(generation).species(name).types for name in named)
