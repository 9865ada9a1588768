"""The reference page of the policies that come with nashdex, made from their cards."""

from nashdex.core.errors import DataError
from nashdex.core.references import ZOO
from nashdex.policies.references import find_policy, read_published_names
from nashdex.store import open_store
from nashdex_lab.zoo.card import card_lines, read_card
from nashdex_play.calibration import calibration_in_words, read_calibration
from nashdex_play.levels import level_in_words, read_levels

_HEAD = """\
# Policies that come with nashdex

A name plays wherever a policy does, such as `nashdex play zoo:gen1randombattle`. It never changes its weights.
`nashdex panel zoo:NAME@greedy` plays the table again, with the `--team-set` of the card's limits if they name one.
A policy whose panel was played with two seeds says how far they agree.
[The guide](../how-to/evaluate-honestly.md#measure-a-policy-against-every-player) says who is in the panel.
"""


def zoo_page() -> str:
    """Return the page: the card of each policy, with its levels.

    Raises:
        DataError: a policy has no card.
    """
    store = open_store(ZOO)
    parts = [_HEAD]
    for name in sorted(read_published_names(store).policies):
        policy = find_policy(store, name)
        card = read_card(store, policy)
        if card is None:
            raise DataError(f"{ZOO}{name} has no card: publish it again")
        parts.append("\n".join(f"#{line}" if line.startswith("#") else line for line in card_lines(card)))
        levels = read_levels(store, policy)
        if levels is not None:
            rows = [
                f"- temperature {each.temperature:g} {level_in_words(each, levels.against)}" for each in levels.levels
            ]
            parts.append("\n".join(["### Levels", "", *rows]))
        calibration = read_calibration(store, policy)
        if calibration is not None:
            rows = [f"- {calibration_in_words(each)}" for each in calibration.opponents]
            parts.append("\n".join(["### Win probability", "", *rows]))
    return "\n\n".join(parts) + "\n"
