"""Settings of the initial population."""

from dataclasses import replace
from typing import Annotated, Any

from pydantic import AfterValidator, Field, field_validator

from nashdex.core.errors import ConfigurationError
from nashdex.core.ids import PolicyId, policy_id
from nashdex.core.plugins import Names
from nashdex.core.references import NASH, PolicyReference
from nashdex.core.section import Section
from nashdex.settings.external import is_external

SCRIPTED_NAMES = Names(
    "nashdex.scripted_policies",
    "scripted policy",
    (
        "random",
        "max-power",
        "heuristic",
        "search:matrix",
        "search:matrix-small",
        "search:matrix-1s",
        "search:poke-engine",
        "first-action",
    ),
)
"""Names of scripted policies. `nashdex.policies.scripted.registry` has the policies themselves."""


def _known_policy(text: str) -> str:
    """Return the canonical spelling of an initial policy."""
    if text in SCRIPTED_NAMES:
        return text
    try:
        named = PolicyReference.parse(text)
    except ConfigurationError as error:
        raise ValueError(str(error)) from error
    if not named.store:
        raise ValueError(f"{SCRIPTED_NAMES.unknown(text)}, STORE#ID of a stored policy, or zoo:NAME")
    if named.name == NASH:
        raise ValueError(f"{text!r} is no single stored policy; expected STORE#ID, STORE#newest or zoo:NAME")
    return str(named)


def _list_policies(schema: dict[str, Any]) -> None:
    schema["anyOf"] = [
        {"enum": list(SCRIPTED_NAMES.names)},
        {"type": "string", "pattern": "^((search:)?zoo:.+|.+#.+)$"},
    ]


def _known_member(text: str) -> str:
    if not is_external(text):
        return _known_policy(text)
    try:
        return policy_id(text)
    except ConfigurationError as error:
        raise ValueError(
            f"{text!r}: a run names a player of another program as external:NAME, and each machine's players.toml "
            "declares it"
        ) from error


def _list_members(schema: dict[str, Any]) -> None:
    schema["anyOf"] = [
        {"enum": list(SCRIPTED_NAMES.names)},
        {"type": "string", "pattern": "^((search:)?zoo:.+|external:.+|.+#.+)$"},
    ]


PolicyName = Annotated[str, AfterValidator(_known_policy), Field(json_schema_extra=_list_policies)]
"""An initial policy of a run: a scripted one by name, or a stored one as in `nashdex battle`.

A run names stored policies by id (``runs.first_policies.with_policy_ids``) and copies them when it begins.
"""


MemberName = Annotated[str, AfterValidator(_known_member), Field(json_schema_extra=_list_members)]
"""A ``PolicyName``, or ``external:NAME``: a player of another program, which the machine that plays declares."""


def stored_policy(name: str) -> PolicyReference | None:
    """Return a ``MemberName`` as a reference; None for a scripted policy and for a player of another program."""
    return None if name in SCRIPTED_NAMES or is_external(name) else PolicyReference.parse(name)


def played_policy(name: str) -> PolicyId:
    """Return the id of a ``MemberName`` in a run that has begun."""
    stored = stored_policy(name)
    return PolicyId(name) if stored is None else PolicyId(str(replace(stored, store="")))


class PopulationSettings(Section):
    """The population before the first iteration."""

    initial: tuple[MemberName, ...] = Field(
        default=("random", "max-power", "heuristic"),
        min_length=1,
        description="Initial policies: scripted ones by name; networks, ensembles and imported ones as STORE#ID; "
        "the zoo's as zoo:NAME; all these but scripted ones with @greedy or @T0.5 for another way to play, and with "
        "search: before them for a search around them; players of other programs as external:NAME, which play the "
        "tournament alone and are never trained against. The run copies stored ones when it begins and never reads "
        "STORE again. Initial policies also anchor the ratings, and never learn.",
    )
    retire_after_iterations: int = Field(
        0,
        ge=0,
        description="Retire a member that the meta-strategy has not played (1 % at most) in this many iterations in a "
        "row and that is rated more than 100 Elo below the highest. New policies neither play it nor train against it, "
        "its battles stay in the table, and it returns when the mixture plays it again. Needs another "
        "`solve.unplayed` than block. 0: nobody retires.",
    )

    @property
    def ids(self) -> tuple[PolicyId, ...]:
        """Ids of the initial members, with their ways to play, in a run that has begun."""
        return tuple(played_policy(name) for name in self.initial)

    @field_validator("initial")
    @classmethod
    def _names_differ(cls, initial: tuple[str, ...]) -> tuple[str, ...]:
        if len(set(initial)) != len(initial):
            raise ValueError("a policy is named twice")
        return initial
