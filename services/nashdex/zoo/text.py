"""A policy card as Markdown."""

from collections.abc import Iterator

from nashdex.evaluator.panel_text import HEADINGS, panel_cells, panel_lines
from nashdex.zoo.card import PolicyCard


def card_text(card: PolicyCard) -> str:
    """Return the card for people."""
    return "\n".join(_lines(card)) + "\n"


def _lines(card: PolicyCard) -> Iterator[str]:
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
    yield f"- {card.exploit.summary}" if card.exploit else "- No exploiter was trained against it."
    yield ""
    yield "## Limits"
    yield ""
    yield from (f"- {limit}" for limit in card.limits or ("None are stated.",))
