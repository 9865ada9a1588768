"""``cards/{policy}.json``: what a published policy is, how it was made, how strong it is, and its limits."""

from collections.abc import Iterator
from typing import Any, Final

from pydantic import Field, NonNegativeFloat, NonNegativeInt, PositiveInt

from nashdex.core import keys
from nashdex.core.documents import Document, Model
from nashdex.core.ids import BarePolicyId, BarePolicyIdField
from nashdex.core.results import Evaluation
from nashdex.metagame.analysis.exploit import ExploitVerdict
from nashdex.store.documents import read_beside_policy
from nashdex.store.protocol import ObjectStore
from nashdex_lab.panel import HEADINGS, Panel, panel_cells, panel_lines, repetition

LICENCE: Final = "Apache-2.0"


class Parity(Model):
    """How closely the published weights play like those that were trained."""

    precision: str = Field("float16", description="Number format of the published weights; they compute in float32.")
    battles: PositiveInt = Field(description="Battles of self-play that the decisions are from.")
    decisions: PositiveInt
    mean_log_probability_gap: NonNegativeFloat = Field(
        description="Mean over the decisions of the largest |Δ log π| of a legal action, in nats."
    )
    largest_log_probability_gap: NonNegativeFloat = Field(description="The largest of them.")
    same_action: float = Field(ge=0, le=1, description="Share of the decisions with the same most probable action.")


class Training(Model):
    """How the policy was trained."""

    run: str = Field(description="Id of its run.")
    policy: BarePolicyIdField = Field(description="Its id there, in single precision.")
    oracle: str
    iteration: NonNegativeInt
    seed: NonNegativeInt
    run_decisions: NonNegativeInt = Field(description="Decisions that the run learned from, up to this policy.")
    cpu_minutes: NonNegativeFloat = Field(
        description="CPU time of all steps of its run up to this policy, a training's earlier attempts included."
    )
    gpu_minutes: NonNegativeFloat
    hardware: str | None = Field(description="What the publisher says it was trained on.")
    nashdex_version: str
    commit: str | None = Field(description="What the publisher says.")
    curve: tuple[Evaluation, ...] = Field(description="Its strength during training.")
    settings: dict[str, Any] = Field(description="The run's `config.json`, with stores and files by name alone.")


class PolicyCard(Document):
    """The card of a published policy."""

    name: str
    policy: BarePolicyIdField
    format: str
    num_parameters: PositiveInt
    weights_bytes: PositiveInt
    training: Training
    parity: Parity
    limits: tuple[str, ...] = Field(description="What a user should know before using it.")
    licence: str = LICENCE
    panel: Panel | None = Field(None, description="Its results against the panel; null until they are added.")
    earlier_panel: Panel | None = Field(
        None, description="The panel before it, with another seed; null until a second one was played."
    )
    exploit: ExploitVerdict | None = Field(None, description="What an exploiter scores against it; null without one.")


def read_card(store: ObjectStore, policy: BarePolicyId) -> PolicyCard | None:
    """Return the card of a policy of ``store``, or None.

    Raises:
        DataError: it is wrong, or is another policy's.
    """
    key, remedy = keys.policy_card(policy), "publish the policy again"
    return read_beside_policy(store, key, policy, PolicyCard, holds="is the card of", remedy=remedy)


def card_lines(card: PolicyCard) -> Iterator[str]:
    """Yield the card for people."""
    training, parity = card.training, card.parity
    yield f"# {card.name}"
    yield ""
    yield f"`zoo:{card.name}` plays {card.format}. Its id is {card.policy}, the hash of its weights, sizes and space."
    yield f"It has {card.num_parameters:,} parameters in {card.weights_bytes:,} bytes. Licence: {card.licence}."
    yield ""
    yield "## Training"
    yield ""
    yield (
        f"{training.oracle}, {training.run_decisions:,} decisions, seed {training.seed}, iteration {training.iteration}"
        f" of run {training.run}: {training.cpu_minutes:,.1f} CPU-minutes and {training.gpu_minutes:,.1f} GPU-minutes."
    )
    if begins_from := training.settings.get("network", {}).get("init_from", {}).get("policy"):
        yield f"It begins from {begins_from}, whose decisions and time are not among these."
    if training.oracle == "distil":
        yield f"It copies {training.settings['collect']['teacher']}, whose decisions and time are not among these."
    commit = f", commit {training.commit}" if training.commit else ""
    yield f"nashdex {training.nashdex_version}{commit}. Hardware: {training.hardware or 'not stated'}."
    teams = training.settings.get("teams")
    yield f"Teams: {teams or 'the format gives them'}. The card's JSON has all settings and the learning curve."
    yield ""
    yield "## Half precision"
    yield ""
    yield (
        f"In {parity.decisions:,} decisions of {parity.battles:,} battles, the published weights choose the same most "
        f"probable action as the trained ones in {100 * parity.same_action:.2f} %. The largest |Δ log π| of a legal "
        f"action is {parity.mean_log_probability_gap:.5f} on average, {parity.largest_log_probability_gap:.4f} at most."
    )
    yield ""
    yield "## Strength"
    yield ""
    if card.panel is None:
        yield "No panel was played."
    else:
        yield f"| {' | '.join(HEADINGS)} |"
        yield f"|{'---|' * len(HEADINGS)}"
        for row in card.panel.rows:
            yield f"| {' | '.join(panel_cells(row))} |"
        yield ""
        for line in list(panel_lines(card.panel))[1 + len(card.panel.rows) :]:
            yield f"- {line}"
        if card.earlier_panel is not None and (found := repetition(card.earlier_panel, card.panel)):
            yield (
                f"- seeds {card.earlier_panel.seed} and {card.panel.seed}: {found.num_agreeing} of "
                f"{found.num_compared} scores agree within their 95 % intervals; the largest difference is "
                f"{found.difference:+.3f}, against {found.farthest}"
            )
    yield f"- {card.exploit.summary}" if card.exploit else "- No exploiter was trained against it."
    yield ""
    yield "## Limits"
    yield ""
    yield from (f"- {limit}" for limit in card.limits or ("None are stated.",))
