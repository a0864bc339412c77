"""Numbers as the page shows them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchmarks._harness.number_format import decimal

if TYPE_CHECKING:
    from benchmarks._harness.types import JsonObject


def percent(share: JsonObject | None) -> str:
    """A share with its interval, in percent.

    >>> percent({"value": 0.25, "low": 0.2, "high": 0.3})
    '25.0 (20.0 to 30.0)'
    """
    if share is None:
        return "-"
    value, low, high = (_digits(100 * share[name]) for name in ("value", "low", "high"))
    return f"{value} ({low} to {high})"


def beside(share: JsonObject | None, theirs: float | None) -> str:
    """Our share in percent, and the paper's percentage in brackets, where there is one.

    >>> beside({"value": 0.25, "low": 0.2, "high": 0.3}, 17.7)
    '25.0 (20.0 to 30.0) [17.7]'
    """
    return percent(share) + bracketed(theirs)


def number(measure: JsonObject | None, theirs: float | None = None) -> str:
    """Our measure with its interval, and the paper's in brackets, where there is one.

    >>> number({"value": 8.25, "low": 8, "high": 8.5}, 8.69)
    '8.25 (8.00 to 8.50) [8.69]'
    """
    if measure is None:
        return "-"
    value, low, high = (decimal(measure[name]) for name in ("value", "low", "high"))
    return f"{value} ({low} to {high})" + bracketed(theirs)


def bracketed(theirs: float | None) -> str:
    """What follows our number: the paper's, where there is one.

    >>> bracketed(17.7), bracketed(None)
    (' [17.7]', '')
    """
    return "" if theirs is None else f" [{theirs:g}]"


def plain(found: JsonObject | None, digits: int = 2) -> str:
    """A number with its interval; a dash where it is not known.

    >>> plain({"value": 9.512, "low": 9.4, "high": 9.617})
    '9.51 (9.40 to 9.62)'
    """
    if found is None:
        return "-"
    value, low, high = (f"{found[name]:.{digits}f}" for name in ("value", "low", "high"))
    return f"{value} ({low} to {high})"


def texts(count: int) -> str:
    """How many texts.

    >>> texts(1), texts(1200)
    ('1 text', '1,200 texts')
    """
    return f"{count:,} text{'' if count == 1 else 's'}"


def _digits(value: float) -> str:
    return f"{value:.1f}" if value >= 10 or not value else f"{value:.2f}"
