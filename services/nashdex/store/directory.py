"""Objects as files below a directory: the default, which needs nothing but a disk.

A write goes to a temporary file in the same folder, is flushed to the disk, and is then renamed (``put``) or
hard-linked (``put_if_absent``: a link, unlike a rename, fails if the target exists). Both are atomic, on network file
systems too, so a reader never sees half an object. A process that is killed while it writes can leave a temporary file
behind; its name starts with a dot, which no key can, so it is never taken for an object.
"""

import errno
import hashlib
import os
import shutil
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from uuid import uuid4

from nashdex.core.errors import ConfigurationError, DataError, NashdexError, NoObjectError, TryAgainError
from nashdex.store.naming import check_key, check_prefix, too_large

_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
_REFUSED = {errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOTDIR, errno.EISDIR, errno.ENAMETOOLONG, errno.ELOOP}
_NO_LINKS = {errno.EPERM, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK, errno.EXDEV}
_MOST_TRIES = 5
"""Tries of a write or a deletion where both work in one folder at once."""


class DirectoryStore:
    """An ObjectStore in a directory. The first write creates the directory; a read never does.

    A full disk raises TryAgainError. Nothing of the write remains, and the same command continues once there is space.
    """

    def __init__(self, root: Path, name: str | None = None) -> None:
        """Use ``root``, which messages call ``name``; by default by its path."""
        self._root = Path(os.path.abspath(root))  # noqa: PTH100 - resolve() also follows links, which would rename the run
        self._name = name or str(self._root)

    @property
    def uri(self) -> str:
        """The directory's absolute path, or the name that it has instead."""
        return self._name

    def get(self, key: str, max_bytes: int | None = None) -> bytes:
        """Return an object. Raises NoObjectError if there is none, DataError if it is larger: it is not read whole."""
        with self._reading(key) as path, open(path, "rb", opener=_open_at_once) as stream:
            if not stat.S_ISREG(os.fstat(stream.fileno()).st_mode):
                raise DataError(f"{path} is no regular file; expected an object that nashdex wrote")
            data = stream.read() if max_bytes is None else stream.read(max_bytes + 1)
            if max_bytes is not None and len(data) > max_bytes:
                raise too_large(str(path), os.fstat(stream.fileno()).st_size, max_bytes)
        return data

    def get_if_changed(self, key: str, tag: str, max_bytes: int | None = None) -> tuple[bytes, str] | None:
        """Return an object and its tag; None if its tag is still ``tag``.

        The tag is the content's hash: two writes within the resolution of a file's time have different tags too. The
        operating system caches files, also of a network file system, so reading an unchanged file again is cheap.
        """
        return if_changed(self.get(key, max_bytes), tag)

    def exists(self, key: str) -> bool:
        """Say whether there is an object."""
        path = self._root / check_key(key)
        try:
            return path.is_file()
        except OSError as error:
            raise _explain(error, path) from error

    def put(self, key: str, data: bytes) -> None:
        """Write an object, replacing what was there."""
        self._write(key, data, _replace)

    def put_if_absent(self, key: str, data: bytes) -> bool:
        """Write an object unless there is one; return whether this call wrote it."""
        return not self.exists(key) and self._write(key, data, _link)

    def delete(self, key: str) -> None:
        """Remove an object. A missing object is no error."""
        path = self._root / check_key(key)
        try:
            path.unlink(missing_ok=True)
        except NotADirectoryError:
            return
        except OSError as error:
            raise _explain(error, path) from error

    def delete_folder(self, folder: str) -> None:
        """Remove a directory and everything below it. What another process writes there meanwhile may stay."""
        path = self._root / check_key(folder)
        for _ in range(_MOST_TRIES):
            try:
                shutil.rmtree(path)
            except (FileNotFoundError, NotADirectoryError):
                if not _is_directory(path):
                    return  # else only something in it was gone, which another process removed
            except OSError as error:
                # rmtree takes a folder that was removed and made again for a link, in an error without a number.
                is_remade = error.errno is None and not path.is_symlink()
                if error.errno != errno.ENOTEMPTY and not is_remade:
                    raise _explain(error, path) from error
            else:
                return

    def list(self, prefix: str) -> Iterator[str]:
        """Yield the keys that begin with ``prefix``, in the order of their bytes, as S3 does."""
        folder = self._root / check_prefix(prefix).rpartition("/")[0]

        def fail(error: OSError) -> None:
            if not isinstance(error, FileNotFoundError | NotADirectoryError):
                raise _explain(error, folder) from error

        keys = [
            (Path(parent) / name).relative_to(self._root).as_posix()
            for parent, _, names in os.walk(folder, onerror=fail)
            for name in names
            if not name.startswith(".")
        ]
        yield from sorted(key for key in keys if key.startswith(prefix))

    def folders(self) -> Iterator[str]:
        """Yield the first segment of every key that has several, once each and in the order of their bytes.

        Yields empty folders too; callers look for a key in each.
        """
        try:
            names = [entry.name for entry in os.scandir(self._root) if _is_folder(entry)]
        except FileNotFoundError:
            return
        except OSError as error:
            raise _explain(error, self._root) from error
        yield from sorted(name for name in names if not name.startswith("."))

    def at(self, prefix: str) -> "DirectoryStore":
        """Return the same store rooted at ``prefix``."""
        return DirectoryStore(self._root / check_key(prefix))

    @contextmanager
    def _reading(self, key: str) -> Iterator[Path]:
        path = self._root / check_key(key)
        try:
            yield path
        except (FileNotFoundError, IsADirectoryError, NotADirectoryError) as error:
            if not _is_directory(self._root):
                raise NoObjectError(
                    f"{self.uri} does not exist; check the run's URI, or start the run first"
                ) from error
            raise NoObjectError(f"{path} does not exist") from error
        except OSError as error:
            raise _explain(error, path) from error

    def _write(self, key: str, data: bytes, name: Callable[[Path, Path], bool]) -> bool:
        """Write ``data`` to a temporary file, which ``name`` gives the object's path; return what ``name`` does.

        Where another process deletes the folder meanwhile, the write begins again: it comes after the deletion.
        """
        path = self._root / check_key(key)
        for left in reversed(range(_MOST_TRIES)):
            try:
                return _write_once(path, data, name)
            except FileNotFoundError as error:
                if not left:
                    raise _explain(error, path) from error
            except OSError as error:
                raise _explain(error, path) from error
        raise AssertionError("the last try returns or raises")


def _is_folder(entry: os.DirEntry[str]) -> bool:
    """Say whether an entry is a folder; a link is if it leads to one: not in a circle, nor where nobody may look."""
    try:
        return entry.is_dir()
    except OSError as error:
        if error.errno in _REFUSED:
            return False
        raise


def _is_directory(path: Path) -> bool:
    """Say whether there is a directory."""
    try:
        return path.is_dir()
    except OSError as error:
        raise _explain(error, path) from error


def _open_at_once(path: str, flags: int) -> int:
    """Open a file; a pipe or a device too, without waiting for its other end."""
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))


def _write_once(path: Path, data: bytes, name: Callable[[Path, Path], bool]) -> bool:
    temporary = path.with_name(f".{path.name}.{uuid4().hex[:12]}")
    _make_folder(path.parent)
    try:
        with temporary.open("xb") as stream:
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())
        named = name(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)
    _sync_directory(path.parent)
    return named


def _make_folder(folder: Path) -> None:
    """Make a folder unless it is there.

    Raises:
        FileNotFoundError: another process removed it, or a parent, meanwhile.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except FileExistsError as error:
        with suppress(FileNotFoundError):
            if not stat.S_ISDIR(folder.stat().st_mode):
                raise
        for link in (folder, *folder.parents):
            if link.is_symlink() and not link.exists():
                raise FileExistsError(
                    errno.EEXIST, f"{link} is a link to {link.readlink()}, which does not exist"
                ) from error
        # It was there for the system's mkdir and was gone when pathlib looked whether it is a folder.
        raise FileNotFoundError(errno.ENOENT, "the folder was removed meanwhile", str(folder)) from error


def _replace(temporary: Path, path: Path) -> bool:
    temporary.replace(path)
    return True


def _link(temporary: Path, path: Path) -> bool:
    """Return False if ``path`` exists."""
    try:
        path.hardlink_to(temporary)
    except FileExistsError:
        return False
    except OSError as error:
        if error.errno in _NO_LINKS:
            raise ConfigurationError(
                f"{path}: the file system has no hard links, which a store needs so that only one of two "
                f"racing processes finishes a shard; choose a directory on another one ({error.strerror})"
            ) from error
        raise
    return True


def _sync_directory(folder: Path) -> None:
    """Make new names in ``folder`` survive a power failure."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _explain(error: OSError, path: Path) -> NashdexError:
    """Return the nashdex error for ``error`` at ``path``."""
    if error.errno in _FULL:
        return TryAgainError(
            f"{path}: the disk is full, or a quota or file size limit is reached ({error.strerror}); "
            "nothing was written. Free some space and run the same command again"
        )
    if error.errno in _REFUSED or isinstance(error, FileExistsError):
        return ConfigurationError(
            f"{path}: cannot be used as a store ({error.strerror}); choose a directory that you can read and write"
        )
    return TryAgainError(f"{path}: the file system failed ({error.strerror}); nothing was written by this call")


def if_changed(data: bytes, tag: str) -> tuple[bytes, str] | None:
    """Return an object and its tag, which is its hash; None if its tag is still ``tag``."""
    digest = hashlib.sha256(data).hexdigest()
    return None if digest == tag else (data, digest)
