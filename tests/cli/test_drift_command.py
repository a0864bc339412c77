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
    for part in ("rows.drift.jsonl", "1, 33.33% of rows; 17.647% of the tokens", "bpe"):
        assert part in said
    assert "row 1: bpe at token 3: ' cold' [278 705], read as ' cold' [1583]" in said
    rows = [json.loads(line) for line in Path("rows.drift.jsonl").read_text().splitlines()]
    assert [row["drift_consistent"] for row in rows] == [False, True, None, True]
    page = Path("page.html").read_text()
    assert "row 1: bpe" in page
    assert "Drift in rows.jsonl" in page


def test_page_that_cannot_be_written_is_refused_before_the_rollouts_are_read(
    ticore: Ticore,
) -> None:
    found = ticore("drift", "rows.jsonl", "--html", "missing/page.html")
    found.assert_error(1, "missing/page.html")
    assert not Path("rows.drift.jsonl").exists()


def test_drift_fails_if_no_row_could_be_looked_at(ticore: Ticore) -> None:
    assert b"errors      1; the first: line 3: " in ticore("drift", "rows.jsonl").out
    Path("wrong.jsonl").write_text('{"ids": "377"}\n{"ids": null}\n')
    found = ticore("drift", "wrong.jsonl", "--json")
    assert found.status == 1
    assert "no rollout could be looked at; the first: line 1: expected a list" in found.err
    assert json.loads(found.out)["first_error"].startswith("line 1: expected a list")
    Path("empty.jsonl").touch()
    assert ticore("drift", "empty.jsonl").status == 0


def test_drift_gives_one_json_object(ticore: Ticore) -> None:
    found = ticore("drift", "rows.jsonl", "--json", "-o", "out.jsonl", "--limit", "2")
    shown = json.loads(found.out)
    assert (shown["rows"], shown["drifted"], shown["rate"]) == (2, 1, 0.5)
    assert (shown["causes"]["bpe"], shown["causes"]["strip"]) == (1, 0)
    assert shown["worst"][0]["drift_again"] == "1583"


def test_drift_refuses_what_it_cannot_read(ticore: Ticore) -> None:
    ticore("drift", "rows.txt").assert_error(2, "expected a file name that ends in .jsonl")
    for folder in (".", "", "absent"):
        ticore("drift", folder).assert_error(2, "expected a file name that ends in .jsonl")
    ticore("drift", "absent.jsonl").assert_error(1, "absent.jsonl")
    ticore("drift", "rows.jsonl", "--ids", "tokens").assert_error(1, "expected a column 'tokens'")
    ticore("drift", "rows.jsonl", "--reread", "again").assert_error(1, "column 'again'")
    both = ticore("drift", "rows.jsonl", "--reread", "ids", "--specials", "text")
    both.assert_error(2, "give --reread or --specials, not both")
    ticore("drift", "rows.jsonl", "--workers", "0").assert_error(
        2, "workers: expected an integer of at least 1"
    )


def test_drift_writes_messages_again_with_a_template(ticore: Ticore) -> None:
    pytest.importorskip("jinja2", reason="jinja2 is not installed")
    said = [{"role": "user", "content": "cold"}]
    Path("said.jsonl").write_text(json.dumps({"ids": [1583], "said": said}) + "\n")
    Path("chat.jinja").write_text("{{ messages[0].content }}{{ ending }}")
    command = ("drift", "said.jsonl", "--messages", "said", "--template", "chat.jinja", "--json")
    assert json.loads(ticore(*command).out)["causes"]["template"] == 0
    settings = "--template-settings"
    found = ticore(*command, settings, '{"ending": " morning"}')
    assert json.loads(found.out)["causes"]["template"] == 1
    ticore(*command, settings, "{").assert_error(2, "--template-settings: expected a JSON object")
    ticore(*command, settings, "[]").assert_error(2, "expected a JSON object, found '[]'")
    ticore(*command, "--reread", "ids").assert_error(2, "give --reread or --messages, not both")
    ticore(*command[:4]).assert_error(2, "give --messages NAME and --template PLACE together")
    ticore(*command[:2], *command[4:6]).assert_error(2, "--messages NAME and --template PLACE")
    ticore(*command[:2], "--tools", "a").assert_error(2, "expected --messages NAME as well")
    ticore(*command[:5], "absent").assert_error(1, "found no such file")
