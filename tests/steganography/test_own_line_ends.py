"""Wrapped lines, and line ends that the text had before."""

from __future__ import annotations

import textwrap
from functools import cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ticore
from tests.support.tiny_models import tiny_model
from ticore.errors import IncompleteMessageError
from ticore.steganography._own_line_ends import payload_with_own_line_ends, unwrapped
from ticore.steganography._rereading import no_tick

PROMPT = "It was late."
MESSAGE = b"at noon"


def wrapped(text: str, width: int) -> str:
    lines = text.split("\n")
    return "\n".join(textwrap.fill(each, width, break_on_hyphens=False) for each in lines)


WORDS = st.lists(st.text("ab.", min_size=1, max_size=6), min_size=1, max_size=12)


@given(st.lists(WORDS, min_size=1, max_size=4), st.integers(6, 20))
def test_unwrapped_gives_the_text_but_for_line_ends_that_look_wrapped(paragraphs, width) -> None:
    text = "\n".join(map(" ".join, paragraphs))
    arrived = wrapped(text, width)
    joined, spaces = unwrapped(arrived)
    assert len(joined) == len(text)
    assert {at for at, character in enumerate(joined) if character != text[at]} <= set(spaces)
    assert all((joined[at], arrived[at]) == (" ", "\n") for at in spaces)


@cache
def steganographer() -> ticore.Steganographer:
    """Its texts have the prompt in front."""
    entropy = np.random.default_rng(5).bytes
    return ticore.Steganographer(
        tiny_model(), key=bytes(32), prompt=PROMPT, view="whole", entropy=entropy
    )


@cache
def sent() -> str:
    """A text with line ends of its own."""
    stego = steganographer()
    texts = (stego.embed(MESSAGE).text for _ in range(50))
    return next(text for text in texts if text.rstrip().count("\n") >= 3)


@pytest.mark.slow
def test_line_ends_of_the_text_are_found_among_spaces() -> None:
    """All of them were taken for spaces, and may be any of these."""
    text = sent()
    ends = [at for at, character in enumerate(text) if character == "\n"][:3]
    joined = "".join(" " if at in ends else character for at, character in enumerate(text))
    others = [at for at, character in enumerate(joined) if character == " "][::7]
    unsure = sorted({*ends, *others} - set(range(len(PROMPT))))
    found = payload_with_own_line_ends(steganographer()._setup, joined, unsure, no_tick)
    assert found is not None
    assert found.message() == MESSAGE


@pytest.mark.slow
def test_a_text_with_another_change_has_no_message() -> None:
    text = sent().replace(" ", " qqq ", 4)
    spaces = [at for at, character in enumerate(text) if character == " " and at > len(PROMPT)]
    assert payload_with_own_line_ends(steganographer()._setup, text, spaces, no_tick) is None


@pytest.mark.slow
@pytest.mark.parametrize("width", [30, 40, 60, 72])
def test_wrapped_texts_with_line_ends_of_their_own_are_read(width: int) -> None:
    found = steganographer().extract_pasted(wrapped(sent(), width))
    assert (found.message, found.undone) == (MESSAGE, ("wrapped lines",))


@pytest.mark.slow
def test_reading_stops_when_it_is_told_to() -> None:
    def stop() -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        payload_with_own_line_ends(steganographer()._setup, sent(), [], stop)


@pytest.mark.slow
def test_a_wrapped_part_with_line_ends_of_its_own_is_read() -> None:
    """Also if only one text is given: then the error says that it is a part."""
    stego = steganographer()
    message = b"at noon, by the old bridge"
    for _ in range(50):
        first, second = (each.text for each in stego.embed_parts(message, part_size=13))
        if first.rstrip().count("\n") >= 3:
            break
    arrived = wrapped(first, 30)
    found = stego.extract_parts_pasted([second, arrived])
    assert found.message == message
    assert "wrapped lines" in found.undone
    with pytest.raises(IncompleteMessageError, match="found part 1 of 2"):
        stego.extract_pasted(arrived)
