"""The command line: one module a command, and how failures are reported."""
