"""Networks: their sizes, and the initial weights of the first one."""

from typing import Annotated, Any, Final, Literal, Self

from pydantic import Field, field_validator, model_validator

from nashdex.core.errors import ConfigurationError
from nashdex.core.ids import SAMPLED, BarePolicyId, PolicyId
from nashdex.core.references import NASH, PolicyReference
from nashdex.core.section import Kinds, OneOf, Section

Prefix = Annotated[str, Field(min_length=1)]
"""Beginning of names of parameters, such as ``critic.``."""


class InitSettings(Section):
    """Another policy, for the initial parameters of the first network. Without a policy they are random."""

    policy: str = Field(
        "",
        description="STORE#ID, or another name as in `nashdex battle`: a stored policy of a run, or an imported one. "
        "The run copies the policy when it begins and never reads STORE again.",
    )
    parameters: tuple[Prefix, ...] = Field(
        (), description="Prefixes of the names of the parameters to copy; the others are random. Empty: copy all."
    )

    @field_validator("policy")
    @classmethod
    def _names_a_policy(cls, text: str) -> str:
        if text:
            try:
                named = PolicyReference.parse(text)
            except ConfigurationError as error:
                raise ValueError(str(error)) from error
            if not named.store or named.searches or named.temperature != SAMPLED or named.name == NASH:
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
        return PolicyReference.parse(self.policy).store

    @property
    def policy_id(self) -> BarePolicyId | None:
        """Its id, or its name before the run begins (``runs.first_policies.with_policy_ids``); None without one."""
        return BarePolicyId(PolicyId(PolicyReference.parse(self.policy).name)) if self.policy else None


_OF_TRAINING: Final = {"init_from", "freeze"}
"""Keys of a network's training, without effect on its function."""


class NetworkSettings(Section):
    """Sizes of a network. Each kind of network has its own section."""

    kind: str
    init_from: InitSettings = Field(InitSettings(), description="The policy that the first network begins from.")
    freeze: tuple[Prefix, ...] = Field(
        (), description="Prefixes of the names of frozen parameters. init_from has to copy these."
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
        """Return the settings of the network's function, as JSON: all but the keys of its training."""
        return self.model_dump(mode="json", exclude=_OF_TRAINING)


def remembers(network: NetworkSettings) -> bool:
    """Say whether a network has a memory of the battle, so that its minibatches are whole battles."""
    return bool(getattr(network, "memory_size", 0))


class RowSettings(NetworkSettings):
    """One vector for each row of the observation, and a trunk over all of them."""

    embedding_size: int = Field(32, ge=1, le=512, description="Values in the embedding of one category.")
    entity_size: int = Field(64, ge=4, le=4096, description="Size of the vector of a Pokémon or other row.")
    hidden_size: int = Field(512, ge=8, le=8192, description="Width of the trunk.")
    num_hidden_layers: int = Field(2, ge=1, le=16, description="Layers of the trunk.")
    critic_size: int = Field(64, ge=1, le=8192, description="Width of the critic, a network of its own.")


class SlotsSettings(RowSettings):
    """One vector for each row of the observation, a trunk over all of them, one output for each action."""

    kind: Literal["slots"] = "slots"


_AS_BEFORE: Final = (("estimates_damage", False), ("value_bins", 1))


class EntitySettings(NetworkSettings):
    """A network whose actor and critic encode the Pokémon and moves of an observation."""

    estimates_damage: bool = Field(
        default=False, description="Whether it sees the estimated damage of moves, computed from the observation."
    )
    value_bins: int = Field(
        1,
        ge=1,
        le=1001,
        description="Outputs of the critic. 1: the expected return, learned by its squared error. More: probabilities "
        "of as many bins of returns, learned by cross-entropy (HL-Gauss).",
    )

    def sizes(self) -> dict[str, Any]:
        """Leave out keys that policies may be older than, at the values that do as those policies did: ids stay."""
        return {key: size for key, size in super().sizes().items() if (key, size) not in _AS_BEFORE}


class PointerSizes(EntitySettings):
    """Sizes of the encoders and of the scorer."""

    embedding_size: int = Field(64, ge=1, le=512, description="Values in the embedding of one category.")
    move_size: int = Field(64, ge=4, le=1024, description="Size of the vector of a move, and of the field's.")
    pokemon_size: int = Field(96, ge=4, le=1024, description="Size of the vector of a Pokémon.")
    context_size: int = Field(256, ge=8, le=8192, description="Width of the two layers over both sides.")
    scorer_size: int = Field(128, ge=4, le=4096, description="Width of the layer that scores one action.")
    predicts_opponent: bool = Field(
        default=True,
        description="Whether a head predicts the opponent's choice, for an auxiliary loss of PPO.",
    )


class PointerSettings(PointerSizes):
    """One encoder for all moves, one for all Pokémon, and one scorer for all actions."""

    kind: Literal["pointer"] = "pointer"


class PointerPairsSettings(EntitySettings):
    """One encoder for all moves, one for all Pokémon, and one scorer for both slots' actions and their interaction."""

    kind: Literal["pointer-pairs"] = "pointer-pairs"
    embedding_size: int = Field(32, ge=1, le=512, description="Values in the embedding of one category.")
    move_size: int = Field(64, ge=4, le=1024, description="Size of the vector of a move, and of the field's.")
    pokemon_size: int = Field(96, ge=4, le=1024, description="Size of the vector of a Pokémon.")
    context_size: int = Field(256, ge=8, le=8192, description="Width of the two layers over both sides.")
    scorer_size: int = Field(64, ge=4, le=4096, description="Width of the layer that scores one action.")
    interaction_size: int = Field(8, ge=1, le=256, description="Rank of the interaction of two slots' actions.")


class MemorySettings(PointerSizes):
    """The pointer network with a GRU over the decisions of a battle. Its minibatches are whole battles."""

    kind: Literal["memory"] = "memory"
    memory_size: int = Field(128, ge=1, le=4096, description="Size of the actor's memory of a battle.")


class TransformerSettings(EntitySettings):
    """Attention over the entities of an observation, and the pointer network's scorer. For GPUs: slow on a CPU."""

    kind: Literal["transformer"] = "transformer"
    embedding_size: int = Field(64, ge=1, le=512, description="Values in the embedding of one category.")
    move_size: int = Field(64, ge=4, le=1024, description="Size of the vector of a move before attention.")
    pokemon_size: int = Field(96, ge=4, le=1024, description="Size of the vector of a Pokémon before attention.")
    token_size: int = Field(
        128, ge=8, le=4096, description="Width of the layers of attention; a multiple of num_heads."
    )
    num_heads: int = Field(4, ge=1, le=64, description="Heads of each layer of attention.")
    num_layers: int = Field(3, ge=1, le=64, description="Layers of attention.")
    feedforward_size: int = Field(256, ge=8, le=16_384, description="Width of the layer between two of attention.")
    scorer_size: int = Field(128, ge=4, le=4096, description="Width of the layer that scores one action.")
    predicts_opponent: bool = Field(
        default=True,
        description="Whether a head predicts the opponent's choice, for an auxiliary loss of PPO.",
    )
    memory_size: int = Field(
        0,
        ge=0,
        le=4096,
        description="Size of the actor's memory of a battle, a GRU over its decisions; 0 for none. With a memory, "
        "minibatches are whole battles.",
    )

    @model_validator(mode="after")
    def _heads_have_equal_parts(self) -> Self:
        if self.token_size % self.num_heads:
            raise ValueError(f"token_size is {self.token_size} and num_heads {self.num_heads}; expected a multiple")
        return self


NETWORK_KINDS = Kinds(
    "nashdex.networks",
    "network",
    SlotsSettings,
    PointerSettings,
    PointerPairsSettings,
    MemorySettings,
    TransformerSettings,
)

NetworkChoice = Annotated[NetworkSettings, OneOf(NETWORK_KINDS, "slots")]
"""The section of one network, chosen by its key ``kind``."""
