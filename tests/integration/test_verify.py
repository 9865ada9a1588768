"""``nashdex verify`` finds every change of a run, also one whose hashes were rewritten."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from nashdex.core import keys
from nashdex.core.manifest import Manifest
from nashdex.core.results import TRAINING_RESULT, TrainingResult
from nashdex.core.steps import StepName
from nashdex.learning.evaluation.ledger import EVALUATION_LEDGER
from nashdex.metagame.analysis.documents import MetaStrategy
from nashdex.metagame.evidence.ledger import LEDGER, decode, encode
from nashdex.planning.dag import iteration_steps, num_shards, step_function
from nashdex.store import open_store
from nashdex.store.attempt import Attempt, read_manifest, read_object
from nashdex.store.documents import read_decoded, read_written
from nashdex.store.protocol import ObjectStore
from nashdex.store.verdict import Phase, record_end
from nashdex_cli.cli import run_command_line
from support.begun_runs import begin_run

CONFIGS = Path(__file__).parents[2] / "configs"
CONFIG = """
format = "kuhn_poker"
iterations = 2
[population]
initial = ["random"]
[train]
oracle = "exact"
[evaluate]
shards = 2
[solve]
num_draws = 100
"""


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a run that is done."""
    return done(tmp_path_factory.mktemp("verify"), CONFIG)


def done(folder: Path, config: str) -> Path:
    """Do every step of a run of Kuhn poker; return its folder."""
    (folder / "kuhn.toml").write_text(config)
    run = begin_run(str(folder / "store"), folder / "kuhn.toml", name="kuhn")
    for iteration in range(run.settings.iterations):
        for step in iteration_steps(run.settings):
            for shard in range(num_shards(run.settings, step.name)):
                step_function(step.name)(run.store, run.settings, iteration, shard)
    return folder / "store" / "kuhn"


@pytest.fixture
def run(finished: Path, tmp_path: Path) -> Path:
    """Return a copy, to be altered."""
    return Path(shutil.copytree(finished, tmp_path / "kuhn"))


def verified(run: Path, capsys: pytest.CaptureFixture[str], *options: str) -> tuple[int, dict[str, object], str]:
    code = run_command_line(["verify", str(run), "--json", *options])
    out, err = capsys.readouterr()
    return code, json.loads(out), err


def replace_object(store: ObjectStore, iteration: int, step: StepName, shard: int, name: str, data: bytes) -> None:
    """Write an object again with a manifest that fits, as an attacker who may write the store could."""
    manifest = read_manifest(store, iteration, step, shard)
    objects = {each: read_object(store, manifest, each) for each in manifest.objects} | {name: data}
    store.delete(keys.manifest(iteration, step, shard))
    attempt = Attempt(store, iteration, step, shard)
    for each, content in objects.items():
        publish = attempt.publish if each in keys.PUBLISHED_BY else attempt.write
        publish(each, content)
    attempt.finish(manifest.counts)


def test_a_whole_run_follows_and_its_root_hash_is_stable(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = sorted(run.rglob("*"))
    code, found, err = verified(run, capsys)
    assert (code, found["problems"], err) == (0, [], "")
    assert isinstance(found["objects"], int)
    assert found["objects"] > 30
    names = {str(key).rsplit("/", 1)[1] for key in found["recomputed"]}  # type: ignore[attr-defined]
    assert names >= {"plan.json", "interaction_matrix.json", "meta_strategy.json", "report.json", LEDGER}
    assert sorted(run.rglob("*")) == before
    assert verified(run, capsys, "--root", str(found["root"]))[0] == 0
    assert verified(run, capsys, "--root", "0" * 64)[0] == 65


def test_later_iterations_alone_are_verified(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _, whole, _ = verified(run, capsys)
    code, later, err = verified(run, capsys, "--from", "1")
    assert (code, later["problems"], err) == (0, [], "")
    assert later["recomputed"] == [key for key in whole["recomputed"] if "/0001/" in str(key)]  # type: ignore[attr-defined]
    ledger = next((run / "iterations/0000/evaluate").rglob(LEDGER))
    ledger.write_bytes(ledger.read_bytes() + b" ")
    assert verified(run, capsys, "--from", "1", "--root", str(later["root"]))[0] == 0, "no later step reads it"
    assert verified(run, capsys)[0] == 65
    code = run_command_line(["verify", str(run), "--from", "2"])
    assert code == 64
    assert "has 2 iterations; expected at most 1" in capsys.readouterr().err


def test_a_policy_that_training_gave_again_is_described_by_the_first_time(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Rock, paper, scissors has three pure best responses, so the fourth iteration gives a member again."""
    (tmp_path / "matrix.json").write_text((CONFIGS / "biased-rps.json").read_text())
    config = (CONFIGS / "biased-rps.toml").read_text().replace("configs/biased-rps.json", f"{tmp_path}/matrix.json")
    run = done(tmp_path, config)
    store = open_store(str(run))
    manifests = [read_manifest(store, number, StepName.TRAIN, 0) for number in range(4)]
    trained = [read_written(store, manifest, TRAINING_RESULT, TrainingResult).policy for manifest in manifests]
    assert trained[3] == trained[2]
    capsys.readouterr()  # of the steps
    assert verified(run, capsys, "--from", "3")[0] == 0


def test_a_renamed_run_is_named(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, _, err = verified(run.rename(run.with_name("other")), capsys)
    assert code == 65
    assert "other holds the run kuhn: it was renamed or copied" in err


@pytest.mark.slow
def test_the_root_hash_covers_every_byte_that_the_help_names(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    record_end(open_store(str(run)), Phase.SUCCEEDED, 1)
    _, found, _ = verified(run, capsys)
    unchecked = []
    one_of_each_name = {path.name: path for path in sorted(run.rglob("*")) if path.is_file()}
    for path in one_of_each_name.values():
        content = path.read_bytes()
        path.write_bytes(content + b"\n")
        code = run_command_line(["verify", str(run), "--json"])
        out = capsys.readouterr().out
        path.write_bytes(content)
        if code == 0 and json.loads(out)["root"] == found["root"]:
            unchecked.append(path.relative_to(run).as_posix())
    assert unchecked == []
    forged = json.loads((run / keys.VERDICT).read_text()) | {"iteration": 7}
    (run / keys.VERDICT).write_text(json.dumps(forged))
    assert verified(run, capsys, "--root", str(found["root"]))[0] == 65


def test_a_mixture_with_hashes_that_fit_is_found(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    store = open_store(str(run))
    manifest = read_manifest(store, 0, StepName.SOLVE, 0)
    mixture = MetaStrategy.from_json(read_object(store, manifest, keys.META_STRATEGY), "mixture")
    first, second = mixture.meta_strategy
    other = mixture.model_copy(update={"meta_strategy": {first: 0.25, second: 0.75}})
    replace_object(store, 0, StepName.SOLVE, 0, keys.META_STRATEGY, other.to_json())
    code, found, err = verified(run, capsys)
    assert code == 65
    assert "meta_strategy.json does not follow from what solve reads" in err
    assert len(found["problems"]) >= 2  # type: ignore[arg-type]  # the report follows from it too


def test_an_exact_payoff_with_hashes_that_fit_is_found(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    store = open_store(str(run))
    manifest = read_manifest(store, 1, StepName.EVALUATE, 0)
    ledger = read_decoded(store, manifest, LEDGER, decode)
    first = ledger.exact[0].model_copy(update={"payoff": ledger.exact[0].payoff + 0.125})
    altered = ledger.model_copy(update={"exact": (first, *ledger.exact[1:])})
    replace_object(store, 1, StepName.EVALUATE, 0, LEDGER, encode(altered))
    code, _, err = verified(run, capsys)
    assert code == 65
    assert f"{LEDGER} does not follow from what evaluate reads: exact[0].payoff" in err


@pytest.mark.parametrize("shares", [(0.0,), (1.0, -0.5), ()])
def test_opponents_that_are_no_mixture_are_refused(
    run: Path, shares: tuple[float, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    store = open_store(str(run))
    plan = json.loads(read_object(store, read_manifest(store, 1, StepName.PLAN, 0), keys.PLAN))
    plan["opponents"] = dict(zip((plan["learner"], "random"), shares, strict=False))
    replace_object(store, 1, StepName.PLAN, 0, keys.PLAN, json.dumps(plan).encode())
    code, found, _ = verified(run, capsys)
    assert code == 65
    says = "the shares are no mixture; expected shares from 0 on, and one above 0"
    assert any(says in problem for problem in found["problems"])  # type: ignore[attr-defined]


def test_an_integer_beyond_every_float_differs(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    store = open_store(str(run))
    matrix = json.loads(read_object(store, read_manifest(store, 1, StepName.SOLVE, 0), keys.INTERACTION_MATRIX))
    matrix["schema_version"] = 10**400
    replace_object(store, 1, StepName.SOLVE, 0, keys.INTERACTION_MATRIX, json.dumps(matrix).encode())
    code, found, _ = verified(run, capsys)
    assert code == 65
    differs = f"{keys.INTERACTION_MATRIX} does not follow from what solve reads: schema_version is 1000"
    assert any(differs in problem for problem in found["problems"])  # type: ignore[attr-defined]


def test_a_report_that_another_machine_wrote_follows(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The control image has other packages than whoever verifies."""
    store = open_store(str(run))
    report = json.loads(read_object(store, read_manifest(store, 1, StepName.REPORT, 0), keys.REPORT))
    report["versions"]["scipy"] = "0.1"
    replace_object(store, 1, StepName.REPORT, 0, keys.REPORT, json.dumps(report).encode())
    code, found, _ = verified(run, capsys)
    assert (code, found["problems"]) == (0, [])


@pytest.mark.parametrize(
    ("pattern", "says"),
    [
        ("config.json", "config.json"),
        ("iterations/0001/plan.json", "differs from what plan wrote"),
        ("policies/*/table.safetensors", "table.safetensors has"),
    ],
)
def test_any_altered_object_is_named(run: Path, pattern: str, says: str, capsys: pytest.CaptureFixture[str]) -> None:
    path = next(run.glob(pattern))
    path.write_bytes(path.read_bytes().replace(b"0", b"1", 1))
    assert run_command_line(["verify", str(run)]) == 65
    assert says in capsys.readouterr().err


def test_a_run_that_has_not_finished_follows_so_far(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (run / keys.manifest(1, StepName.REPORT, 0)).unlink()
    assert verified(run, capsys)[0] == 0
    (run / keys.manifest(1, StepName.EVALUATE, 1)).unlink()
    code, _, err = verified(run, capsys)
    assert code == 65
    assert "evaluate has not finished shard 1" in err


def test_a_policys_description_is_that_of_its_training(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = next(run.glob("policies/*/policy.json"))
    document = json.loads(path.read_text()) | {"name": "another name"}
    path.write_text(json.dumps(document))
    code, _, err = verified(run, capsys)
    assert code == 65
    assert "says name 'another name'" in err


def test_counts_are_part_of_what_follows(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    key = run / keys.manifest(0, StepName.SOLVE, 0)
    manifest = Manifest.from_json(key.read_bytes(), "manifest")
    key.write_bytes(manifest.model_copy(update={"counts": {"policies": 9, "battles": 0}}).to_json())
    code, _, err = verified(run, capsys)
    assert code == 65
    assert "counts {'policies': 9, 'battles': 0}; what it follows from gives {'policies': 2, 'battles': 0}" in err


PPO = """
format = "kuhn_poker"
iterations = 2
[population]
initial = ["random"]
[collect]
battles = 200
teacher = "random"
[train.oracle]
decisions = 1000
round_battles = 100
minibatch_decisions = 64
[train.first]
num_epochs = 1
[evaluate]
shards = 1
[solve]
num_draws = 100
"""


@pytest.mark.slow
def test_trainings_are_repeated_on_demand(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The trainer plays the rounds of a tabular game itself, so they need no kept chunks."""
    folder = done(tmp_path, PPO)
    capsys.readouterr()
    assert verified(folder, capsys)[1]["replayed"] == []
    before = sorted(folder.rglob("*"))
    code, found, _ = verified(folder, capsys, "--replay")
    assert (code, found["problems"], found["not_replayed"]) == (0, [], {})
    assert found["replayed"] == ["iterations/0000/train/00000", "iterations/0001/train/00000"]
    assert sorted(folder.rglob("*")) == before

    store = open_store(str(folder))
    collected = folder / keys.manifest(0, StepName.COLLECT, 0)
    manifest = Manifest.from_json(collected.read_bytes(), "manifest")
    collected.write_bytes(manifest.model_copy(update={"counts": manifest.counts | {"battles": 0}}).to_json())
    code, _, err = verified(folder, capsys)
    assert code == 65
    assert "counts 0 battles; the settings plan 100" in err
    collected.write_bytes(manifest.to_json())

    result = json.loads(read_object(store, read_manifest(store, 1, StepName.TRAIN, 0), TRAINING_RESULT))
    result["summary"]["entropy"] += 0.125
    replace_object(store, 1, StepName.TRAIN, 0, TRAINING_RESULT, json.dumps(result).encode())
    code, _, err = verified(folder, capsys, "--replay")
    assert code == 65
    assert "result.json does not follow from what train reads: summary.entropy" in err


@pytest.fixture(scope="module")
def evaluated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a run whose training played evaluations, and kept the best weights."""
    evaluation = 'evaluation = { every_decisions = 400, battles = 20, anchors = ["random", "start"] }\nkeep = "best"'
    config = PPO.replace("minibatch_decisions = 64", f"minibatch_decisions = 64\n{evaluation}")
    return done(tmp_path_factory.mktemp("evaluated"), config)


def altered_training(evaluated: Path, folder: Path, **objects: bytes) -> Path:
    """Return a copy whose second training has other objects under hashes that fit."""
    copy = Path(shutil.copytree(evaluated, folder / "kuhn"))
    store = open_store(str(copy))
    manifest = read_manifest(store, 1, StepName.TRAIN, 0)
    before = {each: read_object(store, manifest, each) for each in manifest.objects}
    store.delete(keys.manifest(1, StepName.TRAIN, 0))
    attempt = Attempt(store, 1, StepName.TRAIN, 0)
    for name, data in (before | objects).items():
        attempt.write(name, data)
    attempt.finish(manifest.counts)
    return copy


def stored_training(evaluated: Path, name: str) -> dict[str, Any]:
    store = open_store(str(evaluated))
    data: dict[str, Any] = json.loads(read_object(store, read_manifest(store, 1, StepName.TRAIN, 0), name))
    return data


def test_a_learning_curve_is_computed_again(evaluated: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, found, _ = verified(evaluated, capsys)
    assert (code, found["problems"], found["not_recomputed"]) == (0, [], {})
    assert any(str(key).endswith("result.json#evaluations") for key in found["recomputed"])  # type: ignore[attr-defined]
    assert len(stored_training(evaluated, EVALUATION_LEDGER)["evaluations"]) >= 3


@pytest.mark.parametrize("name", ["score", "low", "draws", "selection_score", "cpu_seconds", "decisions", "anchor"])
def test_a_changed_number_of_a_learning_curve_is_found(
    evaluated: Path, tmp_path: Path, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    result = stored_training(evaluated, TRAINING_RESULT)
    changed = result["evaluations"][2]
    changed[name] = "first-action" if name == "anchor" else changed[name] + (1 if name == "decisions" else 0.125)
    if name == "draws":
        changed[name] = 1
    _, found, err = verified(
        altered_training(evaluated, tmp_path, **{TRAINING_RESULT: json.dumps(result).encode()}), capsys
    )
    assert f"result.json does not follow from evaluations.json: evaluations[2].{name}" in err
    assert len(found["problems"]) >= 2, "the report or metrics.jsonl says the old number"  # type: ignore[arg-type]


def test_another_best_evaluation_is_found(evaluated: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    result = stored_training(evaluated, TRAINING_RESULT)
    result["kept"] = result["evaluations"][0]
    folder = altered_training(evaluated, tmp_path, **{TRAINING_RESULT: json.dumps(result).encode()})
    code, _, err = verified(folder, capsys)
    assert code == 65
    assert "result.json does not follow from evaluations.json: kept" in err


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"seed": 1}, "says seed 1 in evaluation 0; the settings plan"),
        ({"battles_each": 10}, "40 scores of 20 battles; expected one each"),
    ],
)
def test_a_ledger_of_other_battles_is_refused(
    evaluated: Path, tmp_path: Path, change: dict[str, int], says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    ledger = stored_training(evaluated, EVALUATION_LEDGER)
    ledger["evaluations"][0]["battles"] |= change
    folder = altered_training(evaluated, tmp_path, **{EVALUATION_LEDGER: json.dumps(ledger).encode()})
    code, _, err = verified(folder, capsys)
    assert code == 65
    assert says in err


def without(data: dict[str, Any], *, last: int, of: list[str]) -> bytes:
    """Return a document without the last items of some of its lists."""
    return json.dumps(data | {name: data[name][:-last] for name in of}).encode()


def name_no_ledger(folder: Path) -> None:
    """Take the ledger of evaluations out of the second training's manifest, under a hash that fits."""
    key = folder / keys.manifest(1, StepName.TRAIN, 0)
    manifest = Manifest.from_json(key.read_bytes(), "manifest")
    objects = {name: each for name, each in manifest.objects.items() if name != EVALUATION_LEDGER}
    key.write_bytes(manifest.model_copy(update={"objects": objects}).to_json())


def test_a_training_that_evaluates_has_its_ledger(
    evaluated: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for curve in ("as it was", "changed", "removed"):
        result = stored_training(evaluated, TRAINING_RESULT)
        if curve == "changed":
            result["evaluations"][2]["score"] = 1.0
        if curve == "removed":
            result |= {"evaluations": [], "kept": None}
        folder = altered_training(evaluated, tmp_path / curve, **{TRAINING_RESULT: json.dumps(result).encode()})
        name_no_ledger(folder)
        code, _, err = verified(folder, capsys)
        assert code == 65
        assert "iterations/0001/train/00000/manifest.json names no evaluations.json, from which its" in err


@pytest.mark.parametrize("num_left_out", [1, 100])
def test_a_ledger_and_a_curve_that_end_early_are_found(
    evaluated: Path, tmp_path: Path, num_left_out: int, capsys: pytest.CaptureFixture[str]
) -> None:
    ledger, result = (stored_training(evaluated, name) for name in (EVALUATION_LEDGER, TRAINING_RESULT))
    matches = len(ledger["evaluations"][0]["battles"]["matches"])
    objects = {
        EVALUATION_LEDGER: without(ledger, last=num_left_out, of=["evaluations"]),
        TRAINING_RESULT: without(result, last=num_left_out * matches, of=["evaluations"]),
    }
    code, _, err = verified(altered_training(evaluated, tmp_path, **objects), capsys)
    assert code == 65
    which, decisions = ("last", result["num_decisions"]) if num_left_out == 1 else ("first", 0)
    assert f"evaluations.json lacks the {which} evaluation, after {decisions} decisions" in err


@pytest.mark.parametrize("also", ["", "its round", "all rounds"])
def test_an_evaluation_left_out_of_the_middle_is_found(
    evaluated: Path, tmp_path: Path, also: str, capsys: pytest.CaptureFixture[str]
) -> None:
    ledger, result = (stored_training(evaluated, name) for name in (EVALUATION_LEDGER, TRAINING_RESULT))
    (left_out, matches) = (ledger["evaluations"][1], len(ledger["evaluations"][0]["battles"]["matches"]))
    del ledger["evaluations"][1], result["evaluations"][matches : 2 * matches]
    if also == "its round":
        del ledger["round_decisions"][left_out["battles"]["round"] - 1]
    if also == "all rounds":
        ledger["round_decisions"] = []
    objects = {
        name: json.dumps(data).encode() for name, data in ((EVALUATION_LEDGER, ledger), (TRAINING_RESULT, result))
    }
    code, _, err = verified(altered_training(evaluated, tmp_path, **objects), capsys)
    assert code == 65
    number, decisions = left_out["battles"]["round"], left_out["decisions"]
    expected = {
        "": f"lacks the evaluation after round {number}, at {decisions} decisions",
        "its round": "lacks the eval",
        "all rounds": "has an evaluation after round",
    }
    assert f"evaluations.json {expected[also]}" in err


def test_a_curve_of_an_oracle_without_a_ledger_is_named(
    evaluated: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = Path(shutil.copytree(evaluated, tmp_path / "kuhn"))
    store = open_store(str(folder))
    clone = json.loads(read_object(store, read_manifest(store, 0, StepName.TRAIN, 0), TRAINING_RESULT))
    clone["evaluations"] = stored_training(evaluated, TRAINING_RESULT)["evaluations"]
    replace_object(store, 0, StepName.TRAIN, 0, TRAINING_RESULT, json.dumps(clone).encode())
    _, found, _ = verified(folder, capsys)
    assert list(found["not_recomputed"]) == ["iterations/0000/train/00000"]  # type: ignore[call-overload]
    assert run_command_line(["verify", str(folder)]) == 65
    out = capsys.readouterr().out
    assert "not computed again: iterations/0000/train/00000: its oracle, clone, stores no evaluations.json of" in out


STREAM = """
format = "gen1ou"
iterations = 2
seed = 3
[population]
initial = ["random"]
[network]
kind = "slots"
hidden_size = 16
[collect]
battles = 8
[actors]
shards = 1
chunk_battles = 2
keep_chunks = true
[train.oracle]
decisions = 700
round_battles = 4
advantages = "v-trace"
max_staleness_versions = 2
evaluation = { every_decisions = 300, battles = 4, anchors = ["random"] }
[train.first]
num_epochs = 1
[evaluate]
battles_per_pair = 2
shards = 1
[solve]
num_draws = 100
"""


@pytest.mark.slow
@pytest.mark.integration
def test_a_stream_is_repeated_from_its_journal_and_kept_chunks(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Real battles, by the local runner with its actor; the replay has neither an actor nor a gateway."""
    (tmp_path / "stream.toml").write_text(STREAM)
    store = str(tmp_path / "store")
    assert run_command_line(["run", str(tmp_path / "stream.toml"), "--store", store, "--run", "stream"]) == 0
    capsys.readouterr()
    folder = tmp_path / "store" / "stream"
    code, found, err = verified(folder, capsys, "--replay")
    assert (code, found["problems"], err) == (0, [], "")
    assert found["replayed"] == ["iterations/0000/train/00000", "iterations/0001/train/00000"]

    chunks = folder / "iterations" / "0001" / "train" / "00000" / "actors" / "chunks"
    next(chunks.glob("stream-*/00000.json")).unlink()
    code, _, err = verified(folder, capsys, "--replay")
    assert code == 65
    assert "cannot be trained again" in err
