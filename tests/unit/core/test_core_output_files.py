"""Files that commands write for their user: whole or not at all, and refused before the work."""

import errno
import os
from pathlib import Path

import pytest

from nashdex.core.errors import DataError
from nashdex.core.output_files import check_output, check_output_folder, write_output


def test_files_are_replaced_and_nothing_else_is_left(tmp_path: Path) -> None:
    first, second = tmp_path / "a.onnx", tmp_path / "-b ü.json"
    first.write_bytes(b"old")
    write_output({first: b"one", second: b"two"}, "--output")
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == {"a.onnx": b"one", "-b ü.json": b"two"}


def test_a_link_keeps_pointing_to_its_file(tmp_path: Path) -> None:
    target, link = tmp_path / "target.html", tmp_path / "link.html"
    target.write_bytes(b"old")
    link.symlink_to(target)
    write_output({link: b"new"}, "--output")
    assert link.is_symlink()
    assert target.read_bytes() == b"new"


def test_a_pipe_is_written_to_and_stays(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        write_output({pipe: b"page"}, "--output")
        assert os.read(reader, 100) == b"page"
    finally:
        os.close(reader)
    assert list(tmp_path.iterdir()) == [pipe]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="the system has no device that is always full")
def test_a_full_disk_leaves_none_of_the_files(tmp_path: Path) -> None:
    kept = tmp_path / "kept.json"
    kept.write_bytes(b"old")
    with pytest.raises(OSError, match="/dev/full") as refused:
        write_output({kept: b"new", Path("/dev/full"): b"page"}, "--output")
    assert refused.value.errno == errno.ENOSPC
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == {"kept.json": b"old"}


def test_a_folder_that_is_missing_may_be_made(tmp_path: Path) -> None:
    check_output_folder(tmp_path / "new" / "deep", "--output")
    with pytest.raises(DataError, match=r"does not exist; choose another --output"):
        check_output(tmp_path / "new" / "page.html", "--output")
