"""Golden data of metamon's own code (tests/data/metamon)."""

import gzip
import json
from pathlib import Path
from typing import Any, Final

from nashdex_metamon.checkpoints.archive import Import

METAMON_DATA: Final = Path(__file__).parents[1] / "data" / "metamon"
BATTLES: Final = tuple(sorted(path.name.partition(".")[0] for path in (METAMON_DATA / "battles").iterdir()))


def amago_mini(*, strict_mask: bool = True) -> Import:
    """Return the import of the small AMAGO agent among the golden data."""
    return Import(
        checkpoint=METAMON_DATA / "checkpoints" / "amago-mini" / "ckpts" / "policy_weights" / "policy_epoch_0.pt",
        vocabulary=METAMON_DATA / "tokenizers" / "tok_allreplaysv3.json",
        name="amago-mini",
        observation_space="DefaultObservationSpace",
        action_space="MinimalActionSpace",
        reward="DefaultShapedReward",
        turn_heads=5,
        num_decisions=16,
        strict_mask=strict_mask,
    )


def golden(kind: str, battle: str) -> dict[str, Any]:
    """Return the data of one battle: ``battles``, ``spaces`` or ``baselines``."""
    with gzip.open(METAMON_DATA / kind / f"{battle}.json.gz") as file:
        data: dict[str, Any] = json.load(file)
    return data
