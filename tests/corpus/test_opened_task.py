"""A task that was opened is not opened again in this process; a worker elsewhere opens it."""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from ticore.corpus import Scan
from ticore.corpus._base import CorpusText
from ticore.corpus._opened_task import OpenedTask
from ticore.corpus._scan import scan_rows

OPENED: list[str] = []


class Length(NamedTuple):
    length: int | None = None


@dataclass(frozen=True)
class Lengths:
    """How long each text is."""

    result = Length

    def open(self) -> str:
        OPENED.append("opened")
        return f"opened {len(OPENED)}"

    def score(self, opened: Any, texts: Sequence[CorpusText]) -> list[Length]:
        assert opened.startswith("opened")
        return [Length(len(str(text))) for text in texts]

    def public_settings(self) -> dict[str, Any]:
        return {}

    def depends_on(self, opened: Any) -> list[object]:
        return [opened]

    def secret(self) -> bytes:
        return b""


@pytest.fixture(autouse=True)
def _none_opened() -> None:
    OPENED.clear()


def test_what_was_opened_is_given_once() -> None:
    opened = OpenedTask(Lengths())
    assert opened.depends_on() == ["opened 1"]
    assert [opened.open(), opened.open()] == ["opened 1", "opened 2"]


def test_a_worker_gets_the_task_itself_and_nothing_is_kept_here() -> None:
    opened = OpenedTask(Lengths())
    assert pickle.loads(pickle.dumps(opened)) == Lengths()
    assert opened.open() == "opened 2"


def test_one_worker_opens_nothing_again(tmp_path: Path) -> None:
    source = tmp_path / "a.jsonl"
    source.write_text('{"text": "a"}\n{"text": "bc"}\n{"text": "def"}\n')
    seen: list[Length] = []
    given = Scan(source, "text", tmp_path / "out.jsonl", batch_size=1)
    scan_rows(given, Lengths(), lambda _, found: seen.extend(found), "processes", 1, None, print)
    assert seen == [Length(1), Length(2), Length(3)]
    assert OPENED == ["opened"]
