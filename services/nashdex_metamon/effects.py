"""The effects, side conditions, weathers and fields that metamon's states can name, and how long each lasts.

The names are from poke-env 0.8.3, which metamon is built on, as ids. A name that it lacks is ``unknown``.
"""

from typing import Final


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


EFFECTS: Final = _names(
    """
    aftermath afteryou aquaring aromatherapy aromaveil attract autotomize baddreams banefulbunker battlebond
    beakblast beatup bide bind burningbulwark burnup celebrate charge clamp commander confusion courtchange
    craftyshield cudchew curse custapberry dancer defensecurl destinybond disable disguise doomdesire dragoncheer
    dynamax eeriespell electricterrain electrify embargo emergencyexit encore endure fairylock fallen fallen1
    fallen2 fallen3 fallen4 fallen5 feint ficklebeam firespin flashfire flinch flowerveil focusband focusenergy
    focuspunch followme foresight forewarn futuresight gastroacid glaiverush gmaxcentiferno gmaxchistrike
    gmaxoneblow gmaxrapidflow gmaxsandblast gooey gravity grudge guardsplit gulpmissile hadronengine haze healbell
    healblock healer helpinghand hydration hyperspacefury hyperspacehole iceface illusion immunity imprison
    infestation ingrain innardsout insomnia instruct ironbarbs kingsshield laserfocus leechseed leppaberry
    lightningrod lightscreen limber liquidooze lockedmove lockon magiccoat magmastorm magnetrise magnitude matblock
    maxguard mimic mimicry mindreader minimize miracleeye mist mistyterrain mudsport mummy mustrecharge mysteryberry
    neutralizinggas nightmare noretreat oblivious obstruct octolock orichalcumpulse owntempo partiallytrapped
    pastelveil perish0 perish1 perish2 perish3 phantomforce poltergeist powder powerconstruct powershift powersplit
    powertrick protect protectivepads protosynthesis protosynthesisatk protosynthesisdef protosynthesisspa
    protosynthesisspd protosynthesisspe psychicterrain pursuit quarkdrive quarkdriveatk quarkdrivedef quarkdrivespa
    quarkdrivespd quarkdrivespe quash quickclaw quickdraw quickguard rage ragepowder rampage reflect ripen roost
    roughskin safeguard safetygoggles saltcure sandtomb screencleaner shadowforce shedskin silktrap sketch skillswap
    skydrop slowstart smackdown snaptrap snatch sparklingaria speedswap spikyshield spite spotlight stickyhold
    stickyweb stockpile stockpile1 stockpile2 stockpile3 stormdrain struggle substitute suctioncups supremeoverlord
    sweetveil symbiosis synchronize syrupbomb tarshot taunt telekinesis telepathy terashell terashift
    thermalexchange throatchop thundercage tidyup torment toxicdebris trapped trick typeadd typechange uproar
    vitalspirit wanderingspirit waterbubble waterveil whirlpool wideguard wimpout wrap yawn zerotohero
    """
)

COUNT_TURNS: Final = _names(
    """
    bide bind clamp disable doomdesire dynamax embargo encore firespin futuresight gmaxcentiferno gmaxsandblast
    gravity healblock infestation magmastorm magnetrise sandtomb skydrop slowstart snaptrap taunt telekinesis
    throatchop thundercage uproar whirlpool wrap
    """
)
"""Effects whose value grows by 1 at the end of each turn."""

COUNT_STARTS: Final = _names(
    """
    rage stockpile
    """
)
"""Effects whose value grows by 1 whenever they begin again."""

END_WITH_TURN: Final = _names(
    """
    afteryou banefulbunker beakblast burningbulwark craftyshield custapberry feint flinch focuspunch followme
    instruct kingsshield magiccoat mindreader obstruct protect quash quickclaw quickdraw quickguard ragepowder roost
    spikyshield spotlight wideguard
    """
)

SIDE_CONDITIONS: Final = _names(
    """
    auroraveil craftyshield firepledge gmaxcannonade gmaxsteelsurge gmaxvinelash gmaxvolcalith gmaxwildfire
    grasspledge lightscreen luckychant matblock mist quickguard reflect safeguard spikes stealthrock stickyweb
    tailwind toxicspikes waterpledge wideguard
    """
)
STACKABLE: Final = {"spikes": 3, "toxicspikes": 2}
"""Side conditions counted in layers, and the most of them. Others are dated by the turn that they began in."""
WEATHERS: Final = _names(
    """
    deltastream desolateland hail primordialsea raindance sandstorm snow snowscape sunnyday
    """
)
FIELDS: Final = _names(
    """
    electricterrain grassyterrain gravity healblock magicroom mistyterrain mudsport mudspot psychicterrain trickroom
    watersport wonderroom
    """
)
