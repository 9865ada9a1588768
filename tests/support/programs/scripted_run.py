"""A run whose steps only pretend to work: the program that tests of the local runner start.

``scripted_run.py drive RUN_URI SCRATCH`` runs the plan. Its steps are ``scripted_run.py step RUN_URI SCRATCH STEP
ITERATION SHARD``; each does what SCRATCH/behaviour.json says under "STEP/SHARD":

- ``exits``: the exit codes of its first tries, negative for a signal that it sends to itself;
- ``waits``: it never ends by itself; ``stubborn`` besides: not on SIGTERM either;
- ``grandchild``: it starts a process of its own.

Every process writes its id into SCRATCH/pids, every try into SCRATCH/tries.
"""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from nashdex.core.errors import NashdexError
from nashdex.core.steps import StepName
from nashdex.core.stopping import check_stop, install_stop_handlers
from nashdex.local.processes import stop_at_end_of_input
from nashdex.store import open_store
from nashdex.store.attempt import Attempt

GRACE_SECONDS = float(os.environ.get("SCRIPTED_RUN_GRACE_SECONDS", "1"))


def _say(iteration: int) -> None:
    sys.stdout.write(f"iteration {iteration} is done\n")


def drive(run_uri: str, scratch: Path) -> int:
    # Imported here: the steps are many and need none of it.
    from nashdex.local.display import Lines  # noqa: PLC0415
    from nashdex.local.runner import RunnerOptions, run_plan  # noqa: PLC0415
    from nashdex.runs.creation import open_run  # noqa: PLC0415

    options = RunnerOptions(
        num_processes=2,
        logs=scratch / "logs",
        grace_seconds=GRACE_SECONDS,
        num_tries=3,
        first_wait_seconds=0.01,
    )
    me = str(Path(__file__))
    try:
        run_plan(
            open_run(run_uri),
            options=options,
            display=Lines(sys.stdout),
            command=lambda step, iteration, shard: [
                *(sys.executable, me, "step", run_uri, str(scratch)),
                *(step, str(iteration), str(shard)),
            ],
            on_iteration=_say,
        )
    except NashdexError as error:
        sys.stderr.write(f"error: {error}\n")
        return error.exit_code
    return 0


def step(run_uri: str, scratch: Path, name: StepName, iteration: int, shard: int) -> int:
    install_stop_handlers()
    stop_at_end_of_input(GRACE_SECONDS)
    behaviour = json.loads((scratch / "behaviour.json").read_text()).get(f"{name}/{shard}", {})
    tries = scratch / "tries" / f"{iteration}-{name}-{shard}"
    tries.mkdir(parents=True, exist_ok=True)
    number = len(list(tries.iterdir()))
    (tries / str(os.getpid())).touch()
    if behaviour.get("stubborn"):
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    if behaviour.get("grandchild"):
        grandchild = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
        (scratch / "pids" / str(grandchild.pid)).touch()
    (scratch / "pids" / str(os.getpid())).touch()
    with open(int(os.environ["NASHDEX_PROGRESS_FD"]), "w", encoding="utf-8") as progress:  # noqa: PTH123 - a descriptor
        line = {"step": name, "shard": shard, "done": 5, "total": 10, "unit": "battles", "facts": {}}
        progress.write(json.dumps(line) + "\n")
    exits = behaviour.get("exits", [])
    if number < len(exits):
        if exits[number] < 0:
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
            os.kill(os.getpid(), -exits[number])
        sys.stderr.write(f"error: try {number} of {name} went wrong\n")
        return int(exits[number])
    while behaviour.get("waits"):
        time.sleep(0.01)
        try:
            check_stop()
        except NashdexError as stopped:
            return stopped.exit_code
    Attempt(open_store(run_uri), iteration, name, shard).finish({"tries": number + 1})
    return 0


if __name__ == "__main__":
    what, uri, folder, *rest = sys.argv[1:]
    if what == "drive":
        sys.exit(drive(uri, Path(folder)))
    sys.exit(step(uri, Path(folder), StepName(rest[0]), int(rest[1]), int(rest[2])))
