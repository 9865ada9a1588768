"""Writes a stored policy for other stacks: ``nashdex policy export``."""

import json
from pathlib import Path

from nashdex.core.errors import ConfigurationError, DataError
from nashdex.core.ids import PlayedPolicy
from nashdex.core.references import PolicyReference
from nashdex.page.onnx import export_network
from nashdex.policies.archive import load_network
from nashdex.policies.document import read_document
from nashdex.policies.references import resolve
from nashdex.policies.scripted.registry import is_scripted


def export_files(text: str, onnx: Path) -> Path:
    """Write the policy that ``text`` names to ``onnx``, and its layout beside it; return the layout's file.

    Raises:
        ConfigurationError: it names no single stored network, or torch cannot export it.
        DataError: it is missing or altered, or a file cannot be written.
    """
    referred = resolve(PolicyReference.parse(text))
    (policy, *others) = referred.mixture
    if others or referred.store is None or is_scripted(policy):
        raise ConfigurationError(f"{text!r} is no stored network; expected one policy of a run, such as RUN#newest")
    document = read_document(referred.store, PlayedPolicy.of(policy).policy)
    exported = export_network(load_network(referred.store, document.id, document.space))
    layout = onnx.with_suffix(f"{onnx.suffix}.json")
    facts = {
        "policy": document.id,
        "name": document.name,
        "reward": document.reward,
        "memory_sizes": exported.memory_sizes,
        "space": document.space.model_dump(mode="json"),
    }
    files = {layout: json.dumps(facts, indent=1).encode() + b"\n", onnx: exported.onnx}
    try:
        for path, data in files.items():
            part = path.with_name(f".{path.name}.part")
            part.write_bytes(data)
            part.replace(path)
    except OSError as error:
        raise DataError(f"{error.filename} cannot be written ({error.strerror}); choose another --onnx") from error
    return layout
