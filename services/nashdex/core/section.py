"""Sections of a run's settings: their base, requirements between their fields, and sections chosen by ``kind``."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Final

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, GetCoreSchemaHandler, ValidationError
from pydantic_core import CoreSchema, ErrorDetails, InitErrorDetails, PydanticCustomError, core_schema

from nashdex.core.errors import ConfigurationError
from nashdex.core.plugins import Names

Share = Annotated[float, Field(ge=0, le=1)]


class Section(BaseModel):
    """One section of the settings: frozen; unknown keys, NaN and infinity are refused."""

    # Built on first use: a section is built as part of the whole.
    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False, defer_build=True)


class Choice(Section):
    """The section of one entry of a registry, chosen by ``kind`` (``OneOf``)."""

    kind: str
    """The entry's name. A subclass declares it as ``kind: Literal["name"] = "name"``."""


def changed_keys(section: BaseModel) -> list[str]:
    """Return the keys of a section that differ from their defaults."""
    fields = type(section).model_fields.items()
    return [key for key, field in fields if getattr(section, key) != field.get_default(call_default_factory=True)]


@dataclass(frozen=True)
class Needs:
    """Metadata of a field that has an effect only while another field of its section has a value.

    ``size: Annotated[int, Needs("share")]`` needs a share that is not 0, empty or None, and
    ``max_battles: Annotated[int, Needs("test", "sprt")]`` one value of the other field.
    """

    key: str
    value: Any = None

    def is_met(self, section: Section) -> bool:
        """Say whether the other field of ``section`` has the value."""
        given = getattr(section, self.key)
        return bool(given) if self.value is None else bool(given == self.value)


def without_effect(section: Section, place: str = "") -> Iterator[str]:
    """Yield one line for each value of ``section``, or of one below it, that differs from its default in vain.

    ``place`` is the dotted key of the section with a dot at its end, or empty.
    """
    for name, field in type(section).model_fields.items():
        value = getattr(section, name)
        if value != field.get_default(call_default_factory=True):
            for need in (each for each in field.metadata if isinstance(each, Needs) and not each.is_met(section)):
                wanted = "another value" if need.value is None else repr(need.value)
                yield (
                    f"{place}{name} has no effect with {place}{need.key} = {getattr(section, need.key)!r}: "
                    f"leave it out, or give {place}{need.key} {wanted}"
                )
        if isinstance(value, Section):
            yield from without_effect(value, f"{place}{name}.")


_UNKNOWN_KIND: Final = "unknown_kind"
KIND = "kind"
"""The key by which a section of settings says what it configures."""


def _with_some_kind(value: object) -> object:
    return {KIND: "", **value} if isinstance(value, Mapping) else value


ASKS_FOR_KIND: Final = BeforeValidator(_with_some_kind)
"""Metadata of a union that ``kind`` discriminates. Without a kind, pydantic would not say which ones there are."""


class Kinds(Names):
    """Sections by kind. The entry of an installed package has its section in the attribute ``settings``.

    Args:
        group: the entry point group, such as ``nashdex.oracles``.
        what: what is chosen, for messages, such as ``oracle``.
        sections: the built-in ones, the default one first.
    """

    def __init__(self, group: str, what: str, *sections: type[Section]) -> None:
        self._sections = {section.model_fields[KIND].default: section for section in sections}
        super().__init__(group, what, self._sections)

    def __getitem__(self, kind: str) -> type[Section]:
        """Return the section of ``kind``.

        Raises:
            ConfigurationError: there is none, or the package that provides it cannot be imported or has none.
        """
        if kind not in self._sections:
            section = getattr(self._of_package(kind), "settings", None)
            if not (isinstance(section, type) and issubclass(section, Section)):
                raise ConfigurationError(
                    f"{self._provided(kind)} has no section of settings; expected an attribute `settings` with a "
                    f"subclass of {Section.__module__}.{Section.__qualname__}"
                )
            self._sections[kind] = section
        return self._sections[kind]

    def all(self) -> dict[str, type[Section]]:
        """Return every section by kind.

        Raises:
            ConfigurationError: a package that provides one cannot be imported or has none.
        """
        return {kind: self[kind] for kind in self.names}


class OneOf:
    """Annotation of a settings field: one section of ``kinds``, chosen by its key ``kind``.

    ``oracle: Annotated[Choice, OneOf(ORACLE_KINDS, "ppo")]`` reads ``{kind = "exact"}``, the bare name ``"exact"``, and
    a table without ``kind`` as one for the default kind. The schema is composed when it is first used.
    """

    def __init__(self, kinds: Kinds, default: str) -> None:
        self._kinds = kinds
        self._default = default

    def sections(self) -> tuple[type[Section], ...]:
        """Return the section of each kind, the built-in ones first."""
        return tuple(self._kinds.all().values())

    def __get_pydantic_core_schema__(self, _source: object, handler: GetCoreSchemaHandler) -> CoreSchema:
        choices = {name: handler.generate_schema(section) for name, section in self._kinds.all().items()}
        return core_schema.no_info_wrap_validator_function(
            self._validate, core_schema.tagged_union_schema(choices, discriminator=KIND)
        )

    def _validate(self, value: object, choose: Callable[[object], Section]) -> Section:
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
            facts = {"what": self._kinds.what, "names": ", ".join(self._kinds.names), "tag": context["tag"]}
            kind = PydanticCustomError(_UNKNOWN_KIND, "unknown {what} '{tag}'; expected one of {names}", facts)
        return InitErrorDetails(type=kind, loc=problem["loc"][1:], input=problem["input"], ctx=context)

    def _with_kind(self, value: object) -> object:
        if isinstance(value, str):
            return {KIND: value}
        if isinstance(value, Mapping) and KIND not in value:
            return {KIND: self._default, **value}
        return value


def keys_of_every_kind(section: type[BaseModel], place: str = "") -> Iterator[str]:
    """Yield the dotted keys of ``section`` and of all below it, those of every kind of a chosen one.

    ``place`` is the dotted key of the section with a dot at its end, or empty.
    """
    for name, field in section.model_fields.items():
        yield f"{place}{name}"
        kinds = [each for each in field.metadata if isinstance(each, OneOf)]
        below = [one for each in kinds for one in each.sections()]
        if not kinds and isinstance(field.annotation, type) and issubclass(field.annotation, Section):
            below = [field.annotation]
        for one in below:
            yield from keys_of_every_kind(one, f"{place}{name}.")


class NameOf:
    """Annotation of a settings field of type ``str``: one of ``names``."""

    def __init__(self, names: Names) -> None:
        self._names = names

    def __get_pydantic_core_schema__(self, _source: object, _handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.literal_schema(list[Any](self._names.names))
