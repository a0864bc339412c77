"""Looking for a list of watermarks ends at its next look once nobody waits."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from ticore._serve import detecting
from ticore._serve.fields import Fields
from ticore._serve.jobs import StoppedError, Watch
from ticore._serve.models import Models

LISTED = {
    "text": "It was cold.",
    "model": "tiny-en",
    "configurations": json.dumps([{"scheme": "gumbel", "key": "5a" * 32}]),
}


class Looking:
    """A detector of two configurations. The page is closed while it looks for the first one."""

    def __init__(self, done: list[str], watch: Watch) -> None:
        self.done, self.watch = done, watch

    def detect(self, _: str, *, tick: Callable[[], None]) -> None:
        for name in ("first", "second"):
            tick()
            self.done.append(name)
            self.watch.stop()


@pytest.mark.parametrize("opened", [0, 1])
def test_a_list_is_not_looked_for_once_nobody_waits(
    opened: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whether the page is closed before its configurations are opened, or meanwhile."""
    watch, done = Watch(lambda _: None), list[str]()

    def open_list(*_: Any) -> Looking:
        done.append("opened")
        watch.stop()
        return Looking(done, watch)

    monkeypatch.setattr(detecting, "open_list", open_list)
    if not opened:
        watch.stop()
    fields = Fields(json.dumps(LISTED).encode(), detecting.DETECT_FIELDS)
    with pytest.raises(StoppedError):
        detecting.detect(fields, Models())(watch)
    assert done == ["opened"] * opened


def test_a_list_is_not_looked_for_any_further_once_nobody_waits(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    watch, done = Watch(lambda _: None), list[str]()
    monkeypatch.setattr(detecting, "open_list", lambda *_: Looking(done, watch))
    fields = Fields(json.dumps(LISTED).encode(), detecting.DETECT_FIELDS)
    with pytest.raises(StoppedError):
        detecting.detect(fields, Models())(watch)
    assert done == ["first"]
