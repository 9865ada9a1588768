"""Registries of plug-ins: entries that nashdex ships, and entries that installed packages add by entry point.

A package adds an entry in its ``pyproject.toml``, for example::

    [project.entry-points."nashdex.meta_solvers"]
    softmax = "my_package.softmax:SOFTMAX"

Only installed packages count. Settings files and stores hold names, which are looked up here; they cannot name code to
import.
"""

from collections.abc import Callable, Mapping
from functools import cached_property
from importlib.metadata import EntryPoint, entry_points
from pkgutil import resolve_name
from typing import Any, Final, Generic, TypeVar

from pydantic import GetCoreSchemaHandler, ValidationError
from pydantic_core import CoreSchema, ErrorDetails, InitErrorDetails, PydanticCustomError, core_schema

from nashdex.core.errors import ConfigurationError
from nashdex.core.section import Section
from nashdex.core.user_input.near import did_you_mean

Entry = TypeVar("Entry")

_UNKNOWN_KIND: Final = "unknown_kind"
KIND = "kind"
"""The key by which a section of settings says which entry of a registry it is for."""


class Registry(Generic[Entry]):
    """Entries of one type by name: built-in ones, then those of installed packages. Each is imported when first used.

    Args:
        group: the entry point group, such as ``nashdex.oracles``.
        what: what an entry is, for messages, such as ``oracle``.
        entry_type: the type of every entry.
        built_in: ``module:attribute`` by name, in the order in which help lists them.
    """

    def __init__(self, group: str, what: str, entry_type: type[Entry], built_in: Mapping[str, str]) -> None:
        self.group = group
        self.what = what
        self._entry_type = entry_type
        self._built_in = built_in
        self._loaded: dict[str, Entry] = {}

    @cached_property
    def _added(self) -> dict[str, EntryPoint]:
        """Entry points of installed packages by name.

        Raises:
            ConfigurationError: two packages, or a package and nashdex, use one name.
        """
        found: dict[str, EntryPoint] = {}
        for point in sorted(entry_points(group=self.group), key=lambda point: (point.name, _package(point))):
            if point.name in self._built_in or point.name in found:
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
        return (*self._built_in, *self._added)

    def __contains__(self, name: object) -> bool:
        """Say whether there is an entry of this name."""
        return name in self._built_in or name in self._added

    def __getitem__(self, name: str) -> Entry:
        """Return the entry called ``name``.

        Raises:
            ConfigurationError: there is none, or the package that provides it cannot be imported.
        """
        if name not in self._loaded:
            self._loaded[name] = self._load(name)
        return self._loaded[name]

    def all(self) -> dict[str, Entry]:
        """Return every entry by name.

        Raises:
            ConfigurationError: a package that provides one cannot be imported.
        """
        return {name: self[name] for name in self.names}

    def unknown(self, name: str) -> str:
        """Return the message that there is no entry called ``name``."""
        meant = did_you_mean(name, self.names)
        return f"unknown {self.what} {name!r}: {meant}{'E' if meant else 'e'}xpected one of {', '.join(self.names)}"

    def _load(self, name: str) -> Entry:
        added = self._added  # first, so that a name that is provided twice is refused
        if name in self._built_in:
            entry: Any = resolve_name(self._built_in[name])
            assert isinstance(entry, self._entry_type), f"{self._built_in[name]} is not a {self._entry_type.__name__}"
            return entry
        if name not in added:
            raise ConfigurationError(self.unknown(name))
        point = added[name]
        try:
            entry = point.load()
        except Exception as error:
            raise ConfigurationError(
                f"the {self.what} {name!r} of the package {_package(point)} cannot be imported: "
                f"{type(error).__name__}: {error}; repair the package or uninstall it"
            ) from error
        if not isinstance(entry, self._entry_type):
            raise ConfigurationError(
                f"the {self.what} {name!r} of the package {_package(point)} is a {type(entry).__name__}; "
                f"expected a {self._entry_type.__module__}.{self._entry_type.__qualname__}"
            )
        return entry


def _package(point: EntryPoint) -> str:
    return point.dist.name if point.dist is not None else point.value


class OneOf:
    """Annotation of a settings field: the section of one entry of a registry, chosen by its key ``kind``.

    ``oracle: Annotated[Choice, OneOf(ORACLES, "ppo")]`` reads ``{kind = "exact"}``, the bare name ``"exact"``, and a
    table without ``kind`` as one for the default entry. The schema is composed when it is first used.
    """

    def __init__(self, registry: Registry[Any], default: str) -> None:
        self._registry = registry
        self._default = default

    def __get_pydantic_core_schema__(self, _source: object, handler: GetCoreSchemaHandler) -> CoreSchema:
        choices = {name: handler.generate_schema(entry.settings) for name, entry in self._registry.all().items()}
        return core_schema.no_info_wrap_validator_function(
            self._validate, core_schema.tagged_union_schema(choices, discriminator=KIND)
        )

    def _validate(self, value: object, choose: Callable[[object], Section]) -> Section:
        """Return the section that ``value`` describes."""
        try:
            return choose(self._with_kind(value))
        except ValidationError as error:
            problems = [self._problem(problem) for problem in error.errors(include_url=False)]
            raise ValidationError.from_exception_data(error.title, problems) from None

    def _problem(self, problem: ErrorDetails) -> InitErrorDetails:
        """Return a problem under the key that the settings have: pydantic puts the kind before it."""
        kind: str | PydanticCustomError = problem["type"]
        context = problem.get("ctx", {})
        if kind == "value_error":
            kind = PydanticCustomError("value_error", "{error}", {"error": str(context["error"])})
        elif kind == _UNKNOWN_KIND:  # of a section within this one
            kind = PydanticCustomError(_UNKNOWN_KIND, "{message}", {"message": problem["msg"]})
        elif kind == "union_tag_invalid":
            facts = {"what": self._registry.what, "names": ", ".join(self._registry.names), "tag": context["tag"]}
            kind = PydanticCustomError(_UNKNOWN_KIND, "unknown {what} '{tag}'; expected one of {names}", facts)
        return InitErrorDetails(type=kind, loc=problem["loc"][1:], input=problem["input"], ctx=context)

    def _with_kind(self, value: object) -> object:
        if isinstance(value, str):
            return {KIND: value}
        if isinstance(value, Mapping) and KIND not in value:
            return {KIND: self._default, **value}
        return value


class NameOf:
    """Annotation of a settings field of type ``str``: the name of one entry of a registry."""

    def __init__(self, registry: Registry[Any]) -> None:
        self._registry = registry

    def __get_pydantic_core_schema__(self, _source: object, _handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.literal_schema(list(self._registry.names))
