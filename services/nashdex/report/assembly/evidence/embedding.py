"""The picture of the payoffs' cyclic part."""

from collections.abc import Sequence

from nashdex.core.ids import PolicyId
from nashdex.metagame.analysis.embedding import Payoffs, first_disc, share_interval
from nashdex.report.document import MAX_PICTURED_POLICIES, Embedding, EmbeddingPoint

_FEWEST_PICTURED = 3
"""A cycle has at least three policies."""


def embedding(order: Sequence[PolicyId], payoffs: Payoffs) -> Embedding | None:
    """Return the largest disc of what ratings do not explain; None if there is none to show."""
    if not _FEWEST_PICTURED <= len(order) <= MAX_PICTURED_POLICIES:
        return None
    disc = first_disc(order, payoffs.estimates, payoffs.transitive)
    if disc is None:
        return None
    return Embedding(
        points=tuple(
            EmbeddingPoint(policy=policy, x=x, y=y)
            for policy, (x, y) in zip(order, disc.positions.tolist(), strict=True)
        ),
        share=disc.share,
        share_interval=share_interval(disc.share, payoffs),
    )
