"""Where a policy comes from decides how it is read: scripted, stored by a run, an ensemble, imported, or external.

``source_of`` alone tells them apart. An installed package reads the imported ones, by the entry ``imported``. A source
with files stores them under keys of its own; a run copies what ``objects`` returns. A policy with a search around it,
``search:p0123`` or ``search-300:p0123``, is stored as the policy alone.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Final

from nashdex.core.errors import DataError
from nashdex.core.ids import BarePolicyId, PlayedPolicy, PolicyId, is_ensemble, is_imported
from nashdex.core.plugins import Registry
from nashdex.core.references import split_search
from nashdex.games.showdown.formats import GAME as SHOWDOWN
from nashdex.games.space import Space
from nashdex.games.tabular.game import GAME as TABULAR
from nashdex.metagame.population import Kind
from nashdex.policies.document import policy_objects, read_document
from nashdex.policies.ensembles.document import ensemble_objects, read_ensemble
from nashdex.policies.interface import Policy
from nashdex.policies.scripted.registry import is_scripted
from nashdex.settings.external import is_external
from nashdex.store.protocol import ObjectStore

if TYPE_CHECKING:
    from torch import Tensor


@dataclass(frozen=True)
class PolicySource:
    """How policies of one source are read. Functions that need torch are named, and imported when they are called."""

    describe: Callable[[ObjectStore, BarePolicyId], tuple[Kind, str]]
    """Returns the kind and the name for people. Raises DataError if the policy is missing or was altered."""
    objects: Callable[[ObjectStore, BarePolicyId], dict[str, bytes]]
    """Returns all that is stored of the policy, by key. Raises what ``describe`` does."""
    player: str
    """``module:function`` of (store, policy id, space, device): the policy, ready to play as its id says."""
    format: Callable[[ObjectStore, BarePolicyId], str | None] = lambda _store, _policy: None
    """Returns the format that the policy plays; None where its space does not say. Raises what ``describe`` does."""
    weights: str | None = None
    """``module:function`` of (store, bare policy id): its tensors by name, on the CPU. None: it has none."""
    plays: Callable[[str, int], bool] = lambda _game, _num_slots: True
    """Says whether its policies play a ``Space.game`` with a number of slots."""
    search: str | None = "nashdex.policies.search.guided:load_guided_search"
    """``module:function`` of (store, policy id, space, search): the policy with this search around it, or an error that
    says why it cannot search. None: it never searches (``searching``)."""
    table: str | None = None
    """``module:function`` of (store, policy id, space): the policy in a tabular game, if that is read otherwise."""


def _describe_stored(store: ObjectStore, policy: BarePolicyId) -> tuple[Kind, str]:
    document = read_document(store, policy)
    return document.kind, document.name


SCRIPTED: Final = PolicySource(
    describe=lambda _store, policy: ("scripted", policy),
    objects=lambda _store, _policy: {},
    player="nashdex.policies.scripted.playing:load_scripted_policy",
    search=None,
)
STORED: Final = PolicySource(
    describe=_describe_stored,
    objects=policy_objects,
    player="nashdex.policies.archive:load_network_policy",
    format=lambda store, policy: read_document(store, policy).format,
    weights="nashdex.policies.archive:load_weights",
    table="nashdex.policies.tables:load_table_policy",
)
ENSEMBLE: Final = PolicySource(
    describe=lambda store, policy: ("ensemble", read_ensemble(store, policy).name),
    objects=ensemble_objects,
    player="nashdex.policies.ensembles.playing:load_ensemble",
    format=lambda store, policy: read_ensemble(store, policy).format,
    search="nashdex.policies.search.guided:load_guided_ensemble",
)
EXTERNAL: Final = PolicySource(
    describe=lambda _store, policy: ("external", policy),
    objects=lambda _store, _policy: {},
    player="nashdex.policies.external:load_external",
    plays=lambda game, _num_slots: game == SHOWDOWN,
    search=None,
)


def _describe_search(store: ObjectStore, policy: BarePolicyId) -> tuple[Kind, str]:
    search, around = split_search(policy)
    bare = BarePolicyId(PolicyId(around))
    return "search", f"{search}{source_of(bare).describe(store, bare)[1]}"


def _format_of_search(store: ObjectStore, policy: BarePolicyId) -> str | None:
    around = BarePolicyId(without_search(policy))
    return source_of(around).format(store, around)


SEARCHING: Final = PolicySource(
    describe=_describe_search,
    objects=lambda store, policy: policy_files(store, without_search(policy)),
    player="nashdex.policies.sources:load_search",
    format=_format_of_search,
    plays=lambda game, num_slots: game == SHOWDOWN and num_slots == 1,
    search=None,
)
SOURCES: Final = Registry(
    "nashdex.policy_sources",
    "source of policies",
    PolicySource,
    {
        "scripted": "nashdex.policies.sources:SCRIPTED",
        "stored": "nashdex.policies.sources:STORED",
        "ensemble": "nashdex.policies.sources:ENSEMBLE",
        "external": "nashdex.policies.sources:EXTERNAL",
        "searching": "nashdex.policies.sources:SEARCHING",
    },
)


def source_of(policy: PolicyId) -> PolicySource:
    """Return where ``policy`` comes from, whatever its suffix.

    Raises:
        ConfigurationError: it is no policy id, or a scripted policy with a suffix; or nothing here reads its source.
    """
    if is_external(policy):
        return SOURCES["external"]
    if is_scripted(policy):
        return SOURCES["scripted"]
    if split_search(policy)[0]:
        return SOURCES["searching"]
    if is_ensemble(policy):
        return SOURCES["ensemble"]
    return SOURCES["imported" if is_imported(policy) else "stored"]


def searching(search: str, policy: PolicyId) -> PolicyId:
    """Return the id of ``policy`` with ``search`` around it, which may be empty; its own where its source has none."""
    return policy if source_of(policy).search is None else PolicyId(f"{search}{policy}")


def without_search(policy: PolicyId) -> PolicyId:
    """Return the id of the policy that a search is around; ``policy`` where there is none."""
    return policy if is_scripted(policy) else PolicyId(split_search(policy)[1])


def load_policies(
    store: ObjectStore, ids: Iterable[PolicyId], space: Space, device: str = "cpu"
) -> dict[PolicyId, Policy]:
    """Return the policies called ``ids``, each once, ready to play in ``space`` as their ids say.

    The networks of this run's kinds compute on ``device``; imported ones compute on the CPU.

    Raises:
        DataError: one is missing, altered, or was trained for another space.
        ConfigurationError: a scripted one cannot play in ``space``, or has a suffix; or a network cannot play on
            ``device``.
    """
    return {policy: _load(store, policy, space, device) for policy in sorted(set(ids))}


def _load(store: ObjectStore, policy: PolicyId, space: Space, device: str) -> Policy:
    source = source_of(policy)
    if space.game == TABULAR and source.table is not None:
        in_table: Policy = resolve_name(source.table)(store, policy, space)
        return in_table
    player: Policy = resolve_name(source.player)(store, policy, space, device)
    return player


def load_search(store: ObjectStore, policy: PolicyId, space: Space, device: str) -> Policy:
    """Return what ``searching`` names. It computes on the CPU, whatever the ``device``.

    Raises:
        DataError: the policy is missing, altered, or was trained for another space.
        ConfigurationError: it cannot search.
    """
    del device
    search, around = split_search(policy)
    load = source_of(PolicyId(around)).search
    assert load is not None, "no other policy has a search around it"
    searches: Policy = resolve_name(load)(store, around, space, search)
    return searches


def load_weights(store: ObjectStore, policy: BarePolicyId) -> "dict[str, Tensor]":
    """Return the tensors of a stored or imported policy by name, on the CPU.

    Raises:
        DataError: they are missing, altered or of another architecture, or the policy has none.
    """
    source = source_of(policy)
    if source.weights is None:
        kind, name = source.describe(store, policy)
        raise DataError(f"{name!r} ({policy}) is {kind} and has no weights of its own; expected a stored network")
    tensors: dict[str, Tensor] = resolve_name(source.weights)(store, policy)
    return tensors


def policy_files(store: ObjectStore, policy: PolicyId) -> dict[str, bytes]:
    """Return all that is stored of a policy, by key; nothing of a scripted one.

    Raises:
        DataError: it is missing or was altered.
    """
    return source_of(policy).objects(store, PlayedPolicy.of(policy).policy)
