"""The key grammar of a run: where each object is, relative to the run's URI.

```
manifest.json                                                  hashes of the run's first objects
config.json
teams.txt, team_sets.json, matrix.json
replays.json, replays/{sha256}.jsonl.lz4                       raw battles to clone from
verdict.json                                                   how the run ended; deleted when it continues
policies/{policy}/policy.json, weights.safetensors, table.safetensors
imported/{policy}/policy.json, weights.safetensors, vocabulary.json    from other projects; frozen
published.json                                                 names for good, in a folder such as the zoo
cards/{policy}.json                                            the card of a published policy
cards/{policy}.levels.json                                     temperatures with measured strength
cards/{policy}.calibration.json                                from the critic's chances to calibrated ones
initial/...                                                    what the first network begins from; keys as above
iterations/{iteration:04d}/{step}/{shard:05d}/{attempt}/...    data of one attempt
iterations/{iteration:04d}/{step}/{shard:05d}/manifest.json    written last, only if absent
iterations/{iteration:04d}/{step}/{shard:05d}/checkpoint.json  where a later attempt resumes
iterations/{iteration:04d}/plan.json, population.json, ...     documents that an iteration publishes
logs/{iteration:04d}/{step}/{shard:05d}/{attempt}/...          log of one attempt, in parts
iterations/{iteration:04d}/train/{shard:05d}/actors/...         learner and actors: learning.actors.protocol
```
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from nashdex.core.ids import AttemptId, BarePolicyId
from nashdex.core.steps import StepName

RUN_MANIFEST = "manifest.json"
CONFIG = "config.json"
TEAMS = "teams.txt"
TEAM_SETS = "team_sets.json"
MATRIX = "matrix.json"
REPLAYS = "replays.json"
SMALLER_BUDGETS = "smaller_budgets.json"
"""Stored with an exploiter's run: what smaller budgets scored against the same target."""
VERDICT = "verdict.json"
ITERATIONS = "iterations"
MAX_ITERATIONS: Final = 9999
"""So that the folders of iterations, of four digits each, are in order."""
LOGS = "logs"

PLAN = "plan.json"
POPULATION = "population.json"
INTERACTION_MATRIX = "interaction_matrix.json"
BATTLE_TOTALS = "battle_totals.json"
META_STRATEGY = "meta_strategy.json"
META_GAME_ANALYSIS = "meta_game_analysis.json"
CALIBRATION = "calibration.json"
"""Beside the published documents of an iteration, where `nashdex calibrate` was run; no step reads it."""
EXPLOIT = "exploit.json"
"""Beside them in an exploiter's run: what its best response scores. The report step writes it; no step reads it."""
REPORT = "report.json"
REPORT_PAGE = "report.html"
REPORT_CELLS = "report_cells.js"
"""Every pair of policies, where the report lists only some. A page in a folder can load scripts, but no JSON."""

PUBLISHED_BY: Final[Mapping[str, StepName]] = MappingProxyType(
    {
        PLAN: StepName.PLAN,
        POPULATION: StepName.SOLVE,
        INTERACTION_MATRIX: StepName.SOLVE,
        BATTLE_TOTALS: StepName.SOLVE,
        META_STRATEGY: StepName.SOLVE,
        META_GAME_ANALYSIS: StepName.SOLVE,
        REPORT: StepName.REPORT,
        REPORT_PAGE: StepName.REPORT,
        REPORT_CELLS: StepName.REPORT,
        EXPLOIT: StepName.REPORT,
    }
)
"""The step whose manifest names each published document. Published copies are for people; steps read the original."""


def iteration_folder(iteration: int) -> str:
    """Return the name of an iteration's folder."""
    return f"{iteration:04d}"


def published(iteration: int, name: str) -> str:
    """Return the key of a document that an iteration publishes, such as ``meta_strategy.json``."""
    return f"{ITERATIONS}/{iteration_folder(iteration)}/{name}"


EXCHANGE: Final = "actors"
"""Folder of a train shard: what learner and actors exchange."""
JOURNAL_ENTRIES: Final = "journal"
"""Folder of a train shard: what its rounds learned from, while it trains."""


def step_prefix(iteration: int, step: StepName) -> str:
    """Return the prefix of all objects of a step."""
    return f"{ITERATIONS}/{iteration_folder(iteration)}/{step}"


def shard_prefix(iteration: int, step: StepName, shard: int) -> str:
    """Return the prefix of all objects of a shard."""
    return f"{step_prefix(iteration, step)}/{shard:05d}"


def manifest(iteration: int, step: StepName, shard: int) -> str:
    """Return the key of a shard's manifest."""
    return f"{shard_prefix(iteration, step, shard)}/manifest.json"


def checkpoint(iteration: int, step: StepName, shard: int) -> str:
    """Return the key of the pointer to a shard's newest checkpoint."""
    return f"{shard_prefix(iteration, step, shard)}/checkpoint.json"


def attempt_object(iteration: int, step: StepName, shard: int, attempt: AttemptId, name: str) -> str:
    """Return the key of one object of one attempt."""
    return f"{shard_prefix(iteration, step, shard)}/{attempt}/{name}"


def log_part(iteration: int, step: StepName, shard: int, attempt: AttemptId, part: int) -> str:
    """Return the key of one part of an attempt's log, from 0."""
    return f"{LOGS}/{iteration:04d}/{step}/{shard:05d}/{attempt}/{part:05d}.jsonl"


POLICY_FOLDERS: Final = ("policies", "imported", "ensembles")
"""Folders of stored policies, each in a folder named by its id."""
POLICY_DOCUMENT: Final = "policy.json"
PUBLISHED: Final = "published.json"
"""In a folder of policies such as the zoo: names that never change their policy."""


NAMES: Final = "names"
"""In a folder of policies: folder with an object for each published name."""


def published_name(name: str) -> str:
    """Return the key of a published name."""
    return f"{NAMES}/{name}.json"


def policy_document(policy: BarePolicyId) -> str:
    """Return the key of a policy's description."""
    return f"policies/{policy}/policy.json"


def policy_weights(policy: BarePolicyId) -> str:
    """Return the key of a policy's weights."""
    return f"policies/{policy}/weights.safetensors"


def policy_table(policy: BarePolicyId) -> str:
    """Return the key of a policy's action probabilities by information state. Policies of tabular games have one."""
    return f"policies/{policy}/table.safetensors"


def ensemble_document(policy: BarePolicyId) -> str:
    """Return the key of an ensemble's description."""
    return f"ensembles/{policy}/{POLICY_DOCUMENT}"


def policy_card(policy: BarePolicyId) -> str:
    """Return the key of a published policy's card."""
    return f"cards/{policy}.json"


def policy_levels(policy: BarePolicyId) -> str:
    """Return the key of a policy's levels."""
    return f"cards/{policy}.levels.json"


def policy_calibration(policy: BarePolicyId) -> str:
    """Return the key of the calibration of a policy's critic."""
    return f"cards/{policy}.calibration.json"


def replay_part(sha256: str) -> str:
    """Return the key of a part of the run's raw replays."""
    return f"replays/{sha256}.jsonl.lz4"


INITIAL: Final = "initial"
"""Folder of the policy that the run's first network begins from: no member, so apart from those."""


def imported_document(policy: BarePolicyId) -> str:
    """Return the key of the description of a policy that was imported from another project."""
    return f"imported/{policy}/policy.json"


def imported_weights(policy: BarePolicyId) -> str:
    """Return the key of an imported policy's weights."""
    return f"imported/{policy}/weights.safetensors"


def imported_vocabulary(policy: BarePolicyId) -> str:
    """Return the key of an imported policy's vocabulary."""
    return f"imported/{policy}/vocabulary.json"
