"""The page's scripts for one format, built by Node on first use and kept beside their sources."""

import hashlib
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from nashdex.core.errors import ConfigurationError, TryAgainError
from nashdex.games.showdown.gateway import find_node, load_gateway_settings

_BUILD_SECONDS = 600
_MESSAGE_CHARACTERS = 800

OnBuild = Callable[[str], object]
"""Called with a line for people before what takes a minute or more."""


@dataclass(frozen=True, slots=True)
class Bundle:
    """What the page of one format consists of, besides policies."""

    format: str
    engine: bytes
    """The worker's script: simulator, tracker, encoder."""
    runtime: bytes
    """The WebAssembly that runs ONNX."""
    script: str
    style: str


def page_directory() -> Path:
    """Return the folder of the page's npm package, beside the gateway's."""
    return load_gateway_settings().directory.parent / "page"


def cache_directory() -> Path:
    """Return the folder of what is built once: bundles and exported networks."""
    return page_directory() / ".cache"


def format_bundle(format_id: str, teams: Sequence[str], on_build: OnBuild) -> Bundle:
    """Return the bundle of a Showdown format; build it if the sources or teams have changed.

    Raises:
        ConfigurationError: Node or the page's sources are missing.
        TryAgainError: npm could not install the bundler.
    """
    directory = page_directory()
    if not (directory / "package.json").is_file():
        raise ConfigurationError(f"{directory} has no page to build; expected nashdex's own folder services/page")
    kept = cache_directory() / "bundles" / _key(directory, format_id, teams)
    if not (kept / "done").is_file():
        _install(directory, on_build)
        on_build(f"building the page of {format_id}, once: up to a minute")
        _build(directory, format_id, teams, kept)
    return Bundle(
        format_id,
        (kept / "engine.js").read_bytes(),
        (kept / "runtime.wasm").read_bytes(),
        (kept / "page.js").read_text("utf-8").replace("</script", "<\\/script").strip(),
        (kept / "page.css").read_text("utf-8").strip(),
    )


def _key(directory: Path, format_id: str, teams: Sequence[str]) -> str:
    digest = hashlib.sha256("\n".join([format_id, *teams]).encode())
    for path in _sources(directory):
        digest.update(path.read_bytes())
    return f"{format_id}-{digest.hexdigest()[:16]}"


def _sources(directory: Path) -> Iterator[Path]:
    for package in (directory, directory.parent / "showdown"):
        yield package / "package-lock.json"
        for folder in ("build", "src"):
            yield from sorted(path for path in (package / folder).rglob("*") if path.is_file())


def _install(directory: Path, on_build: OnBuild) -> None:
    """Install the bundler and the runtime, exactly as the lock says."""
    lock, stamp = directory / "package-lock.json", directory / "node_modules" / ".current"
    if stamp.is_file() and stamp.stat().st_mtime >= lock.stat().st_mtime:
        return
    npm = shutil.which("npm")
    if npm is None:
        raise ConfigurationError("no npm found: put Node's npm on PATH, or run `make setup` in the checkout")
    on_build(f"installing the packages of {directory}, once: a minute or two")
    done = _run([npm, "ci", "--no-progress", "--loglevel=error"], directory)
    if done.returncode:
        raise TryAgainError(f"npm could not install the page's packages ({_problem(done)}); try again with a network")
    stamp.touch()


def _build(directory: Path, format_id: str, teams: Sequence[str], kept: Path) -> None:
    kept.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=kept.parent) as folder:
        list_of_teams, out = Path(folder) / "teams.txt", Path(folder) / "out"
        list_of_teams.write_text("\n".join(teams), "utf-8")
        node = find_node(load_gateway_settings())
        done = _run(
            [node, "build/bundle.js", "--format", format_id, "--teams", str(list_of_teams), "--out", str(out)],
            directory,
        )
        if done.returncode:
            raise ConfigurationError(f"the page of {format_id} could not be built: {_problem(done)}")
        shutil.rmtree(kept, ignore_errors=True)
        # Another process may have built the same meanwhile.
        if not kept.exists():
            os.rename(out, kept)  # noqa: PTH104 - a folder, within one file system


def _run(command: Sequence[str], directory: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(  # noqa: S603 - the page's own build
        command, cwd=directory, capture_output=True, text=True, timeout=_BUILD_SECONDS, check=False
    )


def _problem(done: subprocess.CompletedProcess[str]) -> str:
    return " ".join(done.stderr.split())[:_MESSAGE_CHARACTERS] or f"exit code {done.returncode}"
