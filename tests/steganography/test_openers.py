"""Openers: a text begins with one, and its reader needs no prompt."""

from __future__ import annotations

import hashlib
import pickle
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import ticore
from tests.support.toy_models import ToyModel, ToyTokenizer
from ticore.channels import PassingTexts, channel_named
from ticore.errors import AgreementError, ExtractionError, OutsidePoolError, SettingsError
from ticore.steganography import _openers as openers
from ticore.steganography._openers import OPENERS, TOPICS, Openers, openers_name

KEY = bytes(range(32))
LISTS = Path(openers.__file__).parent / "opener_lists"
# A list never changes: a better one gets a new number.
GOLDEN = {
    "en-1": "27b76268f4ef30e814cabaa0679144e09401dd5bc448fb06184b2924cf3e7e79",
    "ja-1": "60752c3f33dc25d8ee3e029958bb14e047066a1e3fa7d20103d571f45163722d",
    "zh-1": "f217d1d6ff03c511035c74dfe6e8ead26623611490337c50a6bc82e4a84b9383",
}


@cache
def model(language):
    return ticore.load_model(f"tiny-{language}")


def steganographer(language="en", seed=1, **settings):
    settings = {"key": KEY, "openers": language, "pad": "none", "security": "compact"} | settings
    return ticore.Steganographer(
        model(language), entropy=np.random.default_rng(seed).bytes, **settings
    )


def test_lists_never_change():
    found = {
        path.stem: hashlib.sha256(path.read_bytes()).hexdigest() for path in LISTS.glob("*.json")
    }
    assert found == GOLDEN


@pytest.mark.parametrize("channel", ["identity", "chat+typographic", "email"])
@pytest.mark.parametrize("language", sorted(OPENERS))
def test_all_openers_are_given_back_and_left_alone(language, channel):
    tokenizer, name = model(language).tokenizer, OPENERS[language]
    found = Openers.of(name, tokenizer, PassingTexts(channel_named(channel), tokenizer))
    assert tuple(found.by_topic) == TOPICS
    assert all(len(some) == 5 for some in found.by_topic.values())
    every = found.about(None)
    assert sorted(every) == sorted(
        opener for some in openers._listed(name).values() for opener in some
    )
    # None is found inside another, so that a text has one reading where it begins.
    assert all(one == other or one not in other for one in every for other in every)


@pytest.mark.parametrize(
    ("language", "topic", "channel"),
    [("en", "cooking", "identity"), ("ja", "travel", "email"), ("zh", None, "chat+typographic")],
)
def test_message_is_read_without_a_prompt_and_among_other_text(language, topic, channel):
    stego = steganographer(language, channel=channel)
    text = stego.embed(b"no", topic=topic).text
    some = stego._setup._openers.about(topic)
    assert text.startswith(some)
    agreement = ticore.Agreement.loads(stego.agreement.dumps())
    assert (agreement.openers, agreement.prompt) == (f"{language}-1", "")
    reader = ticore.Steganographer.from_agreement(agreement, model=model(language), key=KEY)
    assert reader.extract(text) == b"no"
    assert pickle.loads(pickle.dumps(reader)).extract(f"Hi Ann: {text}\nBob") == b"no"


def test_opener_is_found_as_the_channel_reads_it():
    stego = steganographer(channel="caseless")
    text = stego.embed(b"no", topic="story").text
    assert stego.extract(text.upper()) == b"no"


def test_topics_of_many_texts_are_one_for_all_or_one_for_each():
    stego = steganographer(numerics="portable", compress="deflate")
    about = stego._setup._openers.about
    messages, topics = [b"", b"", b""], ["cooking", None, "travel"]
    written = stego.embed_batch(messages, topic=topics)
    assert all(
        text.text.startswith(about(each)) for text, each in zip(written, topics, strict=True)
    )
    (alone,) = stego.embed_batch([b""], topic="work")
    assert alone.text.startswith(about("work"))
    with pytest.raises(SettingsError, match=r"row 1: topic: expected one of .*'war'"):
        stego.embed_batch(messages, topic=["work", "war", "work"])
    with pytest.raises(SettingsError, match="topic: expected one for each of 3 texts, found 2"):
        stego.embed_batch(messages, topic=["work", "work"])
    with pytest.raises(SettingsError, match=r"topic: expected one of .*'war'"):
        stego.embed_batch([], topic="war")
    with pytest.raises(SettingsError, match="topic: expected none without openers"):
        steganographer(openers=None, numerics="portable").embed_batch(messages, topic="work")


def test_openers_of_many_texts_differ_and_are_read_together():
    stego = steganographer(numerics="portable", compress="deflate")
    texts = [str(text) for text in stego.embed_batch([b"", b"a", b"b"])]
    assert len({text[:12] for text in texts}) > 1
    assert stego.extract_batch(texts) == [b"", b"a", b"b"]


def test_raw_bits_and_changed_texts_have_openers_too():
    stego = steganographer(security="standard")
    bits = [1, 0] * 40
    text = stego.embed_bits(bits).text
    assert text.startswith(stego._setup._openers.about(None))
    assert stego.extract_bits(f"Ann: {text}", 80) == bits
    with pytest.raises(OutsidePoolError) as caught:
        stego.extract_pasted(f"{text[:60]} xqzj{text[60:]}")
    place = caught.value.place
    assert place.start == place.received_start <= 60 < place.end


def test_line_ends_are_found_where_the_opener_shows_after_another_repair():
    stego = steganographer(seed=21)
    text = stego.embed(b"no").text
    assert "\n" in text.strip()
    received = text.replace("\n", " ").replace(" ", "\u00a0")
    found = stego.extract_pasted(received)
    assert found.message == b"no"
    assert found.undone == ("no-break spaces", "spaces in place of line ends")


def test_text_without_an_opener_is_refused():
    with pytest.raises(ExtractionError, match=r"one of the openers 'en-1' at its beginning, found"):
        steganographer().extract("Nothing begins like this")


def test_opener_is_part_of_what_is_authenticated():
    digests = {steganographer(seed=seed)._setup.opened().agreement.digest() for seed in range(9)}
    assert len(digests) > 3
    assert steganographer()._setup.agreement.digest() not in digests


def test_bad_values_are_refused():
    with pytest.raises(SettingsError, match=r"openers: expected one of en, ja, zh, en-1, .*'fr'"):
        openers_name("fr")
    with pytest.raises(SettingsError, match="prompt: expected none beside openers, found 'One'"):
        steganographer(prompt="One")
    with pytest.raises(SettingsError, match="prompt: expected none beside openers"):
        steganographer().with_prompt("One")
    with pytest.raises(SettingsError, match="view: expected whole beside openers"):
        steganographer(view="continuation")
    with pytest.raises(SettingsError, match=r"topic: expected one of everyday, .* found 'war'"):
        steganographer().embed(b"no", topic="war")
    with pytest.raises(SettingsError, match="topic: expected none without openers, found 'story'"):
        steganographer(openers=None).embed(b"no", topic="story")
    toy = ToyModel(ToyTokenizer([*"abcdefghijklmnopqrstuvwxyz"]))
    with pytest.raises(SettingsError, match="this tokenizer and the channel 'ascii' leave alone"):
        ticore.Steganographer(toy, key=KEY, openers="ja", channel="ascii")
    future = steganographer().agreement.to_dict() | {"openers": "en-99"}
    with pytest.raises((AgreementError, SettingsError), match="openers: expected one of"):
        ticore.Steganographer.from_agreement(
            ticore.Agreement.from_dict(future), model=model("en"), key=KEY
        )
