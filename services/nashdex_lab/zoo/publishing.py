"""Publishes a stored network under a name for good: half precision, a card, and an entry in ``published.json``."""

import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import PurePosixPath
from typing import Any, Final

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from nashdex.core import keys
from nashdex.core.errors import ConfigurationError, DataError
from nashdex.core.ids import ID_PATTERN, SAMPLED, BarePolicyId, PlayedPolicy, PolicyId
from nashdex.core.manifest import Manifest
from nashdex.core.references import ZOO, PolicyReference, split_search
from nashdex.core.results import TRAINING_RESULT, TrainingResult
from nashdex.core.steps import StepName
from nashdex.games.interface import Decisions, Game
from nashdex.games.registry import game_of_run
from nashdex.metagame.analysis.exploit import ExploitVerdict
from nashdex.policies.archive import load_network, tensors_bytes
from nashdex.policies.document import PolicyDocument, read_document
from nashdex.policies.inference import NetworkPolicy, choose
from nashdex.policies.interface import Actions
from nashdex.policies.networks.actor_critic import ActorCritic, make_network
from nashdex.policies.references import Published, read_published_names, resolve
from nashdex.policies.sampling import log_probabilities
from nashdex.rollout.pairs import PairedBattles
from nashdex.rollout.play import require_finished
from nashdex.rollout.session import Session
from nashdex.runs.creation import Run, open_run
from nashdex.store.attempt import read_object
from nashdex.store.checked import read_root
from nashdex.store.protocol import ObjectStore
from nashdex_lab.panel import Panel
from nashdex_lab.zoo.card import Parity, PolicyCard, Training, read_card


def training_of(run: Run, document: PolicyDocument, hardware: str | None, commit: str | None) -> Training:
    """Return how the policy of ``document`` was trained in ``run``.

    Raises:
        DataError: no finished training of the run made it.
    """
    manifests = list(_manifests(run, document.iteration))
    trained = [
        (m, _result(run, m)) for m in manifests if m.step == StepName.TRAIN and m.iteration == document.iteration
    ]
    found = next(((manifest, result) for manifest, result in trained if result.policy == document.id), None)
    if found is None:
        raise DataError(
            f"no finished training of {run.store.uri} made {document.id}: expected a policy that one of its iterations "
            "trained"
        )
    manifest, result = found
    return Training(
        run=run.id,
        policy=document.id,
        oracle=document.oracle,
        iteration=document.iteration,
        seed=run.settings.seed,
        run_decisions=result.num_run_decisions or result.num_decisions,  # the clock of schedules is PPO's alone
        cpu_minutes=round((sum(one.cpu_seconds for one in manifests) + _seconds_before(run, manifests)) / 60, 1),
        gpu_minutes=round(sum(one.gpu_seconds for one in manifests) / 60, 1),
        hardware=hardware,
        nashdex_version=manifest.nashdex_version,
        commit=commit,
        curve=result.evaluations,
        settings=without_places(json.loads(read_root(run.store, keys.CONFIG))),
    )


def without_places(settings: Any) -> Any:  # noqa: ANN401 - any JSON
    """Return ``settings`` with stores and files by name alone, without the machine's folders and buckets."""
    if isinstance(settings, dict):
        return {key: without_places(value) for key, value in settings.items()}
    if isinstance(settings, list):
        return [without_places(value) for value in settings]
    if not isinstance(settings, str) or "/" not in settings:
        return settings
    store, mark, policy = settings.rpartition("#")
    if not mark:
        return PurePosixPath(settings).name
    search, store = split_search(store)
    return f"{search}{PurePosixPath(store).name}#{policy}"


def _seconds_before(run: Run, manifests: Sequence[Manifest]) -> float:
    """Return the CPU seconds of attempts before the last: manifests leave them out, trainings that resumed count them.

    A training counts learner and actors, without evaluations, each attempt up to its last checkpoint.
    """
    beyond = dict.fromkeys((one.iteration for one in manifests), 0.0)
    for one in manifests:
        if one.step in {StepName.TRAIN, StepName.ACT}:
            beyond[one.iteration] -= one.cpu_seconds
        if one.step == StepName.TRAIN:
            beyond[one.iteration] += _result(run, one).cpu_seconds
    return sum(max(0.0, seconds) for seconds in beyond.values())


def _manifests(run: Run, last_iteration: int) -> Iterator[Manifest]:
    """Yield the manifests of the steps that led to a policy of ``last_iteration``, without what came after it."""
    after = {StepName.GATE, StepName.EVALUATE, StepName.SOLVE, StepName.REPORT}
    for key in run.store.list(f"{keys.ITERATIONS}/"):
        if not key.endswith("/manifest.json"):
            continue
        manifest = Manifest.from_json(run.store.get(key), f"{run.store.uri}/{key}")
        if (manifest.iteration, manifest.step in after) <= (last_iteration, False):
            yield manifest


def _result(run: Run, manifest: Manifest) -> TrainingResult:
    return TrainingResult.from_json(read_object(run.store, manifest, TRAINING_RESULT), f"{run.store.uri} (training)")


_CONCURRENT_BATTLES = 32


@dataclass
class _Compared:
    """Plays by the trained network, and asks the rounded one about each decision. Implements ``Policy``."""

    id: PolicyId
    trained: NetworkPolicy
    rounded: NetworkPolicy
    is_joint: bool
    differences: list[NDArray[np.float64]] = field(default_factory=list)
    """Largest |Δ log π| of a legal action, for each decision, by batch."""
    num_equal: int = 0
    """Decisions whose most probable action is the same."""
    needs_lines = False
    needs_state = False
    view = None

    def act(self, decisions: Decisions, uniforms: NDArray[np.float64]) -> Actions:
        """Answer each row by the trained network."""
        logits = self.trained.legal_logits(decisions)
        one, other = (log_probabilities(each) for each in (logits, self.rounded.legal_logits(decisions)))
        legal = np.isfinite(one)
        gaps = np.abs(np.where(legal, one, 0.0) - np.where(legal, other, 0.0))
        self.differences.append(gaps.max(axis=1))
        self.num_equal += int((one.argmax(axis=1) == other.argmax(axis=1)).sum())
        return choose(decisions, logits, uniforms, SAMPLED, is_joint=self.is_joint)

    def forget(self, battle: int, seat: int) -> None:
        """Free the memory of a seat whose battle ended."""
        self.trained.forget(battle, seat)
        self.rounded.forget(battle, seat)


def measure_parity(game: Game, trained: ActorCritic, rounded: ActorCritic, *, battles: int) -> Parity:
    """Return how far ``rounded`` is from ``trained`` on the decisions of ``battles`` battles of self-play.

    Raises:
        DataError: the networks are of another space than the game's.
        TryAgainError: a battle could not be finished.
    """
    with Session(game.open_arena(num_gateways=1), min(_CONCURRENT_BATTLES, battles)) as session:
        policy = PolicyId("compared")
        compared = _Compared(
            policy,
            NetworkPolicy(policy, trained),
            NetworkPolicy(policy, rounded),
            is_joint=session.space.num_slots > 1,
        )
        session.policies[policy] = compared
        paired = PairedBattles(0, game.teams())
        for finished in session.play(paired.assignment(number, (policy, policy)) for number in range(battles)):
            require_finished(finished)
    gaps = np.concatenate(compared.differences)
    return Parity(
        battles=battles,
        decisions=len(gaps),
        mean_log_probability_gap=float(gaps.mean()),
        largest_log_probability_gap=float(gaps.max()),
        same_action=compared.num_equal / len(gaps),
    )


MAX_WEIGHTS_BYTES: Final = 2_500_000


@dataclass(frozen=True, slots=True)
class Said:
    """What the publisher adds to the card."""

    limits: Sequence[str] = ()
    hardware: str | None = None
    commit: str | None = None
    panel: Panel | None = None
    exploit: ExploitVerdict | None = None


def publish(zoo: ObjectStore, reference: PolicyReference, name: str, said: Said, *, battles: int) -> PolicyCard:
    """Publish the network that ``reference`` means in ``zoo`` as ``name``, and return its card.

    Publishing the same weights under the same name again renews the card. It keeps what ``said`` leaves out, and beside
    a panel with another seed the one before it. A policy that ``zoo`` has published needs no run for that. Everything
    is checked before anything is written; the name is written last.

    Raises:
        ConfigurationError: the policy is no network of a run, or too large; the name is wrong, or names other weights;
            the panel is another policy's.
        DataError: the policy or its run is missing or altered.
    """
    if not re.fullmatch(ID_PATTERN, name):
        raise ConfigurationError(f"{name!r} is no name for a policy: expected lower-case letters, digits, '.' and '-'")
    store, document = _source(reference)
    if said.panel is not None:
        _check_panel(said.panel, name, document.format)
    if store.uri == zoo.uri and (card := read_card(zoo, document.id)):
        _check_name(_names(zoo), name, card.policy)
        card = _renewed(card, said)
        publish_card(zoo, card)
        return card
    run = open_run(reference.store)
    trained = load_network(store, document.id, document.space)
    halves = half_precision(trained)
    weights = tensors_bytes(halves)
    if len(weights) > MAX_WEIGHTS_BYTES:
        raise ConfigurationError(
            f"{document.id} takes {len(weights):,} bytes in half precision; a published policy takes at most "
            f"{MAX_WEIGHTS_BYTES:,}. Train a smaller network"
        )
    published = _published(document, name, weights)
    _check_name(_names(zoo), name, published.id)
    rounded = make_network(document.space, trained.settings)
    rounded.load_state_dict({key: half.float() if half.is_floating_point() else half for key, half in halves.items()})
    game = game_of_run(store, run.settings)
    earlier = read_card(zoo, published.id)
    unsaid = PolicyCard(
        name=name,
        policy=published.id,
        format=document.format,
        num_parameters=document.num_parameters,
        weights_bytes=len(weights),
        training=training_of(run, document, said.hardware, said.commit),
        parity=measure_parity(game, trained, rounded, battles=battles),
        limits=earlier.limits if earlier else (),
        panel=earlier.panel if earlier else None,
        earlier_panel=earlier.earlier_panel if earlier else None,
        exploit=earlier.exploit if earlier else None,
    )
    card = _renewed(unsaid, said)
    zoo.put_if_absent(keys.policy_weights(published.id), weights)
    zoo.put_if_absent(keys.policy_document(published.id), published.to_json())
    publish_card(zoo, card)
    return card


def _renewed(card: PolicyCard, said: Said) -> PolicyCard:
    """Return ``card`` with what the publisher says."""
    training, panel = card.training, said.panel and _without_folders(said.panel, card.training.run)
    is_repetition = panel is not None and card.panel is not None and panel.seed != card.panel.seed
    update = {
        "training": training.model_copy(
            update={"hardware": said.hardware or training.hardware, "commit": said.commit or training.commit}
        ),
        "limits": tuple(said.limits) or card.limits,
        "panel": panel or card.panel,
        "earlier_panel": card.panel if is_repetition else card.earlier_panel,
        "exploit": said.exploit or card.exploit,
    }
    return card.model_copy(update=update)


def publish_card(zoo: ObjectStore, card: PolicyCard) -> None:
    """Store the card of a policy of ``zoo`` and give the policy its name for good. Several processes may publish.

    The policy's first card keeps it from further names. Each name is an object of its own, which one process writes.
    The list of all names is written from them, again where it lacks one that was written meanwhile.

    Raises:
        ConfigurationError: the name is another policy's, or the policy has another name.
        DataError: a document of names or the card is wrong.
    """
    name, policy = card.name, card.policy
    names = _names(zoo)
    _check_name(names, name, policy)
    if not zoo.put_if_absent(keys.policy_card(policy), card.to_json()):
        first = read_card(zoo, policy)
        if first is not None:  # it has no name yet where its publishing goes on, or was killed
            _check_name({first.name: policy} | names, name, policy)
        zoo.put(keys.policy_card(policy), card.to_json())
    zoo.put_if_absent(keys.published_name(name), Published(policies={name: policy}).to_json())
    while True:
        names = _names(zoo)
        _check_name(names, name, policy)
        zoo.put(keys.PUBLISHED, Published(policies=names).to_json())
        if _names(zoo) == names:
            return


def _check_panel(panel: Panel, name: str, format_id: str) -> None:
    """Refuse the panel of another format, or of another policy of the zoo."""
    reference = PolicyReference.parse(panel.policy)
    if panel.format != format_id or (reference.store == ZOO and reference.name != name):
        raise ConfigurationError(
            f"the panel is of {panel.policy} in {panel.format}; expected one of {ZOO}{name} in {format_id}"
        )


def _names(zoo: ObjectStore) -> dict[str, BarePolicyId]:
    """Return the published names, sorted: those of the list, and those that it may lack yet."""
    names = dict(read_published_names(zoo).policies)
    for key in zoo.list(f"{keys.NAMES}/"):
        names |= Published.from_json(zoo.get(key), f"{zoo.uri}/{key}").policies
    return dict(sorted(names.items()))


def _without_folders(panel: Panel, run: str) -> Panel:
    """Return the panel with a run's policy as RUN#NAME: a card names no folder of the machine that measured it."""
    reference = PolicyReference.parse(panel.policy)
    policy = panel.policy if reference.store in {"", ZOO} else str(replace(reference, store=run))
    rows = tuple(row.model_copy(update={"result": row.result.model_copy(update={"p1": policy})}) for row in panel.rows)
    return panel.model_copy(update={"policy": policy, "rows": rows})


def half_precision(network: ActorCritic) -> dict[str, Tensor]:
    """Return the weights with float32 tensors as float16, on the CPU.

    Raises:
        ConfigurationError: one overflows.
    """
    halves = {
        name: tensor.detach().cpu().half() if tensor.dtype == torch.float32 else tensor.detach().cpu()
        for name, tensor in network.state_dict().items()
    }
    if over := [name for name, half in halves.items() if not torch.isfinite(half).all()]:
        raise ConfigurationError(
            f"{over[0]} has weights above {torch.finfo(torch.float16).max:.0f}, which half precision cannot hold: this "
            "policy cannot be published"
        )
    return halves


def _source(reference: PolicyReference) -> tuple[ObjectStore, PolicyDocument]:
    """Return the store and the description of the network to publish."""
    found = resolve(reference)
    if found.store is None or reference.searches or len(found.mixture) != 1 or reference.temperature != SAMPLED:
        raise ConfigurationError(f"{str(reference)!r} is not one stored network; name it as RUN#ID or RUN#newest")
    document = read_document(found.store, PlayedPolicy.of(next(iter(found.mixture))).policy)
    if document.kind != "network" or document.table_sha256 is not None:
        raise ConfigurationError(
            f"{str(reference)!r} plays {document.format}, whose payoffs are exact: only networks of played formats are "
            "published"
        )
    return found.store, document


def _published(document: PolicyDocument, name: str, weights: bytes) -> PolicyDocument:
    """Return the description of the policy in half precision: another policy, whose parent was trained."""
    renamed = document.model_copy(
        update={
            "name": name,
            "parent": document.id,
            "weights_sha256": hashlib.sha256(weights).hexdigest(),
            "weights_bytes": len(weights),
        }
    )
    return renamed.model_copy(update={"id": renamed.content_id()})


def _check_name(names: Mapping[str, BarePolicyId], name: str, policy: BarePolicyId) -> None:
    """Refuse a name that is another policy's, and a second name of a policy."""
    if names.get(name, policy) != policy:
        raise ConfigurationError(
            f"{name!r} is {names[name]}, and this policy is {policy}: a published name never changes its weights. "
            f"Choose another name, such as {name}-2"
        )
    if others := [other for other, known in names.items() if known == policy and other != name]:
        raise ConfigurationError(f"{policy} is published as {others[0]!r}; expected that name")
