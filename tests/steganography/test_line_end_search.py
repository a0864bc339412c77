"""Wrapped lines, whose lengths do not tell what stood between them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ticore
from tests.support.broken_lines import cut, in_one_line, wrapped
from tests.support.tiny_models import tiny_model
from tests.support.toy_models import ToyModel, ToyTokenizer
from ticore.errors import IncompleteMessageError
from ticore.steganography._broken_lines import Joined
from ticore.steganography._line_end_search import Change, search_line_ends, without
from ticore.steganography._payload import Payload
from ticore.steganography._rereading import Rereading, Tick, no_tick

ENDS = st.sampled_from(["\n", " ", ""])
PROMPT = "It was late."
MESSAGE = b"at noon"


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


def toy() -> ticore.Steganographer:
    """Every text of its pieces can have been written."""
    model = ToyModel(ToyTokenizer(["a", "b", " ", "\n", "ab"]), seed=1)
    return ticore.Steganographer(model, key=bytes(32), finish="none")


def searched(text: str, spaces: Sequence[int], tick: Tick = no_tick) -> Payload | None:
    """The payload of a text with other line ends in the place of some spaces."""
    joined = Joined(text, tuple((at, at + 1) for at in spaces))
    found = search_line_ends([(steganographer()._setup, joined)], tick)
    return None if found is None else found.payload


def texts_read(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Every text that is read from now on."""
    read, texts = Rereading.payload, list[str]()

    def recorded(rereading: Rereading, text: str) -> Payload:
        texts.append(text)
        return read(rereading, text)

    monkeypatch.setattr(Rereading, "payload", recorded)
    return texts


@given(st.lists(st.tuples(st.text("ab ", max_size=4), st.text(" ", max_size=2), ENDS), max_size=5))
def test_places_are_found_again_without_the_changes(parts: list[tuple[str, str, str]]) -> None:
    """Each kept part is read where it stands after the changes before it."""
    changes, places, old, new = list[Change](), list[tuple[int, int]](), 0, 0
    for kept, was, by in parts:
        places += [(old + at, new + at) for at in range(len(kept))]
        old, new = old + len(kept), new + len(kept)
        changes.append(Change(old, old + len(was), by))
        old, new = old + len(was), new + len(by)
    for before, after in places:
        assert without(tuple(changes), after) == before


@pytest.mark.slow
def test_line_ends_of_the_text_are_found_among_spaces() -> None:
    """All of them were taken for spaces, and may be any of these."""
    text = sent()
    ends = [at for at, character in enumerate(text) if character == "\n"][:3]
    joined = "".join(" " if at in ends else character for at, character in enumerate(text))
    others = [at for at, character in enumerate(joined) if character == " "][::15]
    unsure = sorted({*ends, *others} - set(range(len(PROMPT))))
    found = searched(joined, unsure)
    assert found is not None
    assert found.message() == MESSAGE


@pytest.mark.slow
def test_a_text_with_another_change_has_no_message() -> None:
    text = sent().replace(" ", " qqq ", 4)
    spaces = [at for at, character in enumerate(text) if character == " " and at > len(PROMPT)]
    assert searched(text, spaces) is None


@pytest.mark.slow
def test_readings_are_few_where_each_leaves_the_text_at_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """They take no pass of the model, and there are more than one could try."""
    read = texts_read(monkeypatch)
    text = f"{sent()[:120]} qqq"
    spaces = [at for at, character in enumerate(text) if character == " " and at > len(PROMPT)]
    assert searched(text, spaces) is None
    assert 20 < len(read) < 200


def test_white_space_alone_is_read_otherwise(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where nothing stands for a line end: no character takes the place of a space there."""
    read, text = texts_read(monkeypatch), "ab ab ab"
    joined = Joined(text, ((1, 1), (4, 4)))
    search_line_ends([(toy()._setup, joined)], no_tick)
    assert len({*read}) > 20
    assert {"".join(each.split()) for each in read} == {"ababab"}


@pytest.mark.slow
def test_no_text_is_read_that_the_channel_would_change(monkeypatch: pytest.MonkeyPatch) -> None:
    """It would be refused before a token is read, and look as if it had been read to its end."""
    stego = ticore.Steganographer(tiny_model(), key=bytes(32), prompt=PROMPT, channel="sms")
    read = texts_read(monkeypatch)
    text = stego.embed(MESSAGE).text.replace(" the ", " qqq ")
    spaces = [at for at, character in enumerate(text) if character == " " and at > len(PROMPT)]
    joined = Joined(text, tuple((at, at + 1) for at in spaces))
    assert search_line_ends([(stego._setup, joined)], no_tick) is None
    assert read
    assert all(map(stego._setup.passing.channel.leaves, read))


def test_a_text_that_cannot_be_spelled_does_not_end_the_search_of_others() -> None:
    """Repairs of characters give several texts."""
    stego = toy()
    text = stego.embed(b"").text
    texts = [(stego._setup, Joined(each, ())) for each in ("\ufb01", text)]
    found = search_line_ends(texts, no_tick)
    assert found is not None
    assert found.text == 1


@pytest.mark.slow
@pytest.mark.parametrize("width", [30, 40, 60, 72])
def test_wrapped_texts_with_line_ends_of_their_own_are_read(width: int) -> None:
    found = steganographer().extract_pasted(wrapped(sent(), width))
    assert (found.message, found.undone) == (MESSAGE, ("wrapped lines",))


@pytest.mark.slow
def test_line_ends_of_a_text_in_one_line_are_found() -> None:
    """No line end is left that could say where they were."""
    found = steganographer().extract_pasted(in_one_line(sent()))
    assert (found.message, found.undone) == (MESSAGE, ("spaces in place of line ends",))


@pytest.mark.slow
def test_a_text_in_one_line_is_read_after_it_was_wrapped() -> None:
    found = steganographer().extract_pasted(wrapped(in_one_line(sent()), 40))
    assert found.message == MESSAGE
    assert found.undone == ("wrapped lines", "spaces in place of line ends")


@pytest.mark.slow
@pytest.mark.parametrize("name", ["tiny-en", "tiny-zh"])
def test_a_text_is_read_from_one_line(name: str) -> None:
    entropy = np.random.default_rng(2).bytes
    stego = ticore.Steganographer(tiny_model(name), key=bytes(32), entropy=entropy)
    texts = (stego.embed(MESSAGE).text for _ in range(50))
    text = next(text for text in texts if text.strip().count("\n") >= 2)
    assert stego.extract_pasted(in_one_line(text)).message == MESSAGE


@pytest.mark.slow
def test_dashes_of_the_text_itself_stay_where_line_ends_are_found() -> None:
    """They look as if an editor had joined them."""
    entropy = np.random.default_rng(2).bytes
    stego = ticore.Steganographer(tiny_model("tiny-ja"), key=bytes(32), entropy=entropy)
    texts = (stego.embed(MESSAGE).text for _ in range(50))
    text = next(text for text in texts if "\u2026" in text and text.strip().count("\n") >= 2)
    found = stego.extract_pasted(in_one_line(text))
    assert (found.message, found.undone) == (MESSAGE, ("spaces in place of line ends",))


@pytest.mark.slow
def test_words_that_were_broken_at_their_hyphens_are_read() -> None:
    stego = steganographer()
    texts = (stego.embed(MESSAGE).text for _ in range(50))
    text = next(text for text in texts if re.search(r"\w-\w", text))
    width = re.search(r"\w-\w", text).start() + 2
    arrived = wrapped(text, width, at_hyphens=True)
    assert "-\n" in arrived
    assert stego.extract_pasted(arrived).message == MESSAGE


@pytest.mark.slow
@pytest.mark.parametrize("name", ["tiny-ja", "tiny-zh"])
def test_lines_of_wide_characters_are_read(name: str) -> None:
    """Also where words of other letters were cut."""
    entropy = np.random.default_rng(1).bytes
    stego = ticore.Steganographer(tiny_model(name), key=bytes(32), entropy=entropy)
    for width in (40, 41):
        arrived = cut(stego.embed(MESSAGE).text, width)
        assert stego.extract_pasted(arrived).message == MESSAGE


@pytest.mark.slow
def test_reading_stops_when_it_is_told_to() -> None:
    def stop() -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        searched(sent(), [], stop)


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
