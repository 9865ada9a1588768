"""Rules for moves that change stages."""

from poke_env.battle import Move, MoveCategory

from nashdex_metamon.baselines.kaizo.context import FIVE_STATS, Context, raises, rule, rule_if, words

_ATTACK = frozenset({"coil", "honeclaws", "howl", "swordsdance", "meditate", "sharpen", "shiftgear", "workup"})
_SPECIAL = frozenset({"nastyplot", "torchsong", "chargebeam", "fierydance", "geomancy", "growth", "workup"})
_DEFENSE = frozenset(
    words(
        """
    acidarmor barrier bulkup cosmicpower cottonguard defendorder defensecurl diamondstorm harden irondefense
    shelter skullbash withdraw
    """
    )
)
_WASTED = -5
_SPECIAL_DEFENSE = frozenset({"cosmicpower", "stockpile", "calmmind", "amnesia"})


@rule_if(lambda context, move: move.id in _ATTACK or move.id == "meteormash" or raises(move, "atk"))
def attack(c: Context, move: Move) -> int:
    """Only at full HP: the original compares a share of HP with 70 and 40."""
    if c.is_repaired and c.h < 1:
        return _below_full_hp(c)
    return (c.when(50, 1) if c.stage("atk") <= 2 else 0) if c.h == 1 else -2


@rule_if(
    lambda context, move: move.id in _SPECIAL or (raises(move, "spa") and move.id not in {"maxooze", "quiverdance"})
)
def special(c: Context, move: Move) -> int:
    """Only at full HP, by the same oddity."""
    if c.is_repaired and c.h < 1:
        return _below_full_hp(c)
    return (c.when(50, 1) if c.stage("spa") <= 2 and c.super(move) else 0) if c.h == 1 else -2


@rule("charm")
def charm(c: Context, move: Move) -> int:
    if c.foe_stage("atk") < 0:
        score = -1 - (c.h < 0.9)
        return score + (c.when(80, -1) if c.foe_stage("atk") < -3 else 0)
    if c.h < 0.7:
        return -2
    return 0 if c.foe_is(*PHYSICAL_TYPES) else -2


PHYSICAL_TYPES = ("normal", "fighting", "flying", "poison", "ground", "ghost", "bug", "steel")


@rule("batonpass")
def baton_pass(c: Context, move: Move) -> int:
    """Pass stages on while it is still possible."""
    stages = [c.stage(stat) for stat in FIVE_STATS]
    threshold = 0.7 if c.slow else 0.6
    if max(stages) >= 3:
        return c.when(69, 2) if c.h < threshold else 0
    if max(stages) >= 2:
        return -2 if c.h > threshold else 0
    return -2


@rule("bellydrum")
def belly_drum(c: Context, move: Move) -> int:
    return -2 if c.h < 0.9 else 0


@rule("curse")
def curse(c: Context, move: Move) -> int:
    if c.own_is("ghost"):
        return c.when(69, -1)
    return sum(c.when(50, 1) for least in (3, 2, 1) if c.stage("def") >= least) + c.when(50, 1)


@rule_if(lambda context, move: move.id in _DEFENSE or raises(move, "def"))
def defense(c: Context, move: Move) -> int:
    score = c.when(50, 2) if c.h == 1 and c.stage("def") <= 2 else 0
    if c.stage("spd") >= 3:
        score += c.when(61, -1)
    if c.h <= 0.4:
        return score - 2
    if c.h < 0.7 or c.p(22):
        chance = 70.0
        if c.foe_last is not None:
            by_category = {MoveCategory.PHYSICAL: 59.0, MoveCategory.STATUS: 77.0, MoveCategory.SPECIAL: 100.0}
            chance = by_category[c.foe_last.category]
        score += c.when(chance, -2)
    return score


def _lowering(c: Context, stat: str) -> int:
    score = -2 if c.h < 0.7 else 0
    return score + (c.when(80, -2) if c.h < 0.7 or c.foe_stage(stat) <= -3 else 0)


@rule("tickle")
def tickle(c: Context, move: Move) -> int:
    return _lowering(c, "atk")


@rule("faketears")
def fake_tears(c: Context, move: Move) -> int:
    return _lowering(c, "spd")


@rule("moonblast")
def moonblast(c: Context, move: Move) -> int:
    score = c.when(50, -2) if c.h < 0.5 else 0
    return score + (c.when(80, -2) if c.h < 0.5 or c.foe_stage("spa") <= -3 else 0)


@rule("dragondance")
def dragon_dance(c: Context, move: Move) -> int:
    if c.slow:
        return c.when(50, 1)
    return c.when(73, -1) if c.h < 0.5 else 0


@rule("doubleteam")
def double_team(c: Context, move: Move) -> int:
    stage = c.stage("evasion")
    score = c.when(61, 3) if c.h > 0.9 else 0
    score += c.when(50, -1) if stage >= 3 else 0
    score += -2 if c.h < 0.4 else 0
    return score + (c.when(73, -2) if stage != 0 and 0.4 < c.h < 0.7 else 0)


@rule("sweetscent")
def sweet_scent(c: Context, move: Move) -> int:
    return c.when(80, -2) if c.h < 0.7 or c.foe_stage("evasion") <= -3 else -2


@rule("tailglow")
def tail_glow(c: Context, move: Move) -> int:
    score = c.when(61, -1) if c.stage("spa") >= 3 else 0
    if c.h == 1:
        return score + (c.when(50, 1) if c.stage("spa") <= 2 else 0)
    return score + _below_full_hp(c)


def _below_full_hp(c: Context) -> int:
    if c.h > 0.7:
        return 0
    return c.when(84, -2) if c.h > 0.4 else -2


@rule_if(lambda context, move: move.id in _SPECIAL_DEFENSE or raises(move, "spd"))
def special_defense(c: Context, move: Move) -> int:
    score = c.when(50, 2) if c.h == 1 and c.stage("spd") <= 2 else 0
    if c.stage("spd") >= 3:
        score += c.when(61, -1)
    if c.h < 0.4:
        return score - 2
    return score + c.when(22 if c.h > 0.7 else 70, -2)


@rule("agility")
def agility(c: Context, move: Move) -> int:
    return c.when(73, 3) if c.slow else -3


@rule(
    *words(
        """
    bubble bubblebeam bulldoze cottonspore drumbeating electroweb glaciate lowsweep pounce icywind mudshot
    rocktomb stringshot scaryface syrupbomb tarshot toxicthread
    """
    )
)
def slowing(c: Context, move: Move) -> int:
    return c.when(73, 2) if c.slow else -3


@rule("haze")
def haze(c: Context, move: Move) -> int:
    return 2 if any(c.foe_stage(stat) >= 3 for stat in FIVE_STATS) else 0


@rule("raindance", "hail", "sunnyday")
def weather(c: Context, move: Move) -> int:
    """The weather that is up counts where the rules are repaired alone."""
    if c.weather_is(move.id):
        return _WASTED
    return -1 if c.h < 0.4 else 1
