"""``nashdex`` and ``python -m nashdex``: the command line."""

import sys
from typing import NoReturn


def main() -> NoReturn:
    """Run the command line. Ctrl-C while it is imported prints a line instead of a traceback."""
    try:
        from nashdex import cli  # noqa: PLC0415 - within the try
    except KeyboardInterrupt:
        sys.stderr.write("error: interrupted\n")
        sys.exit(130)
    cli.main()


if __name__ == "__main__":
    main()
