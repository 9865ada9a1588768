"""Imports checkpoints into a store, and loads them from there: content-addressed, checked at every read."""

import hashlib
from dataclasses import dataclass
from pathlib import Path

from safetensors import torch as safetensors
from torch import Tensor

from nashdex.core import keys
from nashdex.core.errors import DataError
from nashdex.core.ids import BarePolicyId
from nashdex.store.checked import read_hashed
from nashdex.store.protocol import ObjectStore
from nashdex_metamon.actions import action_space
from nashdex_metamon.checkpoints.amago import AmagoAgent
from nashdex_metamon.checkpoints.document import MAX_VOCABULARY_BYTES, ImportedPolicy, read_imported
from nashdex_metamon.checkpoints.inferring import Shape, infer
from nashdex_metamon.checkpoints.mini_rnn import MiniRnn
from nashdex_metamon.checkpoints.reading import check_shapes, load_network, parse_tensors, read_tensors
from nashdex_metamon.observations import observation_space
from nashdex_metamon.tokens import Tokenizer
from nashdex_metamon.views.definition import view_definition


@dataclass(frozen=True, slots=True)
class Import:
    """The file to import, and the facts that it lacks."""

    checkpoint: Path
    vocabulary: Path
    name: str
    observation_space: str
    action_space: str
    reward: str
    turn_heads: int
    num_decisions: int
    strict_mask: bool = True


@dataclass(frozen=True, slots=True)
class LoadedPolicy:
    """An imported policy's network, with what it reads and answers by."""

    document: ImportedPolicy
    network: MiniRnn | AmagoAgent
    tokenizer: Tokenizer


def import_checkpoint(store: ObjectStore, given: Import) -> ImportedPolicy:
    """Store a checkpoint as an imported policy and return its description.

    Raises:
        DataError: the checkpoint or the vocabulary cannot be read, or they do not fit one another or their spaces.
        ConfigurationError: a space is unknown.
    """
    tensors = read_tensors(given.checkpoint)
    source = str(given.checkpoint)
    shape = infer(tensors, source, turn_heads=given.turn_heads, num_decisions=given.num_decisions)
    tokenizer = Tokenizer.read(given.vocabulary)
    _check_spaces(shape, given, tokenizer)
    check_shapes(shape, tensors, source)
    weights = safetensors.save(dict(tensors))
    vocabulary = given.vocabulary.read_bytes()
    hashed = _sha256(vocabulary)
    view = view_definition(given.observation_space, given.action_space, given.reward, hashed)
    bare = ImportedPolicy(
        name=given.name,
        architecture=shape.architecture,
        observation_space=given.observation_space,
        action_space=given.action_space,
        reward=given.reward,
        view=view.identity,
        strict_mask=given.strict_mask,
        num_words=shape.num_words,
        num_parameters=sum(tensor.numel() for tensor in tensors.values()),
        weights_sha256=_sha256(weights),
        weights_bytes=len(weights),
        vocabulary_sha256=hashed,
        source_sha256=_sha256(given.checkpoint.read_bytes()),
    )
    document = bare.model_copy(update={"id": bare.content_id()})
    # Weights first: a policy with a document is complete.
    store.put_if_absent(keys.imported_weights(document.id), weights)
    store.put_if_absent(keys.imported_vocabulary(document.id), vocabulary)
    store.put_if_absent(keys.imported_document(document.id), document.to_json())
    return document


def load_imported(store: ObjectStore, policy: BarePolicyId) -> LoadedPolicy:
    """Return an imported policy, on the CPU.

    Raises:
        DataError: it is missing or was altered.
    """
    document = read_imported(store, policy)
    weights = _weights(store, document)
    vocabulary_key = keys.imported_vocabulary(policy)
    vocabulary = read_hashed(store, vocabulary_key, document.vocabulary_sha256, MAX_VOCABULARY_BYTES)
    return loaded(document, weights, vocabulary, f"{store.uri}/imported/{policy}")


def loaded(document: ImportedPolicy, weights: bytes, vocabulary: bytes, source: str) -> LoadedPolicy:
    """Return the policy that ``document`` describes; ``source`` names it in errors.

    Raises:
        DataError: the weights or the vocabulary do not fit the document.
    """
    shape = Shape(
        document.architecture,
        document.num_words,
        observation_space(document.observation_space).num_numbers,
        action_space(document.action_space).num_actions,
    )
    network = load_network(shape, parse_tensors(weights, source), source)
    tokenizer = Tokenizer.from_json(vocabulary, source)
    if len(tokenizer) != document.num_words:
        raise DataError(f"{source} has a vocabulary of {len(tokenizer)} words; expected {document.num_words}")
    return LoadedPolicy(document, network, tokenizer)


def _check_spaces(shape: Shape, given: Import, tokenizer: Tokenizer) -> None:
    expected = observation_space(given.observation_space).num_numbers
    if shape.num_numbers != expected:
        raise DataError(
            f"{given.checkpoint} reads {shape.num_numbers} numbers; {given.observation_space} has {expected}. Name the "
            "observation space that it was trained with"
        )
    expected = action_space(given.action_space).num_actions
    if shape.num_actions != expected:
        raise DataError(
            f"{given.checkpoint} answers {shape.num_actions} actions; {given.action_space} has {expected}. Name the "
            "action space that it was trained with"
        )
    if shape.num_words != len(tokenizer):
        raise DataError(
            f"{given.checkpoint} embeds {shape.num_words} words; {given.vocabulary} has {len(tokenizer)}. Name the "
            "vocabulary that it was trained with"
        )


def imported_weights(store: ObjectStore, policy: BarePolicyId) -> dict[str, Tensor]:
    """Return the tensors of an imported policy, on the CPU.

    Raises:
        DataError: they are missing or were altered.
    """
    weights = _weights(store, read_imported(store, policy))
    return parse_tensors(weights, f"{store.uri}/{keys.imported_weights(policy)}")


def _weights(store: ObjectStore, document: ImportedPolicy) -> bytes:
    key = keys.imported_weights(document.id)
    return read_hashed(store, key, document.weights_sha256, document.weights_bytes)


def _sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
