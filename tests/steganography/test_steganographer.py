"""Messages in and out of text: always the same message, or an error, never another message."""

from collections import Counter
from contextlib import suppress
from functools import cache

import numpy as np
import pytest
from hypothesis import given, reject, settings
from hypothesis import strategies as st
from scipy.stats import chisquare

import ticore
from tests.models import ToyModel, ToyTokenizer
from tests.tokenizers import TRAINED
from ticore.codecs import CODECS
from ticore.disambiguation import DISAMBIGUATIONS
from ticore.draws import Draws
from ticore.errors import (
    AuthenticationError,
    CapacityError,
    ExtractionError,
    IncompleteMessageError,
    KeyFormatError,
    ModelError,
    PromptError,
    SettingsError,
)
from ticore.steganography import Steganographer, steganographer

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
    return Steganographer(model, key=settings.pop("key", KEY), entropy=entropy(1), **settings)


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


@pytest.mark.parametrize("name", sorted(TRAINED))
@settings(max_examples=12)
@given(
    message=st.binary(max_size=4),
    key=st.binary(min_size=32, max_size=32),
    prompt=st.sampled_from(["", "one", "one two ", "日本"]) | st.text(max_size=8),
    pool=pools,
    seed=st.integers(0, 9999),
    sharpness=st.sampled_from([0, 1, 3]),
    forced_every=st.sampled_from([0, 3]),
)
def test_extraction_always_round_trips(
    name, message, key, prompt, pool, seed, sharpness, forced_every
):
    tokenizer = TRAINED[name]()
    if tokenizer.decode(tokenizer.encode(prompt)) != prompt:
        prompt = ""  # What the tokenizer changes is refused as a prompt, see below.
    if pool["top_k"] is None:
        pool["weight_bits"] = 32
    model = ToyModel(tokenizer, seed, sharpness, forced_every=forced_every, context=200)
    stego = Steganographer(model, key=key, prompt=prompt, entropy=entropy(seed), **pool)
    try:
        text = stego.embed(message)
    except CapacityError:
        reject()  # Rightly so where pools carry little. Hypothesis fails if that is the rule.
    assert stego.extract(text) == message
    # A second instance, as the receiver has one.
    assert Steganographer(model, key=key, prompt=prompt, **pool).extract(text) == message


@given(
    bits=st.lists(st.integers(0, 1), max_size=60),
    stop=st.sampled_from(["exact", "paper"]),
    seed=st.integers(0, 999),
    view=st.sampled_from(["whole", "continuation"]),
)
def test_raw_bits_round_trip(bits, stop, seed, view):
    stego = toy(seed=seed, view=view, prompt="c", finish="none")
    text = stego.embed_bits(bits, stop)
    if text:
        assert stego.extract_bits(text, len(bits), stop) == bits
    else:
        assert bits == []


@pytest.mark.parametrize("codec", [*CODECS, "sparsamp:8"])
@pytest.mark.parametrize("disambiguation", [*CERTAIN, "syncpool:decoded"])
@settings(max_examples=4)
@given(
    message=st.binary(max_size=3),
    prompt=st.sampled_from(["", "c", "ab"]),
    pool=pools,
    seed=st.integers(0, 999),
)
def test_every_codec_goes_with_every_disambiguation(
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


@pytest.mark.parametrize("disambiguation", sorted({*CERTAIN} - {"stepwise"}))
@pytest.mark.parametrize("name", sorted(TRAINED))
@settings(max_examples=3)
@given(
    message=st.binary(max_size=3),
    prompt=st.sampled_from(["", "one two ", "日本"]),
    pool=pools,
    seed=st.integers(0, 9999),
)
def test_bytes_round_trip_with_every_kind_of_tokenizer(
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


def test_without_disambiguation_some_messages_are_lost():
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


def test_draws_serve_one_text_alone(monkeypatch):
    """Each text has draws of its own, whatever the key; its reader has the same ones."""
    seen, used = [], set()

    def recorded(key, purpose):
        seen.append((key, purpose))
        return Draws(key, purpose)

    monkeypatch.setattr("ticore.steganography.coding.Draws", recorded)
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


def test_keyed_settings_need_a_key_for_raw_bits():
    for settings_ in ({"codec": "meteor"}, {"disambiguation": "syncpool"}):
        for secret in ({"key": None}, {"key": None, "password": "rosebud"}):
            stego = toy(**settings_, **secret)
            with pytest.raises(KeyFormatError, match=r"expected a key, .* found none"):
                stego.embed_bits([1, 0])
    other = toy(codec="discop", prompt="c", key=bytes(32))
    mine = toy(codec="discop", prompt="c")
    bits = [0, 1] * 40
    assert mine.extract_bits(mine.embed_bits(bits), 80) == bits
    assert other.extract_bits(mine.embed_bits(bits), 80) != bits


def test_keyed_settings_with_a_password():
    stego = toy(key=None, password="rosebud", codec="sparsamp", disambiguation="syncpool")
    assert stego.extract(stego.embed(b"noon")) == b"noon"


@pytest.mark.parametrize("mode", ["open", "viable"])
@pytest.mark.parametrize("name", ["sp-bpe", "hf-cl100k-nfc", "sp-unigram"])
@settings(max_examples=4)
@given(
    message=st.binary(max_size=4),
    seed=st.integers(0, 9999),
    view=st.sampled_from(["whole", "continuation"]),
    finish=st.sampled_from(["sentence", "none"]),
)
def test_texts_of_wider_modes_round_trip(name, mode, message, seed, view, finish):
    model = ToyModel(TRAINED[name](), seed, context=300)
    stego = Steganographer(
        model, key=KEY, mode=mode, view=view, finish=finish, entropy=entropy(seed)
    )
    text = stego.embed(message)
    assert stego.extract(text) == message
    assert "\ufffd" not in text


@pytest.mark.parametrize(("mode", "goes"), [("prefix", False), ("open", True), ("viable", True)])
def test_wider_modes_write_what_prefix_cannot(mode, goes):
    """A character in several tokens: its first ones alone would be read as something else."""
    tokenizer = TRAINED["sp-bpe"]()
    *history, first, _, _, _ = tokenizer.encode("so 🪐")
    assert bool(ticore.Verifier(tokenizer, mode).start(history).admits([first])[0]) == goes


def test_mostly_it_does_fit():
    """The round trip above is not one of refusals alone."""
    for seed in range(10):
        stego = toy(seed=seed)
        assert stego.extract(stego.embed(b"yes")) == b"yes"


def test_a_message_of_a_kibibyte():
    """Thousands of tokens; what a token costs depends on none of those before it."""
    model = ToyModel(TRAINED["hf-gpt2"](), sharpness=0.1, context=1 << 20)
    stego = Steganographer(model, key=KEY, top_k=32, entropy=entropy(0))
    message = np.random.default_rng(0).bytes(1 << 10)
    assert stego.extract(stego.embed(message)) == message


def test_password():
    stego = toy(key=None, password="hush")
    text = stego.embed(b"hi")
    assert stego.extract(text) == b"hi"
    with pytest.raises(ExtractionError):
        toy(key=None, password="hash").extract(text)


def test_the_same_message_gives_other_texts():
    stego = toy()
    assert stego.embed(b"again") != stego.embed(b"again")


@cache
def _attack():
    return toy(prompt="c").embed(b"attack")


@settings(max_examples=60)
@given(data=st.data())
def test_an_altered_text_never_gives_another_message(data):
    stego, text = toy(prompt="c"), _attack()
    at = data.draw(st.integers(0, len(text) - 1))
    letter = data.draw(st.sampled_from("abcde ."))
    altered = data.draw(
        st.sampled_from(
            [text[:at] + letter + text[at + 1 :], text[:at] + text[at + 1 :], text[:at]]
        )
    )
    _never_another(stego, altered, b"attack")


def _never_another(stego, text, message):
    with suppress(ExtractionError):
        assert stego.extract(text) == message


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
def test_any_other_setting_is_an_error(other):
    """A difference so small that the pools are equal is still found: it is authenticated."""
    text = _attack()
    with pytest.raises(ExtractionError):
        toy(**{"prompt": "c"} | other).extract(text)


def test_text_after_the_message_is_ignored():
    stego = toy(prompt="c", finish="sentence")
    text = stego.embed(b"attack")
    assert text.rstrip().endswith(".")
    assert stego.extract(text + " c d e") == b"attack"


@pytest.mark.parametrize("glued", ["a", "b", "ab", ".", " "])
def test_text_may_be_glued_to_a_finished_sentence(glued):
    """The last token may merge with what comes next; it carries no bit of the message."""
    for seed in range(8):
        stego = toy(prompt="c", seed=seed)
        assert stego.extract(stego.embed(b"x") + glued) == b"x"


def test_a_text_that_was_cut():
    stego = toy(prompt="c")
    text = stego.embed(b"attack")
    with pytest.raises(IncompleteMessageError, match="ends before the message does"):
        stego.extract(text[: len(text) // 2])
    for nothing in ("", "c"):
        with pytest.raises(IncompleteMessageError):
            stego.extract(nothing)


def test_a_message_beyond_the_context():
    with pytest.raises(CapacityError, match="has room for 40 tokens"):
        toy(context=40).embed(bytes(range(100)))
    # It might fit, so it is tried; the model's choices turn out to be too narrow.
    with pytest.raises(CapacityError, match="context is full after 60 tokens"):
        toy(context=60).embed(b"ab")


def test_a_text_beyond_the_context_is_read_as_far_as_it_goes():
    text = toy(context=4096).embed(b"attack")
    with pytest.raises(ExtractionError):
        toy(context=20).extract(text)


def test_a_text_that_goes_on_where_nothing_can():
    class LooksAhead(ToyTokenizer):
        """Behind an "a" every token merges with it, unless the text is "abc"."""

        def encode(self, text):
            return [0, 1, 2] if text == "abc" else super().encode(text)

    tokenizer = LooksAhead(["a", "b", "c", "aa", "ab", "ac"])
    stego = Steganographer(ToyModel(tokenizer), key=KEY)
    with pytest.raises(ExtractionError, match="goes on where nothing can have been written"):
        stego.extract("abc")


def test_a_model_without_choices():
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


def test_a_text_that_runs_into_a_rut_is_written_again(monkeypatch):
    stalled = []
    original = steganographer.StalledError.__init__
    monkeypatch.setattr(
        steganographer.StalledError,
        "__init__",
        lambda self, *args: stalled.append(1) or original(self, *args),
    )
    for seed in range(12):
        stego = Steganographer(Rutted(TOY), key=KEY, entropy=entropy(seed), finish="none")
        text = stego.embed(b"")
        assert "e" not in text
        assert stego.extract(text) == b""
    assert 0 < len(stalled) < 12


def test_a_model_that_does_not_repeat_itself():
    """Its texts cannot be read back, and that is found before one is handed out."""

    class Moody(ToyModel):
        runs = 0

        def start(self, prompt_ids):
            self._seed = Moody.runs = Moody.runs + 1
            return super().start(prompt_ids)

    with pytest.raises(CapacityError, match="none gave the message back"):
        Steganographer(Moody(TOY), key=KEY).embed(b"x")


def test_a_model_of_nan():
    class Broken(ToyModel):
        def logits_after(self, ids):
            return np.full(self.logit_width, np.nan)

    with pytest.raises(ModelError):
        Steganographer(Broken(TOY), key=KEY).embed(b"x")


def test_prompts_that_will_not_do():
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
        ({"key": b"short"}, KeyFormatError, "32 bytes, found 5"),
        ({"password": "both"}, KeyFormatError, "found both"),
        ({"key": None, "password": ""}, KeyFormatError, "empty"),
        ({"codec": "morse"}, SettingsError, "unknown codec 'morse': choose one of arithmetic"),
        ({"codec": "huffman:3"}, SettingsError, "takes no number"),
        ({"disambiguation": "x"}, SettingsError, "choose one of basic, mwis, none, stepwise"),
        ({"disambiguation": "basic:x"}, SettingsError, "one of basic, basic:bytes, basic:decoded"),
        ({"disambiguation": "mwis", "mode": "viable"}, SettingsError, "use 'stepwise'"),
        ({"mode": "x"}, SettingsError, "mode: expected one of prefix"),
        ({"view": "x"}, SettingsError, "view: expected one of whole, continuation"),
        ({"finish": "x"}, SettingsError, "finish: expected one of sentence, none"),
        ({"top_k": 0}, SettingsError, "top_k"),
    ],
)
def test_wrong_arguments(arguments, error, message):
    with pytest.raises(error, match=message):
        toy(**arguments)


def test_no_key():
    stego = toy(key=None)
    for use in (lambda: stego.embed(b""), lambda: stego.extract("a")):
        with pytest.raises(KeyFormatError, match="expected a key or a password, found neither"):
            use()
    assert stego.extract_bits(stego.embed_bits([1, 0, 1]), 3) == [1, 0, 1]


def test_bits_that_are_none():
    with pytest.raises(SettingsError, match="a sequence of 0 and 1"):
        toy().embed_bits([0, 2])


def test_an_agreement_rebuilds_the_same_settings():
    stego = toy(prompt="c", temperature=0.9, top_k=7)
    model = ToyModel(TOY)
    again = Steganographer.agreed(model, stego.agreement, key=KEY)
    assert again.agreement == stego.agreement
    assert again.extract(stego.embed(b"pact")) == b"pact"
    with pytest.raises(SettingsError, match="expected the model that was agreed on"):
        Steganographer.agreed(ToyModel(TOY, seed=5), stego.agreement, key=KEY)


def test_progress_ends_where_the_message_does():
    seen = []
    stego = toy()
    text = stego.embed(b"x", lambda done, total: seen.append((done, total)))
    assert seen[-1] == (2 * 8 * 22, 2 * 8 * 22)  # written, then read back
    assert seen == sorted(seen)
    seen.clear()
    stego.extract(text, lambda done, total: seen.append((done, total)))
    assert seen[-1][0] == seen[-1][1]


def test_texts_are_samples_of_the_model():
    """The first token over many messages follows the pool that stepwise verification leaves."""
    stego = toy(prompt="c")
    report = [stego.embed_bits_report(_random_bits(seed)) for seed in range(2000)]
    counts = np.zeros(TOY.vocab_size)
    for embedding in report:
        counts[embedding.ids[0]] += 1
    logits = ToyModel(TOY).logits_after(TOY.encode("c"))
    probable = np.exp(logits)
    probable[0] = 0
    expected = probable / probable.sum() * len(report)
    assert chisquare(counts[1:], expected[1:]).pvalue > LEVEL


def _random_bits(seed):
    return np.random.default_rng(seed).integers(0, 2, 16).tolist()


def test_report():
    report = toy(prompt="c").embed_report(b"measure")
    assert report.bits == 8 * (7 + 21)
    assert report.tokens <= len(report.ids)
    assert report.bits_per_token == report.bits / report.tokens
    assert report.kl_filter > 0  # this tokenizer is inconsistent at every other step
    assert report.text == "c" + TOY.decode(report.ids)


def test_public_names():
    assert ticore.Steganographer is Steganographer
    assert issubclass(AuthenticationError, ticore.TicoreError)
