"""Numbers are short, and large enough differences show."""

import pytest

from benchmarks._harness.number_format import decimal, duration, ratio


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.0, "0 µs"),
        (4.2e-7, "0.42 µs"),
        (3.14e-6, "3.1 µs"),
        (99.4e-6, "99 µs"),
        (0.99999, "1 s"),
        (0.1234, "123 ms"),
        (12.3, "12 s"),
        (1234.0, "1,234 s"),
    ],
)
def test_duration_has_two_or_three_digits_and_a_unit(seconds, text):
    assert duration(seconds) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.123, "0.12"), (1.26, "1.3"), (12345, "12,000"), (10_000_000, "10,000,000")],
)
def test_ratio_has_two_digits(value, text):
    assert ratio(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [(-1e-17, "0.000"), (0.0123, "0.012"), (1.234, "1.23"), (12.34, "12.3"), (1234.6, "1,235")],
)
def test_decimal_has_three_digits_or_all_before_the_point(value, text):
    assert decimal(value) == text
