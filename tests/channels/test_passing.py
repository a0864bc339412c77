"""Which tokens keep a text one that its channel leaves alone."""

from __future__ import annotations

import re
from functools import cache

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.support.slow import examples, slow_unless
from tests.support.tokenizers import TRAINED
from ticore._support.utf8 import unfinished_suffix
from ticore.channels import CHANNELS, Channel, PassingTexts, channel_named
from ticore.channels._passing import _FEW

NAMES = [*sorted(CHANNELS), "chat+typographic"]
TOKENIZERS = ("hf-gpt2", "sp-bpe", "sp-unigram")


@cache
def passing(tokenizer, channel):
    return PassingTexts(channel_named(channel), TRAINED[tokenizer]())


def walk(texts, tokenizer, sent, draw, count):
    """A text of random tokens that are kept, and its tokens."""
    text, ids = texts.start(sent), []
    for _ in range(count):
        some = draw.choice(tokenizer.vocab_size, 200)
        kept = [i for i in some[text.keeps(some)].tolist() if i not in tokenizer.special_ids]
        if not kept:
            break
        ids.append(kept[0])
        text.push(kept[0])
    return text, ids


@pytest.mark.parametrize("channel", slow_unless(["chat+typographic", "email"], NAMES))
@pytest.mark.parametrize("name", slow_unless(["sp-bpe"], TOKENIZERS))
@settings(max_examples=examples(8, thorough=200))
@given(seed=st.integers(0, 9999), sent=st.sampled_from(["", "old", "an o-"]))
@example(seed=0, sent="")
def test_channel_leaves_a_text_of_kept_tokens_alone(name, channel, seed, sent):
    tokenizer, texts = TRAINED[name](), passing(name, channel)
    ids = tokenizer.encode(sent) if sent else []
    text, more = walk(texts, tokenizer, sent, np.random.default_rng(seed), 12)
    whole = tokenizer.decode([*ids, *more])
    if text.may_end() and "\ufffd" not in whole:
        assert texts.channel.read(whole) == whole


@pytest.mark.parametrize("channel", ["chat", "email", "caseless"])
@pytest.mark.parametrize("name", TOKENIZERS)
def test_answers_do_not_depend_on_how_many_tokens_are_asked_about(name, channel):
    tokenizer, texts = TRAINED[name](), passing(name, channel)
    text, _ = walk(texts, tokenizer, "", np.random.default_rng(3), 3)
    repeated = np.resize(np.arange(tokenizer.vocab_size), max(tokenizer.vocab_size, _FEW + 1))
    for place in (texts.start(), texts.start("a b-"), texts.start("a "), text):
        one_by_one = np.concatenate([place.keeps(np.array([i])) for i in repeated.tolist()])
        assert place.keeps(repeated).tolist() == one_by_one.tolist()
        assert one_by_one.any()


def test_a_character_is_not_begun_that_the_channel_is_likely_to_change():
    tokenizer = TRAINED["hf-gpt2"]()
    alone = next(i for i in range(tokenizer.vocab_size) if tokenizer.token_bytes(i) == b"\xe2")
    byte = next(i for i in range(tokenizer.vocab_size) if tokenizer.token_bytes(i) == b"\x80")
    after_letter = passing("hf-gpt2", "typographic").start("a")
    assert after_letter.keeps(np.array([alone])).all()
    after_letter.push(alone)
    assert not after_letter.keeps(np.array([byte])).any()
    assert not after_letter.may_end()


@pytest.mark.parametrize("channel", slow_unless(["email"], NAMES))
def test_a_character_that_is_begun_can_be_completed(channel):
    """Of those that may come after a space an email leaves few alone."""
    tokenizer, texts = TRAINED["hf-gpt2"](), passing("hf-gpt2", channel)
    spelled = [tokenizer.token_bytes(token) for token in range(tokenizer.vocab_size)]
    begins = {unfinished_suffix(data): token for token, data in enumerate(spelled)}
    broken = np.array([token for unfinished, token in begins.items() if unfinished])
    following = np.array([t for t, data in enumerate(spelled) if data and 0x80 <= data[0] < 0xC0])
    for sent in ("a", "a ", "1 ", "a-", "a\n"):
        begun = texts.start(sent)
        for token in broken[begun.keeps(broken)].tolist():
            text = begun.fork()
            text.push(token)
            assert text.keeps(following).any(), (sent, spelled[token])


@pytest.mark.parametrize("channel", ["chat", "email", "line"])
def test_no_kept_token_breaks_a_character_that_is_begun(channel):
    tokenizer, text = TRAINED["hf-gpt2"](), passing("hf-gpt2", channel).start("a")
    spelled = [tokenizer.token_bytes(token) for token in range(tokenizer.vocab_size)]
    text.push(spelled.index(b"\xc3"))
    kept = np.flatnonzero(text.keeps(np.arange(tokenizer.vocab_size))).tolist()
    assert kept
    assert all(0x80 <= spelled[token][0] < 0xC0 for token in kept)


@pytest.mark.parametrize("channel", ["chat", "email", "line"])
def test_a_text_begins_with_a_word_whose_space_is_dropped(channel: str) -> None:
    tokenizer = TRAINED["sp-bpe"]()
    token = tokenizer.encode("the old")[0]
    assert tokenizer.token_bytes(token) == b" the"
    assert tokenizer.decode([token]) == "the"
    text = passing("sp-bpe", channel).start()
    assert text.keeps(np.array([token])).all()
    text.push(token)
    assert text.may_end()


def test_a_text_may_go_on_with_any_filler_of_the_channel() -> None:
    """Digits stand in pairs here, so a text that ends in one goes on with another one."""

    def read(text: str) -> str:
        return re.sub("[0-9]+", lambda found: found[0] * (len(found[0]) % 2 + 1), text)

    pairs = PassingTexts(Channel("pairs", "", read, fillers=("q", "1q")), TRAINED["sp-bpe"]())
    assert [pairs.may_go_on(text) for text in ("a", "a1", "a12")] == [True, True, True]


def test_a_channel_of_any_function_can_be_used():
    no_vowels = Channel("no-o", "without the letter o", lambda text: text.replace("o", ""))
    tokenizer = TRAINED["sp-bpe"]()
    text = PassingTexts(no_vowels, tokenizer).start("a")
    ids = np.array([i for i in range(tokenizer.vocab_size) if i not in tokenizer.special_ids])
    kept = text.keeps(ids)
    spelled = [tokenizer.token_bytes(i) for i in ids.tolist()]
    assert [b"o" not in data for data in spelled] == kept.tolist()
