"""`ticore drift` on the command line."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from .conftest import Ticore, interrupted

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
    ticore("drift", "absent").assert_error(2, "expected a file name that ends in .jsonl")
    ticore("drift", "").assert_error(2, "expected the name of a file, found an empty one")
    Path("nothing").mkdir()
    ticore("drift", "nothing").assert_error(
        1, "expected files that end in .jsonl, .jsonl.gz or .parquet"
    )
    ticore("drift", "absent.jsonl").assert_error(1, "absent.jsonl")
    ticore("drift", "rows.jsonl", "--ids", "tokens").assert_error(1, "expected a column 'tokens'")
    ticore("drift", "rows.jsonl", "--reread", "again").assert_error(1, "column 'again'")
    ticore("drift", "rows.jsonl", "--ids", "").assert_error(1, "expected a column ''")
    ticore("drift", "rows.jsonl", "-o", "").assert_error(2, "--output: expected the name of")
    chat = ("drift", "rows.jsonl", "--messages", "said", "--template")
    ticore(*chat, "").assert_error(2, "--template: expected a place, found an empty one")
    ticore(*chat, "long" * 100).assert_error(1, "longlong")
    both = ticore("drift", "rows.jsonl", "--reread", "ids", "--specials", "text")
    both.assert_error(2, "give --reread or --specials, not both")
    ticore("drift", "rows.jsonl", "--workers", "0").assert_error(
        2, "workers: expected an integer of at least 1"
    )


def test_drift_of_a_folder_shows_each_file_and_all(ticore: Ticore) -> None:
    Path("steps").mkdir()
    drifting, kept = json.dumps({"ids": SPLIT}) + "\n", json.dumps({"ids": [377]}) + "\n"
    Path("steps/1.jsonl").write_text(kept)
    Path("steps/2.jsonl").write_text(kept + drifting * 2)
    Path("steps/3.jsonl").write_text('{"ids": null}\n')
    found = ticore("drift", "steps", "--html", "page.html", "--workers", "1")
    assert (found.status, found.err) == (0, "")
    lines = [line.split() for line in found.out.decode().splitlines()]
    assert ["written", "3", "files"] in lines
    assert ["drifted", "2,", "50.00%", "of", "rows;"] in [line[:5] for line in lines]
    assert ["steps/1.jsonl", "1", "0.00%", "0.000%"] in lines
    assert ["steps/2.jsonl", "3", "66.67%", "18.750%", "bpe"] in lines
    assert ["steps/3.jsonl", "1", "1"] in lines
    places = [line[:3] for line in lines if line[1:2] == ["row"]]
    assert places == [["steps/2.jsonl,", "row", "2:"], ["steps/2.jsonl,", "row", "3:"]]
    assert {path.name for path in Path("steps").iterdir()} == {
        f"{number}{ending}.jsonl" for number in (1, 2, 3) for ending in ("", ".drift")
    }
    page = Path("page.html").read_text()
    for part in ("Drift in 3 files", "steps/2.jsonl, row 3: bpe", "66.67%"):
        assert part in page


def test_drift_of_several_files_gives_a_json_object_for_each(ticore: Ticore) -> None:
    Path("b.jsonl").write_text('{"ids": [377]}\n')
    found = ticore("drift", "rows.jsonl", "b.jsonl", "-o", "out/", "--json", "--workers", "1")
    shown = [json.loads(line) for line in found.out.splitlines()]
    assert [one["file"] for one in shown] == ["rows.jsonl", "b.jsonl"]
    assert [one["output"] for one in shown] == ["out/rows.jsonl", "out/b.jsonl"]
    assert [(one["rows"], one["drifted"]) for one in shown] == [(4, 1), (1, 0)]


def test_drift_that_was_interrupted_does_not_look_at_finished_files_again(
    ticore: Ticore, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in "ab":
        Path(f"{name}.jsonl").write_bytes(Path("rows.jsonl").read_bytes())
    command = ("drift", "a.jsonl", "b.jsonl", "--workers", "1", "--html", "page.html")
    ticore(*command)
    expected = Path("page.html").read_text()
    with monkeypatch.context() as patch:
        interrupted(patch, "b.jsonl")
        assert ticore(*command).status == 130
    found = ticore(*command)
    assert found.err == (
        "ticore: a.drift.jsonl was finished before\n"
        "ticore: b.drift.jsonl is there already: it is replaced when this is done\n"
    )
    again = Path("page.html").read_text()
    assert re.sub(r"in [0-9.]+ s", "", again) == re.sub(r"in [0-9.]+ s", "", expected)
    assert not list(Path().glob("*.parts"))


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
