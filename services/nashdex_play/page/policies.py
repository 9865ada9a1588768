"""The policies of a page, as people name them, with their networks as ONNX."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final

from nashdex.core.errors import ConfigurationError
from nashdex.core.ids import BarePolicyId, PlayedPolicy, PolicyId, is_ensemble, style_suffix
from nashdex.core.output_files import write_output
from nashdex.core.references import SEARCH, PolicyReference, search_nodes, split_search
from nashdex.games.space import Space
from nashdex.policies.archive import load_network
from nashdex.policies.document import read_document
from nashdex.policies.ensembles.document import read_ensemble
from nashdex.policies.references import known_policies, resolve
from nashdex.policies.scripted.registry import SCRIPTED_POLICIES, is_scripted
from nashdex.policies.search.able import check_can_search
from nashdex.settings.external import is_external
from nashdex.store.protocol import ObjectStore
from nashdex_play.calibration import PolicyCalibration, calibration_in_words, read_calibration
from nashdex_play.levels import level_in_words, read_levels
from nashdex_play.page.bundle import cache_directory
from nashdex_play.page.document import PageChances, PageMixture, PagePolicy
from nashdex_play.page.onnx import ExportedNetwork, export_network

_SCRIPTED: Final = {"random": 2, "max-power": 1, "search:matrix-small": 1, "search:matrix": 1, "search:matrix-1s": 1}
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
        referred = resolve(reference)
        members = [_add(found, referred.store, policy, space) for policy in referred.mixture]
        if len(members) > 1:
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
        elif referred.store is not None and not is_scripted(PolicyId(members[0])) and not reference.searches:
            _add_levels(found, referred.store, PolicyId(members[0]))
    return found


def _add(found: PagePolicies, store: ObjectStore | None, policy: PolicyId, space: Space) -> str:
    """Add one policy, unless it is there, and return its id in the page."""
    if is_external(policy):
        raise ConfigurationError(f"{policy!r} is a player of another program, which no page can play: name others")
    if any(each.id == policy for each in found.entries):
        # A part that is also named plays by itself too.
        found.entries = [
            each.model_copy(update={"is_part": False}) if each.id == policy else each for each in found.entries
        ]
    elif is_scripted(policy):
        found.entries.append(_scripted(policy, space))
    else:
        assert store is not None, "a stored policy has a store"
        search, around = split_search(policy)
        entry = _guided(found, store, PolicyId(around), space, search) if search else _read(found, store, policy, space)
        found.entries.append(entry)
    return policy


def _add_part(found: PagePolicies, store: ObjectStore, policy: PolicyId, space: Space) -> PagePolicy:
    """Add a network or an ensemble that plays only inside another policy, unless it is there; return its entry."""
    known = next((each for each in found.entries if each.id == policy), None)
    if known is not None:
        return known
    part = _read(found, store, policy, space).model_copy(update={"is_part": True})
    found.entries.append(part)
    return part


def _read(found: PagePolicies, store: ObjectStore, policy: PolicyId, space: Space) -> PagePolicy:
    """Return a network, or an ensemble after its members were added."""
    return (_ensemble if is_ensemble(policy) else _stored)(found, store, policy, space)


def _ensemble(found: PagePolicies, store: ObjectStore, policy: PolicyId, space: Space) -> PagePolicy:
    played = PlayedPolicy.of(policy)
    document = read_ensemble(store, played.policy)
    members = [_add_part(found, store, member, space) for member in document.members]
    return PagePolicy(
        id=policy,
        name=f"{document.name}{style_suffix(played.temperature)}",
        kind="ensemble",
        temperature=played.temperature,
        members=tuple(PageMixture(policy=member.id) for member in members),
    )


def _guided(found: PagePolicies, store: ObjectStore, policy: PolicyId, space: Space, search: str) -> PagePolicy:
    """Return ``search`` around a stored network or an ensemble, as ``nashdex.policies.search.guided`` plays it.

    Raises:
        ConfigurationError: it cannot search.
    """
    check_can_search(store, policy)
    around = _add_part(found, store, policy, space)
    return PagePolicy(
        id=f"{search}{policy}",
        name=f"{search}{around.name}",
        kind="search",
        nodes=search_nodes(search),
        temperature=around.temperature,
        members=(PageMixture(policy=around.id),),
    )


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
    if space.num_slots <= _SCRIPTED.get(policy, 0):
        if not policy.startswith(SEARCH):
            return PagePolicy(id=policy, name=policy, kind="random" if policy == "random" else "max-power")
        budget = SCRIPTED_POLICIES[policy].parameters
        return PagePolicy(
            id=policy, name=policy, kind="search", nodes=int(budget["nodes"]), milliseconds=budget["milliseconds"]
        )
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
    calibration = read_calibration(store, played.policy)
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
        chances=()
        if calibration is None
        else tuple(PageChances(against=each.against, **each.map.model_dump()) for each in calibration.opponents),
        calibration=found.calibrations.get(played.policy) or (None if calibration is None else _sentence(calibration)),
    )


def _sentence(calibration: PolicyCalibration) -> str:
    """Return what the page's win probability is worth."""
    return f"It is calibrated: {'; '.join(calibration_in_words(each) for each in calibration.opponents)}."


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
    facts = {"memory_sizes": exported.memory_sizes, "predicts_opponent": exported.predicts_opponent}
    write_output({kept: exported.onnx, about: json.dumps(facts).encode()}, "folder for nashdex")
    return exported
