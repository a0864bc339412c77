"""Looking for a list of watermarks ends at its next look once nobody waits."""

from __future__ import annotations

import json
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


@pytest.mark.parametrize("opened", [0, 1])
def test_a_list_is_not_looked_for_once_nobody_waits(
    opened: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whether the page is closed before its configurations are opened, or meanwhile."""
    watch, done = Watch(lambda _: None), list[str]()

    def open_list(*_: Any) -> None:
        done.append("opened")
        watch.stop()

    monkeypatch.setattr(detecting, "open_list", open_list)
    monkeypatch.setattr(detecting, "_verdict_of_list", lambda *_: done.append("looked"))
    if not opened:
        watch.stop()
    fields = Fields(json.dumps(LISTED).encode(), detecting.DETECT_FIELDS)
    with pytest.raises(StoppedError):
        detecting.detect(fields, Models())(watch)
    assert done == ["opened"] * opened
