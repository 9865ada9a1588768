"""Metamon's checkpoints: equal to the logits that their own code gave, and refused where they do not fit."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from nashdex.core import keys
from nashdex.core.errors import DataError
from nashdex.core.ids import BarePolicyId, PolicyId
from nashdex.games.interface import ViewIdentity
from nashdex.policies.memory import SeatMemory
from nashdex.store import open_store
from nashdex_cli.cli import run_command_line
from nashdex_metamon.checkpoints import archive
from nashdex_metamon.checkpoints.amago import AmagoAgent
from nashdex_metamon.checkpoints.document import ImportedPolicy
from nashdex_metamon.checkpoints.inferring import infer
from nashdex_metamon.checkpoints.mini_rnn import MiniRnn
from nashdex_metamon.checkpoints.models import PUBLISHED_MODELS
from nashdex_metamon.checkpoints.reading import load_network, read_tensors

DATA = Path(__file__).parents[2] / "data" / "metamon"
CHECKPOINTS = DATA / "checkpoints"
AMAGO = CHECKPOINTS / "amago-mini" / "ckpts" / "policy_weights" / "policy_epoch_0.pt"
AMAGO_VOCABULARY = DATA / "tokenizers" / "tok_allreplaysv3.json"
MINI_RNN = Path(archive.__file__).parent / "mini_rnn_data"
TOLERANCE = 1e-5


def golden(name: str) -> dict[str, Any]:
    document: dict[str, Any] = json.loads((CHECKPOINTS / f"{name}-golden.json").read_text())
    return document


def sequences(name: str) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Return tokens (T, W), numbers (T, F), the last reward and action (T, 1 + A), and the expected logits (T, A)."""
    given = golden(name)
    logits = torch.tensor(given.get("logits") or given["raw_logits_last_gamma"])
    previous = torch.tensor(given.get("previous_action_and_reward") or [[0.0] * 10] * len(logits))
    return torch.tensor(given["tokens"]), torch.tensor(given["numbers"]), previous, logits


def network(name: str, num_decisions: int = 16) -> MiniRnn | AmagoAgent:
    path = AMAGO if name == "amago-mini" else MINI_RNN / "weights.safetensors"
    tensors = read_tensors(path)
    return load_network(infer(tensors, name, turn_heads=5, num_decisions=num_decisions), tensors, name)


def step_by_step(played: MiniRnn | AmagoAgent, tokens: Tensor, numbers: Tensor, previous: Tensor) -> Tensor:
    """Return the logits of two battles that are played at once, one of them begun two decisions later."""
    memory = SeatMemory(played)
    early: list[Tensor] = []
    late: list[Tensor] = []
    for t in range(len(tokens) + 2):
        rows = [(seat, at) for seat, at in (((7, 0), t), ((3, 1), t - 2)) if 0 <= at < len(tokens)]
        at = [row[1] for row in rows]
        inputs = {"tokens": tokens[at], "numbers": numbers[at], "previous": previous[at]}
        # A rejected answer leaves no trace: at every second decision it is asked for again, after another one.
        others = {name: part.flip(0) if name == "numbers" else part for name, part in inputs.items()}
        if t % 2:
            memory.step(others, [seat for seat, _ in rows], [False] * len(rows))
        logits = memory.step(inputs, [seat for seat, _ in rows], [bool(t % 2)] * len(rows))
        for (seat, _), row in zip(rows, logits, strict=True):
            (early if seat == (7, 0) else late).append(row)
    torch.testing.assert_close(torch.stack(early), torch.stack(late), atol=TOLERANCE, rtol=0)
    return torch.stack(early)


@pytest.mark.parametrize("name", ["mini-rnn", "amago-mini"])
def test_logits_are_those_of_the_original(name: str) -> None:
    tokens, numbers, previous, expected = sequences(name)
    played = network(name)
    whole = played(tokens[None], numbers[None], previous[None])[0]
    torch.testing.assert_close(whole, expected, atol=TOLERANCE, rtol=0)
    torch.testing.assert_close(step_by_step(played, tokens, numbers, previous), expected, atol=TOLERANCE, rtol=0)


def test_a_full_context_drops_the_oldest_decision() -> None:
    """The ring of keys and values is read like the whole battle under a window of the same length."""
    tokens, numbers, previous, expected = sequences("amago-mini")
    played = network("amago-mini", num_decisions=3)
    whole = played(tokens[None], numbers[None], previous[None])[0]
    torch.testing.assert_close(step_by_step(played, tokens, numbers, previous), whole, atol=TOLERANCE, rtol=0)
    torch.testing.assert_close(whole[:3], expected[:3], atol=TOLERANCE, rtol=0)
    assert (whole[3:] - expected[3:]).abs().max() > 1e-4


def run(*arguments: str | Path) -> int:
    return run_command_line(["policy", "import", *map(str, arguments)])


def test_an_import_is_addressed_by_content_and_loads_again(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    options = ("--vocabulary", AMAGO_VOCABULARY, "--num-decisions", "16", "--json")
    assert run(AMAGO, tmp_path, *options) == 0
    document = json.loads(capsys.readouterr().out)
    assert run(AMAGO, tmp_path, *options) == 0
    assert json.loads(capsys.readouterr().out) == document
    store = open_store(str(tmp_path))
    loaded = archive.load_imported(store, BarePolicyId(PolicyId(document["id"])))
    tokens, numbers, previous, expected = sequences("amago-mini")
    logits = step_by_step(loaded.network, tokens, numbers, previous)
    torch.testing.assert_close(logits, expected, atol=TOLERANCE, rtol=0)
    assert len(loaded.tokenizer) == 1407
    weights = tmp_path / "imported" / document["id"] / "weights.safetensors"
    weights.write_bytes(weights.read_bytes()[:-1] + b"\1")
    with pytest.raises(DataError, match="altered"):
        archive.load_imported(store, BarePolicyId(PolicyId(document["id"])))


def test_a_published_model_is_found_in_metamons_cache(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("SmallRL", tmp_path / "store", "--vocabulary", AMAGO_VOCABULARY) == 64
    monkeypatch.setenv("METAMON_CACHE_DIR", str(tmp_path))
    assert run("SmallRL", tmp_path / "store", "--vocabulary", AMAGO_VOCABULARY) == 64
    assert "policy_epoch_40.pt" in capsys.readouterr().err
    folder = tmp_path / "pretrained_models" / "models--jakegrigsby--metamon" / "snapshots" / "0f" / "small-rl"
    shutil.copytree(AMAGO.parents[2], folder)
    assert run("SmallRL", tmp_path / "store", "--epoch", "0", "--vocabulary", AMAGO_VOCABULARY, "--json") == 0
    document = json.loads(capsys.readouterr().out)
    assert (document["name"], document["architecture"]["memory"]["num_decisions"]) == ("SmallRL epoch 0", 200)


def test_default_epochs_are_metamons() -> None:
    epochs = {model.folder: model.epoch for model in PUBLISHED_MODELS.values()}
    assert epochs["synthetic-rl-v1+sp"] == epochs["synthetic-rl-v2"] == 48
    assert (epochs["synthetic-rl-v1++"], epochs["small-il"], epochs["kakuna"], epochs["tauros-v0"]) == (38, 40, 34, 62)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--vocabulary", "{tokenizers}/tok_DefaultObservationSpace-v1.json"], "embeds 1407 words"),
        (["--vocabulary", "{vocabulary}", "--observation-space", "ExpandedObservationSpace"], "reads 48 numbers"),
        (["--vocabulary", "{vocabulary}", "--action-space", "DefaultActionSpace"], "answers 9 actions"),
        (["--vocabulary", "{vocabulary}", "--turn-heads", "7"], "7 heads do not divide a width of 20"),
    ],
)
def test_what_does_not_fit_is_named(
    options: list[str], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    places = {"tokenizers": DATA / "tokenizers", "vocabulary": AMAGO_VOCABULARY}
    assert run(AMAGO, tmp_path, *(option.format(**places) for option in options)) == 65
    assert message in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_a_view_that_differs_is_refused_with_both_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The policy's words or actions would mean something else here."""
    assert run(AMAGO, tmp_path, "--vocabulary", AMAGO_VOCABULARY, "--num-decisions", "16", "--json") == 0
    document = ImportedPolicy.model_validate_json(capsys.readouterr().out)
    assert document.view == document.own_view()
    store = open_store(str(tmp_path))
    other = ViewIdentity(name="metamon/other", fingerprint="0123456789abcdef")
    changed = document.model_copy(update={"view": other})
    changed = changed.model_copy(update={"id": changed.content_id()})
    assert changed.id != document.id
    store.put(keys.imported_document(changed.id), changed.to_json())
    here = rf"{document.view.name} \({document.view.fingerprint}\)"
    with pytest.raises(DataError, match=rf"reads the view metamon/other \(0123456789abcdef\); .* has {here}"):
        archive.load_imported(store, changed.id)


def test_missing_and_unexpected_tensors_are_listed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    state = torch.load(AMAGO, weights_only=True)
    state["actor.base.extra"] = state.pop("traj_encoder.tformer.norm.norm.bias")
    torch.save(state, tmp_path / "changed.pt")
    assert run(tmp_path / "changed.pt", tmp_path, "--vocabulary", AMAGO_VOCABULARY) == 65
    said = capsys.readouterr().err
    assert "missing 1: traj_encoder.tformer.norm.norm.bias; unexpected 1: actor.base.extra" in said


class Harmful:
    """Its pickle would call a function."""

    def __reduce__(self) -> tuple[Any, tuple[str]]:
        return print, ("called",)


@pytest.mark.parametrize("content", [b"", b"PK\3\4 no archive", b"\x80\x02}"])
def test_what_is_no_checkpoint_is_refused(content: bytes, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for suffix in (".pt", ".safetensors"):
        (tmp_path / f"bad{suffix}").write_bytes(content)
        assert run(tmp_path / f"bad{suffix}", tmp_path, "--vocabulary", AMAGO_VOCABULARY) == 65
    capsys.readouterr()


@pytest.mark.parametrize("state", [{"a": 1}, [1], {"a": torch.ones(2, dtype=torch.int64)}, {"a": Harmful()}])
def test_a_torch_file_can_hold_tensors_alone(state: object, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    torch.save(state, tmp_path / "bad.pt")
    assert run(tmp_path / "bad.pt", tmp_path, "--vocabulary", AMAGO_VOCABULARY) == 65
    assert "called" not in capsys.readouterr().out
