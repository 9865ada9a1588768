"""Rules for moves that heal, protect, or depend on HP."""

from poke_env.battle import Effect, Move, SideCondition, Status

from nashdex_metamon.baselines.kaizo.context import Context, rule, words

_POISONED = frozenset({Status.BRN, Status.PAR, Status.PSN, Status.TOX})
_HEALING = words(
    """
    milkdrink softboiled moonlight morningsun recover slackoff swallow synthesis roost healorder shoreup
    lunarblessing wish
    """
)


@rule("destinybond")
def destiny_bond(c: Context, move: Move) -> int:
    if c.slow:
        return -1
    score = -1 + (c.when(50, 1) if c.h < 0.7 else 0)
    score += c.when(50, 1) if c.h < 0.5 else 0
    return score + (c.when(61, 2) if c.h < 0.3 else 0)


@rule("absorb", "drainpunch", "drainingkiss", "megadrain", "leechlife", "oblivionwing", "paraboliccharge")
def drain(c: Context, move: Move) -> int:
    return c.when(80, -3) if c.resisted(move) else 0


@rule("endeavor", "painsplit")
def equalise(c: Context, move: Move) -> int:
    is_endeavor = move.id == "endeavor"
    if c.o < (0.7 if is_endeavor else 0.8):
        return -1
    threshold = (0.5 if is_endeavor else 0.6) if c.slow else 0.4
    return 1 if c.h < threshold else -1


@rule("endure")
def endure(c: Context, move: Move) -> int:
    return c.when(73, 1) if 0.04 < c.h < 0.34 else -1


@rule("facade")
def facade(c: Context, move: Move) -> int:
    return int(c.own.status in _POISONED)


@rule(*_HEALING)
def heal(c: Context, move: Move) -> int:
    if c.h == 1:
        return -3
    if not c.slow:
        return -8
    return c.when(88, -3) if c.h > 0.7 else c.when(92, 2)


@rule("healbell", "takeheart")
def heal_bell(c: Context, move: Move) -> int:
    return -5 if c.own.status is None else 0


@rule("flail", "reversal")
def flail(c: Context, move: Move) -> int:
    high, low = (0.6, 0.4) if c.slow else (0.33, 0.08)
    return -1 if c.h > high else 0 if c.h > low else 1


@rule("magiccoat")
def magic_coat(c: Context, move: Move) -> int:
    if c.h < 0.3:
        return c.when(61, -1)
    return c.when(39, 1) if c.h == 1 else c.when(88, -1)


@rule("protect", "detect")
def protect(c: Context, move: Move) -> int:
    return c.when(80, -2) if c.last is not None and c.last.id in {"protect", "detect"} else 0


@rule("rest")
def rest(c: Context, move: Move) -> int:
    if c.h == 1:
        return -8
    if c.h > (0.71 if c.slow else 0.5):
        return -5
    if c.h > (0.6 if c.slow else 0.4) and c.p(80 if c.slow else 73):
        return -3
    return c.when(96, 3)


@rule("revenge")
def revenge(c: Context, move: Move) -> int:
    cannot_act = c.own.status == Status.SLP or Effect.CONFUSION in c.own.effects
    return -2 if cannot_act or c.p(73) else 2


@rule("lightscreen", "reflect")
def screens(c: Context, move: Move) -> int:
    return -2 if c.h < 0.5 else 0


@rule("explosion", "selfdestruct")
def explode(c: Context, move: Move) -> int:
    if c.h > 0.8:
        return c.when(80, -1 if c.slow else -3)
    if c.h > 0.5:
        return c.when(80, -1)
    if c.h > 0.3:
        return c.when(50, 1)
    drawn = c.situation.random.random()
    return 2 if drawn < 0.4 else 1 if drawn < 0.9 else 0


@rule("sleeptalk")
def sleep_talk(c: Context, move: Move) -> int:
    return 10 if c.own.status == Status.SLP else -5


@rule("snore")
def snore(c: Context, move: Move) -> int:
    return 2 if c.own.status == Status.SLP else 0


@rule("substitute")
def substitute(c: Context, move: Move) -> int:
    return sum(c.when(61, -1) for threshold in (0.5, 0.7, 0.9) if c.h < threshold)


@rule("defog")
def defog(c: Context, move: Move) -> int:
    battle = c.situation.battle
    hazards = {SideCondition.SPIKES, SideCondition.STEALTH_ROCK, SideCondition.STICKY_WEB, SideCondition.TOXIC_SPIKES}
    score = c.when(80, -1) if hazards.intersection(battle.opponent_side_conditions) else 0
    return score + (c.when(50, 1) if hazards.intersection(battle.side_conditions) else 0)
