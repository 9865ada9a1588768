"""The format that players of a battle mean."""

from collections.abc import Iterable, Mapping

from nashdex.core.errors import ConfigurationError
from nashdex.core.references import PolicyReference
from nashdex.policies.references import format_of_policy, resolve
from nashdex.runs.creation import format_of_run
from nashdex.settings.external import is_external
from nashdex.settings.run import canonical_format
from nashdex.store.nearby import runs_nearby


def format_to_play(named: str | None, players: Mapping[str, str]) -> str:
    """Return the one format that is ``named``, of the players' runs or, beside no run, of their stored policies.

    ``players`` has what each player's option or argument says, by its name in messages.

    Raises:
        ConfigurationError: there is none, or several; or a player is unknown.
        DataError: a run or a policy was altered.
    """
    references = {option: PolicyReference.parse(text) for option, text in players.items()}
    uris = {option: reference.store for option, reference in references.items()}
    found: dict[str, str] = {}
    """Whose each format is, for messages."""
    for option, reference in references.items():
        if not reference.store:
            continue
        if of_run := format_of_run(reference.store):
            found[of_run] = f"the run of {option} ({reference.store})"
        elif of_policy := format_of_policy(reference):
            found[of_policy] = f"the policy of {option} ({players[option]})"
    if len(found) > 1:
        (one, first), (other, second) = found.items()
        raise ConfigurationError(f"{first} plays {one} and {second} plays {other}; expected players of one format")
    stored, who = next(iter(found.items()), (None, ""))
    if named is not None:
        chosen = canonical_format(named)
        if stored not in {None, chosen}:
            raise ConfigurationError(f"the format is {named}, and {who} plays {stored}: leave the format out")
        return chosen
    if stored is None:
        _check_scripted(references.values())
        stores = list(dict.fromkeys(uri for uri in uris.values() if uri))
        why, correct = "no player names a run to take it from", ""
        if stores:
            why = f"there is no run in {' or '.join(stores)} to take it from"
            correct = f"{''.join(map(runs_nearby, stores))}correct the URI, or "
        raise ConfigurationError(f"the format is missing, and {why}: {correct}name the format, such as gen1ou")
    return stored


def _check_scripted(references: Iterable[PolicyReference]) -> None:
    """Check that players without a store are scripted policies: one may be a store without a policy's name.

    Raises:
        ConfigurationError: one is not.
    """
    for reference in references:
        if not reference.store and not is_external(reference.name):
            resolve(reference)
