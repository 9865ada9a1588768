"""Cloning from replays and a teacher: what an epoch draws from each, and what is held out."""

import numpy as np
import pytest
import torch

from nashdex.core.ids import PolicyId, replayed_policy
from nashdex.games.legal import LegalActions
from nashdex.oracles.clone import Lesson, epoch_order, make_lessons
from nashdex.settings.oracles import CloneSettings, ReplaySettings
from nashdex.trajectory.episode import Episode

HUMAN, TEACHER = replayed_policy("1200-1399"), PolicyId("heuristic")
LENGTH = 10


def episode(seed: int, policy: PolicyId, seat: int = 0) -> Episode:
    return Episode(
        seed=seed,
        seat=seat,
        policy=policy,
        opponent=policy,
        score=1.0,
        observations=np.full((LENGTH, 1), seed, np.float32),
        legal=LegalActions.of_mask(np.ones((LENGTH, 2), np.bool_)),
        actions=np.zeros(LENGTH, np.int64),
        log_probs=np.zeros(LENGTH, np.float32),
    )


def lessons(num_replayed: int, num_own: int, share: float) -> tuple[CloneSettings, Lesson, Lesson]:
    settings = CloneSettings(minibatch_decisions=20, replays=ReplaySettings(share=share))
    episodes = [episode(seed, HUMAN) for seed in range(num_replayed)]
    episodes += [episode(100 + seed, TEACHER) for seed in range(num_own)]
    rewards = [np.zeros(LENGTH, np.float32)] * len(episodes)
    return settings, *make_lessons(episodes, rewards, 1.0, 7, torch.device("cpu"))


@pytest.mark.parametrize("share", [0.3, 0.5, 0.7])
def test_an_epoch_has_the_replays_share(share: float) -> None:
    """However many decisions each source has; every decision of the smaller one is drawn before one is drawn twice."""
    settings, lesson, validation = lessons(10, 40, share)
    rows = torch.cat(epoch_order(lesson, settings, 3))
    human = [index for index, name in enumerate(lesson.names) if name == HUMAN]
    is_human = torch.isin(lesson.actors[rows], torch.tensor(human))
    assert is_human.sum().item() == round(share * len(lesson.batch))
    counts = torch.bincount(rows[is_human], minlength=len(lesson.batch))[lesson.rows_of(replayed=True)]
    assert counts.max() - counts.min() <= 1
    assert len(validation.rows_of(replayed=True)) == LENGTH
    assert len(validation.rows_of(replayed=False)) == 4 * LENGTH


def test_one_source_alone_is_drawn_whole() -> None:
    settings, lesson, _ = lessons(10, 0, 0.5)
    assert sorted(torch.cat(epoch_order(lesson, settings, 3)).tolist()) == list(range(len(lesson.batch)))


def test_both_players_of_a_battle_are_on_one_side_of_the_split() -> None:
    episodes = [episode(seed, policy, seat) for seed in range(20) for seat, policy in enumerate((HUMAN, HUMAN))]
    episodes += [episode(100 + seed, TEACHER) for seed in range(20)]
    rewards = [np.zeros(LENGTH, np.float32)] * len(episodes)
    lesson, validation = make_lessons(episodes, rewards, 1.0, 7, torch.device("cpu"))
    learned, held_out = (set(side.batch.observations[:, 0].tolist()) for side in (lesson, validation))
    assert learned & held_out == set()
    assert learned | held_out == {float(seed) for seed in (*range(20), *range(100, 120))}
    assert len(held_out) == 4, "two battles of each source"
