"""Metamon's published models by name: default epoch, spaces and vocabulary, and where their files are. No torch."""

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from nashdex.core.errors import ConfigurationError

CACHE_VARIABLE: Final = "METAMON_CACHE_DIR"
"""The folder that metamon keeps downloads in."""
_MODELS_FOLDER: Final = "pretrained_models"
_HUB_FOLDER: Final = "models--jakegrigsby--metamon"
_PERCEIVER: Final = "it embeds a decision by a Perceiver"
_GRU_MEMORY: Final = "it embeds a decision by a Perceiver and remembers by a GRU"
_GROUPED: Final = "it reads the Grouped observation space"


@dataclass(frozen=True, slots=True)
class PublishedModel:
    """What the name of a model says, and its files do not."""

    folder: str
    epoch: int
    """Epoch that metamon plays by default."""
    observation_space: str = "DefaultObservationSpace"
    action_space: str = "MinimalActionSpace"
    vocabulary: str = "allreplays-v3"
    reward: str = "DefaultShapedReward"
    turn_heads: int = 5
    """Heads of the transformer over one decision's tokens."""
    num_decisions: int = 200
    """Decisions that the memory reaches back."""
    unsupported: str = ""
    """Why it cannot be imported; empty if it can."""

    def paths(self, root: Path, epoch: int | None = None) -> Iterator[Path]:
        """Yield where the file may be below metamon's cache folder: copied there, or downloaded from the hub."""
        weights = (
            Path(self.folder) / "ckpts" / "policy_weights" / f"policy_epoch_{self.epoch if epoch is None else epoch}.pt"
        )
        yield root / _MODELS_FOLDER / weights
        snapshots = root / _MODELS_FOLDER / _HUB_FOLDER / "snapshots"
        if snapshots.is_dir():
            yield from (snapshot / weights for snapshot in sorted(snapshots.iterdir()))


def _paper(folder: str, epoch: int = 40) -> PublishedModel:
    return PublishedModel(folder, epoch)


def _synthetic(folder: str, epoch: int) -> PublishedModel:
    return PublishedModel(folder, epoch, turn_heads=8, num_decisions=128)


def _challenge(folder: str, epoch: int, observation_space: str, unsupported: str = _PERCEIVER) -> PublishedModel:
    return PublishedModel(
        folder,
        epoch,
        observation_space=observation_space,
        action_space="DefaultActionSpace",
        vocabulary="DefaultObservationSpace-v1",
        reward="AggressiveShapedReward",
        unsupported=unsupported,
    )


_PREVIEW: Final = "TeamPreviewObservationSpace"
_OPPONENT: Final = "OpponentMoveObservationSpace"
_OWN_TERA: Final = "it was trained on metamon's PAC observation spaces, which show the own tera types"

PUBLISHED_MODELS: Final = {
    "SmallIL": _paper("small-il"),
    "SmallILFA": _paper("small-il-filled-actions"),
    "SmallRL": _paper("small-rl"),
    "SmallRL_ExtremeFilter": _paper("small-rl-exp-extreme", 38),
    "SmallRL_BinaryFilter": _paper("small-rl-binary"),
    "SmallRL_Aug": _paper("small-rl-aug"),
    "SmallRL_MaxQ": _paper("small-rl-maxq"),
    "MediumIL": _paper("medium-il"),
    "MediumRL": _paper("medium-rl"),
    "MediumRL_Aug": _paper("medium-rl-aug"),
    "MediumRL_MaxQ": _paper("medium-rl-maxq"),
    "LargeIL": _paper("large-il"),
    "LargeRL": _paper("large-rl"),
    "SyntheticRLV0": _synthetic("synthetic-rl-v0", 40),
    "SyntheticRLV1": _synthetic("synthetic-rl-v1", 40),
    "SyntheticRLV1_SelfPlay": _synthetic("synthetic-rl-v1+sp", 48),
    "SyntheticRLV1_PlusPlus": _synthetic("synthetic-rl-v1++", 38),
    "SyntheticRLV2": _synthetic("synthetic-rl-v2", 48),
    "SmallRLGen9Beta": _challenge("small-rl-gen9beta", 24, _PREVIEW, _OWN_TERA),
    "Minikazam": _challenge("minikazam", 40, _OPPONENT, _GRU_MEMORY),
    "Abra": _challenge("abra", 40, _PREVIEW, _OWN_TERA),
    "Kadabra": _challenge("kadabra", 46, _PREVIEW, _OWN_TERA),
    "Kadabra2": _challenge("kadabra2", 44, _OPPONENT),
    "Kadabra3": _challenge("kadabra3", 20, _OPPONENT),
    "Kadabra4": _challenge("kadabra4", 50, _OPPONENT),
    "Alakazam": _challenge("alakazam", 8, _OPPONENT),
    "Superkazam": _challenge("superkazam", 50, _OPPONENT),
    "Kakuna": _challenge("kakuna", 34, _OPPONENT),
    "TaurosV0": _challenge("tauros-v0", 62, "GroupedObservationSpace", _GROUPED),
}
"""By metamon's name of the model."""


def published_model(name: str) -> PublishedModel:
    """Return the model that metamon calls ``name``.

    Raises:
        ConfigurationError: metamon has published none of that name, or it cannot be imported.
    """
    found = PUBLISHED_MODELS.get(name)
    if found is None:
        raise ConfigurationError(f"unknown model {name!r}: expected a file, or one of {_listed(PUBLISHED_MODELS)}")
    if found.unsupported:
        able = _listed(name for name, model in PUBLISHED_MODELS.items() if not model.unsupported)
        raise ConfigurationError(f"{name} cannot be imported: {found.unsupported}; expected one of {able}")
    return found


def find_checkpoint(name: str, epoch: int | None = None) -> Path:
    """Return the file of a published model below ``METAMON_CACHE_DIR``.

    Raises:
        ConfigurationError: the variable is unset, or the file is not there.
    """
    model = published_model(name)
    root = os.environ.get(CACHE_VARIABLE)
    if not root:
        raise ConfigurationError(f"set {CACHE_VARIABLE} to the folder that metamon downloads to, or name a file")
    paths = list(model.paths(Path(root), epoch))
    for path in paths:
        if path.is_file():
            return path
    raise ConfigurationError(
        f"{name} is not there: expected {paths[0]}; download it from the Hugging Face repository jakegrigsby/metamon"
    )


def _listed(names: Iterable[str]) -> str:
    return ", ".join(names)
