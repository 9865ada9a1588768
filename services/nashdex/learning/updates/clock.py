"""Where a training is, in decisions: what schedules and annealing refer to."""

from dataclasses import dataclass

from nashdex.learning.damping.schedule import Moment


@dataclass(frozen=True)
class Clock:
    """The length of a training, and what came before it: in this iteration, or in the whole run."""

    length_decisions: int
    """Decisions that the training learns from, earlier iterations included if it counts them."""
    decisions_before: int = 0
    """Of earlier iterations, if it counts them."""
    updates_before: int = 0

    def moment(self, update: int, round_decisions_before: int, round_decisions: int, round_share: float) -> Moment:
        """Return the moment of optimiser step ``update`` of this training.

        Args:
            update: counted from 0.
            round_decisions_before: decisions of the rounds before this one, in this training.
            round_decisions: decisions of this round.
            round_share: share of this round's optimiser steps that are done.
        """
        decisions = self.decisions_before + round_decisions_before + round_share * round_decisions
        return Moment(
            update=self.updates_before + update,
            decisions=decisions,
            share=min(1.0, decisions / max(1, self.length_decisions)),
        )
