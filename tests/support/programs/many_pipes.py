"""Make large pipes until the system refuses more to this user, then open a gateway and ask it for a team."""

import fcntl
import itertools
import os
import sys

from nashdex.games.showdown.gateway import Gateway

SET_SIZE = 1031
SIZE_BYTES = 1 << 20
ENOUGH = 1000
"""Pipes of a user whom the system refuses nothing, far more than it allows others."""


def main() -> int:
    """Return 0 if the gateway answers, or 77 if the system refuses no pipe."""
    for number in itertools.count():
        read_fd, _ = os.pipe()
        try:
            fcntl.fcntl(read_fd, SET_SIZE, SIZE_BYTES)
        except PermissionError:
            break
        if number == ENOUGH:
            return 77
    gateway = Gateway("gen1randombattle")
    (team,) = gateway.generate(1, "0" * 16)
    gateway.close()
    return 0 if team else 1


if __name__ == "__main__":
    sys.exit(main())
