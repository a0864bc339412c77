"""Where a changed text leaves what can have been written: never before the change had an effect."""

from __future__ import annotations

import pickle
from functools import cache
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ticore
from tests.support.toy_models import ToyModel, ToyTokenizer
from ticore.disambiguation import DISAMBIGUATIONS
from ticore.errors import (
    AlteredTextError,
    CapacityError,
    ExtractionError,
    IncompleteMessageError,
    OutsidePoolError,
)
from ticore.steganography._departure import in_received, outside_pool, place_after
from ticore.steganography._text_state import TextState

KEY = bytes(range(32))
PIECES = [
    *'abcdefghABCDEFGH .,\n"-',
    "ab",
    "abc",
    " a",
    " bc",
    "cd",
    "de ",
    "ef",
    "gh",
    ". ",
    "\n\n",
    " de",
]
TOY = ToyTokenizer(PIECES)
CERTAIN = sorted(name for name, kind in DISAMBIGUATIONS.items() if kind.certain)


@pytest.mark.parametrize(
    ("text", "written", "candidates", "before", "found", "likely"),
    [
        ("the old house3 stood", "the old", [" man", " house"], "the old ", "house3", "house man"),
        ("the old house", "the old", [" man", "er", " dog"], "the old ", "house", "man dog"),
        ("the old, man", "the old", [" man", "er"], "the old", ", man"[:1], "+man er"),
        ("the old  man", "the old", [" man"], "the old ", " man", "man"),
        ("the old", "the", [" oldest"], "the ", "old", "oldest"),
        ("Xhe", "", [" The", " It"], "", "Xhe", "The It"),
        ("the old", "the\ufffd", [], "the", " old", ""),
        ("a", "a", [" b"], "a", "", "+b"),
    ],
)
def test_place_is_where_no_candidate_goes_on(text, written, candidates, before, found, likely):
    place = place_after(text, written, candidates)
    assert (place.before, place.found) == (before, found)
    assert list(place.likely) == [each.replace("+", " ") for each in likely.split()]


def first_change(text: str | list[int], changed: str | list[int]) -> int:
    pairs = enumerate(zip(text, changed, strict=False))
    return next((at for at, (a, b) in pairs if a != b), min(len(text), len(changed)))


def changed_somewhere(text: str, prompt: str, random: Random) -> str:
    """With one character lost, doubled, added or replaced, after the prompt."""
    at = random.randrange(len(prompt), len(text))
    other = random.choice(' .,\n"-aBe')
    put = random.choice(["", text[at] * 2, other + text[at], other, text[at].swapcase()])
    return text[:at] + put + text[at + 1 :]


def assert_place_is_right(stego, text, message, changed, words_apart):
    """The message, or an error whose place is not before the change had an effect."""
    try:
        assert stego.extract(changed) == message
        return
    except OutsidePoolError as error:
        left = error
    except ExtractionError:
        return  # The changed text reads on, or its prompt does not read as it did.
    place = left.place
    assert place is not None
    assert place.start <= place.end <= len(place.text)
    assert changed.endswith(place.text)  # perhaps another beginning was read further
    begun = len(changed) - len(place.text)
    assert place.received_start == begun + place.start
    assert f"at character {place.received_start}" in str(left)
    if words_apart:
        assert first_change(text, changed) <= begun + place.end
    elif not begun:  # Tokens that are as they were are read.
        encode, decode = stego._setup.model.tokenizer.encode, stego._setup.model.tokenizer.decode
        same = first_change(encode(text), encode(changed))
        assert len(decode(encode(text)[:same])) <= place.start


@pytest.mark.parametrize("disambiguation", CERTAIN)
@settings(max_examples=12, deadline=None)
@given(seed=st.integers(0, 999), view=st.sampled_from(["whole", "continuation"]))
def test_place_is_not_before_the_change_had_an_effect(disambiguation, seed, view):
    random = Random(seed)
    stego = ticore.Steganographer(
        ToyModel(TOY, seed=seed % 3),
        key=KEY,
        prompt="ab",
        view=view,
        top_k=6,
        disambiguation=disambiguation,
        security="compact",
        compress="deflate",
        pad="none",
        finish="none",
        entropy=np.random.default_rng(seed).bytes,
    )
    text = stego.embed(b"").text
    changed = changed_somewhere(text, "ab" if view == "whole" else "", random)
    assert_place_is_right(stego, text, b"", changed, words_apart=disambiguation != "stepwise")


@cache
def english():
    stego = ticore.Steganographer(
        ticore.load_model("tiny-en"),
        key=KEY,
        prompt="The morning was",
        entropy=np.random.default_rng(5).bytes,
    )
    return stego, stego.embed(b"noon").text


def test_change_is_in_what_was_found_or_before_it():
    stego, text = english()
    random = Random(3)
    for _ in range(6):
        changed = changed_somewhere(text, "The morning was ", random)
        assert_place_is_right(stego, text, b"noon", changed, words_apart=True)


def test_place_is_that_of_the_received_text():
    stego, text = english()
    at = text.index(" ", 40)
    changed = f"Hi Ann: {text[:at]} qqq{text[at:]}"
    with pytest.raises(OutsidePoolError, match="read from character 8 on: at character ") as caught:
        stego.extract(changed)
    place = caught.value.place
    assert place.received_start == changed.index("qqq")
    assert place.found.startswith("qqq")
    assert place.likely
    with pytest.raises(OutsidePoolError) as raw:
        stego.extract_bits(changed, 10_000)
    assert raw.value.place == place


def test_place_in_a_text_that_its_channel_changed_is_that_of_the_text_as_read():
    place = place_after("one two", "one", [" day"])
    assert in_received(outside_pool(place), "one  two").place.received_start is None
    assert "at character 4 of the text as it was read, after 'one '" in str(outside_pool(place))
    found = in_received(outside_pool(place), " one two\n")
    assert (found.place.received_start, found.place.start) == (5, 4)
    assert pickle.loads(pickle.dumps(found)).place == found.place


def test_wrong_key_has_no_place():
    stego, text = english()
    other = ticore.Steganographer(stego._setup.model, key=bytes(32), prompt="The morning was")
    with pytest.raises((AlteredTextError, IncompleteMessageError)) as caught:
        other.extract(text)
    assert not isinstance(caught.value, OutsidePoolError)


def test_a_text_that_goes_on_where_nothing_can_follow_has_a_place(monkeypatch):
    stego, text = english()

    def next_step(state, really=TextState.next_step):
        if len(state.ids) == 9:
            raise CapacityError("the model leaves no choice here")
        return (yield from really(state))

    monkeypatch.setattr(TextState, "next_step", next_step)
    with pytest.raises(OutsidePoolError) as caught:
        stego.extract(text)
    place = caught.value.place
    assert 0 < place.start < len(text)
    assert text.startswith(place.found, place.start)
    assert place.likely == ()


def test_a_text_that_fills_the_context_is_incomplete_and_has_no_place(monkeypatch):
    stego, text = english()
    monkeypatch.setattr(TextState, "is_full", property(lambda state: len(state.ids) >= 9))
    with pytest.raises(IncompleteMessageError):
        stego.extract(text)
