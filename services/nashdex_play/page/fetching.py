"""Reads a document of the web, within a time and a size. Only http and https, redirects included."""

from collections.abc import Callable
from concurrent.futures import Future
from threading import Thread
from typing import Final
from urllib.parse import urlsplit
from urllib.request import getproxies

import urllib3
from urllib3 import exceptions

from nashdex.core.errors import ConfigurationError, DataError, TryAgainError

_SECONDS: Final = 30.0
"""Longest time for a whole document."""
_SILENCE_SECONDS: Final = 10.0
"""Longest wait for a server to send anything."""
_CHUNK_BYTES: Final = 1 << 16
_MOST_REDIRECTS: Final = 5
_TEMPORARY: Final = {408, 429}
_LEAST_ERROR: Final = 300
_LEAST_SERVER_ERROR: Final = 500


def fetch(address: str, most_bytes: int) -> bytes:
    """Return the document at ``address``.

    Raises:
        ConfigurationError: ``address`` is none of the web.
        DataError: there is no such document, or it has more than ``most_bytes``.
        TryAgainError: the server does not answer, not in time, or not to the end.
    """
    try:
        if not urlsplit(address).hostname or any(character.isspace() for character in address):
            raise ConfigurationError(f"{address} is no address: expected https://HOST/PATH")
        return _within_time(lambda: _download(address, most_bytes))
    except TimeoutError as error:
        raise TryAgainError(f"{address} did not arrive within {_SECONDS:.0f} s; try again") from error
    except exceptions.DecodeError as error:
        raise DataError(f"{address}: the document is not what its server says ({error}); check the address") from error
    except exceptions.MaxRetryError as error:
        if isinstance(error.reason, exceptions.ResponseError):
            raise DataError(f"{address} leads to more than {_MOST_REDIRECTS} others; check the address") from error
        raise TryAgainError(f"{address} cannot be reached ({error.reason}); check the address, or try again") from error
    except (ValueError, exceptions.URLSchemeUnknown) as error:
        raise ConfigurationError(f"{address} is no address ({error}): expected https://HOST/PATH") from error
    except (OSError, exceptions.HTTPError) as error:
        raise TryAgainError(f"{address} cannot be read ({error}); check the address, or try again") from error


def _download(address: str, most_bytes: int) -> bytes:
    proxy = getproxies().get(urlsplit(address).scheme)
    pool = urllib3.ProxyManager(proxy) if proxy else urllib3.PoolManager()
    answer = pool.request(
        "GET",
        address,
        headers={"User-Agent": "nashdex", "Accept-Encoding": "gzip"},
        timeout=_SILENCE_SECONDS,
        retries=urllib3.Retry(_MOST_REDIRECTS, connect=0, read=0, status=0, other=0),
        preload_content=False,
    )
    try:
        if answer.status >= _LEAST_ERROR:
            answered = f"{address}: the server answers {answer.status} {answer.reason}"
            if answer.status >= _LEAST_SERVER_ERROR or answer.status in _TEMPORARY:
                raise TryAgainError(f"{answered}; try again later")
            raise DataError(f"{answered}; check the address")
        content = bytearray()
        while chunk := answer.read(_CHUNK_BYTES, decode_content=True):
            content += chunk
            if len(content) > most_bytes:
                raise DataError(f"{address} has more than {most_bytes:,} bytes; expected one battle")
        return bytes(content)
    finally:
        answer.close()


def _within_time(work: Callable[[], bytes]) -> bytes:
    """Return what ``work`` does, or leave it behind: a server that drips its headers never ends a read."""
    done: Future[bytes] = Future()

    def run() -> None:
        try:
            done.set_result(work())
        except BaseException as error:  # noqa: BLE001 - raised by the caller's thread
            done.set_exception(error)

    Thread(target=run, name="fetch", daemon=True).start()
    return done.result(_SECONDS)
