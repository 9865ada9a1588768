"""Print an image's requirements, one per line: ``requirements.py EXTRA < pyproject.toml``.

The layer of an image's packages depends on these lines, not on the rest of pyproject.toml.
"""

import re
import sys
import tomllib
from collections.abc import Iterator, Mapping

EXTRAS_OF_OUR_OWN = re.compile(r"nashdex\[([a-z,]+)\]")


def requirements(extras: Mapping[str, list[str]], names: list[str]) -> Iterator[str]:
    """Yield the requirements of extras; an extra of this project is replaced by its requirements."""
    for requirement in (requirement for name in names for requirement in extras[name]):
        if inner := EXTRAS_OF_OUR_OWN.fullmatch(requirement):
            yield from requirements(extras, inner[1].split(","))
        else:
            yield requirement


if __name__ == "__main__":
    project = tomllib.loads(sys.stdin.read())["project"]
    lines = {*project["dependencies"], *requirements(project["optional-dependencies"], sys.argv[1:])}
    sys.stdout.write("".join(f"{line}\n" for line in sorted(lines)))
