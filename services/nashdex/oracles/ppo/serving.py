"""What a further process of a training does: it computes parts of optimiser steps until it is killed."""

import sys
from pathlib import Path
from typing import Any

from nashdex.core import keys
from nashdex.learning.experience.data import collected_space, prepare_torch
from nashdex.learning.hardware.forward import forward_passes
from nashdex.learning.hardware.process_group import ProcessGroup
from nashdex.learning.initial import freeze
from nashdex.learning.references import SnapshotReference, make_reference
from nashdex.metagame.plan import IterationPlan
from nashdex.oracles.ppo.processes import READY
from nashdex.oracles.ppo.settings import PpoSettings
from nashdex.oracles.ppo.steps import Learner, WorkerSteps
from nashdex.policies.archive import load_network
from nashdex.settings.run import RunSettings
from nashdex.store import open_store
from nashdex.store.documents import read_published


def serve(described: dict[str, Any]) -> None:
    """Join the training that ``processes`` described, and compute what process 0 asks for."""
    store = open_store(described["store"])
    run = RunSettings.model_validate(described["settings"])
    plan = read_published(store, described["iteration"], keys.PLAN, IterationPlan)
    shared, settings = run.train, run.train.section_of(plan.oracle)
    assert isinstance(settings, PpoSettings), "process 0 trains by PPO"
    device = prepare_torch(shared.device, shared.num_threads, described["rank"])
    network = load_network(store, plan.learner, collected_space(store, plan)).to(device)
    freeze(network, run.network.freeze)
    start = SnapshotReference(network, plan.learner)
    reference = make_reference(store, plan, settings.damping, network, start)
    forward = forward_passes(network, shared.precision)
    sys.stdout.buffer.write(READY)
    sys.stdout.buffer.flush()
    with ProcessGroup(Path(described["meeting_place"]), described["rank"], shared.num_processes, device) as group:
        WorkerSteps(group, network, Learner(forward, reference, settings), device).serve()
