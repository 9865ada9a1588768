"""``python -m nashdex``: the command line."""

from nashdex.cli import main

if __name__ == "__main__":
    main()
