"""The parts of a report that depend on the kind of payoff evidence: one module a kind, chosen by ``parts``."""

from nashdex.report.assembly.evidence.interface import Context, Parts
from nashdex.report.assembly.evidence.kinds import parts

__all__ = ["Context", "Parts", "parts"]
