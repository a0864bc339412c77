"""The channels by name."""

from __future__ import annotations

import pickle
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ticore.channels import CHANNELS, Channel, channel_named, channel_of
from ticore.channels._base import joined
from ticore.errors import SettingsError


def test_joined_names_have_one_order():
    one, other = channel_named("typographic+chat"), channel_named("chat+typographic+chat")
    assert one.name == other.name == "chat+typographic"
    assert one.read("  “a”  b ") == other.read("  “a”  b ") == '"a" b'


@pytest.mark.parametrize("name", ["email+typographic", "email+sms"])
@pytest.mark.parametrize(
    ("sent", "arrived"),
    [
        ("我们...well done", "我们…well done"),
        ("我们说-office it", "我们说-o\ufb03ce it"),
        ("店の1/2-open day", "店の½-open day"),
    ],
)
def test_email_counts_the_characters_that_stand_for_a_single_sign(
    name: str, sent: str, arrived: str
) -> None:
    assert channel_named(name).leaves(sent)
    assert channel_named(name).read(arrived) == sent


@pytest.mark.parametrize(
    ("name", "arrived", "read"),
    [
        ("chat+typographic", "\ufb01\u0301n", "fín"),
        ("caseless+chat", "ß\u0301", "sś"),
        ("ascii+typographic", "a–ß-b", "a-b"),
    ],
)
def test_what_one_channel_makes_is_read_by_the_others(name: str, arrived: str, read: str) -> None:
    assert channel_named(name).read(arrived) == read
    assert channel_named(name).leaves(read)


_SIGNS = " >-/.'`\n\u00ad\u2028\u226f\u0338½…ﬃ—“ıßéǰ中あ가"


@given(
    others=st.sets(st.sampled_from(["line", "chat", "typographic", "sms", "caseless", "ascii"])),
    text=st.lists(
        st.sampled_from([*_SIGNS, "a", "I", "of", "fi", "1/2", "...", "中...well done"]),
        max_size=12,
    ).map("".join),
)
def test_texts_from_when_email_read_earlier_are_left_alone(others: set[str], text: str) -> None:
    """`email` only takes away what `typographic` and `sms` never put in, so none undoes another."""
    before = [
        CHANNELS[name]
        for name in ("line", "chat", "email", "typographic", "sms", "caseless", "ascii")
        if name in {"email", *others}
    ]
    earlier = joined(before, "earlier", "")
    now = channel_named("+".join(["email", *others]))
    for each in (text, earlier.read(text), now.read(text)):
        assert now.leaves(each) == earlier.leaves(each)


def test_identity_adds_nothing_to_others():
    assert channel_named("identity+email") is CHANNELS["email"]
    assert channel_named("identity") is CHANNELS["identity"]


@pytest.mark.parametrize("name", ["", "mail", "chat+", "chat+mail", "chat typographic"])
def test_unknown_names_are_refused(name):
    with pytest.raises(SettingsError, match=r"unknown channel .*: choose one of ascii, "):
        channel_named(name)


def test_a_channel_of_ones_own_is_taken_as_it_is():
    own = Channel("own", "drops x", lambda text: text.replace("x", ""))
    assert channel_of(own) is own
    assert channel_of(CHANNELS["chat"]) is CHANNELS["chat"]


@pytest.mark.parametrize("name", ["chat", "chat+email", "email+chat"])
def test_a_channel_of_ones_own_needs_a_name_of_its_own(name: str):
    with pytest.raises(SettingsError, match=f"another name than '{re.escape(name)}', which a bund"):
        channel_of(Channel(name, "drops x", lambda text: text.replace("x", "")))


def test_what_is_no_channel_is_refused():
    with pytest.raises(SettingsError, match="expected a name or a Channel, found 7"):
        channel_of(7)


@pytest.mark.parametrize("name", ["chat", "sms", "chat+typographic"])
def test_channel_can_be_pickled(name):
    copy = pickle.loads(pickle.dumps(channel_named(name)))
    assert channel_of(copy) == channel_named(name)
