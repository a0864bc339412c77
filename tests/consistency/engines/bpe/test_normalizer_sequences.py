"""Engines for tokenizers that begin with a sequence of normalizers, against the definition."""

from __future__ import annotations

import unicodedata
from functools import partial

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.support.normalizer_sequences import (
    CHARACTERS,
    FORMS,
    byte_level,
    metaspace,
    space_marking,
    steps,
    texts,
    words,
)
from tests.support.random_bpe import MODES
from tests.support.real_walks import check_library_walk


def with_what_they_become(characters: str) -> str:
    """Some characters, and those that the normalizers make of them.

    What an unfinished character is changed into could have been the character itself.
    """
    found = set(characters)
    for step in (str.lower, *(partial(unicodedata.normalize, form) for form in FORMS)) * 2:
        found.update("".join(map(step, found)))
    return "".join(sorted(found))


FOLLOWING = with_what_they_become(CHARACTERS + "a1.\n\u0e3f \u3000")
TOLD = frozenset(FOLLOWING.encode()) | set(b"\x80\xff")
choices = st.lists(st.integers(0, 99), max_size=4)


def kinds(*names: str) -> list[dict[str, str]]:
    return [{"type": name} for name in names]


def replaced(old: str, new: str) -> dict[str, object]:
    return {"type": "Replace", "pattern": {"String": old}, "content": new}


@pytest.mark.parametrize("mode", MODES)
@settings(max_examples=settings.default.max_examples // 5)
@given(words=words, found=steps(), text=texts, choices=choices)
@example(words=["e\u0301", "\u0323\u0301"], found=kinds("NFD"), text="e\u0323\u0301", choices=[])
@example(words=["a\u0301"], found=kinds("NFD", "StripAccents", "NFC"), text="한a", choices=[1, 2])
@example(words=["``", "a`"], found=[replaced("``", '"')], text="a``", choices=[])
def test_byte_level_engine_answers_as_the_definition(mode, words, found, text, choices):
    tokenizer = byte_level(words, found)
    shown = [
        i
        for i in range(tokenizer.vocab_size)
        if len(data := tokenizer.token_bytes(i)) > 1 or data[0] in TOLD
    ]
    check_library_walk(tokenizer, text, mode, choices, FOLLOWING, shown)


@pytest.mark.parametrize("mode", MODES)
@settings(max_examples=settings.default.max_examples // 5)
@given(
    words=words,
    found=steps(),
    prefix=st.booleans(),
    first=st.booleans(),
    text=texts,
    choices=choices,
)
@example(words=["ab"], found=[], prefix=True, first=False, text="ab", choices=[])
@example(
    words=["Aß", "Aé"], found=kinds("Lowercase"), prefix=False, first=True, text="", choices=[]
)
def test_space_marking_engine_answers_as_the_definition(
    mode, words, found, prefix, first, text, choices
):
    tokenizer = space_marking(words, found, prefix=prefix, first=first)
    shown = [i for i in range(1, tokenizer.vocab_size) if i > 256 or i - 1 in TOLD]
    check_library_walk(tokenizer, text, mode, choices, FOLLOWING, shown)


@pytest.mark.parametrize("mode", MODES)
@settings(max_examples=settings.default.max_examples // 5)
@given(
    words=words,
    found=st.just([]) | steps(),
    scheme=st.sampled_from(["first", "always", "never"]),
    split=st.booleans(),
    special=st.booleans(),
    text=texts,
    choices=choices,
)
@example(
    words=[" a"],
    found=kinds("NFKC"),
    scheme="first",
    split=True,
    special=True,
    text="a <t> a",
    choices=[5, 1],
)
def test_metaspace_engine_answers_as_the_definition(
    mode, words, found, scheme, split, special, text, choices
):
    tokenizer = metaspace(words, found, scheme=scheme, split=split, special=special)
    shown = [i for i in range(1, tokenizer.vocab_size) if i > 256 or i - 1 in TOLD]
    check_library_walk(tokenizer, text, mode, choices, FOLLOWING, shown)


@pytest.mark.parametrize(
    "found",
    [
        kinds("Lowercase"),
        kinds("NFD"),
        kinds("NFKD", "StripAccents", "Lowercase"),
        kinds("NFD", "Lowercase", "StripAccents", "NFC"),
        [replaced("``", '"'), replaced("''", '"'), *kinds("NFKD", "StripAccents")],
        [{"type": "Replace", "pattern": {"Regex": "-{2,}"}, "content": "-"}],
        [{"type": "Sequence", "normalizers": kinds("NFC")}, *kinds("Lowercase")],
    ],
)
def test_there_are_tables_for_usual_sequences(found):
    spaced = metaspace(["ab"], found, scheme="first", split=True, special=True)
    assert check_library_walk(spaced, "ab", "prefix", [], "a")
    assert check_library_walk(byte_level(["ab"], found), "ab", "prefix", [], "a")
    assert check_library_walk(
        space_marking(["ab"], found, prefix=True, first=True), "ab", "prefix", [], "a"
    )
