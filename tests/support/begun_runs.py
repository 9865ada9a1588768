"""Runs that are created from a file of settings."""

from pathlib import Path

from nashdex.runs.creation import Run, create_run, prepare_run


def begin_run(store_uri: str, config: Path, *, name: str | None = None, overrides: list[str] | None = None) -> Run:
    """Prepare a run and create it."""
    return create_run(store_uri, prepare_run(config, name=name, overrides=overrides))
