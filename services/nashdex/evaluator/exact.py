"""A shard's part of the payoffs of a tabular game: added up over the tree, no battle played."""

import time
from collections.abc import Sequence

from nashdex.core.steps import StepName
from nashdex.games.tabular.game import TabularGame
from nashdex.games.tabular.values import expected_payoffs
from nashdex.metagame.evidence.exact import Pair
from nashdex.metagame.evidence.ledger import ExactCell, ShardLedger
from nashdex.policies.tables import load_table
from nashdex.store.protocol import ObjectStore
from nashdex.telemetry.progress import Progress


def add_up_shard(store: ObjectStore, game: TabularGame, mine: Sequence[Pair], shard: int) -> ShardLedger:
    """Return the ledger of the pairs ``mine``.

    Raises:
        DataError: a policy is missing or altered.
    """
    started_seconds, started_cpu_seconds = time.monotonic(), time.process_time()
    policies = sorted({policy for pair in mine for policy in pair})
    place = {policy: index for index, policy in enumerate(policies)}
    with Progress(StepName.EVALUATE, shard, len(mine), "pairs") as progress:
        payoffs = expected_payoffs(game.tree, [load_table(store, policy, game.tree) for policy in policies])
        progress.advance(len(mine))
    return ShardLedger(
        battles=(),
        failures={},
        rejected_choices=0,
        decisions=0,
        seconds=time.monotonic() - started_seconds,
        cpu_seconds=time.process_time() - started_cpu_seconds,
        exact=tuple(ExactCell(policies=pair, payoff=float(payoffs[place[pair[0]], place[pair[1]]])) for pair in mine),
    )
