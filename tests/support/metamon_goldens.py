"""Golden data of metamon's own code (tests/data/metamon)."""

import gzip
import json
from pathlib import Path
from typing import Any, Final

METAMON_DATA: Final = Path(__file__).parents[1] / "data" / "metamon"
BATTLES: Final = tuple(sorted(path.name.partition(".")[0] for path in (METAMON_DATA / "battles").iterdir()))


def golden(kind: str, battle: str) -> dict[str, Any]:
    """Return the data of one battle: ``battles``, ``spaces`` or ``baselines``."""
    with gzip.open(METAMON_DATA / kind / f"{battle}.json.gz") as file:
        data: dict[str, Any] = json.load(file)
    return data
