"""The local runner's display: bars on a terminal, plain lines elsewhere."""

import time
from types import TracebackType
from typing import Protocol, Self, TextIO

from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TaskID, TextColumn

from nashdex.core.redaction import clean
from nashdex.local.step_progress import StepProgress, describe_seconds

_LINE_EVERY_SECONDS = 10.0


class Display(Protocol):
    """Shows a run's progress. A context manager. This protocol is the whole of the surface."""

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...

    def step_began(self, progress: StepProgress) -> None:
        """Show that a step has started."""

    def step_moved(self, progress: StepProgress) -> None:
        """Show the progress that a shard has reported."""

    def step_ended(self, progress: StepProgress, seconds: float) -> None:
        """Show that every shard of a step has finished, in ``seconds``."""

    def say(self, text: str) -> None:
        """Show lines that stay, such as a summary or a retry."""


def open_display(stream: TextIO) -> Display:
    """Return the display that suits ``stream``."""
    return Bars(stream) if stream.isatty() else Lines(stream)


class Lines:
    """Plain lines: one at the end of each step, and one every ten seconds of a longer step."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._said_at = 0.0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        del kind, error, trace

    def step_began(self, progress: StepProgress) -> None:
        """Write nothing yet: a short step gets one line at its end."""
        del progress
        self._said_at = time.monotonic()

    def step_moved(self, progress: StepProgress) -> None:
        """Write the step's progress, unless a line was written within the last ten seconds."""
        now = time.monotonic()
        if now - self._said_at >= _LINE_EVERY_SECONDS:
            self._said_at = now
            self.say(f"{_title(progress)}: {progress.describe(now)}")

    def step_ended(self, progress: StepProgress, seconds: float) -> None:
        """Write that the step has finished."""
        self.say(_ending(progress, seconds))

    def say(self, text: str) -> None:
        """Write ``text`` and flush it, so that pipes see it at once."""
        self._stream.write(f"{clean(text)}\n")
        self._stream.flush()


class Bars:
    """A bar for each running step, by rich. Finished steps stay above as lines."""

    def __init__(self, stream: TextIO) -> None:
        self._console = Console(file=stream, highlight=False)
        self._bars = Progress(
            SpinnerColumn(),
            TextColumn("{task.description}"),
            BarColumn(bar_width=30),
            TextColumn("{task.fields[detail]}"),
            console=self._console,
            transient=True,
        )
        self._tasks: dict[int, TaskID] = {}

    def __enter__(self) -> Self:
        self._bars.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        del kind, error, trace
        self._bars.stop()

    def step_began(self, progress: StepProgress) -> None:
        """Add the step's bar. It pulses until the step reports its total."""
        self._tasks[id(progress)] = self._bars.add_task(_title(progress), total=None, detail="")

    def step_moved(self, progress: StepProgress) -> None:
        """Move the bar."""
        self._bars.update(
            self._tasks[id(progress)],
            completed=progress.done,
            total=progress.total or None,
            detail=progress.describe(time.monotonic()),
        )

    def step_ended(self, progress: StepProgress, seconds: float) -> None:
        """Replace the bar by a line."""
        self._bars.remove_task(self._tasks.pop(id(progress)))
        self.say(_ending(progress, seconds))

    def say(self, text: str) -> None:
        """Print above the bars. Brackets in messages are text, not markup."""
        self._console.print(clean(text), markup=False, soft_wrap=True)


def _title(progress: StepProgress) -> str:
    return f"iteration {progress.iteration} {progress.step}"


def _ending(progress: StepProgress, seconds: float) -> str:
    did = f", {progress.did}" if progress.did else ""
    return f"{_title(progress)}: done in {describe_seconds(seconds)}{did}"
