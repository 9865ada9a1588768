"""Reads the chunks of a request and reports the fault of an unusable chunk, so that it is played again."""

from nashdex.core.errors import DataError
from nashdex.games.space import Space
from nashdex.learning.actors import protocol
from nashdex.learning.actors.protocol import Chunk, Request
from nashdex.store.checked import MAX_MANIFEST_BYTES, read_described
from nashdex.store.protocol import ObjectStore
from nashdex.trajectory.episode import Episode
from nashdex.trajectory.shard import decode


class UnusableChunkError(Exception):
    """A chunk that the learner drops. ``cause`` is a label of the metric, ``str`` says what is wrong."""

    def __init__(self, number: int, cause: str, problem: str) -> None:
        super().__init__(problem)
        self.number = number
        self.cause = cause


def read_chunk(
    store: ObjectStore, iteration: int, shard: int, request: Request, number: int, space: Space
) -> tuple[Chunk, list[Episode]]:
    """Return a chunk of a request and its episodes.

    Raises:
        UnusableChunkError: it is missing, altered, or of another space or request.
    """
    chunk, _ = read_manifest(store, iteration, shard, request, number)
    return chunk, read_episodes(store, chunk, space)


def read_manifest(store: ObjectStore, iteration: int, shard: int, request: Request, number: int) -> tuple[Chunk, bytes]:
    """Return the manifest of a chunk, parsed and as stored. In a stream, any request may have played the chunk.

    Raises:
        UnusableChunkError: it is missing, altered, or describes another chunk.
    """
    key = protocol.chunk_key(iteration, shard, request.folder(number), number)
    try:
        data = store.get(key, MAX_MANIFEST_BYTES)
        chunk = Chunk.from_json(data, f"{store.uri}/{key}")
    except DataError as error:
        raise UnusableChunkError(number, "altered", str(error)) from error
    is_known = chunk.request == request.id
    if request.open_chunks is not None:
        is_known = chunk.version <= request.battles.round
    if not is_known or (chunk.chunk, chunk.battles) != (number, len(request.planned(number)[1])):
        raise UnusableChunkError(number, "altered", f"{store.uri}/{key} describes another chunk")
    if request.battles.kind == "evaluation" and len(chunk.scores) != chunk.battles:
        problem = f"{store.uri}/{key} has {len(chunk.scores)} scores, expected {chunk.battles}"
        raise UnusableChunkError(number, "altered", problem)
    return chunk, data


def read_episodes(store: ObjectStore, chunk: Chunk, space: Space) -> list[Episode]:
    """Return the episodes of a chunk.

    Raises:
        UnusableChunkError: they are missing, altered, or of another space.
    """
    episodes: list[Episode] = []
    for part in chunk.episodes:
        try:
            found, decoded = decode(read_described(store, part, "Its battles are played again"), part.key)
        except DataError as error:
            raise UnusableChunkError(chunk.chunk, "altered", str(error)) from error
        if found.fingerprint != space.fingerprint:
            problem = (
                f"{part.key} of actor {chunk.actor} is {found.format} version {found.version} ({found.fingerprint}); "
                f"the network is of version {space.version} ({space.fingerprint}). Run the same nashdex everywhere"
            )
            raise UnusableChunkError(chunk.chunk, "space", problem)
        episodes += decoded
    return episodes
