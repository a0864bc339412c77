"""The table in a terminal, row by row, at any width, with and without colours."""

import io

import pytest
from rich.cells import cell_len
from rich.console import Console

from tests.support.toy_models import ToyTokenizer
from ticore.consistency import compare
from ticore.report import inspection_table
from ticore.report._interleaved import nameless

TOY = ToyTokenizer(
    ["", "a", "b", "ab", " 日本", " 日", "本", "[/b]", "\x1b[2J", "\u202e", "\n", "b"]
)
LONG = ToyTokenizer(["長い" * 30, "a"])


def render(tokenizer, ids, width=80, given=None, token_name=nameless, **settings):
    console = Console(file=io.StringIO(), width=width, **settings)
    found = compare(tokenizer, ids)
    console.print(inspection_table(found, tokenizer.token_bytes, given, token_name))
    return console.file.getvalue()


def test_inspection_table_has_rows_of_both_lists():
    lines = [line.rstrip() for line in render(TOY, [3, 1, 2, 11, 5, 6, 10]).splitlines()]
    assert lines == [
        "ababb 日本",
        "",
        "",
        "byte     id  token     id  read back",
        "   0      3  ab         3  ab",
        "   2  S   1  a      C   3  ab",
        "      S   2  b",
        "   4  O  11  b      O   2  b",
        "   5  S   5  ␣日    C   4  ␣日本",
        "      S   6  本",
        "  12     10  \\n        10  \\n",
        "",
        "S  source inconsistent: no token read back covers exactly its bytes",
        "C  consequential inconsistent: no token of the list covers exactly its bytes",
        "O  other id: both sides have a token for the same bytes, but not the same one",
        "",
        "inconsistent: 7 tokens, read back as 5",
        "4 source and 2 consequential inconsistent tokens: 50.00% of both lists",
    ]


def test_inspection_table_leaves_out_what_is_unchanged_in_a_long_text():
    lines = render(TOY, [*[3] * 2_500, 1, 2, 10]).splitlines()
    assert lines[-1].startswith("2 source")
    assert "2,501 blocks of tokens are left out of the table" in lines
    rows = lines[lines.index(next(line for line in lines if line.startswith("byte"))) + 1 :]
    assert [row.split()[0] for row in rows[:1]] == ["5000"]
    assert len(lines) < 200


def test_inspection_table_has_no_legend_for_a_consistent_list():
    shown = render(TOY, [3])
    assert "source" not in shown
    assert shown.splitlines()[-1] == "consistent: 1 token, read back unchanged"


def test_inspection_table_shows_an_empty_list():
    assert render(TOY, []).split("\n") == ["", "", "consistent: 0 tokens, read back unchanged", ""]


CHAT = ToyTokenizer(["", "a", "b", "ab", "<s>", "\x1b<e>"], special=(4, 5))


def test_inspection_table_names_special_tokens_in_their_places():
    shown = render(CHAT, [4, 1, 5, 4, 1, 2], token_name=CHAT.pieces.__getitem__)
    lines = [line.rstrip() for line in shown.splitlines()]
    assert lines == [
        r"<s>a\x1b<e><s>ab",
        "",
        "byte     id  token       id  read back",
        "   0  B   4  <s>      B   4  <s>",
        "   0      1  a            1  a",
        r"   1  B   5  \x1b<e>  B   5  \x1b<e>",
        "   1  B   4  <s>      B   4  <s>",
        "   1  S   1  a        C   3  ab",
        "      S   2  b",
        "",
        "S  source inconsistent: no token read back covers exactly its bytes",
        "C  consequential inconsistent: no token of the list covers exactly its bytes",
        "B  boundary: a special token; the text before it and after it is read by itself",
        "",
        "inconsistent: 6 tokens, read back as 5",
        "2 source and 1 consequential inconsistent tokens: 27.27% of both lists",
        "3 special tokens; each part between them is read by itself",
    ]


def test_inspection_table_shows_ids_of_special_tokens_without_names():
    lines = render(CHAT, [4, 1]).splitlines()
    assert lines[0] == "<4>a"
    assert lines[3].split() == ["0", "B", "4", "∅", "B", "4", "∅"]


def test_inspection_table_says_that_the_tokenizer_changes_the_text():
    assert "changes the text" in render(TOY, [3], given="AB")


def test_inspection_table_says_the_same_without_colours():
    plain = render(TOY, [1, 2, 3, 11])
    coloured = render(TOY, [1, 2, 3, 11], force_terminal=True, color_system="standard")
    assert "\x1b" not in plain
    for code in ("1;31", "1;33", "1;35"):  # red, yellow, magenta
        assert f"\x1b[{code}m" in coloured
    rows = coloured.splitlines()
    assert any("ab" in row and "31m" not in row for row in rows)


def test_inspection_table_escapes_control_characters():
    shown = render(TOY, [7, 8, 9])
    assert "[/b]" in shown
    assert r"\x1b[2J" in shown
    assert r"\u202e" in shown
    assert not {"\x1b", "\u202e"} & set(shown)


@pytest.mark.parametrize("width", [1, 10, 24, 40, 80, 200])
def test_inspection_table_fits_any_width(width):
    for tokenizer, ids in ((LONG, [0, 1]), (TOY, [5, 6, 1, 2, 4])):
        lines = render(tokenizer, ids, width).splitlines()
        # A letter of two cells does not fit in one.
        assert max(map(cell_len, lines)) <= max(width, 2)


def test_inspection_table_folds_a_long_token():
    assert render(LONG, [0], width=40).count("長") == 90  # in the text and on both sides


def test_inspection_table_aligns_columns_with_wide_characters():
    rows = [row for row in render(TOY, [5, 6, 1, 2, 4, 1]).splitlines() if " C " in row]
    assert len({cell_len(row.partition(" C ")[0]) for row in rows}) == 1
