"""Which networks there are, and the settings of the one that a run uses. Imports no torch."""

from dataclasses import dataclass
from typing import Annotated, Any, Final

from pydantic import Field, field_validator, model_validator

from nashdex.core.errors import ConfigurationError
from nashdex.core.ids import BarePolicyId, PlayedPolicy, PolicyId, policy_id
from nashdex.core.plugins import OneOf, Registry
from nashdex.core.section import Section

Prefix = Annotated[str, Field(min_length=1)]
"""Beginning of names of parameters, such as ``critic.``."""


class InitSettings(Section):
    """Another policy, whose parameters the first network begins with. Without one they are random."""

    policy: str = Field(
        "",
        description="STORE#ID: a stored policy of a run, or an imported one. The run copies it when it begins; nothing "
        "reads STORE afterwards.",
    )
    parameters: tuple[Prefix, ...] = Field(
        (), description="Prefixes of the names of the parameters to copy; the others are random. Empty: copy all."
    )

    @field_validator("policy")
    @classmethod
    def _names_a_policy(cls, text: str) -> str:
        store, _, name = text.rpartition("#")
        if text:
            try:
                played = PlayedPolicy.of(policy_id(name))
            except ConfigurationError as error:
                raise ValueError(str(error)) from error
            if not store or played.suffix:
                raise ValueError(f"{text!r} names no weights; expected STORE#ID, such as runs/first#p0123456789abcdef")
        return text

    @model_validator(mode="after")
    def _copies_something(self) -> "InitSettings":
        if self.parameters and not self.policy:
            raise ValueError("parameters has no effect without policy: set it to STORE#ID, or leave both out")
        return self

    @property
    def store(self) -> str:
        """The URI of the store that holds the policy; empty without one."""
        return self.policy.rpartition("#")[0]

    @property
    def policy_id(self) -> BarePolicyId | None:
        """The policy's id; None without one."""
        return BarePolicyId(PolicyId(self.policy.rpartition("#")[2])) if self.policy else None


_OF_TRAINING: Final = {"init_from", "freeze"}
"""Keys that say how a network is trained, not what it computes."""


class NetworkSettings(Section):
    """Sizes of a network. Each kind of network has its own section."""

    kind: str
    init_from: InitSettings = Field(InitSettings(), description="The policy that the first network begins from.")
    freeze: tuple[Prefix, ...] = Field(
        (), description="Prefixes of the names of parameters that no training changes; init_from has to copy them."
    )

    @model_validator(mode="after")
    def _freezes_what_is_copied(self) -> "NetworkSettings":
        if self.freeze and self.init_from.policy_id is None:
            raise ValueError(
                "freeze would keep parameters at random values without init_from.policy: set it to STORE#ID, or leave "
                "freeze out"
            )
        return self

    def sizes(self) -> dict[str, Any]:
        """Return what the network computes with, as JSON: all but how it is trained."""
        return self.model_dump(mode="json", exclude=_OF_TRAINING)


@dataclass(frozen=True)
class NetworkKind:
    """One entry of ``NETWORKS``."""

    settings: type[NetworkSettings]
    architecture: str
    """Part of every policy's id; changes whenever equal weights would compute something else."""
    implementation: str
    """``module:class`` of an ``ActorCritic``, imported when the first such network is made."""
    games: frozenset[str] | None = None
    """Games that it fits, as ``Space.game`` names them; None for all."""
    num_slots: int = 1
    """Slots that one decision of its spaces chooses for."""

    def fits(self, game: str, num_slots: int = 1) -> bool:
        """Say whether it fits spaces of ``num_slots`` of the game that ``Space.game`` names."""
        return (self.games is None or game in self.games) and num_slots == self.num_slots


NETWORKS: Registry[NetworkKind] = Registry(
    "nashdex.networks",
    "network",
    NetworkKind,
    {
        "slots": "nashdex.policies.networks.slots.settings:SLOTS",
        "pointer": "nashdex.policies.networks.pointer.kind:POINTER",
        "pairs": "nashdex.policies.networks.pairs.settings:PAIRS",
        "pointer-pairs": "nashdex.policies.networks.pointer_pairs.kind:POINTER_PAIRS",
        "memory": "nashdex.policies.networks.memory.kind:MEMORY",
        "transformer": "nashdex.policies.networks.transformer.kind:TRANSFORMER",
    },
)

NetworkChoice = Annotated[NetworkSettings, OneOf(NETWORKS, "slots")]
"""The section of one network, chosen by its key ``kind``."""
