"""The characters that are known, against Python's own tables, whichever version these are of."""

import unicodedata
from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.support.random_bpe import ALPHABETS
from ticore.consistency import _channels as channels
from ticore.consistency._tokenizer_rules import characters, normalizers, pretokenizers, unicode14
from ticore.consistency._tokenizer_rules.characters import (
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


def test_is_assigned_holds_for_what_unicode_14_assigned():
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
def test_assigned_gives_the_known_characters_of_a_range(first, length):
    last = min(first + length, 0x10FFFF)
    assert list(assigned(first, last)) == [c for c in EVERY[first : last + 1] if is_assigned(c)]


def test_completions_are_all_known_characters_that_begin_with_a_byte():
    """In the order of their code points; private ones are among them, surrogates are not."""
    leads = (bytes([lead]) for lead in range(0xC2, 0xF5))
    found = [character for lead in leads for character in characters.completions(lead)]
    assert found == [c for c in KNOWN if ord(c) >= 0x80]


@pytest.mark.parametrize(
    "unfinished", [b"\xc3", b"\xe3\x81", b"\xe0\xa4", b"\xf0\x9f\x98", b"\xf4"]
)
def test_completions_begin_with_the_given_bytes(unfinished):
    found = list(characters.completions(unfinished))
    assert len(found) > 60
    assert all(character.encode().startswith(unfinished) for character in found)


def newer():
    """Tables that know all the signs: Python's own, or those of a package."""
    if unicodedata.unidata_version >= "17":
        return unicodedata
    return pytest.importorskip("unicodedata2", reason="no table of a newer Unicode is installed")


def test_later_signs_are_not_letters_digits_marks_or_white_space():
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


def test_known_characters_are_the_same_in_newer_tables():
    """Classes change seldom, and where an expression tells them apart `is_ambiguous` names them."""
    table = newer()
    changed = [c for c in KNOWN if table.category(c) != unicodedata.category(c)]
    kinds = {c: {t.category(c) for t in (table, unicodedata)} for c in changed}
    assert all(pretokenizers.is_ambiguous(c) or kinds[c] == {"Mn", "Mc"} for c in changed)
    assert all(table.combining(c) == combining(c) for c in KNOWN)


def test_white_space_is_that_of_unicode_14():
    assert {c for c in EVERY if c.isspace()} == WHITE
    assert all(map(is_assigned, WHITE))


@given(text=texts)
@example(text="a\u0301\u0378\u0301")
@example(text="a\U00016d63\U00016d67")
def test_compose_leaves_characters_as_they_are_when_they_are_not_known(text):
    parts = "".join(c if is_assigned(c) else f"|{c}|" for c in text).split("|")
    assert compose(text) == "".join(unicodedata.normalize("NFC", part) for part in parts)


@pytest.mark.parametrize("text", ["\U00016d63\U00016d67", "\U000105d2\u0307", "a\U0001e6e3\u0327"])
def test_answers_are_the_same_on_a_newer_python(text, monkeypatch):
    """What it composes, reorders or knows besides changes none."""
    table = newer()

    def answers():
        normalizers.joining.cache_clear()
        return (
            compose(text),
            channels.send(text, "nfc"),
            normalizers.joining(),
            *map(pretokenizers.is_ambiguous, text),
            *(
                "".join(characters.completions(lead))
                for lead in (b"\xf0\x90\xb5", b"\xea\x9f", b"\xe0")
            ),
        )

    ours = answers()
    for module in (characters, normalizers):
        monkeypatch.setattr(module, "unicodedata", table)
    assert table.normalize("NFC", text) != text
    assert answers() == ours
    normalizers.joining.cache_clear()
