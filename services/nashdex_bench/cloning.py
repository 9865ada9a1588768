"""How well a clone of people's double battles predicts battles that it has not seen, by cross-validation.

Battles are dealt into folds. For each fold, a network learns from the battles of the others and predicts the decisions
of this one. Each slot with a choice that the log shows counts once, and the prediction is its most probable choice. The
reference is the slot's legal choice that is most frequent in the same training battles. Intervals are by resampled
battles: decisions of one are alike. N decisions, K legal pairs, M choices of a slot.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import numpy as np
import torch
from numpy.typing import NDArray
from pydantic import NonNegativeInt, PositiveInt
from torch import Tensor

from nashdex.core.documents import Model
from nashdex.core.errors import ConfigurationError, DataError
from nashdex.core.ids import AttemptId
from nashdex.core.seeds import derive_seed
from nashdex.core.steps import StepName
from nashdex.games.showdown.gateway import Gateway
from nashdex.games.showdown.names import DOUBLES
from nashdex.games.space import Space
from nashdex.learning.experience.batching import CPU, Batch, evaluate, make_batch
from nashdex.learning.experience.data import fresh_network, prepare_torch
from nashdex.learning.updates.checkpoint import Checkpoints
from nashdex.learning.updates.training import StepSettings, Training
from nashdex.oracles.clone import MAX_GRADIENT_NORM, clone, make_lessons, num_updates
from nashdex.policies.networks.actor_critic import ActorCritic
from nashdex.settings.oracles import CloneSettings
from nashdex.store import open_store
from nashdex.telemetry.progress import Progress
from nashdex.trajectory.episode import Episode
from nashdex_bench.networks import default_network
from nashdex_replays.doubles.reconstruction import joint_views
from nashdex_replays.joint_file import episode_of
from nashdex_replays.replay import each_usable
from nashdex_replays.sources import Source, sources

_BLOCK: Final = 16
_NUM_RESAMPLES: Final = 2000
_NUM_SLOTS: Final = 2
_CHECKPOINT_EVERY_UPDATES: Final = 1 << 30


class Share(Model):
    """A share of decisions, with its interval of 95 %."""

    share: float
    low: float
    high: float


class CloningResult(Model):
    """What held-out battles show."""

    format: str
    battles: PositiveInt
    refused: dict[str, NonNegativeInt]
    folds: PositiveInt
    slots: NonNegativeInt
    """Slots with a choice that is known."""
    accuracy: Share
    """The clone's most probable choice is the one that was made."""
    most_frequent: Share
    """The most frequent legal choice is the one that was made."""
    margin: Share
    """The difference."""
    by_rating: dict[str, tuple[int, float]]
    """Slots and accuracy by the acting player's band of ratings."""


def bench_cloning(
    logs: Path,
    format_id: str,
    settings: CloneSettings,
    *,
    num_folds: int,
    seed: int,
    on_fold: Callable[[int], None] = lambda _done: None,
) -> CloningResult:
    """Clone the battles of ``logs`` that are of a doubles format, fold by fold.

    Raises:
        ConfigurationError: there are no such logs, or the format is not a doubles format.
        DataError: fewer battles than folds can be used.
        TryAgainError: the gateway is gone.
    """
    if format_id not in DOUBLES:
        raise ConfigurationError(f"{format_id} is not a doubles format; expected one such as gen9vgc2023regc")
    space, episodes, refused = _episodes(logs, format_id)
    battles = sorted({episode.seed for episode in episodes})
    if len(battles) < max(num_folds, 3):
        raise DataError(
            f"{logs} has {len(battles)} usable battles of {format_id}, and {num_folds} folds need at least "
            f"{max(num_folds, 3)}; name more logs, or fewer folds"
        )
    prepare_torch("cpu", 1)
    shuffled = np.random.default_rng(derive_seed(seed, "folds")).permutation(battles).tolist()
    rows: list[NDArray[np.float64]] = []
    for fold in range(num_folds):
        held_out = set(shuffled[fold::num_folds])
        rows.append(_judge(episodes, held_out, space, settings, derive_seed(seed, "fold", fold)))
        on_fold(fold + 1)
    judged = np.concatenate(rows)
    names = sorted({episode.policy for episode in episodes})
    return CloningResult(
        format=format_id,
        battles=len(battles),
        refused=dict(sorted(refused.items())),
        folds=num_folds,
        slots=len(judged),
        **_shares(judged, seed),
        by_rating={
            names[int(band)].rpartition(":")[2]: (int(mine.sum()), float(judged[mine, _CLONE].mean()))
            for band in np.unique(judged[:, _BAND])
            if (mine := judged[:, _BAND] == band).any()
        },
    )


_BATTLE, _BAND, _CLONE, _FREQUENT = range(4)
"""Columns of judged slots: whose battle, whose band, and whether either prediction is right."""


def _episodes(logs: Path, format_id: str) -> tuple[Space, list[Episode], Counter[str]]:
    readable, refused = each_usable(sources(logs), Source.read)
    replays = [replay for replay in readable if replay.format == format_id]
    episodes: list[Episode] = []
    with closing(Gateway(format_id)) as gateway:
        for start in range(0, len(replays), _BLOCK):
            pairs, causes = joint_views(replays[start : start + _BLOCK], gateway)
            refused.update(causes)
            episodes += [episode_of(view, gateway.space) for pair in pairs for view in pair]
        return gateway.space, episodes, refused


def _judge(
    episodes: Sequence[Episode],
    held_out: set[int],
    space: Space,
    settings: CloneSettings,
    seed: int,
) -> NDArray[np.float64]:
    """Learn from all battles but ``held_out``, and return the judged slots of these, (N, 4)."""
    others = [episode for episode in episodes if episode.seed not in held_out]
    mine = [episode for episode in episodes if episode.seed in held_out]
    model = fresh_network(space, default_network(space), seed)
    trained = _train(model, others, space, settings, seed)
    batch = make_batch(mine, CPU, num_slots=space.num_slots)
    log_probs, _ = evaluate(trained, batch)
    size, names = len(space.actions), sorted({episode.policy for episode in episodes})
    frequency = _frequencies(make_batch(others, CPU, num_slots=space.num_slots), size)
    lengths = [len(episode) for episode in mine]
    battles = np.repeat([float(episode.seed % (1 << 52)) for episode in mine], lengths)
    bands = np.repeat([float(names.index(episode.policy)) for episode in mine], lengths)
    rows = []
    for slot in range(space.num_slots):
        legal, chosen = slot_choices(batch, slot, size)
        judged = _counts(legal, chosen)
        predicted = slot_probabilities(log_probs, batch, slot, size).argmax(dim=1)
        frequent = frequency[slot].expand(legal.shape).masked_fill(~legal, -1).argmax(dim=1)
        columns = [battles, bands, (predicted == chosen).numpy(), (frequent == chosen).numpy()]
        rows.append(np.stack(columns, axis=1).astype(np.float64)[judged.numpy()])
    return np.concatenate(rows)


def slot_choices(batch: Batch, slot: int, size: int) -> tuple[Tensor, Tensor]:
    """Return the legal choices of a slot, (N, M), and the number of the chosen one, (N,); −1 where it is unknown."""
    numbers = _of_slot(batch.masks, slot, size)
    legal = _marked(numbers, batch.masks >= 0, size)
    if batch.agreeing is None:
        return legal, numbers.gather(1, batch.actions[:, None]).squeeze(1)
    agreeing = _marked(numbers, batch.agreeing, size)
    return legal, torch.where(agreeing.sum(dim=1) == 1, agreeing.int().argmax(dim=1), -1)


def slot_probabilities(log_probs: Tensor, batch: Batch, slot: int, size: int) -> Tensor:
    """Return the probability of each choice of a slot, (N, M): the sum over the legal pairs that have it."""
    return torch.zeros(len(batch), size).scatter_add_(1, _of_slot(batch.masks, slot, size), log_probs.exp())


def _of_slot(pairs: Tensor, slot: int, size: int) -> Tensor:
    """Return the choice of a slot in each pair, (N, K); 0 in the padding."""
    pairs = pairs.clamp(min=0).long()
    return pairs % size if slot else pairs.div(size, rounding_mode="floor")


def _marked(numbers: Tensor, where: Tensor, size: int) -> Tensor:
    """Return which of ``size`` numbers occur ``where``, (N, M)."""
    return torch.zeros(len(numbers), size).scatter_add_(1, numbers, where.float()) > 0


def _counts(legal: Tensor, chosen: Tensor) -> Tensor:
    """Say which decisions count: those with a choice that the log shows."""
    return (legal.sum(dim=1) > 1) & (chosen >= 0)


def _frequencies(batch: Batch, size: int) -> tuple[Tensor, ...]:
    """Return how often each choice of each slot was chosen, (M,)."""
    found = []
    for slot in range(_NUM_SLOTS):
        legal, chosen = slot_choices(batch, slot, size)
        judged = _counts(legal, chosen)
        found.append(torch.bincount(chosen[judged], minlength=size))
    return tuple(found)


def _train(
    model: ActorCritic, episodes: Sequence[Episode], space: Space, settings: CloneSettings, seed: int
) -> ActorCritic:
    """Clone as a run does, with battles of ``episodes`` held out that choose the epoch."""
    rewards = [np.zeros(len(episode), np.float32) for episode in episodes]
    lesson, validation = make_lessons(episodes, rewards, 1.0, seed, CPU, num_slots=space.num_slots)
    with TemporaryDirectory() as folder:
        checkpoints = Checkpoints(open_store(str(Path(folder))), 0, 0, AttemptId("bench"), "bench")
        steps = StepSettings(MAX_GRADIENT_NORM, _CHECKPOINT_EVERY_UPDATES)
        training = Training(model, steps, checkpoints)
        with Progress(StepName.TRAIN, 0, num_updates(lesson, settings), "updates") as progress:
            clone(training, lesson, validation, settings, seed, progress)
    return training.network


def _shares(judged: NDArray[np.float64], seed: int) -> dict[str, Share]:
    """Return the shares, with intervals by resampled battles."""
    battles, index = np.unique(judged[:, _BATTLE], return_inverse=True)
    sums = np.zeros((len(battles), 3))
    np.add.at(sums, index, np.stack([np.ones(len(judged)), judged[:, _CLONE], judged[:, _FREQUENT]], axis=1))
    generator = np.random.default_rng(derive_seed(seed, "resamples"))
    drawn = sums[generator.integers(len(battles), size=(_NUM_RESAMPLES, len(battles)))].sum(axis=1)

    def share(of: Callable[[NDArray[np.float64]], NDArray[np.float64]]) -> Share:
        low, high = np.quantile(of(drawn), [0.025, 0.975])
        return Share(share=float(of(sums.sum(axis=0, keepdims=True))[0]), low=float(low), high=float(high))

    return {
        "accuracy": share(lambda rows: rows[:, 1] / rows[:, 0]),
        "most_frequent": share(lambda rows: rows[:, 2] / rows[:, 0]),
        "margin": share(lambda rows: (rows[:, 1] - rows[:, 2]) / rows[:, 0]),
    }


def lines(result: CloningResult) -> list[str]:
    """Return the result in words."""
    found = [
        f"{result.format}: {result.battles} battles in {result.folds} folds, {result.slots} slots held out",
        _line("accuracy of the clone", result.accuracy),
        _line("most frequent legal choice", result.most_frequent),
        _line("margin", result.margin),
    ]
    found += [f"  {band}: {share:.3f} of {number} slots" for band, (number, share) in result.by_rating.items()]
    if result.refused:
        found.append("refused: " + ", ".join(f"{cause} {number}" for cause, number in result.refused.items()))
    return found


def _line(name: str, share: Share) -> str:
    return f"{name:28} {share.share:.3f} ({share.low:.3f} to {share.high:.3f}, 95 % of resampled battles)"
