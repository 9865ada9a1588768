"""Imported policies as members: copied into the run, frozen, and read from its store alone."""

import shutil
from pathlib import Path

import pytest

from nashdex.core import keys
from nashdex.core.errors import ConfigurationError, DataError
from nashdex.core.ids import PolicyId, is_imported
from nashdex.metagame.opponents.league import ClassShares, league_mixture
from nashdex.metagame.population import PolicyEntry, Population
from nashdex.planning.step import first_plan
from nashdex.runs.creation import PreparedRun, create_run, open_run, prepare_run
from nashdex.store import open_store
from nashdex_cluster.bundle import pack
from nashdex_lab.exploits import Budget, prepare_exploit
from nashdex_metamon.checkpoints.archive import import_checkpoint, load_imported
from nashdex_metamon.checkpoints.document import ImportedPolicy
from support.metamon_goldens import amago_mini


@pytest.fixture
def imported(tmp_path: Path) -> ImportedPolicy:
    return import_checkpoint(open_store(str(tmp_path / "imports")), amago_mini())


def prepared(tmp_path: Path, *initial: str) -> PreparedRun:
    """Return a run with ``initial``; imported ones are in the folder ``imports``."""
    config = tmp_path / "made.toml"
    config.write_text('format = "gen1ou"\niterations = 2\n')
    named = [f"{tmp_path}/imports#{name}" if is_imported(name) else name for name in initial]
    return prepare_run(config, overrides=[f"population.initial={named}"])


def test_a_run_holds_all_that_its_imported_members_need(imported: ImportedPolicy, tmp_path: Path) -> None:
    """Two ways to play are two members of one stored policy. The source may vanish when the run has begun."""
    greedy = f"{imported.id}@greedy"
    run = create_run(str(tmp_path / "runs"), prepared(tmp_path, "heuristic", imported.id, greedy))
    shutil.rmtree(tmp_path / "imports")
    again = open_run(run.store.uri)
    assert load_imported(again.store, imported.id).document == imported
    entries = first_plan(again.settings, again.store).population.policies
    assert [(entry.id, entry.kind, entry.name, entry.is_anchor) for entry in entries] == [
        ("heuristic", "scripted", "heuristic", True),
        (imported.id, "imported", "amago-mini", True),
        (greedy, "imported", "amago-mini", True),
    ]


def test_an_imported_member_meets_the_learner_as_a_baseline() -> None:
    """It is none of the learner's past selves, whatever its rating."""
    kinds = {"random": "scripted", "i0123456789abcdef": "imported", "p1": "network", "p2": "network"}
    iterations = {"p1": 0, "p2": 1}
    population = Population(
        policies=tuple(
            PolicyEntry.model_validate(
                {"id": name, "kind": kind, "name": name, "iteration": iterations.get(name), "parent": None}
            )
            for name, kind in kinds.items()
        )
    )
    others = [PolicyId(name) for name in kinds if name != "p2"]
    shares = ClassShares(baseline=0.5, itself=0.0, peer=0.5, exploitable=0.0)
    mixture = league_mixture(population, PolicyId("p2"), dict.fromkeys(others, 0.5), {}, shares=shares)
    assert mixture == pytest.approx({"random": 0.25, "i0123456789abcdef": 0.25, "p1": 0.5})


def test_an_altered_import_is_refused_before_a_run_begins(imported: ImportedPolicy, tmp_path: Path) -> None:
    weights = tmp_path / "imports" / keys.imported_weights(imported.id)
    weights.write_bytes(weights.read_bytes()[:-1] + b"\1")
    with pytest.raises(DataError, match="altered"):
        prepared(tmp_path, imported.id)


def test_what_is_not_there_or_has_no_source_is_refused(imported: ImportedPolicy, tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"imports has no policy 'i0000000000000000'"):
        prepared(tmp_path, "i" + "0" * 16)
    config = tmp_path / "made.toml"
    with pytest.raises(ConfigurationError, match=rf"unknown scripted policy '{imported.id}'.*STORE#ID"):
        prepare_run(config, overrides=[f"population.initial=['{imported.id}']"])
    with pytest.raises(ConfigurationError, match=r"write 'i.*@T0.5'"):
        prepared(tmp_path, f"{imported.id}@T0.50")
    with pytest.raises(ConfigurationError, match=r"unknown scripted policy 'nobody'.*zoo:NAME"):
        prepared(tmp_path, "nobody")


def test_a_run_with_weights_is_no_bundle(imported: ImportedPolicy, tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"nashdex begin CONFIG --store URI.*--begun"):
        pack(prepared(tmp_path, imported.id))


def test_an_imported_member_can_be_exploited(imported: ImportedPolicy, tmp_path: Path) -> None:
    """The exploiter's run holds it too."""
    target = create_run(str(tmp_path / "runs"), prepared(tmp_path, "random", imported.id))
    found = prepare_exploit(f"{target.store.uri}#{imported.id}", Budget(decisions=1000, seeds=1, battles=100))
    run = create_run(str(tmp_path / "exploits"), found)
    assert load_imported(run.store, imported.id).document == imported
    assert first_plan(run.settings, run.store).opponents == {PolicyId(imported.id): 1.0}
