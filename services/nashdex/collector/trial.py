"""The short benchmark by which a shard chooses its sizes: a fresh network plays itself for a few seconds."""

import time

from nashdex.core.errors import TryAgainError
from nashdex.core.ids import PolicyId
from nashdex.games.interface import Game
from nashdex.policies.inference import NetworkPolicy
from nashdex.policies.networks.actor_critic import make_network
from nashdex.rollout.pairs import PairedBattles
from nashdex.rollout.session import Session
from nashdex.rollout.sizing import Trial
from nashdex.settings.networks import NetworkSettings

SECONDS = 3.0
"""Wall time of one measurement."""
_WARM_UP_SHARE = 0.5
"""Share of that time before counting begins: Node compiles hot code while it runs."""
_POLICY = PolicyId("trial")


def self_play_trial(game: Game, network: NetworkSettings, seconds: float = SECONDS, *, device: str = "cpu") -> Trial:
    """Return a function that measures decisions per second of wall time, given gateways and concurrent battles.

    The network computes on ``device``.

    Both seats are recorded, as in self-play. A decision is one choice of one seat.
    """

    def decisions_per_second(num_gateways: int, concurrent_battles: int) -> float:
        with Session(game.open_arena(num_gateways=num_gateways), concurrent_battles) as session:
            session.policies[_POLICY] = NetworkPolicy(_POLICY, make_network(session.space, network), device)
            battles = PairedBattles(0, game.teams())
            began_seconds = time.monotonic()
            warm: tuple[float, int] | None = None
            for _ in session.play(battles.self_play(_POLICY)):
                now_seconds, decisions = time.monotonic(), session.counts.decisions
                if warm is None and now_seconds - began_seconds > seconds * _WARM_UP_SHARE:
                    warm = (now_seconds, decisions)
                elif warm is not None and now_seconds - began_seconds > seconds and decisions > warm[1]:
                    return (decisions - warm[1]) / (now_seconds - warm[0])
        raise TryAgainError("no battle of the short benchmark could be finished; try again")

    return decisions_per_second
