"""A number of requests a second."""

from __future__ import annotations

import pytest

from tests.serve.conftest import need
from ticore._serve.refusals import RefusedError

gate = need("detection.gate")


def taken(rate: object, address: str = "a") -> bool:
    try:
        rate.take(address)  # type: ignore[attr-defined]  # a module that may be missing
    except RefusedError:
        return False
    return True


def test_rate_allows_twice_a_second_at_once_and_then_so_many() -> None:
    now = [0.0]
    rate = gate.Rate(5, lambda: now[0])
    assert [taken(rate) for _ in range(12)] == [True] * 10 + [False] * 2
    assert taken(rate, "another")
    found = []
    for step in range(100):
        now[0] = step / 10
        found.append(taken(rate))
    assert sum(found) == pytest.approx(50, abs=1)


def test_rate_forgets_the_addresses_that_asked_least_lately(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(gate, "_MOST_CLIENTS", 3)
    rate = gate.Rate(1, lambda: 0.0)
    for address in "aabcd":
        rate.take(address)
    assert len(rate._left) == 3
    assert taken(rate, "a")
