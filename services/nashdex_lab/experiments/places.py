"""Where the runs of an experiment work, and where the logs of its commands are."""

from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from nashdex.core.machine import state_folder
from nashdex.runs.creation import PreparedRun, check_here
from nashdex.store.naming import parse_uri
from nashdex_lab.experiments import commands
from nashdex_lab.experiments.plan import Plan, PlannedRun


class Place(Protocol):
    """Where runs work: this machine, or a cluster."""

    @property
    def store(self) -> str:
        """URI of the runs' store, for this machine."""

    @property
    def stopped(self) -> str:
        """What the user reads when the experiment was stopped."""

    def check(self, run: PreparedRun) -> None:
        """Check that a run can work there.

        Raises:
            ConfigurationError: it cannot.
        """

    def run_arguments(self, plan: Plan, run: PlannedRun) -> list[str]:
        """Return the arguments of ``nashdex`` that start or continue a run, and end when it does."""


@dataclass(frozen=True)
class ThisMachine:
    """Runs are processes of ``nashdex run``. Implements ``Place``."""

    store: str
    """URI."""
    stopped: str = "stopped; every process has ended; run the same command again to go on"

    def check(self, run: PreparedRun) -> None:
        """Check that this machine has the devices that the run's settings name.

        Raises:
            ConfigurationError: it lacks one.
        """
        check_here(run.settings)

    def run_arguments(self, plan: Plan, run: PlannedRun) -> list[str]:
        """Return the arguments of ``nashdex run``."""
        return commands.run_arguments(plan, run, self.store)


def logs_folder(store_uri: str, experiment: str) -> Path:
    """Return the folder for logs of an experiment's commands: in a local store, else in the user's state folder."""
    place = parse_uri(store_uri)
    return (place if isinstance(place, Path) else state_folder()) / f"{experiment}.logs"
