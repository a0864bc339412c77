"""Raw bits with a checksum are found by a search, or the writer has refused them."""

import pytest
from hypothesis import given, reject, settings
from hypothesis import strategies as st

import ticore
from tests.support.slow import slow_unless
from tests.support.toy_models import ToyModel, ToyTokenizer
from ticore import Steganographer
from ticore.codecs import CODECS
from ticore.errors import (
    AlteredTextError,
    CapacityError,
    ExtractionError,
    SettingsError,
    WrongTypeError,
)
from ticore.steganography._search import job

KEY = bytes(range(32))
NESTED = ToyTokenizer(["", "a", "b", "ab", "ba", "aab", "c", " ", ".", "d", "e"])
BITS = [0, 1, 1, 0] * 6


def toy(seed=0, sharpness=3.0, **options):
    given = {"key": KEY, "finish": "none", "prompt": "c", "disambiguation": "search"}
    return Steganographer(ToyModel(NESTED, seed, sharpness), **given | options)


def needs_search(stego):
    """Whether the tokenizer finds other tokens than those written."""
    written = stego.embed_bits(BITS, stop="paper", checksum=32)
    return NESTED.encode(str(written)) != [*NESTED.encode("c"), *written.ids]


@pytest.mark.parametrize("codec", slow_unless(["arithmetic"], [*CODECS, "sparsamp:8"]))
@settings(max_examples=6)
@given(
    bits=st.lists(st.integers(0, 1), max_size=48),
    paper=st.booleans(),
    seed=st.integers(0, 999),
    sharpness=st.sampled_from([1.0, 4.0]),
)
def test_what_is_written_is_read(codec, bits, paper, seed, sharpness):
    stop = "paper" if paper and codec == "arithmetic" else "exact"
    stego = toy(seed, sharpness, codec=codec)
    try:
        written = stego.embed_bits(bits, stop=stop, checksum=32)
    except CapacityError:
        reject()
    assert stego.extract_bits(written, len(bits), stop=stop, checksum=32) == bits
    assert written.bits == len(bits) + 32


@pytest.mark.parametrize("stop", ["exact", "paper"])
def test_tokens_that_the_tokenizer_does_not_find_are_found(stop):
    others = 0
    for stego in map(toy, range(6)):
        written = stego.embed_bits(BITS, stop=stop, checksum=32)
        others += needs_search(stego)
        assert written.kl_filter == 0
        assert stego.extract_bits(str(written), len(BITS), stop=stop, checksum=32) == BITS
    assert others > 3


def test_a_batch_reads_and_writes_what_one_text_does():
    model = ticore.load_model("tiny-en")
    stego = Steganographer(
        model, prompt="One day", numerics="portable", disambiguation="search", finish="none"
    )
    how = {"stop": "paper", "checksum": 16}
    many = [BITS, BITS[1:]]
    together = stego.embed_bits_batch(many, **how)
    assert [str(each) for each in together] == [str(stego.embed_bits(bits, **how)) for bits in many]
    assert stego.extract_bits_batch(together[:1], len(BITS), **how) == [BITS]


def test_a_writer_who_cannot_search_long_enough_says_so(monkeypatch):
    stego = next(each for each in map(toy, range(6)) if needs_search(each))
    monkeypatch.setattr(job, "WRITER_PASSES", 0)
    with pytest.raises(CapacityError, match="cannot search"):
        stego.embed_bits(BITS, stop="paper", checksum=32)


@pytest.mark.parametrize("checksum", [0, 257, -1, 1.5])
def test_a_search_needs_a_checksum_of_some_bits(checksum):
    stego = toy()
    for refused in (
        lambda: stego.embed_bits(BITS, checksum=checksum),
        lambda: stego.extract_bits("c a b", 3, checksum=checksum),
    ):
        with pytest.raises(SettingsError, match="checksum"):
            refused()


def test_a_checksum_notices_other_tokens_without_a_search():
    bits, noticed = BITS * 2, 0
    for seed in range(6):
        stego = toy(seed, disambiguation="none")
        written = stego.embed_bits(bits, stop="paper", checksum=32)
        try:
            assert stego.extract_bits(str(written), len(bits), stop="paper", checksum=32) == bits
        except ExtractionError:
            noticed += 1
    assert noticed > 3


def test_an_altered_text_is_refused():
    stego = toy(disambiguation="stepwise", mode="prefix")
    written = str(stego.embed_bits(BITS, checksum=32))
    other = toy(seed=1, disambiguation="stepwise", mode="prefix")
    with pytest.raises(ExtractionError):
        other.extract_bits(written, len(BITS), checksum=32)
    with pytest.raises(AlteredTextError, match="checksum"):
        stego.extract_bits(written, len(BITS) - 1, checksum=32)


def test_a_checksum_of_no_bits_is_looked_at():
    stego = toy(disambiguation="stepwise")
    written = stego.embed_bits([], checksum=32)
    assert stego.extract_bits(written, 0, checksum=32) == []
    with pytest.raises(ExtractionError):
        stego.extract_bits("c" + str(written)[:3:-1], 0, checksum=32)
    assert stego.extract_bits("anything", 0) == []
    for checksum in (0, 32):
        with pytest.raises(WrongTypeError):
            stego.extract_bits(5, 0, checksum=checksum)
