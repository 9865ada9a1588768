"""Names that the report and `nashdex policy list` print mean the same policy in every command."""

import json
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

from nashdex.core import keys
from nashdex.core.errors import ConfigurationError, DataError
from nashdex.core.ids import BarePolicyId, PolicyId
from nashdex.core.references import PolicyReference
from nashdex.games.tabular.openspiel import openspiel_tree
from nashdex.metagame.analysis.documents import MetaStrategy
from nashdex.policies.references import find_policy, known_policies, resolve
from nashdex.policies.tables import save_table_policy
from nashdex.report.document import Report, policy_names
from nashdex.store import open_store
from nashdex.store.documents import read_published
from nashdex.store.protocol import ObjectStore
from nashdex_cli.cli import run_command_line
from support.made_runs import ROCK_PAPER_SCISSORS, make_tabular_run


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> ObjectStore:
    store = open_store(str(tmp_path_factory.mktemp("runs") / "demo"))
    make_tabular_run(store, iterations=2, payoffs=ROCK_PAPER_SCISSORS)
    return store


def refer(store: ObjectStore, name: str) -> dict[PolicyId, float]:
    return dict(resolve(PolicyReference.parse(f"{store.uri}#{name}")).mixture)


def stored_apart(store: ObjectStore, num: int) -> list[BarePolicyId]:
    """Store policies of Kuhn poker that no population has."""
    tree = openspiel_tree("kuhn_poker")
    shares = np.linspace(0.1, 0.9, num)
    return [
        save_table_policy(
            store,
            tree,
            np.full((tree.num_states, 2), (share, 1 - share)),
            name=f"mixed {index}",
            parent=None,
            iteration=0,
            oracle="exact",
        )
        for index, share in enumerate(shares)
    ]


def test_every_name_in_the_report_means_its_policy(run: ObjectStore) -> None:
    report = read_published(run, 1, keys.REPORT, Report)
    names = policy_names(report.policies)
    trained = [row for row in report.policies if row.kind == "table"]
    assert len(trained) >= 2
    for row in trained:
        for name in (row.id, row.short_id, names[row.id], names[row.id].upper(), row.id[:5]):
            assert refer(run, name) == {row.id: 1.0}
        assert refer(run, f"{row.short_id}@greedy") == {f"{row.id}@greedy": 1.0}


def test_newest_nash_and_scripted_members(run: ObjectStore) -> None:
    entries = [policy for policy in known_policies(run) if policy.iteration is not None]
    assert refer(run, "newest@T0.5") == {f"{entries[-1].id}@T0.5": 1.0}
    strategy = read_published(run, 1, keys.META_STRATEGY, MetaStrategy).meta_strategy
    assert refer(run, "nash") == {policy: share for policy, share in strategy.items() if share > 0}
    assert refer(run, "first-action") == {"first-action": 1.0}
    with pytest.raises(ConfigurationError, match="so it takes no suffix; write 'nash'"):
        refer(run, "nash@greedy")


def test_a_name_that_no_policy_has_lists_the_nearest(run: ObjectStore) -> None:
    with pytest.raises(DataError, match=r"no policy 'best respnse 1': did you mean .*best response 1.*policy list"):
        find_policy(run, "best respnse 1")
    with pytest.raises(DataError, match=r"no policy 'newst': did you mean newest\?"):
        find_policy(run, "newst")
    with pytest.raises(DataError, match=r"no policy '\.\./x': "):
        find_policy(run, "../x")


def test_a_beginning_that_several_have_lists_them(tmp_path: Path) -> None:
    store = open_store(str(tmp_path))
    ids = sorted(stored_apart(store, 80))
    one, other = next((a, b) for a, b in combinations(ids, 2) if a[:3] == b[:3])
    with pytest.raises(DataError, match=rf"may be .*{one} \(mixed \d+\), .*{other} .*: write more of the id"):
        find_policy(store, one[:3])
    with pytest.raises(DataError, match=r"its beginning \(3 characters or more\)"):
        find_policy(store, one[:2])
    assert find_policy(store, one) == one
    assert find_policy(store, "mixed 7") in ids


def test_a_policy_outside_the_population_is_found_and_listed(tmp_path: Path) -> None:
    store = open_store(str(tmp_path / "run"))
    make_tabular_run(store, iterations=1, payoffs=ROCK_PAPER_SCISSORS)
    (apart,) = stored_apart(store, 1)
    assert find_policy(store, "mixed 0") == apart
    assert find_policy(store, apart[:6]) == apart
    listed = {policy.id: policy for policy in known_policies(store)}
    assert not listed[apart].is_member
    assert listed[apart].elo is None


def test_a_folder_of_policies_has_short_ids_that_commands_take(tmp_path: Path) -> None:
    store = open_store(str(tmp_path))
    ids = stored_apart(store, 5)
    listed = {policy.id: policy.short_id for policy in known_policies(store)}
    assert set(listed) == set(ids)
    for policy, short in listed.items():
        assert len(short) < len(policy)
        assert find_policy(store, short) == policy


def test_policy_list_prints_what_other_commands_take(run: ObjectStore, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command_line(["policy", "list", run.uri, "--json"]) == 0
    listed = json.loads(capsys.readouterr().out)["policies"]
    report = read_published(run, 1, keys.REPORT, Report)
    assert {(row["id"], row["short_id"], row["kind"], row["iteration"]) for row in listed} == {
        (row.id, row.short_id, row.kind, row.iteration) for row in report.policies
    }
    assert {row["id"]: row["elo"] for row in listed} == {row.id: row.rating.elo.value for row in report.policies}
    assert run_command_line(["policy", "list", run.uri]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == ["name", "short", "id", "id", "kind", "iteration", "Elo"]
    assert len(lines) == 1 + len(listed)
    assert run_command_line(["policy", "list", f"{run.uri}/nothing"]) == 65
    assert "holds no run and no policies; expected the URI of a run" in capsys.readouterr().err


def test_policy_list_prints_the_zoo_by_default(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command_line(["policy", "list"]) == 0
    assert "gen1randombattle " in capsys.readouterr().out
