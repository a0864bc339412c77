"""Letters and their marks on telephones."""

from __future__ import annotations

from random import Random

from ticore.channels import channel_named

SMS = channel_named("sms")


def test_a_mark_comes_back_to_its_letter_from_behind_a_character_that_nobody_sees():
    decomposed = SMS.changes["decomposed characters"]("café", Random(0))
    apart = decomposed.replace("\u0301", "\u00ad\u0301")
    assert SMS.read(apart) == "café"
    assert SMS.read(SMS.changes["no other accents"](apart, Random(0))) == "café"
