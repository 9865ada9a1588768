"""A folder of parsed replays: ``{root}/{format}/*.json.lz4``, or tar archives ``{root}/{format}.tar(.gz)`` of them."""

import tarfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from nashdex.core.errors import ConfigurationError
from nashdex_metamon.data.evidence import check
from nashdex_metamon.data.file_name import SUFFIXES, ReplayName
from nashdex_metamon.data.replay_file import MAX_FILE_BYTES, ParsedReplay, decode
from nashdex_replays.refusal import RefusedReplayError

_ARCHIVES = (".tar", ".tar.gz", ".tgz")


@dataclass(frozen=True, slots=True)
class Entry:
    """One file of a folder or archive. Reading it is up to the caller: names alone decide most filters."""

    format: str
    """The folder's or archive's name."""
    source: str
    """Names the file in messages."""
    name: ReplayName | None
    """None if the file's name says nothing."""
    content: Callable[[], bytes]

    def file_name(self, name: ReplayName) -> str:
        """Return the name of a copy, which is compressed."""
        return name.file_name

    def read(self) -> tuple[ReplayName, ParsedReplay]:
        """Return the replay.

        Raises:
            RefusedReplayError: the name or the content is not that of a parsed replay, or of one of another format.
        """
        if self.name is None:
            raise RefusedReplayError(
                "file-name",
                f"{self.source}: expected a name such as gen1ou-1234_1500_ann_vs_bob_01-31-2024_WIN.json.lz4",
            )
        replay = decode(self.content(), self.source)
        check(self.format, self.name, replay, self.source)
        return self.name, replay


def entries(root: Path, formats: Sequence[str] = ()) -> Iterator[Entry]:
    """Yield the files of ``root``, by format and name; only files of ``formats`` if any is given.

    Raises:
        ConfigurationError: there is no such folder, or it lacks a format that ``formats`` names.
    """
    if not root.is_dir():
        raise ConfigurationError(f"{root} is not a folder; expected one with a folder of replays for each format")
    places = _places(root)
    missing = sorted(set(formats) - places.keys())
    if missing:
        raise ConfigurationError(
            f"{root} has no replays of {', '.join(missing)}; it has {', '.join(sorted(places)) or 'no format at all'}"
        )
    for format_id in sorted(formats or places):
        for place in places[format_id]:
            yield from _files(format_id, place) if place.is_dir() else _members(format_id, place)


def _places(root: Path) -> dict[str, list[Path]]:
    places: dict[str, list[Path]] = {}
    for path in sorted(root.iterdir()):
        if path.is_dir():
            places.setdefault(path.name, []).append(path)
        else:
            suffix = next((each for each in _ARCHIVES if path.name.endswith(each)), None)
            if suffix is not None:
                places.setdefault(path.name.removesuffix(suffix), []).append(path)
    return places


def _files(format_id: str, folder: Path) -> Iterator[Entry]:
    for path in sorted(folder.iterdir()):
        if path.name.endswith(SUFFIXES) and path.is_file():
            yield Entry(format_id, str(path), ReplayName.parse(path.name), _reader(path))


def _reader(path: Path) -> Callable[[], bytes]:
    def read() -> bytes:
        size_bytes = path.stat().st_size
        if size_bytes > MAX_FILE_BYTES:
            raise RefusedReplayError("too-large", f"{path} has {size_bytes:,} bytes, more than {MAX_FILE_BYTES:,}")
        return path.read_bytes()

    return read


def _members(format_id: str, archive: Path) -> Iterator[Entry]:
    """Yield an archive's files. Each has to be read before the next one is asked for."""
    try:
        with tarfile.open(archive, "r|*") as tar:
            for member in tar:
                file_name = member.name.rpartition("/")[2]
                if member.isfile() and file_name.endswith(SUFFIXES):
                    source = f"{archive}:{member.name}"
                    yield Entry(format_id, source, ReplayName.parse(file_name), _member_reader(tar, member, source))
    except (tarfile.TarError, EOFError, OSError) as error:
        raise ConfigurationError(f"{archive} cannot be read as a tar archive: {error}") from error


def _member_reader(tar: tarfile.TarFile, member: tarfile.TarInfo, source: str) -> Callable[[], bytes]:
    def read() -> bytes:
        if member.size > MAX_FILE_BYTES:
            raise RefusedReplayError("too-large", f"{source} has {member.size:,} bytes, more than {MAX_FILE_BYTES:,}")
        file = tar.extractfile(member)
        assert file is not None, "a regular file has content"
        return file.read()

    return read
