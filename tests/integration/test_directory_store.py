"""What a directory meets and S3 does not: full disks, file size limits, other people's files."""

import errno
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from nashdex.core.errors import ConfigurationError, DataError, ExitCode, TryAgainError
from nashdex.store import open_store

pytestmark = pytest.mark.integration

# Writes until it fails, and says how.
WRITER = """
import sys
from nashdex.core.errors import NashdexError
from nashdex.store import open_store

store = open_store(sys.argv[1])
store.put("kept", b"from before")
try:
    getattr(store, sys.argv[2])("folder/object", b"x" * 1_000_000)
except NashdexError as error:
    print(error)
    sys.exit(error.exit_code)
"""


def files_below(folder: Path) -> list[str]:
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())


@pytest.mark.parametrize("operation", ["get", "delete_folder"])
def test_a_file_system_that_fails_while_it_says_why_nothing_is_there_asks_to_try_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, operation: str
) -> None:
    def fail(path: Path) -> bool:
        raise OSError(errno.EIO, os.strerror(errno.EIO), path)

    monkeypatch.setattr(Path, "is_dir", fail)
    with pytest.raises(TryAgainError, match=r"the file system failed \(Input/output error\)"):
        getattr(open_store(str(tmp_path / "run")), operation)("absent")


@pytest.mark.parametrize("operation", ["put", "put_if_absent"])
def test_a_full_disk_asks_to_try_again_and_leaves_nothing_half_written(tmp_path: Path, operation: str) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    if shutil.which("unshare") is None:
        pytest.skip("needs unshare to mount a small disk")
    script = 'mount -t tmpfs -o size=64k tmpfs "$0" && { "$@"; code=$?; find "$0" -type f; exit $code; }'
    probe = subprocess.run(["unshare", "-rm", "sh", "-c", script, disk, "true"], check=False, capture_output=True)  # noqa: S607
    if probe.returncode != 0:
        pytest.skip("may not mount a small disk here")
    result = subprocess.run(
        ["unshare", "-rm", "sh", "-c", script, disk, sys.executable, "-c", WRITER, disk / "run", operation],  # noqa: S607
        check=False,
        capture_output=True,
        text=True,
    )
    assert result.returncode == ExitCode.TRY_AGAIN, result.stderr
    message, *left = result.stdout.splitlines()
    assert "folder/object" in message
    assert "No space left" in message
    assert left == [str(disk / "run" / "kept")]


RUN = """
format = "kuhn_poker"
run = "kuhn"
iterations = 1
[population]
initial = ["random"]
[train]
oracle = "exact"
[solve]
num_draws = 100
"""
FILL_AND_GROW = """
mount -t tmpfs -o size=1m tmpfs "$0" || exit 99
cp kuhn.toml "$0" && cd "$0" && head -c 900000 /dev/zero > filler || exit 99
"$@"; echo "full: $?"
mount -o remount,size=100m tmpfs "$0" || exit 99
"$@"; echo "roomy: $?"
"$1" -m nashdex_cli verify store/kuhn; echo "verified: $?"
"""


@pytest.fixture
def short_folder() -> Iterator[Path]:
    """Yield a folder for temporary files: sockets are made there, whose paths have 107 characters at most."""
    with TemporaryDirectory(prefix="disk-", dir="/tmp") as folder:
        yield Path(folder)


@pytest.mark.slow
def test_a_run_whose_disk_fills_goes_on_when_there_is_space(tmp_path: Path, short_folder: Path) -> None:
    """The store, the logs and the temporary files share one small disk."""
    disk = short_folder
    (tmp_path / "kuhn.toml").write_text(RUN)
    if shutil.which("unshare") is None:
        pytest.skip("needs unshare to mount a small disk")
    run = [sys.executable, "-m", "nashdex_cli", "run", "kuhn.toml", "--store", "store"]
    result = subprocess.run(
        ["unshare", "-rm", "sh", "-c", FILL_AND_GROW, disk, *run],  # noqa: S607
        check=False,
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env=os.environ | {"TMPDIR": str(disk)},
    )
    if result.returncode == 99:
        pytest.skip("may not mount a small disk here")
    codes = [line for line in result.stdout.splitlines() if line.startswith(("full: ", "roomy: ", "verified: "))]
    assert codes == [f"full: {ExitCode.TRY_AGAIN}", "roomy: 0", "verified: 0"], result.stderr
    assert "Traceback" not in result.stderr
    last = [line for line in result.stderr.splitlines() if line.startswith("error: ")][-1]
    assert "full" in last, "the last line names the cause"


def test_a_limit_on_the_size_of_files_is_met_the_same_way(tmp_path: Path) -> None:
    result = subprocess.run(
        ["sh", "-c", 'ulimit -f 100; exec "$0" "$@"', sys.executable, "-c", WRITER, tmp_path / "run", "put"],  # noqa: S607
        check=False,
        capture_output=True,
        text=True,
    )
    assert result.returncode == ExitCode.TRY_AGAIN, result.stderr
    assert "nothing was written" in result.stdout
    assert files_below(tmp_path) == ["run/kept"]


def test_what_killed_writers_leave_is_never_listed_or_in_the_way(tmp_path: Path) -> None:
    """A writer is killed again and again; whatever it leaves, only whole objects are ever seen."""
    program = (
        "import sys, itertools\n"
        "from nashdex.store import open_store\n"
        "store = open_store(sys.argv[1])\n"
        "for number in itertools.count():\n"
        "    store.put(f'objects/{number % 7}', bytes([number % 7]) * 300_000)\n"
        "    if number == 0: print('writing', flush=True)\n"
    )
    store = open_store(str(tmp_path / "run"))
    for _ in range(4):
        writer = subprocess.Popen([sys.executable, "-c", program, tmp_path / "run"], stdout=subprocess.PIPE)
        assert writer.stdout is not None
        writer.stdout.readline()
        time.sleep(0.05)
        writer.kill()
        writer.communicate()
    found = list(store.list(""))
    assert found
    for key in found:
        prefix, _, number = key.partition("/")
        assert prefix == "objects"
        assert store.get(key) == bytes([int(number)]) * 300_000
    (tmp_path / "run" / "objects" / ".0.left-behind").write_bytes(b"half")
    assert list(store.list("objects/")) == found


def test_a_write_survives_that_its_folder_is_deleted_meanwhile(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As where a learner removes old chunks, and a slow actor still writes one."""
    store = open_store(str(tmp_path))
    flush = os.fsync

    def delete_first(descriptor: int) -> None:
        monkeypatch.setattr(os, "fsync", flush)
        store.delete_folder("chunks/7")
        flush(descriptor)

    monkeypatch.setattr(os, "fsync", delete_first)
    store.put("chunks/7/part", b"late")
    assert store.get("chunks/7/part") == b"late"
    monkeypatch.setattr(os, "fsync", delete_first)
    assert store.put_if_absent("chunks/7/chunk.json", b"{}")
    assert list(store.list("")) == ["chunks/7/chunk.json"]


def test_a_write_survives_that_its_folder_is_deleted_while_it_is_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Path.mkdir looks again at what the system found there; a folder that is gone by then is no file."""
    store = open_store(str(tmp_path))
    make = os.mkdir

    def find_another(path: str, *_: int) -> None:
        monkeypatch.setattr(os, "mkdir", make)
        raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), path)

    monkeypatch.setattr(os, "mkdir", find_another)
    store.put("chunks/7/part", b"late")
    assert store.get("chunks/7/part") == b"late"


def test_a_folder_is_deleted_while_another_process_deletes_it_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = open_store(str(tmp_path))
    for key in ("chunks/7/a", "chunks/7/b"):
        store.put(key, b"early")
    remove = os.unlink

    def be_late(path: str, **options: int | None) -> None:
        monkeypatch.setattr(os, "unlink", remove)
        remove(path, **options)
        remove(path, **options)

    monkeypatch.setattr(os, "unlink", be_late)
    store.delete_folder("chunks/7")
    assert list(store.list("")) == []


def test_a_folder_is_deleted_while_another_process_makes_it_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = open_store(str(tmp_path))
    store.put("chunks/7/part", b"early")
    same = os.path.samestat

    def another(*found: os.stat_result) -> bool:
        monkeypatch.setattr(os.path, "samestat", same)
        return not same(*found)

    monkeypatch.setattr(os.path, "samestat", another)
    store.delete_folder("chunks/7")
    assert list(store.list("")) == []


def test_a_folder_is_deleted_while_another_process_writes_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = open_store(str(tmp_path))
    store.put("chunks/7/part", b"early")
    remove = os.rmdir

    def write_first(path: str, **options: int | None) -> None:
        monkeypatch.setattr(os, "rmdir", remove)
        store.put("chunks/7/late", b"late")
        remove(path, **options)

    monkeypatch.setattr(os, "rmdir", write_first)
    store.delete_folder("chunks/7")
    assert list(store.list("")) == []


def test_a_run_that_does_not_exist_is_named_and_not_made(tmp_path: Path) -> None:
    missing = tmp_path / "runs" / "none"
    with pytest.raises(DataError, match=f"{missing} does not exist; check the run's URI"):
        open_store(str(missing)).get("config.json")
    assert not open_store(str(missing)).exists("config.json")
    assert list(open_store(str(missing)).list("")) == []
    assert not missing.parent.exists()


def test_a_file_where_a_directory_should_be_is_a_wrong_configuration(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    with pytest.raises(ConfigurationError, match="cannot be used as a store"):
        open_store(str(tmp_path / "file")).put("key", b"")
    with pytest.raises(ConfigurationError, match="cannot be used as a store"):
        open_store(str(tmp_path)).put("file/key", b"")
    with pytest.raises(ConfigurationError, match="cannot be used as a store"):
        open_store(os.devnull).put("key", b"")
    assert (tmp_path / "file").read_text() == "mine"
    assert files_below(tmp_path) == ["file"]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_directory_without_rights_is_a_wrong_configuration(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    with pytest.raises(ConfigurationError, match="Permission denied"):
        open_store(str(tmp_path / "run")).put("key", b"")
    tmp_path.chmod(0o700)


def test_paths_and_file_uris_are_the_same_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "with space"
    open_store(str(folder)).put("key", b"1")
    assert open_store(folder.as_uri()).get("key") == b"1"
    monkeypatch.chdir(tmp_path)
    assert open_store("with space").uri == str(folder)
    assert open_store(open_store("with space").uri).get("key") == b"1"


@pytest.mark.parametrize(
    "uri",
    ["", "gs://bucket/run", "s3:/bucket", "s3://", "s3://Bad_Bucket", "s3://bucket/../x", "http://x/y", "file://h/x"],
)
def test_uris_that_name_no_store_are_refused(uri: str) -> None:
    with pytest.raises(ConfigurationError, match="expected"):
        open_store(uri)


@pytest.mark.parametrize("below", ["", "runs"])
def test_a_link_that_leads_nowhere_is_named(tmp_path: Path, below: str) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "away")
    with pytest.raises(ConfigurationError, match=r"link is a link to .*away, which does not exist"):
        open_store(str(tmp_path / "link" / below)).put("folder/object", b"")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_a_pipe_is_refused_without_waiting_for_its_other_end(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "object")
    with pytest.raises(DataError, match="object is no regular file; expected an object that nashdex wrote"):
        open_store(str(tmp_path)).get("object")


def test_a_link_in_a_circle_is_no_folder(tmp_path: Path) -> None:
    store = open_store(str(tmp_path))
    store.put("run/config.json", b"{}")
    (tmp_path / "circle").symlink_to("circle")
    (tmp_path / "nowhere").symlink_to("missing")
    (tmp_path / "same").symlink_to("run")
    assert list(store.folders()) == ["run", "same"]
