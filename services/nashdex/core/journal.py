"""The journal: which chunks each round of a training learned from, so that every decision is counted once."""

from collections.abc import Iterator
from typing import Final

from pydantic import Field, NonNegativeFloat, NonNegativeInt

from nashdex.core import keys
from nashdex.core.documents import Model, SealedDocument
from nashdex.core.steps import StepName

JOURNAL: Final = "journal.json"
"""The whole journal, among the objects of the train step."""


class TakenChunk(Model):
    """A chunk of a stream that a round learned from."""

    number: NonNegativeInt = Field(description="Number of the chunk in the stream. No number is opened twice.")
    version: NonNegativeInt = Field(description="Round that began with the weights that played it.")
    actor: NonNegativeInt
    sha256: str = Field(description="Hash of its manifest, which holds the hashes of its episodes.")


class Entry(SealedDocument):
    """One round."""

    round: NonNegativeInt
    request: str
    weights_sha256: str = Field(description="Hash of the weights with which the network in training played.")
    episodes_sha256: str = Field(description="Hash of the hashes of all trajectory parts, in order.")
    battles: NonNegativeInt
    learned_decisions: NonNegativeInt = Field(description="Decisions of the network in training, both seats.")
    chunks_by_actor: dict[int, NonNegativeInt] = Field(description="By the shard that played them.")
    waited_seconds: NonNegativeFloat = Field(description="How long the learner waited for the last chunk.")
    read_seconds: NonNegativeFloat = Field(0.0, description="How long it then took to read all chunks.")
    staleness_seconds: NonNegativeFloat = Field(
        description="Age of the weights that played when the learner reads the last chunk, by the learner's clock: "
        "mean over the chunks, in the last attempt at the round."
    )
    staleness_versions: NonNegativeFloat = Field(
        0.0, description="Rounds between the weights that played and those that learn: the mean over chunks."
    )
    round_seconds: NonNegativeFloat = Field(
        0.0, description="Time since the entry before, by the learner's clock; 0 for the first entry of an attempt."
    )
    actors_seconds: NonNegativeFloat = Field(0.0, description="How long actors played the chunks.")
    actors_waited_seconds: NonNegativeFloat = Field(
        0.0, description="How long these actors had nothing to play before these chunks."
    )
    chunks: tuple[TakenChunk, ...] = Field(
        (), description="Chunks of a stream that the round learned from, in this order."
    )
    dropped: dict[str, NonNegativeInt] = Field(
        default_factory=dict,
        description="Chunks of a stream that were dropped since the entry before, by cause. `abandoned`: open chunks "
        "that were given up because a recorded one could not be used.",
    )
    open_chunks: tuple[NonNegativeInt, ...] = Field(
        (), description="Chunks of a stream that are open after this round was read."
    )
    next_chunk: NonNegativeInt = Field(0, description="Lowest number of a stream's chunks that was never open.")

    @property
    def num_chunks(self) -> int:
        """The number of chunks."""
        return sum(self.chunks_by_actor.values())


class Journal(SealedDocument):
    """All rounds that actors played, in order from round 0."""

    entries: tuple[Entry, ...]

    @property
    def learned_decisions(self) -> int:
        """Decisions that the training learned from."""
        return sum(entry.learned_decisions for entry in self.entries)

    def problems(self) -> Iterator[str]:
        """Yield what does not add up in a stream: every chunk was learned from once, dropped, or is open."""
        taken = [chunk.number for entry in self.entries for chunk in entry.chunks]
        if not taken:
            return
        if len(set(taken)) < len(taken):
            yield f"{len(taken) - len(set(taken))} chunks were learned from twice"
        last, dropped = self.entries[-1], sum(sum(entry.dropped.values()) for entry in self.entries)
        if len(taken) + dropped + len(last.open_chunks) != last.next_chunk:
            yield (
                f"{len(taken)} chunks were learned from, {dropped} dropped and {len(last.open_chunks)} left open; "
                f"expected {last.next_chunk} in all"
            )


def journal_folder(iteration: int, shard: int) -> str:
    """Return where the entries of a training that runs are."""
    return f"{keys.shard_prefix(iteration, StepName.TRAIN, shard)}/{keys.JOURNAL_ENTRIES}"
