"""Rules for moves that hit."""

from poke_env.battle import Effect, Move, MoveCategory, Status

from nashdex_metamon.baselines.kaizo.boosts import PHYSICAL_TYPES
from nashdex_metamon.baselines.kaizo.context import Context, rule, words

_UNMISSABLE = words(
    """
    aerialace aurasphere clearsmog faintattack magicalleaf magnetbomb shadowpunch shockwave swift vitalthrow
    trumpcard
    """
)
_OFTEN_CRITICAL = words(
    """
    blazekick aeroblast crabhammer crosschop dragonclaw drillpeck drillrun karatechop leafblade razorleaf
    slash
    """
)


@rule(*_UNMISSABLE)
def unmissable(c: Context, move: Move) -> int:
    stage = c.stage("accuracy")
    return (c.when(61, 1) if stage <= -3 else 0) + (stage <= -5)


@rule("brickbreak")
def brick_break(c: Context, move: Move) -> int:
    """Own Reflect, as an effect of the Pokémon."""
    return int(Effect.REFLECT in c.own.effects)


@rule("solarbeam")
def solar_beam(c: Context, move: Move) -> int:
    score = -2 if c.has("protect", "detect") or c.resisted(move) else 0
    return score - (c.h < 0.38)


@rule("counter", "mirrorcoat")
def counter(c: Context, move: Move) -> int:
    if c.foe_cannot_act:
        return -1
    is_mirror = move.id == "mirrorcoat"
    score = (c.when(96, -1) if c.h < 0.3 else 0) + (c.when(61, -1) if c.h < 0.5 else 0)
    if c.has("counter") and c.has("mirrorcoat"):
        return score + c.when(61, 4)
    if c.foe_last is None:
        return score
    if c.foe_last.category == MoveCategory.STATUS:
        physical = [type_.name.lower() in PHYSICAL_TYPES for type_ in c.own.types]
        fits = not any(physical) if is_mirror else all(physical)
        return score + (c.when(50, 4) if fits else 0)
    hits_it = (c.foe_last.category == MoveCategory.SPECIAL) == is_mirror
    return score + (c.when(61, 1) if hits_it else -1)


@rule("dreameater")
def dream_eater(c: Context, move: Move) -> int:
    return -int(c.resisted(move))


@rule("fakeout")
def fake_out(c: Context, move: Move) -> int:
    return 2


@rule("focuspunch")
def focus_punch(c: Context, move: Move) -> int:
    return int(c.foe.status == Status.SLP) - int(c.resisted(move))


@rule(*_OFTEN_CRITICAL)
def often_critical(c: Context, move: Move) -> int:
    effect = c.effect(move)
    return c.when(25, 1) if effect == 1 else c.when(50, 1) if effect > 1 else 0


@rule("knockoff")
def knock_off(c: Context, move: Move) -> int:
    return c.when(27, 1) if c.h > 0.3 else 0


@rule("pursuit")
def pursuit(c: Context, move: Move) -> int:
    return int((c.h == 1 and c.foe_is("ghost")) or (c.foe_is("psychic") and c.p(50)))


@rule("blastburn", "frenzyplant", "hydrocannon", "hyperbeam")
def recharging(c: Context, move: Move) -> int:
    if c.resisted(move):
        return -1
    return -1 if c.h > (0.6 if c.slow else 0.41) else 0


@rule("bounce", "dig", "dive", "fly")
def two_turns(c: Context, move: Move) -> int:
    """Weather that hurts counts where the rules are repaired alone."""
    if c.has("protect", "detect"):
        return -1
    hurt = Effect.LEECH_SEED in c.foe.effects or c.foe.status == Status.TOX or c.weather_is("sandstorm", "hail")
    return c.when(69, 1) if not c.slow or hurt else 0


@rule("superfang")
def super_fang(c: Context, move: Move) -> int:
    return -int(c.o > 0.5)


@rule("vitalthrow")
def vital_throw(c: Context, move: Move) -> int:
    if not c.slow or c.h >= 0.6:
        return 0
    return c.when(24, -1) if c.h > 0.4 else c.when(20, -1)


@rule("acrobatics")
def acrobatics(c: Context, move: Move) -> int:
    return c.when(70, 1) if c.own.item is None else 0


@rule("gyroball")
def gyro_ball(c: Context, move: Move) -> int:
    return 0 if c.slow else -2


@rule("uturn")
def u_turn(c: Context, move: Move) -> int:
    score = c.when(70, 1) if c.ineffective(move) else 0
    score -= c.super(move)
    score += c.when(30, 1) if c.h < 0.4 else 0
    return score + (c.h < 0.1)


@rule("bodypress")
def body_press(c: Context, move: Move) -> int:
    return c.when(80, 1) if c.stage("def") >= 3 else 0


@rule("foulplay")
def foul_play(c: Context, move: Move) -> int:
    return c.when(80, 1) if c.foe_stage("atk") >= 3 else 0


@rule("earthquake")
def earthquake(c: Context, move: Move) -> int:
    digs = c.foe_last is not None and c.foe_last.id == "dig"
    return 2 + c.when(50, 2) if digs and not c.slow else 0


@rule("earthpower")
def earth_power(c: Context, move: Move) -> int:
    stage = c.foe_stage("spd")
    if c.o == 1:
        return c.when(50, 1) if stage > -3 else 0
    if c.o > 0.7:
        return (c.when(30, 1) if stage > -3 else 0) + (c.when(60, -1) if stage <= -2 else 0)
    return 0
