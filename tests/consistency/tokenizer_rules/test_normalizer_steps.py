"""What is claimed about sequences of normalizers, for the library's own."""

from __future__ import annotations

import unicodedata

import numpy as np
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st
from tokenizers import normalizers

from tests.support.normalizer_sequences import CHARACTERS, steps
from ticore.backend_kit import NoStructure
from ticore.consistency._tokenizer_rules.characters import is_assigned
from ticore.consistency._tokenizer_rules.normalizer_steps import require_local
from ticore.consistency._tokenizer_rules.normalizers import Normalization, require_known
from ticore.consistency._unsupported import Unsupported
from ticore.interfaces import TokenizerStructure
from ticore_tokenizers._normalizer_steps import normalize_with, read_normalizer

ASSIGNED = [chr(n) for n in range(0x110000) if not 0xD800 <= n < 0xE000 and is_assigned(chr(n))]
FORMS = [normalizers.NFC(), normalizers.NFD(), normalizers.NFKC(), normalizers.NFKD()]

long_runs = st.builds(
    lambda base, mark, n, more: base + mark * n + more,
    st.sampled_from("oa"),
    st.sampled_from("\u0323\u0301\u302e`-"),
    st.sampled_from([1, 31, 32, 33, 70]),
    st.text("\u0323\u0301`a", max_size=2),
)
texts = st.text(CHARACTERS + "`-e ", max_size=5) | long_runs


def described(found) -> Normalization:
    try:
        name, replacements = read_normalizer(found)
    except NoStructure:
        assume(False)
    structure = TokenizerStructure(
        kind="bpe",
        atoms="bytes",
        pieces=np.ones(256, dtype=bool),
        normalizer=name,
        replacements=replacements,
        normalize=normalize_with(found),
    )
    try:
        require_known(structure)
    except Unsupported:
        assume(False)
    return Normalization(structure)


@given(found=steps(), left=texts, right=texts)
@example(found=[{"type": "NFD"}], left="o\u0323" * 40, right="\u0301")
@example(found=[{"type": "NFD"}], left="o" + "\u0301" * 70, right="\u0323")
@example(
    found=[{"type": "NFC"}, {"type": "StripAccents"}], left="o" + "\u302e" * 40, right="\u0301"
)
# The library takes U+0899, a mark of Unicode 14, for a letter.
@example(found=[{"type": "NFC"}], left="o\u0316\u0899", right="\u0301")
def test_a_text_is_kept_if_its_parts_are_and_the_place_where_they_meet(found, left, right):
    normalization = described(found)
    parts = normalization.keeps(left) and normalization.keeps(right)
    meeting = normalization.context(left) + normalization.head(right.encode()) if left else ""
    assert normalization.keeps(left + right) == (parts and normalization.keeps(meeting))


@given(found=steps(), left=texts, right=texts, more=texts)
def test_the_context_of_a_longer_text_follows_from_the_context_so_far(found, left, right, more):
    normalization = described(found)
    head = normalization.head(more.encode())
    if normalization.keeps(left) and normalization.keeps(left + right):
        grown = normalization.context(normalization.context(left) + right)
        context = normalization.context(left + right)
        assert normalization.keeps(grown + head) == normalization.keeps(context + head)


@given(found=steps(), text=texts)
def test_a_text_that_is_changed_is_no_beginning_of_what_it_becomes(found, text):
    normalization = described(found)
    assert normalization.keeps(text) or not normalization.read(text).startswith(text)


def changed_by_lowercase(text: str) -> int:
    return sum(character in CASED for character in text)


CASED = {c for c in ASSIGNED if normalizers.Lowercase().normalize_str(c) != c}


@pytest.mark.slow
def test_lowercase_makes_the_number_of_cased_characters_smaller_and_no_other_larger():
    lowercase = normalizers.Lowercase()
    for character in CASED:
        before = unicodedata.normalize("NFKD", character)
        after = unicodedata.normalize("NFKD", lowercase.normalize_str(character))
        assert changed_by_lowercase(after) < changed_by_lowercase(before)
        uncased = [c for c in after if c.lower() == c.upper()]
        assert uncased == [c for c in before if c.lower() == c.upper()]
    assert lowercase.normalize_str("ΑΣ") == "ας".replace("ς", "σ")  # without a look at neighbours


@pytest.mark.slow
def test_strip_accents_drops_characters_and_puts_none_in_their_place():
    strip = normalizers.StripAccents()
    dropped = [c for c in ASSIGNED if strip.normalize_str(c) != c]
    assert {strip.normalize_str(c) for c in dropped} == {""}
    assert CASED.isdisjoint(dropped)


@pytest.mark.slow
def test_what_lowercase_leaves_alone_does_not_depend_on_the_normal_form():
    for character in ASSIGNED:
        if unicodedata.normalize("NFC", character) == character:
            decomposed = unicodedata.normalize("NFD", character)
            assert (character in CASED) == any(c in CASED for c in decomposed)


@pytest.mark.slow
def test_normal_forms_do_not_change_the_form_kd():
    for character in ASSIGNED:
        expected = FORMS[3].normalize_str(character)
        for form in FORMS:
            assert FORMS[3].normalize_str(form.normalize_str(character)) == expected


@pytest.mark.parametrize(
    ("names", "replacements", "why"),
    [
        ("nfc nfd", {}, "composes characters, and decomposes them again"),
        ("nfd replace nfc", {"--": "-"}, "both decomposes and composes"),
        ("replace", {"a": "aa"}, "may replace 'aa', which it puts for 'a'"),
        ("replace", {"…": "...", "..": "…"}, "may replace"),
        ("replace", {"x" * 32: ""}, "a text of 32 characters"),
        ("replace", {"": "a"}, "a text of 0 characters"),
        ("replace", {"|": ""}, "which other steps change"),
        ("lowercase replace", {"ab": ""}, "replaces 'a', which other steps change"),
        ("replace nfc", {"é": "e"}, "replaces 'é', which other steps change"),
        ("replace nfc", {"\u0301": ""}, "which other steps change"),
    ],
)
def test_steps_are_refused_where_a_claim_does_not_hold(names, replacements, why):
    with pytest.raises(Unsupported, match=why):
        require_local(names.split(), replacements)


@pytest.mark.parametrize(
    ("names", "replacements"),
    [
        ("nfd lowercase strip_accents nfc", {}),
        ("nfkc nfc lowercase", {}),
        ("replace replace nfkd strip_accents lowercase", {"``": '"', "''": '"'}),
        ("replace", {"ab": "c", "  ": " "}),
        ("strip_accents nfc", {}),
    ],
)
def test_steps_are_accepted_where_all_claims_hold(names, replacements):
    require_local(names.split(), replacements)
