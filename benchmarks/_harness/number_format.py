"""Numbers as people read them."""

from __future__ import annotations


def duration(seconds: float) -> str:
    """A duration with two or three digits and a unit.

    >>> duration(0.00123), duration(0.1234), duration(1234)
    ('1.2 ms', '123 ms', '1,234 s')
    """
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if seconds >= 0.9995 * size or unit == "µs":
            break
    value = seconds / size
    return f"{value:,.0f} {unit}" if value >= 99.5 else f"{value:.2g} {unit}"


def ratio(value: float) -> str:
    """How many times, with two digits.

    >>> ratio(1.26), ratio(12345)
    ('1.3', '12,000')
    """
    rounded = float(f"{value:.2g}")
    return f"{rounded:,.0f}" if value >= 10 else f"{rounded:g}"


def decimal(value: float) -> str:
    """Three digits, or all digits before the decimal point.

    >>> decimal(0.0123), decimal(1.234), decimal(1234.6)
    ('0.012', '1.23', '1,235')
    """
    digits = sum(abs(value) < limit for limit in (1, 10, 100))
    return f"{value:z,.{digits}f}"
