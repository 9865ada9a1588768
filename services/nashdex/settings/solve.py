"""The solve step: meta-solvers and their inputs."""

from typing import Annotated, Literal

from pydantic import Field

from nashdex.core.section import Choice, Kinds, OneOf, Section


class NashSettings(Choice):
    """Settings of ``nash``: none."""

    kind: Literal["nash"] = Field("nash", description="The meta-solver.")


class RegretMatchingSettings(Choice):
    """Settings of ``regret-matching``."""

    kind: Literal["regret-matching"] = Field("regret-matching", description="The meta-solver.")
    num_iterations: int = Field(100_000, ge=1, le=100_000_000, description="Rounds of play that are averaged.")


class PrdSettings(Choice):
    """Settings of ``prd``."""

    kind: Literal["prd"] = Field("prd", description="The meta-solver.")
    average: Literal["all", "last-tenth"] = Field(
        "all",
        description="Iterations that are averaged. `last-tenth` leaves out the uniform start, which keeps a hundredth "
        "of the average in common-interest games; `all` is the safe choice in cyclic games.",
    )
    num_iterations: int = Field(100_000, ge=1, le=100_000_000, description="Euler steps, each of a time of 0.001.")


class AlphaRankSettings(Choice):
    """Settings of ``alpha-rank``."""

    kind: Literal["alpha-rank"] = Field("alpha-rank", description="The meta-solver.")
    alpha: float | None = Field(
        None,
        ge=1e-12,
        le=1e12,
        description="Selection intensity, per payoff; by default raised until the ranking is stable.",
    )
    fitness: Literal["local", "population"] = Field(
        "local",
        description="An individual's payoff: against one of the other policy alone, as in the authors' own code, "
        "or on average against the whole population, as in Omidshafiei et al.'s equation 4. Only symmetric games, "
        "with one population, have this choice.",
    )
    population_size: int = Field(50, ge=2, le=1_000_000, description="Individuals in a population.")


class MagnetSettings(Choice):
    """Settings of ``magnet``."""

    kind: Literal["magnet"] = Field("magnet", description="The meta-solver.")
    temperature: float = Field(
        0.1, ge=1e-12, le=1e12, description="α, the weight of KL(σ‖uniform), in payoff: the pull towards uniform."
    )
    num_iterations: int = Field(100_000, ge=1, le=100_000_000, description="Iterations at most.")


class RectifiedNashSettings(Choice):
    """Settings of ``rectified-nash``: none."""

    kind: Literal["rectified-nash"] = Field("rectified-nash", description="The meta-solver.")


class UniformSettings(Choice):
    """Settings of ``uniform``: none."""

    kind: Literal["uniform"] = Field("uniform", description="The meta-solver.")


class LastSettings(Choice):
    """Settings of ``last``: none."""

    kind: Literal["last"] = Field("last", description="The meta-solver.")


class LastKSettings(Choice):
    """Settings of ``last-k``."""

    kind: Literal["last-k"] = Field("last-k", description="The meta-solver.")
    num_policies: int = Field(5, ge=1, description="Number of newest policies that share the weight.")


class RecencySettings(Choice):
    """Settings of ``recency``."""

    kind: Literal["recency"] = Field("recency", description="The meta-solver.")
    temperature: float = Field(
        1.0, ge=1e-12, le=1e12, description="Age, in policies, at which a weight has fallen to 1/e."
    )


META_SOLVER_KINDS = Kinds(
    "nashdex.meta_solvers",
    "meta-solver",
    NashSettings,
    RegretMatchingSettings,
    PrdSettings,
    AlphaRankSettings,
    MagnetSettings,
    RectifiedNashSettings,
    UniformSettings,
    LastSettings,
    LastKSettings,
    RecencySettings,
)


class SolveSettings(Section):
    """Solving the empirical game."""

    meta_solver: Annotated[Choice, OneOf(META_SOLVER_KINDS, "nash")] = Field(
        NashSettings(), description="Chooses the meta-strategy: a name, or a section with `kind` and its settings."
    )
    unplayed: Literal["block", "bradley-terry", "interval"] = Field(
        "block", description="Payoff of a pair that has not played: refuse, predict from ratings, or assume the worst."
    )
    num_draws: int = Field(500, ge=100, le=100_000, description="Posterior draws behind every interval.")
