"""The parts of a report that depend on the kind of payoff evidence: one module a kind, chosen by ``parts``."""

from collections.abc import Callable, Mapping

from nashdex.core.evidence import Evidence
from nashdex.report.assembly.evidence.exact import exact_parts
from nashdex.report.assembly.evidence.interface import Context, Parts
from nashdex.report.assembly.evidence.sampled import sampled_parts

__all__ = ["Context", "Parts", "parts"]

_KINDS: Mapping[Evidence, Callable[..., Parts]] = {Evidence.COUNTS: sampled_parts, Evidence.EXACT: exact_parts}


def parts(context: Context) -> Parts:
    """Return the parts of the newest iteration's evidence."""
    matrix = context.last.matrix
    return _KINDS[matrix.evidence](context, matrix)
