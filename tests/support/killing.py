"""Processes of a local run that are killed at random, as out-of-memory killers and nodes do."""

import random
import subprocess

import psutil


def family(process_id: int) -> list[psutil.Process]:
    """Return a process and all that it started, itself first."""
    process = psutil.Process(process_id)
    return [process, *process.children(recursive=True)]


def kill_one(run: "subprocess.Popen[str]", generator: random.Random) -> str | None:
    """Kill the run, its server of steps, its resource tracker, a step or a gateway; return which."""
    try:
        victim = generator.choice(family(run.pid))
        name = " ".join(victim.cmdline())
        victim.kill()
    except psutil.Error:
        return None
    return name
