"""What may have happened to a folder of a store: an input's bytes as a list of changes to files."""

import hashlib
import json
import os
import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

BYTES_OF_A_CHANGE = 4
"""Which change, which object (two bytes), and the change's own number."""
MOST_CHANGES = 4

NUMBERS = (b"-1", b"0", b"9" * 19, b"9" * 30, b"1" + b"0" * 400, b"1e308", b"1e400", b"NaN", b"0.5", b"null", b'"1"')
NAMES = (
    "9999999999",
    "٣",
    "a b",
    ".hidden",
    "-rf",
    "\x1b[31mred",
    "x" * 200,
    "new\nline",
    "0001",
    "manifest.json",
    "é",
    "%2e%2e",
)
DEEP = b"[" * 50_000
_NUMBER = re.compile(rb"(?<=[:\[,\s])-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?(?=[,\s\]}])")

Change = Callable[[Path, int, list[Path]], None]


def _missing(path: Path, _number: int, _all: list[Path]) -> None:
    path.unlink()


def _empty(path: Path, _number: int, _all: list[Path]) -> None:
    path.write_bytes(b"")


def _cut(path: Path, number: int, _all: list[Path]) -> None:
    data = path.read_bytes()
    path.write_bytes(data[: len(data) * number // 256])


def _doubled(path: Path, _number: int, _all: list[Path]) -> None:
    path.write_bytes(path.read_bytes() * 2)


def _flipped(path: Path, number: int, _all: list[Path]) -> None:
    data = bytearray(path.read_bytes())
    if data:
        data[len(data) * number // 256] ^= 1 << number % 8
    path.write_bytes(bytes(data))


def _other_number(path: Path, number: int, _all: list[Path]) -> None:
    data = path.read_bytes()
    found = list(_NUMBER.finditer(data))
    if found:
        place = found[number * 7 % len(found)]
        path.write_bytes(data[: place.start()] + NUMBERS[number % len(NUMBERS)] + data[place.end() :])


def _swapped(path: Path, number: int, others: list[Path]) -> None:
    other = others[number * 13 % len(others)]
    if other.is_file():
        path.write_bytes(other.read_bytes())


def _odd_name(path: Path, number: int, _all: list[Path]) -> None:
    name = NAMES[number % len(NAMES)]
    for parent in list(path.parents)[number % 3 :][:1]:
        folder = parent / name
        if not folder.exists():
            folder.mkdir()
            (folder / "x").write_bytes(b"")


def _deep_folders(path: Path, number: int, _all: list[Path]) -> None:
    folder = path.parent.joinpath(*["d"] * (40 + number))
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "x").write_bytes(b"{}")


def _folder_instead(path: Path, _number: int, _all: list[Path]) -> None:
    path.unlink()
    path.mkdir()


def _link_to_nothing(path: Path, _number: int, _all: list[Path]) -> None:
    path.unlink()
    path.symlink_to("nothing")


def _link_to_itself(path: Path, _number: int, _all: list[Path]) -> None:
    path.unlink()
    path.symlink_to(path.name)


def _pipe(path: Path, _number: int, _all: list[Path]) -> None:
    path.unlink()
    os.mkfifo(path)


def _nested(path: Path, _number: int, _all: list[Path]) -> None:
    path.write_bytes(DEEP)


def _key_changed(path: Path, number: int, _all: list[Path]) -> None:
    """Change a value at the top of a JSON object: another type, more of it, or gone."""
    try:
        document = json.loads(path.read_bytes())
    except (ValueError, RecursionError):
        return
    if not isinstance(document, dict) or not document:
        return
    key = sorted(document)[number % len(document)]
    match number % 4:
        case 0:
            del document[key]
        case 1:
            document[key] = [document[key]]
        case 2:
            document[key] = "x" * 5000
        case _:
            document[key + "\x1b[31m"] = document.pop(key)
    path.write_text(json.dumps(document))


CHANGES: tuple[Change, ...] = (
    _missing,
    _empty,
    _cut,
    _doubled,
    _flipped,
    _other_number,
    _swapped,
    _odd_name,
    _deep_folders,
    _folder_instead,
    _link_to_nothing,
    _link_to_itself,
    _pipe,
    _nested,
    _key_changed,
)


def damage(folder: Path, data: bytes) -> list[str]:
    """Change files below ``folder`` as ``data`` says; return the keys of the changed files."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    changed = []
    for change, at, number in _changes(data):
        path = files[at % len(files)]
        if path.is_file() and not path.is_symlink():
            CHANGES[change % len(CHANGES)](path, number, files)
            changed.append(path.relative_to(folder).as_posix())
    return changed


def hash_again(folder: Path) -> None:
    """Rewrite the hashes of every manifest and the published copies, as somebody who may write the store could."""
    for path in sorted(path for path in folder.rglob("manifest.json") if path.is_file()):
        try:
            document = json.loads(path.read_bytes())
            for name, described in document["objects"].items():
                source = folder / described["key"]
                if not source.is_file():
                    continue  # reading a pipe would wait
                data = source.read_bytes()
                described.update(sha256=hashlib.sha256(data).hexdigest(), size_bytes=len(data))
                copy = path.parents[2] / name
                if copy.is_file():
                    copy.write_bytes(data)
            document.pop("content_sha256", None)
            content = json.dumps(document, sort_keys=True, separators=(",", ":")).encode()
            document["content_sha256"] = hashlib.sha256(content).hexdigest()
            path.write_text(json.dumps(document))
        except (ValueError, RecursionError, OSError, KeyError, TypeError, AttributeError):
            continue


def _changes(data: bytes) -> Iterator[tuple[int, int, int]]:
    for start in range(0, min(len(data), MOST_CHANGES * BYTES_OF_A_CHANGE), BYTES_OF_A_CHANGE):
        part = data[start : start + BYTES_OF_A_CHANGE].ljust(BYTES_OF_A_CHANGE, b"\0")
        yield part[0], part[1] << 8 | part[2], part[3]


def copied(source: Path, target: Path) -> None:
    """Make ``target`` a copy of ``source``."""
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(source, target)
