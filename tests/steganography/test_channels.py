"""Messages over channels: whatever the channel does, the message is read."""

from __future__ import annotations

from functools import cache
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ticore
from tests.support.slow import THOROUGH, examples, slow_unless
from tests.support.tiny_models import tiny_model
from tests.support.toy_models import ToyModel
from ticore.channels import CHANNELS, Channel, channel_named
from ticore.errors import AgreementError, PromptError, SettingsError

PROMPTS = {"tiny-en": "one day", "tiny-ja": "ある日", "tiny-zh": "有一天"}
NAMES = [*sorted(CHANNELS.keys() - {"identity"}), "chat+typographic", "caseless+email+typographic"]
USABLE = [
    (model, channel, ("whole", "continuation")[(number // 2 + turn) % 2])
    for turn, model in enumerate(PROMPTS)
    for number, channel in enumerate(NAMES)
    if model == "tiny-en" or "ascii" not in channel
    if THOROUGH or (number + turn) % 2 == 0 or channel in ("chat", "email")
]
FAST = [case for case in USABLE if case[:2] in (("tiny-en", "email"), ("tiny-zh", "chat"))]


def test_chinese_after_a_space_is_no_dead_end_of_an_email():
    """There the channel drops each character that the bytes of a token may begin."""
    model = ToyModel(ticore.load_model("tiny-zh").tokenizer, sharpness=1.0)
    stego = ticore.Steganographer(
        model,
        key=bytes(range(32)),
        prompt="Windows ",
        channel="email",
        security="compact",
        compress="deflate",
        finish="none",
        entropy=np.random.default_rng(3).bytes,
    )
    for _ in range(10):
        found = stego.embed(b"noon")
        assert (stego.extract(found.text), found.given_up) == (b"noon", ())


@cache
def written(model, channel, view):
    prompt, seed = PROMPTS[model], np.random.default_rng(7)
    stego = ticore.Steganographer(
        tiny_model(model),
        key=bytes(range(32)),
        prompt=prompt,
        view=view,
        channel=channel,
        security="compact",
        compress="deflate",
        pad="none",
        entropy=seed.bytes,
    )
    return stego, stego.embed(b"noon").text


@pytest.mark.parametrize(("model", "name", "view"), slow_unless(FAST, USABLE))
@settings(max_examples=examples(3, thorough=30))
@given(data=st.data(), seed=st.integers(0, 999))
def test_message_is_read_whatever_the_channel_does(model, name, view, data, seed):
    channel = channel_named(name)
    stego, text = written(model, name, view)
    assert channel.leaves(text)
    names = data.draw(st.lists(st.sampled_from(sorted(channel.changes)), max_size=5))
    random, arrived = Random(seed), text
    for change in names:
        arrived = channel.changes[change](arrived, random)
    assert stego.extract(arrived) == b"noon"


def test_prompt_that_the_channel_changes_is_refused():
    model = tiny_model()
    with pytest.raises(PromptError, match=r"write it as '\"Well\"'"):
        ticore.Steganographer(model, prompt="“Well”", channel="typographic")
    ticore.Steganographer(model, prompt="“Well”", channel="typographic", view="continuation")


def test_channel_is_part_of_the_agreement():
    stego, text = written("tiny-en", "chat+typographic", "whole")
    assert stego.agreement.channel == "chat+typographic"
    agreement = ticore.Agreement.loads(stego.agreement.dumps())
    model = tiny_model()
    reader = ticore.Steganographer.from_agreement(agreement, model=model, key=bytes(range(32)))
    assert reader.extract(f" {text}") == b"noon"


def test_channel_of_ones_own_is_given_to_both_sides():
    own = Channel("no-x", "drops x", lambda text: text.replace("x", ""))
    model, key = tiny_model(), bytes(range(32))
    writer = ticore.Steganographer(
        model, key=key, prompt="One day", channel=own, entropy=np.random.default_rng(1).bytes
    )
    text = writer.embed(b"noon").text
    changed = f"xx{text[:9]}x{text[9:]}"
    with pytest.raises(
        SettingsError, match=r"unknown channel 'no-x'.*entry point of ticore\.channel"
    ):
        ticore.Steganographer.from_agreement(writer.agreement, model=model, key=key)
    other = Channel("no-y", "drops y", str)
    with pytest.raises(AgreementError, match="expected the channel that was agreed on"):
        ticore.Steganographer.from_agreement(writer.agreement, model=model, key=key, channel=other)
    reader = ticore.Steganographer.from_agreement(
        writer.agreement, model=model, key=key, channel=own
    )
    assert reader.extract(changed) == b"noon"
