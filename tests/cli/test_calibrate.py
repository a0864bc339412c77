"""`ticore calibrate`: rates in a table, as JSON, and drawn."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from .conftest import Ticore

TEXTS = [
    f"It was a cold morning in the year {n}, and nobody had brought any wood." for n in range(6)
]


@pytest.fixture(autouse=True)
def _files() -> None:
    listed = [{"name": "a", "scheme": "gumbel", "key": bytes(32).hex()}]
    Path("list.json").touch(mode=0o600)
    Path("list.json").write_text(json.dumps(listed))
    Path("plain.txt").write_text("\n".join(TEXTS))
    Path("rows.jsonl").write_text("".join(json.dumps({"text": text}) + "\n" for text in TEXTS))


def test_calibrate_counts_by_length(ticore: Ticore) -> None:
    arguments = ("calibrate", "--config", "list.json", "--length", "8", "--length", "16")
    found = ticore(*arguments, "plain.txt", "--marked", "plain.txt", "--json")
    assert (found.status, found.err) == (0, "")
    said = json.loads(found.out)
    assert {(c["length"], c["texts"], c["marked"]) for c in said["cells"]} == {
        (length, 6, marked) for length in (8, 16) for marked in (False, True)
    }
    shown = ticore(*arguments, "rows.jsonl", "--column", "text").out.decode()
    assert "texts without a watermark" in shown
    assert "all together" in shown


def test_calibrate_counts_by_entropy_when_a_model_is_given(ticore: Ticore) -> None:
    arguments = ("calibrate", "--config", "list.json", "--length", "8", "--model", "tiny-en")
    found = json.loads(ticore(*arguments, "plain.txt", "--marked", "plain.txt", "--json").out)
    million = [cell for cell in found["by_entropy"] if cell["threshold"] == 1e-6]
    assert sum(cell["texts"] for cell in million) == 6
    shown = ticore(*arguments, "plain.txt", "--marked", "plain.txt").out.decode()
    assert "6 bits per token or more: not half of the longest (6 texts)" in shown


@pytest.mark.slow
def test_calibrate_draws_what_it_found(ticore: Ticore) -> None:
    pytest.importorskip("matplotlib", reason="the plot needs matplotlib")
    for name in ("a.svg", "a.png"):
        arguments = ("--config", "list.json", "--length", "8", "--plot", name)
        arguments += ("--model", "tiny-en")
        assert ticore("calibrate", *arguments, "plain.txt", "--marked", "plain.txt").status == 0
        assert Path(name).stat().st_size > 1000


@pytest.mark.parametrize(
    ("arguments", "status", "said"),
    [
        (("rows.jsonl",), 2, "name the column with the texts"),
        (("plain.txt", "--length", "0"), 2, "--length: expected an integer of at least 1"),
        (("plain.txt", "--length", "500"), 2, "expected texts of 500 tokens or more"),
        (("plain.txt", "--plot", "a.pdf"), 2, "expected a name that ends in .svg or .png"),
        (("missing.txt",), 1, "missing.txt"),
        (("empty.txt",), 1, "empty.txt: expected texts, found none"),
        ((".", "--column", "text"), 2, "--column: expected a file that ends in .jsonl"),
    ],
)
def test_calibrate_refuses_what_it_cannot_use(
    ticore: Ticore, arguments: tuple[str, ...], status: int, said: str
) -> None:
    Path("empty.txt").touch()
    ticore("calibrate", "--config", "list.json", *arguments).assert_error(status, said)
