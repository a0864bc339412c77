"""Messages in and out of text: always the same message, or an error, never another message."""

import hashlib
import pickle
import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from hypothesis import given, reject, settings
from hypothesis import strategies as st
from scipy.stats import chisquare

import ticore
from tests.support.slow import FEW_TOKENIZERS, examples, pairs_of, slow_unless, some_pairs
from tests.support.tiny_models import tiny_model
from tests.support.tokenizers import TRAINED
from tests.support.toy_models import ToyModel, ToyTokenizer
from ticore._support.shared_randomness import SharedRandomness
from ticore.codecs import CODECS, CodecSpec, HuffmanCodec, codec_named
from ticore.disambiguation import DISAMBIGUATIONS, Basic, DisambiguationSpec
from ticore.errors import (
    AgreementError,
    CapacityError,
    CredentialError,
    ExtractionError,
    IncompleteMessageError,
    ModelError,
    PromptError,
    SettingsError,
    WrongTypeError,
)
from ticore.steganography import Agreement, Secret, Steganographer
from ticore.steganography import _embedding as embedding

KEY = bytes(range(32))
LEVEL = 1e-4  # below this a fit is rejected; with fixed seeds a test passes always or never
CERTAIN = [name for name, kind in DISAMBIGUATIONS.items() if kind.certain]
TOY = ToyTokenizer(["", "a", "b", "ab", "ba", "aab", "c", " ", ".", "d", "e"])


def entropy(seed):
    return np.random.default_rng(seed).bytes


def toy(**settings):
    model = ToyModel(
        TOY, **{name: settings.pop(name) for name in ("seed", "context") & settings.keys()}
    )
    settings = {"key": KEY, "entropy": entropy(1)} | settings
    return Steganographer(model, **settings)


pools = st.fixed_dictionaries(
    {
        "temperature": st.sampled_from([0.5, 1.0, 1.7]),
        "top_k": st.sampled_from([None, 2, 5, 64]),
        "top_p": st.sampled_from([0.8, 0.95, 1.0]),
        "grid_bits": st.sampled_from([0, 4, 10]),
        "weight_bits": st.sampled_from([16, 32]),
        "view": st.sampled_from(["whole", "continuation"]),
        "finish": st.sampled_from(["sentence", "none"]),
    }
)


@pytest.mark.parametrize("name", slow_unless(FEW_TOKENIZERS, sorted(TRAINED)))
@settings(max_examples=examples(4, thorough=60))
@given(
    message=st.binary(max_size=4),
    key=st.binary(min_size=32, max_size=32),
    prompt=st.sampled_from(["", "one", "one two ", "日本"]) | st.text(max_size=8),
    pool=pools,
    seed=st.integers(0, 9999),
    sharpness=st.sampled_from([0, 1, 3]),
    forced_every=st.sampled_from([0, 3]),
)
def test_extract_gives_the_message_back_with_every_tokenizer(
    name, message, key, prompt, pool, seed, sharpness, forced_every
):
    tokenizer = TRAINED[name]()
    if tokenizer.decode(tokenizer.encode(prompt)) != prompt:
        prompt = ""  # What the tokenizer changes is refused as a prompt, see below.
    if pool["top_k"] is None:
        pool["weight_bits"] = 32
    model = ToyModel(tokenizer, seed, sharpness, forced_every=forced_every, context=200)
    pool["mode"] = "prefix"  # the quickest; others are tested below
    stego = Steganographer(model, key=key, prompt=prompt, entropy=entropy(seed), **pool)
    try:
        text = stego.embed(message)
    except CapacityError:
        reject()  # Rightly so where pools carry little. Hypothesis fails if that is the rule.
    assert stego.extract(text) == message
    # A second instance, as the receiver has one.
    assert Steganographer(model, key=key, prompt=prompt, **pool).extract(text) == message


@pytest.mark.parametrize("stop", ["exact", "paper"])
@pytest.mark.parametrize("length", [10**5, 10**12, 10**30])
def test_extract_bits_says_that_a_text_holds_no_such_number_of_bits(stop, length):
    stego = toy()
    written = stego.embed_bits([1, 0, 1], stop=stop)
    with pytest.raises(IncompleteMessageError, match="bits before the message does"):
        stego.extract_bits(written, length, stop=stop)


@pytest.mark.parametrize("length", [-1, 1.5, "3", True])
def test_extract_bits_refuses_a_length_that_is_not_a_count(length):
    with pytest.raises(SettingsError, match="length: expected an integer of at least 0, found"):
        toy().extract_bits("ab", length)


@pytest.mark.slow
@given(
    bits=st.lists(st.integers(0, 1), max_size=60),
    stop=st.sampled_from(["exact", "paper"]),
    seed=st.integers(0, 999),
    view=st.sampled_from(["whole", "continuation"]),
)
def test_extract_bits_gives_the_bits_back(bits, stop, seed, view):
    stego = toy(seed=seed, view=view, prompt="c", finish="none")
    text = stego.embed_bits(bits, stop=stop)
    if text:
        assert stego.extract_bits(text, len(bits), stop=stop) == bits
    else:
        assert bits == []


PREFIX_FREE = some_pairs(sorted(TRAINED), sorted({*CERTAIN} - {"stepwise"}), one_in=3)
PAIRS = some_pairs([*CODECS, "sparsamp:8"], [*CERTAIN, "syncpool:decoded"], one_in=2)


@pytest.mark.parametrize(("codec", "disambiguation"), slow_unless(PAIRS[:1], PAIRS))
@settings(max_examples=3)
@given(
    message=st.binary(max_size=3),
    prompt=st.sampled_from(["", "c", "ab"]),
    pool=pools,
    seed=st.integers(0, 999),
)
def test_extract_gives_the_message_back_with_every_codec_and_disambiguation(
    codec, disambiguation, message, prompt, pool, seed
):
    stego = toy(seed=seed, prompt=prompt, codec=codec, disambiguation=disambiguation, **pool)
    try:
        text = stego.embed(message)
    except CapacityError:
        reject()
    assert stego.extract(text) == message
    bits = [int(bit) for byte in message for bit in f"{byte:08b}"]
    if bits:
        assert stego.extract_bits(stego.embed_bits(bits), len(bits)) == bits


@pytest.mark.parametrize(
    ("name", "disambiguation"), slow_unless(pairs_of(["sp-bpe"], PREFIX_FREE), PREFIX_FREE)
)
@settings(max_examples=2)
@given(
    message=st.binary(max_size=3),
    prompt=st.sampled_from(["", "one two ", "日本"]),
    pool=pools,
    seed=st.integers(0, 9999),
)
def test_extract_gives_the_message_back_with_prefix_free_choices_of_every_tokenizer(
    disambiguation, name, message, prompt, pool, seed
):
    tokenizer = TRAINED[name]()
    if tokenizer.decode(tokenizer.encode(prompt)) != prompt:
        prompt = ""
    if pool["top_k"] is None:
        pool["weight_bits"] = 32
    model = ToyModel(tokenizer, seed, sharpness=1, context=300)
    stego = Steganographer(
        model, key=KEY, prompt=prompt, disambiguation=disambiguation, codec="sparsamp:16", **pool
    )
    try:
        text = stego.embed(message)
    except CapacityError:
        reject()
    assert stego.extract(text) == message


def test_extract_bits_fails_sometimes_without_disambiguation():
    """The error rate that the paper set out from; and `embed` hands out no such text."""
    found = []
    for seed in range(60):
        stego = toy(seed=seed, disambiguation="none", finish="none")
        bits = _random_bits(seed)
        try:
            found.append(stego.extract_bits(stego.embed_bits(bits), len(bits)) == bits)
        except ExtractionError:
            found.append(False)
    assert 5 < sum(found) < 55
    with pytest.raises(CapacityError, match="'none' does not prevent; use 'stepwise'"):
        toy(disambiguation="none").embed(bytes(20))


def test_shared_randomness_serves_one_text_alone(monkeypatch):
    """Each text has draws of its own, whatever the key; its reader has the same ones."""
    seen, used = [], set()

    def recorded(key, purpose):
        seen.append((key, purpose))
        return SharedRandomness(key, purpose)

    monkeypatch.setattr("ticore.steganography._nonce_first_codec.SharedRandomness", recorded)
    stego = toy(prompt="c", codec="discop", disambiguation="syncpool")
    for _ in range(3):
        text = stego.embed(b"noon")
        keys = {key for key, _ in seen}
        assert len(keys) == 1
        assert Counter(purpose for _, purpose in seen) == {"codec": 2, "disambiguation": 2}
        assert stego.extract(text) == b"noon"
        assert {key for key, _ in seen} == keys
        assert not keys & used
        used |= keys
        seen.clear()


def test_embed_bits_needs_a_key_when_the_settings_are_keyed():
    for settings_ in ({"codec": "meteor"}, {"disambiguation": "syncpool"}):
        for secret in ({"key": None}, {"key": None, "password": "rosebud"}):
            stego = toy(**settings_, **secret)
            with pytest.raises(CredentialError, match=r"expected a key, .* found none"):
                stego.embed_bits([1, 0])
    other = toy(codec="discop", prompt="c", key=bytes(32))
    mine = toy(codec="discop", prompt="c")
    bits = [0, 1] * 40
    assert mine.extract_bits(mine.embed_bits(bits), 80) == bits
    assert other.extract_bits(mine.embed_bits(bits), 80) != bits


def test_extract_gives_the_message_back_when_keyed_by_a_password():
    stego = toy(key=None, password="rosebud", codec="sparsamp", disambiguation="syncpool")
    assert stego.extract(stego.embed(b"noon")) == b"noon"


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["open", "viable"])
@pytest.mark.parametrize("name", ["sp-bpe", "hf-cl100k-nfc", "sp-unigram"])
@settings(max_examples=4)
@given(
    message=st.binary(max_size=4),
    seed=st.integers(0, 9999),
    view=st.sampled_from(["whole", "continuation"]),
    finish=st.sampled_from(["sentence", "none"]),
)
def test_extract_gives_the_message_back_in_wider_modes(name, mode, message, seed, view, finish):
    model = ToyModel(TRAINED[name](), seed, context=300)
    stego = Steganographer(
        model, key=KEY, mode=mode, view=view, finish=finish, entropy=entropy(seed)
    )
    text = stego.embed(message).text
    assert stego.extract(text) == message
    assert "\ufffd" not in text


@pytest.mark.parametrize(("mode", "goes"), [("prefix", False), ("open", True), ("viable", True)])
def test_wider_modes_admit_tokens_that_prefix_does_not(mode, goes):
    """A character in several tokens: its first ones alone would be read as something else."""
    tokenizer = TRAINED["sp-bpe"]()
    *history, first, _, _, _ = tokenizer.encode("so 🪐")
    assert bool(ticore.Verifier(tokenizer, mode=mode).start(history).admits([first])[0]) == goes


@pytest.mark.slow
def test_embed_succeeds_for_short_messages():
    """The round trip above is not one of refusals alone."""
    for seed in range(10):
        stego = toy(seed=seed)
        assert stego.extract(stego.embed(b"yes")) == b"yes"


@pytest.mark.slow
def test_extract_gives_a_message_of_a_kibibyte_back():
    """Thousands of tokens; what a token costs depends on none of those before it."""
    model = ToyModel(TRAINED["hf-gpt2"](), sharpness=0.1, context=1 << 20)
    stego = Steganographer(model, key=KEY, mode="prefix", top_k=32, entropy=entropy(0))
    message = np.random.default_rng(0).bytes(1 << 10)
    assert stego.extract(stego.embed(message)) == message


@pytest.mark.slow
def test_extract_raises_when_the_password_differs():
    stego = toy(key=None, password="hush")
    text = stego.embed(b"hi")
    assert stego.extract(text) == b"hi"
    with pytest.raises(ExtractionError):
        toy(key=None, password="hash").extract(text)


def test_embed_gives_another_text_each_time():
    stego = toy()
    assert stego.embed(b"again") != stego.embed(b"again")


@cache
def _attack():
    return toy(prompt="c").embed(b"attack").text


@pytest.mark.slow
@settings(max_examples=15)
@given(data=st.data())
def test_extract_never_gives_another_message_when_the_text_is_altered(data):
    stego, text = toy(prompt="c"), _attack()
    at = data.draw(st.integers(0, len(text) - 1))
    letter = data.draw(st.sampled_from("abcde ."))
    altered = data.draw(
        st.sampled_from(
            [text[:at] + letter + text[at + 1 :], text[:at] + text[at + 1 :], text[:at]]
        )
    )
    with suppress(ExtractionError):
        assert stego.extract(altered) == b"attack"


@pytest.mark.slow
def test_extract_reads_an_altered_text_only_when_the_change_is_after_the_message():
    """So that the test above is not one of refusals alone."""
    stego, text = toy(prompt="c"), _attack()
    read, cuts = [], range(1, len(text), 6)
    for at in cuts:
        try:
            read.append(stego.extract(text[:at]) == b"attack")
        except ExtractionError:
            read.append(False)
    first = read.index(True)
    assert not any(read[:first])
    assert sum(read[first:]) >= 1
    assert cuts[first] > len(text) // 2


@pytest.mark.slow
@pytest.mark.parametrize(
    "other",
    [
        {"key": bytes(32)},
        {"prompt": "b"},
        {"prompt": ""},
        {"temperature": 1.01},
        {"top_k": 5},
        {"top_p": 0.99},
        {"view": "continuation"},
        {"grid_bits": 9},
        {"weight_bits": 31},
        {"seed": 3},
    ],
)
def test_extract_raises_when_any_setting_differs(other):
    """A difference so small that the pools are equal is still found: it is authenticated."""
    text = _attack()
    with pytest.raises(ExtractionError):
        toy(**{"prompt": "c"} | other).extract(text)


def test_extract_ignores_text_after_the_message():
    stego = toy(prompt="c", finish="sentence")
    text = stego.embed(b"attack").text
    assert text.rstrip().endswith(".")
    assert stego.extract(text + " c d e") == b"attack"


@pytest.mark.slow
@pytest.mark.parametrize("glued", ["a", "b", "ab", ".", " "])
def test_extract_reads_a_finished_sentence_with_text_glued_to_it(glued):
    """The last token may merge with what comes next; it carries no bit of the message."""
    for seed in range(8):
        stego = toy(prompt="c", seed=seed)
        assert stego.extract(stego.embed(b"x").text + glued) == b"x"


def test_extract_says_incomplete_when_the_text_was_cut():
    stego = toy(prompt="c")
    text = stego.embed(b"attack").text
    with pytest.raises(IncompleteMessageError, match="ends before the message does"):
        stego.extract(text[: len(text) // 2])
    for nothing in ("", "c"):
        with pytest.raises(IncompleteMessageError):
            stego.extract(nothing)


def test_embed_raises_when_the_message_exceeds_the_context():
    with pytest.raises(CapacityError, match="has room for 40 tokens"):
        toy(context=40).embed(bytes(range(100)))
    # It might fit, so it is tried; the model's choices turn out to be too narrow.
    with pytest.raises(CapacityError, match=r"60 tokens carried .* context is full"):
        toy(context=60).embed(b"ab")


def test_extract_raises_when_the_text_exceeds_the_context():
    text = toy(context=4096).embed(b"attack")
    with pytest.raises(ExtractionError):
        toy(context=20).extract(text)


def test_extract_raises_when_nothing_can_follow():
    class LooksAhead(ToyTokenizer):
        """After an "a" every token merges with it, unless the text is "abc"."""

        def encode(self, text):
            return [0, 1, 2] if text == "abc" else super().encode(text)

    tokenizer = LooksAhead(["a", "b", "c", "aa", "ab", "ac"])
    stego = Steganographer(ToyModel(tokenizer), key=KEY)
    with pytest.raises(ExtractionError, match="cannot have been written there"):
        stego.extract("abc")


@pytest.mark.slow
def test_embed_raises_when_the_model_has_no_choices():
    class Certain(ToyModel):
        def logits_after(self, ids):
            return np.where(np.arange(self.logit_width) == TOY.encode("c")[0], 1000.0, 0.0)

    with pytest.raises(CapacityError, match="512 tokens in a row"):
        Steganographer(Certain(TOY), key=KEY).embed(b"x")


class Rutted(ToyModel):
    """After one token, "e", it says "a" for ever."""

    def logits_after(self, ids):
        logits = super().logits_after(ids)
        logits[TOY.encode("e")] -= 5
        if TOY.encode("e")[0] in ids:
            logits[TOY.encode("a")] += 1000
        return logits


@pytest.mark.slow
def test_embed_writes_another_text_when_one_stalls(monkeypatch):
    stalled = []
    original = embedding.StalledError.__init__
    monkeypatch.setattr(
        embedding.StalledError,
        "__init__",
        lambda self, *args: stalled.append(1) or original(self, *args),
    )
    for seed in range(12):
        stego = Steganographer(
            Rutted(TOY), key=KEY, mode="prefix", entropy=entropy(seed), finish="none"
        )
        text = stego.embed(b"").text
        assert "e" not in text
        assert stego.extract(text) == b""
    assert 0 < len(stalled) < 12


@pytest.mark.parametrize("context", [200, 500])
def test_embed_writes_another_text_when_one_repeats_itself_until_the_context_is_full(context):
    full = 0
    for seed in range(12):
        model = Rutted(TOY, context=context)
        stego = Steganographer(model, key=KEY, entropy=entropy(seed), finish="none")
        try:
            text = stego.embed(b"").text
        except CapacityError:
            full += 1
        else:
            assert stego.extract(text) == b""
    assert full <= 2


def test_embed_raises_when_the_model_does_not_repeat_its_logits():
    """Its texts cannot be read back, and that is found before one is handed out."""

    class Moody(ToyModel):
        runs = 0

        def start(self, prompt_ids):
            self._seed = Moody.runs = Moody.runs + 1
            return super().start(prompt_ids)

    with pytest.raises(CapacityError, match="none gave the message back"):
        Steganographer(Moody(TOY), key=KEY).embed(b"x")


def test_text_ends_early_where_the_model_has_less_room_than_it_says():
    class Cramped(ToyModel):
        def start(self, prompt_ids):
            decoder = super().start(prompt_ids)
            decoder._model = ToyModel(TOY, context=110)
            return decoder

    stego = Steganographer(Cramped(TOY), key=KEY, entropy=entropy(3), top_k=None)
    lengths = []
    for _ in range(12):
        with suppress(CapacityError):  # the message itself does not fit
            text = stego.embed(b"x")
            lengths.append(len(text.ids))
            assert stego.extract(text) == b"x"
    assert max(lengths) == 111


def test_embed_raises_when_logits_are_nan():
    class Broken(ToyModel):
        def logits_after(self, ids):
            return np.full(self.logit_width, np.nan)

    with pytest.raises(ModelError):
        Steganographer(Broken(TOY), key=KEY).embed(b"x")


def test_steganographer_refuses_prompts_that_do_not_survive_or_fit():
    class Shouting(ToyTokenizer):
        def encode(self, text):
            return super().encode(text.lower())

    model = ToyModel(Shouting(["a", "b"]), context=5)
    with pytest.raises(
        PromptError, match="gives back unchanged, found one that comes back as 'ab'"
    ):
        Steganographer(model, key=KEY, prompt="Ab")
    Steganographer(model, key=KEY, prompt="Ab", view="continuation")
    with pytest.raises(PromptError, match="fewer than 5 tokens, the model's context, found 5"):
        Steganographer(model, key=KEY, prompt="aaaaa")


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"key": b"short"}, CredentialError, "32 bytes, found 5"),
        ({"password": "both"}, CredentialError, "found both"),
        ({"key": None, "password": ""}, CredentialError, "empty"),
        ({"codec": "morse"}, SettingsError, "unknown codec 'morse': choose one of arithmetic"),
        ({"codec": "huffman:3"}, SettingsError, "takes no number"),
        (
            {"disambiguation": "x"},
            SettingsError,
            "choose one of basic, lookahead, mwis, none",
        ),
        ({"disambiguation": "basic:x"}, SettingsError, "one of basic, basic:bytes, basic:decoded"),
        ({"disambiguation": "mwis", "mode": "viable"}, SettingsError, "use 'stepwise'"),
        ({"mode": "x"}, SettingsError, "mode: expected one of prefix"),
        ({"view": "x"}, SettingsError, "view: expected one of whole, continuation"),
        ({"finish": "x"}, SettingsError, "finish: expected one of sentences, sentence, turn, none"),
        ({"view": ""}, SettingsError, "view: expected one of whole, continuation"),
        ({"view": False}, SettingsError, "view: expected one of whole, continuation"),
        ({"openers": "en", "prompt": np.array([1, 2])}, SettingsError, "prompt: expected none"),
        ({"entropy": None}, SettingsError, "entropy: expected a function"),
        ({"entropy": "abc"}, SettingsError, "entropy: expected a function"),
        ({"top_k": 0}, SettingsError, "top_k"),
        ({"disambiguation": "lookahead", "window": 2}, SettingsError, "window: expected none with"),
    ],
)
def test_steganographer_refuses_wrong_arguments(arguments, error, message):
    with pytest.raises(error, match=message):
        toy(**arguments)


def test_a_message_is_not_read_by_the_model_without_a_key():
    model = ToyModel(ToyTokenizer(["a", "b", "ab"]))
    stego = ticore.Steganographer(model, prompt="a", security="compact")
    model.start = model.start_batch = None  # nothing begins a text
    with pytest.raises(CredentialError):
        stego.embed(b"abab")


def test_embed_and_extract_raise_without_a_key():
    stego = toy(key=None)
    for use in (lambda: stego.embed(b""), lambda: stego.extract("a")):
        with pytest.raises(CredentialError, match="expected a key or a password, found neither"):
            use()
    assert stego.extract_bits(stego.embed_bits([1, 0, 1]), 3) == [1, 0, 1]


def test_embed_bits_refuses_what_is_not_a_bit():
    with pytest.raises(SettingsError, match="a sequence of 0 and 1"):
        toy().embed_bits([0, 2])


def test_from_agreement_rebuilds_the_same_settings():
    stego = toy(prompt="c", temperature=0.9, top_k=7)
    model = ToyModel(TOY)
    again = Steganographer.from_agreement(stego.agreement, model=model, key=KEY)
    assert again.agreement == stego.agreement
    assert again.extract(stego.embed(b"pact")) == b"pact"
    with pytest.raises(SettingsError, match="expected the model that was agreed on"):
        Steganographer.from_agreement(stego.agreement, model=ToyModel(TOY, seed=5), key=KEY)


@pytest.mark.parametrize("check", ["tokens", "full"])
@pytest.mark.parametrize("view", ["whole", "continuation"])
def test_follower_sees_the_text_grow_by_a_token_at_a_time(view, check):
    stego, seen = toy(prompt="ab", view=view), []
    written = stego.embed(b"xyz", follower=seen.append, check=check)
    assert written.text == seen[-1]
    last = seen[-len(written.ids) :]  # of the text that gives the message back
    head = "ab" if view == "whole" else ""
    spelled = [TOY.decode([token]) for token in written.ids]
    assert last == [head + "".join(spelled[: n + 1]) for n in range(len(spelled))]


def test_follower_sees_no_half_character():
    """tiny-en writes Greek byte by byte."""
    model, seen = tiny_model(), []
    stego = Steganographer(model, key=KEY, prompt="Αλφα βητα ", security="compact", pad="none")
    written = stego.embed(b"hi", follower=seen.append)
    spelled = map(model.tokenizer.token_bytes, written.ids)
    assert any(b"\x80" <= data[:1] < b"\xc0" for data in spelled)
    assert not any(text.endswith("\ufffd") for text in seen)
    assert seen[-1] == written.text


def test_error_of_a_follower_stops_the_writing():
    with pytest.raises(ZeroDivisionError):
        toy().embed(b"x", follower=lambda text: 1 // 0)


def test_progress_ends_with_the_message():
    seen = []
    stego = toy(pad="none")
    for check, most in (("tokens", 8 * 22), ("full", 2 * 8 * 22)):  # written; then read back
        text = stego.embed(
            b"x", progress=lambda done, total: seen.append((done, total)), check=check
        )
        assert seen[-1] == (most, most)
        assert seen == sorted(seen)
        seen.clear()
    stego.extract(text, progress=lambda done, total: seen.append((done, total)))
    assert seen[-1][0] == seen[-1][1]


@pytest.mark.slow
def test_embed_bits_writes_samples_of_the_model():
    """The first token over many messages follows the pool that stepwise verification leaves."""
    stego = toy(prompt="c", finish="none")
    report = [stego.embed_bits(_random_bits(seed)) for seed in range(1500)]
    counts = np.zeros(TOY.vocab_size)
    for written in report:
        counts[written.ids[0]] += 1
    logits = ToyModel(TOY).logits_after(TOY.encode("c"))
    probable = np.exp(logits)
    probable[0] = 0
    expected = probable / probable.sum() * len(report)
    assert chisquare(counts[1:], expected[1:]).pvalue > LEVEL


def _random_bits(seed):
    return np.random.default_rng(seed).integers(0, 2, 16).tolist()


def test_embed_reports_bits_tokens_and_divergence():
    report = toy(prompt="c", pad="none").embed(b"measure")
    assert report.bits == 8 * (7 + 21)
    assert report.token_count <= len(report.ids)
    assert report.bits_per_token == report.bits / report.token_count
    assert report.kl_filter > 0  # this tokenizer is inconsistent at every other step
    assert report.text == "c" + TOY.decode(report.ids)


# Codecs and disambiguations of one's own


OWN_CODEC = CodecSpec("own", HuffmanCodec)
OWN_DISAMBIGUATION = DisambiguationSpec("own", Basic)


def test_own_codec_and_disambiguation_are_used_on_both_sides():
    mine = {"codec": OWN_CODEC, "disambiguation": OWN_DISAMBIGUATION}
    stego = toy(prompt="c", **mine)
    assert (stego.agreement.codec, stego.agreement.disambiguation) == ("own", "own")
    text = stego.embed(b"noon")
    agreement = Agreement.loads(stego.agreement.dumps())
    reader = Steganographer.from_agreement(agreement, model=ToyModel(TOY), key=KEY, **mine)
    assert reader.extract(text) == b"noon"
    assert pickle.loads(pickle.dumps(stego)).extract(text) == b"noon"
    with pytest.raises(ExtractionError):  # the same codec under another name is not agreed on
        toy(prompt="c", codec="huffman", disambiguation=OWN_DISAMBIGUATION).extract(text)


def test_codec_object_of_a_bundled_codec_is_as_good_as_its_name():
    named, given_ = (toy(prompt="c", codec=c) for c in ("sparsamp:16", codec_named("sparsamp:16")))
    assert named.agreement == given_.agreement
    assert named.extract(given_.embed(b"noon")) == b"noon"


def test_agreement_with_zeros_before_the_number_of_its_codec_is_still_used():
    agreement = replace(toy(prompt="c", codec="sparsamp:16").agreement, codec="sparsamp:016")
    writer, reader = (
        Steganographer.from_agreement(agreement, model=ToyModel(TOY), key=KEY) for _ in range(2)
    )
    assert reader.extract(writer.embed(b"noon")) == b"noon"
    assert reader.agreement.codec == "sparsamp:016"


@pytest.mark.parametrize(
    ("settings_", "message"),
    [
        ({"codec": HuffmanCodec()}, r"a name or a CodecSpec.*CodecSpec\('its-name', ItsClass\)"),
        ({"codec": CodecSpec("meteor", HuffmanCodec)}, "another name than 'meteor'"),
        ({"disambiguation": 3}, "a name or a DisambiguationSpec, found 3"),
        ({"disambiguation": DisambiguationSpec("mwis", Basic)}, "another name than 'mwis'"),
    ],
)
def test_steganographer_refuses_objects_that_are_not_specs_of_ones_own(settings_, message):
    with pytest.raises(SettingsError, match=message):
        toy(**settings_)


def test_agreement_with_an_unknown_codec_says_how_to_get_it():
    agreement = toy(codec=OWN_CODEC).agreement
    with pytest.raises(SettingsError, match=r"unknown codec 'own'.* ticore\.codecs, or pass it"):
        Steganographer.from_agreement(agreement, model=ToyModel(TOY), key=KEY)
    with pytest.raises(AgreementError, match="the codec that was agreed on, 'own', found 'other'"):
        Steganographer.from_agreement(
            agreement, model=ToyModel(TOY), codec=CodecSpec("other", HuffmanCodec)
        )


# Agreements with a key, other prompts, threads, former names


def test_agreement_brings_its_key_and_takes_no_other():
    stego = toy(prompt="c")
    agreement = replace(stego.agreement, key=KEY)
    reader = Steganographer.from_agreement(agreement, model=ToyModel(TOY))
    assert reader.extract(stego.embed(b"noon")) == b"noon"
    assert reader.agreement.key is None
    for secret in ({"key": KEY}, {"password": "x"}):
        with pytest.raises(CredentialError, match="the agreement's key alone"):
            Steganographer.from_agreement(agreement, model=ToyModel(TOY), **secret)
    with pytest.raises(AgreementError, match="says where the model is"):
        Steganographer.from_agreement(agreement)


@pytest.mark.slow
def test_with_prompt_is_a_steganographer_for_another_prompt():
    stego = toy(prompt="c")
    other = stego.with_prompt("ab")
    assert other.agreement == toy(prompt="ab").agreement
    assert stego.agreement.prompt == "c"
    text = other.embed(b"noon")
    assert text.text.startswith("ab")
    assert toy(prompt="ab").extract(text) == b"noon"
    assert stego.extract(stego.embed(b"one")) == b"one"
    with pytest.raises(PromptError):
        stego.with_prompt("a" * 10_000)


@pytest.mark.slow
@pytest.mark.parametrize("settings_", [{}, {"codec": "sparsamp", "disambiguation": "syncpool"}])
def test_steganographer_gives_right_answers_from_several_threads(monkeypatch, settings_):
    # Argon2id as such takes 64 MiB and a tenth of a second for each text.
    monkeypatch.setattr(Secret, "_stretch", lambda self, salt: hashlib.sha256(salt).digest())
    model = ToyModel(TOY)
    stego = Steganographer(model, password="rosebud", prompt="c", **settings_)
    messages = [bytes([n]) * 3 for n in range(6)]
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(6) as threads:
            texts = list(threads.map(stego.embed, messages))
            assert list(threads.map(stego.extract, texts)) == messages
    finally:
        sys.setswitchinterval(interval)


def test_former_names_of_methods_work_with_a_warning():
    stego = toy(prompt="c")
    with pytest.warns(DeprecationWarning, match="embed_report is deprecated"):
        assert stego.extract(stego.embed_report(b"x").text) == b"x"
    with pytest.warns(DeprecationWarning, match="embed_bits_report is deprecated"):
        text = stego.embed_bits_report([1, 0], "paper")
    with pytest.warns(DeprecationWarning, match=r"extract_bits with these by position"):
        assert stego.extract_bits(text, 2, "paper") == [1, 0]
    with pytest.warns(DeprecationWarning, match=r"use from_agreement\(agreement\)"):
        again = Steganographer.agreed(ToyModel(TOY), stego.agreement, key=KEY)
    assert again.agreement == stego.agreement


def test_embed_refuses_a_text_in_words():
    with pytest.raises(WrongTypeError, match=r"bytes, found str; encode it first: message.encode"):
        toy().embed("noon")


@pytest.mark.parametrize(
    ("entropy", "error", "said"),
    [
        (lambda n: bytes(n - 1), SettingsError, r"entropy: expected \d+ bytes, found \d+; give"),
        (lambda n: bytes(2 * n), SettingsError, r"entropy: expected \d+ bytes, found \d+; give"),
        (lambda n: "0" * n, WrongTypeError, r"entropy: expected \d+ bytes, found str; give"),
    ],
)
@pytest.mark.parametrize("security", ["standard", "compact"])
def test_a_source_of_randomness_that_gives_something_else_is_refused(
    entropy, error, said, security
):
    stego = Steganographer(ToyModel(TOY), key=KEY, entropy=entropy, security=security)
    with pytest.raises(error, match=said):
        stego.embed(b"\xff")
    with pytest.raises(error, match=said):
        stego.embed_parts(b"\xff")
