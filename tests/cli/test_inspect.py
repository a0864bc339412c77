"""`ticore inspect`: both lists in every form, and bad input refused before anything is written."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path

import pytest

import ticore_embedded
from tests.support.random_added_tokens import Added, Model
from tests.support.slow import slow_unless
from ticore._cli.inspection import parse_ids
from ticore._cli.settings import DEFAULT_MODEL
from ticore.consistency import compare
from ticore.consistency._boundaries import special_name
from ticore.interfaces import Tokenizer
from ticore.registry import load_tokenizer
from ticore.report import inconsistency_rate, inspection_page

from .conftest import Ticore

PLACE = f"sentencepiece:{Path(ticore_embedded.__file__).parent / 'models/tiny-en/tokenizer.model'}"
TEXT = "The morning was cold"


@pytest.fixture(scope="module")
def tokenizer() -> Tokenizer:
    return load_tokenizer(DEFAULT_MODEL)


@pytest.fixture(scope="module")
def split(tokenizer: Tokenizer) -> list[int]:
    """TEXT as tokens that are read back as others: its last word is in two."""
    old = next(i for i in range(tokenizer.vocab_size) if tokenizer.token_bytes(i) == b"old")
    return [*tokenizer.encode(TEXT.removesuffix("old")), old]


def rows(shown: bytes) -> list[list[str]]:
    """The cells of each row of the table, without the header."""
    table = shown.decode().split("\n\n")[1]
    return [line.split() for line in table.splitlines()[1:]]


def test_inspect_shows_a_consistent_text(ticore: Ticore, tokenizer: Tokenizer) -> None:
    found = ticore("inspect", TEXT)
    assert (found.status, found.err) == (0, "")
    lines = found.out.decode().splitlines()
    assert lines[0] == TEXT
    assert lines[-1] == "consistent: 4 tokens, read back unchanged"
    for row, token in zip(rows(found.out), tokenizer.encode(TEXT), strict=True):
        assert row[1::2] == [str(token), str(token)]
        assert row[2::2] == [tokenizer.token_bytes(token).decode().replace(" ", "␣")] * 2


def test_inspect_marks_ids_that_are_read_back_as_others(ticore: Ticore, split: list[int]) -> None:
    Path("ids").write_text(json.dumps(split))
    found = ticore("inspect", "--ids", "ids")
    assert (found.status, found.err) == (0, "")
    assert [row[:2] for row in rows(found.out)][3] == ["15", "S"]
    assert rows(found.out)[3][4] == "C"
    assert rows(found.out)[4][0] == "S"
    assert b"\ninconsistent: 5 tokens, read back as 4\n" in found.out


@pytest.mark.slow
@pytest.mark.parametrize("arguments", [[], ["-"]])
@pytest.mark.parametrize("text", [TEXT + "\n", "", " \r\n", "-"])
def test_inspect_reads_the_text_on_standard_input(
    ticore: Ticore, arguments: list[str], text: str
) -> None:
    found = ticore("inspect", "--json", *arguments, stdin=text.encode())
    assert found.status == 0
    assert json.loads(found.out)["given"] == text


@pytest.mark.parametrize("text", [TEXT + "\n", "", "-"])
def test_inspect_reads_the_text_in_a_file(ticore: Ticore, text: str) -> None:
    Path("text").write_bytes(text.encode())
    found = ticore("inspect", "--json", "--file", "text")
    assert json.loads(found.out)["given"] == text
    assert ticore("inspect", "--json", "--file", "-", stdin=text.encode()) == found


def test_inspect_reads_ids_on_standard_input(ticore: Ticore, split: list[int]) -> None:
    found = ticore("inspect", "--json", "--ids", "-", stdin=json.dumps(split).encode())
    assert json.loads(found.out)["ids"] == split


def test_inspect_json_has_the_whole_comparison(
    ticore: Ticore, tokenizer: Tokenizer, split: list[int]
) -> None:
    Path("ids").write_text(" ".join(map(str, split)))
    shown = json.loads(ticore("inspect", "--json", "--ids", "ids").out)
    expected = compare(tokenizer, split)
    assert shown == {
        "consistent": False,
        "rate": inconsistency_rate(expected),
        "given": None,
        "text": TEXT,
        "ids": split,
        "again": list(expected.again),
        "spans": [list(span) for span in expected.spans],
        "spans_again": [list(span) for span in expected.spans_again],
        "sits": [3, 4],
        "cits": [3],
        "specials": [],
        "specials_again": [],
        "unknowns": [],
    }


def test_inspect_keeps_and_names_special_tokens(ticore: Ticore, tokenizer: Tokenizer) -> None:
    """Those for the beginning and the end of a text, in the text and in the table."""
    Path("ids").write_text(json.dumps([1, *tokenizer.encode(TEXT), 2]))
    found = ticore("inspect", "--ids", "ids")
    assert found.out.decode().splitlines()[0] == f"<s>{TEXT}</s>"
    assert rows(found.out)[0] == ["0", "B", "1", "<s>", "B", "1", "<s>"]
    assert "\nconsistent: 6 tokens, read back unchanged\n2 special tokens" in found.out.decode()
    shown = json.loads(ticore("inspect", "--json", "--ids", "ids").out)
    assert (shown["text"], shown["consistent"]) == (TEXT, True)
    assert shown["specials"] == shown["specials_again"] == [0, 5]


def test_inspect_writes_a_page_and_shows_the_summary(ticore: Ticore, tokenizer: Tokenizer) -> None:
    Path("page.html").write_text("<!DOCTYPE html> an earlier page")
    found = ticore("inspect", "<script>", "--html", "page.html")
    comparison = compare(tokenizer, tokenizer.encode("<script>"))
    expected = inspection_page(
        comparison,
        tokenizer.token_bytes,
        f"Tokens of {DEFAULT_MODEL}",
        "<script>",
        partial(special_name, tokenizer),
    )
    assert Path("page.html").read_bytes() == expected.encode()
    assert found.out.decode().startswith("consistent: ")
    assert found.out.count(b"\n") == 1
    assert [path.name for path in Path().iterdir()] == ["page.html"]


def test_inspect_writes_a_page_and_json(ticore: Ticore) -> None:
    assert json.loads(ticore("inspect", TEXT, "--html", "page", "--json").out)["text"] == TEXT
    assert Path("page").read_text().startswith("<!DOCTYPE html>")


def test_inspect_opens_a_tokenizer_by_its_place(ticore: Ticore) -> None:
    found = ticore("inspect", "--tokenizer", PLACE, TEXT)
    assert found.status == 0
    assert found == ticore("inspect", TEXT)


def test_inspect_says_that_the_tokenizer_changes_the_text(ticore: Ticore) -> None:
    """SentencePiece reads its own sign for a space as a space."""
    found = ticore("inspect", "a▁b")
    assert found.out.startswith(b"a b\n")
    assert b"the tokenizer changes the text" in found.out


def test_inspect_takes_a_text_like_an_option_after_two_dashes(ticore: Ticore) -> None:
    assert json.loads(ticore("inspect", "--json", "--", "--ids").out)["given"] == "--ids"


@pytest.mark.parametrize("columns", [20, 40, 80])
def test_inspect_escapes_control_characters_at_any_width(
    ticore: Ticore, monkeypatch: pytest.MonkeyPatch, columns: int
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    found = ticore("inspect", "[/b] \x1b[2J:+1:\0 日本\u202e")
    shown = found.out.decode()
    assert (found.status, found.err) == (0, "")
    assert not {"\x1b", "\0", "\u202e"} & set(shown)
    assert max(map(len, shown.splitlines())) <= columns


@pytest.mark.parametrize("columns", [40, 80])
def test_inspect_help_fits_the_width(
    ticore: Ticore, monkeypatch: pytest.MonkeyPatch, columns: int
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    found = ticore("inspect", "--help")
    assert (found.status, found.err) == (0, "")
    assert max(map(len, found.out.decode().splitlines())) <= 80
    assert "..." not in found.out.decode()


@pytest.mark.parametrize(
    "text",
    [
        "1 2 3",
        "[1, 2, 3]",
        "1,2,3",
        " [1 2 3]\n",
        "1\n2\r\n3\n",
        "[1,\n 2,\n 3,\n]",
        "1 02 3",
        "\ufeff[1, 2, 3]",
    ],
)
def test_parse_ids_reads_every_form(text: str) -> None:
    assert parse_ids(text, "FILE", 4) == [1, 2, 3]


NO_IDS = "FILE: expected token ids, such as 1 2 3 or [1, 2, 3], found "


@pytest.mark.parametrize(
    ("content", "part"),
    [
        (b"", NO_IDS + "none"),
        (b" \n", NO_IDS + "none"),
        (b"[]", NO_IDS + "none"),
        (b",", NO_IDS + "none"),
        (b"1 x 3", NO_IDS + "'x'"),
        (b"1.0", NO_IDS + "'1.0'"),
        (b"-1", NO_IDS + "'-1'"),
        (b"true", NO_IDS + "'true'"),
        (b'{"ids": [1]}', NO_IDS + "'{\"ids\":'"),
        (b"[1, [2]]", NO_IDS + "'[2]'"),
        (b"[1, 2", NO_IDS + "'[1'"),
        (b"1\x002", NO_IDS + r"'1\x002'"),
        ("１".encode(), NO_IDS + "'１'"),
        ("²".encode(), NO_IDS + "'²'"),
        (b"x" * 9000, NO_IDS + f"'{'x' * 20}...'\n"),
        (b"[" * 9000 + b"]" * 9000, NO_IDS + f"'{'[' * 20}...'\n"),
        (b"4096", "FILE: expected ids from 0 to 4095, found 4096"),
        (b"1 18446744073709551617", "found 18446744073709551617;"),
        (b"9" * 9000, f"found {'9' * 20}...;"),
        (b"\xff\xfe1\x00", "FILE: expected UTF-8 text"),
    ],
)
@pytest.mark.parametrize("output", slow_unless([[]], [[], ["--json"], ["--html", "page"]]))
def test_inspect_refuses_what_is_not_an_id(
    ticore: Ticore, content: bytes, part: str, output: list[str]
) -> None:
    Path("FILE").write_bytes(content)
    ticore("inspect", "--ids", "FILE", *output).assert_error(1, part)
    on_stdin = ticore("inspect", "--ids", "-", *output, stdin=content)
    on_stdin.assert_error(1, part.replace("FILE", "standard input"))
    assert not Path("page").exists()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "status", "part"),
    [
        (["a", "--ids", "ids"], 2, "expected one input, found TEXT, --ids; give one of them"),
        (["--file", "-", "--ids", "-"], 2, "expected one input, found --file, --ids"),
        (["--file", "missing"], 1, "cannot read missing: No such file"),
        (["--file", "damaged"], 1, "damaged: expected UTF-8 text"),
        (["a", "b"], 2, "see: ticore inspect --help"),
        (["a\udcff"], 2, "TEXT: expected text that is valid Unicode"),
        (["--ids", "missing"], 1, "cannot read missing: No such file"),
        (["--ids", "folder"], 1, "cannot read folder"),
        (["a", "--tokenizer", "nix"], 1, "no model is called 'nix'"),
        (["a", "--tokenizer", "nix:a"], 1, "no backend for tokenizers is called 'nix'"),
        (["a", "--tokenizer", "sentencepiece:missing"], 1, "missing"),
        (["a", "--tokenizer", "sentencepiece:damaged"], 1, "damaged"),
        (["a", "--html", "missing/page"], 1, "cannot write missing/page"),
        (["a", "--html", "x" * 300], 1, "cannot write xxx"),
        (["a", "--html", "folder"], 1, "found something else"),
        (["a", "--html", "/dev/null"], 1, "found something else"),
    ],
)
def test_inspect_refuses_bad_input_and_writes_nothing(
    ticore: Ticore, arguments: list[str], status: int, part: str
) -> None:
    Path("folder").mkdir()
    Path("damaged").write_bytes(b"\0\xff")
    ticore("inspect", *arguments).assert_error(status, part)
    assert {path.name for path in Path().iterdir()} == {"folder", "damaged"}


def test_inspect_refuses_standard_input_that_is_not_utf8(ticore: Ticore) -> None:
    ticore("inspect", stdin=b"a\xff").assert_error(1, "standard input: expected UTF-8 text")


@pytest.mark.parametrize("specials", ["gaps", "text", "refuse"])
def test_inspect_reads_special_tokens_as_it_is_told(ticore: Ticore, specials: str) -> None:
    tokenizer = Model("gpt2", added=(Added("<|end|>", special=True),)).open()
    tokenizer._library.save("tokenizer.json")
    ids = tokenizer._library.encode("Hi!<|end|>Ho").ids
    Path("ids").write_text(" ".join(map(str, ids)))
    place = "--ids", "ids", "--tokenizer", "tokenizers:tokenizer.json", "--specials", specials
    shown = ticore("inspect", *place).out.decode()
    assert f"{'inconsistent' if specials == 'refuse' else 'consistent'}: 6 tokens" in shown
    assert ("found by name in the text" in shown) == (specials == "text")
    found = json.loads(ticore("inspect", *place, "--json").out)
    assert found["text"] == ("Hi!<|end|>Ho" if specials == "text" else "Hi!Ho")
    assert ticore("inspect", *place, "--html", "page.html").status == 0
    name = "&lt;|end|&gt;" if specials != "refuse" else "Ho"
    assert name in Path("page.html").read_text()
