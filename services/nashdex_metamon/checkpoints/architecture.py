"""Sizes of metamon's models that their files do not show, as documents. No torch."""

from typing import Literal

from pydantic import Field, PositiveInt, model_validator

from nashdex.core.documents import Model


class TurnArchitecture(Model):
    """The transformer over one decision's tokens."""

    width: PositiveInt = Field(le=4096, description="Numbers of a token.")
    num_layers: PositiveInt = Field(le=64)
    num_heads: PositiveInt
    num_number_tokens: PositiveInt = Field(le=64, description="Tokens that the numbers become.")
    num_scratch_tokens: PositiveInt = Field(le=64, description="Tokens that the result is read from.")

    @model_validator(mode="after")
    def _heads_divide_the_width(self) -> "TurnArchitecture":
        _check_heads(self.width, self.num_heads)
        return self


class MiniRnnArchitecture(Model):
    """Metamon's small recurrent model, cloned from human battles."""

    kind: Literal["metamon-mini-rnn"] = "metamon-mini-rnn"
    turn: TurnArchitecture
    hidden_size: PositiveInt = Field(le=8192, description="Numbers of the GRU's state.")


class MemoryArchitecture(Model):
    """The transformer over a battle's decisions."""

    width: PositiveInt = Field(le=8192)
    num_layers: PositiveInt = Field(le=64)
    num_heads: PositiveInt
    feed_forward: PositiveInt = Field(le=65536)
    num_decisions: PositiveInt = Field(le=4096, description="The context: older decisions are forgotten.")

    @model_validator(mode="after")
    def _heads_divide_the_width(self) -> "MemoryArchitecture":
        _check_heads(self.width, self.num_heads)
        return self


class AmagoArchitecture(Model):
    """An AMAGO agent with metamon's embedding of a decision and a transformer as memory."""

    kind: Literal["metamon-amago"] = "metamon-amago"
    turn: TurnArchitecture
    extra_size: PositiveInt = Field(18, le=4096, description="Width that the last action and reward are embedded in.")
    memory: MemoryArchitecture
    actor_hidden: PositiveInt = Field(le=8192)
    actor_layers: PositiveInt = Field(2, le=64, description="Hidden layers.")
    num_gammas: PositiveInt = Field(
        7, le=64, description="Discounts that the actor has logits for; the last one plays."
    )


def _check_heads(width: int, num_heads: int) -> None:
    if width % num_heads:
        raise ValueError(f"{num_heads} heads do not divide a width of {width}")


MINI_RNN = MiniRnnArchitecture(
    turn=TurnArchitecture(width=100, num_layers=1, num_heads=5, num_number_tokens=6, num_scratch_tokens=4),
    hidden_size=256,
)
