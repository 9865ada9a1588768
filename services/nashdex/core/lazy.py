"""Modules that are imported when they are first used."""

from importlib import import_module
from types import ModuleType


class LazyModule(ModuleType):
    """Stands for the module ``name`` and imports it when one of its attributes is first read.

    For files that settings and ``--help`` read too: an oracle's file holds its settings beside its algorithm, and torch
    takes seconds to import.
    """

    def __getattr__(self, attribute: str) -> object:
        return getattr(import_module(self.__name__), attribute)
