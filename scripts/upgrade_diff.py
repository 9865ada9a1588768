"""Compare two versions of the chart: ``upgrade_diff.py OLD NEW``, two folders.

Renders both with the default values and with every file of OLD's ci values, as it may be installed. Prints
what changes, and which values NEW rejects; the changelog must say what to write instead. Exits with 1 where ``helm
upgrade`` fails or loses data: a changed field that Kubernetes never changes, or a volume that is gone.
"""

import difflib
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import helm_python
import yaml
from helm_python import Chart

IMMUTABLE = {
    "Deployment": ("spec", "selector"),
    "StatefulSet": ("spec", "selector"),
    "PersistentVolumeClaim": ("spec", "accessModes"),
    "RoleBinding": ("roleRef",),
    "Service": ("spec", "clusterIP"),
}
"""Fields that an API server never changes, by kind. A claim may also not shrink, nor change its storage class."""
Objects = dict[str, dict[str, Any]]


def main(old: Path, new: Path) -> int:
    """Print the differences; return the exit status."""
    problems = []
    charts = Chart.load(old), Chart.load(new)
    for path in [None, *sorted((old / "ci").glob("*-values.yaml"))]:
        values = yaml.safe_load(path.read_text()) if path else {}
        name = path.name if path else "default values"
        before, after = rendered(charts[0], values), rendered(charts[1], values)
        if isinstance(before, str):
            problems.append(f"{name}: the old version rejects its own values: {before}")
            continue
        if isinstance(after, str):
            sys.stdout.write(f"== {name}: the new version rejects these values: {after}\n")
            continue
        sys.stdout.write(f"== {name}\n{''.join(difference(before, after))}")
        problems += [f"{name}: {problem}" for problem in broken(before, after)]
    sys.stderr.write("".join(f"{problem}\n" for problem in problems))
    return 1 if problems else 0


def rendered(chart: Chart, values: dict[str, Any]) -> Objects | str:
    """Return the chart's objects by kind and name, or why it does not render."""
    try:
        texts = chart.render(values, name="nashdex", namespace="research")
    except helm_python.HelmError as error:
        return " ".join(str(error).split())
    documents = [each for path, text in texts.items() if path.endswith(".yaml") for each in yaml.safe_load_all(text)]
    # Without Secrets, whose generated content differs each time and is nobody's to print.
    kept = [each for each in documents if each and each["kind"] != "Secret"]
    return {f"{each['kind']}/{each['metadata']['name']}": each for each in kept}


def difference(before: Objects, after: Objects) -> Iterator[str]:
    """Yield the lines of a unified difference of every object."""
    for name in sorted(before.keys() | after.keys()):
        old, new = (
            yaml.safe_dump(side[name]).splitlines(keepends=True) if name in side else [] for side in (before, after)
        )
        yield from difflib.unified_diff(old, new, f"old {name}", f"new {name}", n=1)


def broken(before: Objects, after: Objects) -> Iterator[str]:
    """Yield what an upgrade cannot do, or loses."""
    for name, old in before.items():
        kind = old["kind"]
        if name not in after:
            if kind == "PersistentVolumeClaim":
                yield f"{name} is gone, and its data with it"
            continue
        path = IMMUTABLE.get(kind)
        if path and at(old, path) != at(after[name], path):
            yield f"{name}: {'.'.join(path)} cannot change"
        if kind == "PersistentVolumeClaim" and at(old, ("spec", "storageClassName")) != at(
            after[name], ("spec", "storageClassName")
        ):
            yield f"{name}: spec.storageClassName cannot change"


def at(document: Any, path: tuple[str, ...]) -> Any:  # noqa: ANN401 - any part of a YAML document
    """Return a field; None if it is absent."""
    for key in path:
        document = (document or {}).get(key)
    return document


if __name__ == "__main__":
    if len(sys.argv) != 3:  # noqa: PLR2004 - the program's name and two folders
        sys.exit("expected OLD NEW")
    sys.exit(main(Path(sys.argv[1]), Path(sys.argv[2])))
