"""Runs that are created from a file of settings."""

from pathlib import Path

from nashdex.runs.creation import Run, create_run, prepare_run

TINY_TRAINING = """
[network]
kind = "slots"
embedding_size = 4
entity_size = 8
hidden_size = 32
num_hidden_layers = 1
[collect]
battles = 2
shards = 1
[train]
first = "fresh"
"""
"""Sections of a file of settings: a small untrained network, and hardly anything to learn from."""


def begin_run(store_uri: str, config: Path, *, name: str | None = None, overrides: list[str] | None = None) -> Run:
    """Prepare a run and create it."""
    return create_run(store_uri, prepare_run(config, name=name, overrides=overrides))
