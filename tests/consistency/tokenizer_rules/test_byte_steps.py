"""Steps that see bytes, told in characters and in pairs of bytes that are apart."""

import re
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tokenizers.pre_tokenizers import UnicodeScripts

from tests.support.pretokenizers import BYTE_STEPS, library_ends_in_bytes
from ticore._support.utf8 import NEVER_IN_TEXTS
from ticore.backend_kit import byte_alphabet
from ticore.consistency._tokenizer_rules.byte_steps import read_steps, without_merges_across
from ticore.consistency._tokenizer_rules.pretokenizers import Splitter, splitter_for
from ticore.consistency._unsupported import Unsupported
from ticore.interfaces import Split, TokenizerStructure
from ticore_tokenizers._scripts import split_at_scripts

texts = st.text("ab1 2!\nβ½²×日é«\u0660z9", max_size=10)


def ends_in_bytes(steps, text):
    """The ends of parts, and the places between bytes that are apart."""
    data, apart = text.encode(), read_steps(steps).apart
    ends = {len(text[:end].encode()) for end in splitter_for(steps).ends(text)}
    return sorted(ends | {n for n in range(1, len(data)) if (data[n - 1], data[n]) in apart})


@pytest.mark.parametrize("steps", BYTE_STEPS.values(), ids=BYTE_STEPS)
@given(text=texts)
@example(text="aβ1²12 12345½x")
@example(text="a b12 34")
def test_parts_are_those_of_the_tokenizers_library(steps, text):
    assert ends_in_bytes(steps, text) == library_ends_in_bytes(steps, text)


@pytest.mark.parametrize("steps", BYTE_STEPS.values(), ids=BYTE_STEPS)
@given(text=texts, more=texts)
def test_settled_boundaries_stay_when_text_is_appended(steps, text, more):
    splitter = splitter_for(steps)
    ends = list(splitter.ends(text + more))
    for at in splitter.settled(text):
        assert at in ends
        assert [end - at for end in ends if end > at] == list(splitter.ends((text + more)[at:]))


@pytest.mark.parametrize(
    ("steps", "reason"),
    [
        ((Split(r"\s+", reads="bytes"), Split(r" ?\p{L}+", reads="bytes")), "inside characters"),
        ((Split(r"[\s\S]{1,4}", reads="bytes"),), "inside characters"),
        ((Split(r"\p{L}|[^a]", reads="bytes"),), "inside characters"),
        ((Split(r"[À-ö]", reads="bytes"), Split("a(?!b)", reads="bytes")), "inside characters"),
        ((Split(r"\p{N}", reads="bytes"), Split("a1", reads="bytes")), "inside characters"),
        ((Split(r"\p{N}", "removed", reads="bytes"),), "drops text"),
        ((Split("Ġ", "removed", reads="bytes"),), "drops text"),
        ((Split("[a-z]|[0-9]", "on_change", reads="bytes"),), "not all are in one"),
    ],
)
def test_steps_that_are_of_neither_kind_are_refused_with_the_reason(steps, reason):
    with pytest.raises(Unsupported, match=re.escape(reason)):
        Splitter(steps)


def test_merges_across_bytes_that_are_apart_are_left_out():
    spelled = [b"a", b"1", b"\xb2", b"a1", b"1\xb2", b""]
    structure = TokenizerStructure(
        kind="bpe",
        atoms="bytes",
        pieces=np.ones(6, dtype=bool),
        merges=np.array([[0, 1, 3], [1, 2, 4]], dtype=np.int32),
        pretokenizer=(Split(r"\p{N}+", reads="bytes"),),
    )
    assert without_merges_across(structure, spelled).merges.tolist() == [[1, 2, 4]]


def test_bytes_whose_letters_are_of_two_scripts_are_apart():
    """As the library sees them after ByteLevel; no letter of a byte is without a script."""
    steps = (replace(split_at_scripts(), reads="bytes"),)
    apart, letters = read_steps(steps).apart, sorted(byte_alphabet().items())
    for letter, byte in letters:
        for other, following in letters:
            if NEVER_IN_TEXTS.isdisjoint({byte, following}):
                parts = len(UnicodeScripts().pre_tokenize_str(letter + other))
                assert ((byte, following) in apart) == (parts == 2), (letter, other)
