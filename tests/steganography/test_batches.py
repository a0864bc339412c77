"""Many texts at once: each is the one that its own Steganographer writes alone."""

import hashlib

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ticore
from tests.support.slow import slow_unless
from tests.support.toy_models import ToyBatchModel, ToyModel, ToyRows, ToyTokenizer
from ticore.backend_kit import CheckedBatchDecoder
from ticore.codecs import CODECS
from ticore.disambiguation import DISAMBIGUATIONS
from ticore.errors import (
    CapacityError,
    CredentialError,
    ExtractionError,
    PromptError,
    SettingsError,
    TicoreError,
    WrongTypeError,
)
from ticore.steganography import Steganographer

KEY = bytes(range(32))
TOY = ToyTokenizer(["", "a", "b", "ab", "ba", "aab", "c", " ", ".", "d", "e"])
NO_TEXT = "cab a.d"  # it begins like a text
CERTAIN = sorted(name for name, kind in DISAMBIGUATIONS.items() if kind.certain)


class Portable:
    """Its logits are on the grid, so that no text is discarded."""

    def logits_after(self, ids):
        return np.rint(super().logits_after(ids) * 1024) / 1024

    def portable_digest(self):
        return self.digest()


class Serial(Portable, ToyModel):
    """Reads one text at a time."""


class Growing(Portable, ToyBatchModel):
    """Reads many texts at once, and takes further ones."""


class Fixed(Growing):
    """Reads many texts at once, and takes no further ones."""

    def start_batch(self, prompts, rewindable=None):
        rows = ToyRows(self, prompts)
        reader = type(
            "Rows", (), {name: getattr(rows, name) for name in ("push", "rewind", "drop")}
        )
        first = [self.logits_after(ids) for ids in prompts]
        return CheckedBatchDecoder(self, reader, prompts, first, rewindable)


def toy(model=None, **more):
    def entropy(count):  # the same in whichever order it is asked
        return hashlib.shake_128(b"entropy").digest(count)

    more = {"key": KEY, "prompt": "c", "entropy": entropy, "numerics": "portable"} | more
    return Steganographer(Growing(TOY) if model is None else model, **more)


def outcome(work, *arguments, **keywords):
    """What it returns or raises."""
    try:
        return work(*arguments, **keywords)
    except TicoreError as error:
        return error


def shown(result):
    return repr(result) if isinstance(result, Exception) else result


@pytest.mark.parametrize("kind", slow_unless([Growing], [Serial, Growing, Fixed]))
@settings(max_examples=5)
@given(
    seed=st.integers(0, 999),
    sizes=st.lists(st.sampled_from([0, 1, 2, 90]), max_size=4),
    batch_size=st.integers(1, 3),
    codec=st.sampled_from(sorted(CODECS)),
    disambiguation=st.sampled_from(CERTAIN),
    view=st.sampled_from(["whole", "continuation"]),
    check=st.sampled_from(["tokens", "full"]),
    finish=st.sampled_from(["sentence", "none"]),
)
def test_each_row_is_what_its_steganographer_writes_alone(
    kind, seed, sizes, batch_size, codec, disambiguation, view, check, finish
):
    """Also where a row fails: 90 bytes do not fit. The others do not notice."""
    stego = toy(
        kind(TOY, seed, context=200),
        codec=codec, disambiguation=disambiguation, view=view, finish=finish,
    )  # fmt: skip
    rng = np.random.default_rng(seed)
    messages = [rng.bytes(size) for size in sizes]
    prompts = [["c", "", "ab", "d e"][n % 4] for n in range(len(sizes))]
    found = stego.embed_batch(messages, prompts=prompts, check=check, batch_size=batch_size)
    alone = [
        outcome(stego.with_prompt(prompt).embed, message)
        for prompt, message in zip(prompts, messages, strict=True)
    ]
    assert [*map(shown, found)] == [*map(shown, alone)]

    texts = [NO_TEXT if isinstance(text, Exception) else text for text in found]
    read = stego.extract_batch(texts, prompts=prompts, batch_size=batch_size)
    for text, prompt, message, got in zip(found, prompts, messages, read, strict=True):
        if isinstance(text, Exception):
            assert shown(got) == shown(outcome(stego.with_prompt(prompt).extract, NO_TEXT))
        else:
            assert got == message


def test_batches_take_fewer_passes_and_rows_that_end_make_room():
    model = Growing(TOY)
    stego = toy(model, finish="none", disambiguation="mwis")
    messages = [bytes(n % 7) for n in range(12)]
    texts = stego.embed_batch(messages, batch_size=4)
    lengths = [len(text.ids) for text in texts]
    # At worst the longest text begins when all others have ended.
    assert model.passes <= sum(lengths) / 4 + max(lengths) + 20
    assert stego.extract_batch(texts) == messages


def test_raw_bits_of_each_row_are_those_that_embed_bits_writes():
    rng = np.random.default_rng(0)
    bits = [rng.integers(0, 2, 24).tolist() for _ in range(5)]
    keys = [bytes([n]) * 32 for n in range(5)]
    for settings_, stop in (
        ({}, "paper"),
        ({"codec": "discop", "disambiguation": "mwis"}, "exact"),
    ):
        stego = toy(**settings_)
        texts = stego.embed_bits_batch(bits, keys=keys, stop=stop, batch_size=2)
        alone = [
            toy(key=key, **settings_).embed_bits(some, stop=stop)
            for key, some in zip(keys, bits, strict=True)
        ]
        assert texts == alone
        assert stego.extract_bits_batch(texts, 24, keys=keys, stop=stop) == bits
    (text,) = toy().embed_bits_batch([[1, 0, 1]])
    assert toy().extract_bits_batch([text], 3) == [[1, 0, 1]]
    (failed,) = toy(key=None, codec="meteor").embed_bits_batch([[1]])
    assert isinstance(failed, CredentialError)


def test_each_row_has_an_observer_that_sees_what_it_would_see_alone():
    bits, prompts = [[1, 0, 1, 1], [0] * 9, [1] * 6], ["c", "ab", "d e"]
    together, alone = ([[] for _ in bits] for _ in range(2))
    toy().embed_bits_batch(bits, prompts=prompts, observers=[*map(watching, together)])
    for prompt, some, steps in zip(prompts, bits, alone, strict=True):
        toy().with_prompt(prompt).embed_bits(some, observer=watching(steps))
    assert together == alone
    assert all(alone)


def watching(steps):
    """An observer that notes the weights and logits of each step, and what was chosen."""
    return lambda step, index: steps.append(
        (step.weights.tolist(), step.logits.tolist(), step.token(index))
    )


def test_a_row_that_is_no_message_has_an_error_of_its_own():
    stego = toy()
    (text,) = stego.embed_batch([b"noon"])
    good, cut, empty = stego.extract_batch([text, text.text[:9], ""])
    assert good == b"noon"
    assert isinstance(cut, ExtractionError)
    assert isinstance(empty, ExtractionError)


@pytest.mark.parametrize(
    ("work", "error", "message"),
    [
        (lambda stego: stego.embed_batch(b"noon"), WrongTypeError, "expected a list, found one by"),
        (lambda stego: stego.embed_batch([b"", "x"]), WrongTypeError, "row 1: expected a message"),
        (lambda stego: stego.extract_batch("ab"), WrongTypeError, "expected a list, found one str"),
        (lambda stego: stego.extract_batch(["ab", 3]), WrongTypeError, "row 1: "),
        (lambda stego: stego.embed_bits_batch([1, 0]), WrongTypeError, "a list of bits for each"),
        (
            lambda stego: stego.embed_bits_batch(np.array([1, 0])),
            WrongTypeError,
            "a list of bits for each",
        ),
        (
            lambda stego: stego.embed_bits_batch([[1]], stop="x"),
            SettingsError,
            "stop: expected one",
        ),
        (lambda stego: stego.embed_batch(None), WrongTypeError, "messages: expected a list"),
        (lambda stego: stego.extract_batch(3), WrongTypeError, "texts: expected a list"),
        (lambda stego: stego.embed_bits_batch(None), WrongTypeError, "bits: expected a list"),
        (lambda stego: stego.embed_batch([b""], prompts=3), WrongTypeError, "prompts: expected a"),
        (lambda stego: stego.embed_batch([b""], prompts=[3]), WrongTypeError, "row 0: expected"),
        (lambda stego: stego.embed_batch([b""], prompts=[[[1]]]), WrongTypeError, "row 0: expec"),
        (lambda stego: stego.embed_batch([b""], prompts=[]), SettingsError, "one for each of 1 te"),
        (
            lambda stego: stego.embed_bits_batch([[1]], observers=[]),
            SettingsError,
            "observers: expected one for each of 1 te",
        ),
        (
            lambda stego: stego.embed_bits_batch([[1]], observers=(each for each in [None])),
            WrongTypeError,
            "observers: expected a list, found generator",
        ),
        (lambda stego: stego.embed_batch([b""], batch_size=0), SettingsError, "batch_size"),
        (lambda stego: stego.embed_batch([b""], check="x"), SettingsError, "one of tokens, full"),
        (
            lambda stego: stego.embed_batch([b"", b""], prompts=["c", "a" * 5000]),
            PromptError,
            "row 1: expected a prompt of fewer than 4096 tokens",
        ),
    ],
)
def test_batches_refuse_wrong_arguments(work, error, message):
    with pytest.raises(error, match=message):
        work(toy())


def test_batches_refuse_numerics_in_which_other_rows_matter():
    for work in (
        lambda stego: stego.embed_batch([b"x"]),
        lambda stego: stego.extract_bits_batch(["ab"], 1),
    ):
        with pytest.raises(SettingsError, match="expected 'portable' for a batch, found 'same-st"):
            work(toy(numerics="same-stack"))
    with pytest.raises(CredentialError):
        toy(key=None).embed_batch([b"x"])


@pytest.mark.slow
def test_rows_of_a_real_model_are_the_texts_that_it_writes_alone():
    stego = toy(ticore.load_model("tiny-en"), prompt="One day", finish="none")
    messages = [b"", b"noon", b"at noon"]
    *texts, last = stego.embed_batch([*messages, np.random.default_rng(0).bytes(5000)])
    assert texts == [stego.embed(message) for message in messages]
    assert isinstance(last, CapacityError)
    assert stego.extract_batch(texts) == messages


def test_what_is_no_list_or_no_setting_is_refused_at_once():
    model = Growing(TOY)
    stego = Steganographer(model, key=KEY, prompt="a", numerics="portable")
    with pytest.raises(WrongTypeError, match="keys: expected a list, found int"):
        stego.embed_bits_batch([[1]], keys=5)
    with pytest.raises(WrongTypeError, match="topic: expected a list, found int"):
        stego.embed_batch([b"a"], topic=5)
    with pytest.raises(SettingsError, match="length: expected an integer of at least 0"):
        stego.extract_bits_batch(["a"], -1)
    with pytest.raises(SettingsError, match="stop: expected one of"):
        stego.extract_bits_batch(["a"], 1, stop="nix")
