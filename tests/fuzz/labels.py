"""``python -m fuzz.labels [--mislabelled N] [--mutations N] [--seed N] [LOGS...]``: logs under false names.

Logs of every generation, single and double, of people and of random play, are read under formats that they are not of:
each must be refused, by cause. Then their lines are changed, a few at once, some by lines of other logs: each must be
refused by cause, or be read under its own format. Prints counts by cause. Exits with 1 if a log is read under a false
name, or if anything but a refusal is raised.
"""

import argparse
import json
import random
import sys
from collections import Counter
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from nashdex.core.ids import PolicyId
from nashdex.games.registry import game_for
from nashdex.games.showdown.gateway import Gateway
from nashdex.games.showdown.names import DOUBLES, SHOWDOWN
from nashdex.policies.scripted.playing import scripted_policy
from nashdex.rollout.pairs import PairedBattles
from nashdex.rollout.play import require_finished
from nashdex.rollout.session import Session
from nashdex.settings.run import canonical_format
from nashdex_metamon.data.parsing import parsed
from nashdex_replays.doubles.reconstruction import joint_views
from nashdex_replays.following import Follower, seen_by
from nashdex_replays.reconstruction import views
from nashdex_replays.refusal import RefusedReplayError
from nashdex_replays.replay import RawReplay, parse_log
from nashdex_replays.sources import sources

_DATA: Final = Path(__file__).parents[1] / "data"
_RECORDED: Final = (_DATA / "metamon" / "battles", _DATA / "metamon" / "logs", _DATA / "vgc")
_PLAYED: Final = (
    "gen3randombattle",
    "gen5ou",
    "gen6ou",
    "gen7ou",
    "gen8ou",
    "gen6doublesou",
    "gen8vgc2022",
    "gen9vgc2024regg",
)
_BATTLES_EACH: Final = 2
_MOST_LINES: Final = 1200
"""Longer logs are of stalling, and take long to follow."""
_RANDOM: Final = PolicyId("random")


@dataclass(frozen=True, slots=True)
class Log:
    """A battle, and the format that it is of."""

    format: str
    lines: tuple[str, ...]


@dataclass(slots=True)
class Counts:
    """What became of the logs."""

    refused: Counter[str] = field(default_factory=Counter)
    """By cause."""
    read: int = 0
    """Under their own format."""
    failures: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        total = self.refused.total() + self.read + len(self.failures)
        causes = ", ".join(f"{cause} {number:,}" for cause, number in self.refused.most_common())
        read = f", {self.read:,} read under their own format" if self.read else ""
        return f"{total:,} logs: {self.refused.total():,} refused ({causes}){read}, {len(self.failures)} failures"


def recorded(folders: Sequence[Path]) -> list[Log]:
    """Return the logs of folders that can be read under the label that they carry."""
    found = []
    for folder in folders:
        for source in sources(folder):
            try:
                replay = source.read()
            except RefusedReplayError:
                continue
            found.append(Log(replay.format, replay.lines))
    return found


def played(format_id: str, seed: int) -> list[Log]:
    """Play battles of random choices, and return what spectators see of them."""
    game, found = game_for(format_id), []
    with Session(game.open_arena(num_gateways=1), _BATTLES_EACH) as session:
        session.policies[_RANDOM] = scripted_policy(_RANDOM, session.space)
        paired = PairedBattles(seed, game.teams(), 300.0)
        planned = (paired.assignment(number, (_RANDOM, _RANDOM), log=True) for number in range(_BATTLES_EACH))
        for finished in session.play(planned):
            log = require_finished(finished).log
            assert log is not None, "the battle keeps its log"
            found.append(Log(format_id, tuple(seen_by(0, seen_by(1, log.split("\n"))))))
    return found


def mislabel(logs: Sequence[Log], number: int, generator: random.Random) -> Counts:
    """Read logs under formats that they are not of."""
    counts = Counts()
    for place in range(number):
        log = logs[place % len(logs)]
        _read(log.lines, log.format, _other_format(log, generator), counts, None)
    return counts


def mutate(logs: Sequence[Log], number: int, generator: random.Random) -> Counts:
    """Read changed logs under their own formats and under others. One gateway is open at a time."""
    counts = Counts()
    formats = sorted({log.format for log in logs})
    for place, format_id in enumerate(formats):
        mine = [log for log in logs if log.format == format_id]
        with closing(_Reader(format_id)) as reader:
            for _ in range(number * (place + 1) // len(formats) - number * place // len(formats)):
                log = generator.choice(mine)
                lines = mutated(log.lines, logs, generator)
                label = log.format if generator.random() < 0.5 else _other_format(log, generator)
                _read(lines, log.format, label, counts, reader)
    return counts


def mutated(lines: Sequence[str], logs: Sequence[Log], generator: random.Random) -> list[str]:
    """Return ``lines`` after one to four changes."""
    found = list(lines)
    for _ in range(generator.randint(1, 4)):
        at = generator.randrange(len(found))
        other = generator.choice(generator.choice(logs).lines)
        match generator.randrange(6):
            case 0 if len(found) > 1:
                del found[at]
            case 1:
                found.insert(at, found[at])
            case 2:
                found.insert(at, other)
            case 3:
                found[at] = other
            case 4:
                to = generator.randrange(len(found))
                found[at], found[to] = found[to], found[at]
            case _:
                line = found[at]
                cut = generator.randint(0, len(line))
                found[at] = line[:cut] + generator.choice("|:/,[]01 Zé") + line[cut + generator.randint(0, 2) :]
    return found


def _other_format(log: Log, generator: random.Random) -> str:
    others = [name for name in sorted(SHOWDOWN) if canonical_format(name) != canonical_format(log.format)]
    same = [name for name in others if name[3] == log.format[3]]
    return generator.choice(same if same and generator.random() < 0.5 else others)


class _Reader:
    """Reads both players' views of battles of one format."""

    def __init__(self, format_id: str) -> None:
        is_known, is_doubles = format_id in SHOWDOWN, format_id in DOUBLES
        self._gateway = Gateway(format_id) if is_known and is_doubles else None
        self._follower = Follower(format_id) if is_known and not is_doubles else None

    def read(self, replay: RawReplay) -> str:
        """Return the cause of a refusal; empty if the battle can be read."""
        if self._gateway is not None:
            _, refused = joint_views([replay], self._gateway)
        elif self._follower is not None:
            pairs, refused = views([replay], self._follower)
            for view in (view for pair in pairs for view in pair):
                parsed(view, self._follower)
        else:
            return "format"
        return next(iter(refused), "")

    def close(self) -> None:
        """Stop the gateway."""
        if self._gateway is not None:
            self._gateway.close()
        if self._follower is not None:
            self._follower.__exit__()


def _read(lines: Sequence[str], truth: str, label: str, counts: Counts, reader: _Reader | None) -> None:
    text = "\n".join(lines)
    try:
        replay = parse_log(text, f"{label}-1", label, 0, "the log")
        if canonical_format(label) != canonical_format(truth):
            counts.failures.append(f"a log of {truth} was read as {label}")
            return
        cause = "" if reader is None else reader.read(replay)
    except RefusedReplayError as refusal:
        cause = refusal.cause
    except Exception as error:  # noqa: BLE001 - whatever it is, it is a failure
        counts.failures.append(f"{truth} as {label}: {type(error).__name__}: {error}")
        return
    if cause:
        counts.refused[cause] += 1
    else:
        counts.read += 1


def main() -> int:
    """Print what became of mislabelled and of mutated logs."""
    parser = argparse.ArgumentParser(prog="fuzz.labels")
    parser.add_argument("--mislabelled", type=int, default=200)
    parser.add_argument("--mutations", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("logs", nargs="*", type=Path, help="more folders of raw replays")
    options = parser.parse_args()
    generator = random.Random(options.seed)
    logs = recorded([*_RECORDED, *options.logs])
    for format_id in _PLAYED:
        logs += played(format_id, options.seed)
    logs = [log for log in logs if len(log.lines) <= _MOST_LINES]
    generator.shuffle(logs)
    number = Counter(log.format for log in logs)
    sys.stdout.write(f"{len(logs)} logs: {json.dumps(dict(sorted(number.items())))}\n")
    found = {
        "mislabelled": mislabel(logs, options.mislabelled, generator),
        "mutated": mutate(logs, options.mutations, generator),
    }
    for name, counts in found.items():
        sys.stdout.write(f"{name}: {counts}\n")
        for failure in counts.failures[:20]:
            sys.stdout.write(f"  {failure}\n")
    return 1 if any(counts.failures for counts in found.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
