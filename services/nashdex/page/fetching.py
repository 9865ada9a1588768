"""Reads a document of the web, within a time and a size. Only http and https, redirects included."""

import http.client
import time
import urllib.error
import urllib.request
from http import HTTPStatus
from typing import Final
from urllib.parse import urlsplit

from nashdex.core.errors import ConfigurationError, DataError, TryAgainError

_SECONDS: Final = 30.0
"""Longest time for a whole document."""
_SILENCE_SECONDS: Final = 10.0
"""Longest wait for a server to send anything."""
_CHUNK_BYTES: Final = 1 << 16
_TEMPORARY: Final = {HTTPStatus.REQUEST_TIMEOUT, HTTPStatus.TOO_MANY_REQUESTS}
_LEAST_SERVER_ERROR: Final = 500


def fetch(address: str, most_bytes: int) -> bytes:
    """Return the document at ``address``.

    Raises:
        ConfigurationError: ``address`` is none of the web.
        DataError: there is no such document, or it has more than ``most_bytes``.
        TryAgainError: the server does not answer, or not in time.
    """
    try:
        if not urlsplit(address).hostname or any(character.isspace() for character in address):
            raise ConfigurationError(f"{address} is no address: expected https://HOST/PATH")
        return _download(address, most_bytes)
    except urllib.error.HTTPError as error:
        error.close()
        answered = f"{address}: the server answers {error.code} {error.reason}"
        if error.code >= _LEAST_SERVER_ERROR or error.code in _TEMPORARY:
            raise TryAgainError(f"{answered}; try again later") from error
        raise DataError(f"{answered}; check the address") from error
    except http.client.InvalidURL as error:
        raise ConfigurationError(f"{address} is no address ({error}): expected https://HOST/PATH") from error
    except http.client.HTTPException as error:
        raise DataError(f"{address}: the server's answer is not HTTP's ({error}); check the address") from error
    except ValueError as error:
        raise ConfigurationError(f"{address} is no address ({error}): expected https://HOST/PATH") from error
    except OSError as error:
        reason = error.reason if isinstance(error, urllib.error.URLError) else error
        raise TryAgainError(f"{address} cannot be reached ({reason}); check the address, or try again later") from error


def _download(address: str, most_bytes: int) -> bytes:
    deadline = time.monotonic() + _SECONDS
    request = urllib.request.Request(address, headers={"User-Agent": "nashdex"})  # noqa: S310 - http(s) alone
    with _web().open(request, timeout=_SILENCE_SECONDS) as answer:
        content = bytearray()
        while chunk := answer.read1(_CHUNK_BYTES):
            content += chunk
            if len(content) > most_bytes:
                raise DataError(f"{address} has more than {most_bytes:,} bytes; expected one battle")
            if time.monotonic() > deadline:
                raise TryAgainError(f"{address} did not arrive within {_SECONDS:.0f} s; try again")
        return bytes(content)


def _web() -> urllib.request.OpenerDirector:
    """Return an opener that follows no redirect to a file or to FTP."""
    opener = urllib.request.OpenerDirector()
    for handler in (
        urllib.request.ProxyHandler,
        urllib.request.HTTPHandler,
        urllib.request.HTTPSHandler,
        urllib.request.HTTPDefaultErrorHandler,
        urllib.request.HTTPErrorProcessor,
        urllib.request.HTTPRedirectHandler,
        urllib.request.UnknownHandler,
    ):
        opener.add_handler(handler())
    return opener
