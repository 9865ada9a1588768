"""``python runs.py CONFIG STORE``: one run after another in one process, until one ends with another code than 0.

A run's documents grow with its iterations, and so does what a process needs to read them. What one process keeps from
run to run must not grow.
"""

import sys
from itertools import count

from nashdex_cli.cli import run_command_line

if __name__ == "__main__":
    config, store = sys.argv[1:]
    for number in count():
        code = run_command_line(["run", config, "--store", store, "--run", f"short-{number}"])
        if code:
            sys.exit(code)
