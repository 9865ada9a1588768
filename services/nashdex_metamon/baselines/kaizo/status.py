"""Rules for statuses, hazards and moves that hinder."""

from poke_env.battle import Move, MoveCategory, SideCondition, Status

from nashdex_metamon.baselines.kaizo.context import FIVE_STATS, Context, rule, words

_ENCORED = frozenset(
    words(
        """
    attract camouflage charge confuseray conversion conversion2 detect dreameater encore endure fakeout
    followme foresight glare growth harden haze healbell imprison ingrain knockoff lightscreen meanlook
    mudsport poisonpowder protect recycle refresh rest roar roleplay safeguard skillswap stunspore superfang
    supersonic swagger sweetkiss teeterdance thief thunderwave toxic watersport willowisp
    """
    )
)
_TRAPPING = words(
    """
    sandtomb whirlpool wrap meanlook spiderweb anchorshot spiritshackle jawlock shadowhold thousandwaves
    block fairylock
    """
)
_HAZARDS = {
    "stealthrock": (SideCondition.STEALTH_ROCK, 1, ("flying",)),
    "spikes": (SideCondition.SPIKES, 3, ("flying",)),
    "toxicspikes": (SideCondition.TOXIC_SPIKES, 2, ("flying", "poison", "steel")),
}
"""By move: the condition, its most layers, and types that it does not hurt."""


@rule("skillswap")
def skill_swap(c: Context, move: Move) -> int:
    """The original asks whether a move has an ability's name, so that it never swaps."""
    return c.when(80, 2) if c.is_repaired and c.foe.ability else -1


@rule(
    *"confuseray supersonic dynamicpunch shadowpanic teeterdance sweetkiss flatter swagger hurricane".split(" ")  # noqa: SIM905
)
def confuse(c: Context, move: Move) -> int:
    score = c.when(50, 1) if move.id in {"flatter", "swagger"} else 0
    return score + sum(c.when(50, -1) for threshold in (0.7, 0.5, 0.3) if c.o <= threshold)


@rule("conversion")
def conversion(c: Context, move: Move) -> int:
    return -2 if c.h < 0.9 or c.p(80) else 0


@rule("disable")
def disable(c: Context, move: Move) -> int:
    if c.foe_last is None or c.slow:
        return 0
    return c.when(61, -1) if c.foe_last.category == MoveCategory.STATUS else 1


@rule("encore")
def encore(c: Context, move: Move) -> int:
    if c.slow or c.foe_last is None or c.foe_last.id not in _ENCORED:
        return -2
    return c.when(88, 3)


@rule("roar", "whirlwind")
def roar(c: Context, move: Move) -> int:
    return c.when(50, 2) if any(c.foe_stage(stat) >= 3 for stat in FIVE_STATS) else -3


@rule("imprison")
def imprison(c: Context, move: Move) -> int:
    return c.when(61, 2)


@rule("leechseed", "toxic")
def leech_seed(c: Context, move: Move) -> int:
    score = 0
    if c.h < 0.5 and any(known.base_power > 1 for known in c.own.moves.values()):
        drawn = c.situation.random.random()
        score = 0 if drawn < 0.04 else -3 if drawn < 0.35 else -6
    return score + (c.when(77, 2) if c.has("protect", "detect") else 0)


@rule("glare", "stunspore", "thunderwave")
def paralyse(c: Context, move: Move) -> int:
    if c.slow:
        return c.when(92, 3) if c.foe.status != Status.PAR else 0
    return -int(c.h < 0.7)


@rule("poisonpowder")
def poison_powder(c: Context, move: Move) -> int:
    return -int(c.h < 0.5 or c.o < 0.5)


@rule("recycle")
def recycle(c: Context, move: Move) -> int:
    return -2


@rule("grasswhistle", "hypnosis", "lovelykiss", "sing", "sleeppowder", "yawn")
def put_to_sleep(c: Context, move: Move) -> int:
    return c.when(50, 1) if c.has("dreameater", "nightmare") else 0


@rule(*_TRAPPING)
def trap(c: Context, move: Move) -> int:
    escapes = move.id in {"fairylock", "thousandwaves"} and c.foe_is("ghost")
    return c.when(50, 1) if c.foe.status == Status.TOX and not escapes else 0


@rule("watersport")
def water_sport(c: Context, move: Move) -> int:
    return 2 if c.h > 0.5 and c.foe_is("fire") else -1


@rule("taunt")
def taunt(c: Context, move: Move) -> int:
    score = c.when(50, -1) if c.ineffective(move) else 0
    hurts = c.foe_last is not None and c.situation.advantage(c.foe_last.type, c.own) > 1
    return score + (c.when(50, -1) if hurts else 0)


@rule(*_HAZARDS)
def lay_hazard(c: Context, move: Move) -> int:
    condition, most, unhurt = _HAZARDS[move.id]
    layers = c.situation.battle.opponent_side_conditions.get(condition)
    present = most if layers is not None and most == 1 else (layers or 0)
    return c.when(40, 1) if not c.foe_is(*unhurt) and present < most else -1
