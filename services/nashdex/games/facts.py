"""``facts.json``: what a simulator's data says of each entry of a space's vocabularies."""

from pydantic import Field

from nashdex.core.documents import Document
from nashdex.games.space import Space


class Facts(Document):
    """The facts of a format, which a network's first embeddings may follow from."""

    vocabularies: dict[str, tuple[dict[str, float], ...]] = Field(
        description="By vocabulary, weights by fact of each entry, such as `secondary.status brn` 0.3 of Scald. "
        "Entry 0, none or unknown, has no facts."
    )

    def fit(self, space: Space) -> bool:
        """Say whether these are facts of the vocabularies of ``space``."""
        return all(space.vocabularies.get(name) == len(entries) for name, entries in self.vocabularies.items())
