"""Pin base images and GitHub actions by digest: ``pin.py [--check] [FOLDER]``, or ``make pin``.

A pinned reference keeps its tag, so that people and Dependabot can read it: ``image:tag@sha256:…`` and
``owner/name@commit # tag``. Pinning asks the registries and GitHub. With --check, nothing is asked: every reference
without a digest is named, and the exit status is 1. The release workflow begins with that.
"""

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

IMAGE = re.compile(
    r"(?P<before>\b[A-Z]+_IMAGE(?:=|: ))(?P<reference>[a-z0-9./-]+:[\w.-]+)(?P<digest>@sha256:[0-9a-f]{64})?$"
)
ACTION = re.compile(r"(?P<before>uses: )(?P<name>[\w.-]+/[\w./-]+)@(?P<reference>[\w.-]+)(?: # \S+)?$")
COMMIT = re.compile(r"[0-9a-f]{40}")


def main(root: Path, *, check: bool) -> int:
    """Check or pin every reference below ``root``; return the exit status."""
    missing = []
    for path in files(root):
        lines = path.read_text().splitlines()
        for number, line in enumerate(lines):
            name = unpinned(line)
            if name is not None and check:
                missing.append(f"{path.relative_to(root)}:{number + 1}: {name} has no digest")
            elif name is not None:
                lines[number] = pinned(line)
        if not check:
            path.write_text("\n".join(lines) + "\n")
    sys.stderr.write("".join(f"{problem}; run 'make pin' where its registry is reachable\n" for problem in missing))
    return 1 if missing else 0


def files(root: Path) -> Iterator[Path]:
    """Yield the files that name images and actions."""
    yield from sorted(root.glob("images/*/Dockerfile"))
    yield from sorted(root.glob(".github/**/*.yml"))


def unpinned(line: str) -> str | None:
    """Return the reference in a line that has no digest; None if there is none."""
    image, action = IMAGE.search(line), ACTION.search(line)
    if image and not image["digest"]:
        return image["reference"]
    if action and not COMMIT.fullmatch(action["reference"]):
        return f"{action['name']}@{action['reference']}"
    return None


def pinned(line: str) -> str:
    """Return a line with its reference pinned."""
    if image := IMAGE.search(line):
        return f"{line}@{image_digest(image['reference'])}"
    action = ACTION.search(line)
    assert action is not None, "only lines with a reference are pinned"
    name, tag = action["name"], action["reference"]
    return f"{line[: action.start()]}{action['before']}{name}@{commit(name, tag)} # {tag}"


def image_digest(reference: str) -> str:
    """Return the digest of an image's manifest list in its registry."""
    return output("docker", "buildx", "imagetools", "inspect", reference, "--format", "{{.Manifest.Digest}}")


def commit(name: str, tag: str) -> str:
    """Return the commit of an action's tag; for an annotated tag, the commit that it names."""
    url = f"https://github.com/{'/'.join(name.split('/')[:2])}"
    found = output("git", "ls-remote", "--exit-code", url, f"refs/tags/{tag}", f"refs/tags/{tag}^{{}}")
    return found.splitlines()[-1].split()[0]


def output(*command: str) -> str:
    """Return what a command prints; end with its message if it fails. Arguments come from this repository."""
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}: {done.stderr.strip()}")
    return done.stdout.strip()


if __name__ == "__main__":
    folders = [argument for argument in sys.argv[1:] if argument != "--check"]
    sys.exit(main(Path(folders[0]) if folders else Path(__file__).parents[1], check="--check" in sys.argv))
