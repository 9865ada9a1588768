"""Write the WorkflowTemplates from the plan: ``make chart``. With --check, name the files that are stale.

They are written twice, because neither Flux nor an archive follows a link out of the chart's folder.
"""

import sys
from collections.abc import Iterator
from pathlib import Path

from argo_templates import TEMPLATES

ROOT = Path(__file__).parents[1]
FOLDERS = (Path("argo"), Path("helm/nashdex/argo"))
MARK = "# Made by `make chart` from scripts/argo_templates.\n"


def files() -> Iterator[tuple[Path, str]]:
    """Yield every file with its text."""
    for name, build in TEMPLATES.items():
        text = MARK + build().text
        for folder in FOLDERS:
            yield folder / f"{name}.yaml", text


def main() -> int:
    """Write the files, or check them; return the exit status."""
    check = sys.argv[1:] == ["--check"]
    stale = [(path, text) for path, text in files() if not _is_current(ROOT / path, text)]
    if not check:
        for path, text in stale:
            (ROOT / path).write_text(text)
        return 0
    if stale:
        sys.stderr.write(f"not current: {', '.join(str(path) for path, _ in stale)}; run 'make chart'\n")
    return 1 if stale else 0


def _is_current(path: Path, text: str) -> bool:
    return path.exists() and path.read_text() == text


if __name__ == "__main__":
    sys.exit(main())
