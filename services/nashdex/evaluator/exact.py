"""Exact payoffs from a game's tree: a shard's part of the evaluate step, and the gate's. No battle is played."""

import time
from collections.abc import Sequence

from nashdex.core.ids import PolicyId
from nashdex.core.steps import StepName
from nashdex.games.tabular.tree import GameTree
from nashdex.games.tabular.values import expected_payoffs
from nashdex.metagame.evidence.ledger import ExactCell, Pair, ShardLedger
from nashdex.metagame.tournament.gate import GateResult
from nashdex.policies.tables import load_table
from nashdex.store.protocol import ObjectStore
from nashdex.telemetry.progress import Progress


def compute_shard(store: ObjectStore, tree: GameTree, mine: Sequence[Pair], shard: int) -> ShardLedger:
    """Return the ledger of the pairs ``mine``.

    Raises:
        DataError: a policy is missing or altered.
    """
    started_seconds, started_cpu_seconds = time.monotonic(), time.process_time()
    policies = sorted({policy for pair in mine for policy in pair})
    place = {policy: index for index, policy in enumerate(policies)}
    with Progress(StepName.EVALUATE, shard, len(mine), "pairs") as progress:
        payoffs = expected_payoffs(tree, [load_table(store, policy, tree) for policy in policies])
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


def exact_gate(store: ObjectStore, tree: GameTree, policy: PolicyId, parent: PolicyId) -> GateResult:
    """Accept ``policy`` if its payoff against ``parent`` is above 0.

    Raises:
        DataError: a policy is missing or altered.
    """
    payoff = float(expected_payoffs(tree, [load_table(store, each, tree) for each in (policy, parent)])[0, 1])
    return GateResult(policy=policy, parent=parent, decision="accept" if payoff > 0 else "reject", payoff=payoff)
