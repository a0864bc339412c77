"""`ticore drift` on the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from .conftest import Ticore

SPLIT = [377, 1116, 318, 278, 705, 281, 1010, 4033]  # " cold" as " c" and "old"


@pytest.fixture(autouse=True)
def _files() -> None:
    rows = [{"ids": SPLIT}, {"ids": [377]}, {"ids": "377"}, {"ids": []}]
    Path("rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))


def test_drift_shows_rates_causes_and_the_worst_rows(ticore: Ticore) -> None:
    found = ticore("drift", "rows.jsonl", "--html", "page.html")
    assert (found.status, found.err) == (0, "")
    said = found.out.decode()
    for part in ("rows.drift.jsonl", "1, 33.33% of rows; 33.333% of tokens", "bpe"):
        assert part in said
    assert "row 1: bpe at token 3: ' cold' [278 705], read as ' cold' [1583]" in said
    rows = [json.loads(line) for line in Path("rows.drift.jsonl").read_text().splitlines()]
    assert [row["drift_consistent"] for row in rows] == [False, True, None, True]
    page = Path("page.html").read_text()
    assert "row 1: bpe" in page
    assert "Drift in rows.jsonl" in page


def test_drift_gives_one_json_object(ticore: Ticore) -> None:
    found = ticore("drift", "rows.jsonl", "--json", "-o", "out.jsonl", "--limit", "2")
    shown = json.loads(found.out)
    assert (shown["rows"], shown["drifted"], shown["rate"]) == (2, 1, 0.5)
    assert (shown["causes"]["bpe"], shown["causes"]["strip"]) == (1, 0)
    assert shown["worst"][0]["drift_again"] == "1583"


def test_drift_refuses_what_it_cannot_read(ticore: Ticore) -> None:
    ticore("drift", "rows.txt").assert_error(2, "expected a file name that ends in .jsonl")
    ticore("drift", "absent.jsonl").assert_error(1, "absent.jsonl")
    ticore("drift", "rows.jsonl", "--ids", "tokens").assert_error(1, "expected a column 'tokens'")
    ticore("drift", "rows.jsonl", "--reread", "again").assert_error(1, "column 'again'")
    both = ticore("drift", "rows.jsonl", "--reread", "ids", "--specials", "text")
    both.assert_error(2, "give --reread or --specials, not both")
    ticore("drift", "rows.jsonl", "--workers", "0").assert_error(2, "workers: expected at least 1")
