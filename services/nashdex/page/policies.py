"""The policies of a page, as people name them, with their networks as ONNX."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Final

from nashdex.core.errors import ConfigurationError
from nashdex.core.ids import BarePolicyId, PlayedPolicy, PolicyId, style_suffix
from nashdex.core.references import PolicyReference
from nashdex.evaluator.levels import level_in_words, read_levels
from nashdex.games.space import Space
from nashdex.page.bundle import cache_directory
from nashdex.page.document import PageMixture, PagePolicy
from nashdex.page.onnx import ExportedNetwork, export_network
from nashdex.policies.archive import load_network
from nashdex.policies.document import read_document
from nashdex.policies.references import known_policies, resolve
from nashdex.policies.scripted.registry import is_scripted
from nashdex.store.protocol import ObjectStore

_SCRIPTED: Final = {"random": 2, "max-power": 1}
"""Scripted policies that a page plays, and in how many slots at most."""
_EXPORT_VERSION = 2
"""Raised when the same network gives another file."""


@dataclass(slots=True)
class PagePolicies:
    """The policies of a page."""

    calibrations: Mapping[BarePolicyId, str]
    """Sentences on critics."""
    entries: list[PagePolicy] = field(default_factory=list)
    networks: dict[str, bytes] = field(default_factory=dict)
    """ONNX by name."""


def page_policies(
    texts: Sequence[str], space: Space, calibrations: Mapping[BarePolicyId, str] = MappingProxyType({})
) -> PagePolicies:
    """Return the policies named by ``texts``, in order, with their critics' ``calibrations``.

    Raises:
        ConfigurationError: a policy is unknown, or cannot play in a page.
        DataError: a run or policy is missing, altered, or of another space.
    """
    found = PagePolicies(calibrations)
    for text in texts:
        reference = PolicyReference.parse(text)
        if reference.searches:
            raise ConfigurationError(f"{text!r} looks ahead, which a page cannot do: name the policy without 'search:'")
        referred = resolve(reference)
        members = [_add(found, referred.store, policy, space) for policy in referred.mixture]
        if len(members) == 1 and referred.store is not None and not is_scripted(PolicyId(members[0])):
            _add_levels(found, referred.store, PolicyId(members[0]))
        elif len(members) > 1:
            weights = referred.mixture.values()
            found.entries.insert(
                0,
                PagePolicy(
                    id=text,
                    name="meta-strategy",
                    kind="mixture",
                    members=tuple(PageMixture(policy=m, weight=w) for m, w in zip(members, weights, strict=True)),
                ),
            )
    return found


def _add(found: PagePolicies, store: ObjectStore | None, policy: PolicyId, space: Space) -> str:
    """Add one policy, unless it is there, and return its id in the page."""
    if all(entry.id != policy for entry in found.entries):
        if is_scripted(policy):
            found.entries.append(_scripted(policy, space))
        else:
            assert store is not None, "a stored policy has a store"
            found.entries.append(_stored(found, store, policy, space))
    return policy


def _add_levels(found: PagePolicies, store: ObjectStore, policy: PolicyId) -> None:
    """Add the measured levels of a policy after it; where one is there already, state its score."""
    bare = PlayedPolicy.of(policy).policy
    levels = read_levels(store, bare)
    place = next(at for at, entry in enumerate(found.entries) if entry.id == policy)
    base = found.entries[place]
    for number, level in enumerate(() if levels is None else levels.levels, 1):
        assert levels is not None
        facts = {"rating": level_in_words(level, levels.against), "level": number}
        level_id = f"{bare}{style_suffix(level.temperature)}"
        same = next((at for at, entry in enumerate(found.entries) if entry.id == level_id), None)
        if same is not None:
            found.entries[same] = found.entries[same].model_copy(update={"rating": facts["rating"]})
            continue
        place += 1
        bare_name = base.name.removesuffix(style_suffix(base.temperature))
        facts |= {"id": level_id, "name": f"{bare_name}, level {number}", "temperature": level.temperature}
        found.entries.insert(place, base.model_copy(update=facts))


def _scripted(policy: PolicyId, space: Space) -> PagePolicy:
    most_slots = _SCRIPTED.get(policy, 0)
    if policy == "random" or (policy == "max-power" and space.num_slots <= most_slots):
        return PagePolicy(id=policy, name=policy, kind=policy)
    able = [name for name, slots in _SCRIPTED.items() if space.num_slots <= slots]
    raise ConfigurationError(
        f"{policy!r} cannot play in a page of {space.format}: expected a stored network, such as RUN#newest, or "
        f"{' or '.join(able)}"
    )


def _stored(found: PagePolicies, store: ObjectStore, policy: PolicyId, space: Space) -> PagePolicy:
    played = PlayedPolicy.of(policy)
    document = read_document(store, played.policy)
    exported = exported_network(store, played.policy, space)
    found.networks[played.policy] = exported.onnx
    known = next((each for each in known_policies(store) if PlayedPolicy.of(each.id).policy == played.policy), None)
    suffix = style_suffix(played.temperature)
    name = document.name if known is None else known.name
    taken = {entry.name for entry in found.entries}
    name = f"{name}{suffix}" if f"{name}{suffix}" not in taken else f"{name}{suffix} {played.policy[:6]}"
    return PagePolicy(
        id=policy,
        name=name,
        kind="network",
        rating=None if known is None or known.elo is None or suffix else f"Elo {known.elo:.0f}",
        network=played.policy,
        temperature=played.temperature,
        memory_sizes=exported.memory_sizes,
        reward=document.reward,
        calibration=found.calibrations.get(played.policy),
    )


def exported_network(store: ObjectStore, policy: BarePolicyId, space: Space) -> ExportedNetwork:
    """Return a stored policy as ONNX, exported once: ids say what the content is.

    Raises:
        ConfigurationError: torch cannot export it.
        DataError: it is missing, altered, a table, or of another space.
    """
    kept = cache_directory() / "networks" / f"{policy}.{_EXPORT_VERSION}"
    about = kept.with_suffix(f"{kept.suffix}.json")
    if about.is_file():
        facts = json.loads(about.read_text("utf-8"))
        return ExportedNetwork(kept.read_bytes(), tuple(facts["memory_sizes"]), facts["predicts_opponent"])
    exported = export_network(load_network(store, policy, space))
    kept.parent.mkdir(parents=True, exist_ok=True)
    _write(kept, exported.onnx)
    facts = {"memory_sizes": exported.memory_sizes, "predicts_opponent": exported.predicts_opponent}
    _write(about, json.dumps(facts).encode())
    return exported


def _write(path: Path, data: bytes) -> None:
    """Write a file whole or not at all."""
    part = path.with_name(f"{path.name}.part")
    part.write_bytes(data)
    part.replace(path)
