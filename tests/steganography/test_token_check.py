"""A text is checked in one pass of the model, and what a second pass would find is found."""

import dataclasses
from itertools import count

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.slow import slow_unless, some_pairs
from tests.support.toy_models import ToyDecoder, ToyModel, ToyTokenizer
from ticore.codecs import CODECS, CodecSpec, HuffmanCodec
from ticore.disambiguation import DISAMBIGUATIONS, Basic, DisambiguationSpec
from ticore.errors import CapacityError, SettingsError
from ticore.steganography import Steganographer, _token_check
from ticore.steganography._repeatable import is_repeatable

KEY = bytes(range(32))
TOY = ToyTokenizer(["", "a", "b", "ab", "ba", "aab", "c", " ", ".", "d", "e"])
IDS = np.arange(1, TOY.vocab_size)


class CountingModel(ToyModel):
    """Counts the ids that its Decoders read one by one, and the prompts."""

    reads = starts = 0

    def start(self, prompt_ids):
        self.starts += 1
        return CountingDecoder(self, list(prompt_ids))


class CountingDecoder(ToyDecoder):
    def push(self, token):
        self._model.reads += 1
        super().push(token)


def toy(model=None, seed=0, **more):
    entropy = np.random.default_rng(seed).bytes
    more = {"prompt": "c", "entropy": entropy} | more
    return Steganographer(CountingModel(TOY) if model is None else model, key=KEY, **more)


PAIRS = some_pairs(sorted(CODECS), sorted(DISAMBIGUATIONS), one_in=3)


@pytest.mark.parametrize(("codec", "disambiguation"), slow_unless(PAIRS[:3], PAIRS))
@settings(max_examples=2)
@given(
    message=st.binary(max_size=3),
    seed=st.integers(0, 999),
    view=st.sampled_from(["whole", "continuation"]),
    finish=st.sampled_from(["sentence", "none"]),
    top_k=st.sampled_from([3, None]),
)
def test_both_checks_hand_out_the_same_text(
    codec, disambiguation, message, seed, view, finish, top_k
):
    """Also where texts are refused, as most are without disambiguation."""

    def outcome(check):
        stego = toy(
            ToyModel(TOY, seed, context=300), seed, view=view, finish=finish, top_k=top_k,
            codec=codec, disambiguation=disambiguation,
        )  # fmt: skip
        try:
            return stego.embed(message, check=check)
        except CapacityError as error:
            return str(error)

    assert outcome("tokens") == outcome("full")


def test_embed_reads_each_token_once():
    model = CountingModel(TOY)
    stego = toy(model)
    stego.embed(b"")  # tries whether the model repeats its logits
    for disambiguation in ("stepwise", "basic"):
        stego = toy(model, disambiguation=disambiguation)
        model.reads = model.starts = 0
        written = stego.embed(b"noon")
        assert (model.starts, model.reads) == (1, len(written.ids) - 1)
        model.reads = model.starts = 0
        written = stego.embed(b"noon", check="full")
        assert model.starts == 2
        assert model.reads > 1.5 * written.token_count


class LosesSight(Basic):
    """Its reader takes another token for the 20th one."""

    def read(self, text):
        received, steps = super().read(text), count()
        locate = received.locate

        def mislocate(choices):
            found = locate(choices)
            return (found + 1) % len(choices.ids) if next(steps) == 20 else found

        received.locate = mislocate
        return received


class Misreads(HuffmanCodec):
    """Its reader turns the bits of the 20th token around."""

    def reader(self):
        reader, steps = super().reader(), count()
        observe = reader.observe

        def misread(weights, index):
            value, size = observe(weights, index)
            return (value ^ (1 << size) - 1 if next(steps) == 20 else value), size

        reader.observe = misread
        return reader


class ForgetfulTokenizer(ToyTokenizer):
    """Reads "ab" as "a" and "b" in texts of more than 30 characters."""

    def encode(self, text):
        ids = super().encode(text)
        return (
            ids if len(text) < 30 else [part for i in ids for part in ((1, 2) if i == 3 else (i,))]
        )


@pytest.mark.parametrize("check", ["tokens", "full"])
@pytest.mark.parametrize(
    "broken",
    [
        {"disambiguation": DisambiguationSpec("own", LosesSight)},
        {"codec": CodecSpec("own", Misreads)},
        {"model": ToyModel(ForgetfulTokenizer(TOY.pieces)), "disambiguation": "none"},
    ],
)
def test_check_fails_where_a_reader_would(check, broken):
    with pytest.raises(CapacityError, match="4 texts were written and none gave the message back"):
        toy(**broken).embed(b"at noon", check=check)


def test_check_reads_again_where_too_much_would_have_to_be_kept(monkeypatch):
    monkeypatch.setattr(_token_check, "MOST_KEPT", 20)
    model = CountingModel(TOY)
    assert is_repeatable(model, IDS, 0.0)
    for disambiguation, starts in (("basic", 2), ("stepwise", 1)):
        model.starts = 0
        stego = toy(model, disambiguation=disambiguation)
        assert stego.extract(stego.embed(b"x")) == b"x"
        assert model.starts == starts + 1


class Noisy(CountingModel):
    """Its logits differ from one time to the next."""

    noise = 1e-13

    def logits_after(self, ids):
        calls = self.reads + self.starts
        rng = np.random.default_rng(calls)
        return super().logits_after(ids) + rng.normal(size=self.logit_width) * self.noise


def test_embed_reads_again_where_the_model_does_not_repeat_its_logits():
    model = Noisy(TOY)
    stego = toy(model)
    text = stego.embed(b"x")
    assert model.starts == 4  # tried twice, written, read
    assert stego.extract(text) == b"x"


def test_is_repeatable_tries_a_model_once_for_each_tolerance_and_batch_size():
    model, noisy = CountingModel(TOY), Noisy(TOY)
    for _ in range(2):
        assert is_repeatable(model, IDS, 0.0)
        assert not is_repeatable(noisy, IDS, 0.0)
        assert is_repeatable(noisy, IDS, 1e-9)
        assert not is_repeatable(noisy, IDS, 1e-15)
    assert (model.starts, model.reads) == (2, 8)
    assert is_repeatable(model, IDS, 0.0, batch_size=3)
    assert model.starts == 2 + 2 * 3
    assert is_repeatable(CountingModel(TOY, context=3), IDS, 0.0)


def test_is_repeatable_tries_a_model_each_time_that_cannot_be_hashed():
    @dataclasses.dataclass
    class Plain(CountingModel):
        tokenizer: ToyTokenizer

        def __post_init__(self):
            super().__init__(self.tokenizer)

    model = Plain(TOY)
    for tries in (1, 2):
        assert is_repeatable(model, IDS, 0.0)
        assert model.starts == 2 * tries


def test_embed_refuses_an_unknown_check():
    with pytest.raises(SettingsError, match="check: expected one of tokens, full, found 'x'"):
        toy().embed(b"", check="x")
