"""Write Grafana's dashboards to helm/nashdex/files/dashboards, or check them with ``--check``: ``make dashboards``.

To change a dashboard, edit its module in scripts/dashboards and run this. Tests check that the files are current, and
that every expression uses metrics and labels that exist.
"""

import sys
from pathlib import Path

from dashboards.collection import COLLECTION
from dashboards.grafana import to_json
from dashboards.metagame import METAGAME
from dashboards.operations import OPERATIONS
from dashboards.run_overview import RUN_OVERVIEW
from dashboards.training import TRAINING

FOLDER = Path(__file__).parents[1] / "helm" / "nashdex" / "files" / "dashboards"
DASHBOARDS = {
    "run-overview": RUN_OVERVIEW,
    "training-stability": TRAINING,
    "metagame": METAGAME,
    "collection": COLLECTION,
    "operations": OPERATIONS,
}


def main() -> int:
    """Write the files, or check them; return the exit status."""
    texts = {FOLDER / f"{name}.json": to_json(dashboard) for name, dashboard in DASHBOARDS.items()}
    stale = [path for path, text in texts.items() if not path.exists() or path.read_text() != text]
    if sys.argv[1:] == ["--check"]:
        if stale:
            sys.stderr.write(f"not current: {', '.join(path.name for path in stale)}; run 'make dashboards'\n")
        return 1 if stale else 0
    for path in stale:
        path.write_text(texts[path])
    return 0


if __name__ == "__main__":
    sys.exit(main())
