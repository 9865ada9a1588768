"""How people name policies: ``heuristic``, ``RUN#pb8894@greedy``, ``RUN#newest``, ``zoo:gen1randombattle``."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Final, Self

from nashdex.core.errors import ConfigurationError
from nashdex.core.ids import ID_PATTERN, SAMPLED, PolicyId, style_suffix, temperature_of

NEWEST: Final = "newest"
"""Names the newest policy that a run trained; of one iteration's, the one with the highest rating."""
NASH: Final = "nash"
"""Names a run's newest meta-strategy."""
SEARCH: Final = "search:"
"""Before a stored policy: that policy with a search of ``SEARCH_NODES`` nodes around it; ``search-300:``, of 300."""
SEARCH_NODES: Final = 100
MOST_SEARCH_NODES: Final = 10_000
_SEARCH: Final = re.compile(r"search(?:-([^:#/]*))?:")
ZOO: Final = "zoo:"
"""Before a name: that policy of the zoo, which nashdex comes with. Alone, it is the URI of the zoo's store."""
EXPECTED: Final = f"RUN#ID, RUN#{NEWEST}, RUN#{NASH} or a name as `nashdex policy list RUN` prints it"
FEWEST_CHARACTERS: Final = 3
"""Shortest beginning of an id that names a policy. Ids begin with a letter for their source."""


@dataclass(frozen=True, slots=True)
class PolicyReference:
    """What a person writes to name a policy, in its parts: ``search:STORE#NAME@greedy``.

    Only ``policies.references`` says which policy a name means.
    """

    name: str
    """An id, an id's beginning, a name that the report prints, ``newest`` or ``nash``; without a store, a scripted
    policy's name."""
    store: str = ""
    """URI of the run or folder of policies, or ``ZOO``. Empty: a scripted policy."""
    temperature: float = SAMPLED
    """How it plays, as in ``core.ids.PlayedPolicy``."""
    search: str = ""
    """The search around it, ``search:`` or such as ``search-300:``; empty: none."""

    @classmethod
    def parse(cls, text: str) -> Self:
        """Return the parts of ``text``.

        Raises:
            ConfigurationError: nothing follows ``#``, what follows ``@`` is not a way to play, or a search has no
                number of nodes that it may have.
        """
        search, around = split_search(text)
        if around.startswith(ZOO):
            _, store, named = around.partition(ZOO)
        else:
            store, hash_sign, named = around.rpartition("#")
            if not hash_sign:
                return cls(text)
        name, at, style = named.rpartition("@")
        name = name.strip() if at else named.strip()
        if not store or not name:
            raise ConfigurationError(f"{text!r} names no policy; expected {EXPECTED}")
        return cls(name, store, temperature_of(name, style) if at else SAMPLED, search)

    @property
    def searches(self) -> bool:
        """Whether it has a search around it."""
        return self.search != ""

    def within(self, store_uri: str) -> Self:
        """Return the reference with a bare run's id, such as ``demo``, as that run in ``store_uri``."""
        if re.fullmatch(ID_PATTERN, self.store) is None:
            return self
        return replace(self, store=f"{store_uri.rstrip('/')}/{self.store}")

    def __str__(self) -> str:
        """Return the text that ``parse`` reads."""
        store = self.store if self.store in {"", ZOO} else f"{self.store}#"
        return f"{self.search}{store}{self.name}{style_suffix(self.temperature)}"


def split_search(text: str) -> tuple[str, str]:
    """Return the search before a policy, in its one spelling, and the policy. Where there is none, it is empty.

    ``text`` is a name or an id, and not a scripted policy's, which may begin with ``search:`` too.

    Raises:
        ConfigurationError: a search has no number of nodes from 1 to ``MOST_SEARCH_NODES``.
    """
    found = _SEARCH.match(text)
    if found is None:
        return "", text
    nodes = found[1]
    if nodes is None or nodes == str(SEARCH_NODES):
        return SEARCH, text[found.end() :]
    if not re.fullmatch("[1-9][0-9]{0,4}", nodes) or int(nodes) > MOST_SEARCH_NODES:
        raise ConfigurationError(
            f"{text!r} names no search: expected {SEARCH!r}, which plays out {SEARCH_NODES} nodes a decision, or one "
            f"such as 'search-300:' with 1 to {MOST_SEARCH_NODES:,} nodes"
        )
    return found[0], text[found.end() :]


def search_nodes(search: str) -> int:
    """Return the number of nodes a decision of what ``split_search`` returns."""
    return SEARCH_NODES if search == SEARCH else int(search.removeprefix("search-").removesuffix(":"))


def without_store(text: str) -> str:
    """Return a reference without its store: what is published names no folder of the machine that measured it."""
    return text.rpartition("#")[2]


def matches(name: str, known: Mapping[PolicyId, Iterable[str]]) -> list[PolicyId]:
    """Return the policies that ``name`` means: the one with this id, else with this name, else with this beginning.

    A name is found in any case, an id by at least three characters. ``known`` has other names of each policy.
    """
    if name in known:
        return [PolicyId(name)]
    asked = name.casefold()
    called = [policy for policy, names in known.items() if asked in (one.casefold() for one in names)]
    if called or len(name) < FEWEST_CHARACTERS:
        return called
    return [policy for policy in known if policy.startswith(name)]
