"""`ticore audit`: the same findings for people and for programs."""

from __future__ import annotations

import json
from dataclasses import fields
from pathlib import Path

import pytest

from ticore.cli.settings import DEFAULT_MODEL
from ticore.consistency import Audit, audit
from ticore.registry import load_tokenizer

from .conftest import Ticore


def test_json_has_every_finding(ticore: Ticore) -> None:
    shown = json.loads(ticore("audit", "--json").out)
    found = audit(load_tokenizer(DEFAULT_MODEL))
    assert shown.keys() == {field.name for field in fields(Audit)}
    for name in ("kind", "vocab_size", "digest", "rung", "why", "checks", "partial", "rewritten"):
        assert shown[name] == getattr(found, name)
    assert [token["token"] for token in shown["unreachable"]] == [
        token.token for token in found.unreachable
    ]


def test_a_person_sees_the_rung_and_the_unreachable_tokens(ticore: Ticore) -> None:
    result = ticore("audit", "--mode", "viable")
    assert result.status == 0
    shown = result.out.decode()
    assert "mask, mode viable" in shown
    assert "unreachable" in shown
    assert "more: --json" in shown


@pytest.mark.parametrize(
    ("arguments", "status", "part"),
    [
        (["--mode", "loose"], 2, "expected one of prefix, open, viable"),
        (["--tokenizer", "nothing:here"], 1, "nothing"),
        (["--tokenizer", "sentencepiece:absent.model"], 1, "absent.model"),
    ],
)
def test_errors(ticore: Ticore, arguments: list[str], status: int, part: str) -> None:
    ticore("audit", *arguments).assert_error(status, part)


def test_a_file_that_is_no_tokenizer(ticore: Ticore, tmp_path: Path) -> None:
    path = tmp_path / "broken.model"
    path.write_bytes(b"\x00" * 100)
    ticore("audit", "--tokenizer", f"sentencepiece:{path}").assert_error(1, "broken.model")
