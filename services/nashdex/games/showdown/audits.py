"""How each Showdown format was tested: ``audits.json``, which ``audits.formats`` writes."""

from importlib import resources

from pydantic import NonNegativeInt

from nashdex.core.documents import Document, Model


class TrackerAudit(Model):
    """Battles in which the tracker and poke-env were compared at every decision."""

    battles: NonNegativeInt
    decisions: NonNegativeInt
    compared: NonNegativeInt
    explained: NonNegativeInt
    """Differences with an explanation: docs/reference/tracker.md."""
    unexplained: NonNegativeInt


class MaskAudit(Model):
    """Battles of random legal actions."""

    battles: NonNegativeInt
    decisions: NonNegativeInt
    rejected: NonNegativeInt
    """Choices that the simulator rejected because of information hidden from the player."""
    preventable: NonNegativeInt
    """Rejected choices that the mask should have left out."""
    failed: NonNegativeInt


class MatchAudit(Model):
    """Battles of `random` against `max-power`, as `nashdex battle` plays them."""

    battles: NonNegativeInt
    decisions: NonNegativeInt
    rejected: NonNegativeInt
    """Choices that the simulator rejected."""
    failed: NonNegativeInt


class ConformanceAudit(Model):
    """Battles on the published and the accelerated simulator."""

    battles: NonNegativeInt
    differences: NonNegativeInt


class FormatAudit(Model):
    """One format's audits; None for one that was not made."""

    tracker: TrackerAudit | None = None
    mask: MaskAudit | None = None
    match: MatchAudit | None = None
    conformance: ConformanceAudit | None = None

    def cells(self) -> tuple[str, str, str, str]:
        """Return one short text for each audit."""
        tracker, mask, match, conformance = self.tracker, self.mask, self.match, self.conformance
        return (
            "-"
            if tracker is None
            else f"{tracker.battles:,}" + (f" ({tracker.unexplained} ?)" if tracker.unexplained else ""),
            "-" if mask is None else f"{mask.decisions:,}/{mask.rejected}",
            "-" if match is None else f"{match.battles:,}/{match.rejected}",
            "-" if conformance is None else f"{conformance.battles:,}",
        )


class Audits(Document):
    """The audits of all formats."""

    simulator: str
    """The version of pokemon-showdown."""
    formats: dict[str, FormatAudit]


def load_audits() -> Audits:
    """Return the audits of the shipped formats."""
    file = resources.files(__package__) / "audits.json"
    return Audits.from_json(file.read_bytes(), "audits.json")
