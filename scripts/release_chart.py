"""Make the chart of a release: ``release_chart.py OUTPUT NAME=REFERENCE...``, with all five images by digest.

Copies helm/nashdex to OUTPUT and writes the images' references, such as
``control=ghcr.io/nashdex/nashdex/control@sha256:…``, into its values.yaml. Whoever installs that chart runs exactly the
images that the release built, scanned and signed.
"""

import re
import shutil
import sys
from pathlib import Path

CHART = Path(__file__).parents[1] / "helm" / "nashdex"
NAMES = ("showdown", "collector", "evaluator", "trainer", "control")
BY_DIGEST = re.compile(r"[a-z0-9./:_-]+@sha256:[0-9a-f]{64}")


def main(target: Path, references: dict[str, str]) -> None:
    """Write the chart.

    Raises:
        SystemExit: an image is missing, or is not named by digest.
    """
    if set(references) != set(NAMES):
        sys.exit(f"expected a reference for each of {', '.join(NAMES)}; got {', '.join(references) or 'none'}")
    for name, reference in references.items():
        if not BY_DIGEST.fullmatch(reference):
            sys.exit(f"{name}={reference}: expected an image by digest, REPOSITORY@sha256:…")
    shutil.copytree(CHART, target)
    values = target / "values.yaml"
    head, key, rest = values.read_text().partition("  references:\n")
    for name, reference in references.items():
        rest, count = re.subn(rf'^(    {name}: )""$', rf'\1"{reference}"', rest, count=1, flags=re.MULTILINE)
        assert count == 1, f"values.yaml has images.references.{name}"
    values.write_text(head + key + rest)


if __name__ == "__main__":
    if len(sys.argv) == 1:
        sys.exit("expected OUTPUT NAME=REFERENCE...")
    main(Path(sys.argv[1]), dict(argument.split("=", 1) for argument in sys.argv[2:]))
