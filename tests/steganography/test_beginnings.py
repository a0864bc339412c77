"""Text before the message: it is skipped, whatever stands there."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import ticore
from tests.support.tiny_models import tiny_model
from ticore.channels import channel_named
from ticore.errors import ExtractionError
from ticore.steganography._beginnings import MOST_BEGINNINGS, beginnings

IDENTITY = channel_named("identity")
KEY = bytes(range(32))


@given(before=st.text("ab: >\n", max_size=12), text=st.text("ab", min_size=1, max_size=5))
@example(before="", text="a")
def test_text_after_a_line_break_or_a_colon_is_one_of_the_beginnings(before, text):
    found = list(beginnings(f"{before}\n{text}", "", IDENTITY))
    assert found[0] == f"{before}\n{text}"
    assert len(found) <= MOST_BEGINNINGS
    assert text in found or len(found) == MOST_BEGINNINGS


@given(before=st.text("xOne day", max_size=12))
def test_a_prompt_is_found_where_it_stands(before):
    found = list(beginnings(f"{before}One day I went", "One day", IDENTITY))
    assert "One day I went" in found
    assert all(each.startswith("One day") for each in found)


def test_without_its_prompt_a_text_is_read_as_it_is():
    assert list(beginnings("Two days", "One day", IDENTITY)) == ["Two days"]


@pytest.mark.parametrize("view", ["whole", "continuation"])
def test_message_is_read_after_other_text(view):
    model = tiny_model()
    stego = ticore.Steganographer(
        model,
        key=KEY,
        prompt="One day",
        view=view,
        channel="chat",
        entropy=np.random.default_rng(5).bytes,
    )
    text = stego.embed(b"noon").text
    assert stego.extract(f"Hi Ann,\nhere it is: {text}\nBob") == b"noon"
    with pytest.raises(ExtractionError):
        stego.extract("Hi Ann,\nhere it is: nothing")


@pytest.mark.parametrize("before", ["山田さんへ\n\n", "> 山田さん\n> ", "- 山田:\n", "Dear Ann,\n"])
@pytest.mark.parametrize("start", [{"prompt": "The old house"}, {"openers": "en"}])
def test_message_is_read_after_a_line_that_the_channel_would_join_to_it(before, start):
    stego = ticore.Steganographer(
        tiny_model(),
        key=KEY,
        channel="email",
        security="compact",
        pad="none",
        entropy=np.random.default_rng(5).bytes,
        **start,
    )
    assert stego.extract(before + stego.embed(b"noon").text) == b"noon"


def test_other_lines_are_read_so_many_times_alone():
    reads = []
    channel = replace(IDENTITY, read=lambda text: (reads.append(text), text)[1])
    assert list(beginnings("a\n" * 1000, "One day", channel)) == ["a\n" * 1000]
    assert len(reads) < 100
