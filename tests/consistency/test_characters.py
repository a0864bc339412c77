"""The characters that are known, against Python's own tables, whichever version these are of."""

import unicodedata
from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.consistency.random_bpe import ALPHABETS
from ticore.consistency import channels, characters, modes, normalization, patterns, unicode14
from ticore.consistency.characters import (
    assigned,
    combining,
    compose,
    is_assigned,
    is_doubtful,
)

EVERY = [chr(code) for code in range(0x110000)]
KNOWN = [c for c in EVERY if is_assigned(c)]
SIGNS = [c for c in EVERY if not is_assigned(c) and not is_doubtful(c)]
# White space of Unicode 14, and the separators that Python adds.
WHITE = {*"\t\n\x0b\f\r\x1c\x1d\x1e\x1f \x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000"}
WHITE |= set(map(chr, range(0x2000, 0x200B)))

texts = st.text(st.sampled_from(sorted({*"".join(ALPHABETS), *"\u0316\u0345\u0378\U00016d63"})))


def ranges(found):
    """Characters in the form in which unicode14.py holds them."""
    codes = sorted(map(ord, found))
    firsts = codes[:1] + [b for a, b in pairwise(codes) if b > a + 1]
    lasts = [a for a, b in pairwise(codes) if b > a + 1] + codes[-1:]
    return " ".join(
        f"{a:X}" if a == b else f"{a:X}-{b:X}" for a, b in zip(firsts, lasts, strict=True)
    )


def test_what_is_known_is_what_unicode_14_assigned():
    """Python 3.11 has that version, and made the ranges; a newer one has more."""
    theirs = [c for c in EVERY if unicodedata.category(c) not in ("Cn", "Cs")]
    if unicodedata.unidata_version == unicode14.VERSION:
        assert ranges(theirs).split() == unicode14.ASSIGNED.split()
    assert (
        len(KNOWN) == 282_230
    )  # as the standard counts them, with the controls and the private ones
    assert set(KNOWN) <= set(theirs)
    assert list(assigned(0, 0x10FFFF)) == KNOWN


@given(first=st.integers(0, 0x10FFFF), length=st.integers(0, 3000))
@example(first=0x378, length=0)
@example(first=0xD7FF, length=0x801)
@example(first=0x10FFFE, length=1)
def test_some_of_the_known_characters(first, length):
    last = min(first + length, 0x10FFFF)
    assert list(assigned(first, last)) == [c for c in EVERY[first : last + 1] if is_assigned(c)]


def newer():
    """Tables that know all the signs: Python's own, or those of a package."""
    if unicodedata.unidata_version >= "17":
        return unicodedata
    return pytest.importorskip("unicodedata2", reason="no table of a newer Unicode is installed")


def test_signs_that_were_assigned_later():
    """No letter, no digit, no mark, no white space, and no normal form changes them."""
    table = newer()
    since = [c for c in EVERY if not is_assigned(c) and table.category(c)[0] in "SP"]
    signs = [c for c in since if not table.decomposition(c) and not table.combining(c)]
    assert set(signs) <= set(SIGNS)
    assert {table.category(c) for c in SIGNS} <= {
        "So",
        "Sm",
        "Sc",
        "Sk",
        "Po",
        "Ps",
        "Pe",
        "Pd",
        "Cn",
    }
    assert "\U0001fae8" in SIGNS
    text = "".join(SIGNS)
    assert all(table.normalize(form, text) == text for form in ("NFC", "NFD", "NFKC", "NFKD"))


def test_what_newer_tables_say_of_known_characters():
    """Classes change seldom, and where an expression tells them apart `is_ambiguous` names them."""
    table = newer()
    changed = [c for c in KNOWN if table.category(c) != unicodedata.category(c)]
    kinds = {c: {t.category(c) for t in (table, unicodedata)} for c in changed}
    assert all(patterns.is_ambiguous(c) or kinds[c] == {"Mn", "Mc"} for c in changed)
    assert all(table.combining(c) == combining(c) for c in KNOWN)


def test_white_space_is_the_same_everywhere():
    assert {c for c in EVERY if c.isspace()} == WHITE
    assert all(map(is_assigned, WHITE))


@given(text=texts)
@example(text="a\u0301\u0378\u0301")
@example(text="a\U00016d63\U00016d67")
def test_characters_that_are_not_known_are_composed_with_nothing(text):
    parts = "".join(c if is_assigned(c) else f"|{c}|" for c in text).split("|")
    assert compose(text) == "".join(unicodedata.normalize("NFC", part) for part in parts)


@pytest.mark.parametrize("text", ["\U00016d63\U00016d67", "\U000105d2\u0307", "a\U0001e6e3\u0327"])
def test_a_newer_python_gives_the_same_answers(text, monkeypatch):
    """What it composes, reorders or knows besides changes none."""
    table = newer()

    def answers():
        normalization.joining.cache_clear()
        return (
            compose(text),
            channels.send(text, "nfc"),
            normalization.joining(),
            *map(patterns.is_ambiguous, text),
            *("".join(modes.completions(lead)) for lead in (b"\xf0\x90\xb5", b"\xea\x9f", b"\xe0")),
        )

    ours = answers()
    for module in (characters, normalization):
        monkeypatch.setattr(module, "unicodedata", table)
    assert table.normalize("NFC", text) != text
    assert answers() == ours
    normalization.joining.cache_clear()
