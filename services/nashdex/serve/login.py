"""Logging in: by a name alone on a server without security, else with an account at the login server."""

import json
import os
import urllib.error
import urllib.parse
import urllib.request
from dataclasses import dataclass
from http.client import HTTPException
from typing import Final

from pydantic import SecretStr

from nashdex.core.errors import ConfigurationError, TryAgainError
from nashdex.serve.lines import to_id

PASSWORD_VARIABLE: Final = "NASHDEX_SHOWDOWN_PASSWORD"  # noqa: S105 - the variable's name
_MAX_NAME: Final = 18
_ACTION_SECONDS: Final = 30.0
_MAX_ANSWER_BYTES: Final = 1 << 16


@dataclass(frozen=True)
class Account:
    """A user name, and its password where the server asks for one."""

    name: str
    password: SecretStr | None = None


def account(name: str) -> Account:
    """Return the account called ``name``, with the password of the environment, if there is one.

    Raises:
        ConfigurationError: no server takes the name.
    """
    if not 0 < len(to_id(name)) <= _MAX_NAME or to_id(name).startswith("guest") or set(name) & set("|,"):
        raise ConfigurationError(
            f"--name is {name!r}: expected 1 to {_MAX_NAME} letters and digits, not beginning with 'guest', which "
            "servers keep for users without a name"
        )
    password = os.environ.get(PASSWORD_VARIABLE)
    return Account(name, SecretStr(password) if password else None)


def rename_command(user: Account, challenge: str, action_url: str) -> str:
    """Return the command that takes the account's name, given the server's ``|challstr|``.

    Raises:
        ConfigurationError: the login server refuses: the password is wrong, or the name is taken or not allowed.
        TryAgainError: the login server does not answer, or limits logins.
    """
    if user.password is None:
        return f"/trn {user.name},0,"
    return f"/trn {user.name},0,{_assertion(user.name, user.password, challenge, action_url)}"


def _assertion(name: str, password: SecretStr, challenge: str, action_url: str) -> str:
    form = {"act": "login", "name": name, "pass": password.get_secret_value(), "challstr": challenge}
    try:
        request = urllib.request.Request(  # noqa: S310 - the address is the user's
            action_url, data=urllib.parse.urlencode(form).encode(), headers={"User-Agent": "nashdex"}
        )
    except ValueError as error:
        raise ConfigurationError(
            f"the login server {action_url!r} is no address ({error}); correct --action-url"
        ) from error
    try:
        with urllib.request.urlopen(request, timeout=_ACTION_SECONDS) as answer:  # noqa: S310
            text = answer.read(_MAX_ANSWER_BYTES).decode("utf-8", "replace")
    except urllib.error.HTTPError as error:
        error.close()
        raise TryAgainError(
            f"the login server {action_url} answers {error.code} {error.reason}; try again later"
        ) from error
    except (OSError, HTTPException) as error:
        raise TryAgainError(f"the login server {action_url} does not answer: {error}") from error
    try:
        # Showdown puts a bracket before its JSON, so that it is no script.
        found = json.loads(text.removeprefix("]"))
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise TryAgainError(f"the login server {action_url} answers {text[:80]!r}; expected a JSON object after ']'")
    assertion = str(found.get("assertion") or "")
    if not found.get("actionsuccess") or not assertion or assertion.startswith(";"):
        why = assertion.lstrip(";") or str(found.get("error") or "the name and the password do not fit together")
        if "too many" in why.lower() or "try again" in why.lower():
            raise TryAgainError(f"the login server refuses {name!r} for now: {why}")
        raise ConfigurationError(f"the login server refuses {name!r}: {why}; correct --name or {PASSWORD_VARIABLE}")
    return assertion
