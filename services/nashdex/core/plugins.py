"""Registries of plug-ins: entries that nashdex ships, and entries that installed packages add by entry point.

A package adds an entry in its ``pyproject.toml``, for example::

    [project.entry-points."nashdex.meta_solvers"]
    softmax = "my_package.softmax:SOFTMAX"

Only installed packages count. Settings files and stores hold names, which are looked up here; they cannot name code to
import.
"""

import sys
from collections.abc import Iterable, Mapping
from contextlib import suppress
from functools import cached_property, lru_cache
from importlib.metadata import EntryPoint, entry_points
from pkgutil import resolve_name
from typing import Any, Final, Generic, TypeVar
from weakref import WeakSet

from nashdex.core.errors import ConfigurationError
from nashdex.core.user_input import expected_one_of

Entry = TypeVar("Entry")
_GROUPS: Final = "nashdex."
"""How every entry point group of nashdex begins."""


@lru_cache(maxsize=1)
def _installed(_path: tuple[str, ...]) -> tuple[EntryPoint, ...]:
    """Return the entry points for nashdex of all packages on ``sys.path``: files are read once for all registries."""
    every = entry_points()
    return tuple(point for group in every.groups if group.startswith(_GROUPS) for point in every.select(group=group))


class Names:
    """Names of entries of one type: built-in ones, then the ones of installed packages.

    Args:
        group: the entry point group, such as ``nashdex.oracles``.
        what: what an entry is, for messages, such as ``oracle``.
        built_in: names in the order in which help lists them.
    """

    def __init__(self, group: str, what: str, built_in: Iterable[str]) -> None:
        self.group = group
        self.what = what
        self.built_in = tuple(built_in)
        _EVERY.add(self)

    @cached_property
    def _added(self) -> dict[str, EntryPoint]:
        """Entry points of installed packages by name.

        Raises:
            ConfigurationError: two packages, or a package and nashdex, use one name.
        """
        found: dict[str, EntryPoint] = {}
        points = (point for point in _installed(tuple(sys.path)) if point.group == self.group)
        for point in sorted(points, key=lambda point: (point.name, _package(point))):
            if point.name in self.built_in or point.name in found:
                other = _package(found[point.name]) if point.name in found else "nashdex"
                raise ConfigurationError(
                    f"the packages {other} and {_package(point)} both provide the {self.what} {point.name!r}; "
                    "uninstall one, or rename its entry point"
                )
            found[point.name] = point
        return found

    @property
    def names(self) -> tuple[str, ...]:
        """All names, built-in ones first. Imports no entry."""
        return (*self.built_in, *self._added)

    def __contains__(self, name: object) -> bool:
        """Say whether there is an entry of this name."""
        return name in self.built_in or name in self._added

    def unknown(self, name: str) -> str:
        """Return the message that there is no entry called ``name``."""
        return f"unknown {self.what} {name!r}: {expected_one_of(name, self.names)}"

    def _of_package(self, name: str) -> Any:  # noqa: ANN401 - whatever the package provides
        """Return the entry that an installed package provides.

        Raises:
            ConfigurationError: there is none of this name, or the package cannot be imported.
        """
        if name not in self._added:
            raise ConfigurationError(self.unknown(name))
        try:
            return self._added[name].load()
        except Exception as error:
            raise ConfigurationError(
                f"{self._provided(name)} cannot be imported: {type(error).__name__}: {error}; "
                "repair the package or uninstall it"
            ) from error

    def _provided(self, name: str) -> str:
        return f"the {self.what} {name!r} of the package {_package(self._added[name])}"


_EVERY: Final[WeakSet[Names]] = WeakSet()


def find_added() -> None:
    """Look up now what packages add to every registry, for the sake of processes that are forked later.

    A registry in which two packages use one name is left to whoever needs it.
    """
    for each in list(_EVERY):
        with suppress(ConfigurationError):
            _ = each.names


class Registry(Names, Generic[Entry]):
    """Entries of one type by name. Each is imported when first used.

    Args:
        group: the entry point group, such as ``nashdex.oracles``.
        what: what an entry is, for messages, such as ``oracle``.
        entry_type: the type of every entry.
        built_in: ``module:attribute`` by name, in the order in which help lists them.
    """

    def __init__(self, group: str, what: str, entry_type: type[Entry], built_in: Mapping[str, str]) -> None:
        super().__init__(group, what, built_in)
        self._entry_type = entry_type
        self._places = built_in
        self._loaded: dict[str, Entry] = {}

    @classmethod
    def of(cls, names: Names, entry_type: type[Entry], built_in: Mapping[str, str]) -> "Registry[Entry]":
        """Return the implementations of ``names``, which settings use."""
        assert tuple(built_in) == names.built_in, (
            f"each {names.what} of the settings needs one implementation, in order"
        )
        return cls(names.group, names.what, entry_type, built_in)

    def __getitem__(self, name: str) -> Entry:
        """Return the entry called ``name``.

        Raises:
            ConfigurationError: there is none, or the package that provides it cannot be imported.
        """
        if name not in self._loaded:
            self._loaded[name] = self._load(name)
        return self._loaded[name]

    def module_of(self, name: str) -> str:
        """Return the module that is imported when the entry called ``name`` is first used.

        Raises:
            ConfigurationError: there is none.
        """
        if name in self._places:
            return self._places[name].partition(":")[0]
        if name not in self._added:
            raise ConfigurationError(self.unknown(name))
        return self._added[name].module

    def all(self) -> dict[str, Entry]:
        """Return every entry by name.

        Raises:
            ConfigurationError: a package that provides one cannot be imported.
        """
        return {name: self[name] for name in self.names}

    def _load(self, name: str) -> Entry:
        _ = self._added  # first, so that a name that is provided twice is refused
        if name in self._places:
            entry: Any = resolve_name(self._places[name])
            assert isinstance(entry, self._entry_type), f"{self._places[name]} is not a {self._entry_type.__name__}"
            return entry
        entry = self._of_package(name)
        if not isinstance(entry, self._entry_type):
            raise ConfigurationError(
                f"{self._provided(name)} is a {type(entry).__name__}; "
                f"expected a {self._entry_type.__module__}.{self._entry_type.__qualname__}"
            )
        return entry


def _package(point: EntryPoint) -> str:
    return point.dist.name if point.dist is not None else point.value
