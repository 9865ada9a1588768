"""Who plays a match: ``random``, ``max-power``, ``heuristic``, ``RUN_URI#POLICY_ID`` or ``RUN_URI#nash``."""

from collections.abc import Mapping
from dataclasses import dataclass

from nashdex.core import keys
from nashdex.core.errors import ConfigurationError, DataError
from nashdex.core.ids import PolicyId, policy_id
from nashdex.core.steps import StepName
from nashdex.games.space import Space
from nashdex.metagame.analysis import MetaStrategy
from nashdex.policies.archive import load_policy
from nashdex.policies.interface import Policy
from nashdex.policies.mixture import Mixture
from nashdex.policies.scripted import SCRIPTED
from nashdex.store import open_store
from nashdex.store.attempt import find_manifest
from nashdex.store.protocol import ObjectStore

NASH = "nash"


@dataclass(frozen=True, slots=True)
class Contestant:
    """A policy or mixture; one of its policies is drawn for each pair of battles."""

    mixture: Mixture
    policies: Mapping[PolicyId, Policy]


def load_contestant(text: str, space: Space) -> Contestant:
    """Return who ``text`` names.

    Raises:
        ConfigurationError: it names nobody.
        DataError: the run or policy is missing, altered, or of another space.
    """
    run_uri, hash_sign, name = text.rpartition("#")
    if not hash_sign:
        if text not in SCRIPTED:
            known = ", ".join(sorted(SCRIPTED))
            raise ConfigurationError(f"unknown policy {text!r}: expected {known}, RUN_URI#POLICY_ID or RUN_URI#{NASH}")
        return _single(open_store("."), PolicyId(text), space)
    store = open_store(run_uri)
    if name != NASH:
        return _single(store, policy_id(name), space)
    iteration = newest_solved_iteration(store)
    key = keys.published(iteration, keys.META_STRATEGY)
    strategy = MetaStrategy.from_json(store.get(key), f"{store.uri}/{key}")
    mixture = Mixture({policy: share for policy, share in strategy.meta_strategy.items() if share > 0})
    return Contestant(mixture, {policy: load_policy(store, policy, space) for policy in mixture.support})


def newest_solved_iteration(store: ObjectStore) -> int:
    """Return the run's newest iteration that has a meta-strategy.

    Raises:
        DataError: none has, or there is no run.
    """
    iteration = 0
    while find_manifest(store, iteration, StepName.SOLVE, 0):
        iteration += 1
    if iteration == 0:
        raise DataError(
            f"{store.uri} holds no run with a solved iteration: expected the URI of a run, as `nashdex run` prints"
        )
    return iteration - 1


def _single(store: ObjectStore, policy: PolicyId, space: Space) -> Contestant:
    return Contestant(Mixture({policy: 1.0}), {policy: load_policy(store, policy, space)})
