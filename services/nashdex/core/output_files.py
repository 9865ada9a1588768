"""Files that commands write for their user: refused before the work, and written as a whole or not at all."""

import os
from collections.abc import Mapping
from pathlib import Path

from nashdex.core.errors import DataError


def check_output(path: Path, option: str) -> None:
    """Refuse a file that cannot be written, before the work whose result it would hold.

    ``option`` names the file in the error, such as ``--output``.

    Raises:
        DataError: it is a folder, or its folder is missing or not writable.
    """
    if problem := _problem(path):
        raise DataError(f"{str(path)!r} cannot be written: {problem}; choose another {option}")


def _problem(path: Path) -> str | None:
    try:
        if path.is_dir():
            return "it is a folder; expected a file"
        if path.exists() and not path.is_file():
            return None if os.access(path, os.W_OK) else "permission denied"
        folder = path.resolve().parent
        if not folder.is_dir():
            return f"{folder} is not a folder" if folder.exists() else f"the folder {folder} does not exist"
        return None if os.access(folder, os.W_OK) else f"no permission to write in {folder}"
    except OSError as error:  # such as a name of more characters than the file system allows
        return str(error.strerror)
    except ValueError as error:  # a NUL in the name
        return str(error)


def check_output_folder(path: Path, option: str) -> None:
    """Refuse a folder that cannot be made or written in, before the work whose result it would hold.

    The folder and its parents may be missing. ``option`` names it in the error, such as ``--output``.

    Raises:
        DataError: it or a parent is a file, or not writable.
    """
    try:
        there = next(each for each in (path, *path.absolute().parents) if each.exists())
    except (OSError, ValueError) as error:
        raise DataError(f"{str(path)!r} cannot be a folder ({error}); choose another {option}") from error
    if not there.is_dir():
        raise DataError(f"{path} cannot be a folder: {there} is a file; choose another {option}")
    if not os.access(there, os.W_OK):
        raise DataError(f"{path} cannot be written: no permission to write in {there}; choose another {option}")


def write_output(files: Mapping[Path, bytes], option: str) -> None:
    """Write ``files``: none of them is renamed into place before all of their bytes are on the disk.

    A device or a pipe, such as ``/dev/stdout``, is written to directly, and a link keeps pointing to its file.

    Raises:
        DataError: a file cannot be written.
        OSError: the disk is full.
    """
    for each in files:
        check_output(each, option)
    parts: dict[Path, Path] = {}
    path = Path()
    try:
        for path, data in files.items():
            if path.exists() and not path.is_file():
                path.write_bytes(data)
                continue
            final = path.resolve()
            part = final.with_name(f".{final.name}.{os.getpid()}.part")
            parts[part] = final
            with part.open("wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
        for part, final in parts.items():
            part.replace(final)
    except PermissionError as error:
        raise DataError(f"{path} cannot be written ({error.strerror}); choose another {option}") from error
    except OSError as error:
        error.filename = str(path)  # a full disk is known by a file's handle alone
        raise
    finally:
        for part in parts:
            part.unlink(missing_ok=True)
