"""The gate for all logs from outside: what a battle's own lines say of its format must agree with its label.

A label is a file's format and id. Lines state the generation, the number of active Pokémon, the tier and the rules, and
they name species, moves, items and abilities. That generation must have them all. A battle whose label is
wrong would be followed by wrong rules, so nothing can override a refusal.
"""

import re
from typing import Final

from nashdex.core.user_input import shorten
from nashdex.games.showdown.names import DOUBLES, SHOWDOWN
from nashdex_replays.first_generations import Kind, first_generation
from nashdex_replays.refusal import RefusedReplayError
from nashdex_replays.words import clean_name

NUM_ACTIVE: Final = {"singles": 1, "doubles": 2}
"""Active Pokémon of a side, by game type."""
_FORMAT: Final = re.compile(r"gen[0-9][a-z0-9]*")
_OLD_NAMES: Final = ("", "rby", "gsc", "adv", "dpp", "bw", "xy|oras", "sm|usum", "ss", "sv")
"""What tiers were called by before they named their generation's number: "RBY OU"."""
_RULES: Final = {"Terastal Clause": (9, 9), "Dynamax Clause": (8, 9), "Z-Move Clause": (7, 9)}
"""First and last generation of rules that others do not have."""
_MECHANICS: Final = {"-terastallize": (9, 9), "-zpower": (7, 9), "-mega": (6, 9), "-primal": (6, 9)}
"""First and last generation of lines. Later than its own, a National Dex format has the mechanic."""
_TEXTS: Final = frozenset({"player", "-message", "message"})
"""Lines whose arguments people write."""
_TYPE_PREFIX: Final = "hiddenpower"


class Evidence:
    """Collects what the lines of one battle say of its format."""

    def __init__(self) -> None:
        self.stated: dict[str, str] = {"gen": "", "gametype": "", "tier": ""}
        self._named: dict[tuple[Kind, str], str] = {}
        """Everything named, and the line that names it first."""
        self._bounds: dict[str, tuple[int, int]] = {}
        """First and last generation of the rules and mechanics that occur."""
        self._contradiction: str | None = None

    def read(self, kind: str, parts: list[str]) -> None:
        """Read a line, split at ``|``; its ``kind`` is ``parts[1]``."""
        arguments = parts[2:]
        match kind:
            case "gen" | "gametype" | "tier" if arguments:
                if self.stated[kind] not in {"", arguments[0]}:
                    self._contradiction = f"two lines |{kind}|: {self.stated[kind]} and {shorten(arguments[0])}"
                self.stated[kind] = arguments[0]
            case "rule" if arguments:
                for rule, bounds in _RULES.items():
                    if arguments[0].startswith(rule):
                        self._bounds[rule] = bounds
            case _ if arguments and (arguments[0][:2] in {"p1", "p2"} or kind.startswith("-")) and kind not in _TEXTS:
                self._read_names(kind, arguments)
                if kind in _MECHANICS:
                    self._bounds[f"|{kind}|"] = _MECHANICS[kind]
            case _:
                pass

    def _read_names(self, kind: str, arguments: list[str]) -> None:
        line = f"|{kind}|{'|'.join(arguments)}"
        second = arguments[1] if len(arguments) > 1 else ""
        match kind:
            case "poke" | "switch" | "drag" | "replace" | "detailschange" | "-formechange":
                self._name("species", second.partition(",")[0].removesuffix("-*"), line)
            case "move" | "-prepare":
                self._name("move", second.removeprefix("Z-"), line)
            case "cant" if len(arguments) > 2:
                self._name("move", arguments[2], line)
            case "-item" | "-enditem":
                self._name("item", second, line)
            case "-mega" if len(arguments) > 2:
                self._name("item", arguments[2], line)
            case "-ability" | "-endability":
                self._name("ability", second, line)
            case _:
                pass
        for tag in arguments[1:]:
            word, _, name = tag.removeprefix("[from] ").removeprefix("[from]").partition(": ")
            match word:
                case "item":
                    self._name("item", name, line)
                case "ability":
                    self._name("ability", name, line)
                case "move":
                    self._name("move", name, line)
                case _:
                    pass

    def _name(self, kind: Kind, name: str, line: str) -> None:
        id_ = clean_name(name)
        if id_:
            self._named.setdefault((kind, id_), line)

    def check(self, format_id: str, battle: str, source: str) -> int:
        """Return the number of active Pokémon of a side if everything agrees with the label.

        ``battle`` is the battle's id, which may name a format too; ``source`` names the battle in errors.

        Raises:
            RefusedReplayError: something disagrees; its cause says what.
        """

        def refuse(cause: str, problem: str) -> RefusedReplayError:
            return RefusedReplayError(cause, f"{source} is labelled {format_id}, but {problem}; correct the label")

        generation = int(format_id[3])
        if self._contradiction is not None:
            raise RefusedReplayError("contradiction", f"{source} has {self._contradiction}")
        missing = [f"|{kind}|" for kind, value in self.stated.items() if not value]
        if missing:
            raise RefusedReplayError(
                "no-evidence", f"{source} has no line {', '.join(missing)}, so nothing shows its format"
            )
        if self.stated["gen"] != str(generation):
            raise refuse("generation", f"its lines are of generation {shorten(self.stated['gen'])}")
        num_active = NUM_ACTIVE.get(self.stated["gametype"])
        if num_active is None:
            raise RefusedReplayError(
                "gametype",
                f"{source} is a battle of {shorten(self.stated['gametype'])}; expected singles or doubles",
            )
        if format_id in SHOWDOWN and num_active != 1 + (format_id in DOUBLES):
            raise refuse("gametype", f"its lines are of {self.stated['gametype']}")
        if not is_tier_of(self.stated["tier"], format_id):
            raise refuse("tier", f"its tier is {shorten(self.stated['tier'])}")
        if (problem := format_problem(format_id, battle)) is not None:
            raise refuse("id", problem)
        for what, (first, last) in self._bounds.items():
            if not first <= generation <= last:
                raise refuse("rules", f"its lines have {what}, which generation {generation} lacks")
        self._check_names(generation, source)
        return num_active

    def _check_names(self, generation: int, source: str) -> None:
        for (kind, id_), line in self._named.items():
            known = _TYPE_PREFIX if kind == "move" and id_.startswith(_TYPE_PREFIX) else id_
            first = first_generation(kind, known)
            if first is None or first > generation:
                exists = "which no generation has" if first is None else f"which exists from generation {first} on"
                raise RefusedReplayError(
                    kind,
                    f"{source} is of generation {generation} and names the {kind} {shorten(id_)}, {exists}: "
                    f"{shorten(line)}",
                )


def is_format(name: str) -> bool:
    """Say whether ``name`` has the form of a format's id, such as gen1ou."""
    return re.match(r"gen[1-9]", name) is not None


def format_problem(format_id: str, battle: str) -> str | None:
    """Return what is wrong if the id of a battle names another format, else None."""
    named = [_regulation(name) for name in _FORMAT.findall(battle.lower())]
    return f"its id is {shorten(battle)}" if named and _regulation(format_id) not in named else None


def is_tier_of(tier: str, format_id: str) -> bool:
    """Say whether the text of ``|tier|`` names the format: ``[Gen 1] OU``, in old logs ``RBY OU`` or ``OU``."""
    generation = int(format_id[3])
    name, wanted = _regulation(clean_name(tier)), _regulation(format_id)
    old = re.match(f"(?:{_OLD_NAMES[generation]})", name)
    short = name[old.end() :] if old is not None and _OLD_NAMES[generation] else name
    texts = {name, f"gen{generation}{name}", f"gen{generation}{short}"}
    return wanted in texts


def _regulation(name: str) -> str:
    """Return an id with VGC's regulation as the simulator shortens it."""
    return name.replace("regulation", "reg")
