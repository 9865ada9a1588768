"""TensorBoard: event files in a folder."""

from collections.abc import Mapping
from pathlib import Path

from torch.utils.tensorboard import SummaryWriter


class TensorBoard:
    """Writes FOLDER/RUN/NAME. A resumed training adds a file; TensorBoard shows the folder's files as one."""

    def __init__(self, folder: str, run: str, name: str) -> None:
        self._writer = SummaryWriter(str(Path(folder) / run / name))

    def record(self, decisions: int, values: Mapping[str, float]) -> None:
        """Add a point to the curve of each value."""
        for name, value in values.items():
            self._writer.add_scalar(name, value, decisions)

    def close(self) -> None:
        """Write what is not yet written."""
        self._writer.close()
