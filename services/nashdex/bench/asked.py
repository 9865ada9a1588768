"""Battles between random players, as the log of a bot has them at each decision."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from nashdex.core.seeds import derive_seed
from nashdex.games.interface import BattleSpec, RunningBattle
from nashdex.games.registry import showdown_game

Ask = dict[str, Any]
"""A question of ``nashdex decide``."""


def asked(format_id: str, seed: int, *, team: str | None = None) -> Iterator[Ask]:
    """Yield the question of every decision of one battle, as the seat had seen it by then."""
    arena = showdown_game(format_id).open_arena(num_gateways=1)
    generator = np.random.default_rng(seed)
    logs: tuple[list[str], list[str]] = ([], [])
    try:
        seeds = (derive_seed(seed, 0), derive_seed(seed, 1))
        spec = BattleSpec(seed=seed, teams=(team, team), team_seeds=seeds)
        arena.start([RunningBattle(0, spec, lines=(True, True))])
        is_over = False
        while not is_over:
            events = arena.poll()
            is_over = bool(events.outcomes or events.failures)
            for decisions in events.decisions:
                actions = np.array([generator.choice(decisions.legal[row]) for row in range(len(decisions))])
                for (_, seat), seen in decisions.lines.items():
                    logs[seat].extend(seen.lines)
                    yield {"log": list(logs[seat]), "seat": f"p{seat + 1}", "request": seen.request}
                arena.act(decisions.battle, decisions.seat, actions.astype(np.int64))
    finally:
        arena.close()
