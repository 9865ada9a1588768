"""The picture of the payoffs' cyclic part."""

from collections.abc import Sequence

from nashdex.core.ids import PolicyId
from nashdex.metagame.analysis.embedding import disc_shares, first_disc
from nashdex.metagame.analysis.exploitability import interval
from nashdex.metagame.evidence.estimates import Floats
from nashdex.report.document import MAX_PICTURED_POLICIES, Embedding, EmbeddingPoint

_FEWEST_PICTURED = 3
"""A cycle has at least three policies."""


def embedding(
    order: Sequence[PolicyId], payoffs: Floats, transitive: Floats, drawn: Floats | None = None
) -> Embedding | None:
    """Return the largest disc of ``payoffs`` − ``transitive``, of shape (K, K) each; None if there is none to show.

    ``drawn`` are the payoffs' posterior draws, of shape (D, K, K), where they are not exact.
    """
    if not _FEWEST_PICTURED <= len(order) <= MAX_PICTURED_POLICIES:
        return None
    disc = first_disc(order, payoffs, transitive)
    if disc is None:
        return None
    return Embedding(
        points=tuple(
            EmbeddingPoint(policy=policy, x=x, y=y)
            for policy, (x, y) in zip(order, disc.positions.tolist(), strict=True)
        ),
        share=disc.share,
        share_interval=None if drawn is None else interval(disc.share, disc_shares(drawn, transitive)),
    )
