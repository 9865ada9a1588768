"""Numbers as text, and on which side of a neutral value an interval lies."""

from typing import Literal

from nashdex.metagame.evidence.intervals import Estimate

_SMALLEST_DECIMAL = 1e-3
"""Smaller numbers are written with a power of ten."""


def verdict(interval: Estimate, neutral: float = 0.0) -> Literal["above", "below", "undecided"]:
    """Return on which side of ``neutral`` the interval lies; undecided if it contains ``neutral``."""
    if interval.low > neutral:
        return "above"
    return "below" if interval.high < neutral else "undecided"


def percent(share: float) -> str:
    """Return a share as text: ``97.2 %``."""
    return f"{100 * share:.1f} %"


def percent_range(interval: Estimate) -> str:
    """Return an interval of shares as text: ``95.1 to 98.4 %``."""
    return f"{100 * interval.low:.1f} to {percent(interval.high)}"


def signed(value: float, decimals: int) -> str:
    """Return a number with its sign, a true minus: ``+85``, ``−0.012``."""
    text = f"{value:+.{decimals}f}".replace("-", "−")
    return text[1:] if not text.strip("+−0.") else text


def precise(value: float, smallest: float = 0.0) -> str:
    """Return an exact number: ``0.4583``, ``3.1e−17``. Numbers up to ``smallest`` are rounding errors: ``0``."""
    if abs(value) <= smallest:
        return "0"
    text = f"{value:.4f}" if abs(value) >= _SMALLEST_DECIMAL else f"{value:.1e}"
    return text.replace("-", "−")


def capital(text: str) -> str:
    """Return ``text`` with its first letter in upper case."""
    return text[:1].upper() + text[1:]


def sentence(text: str) -> str:
    """Return ``text`` as a sentence: first letter in upper case, full stop at the end."""
    return f"{capital(text)}{'' if text.endswith('.') else '.'}"
