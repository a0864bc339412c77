"""The channels by name."""

from __future__ import annotations

import pickle
import re

import pytest

from ticore.channels import CHANNELS, Channel, channel_named, channel_of
from ticore.errors import SettingsError


def test_joined_names_have_one_order():
    one, other = channel_named("typographic+chat"), channel_named("chat+typographic+chat")
    assert one.name == other.name == "chat+typographic"
    assert one.read("  “a”  b ") == other.read("  “a”  b ") == '"a" b'


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
