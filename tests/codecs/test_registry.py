"""Codecs by name: what a name may say, and what goes with it."""

from functools import partial
from itertools import repeat

import pytest

from tests.support.codec_runs import random_bits, random_tail, randomness_of, read, to_source, write
from tests.support.weight_tables import weights_of
from ticore import codecs
from ticore.codecs import (
    CODECS,
    ArithmeticCodec,
    CodecSpec,
    SparSampCodec,
    codec_named,
    codec_spec,
    zeros,
)
from ticore.errors import CredentialError, SettingsError

WEIGHTS = weights_of([5, 3, 1, 1], 16)


@pytest.mark.parametrize("name", [*CODECS, "sparsamp:1", "sparsamp:32", "sparsamp:1024"])
def test_codec_named_makes_a_codec_of_every_name(name):
    codec, bits = codec_named(name).make(randomness=randomness_of(1)), random_bits(1, 100)
    chosen = write(codec, bits, repeat(WEIGHTS), random_tail(1))
    assert read(codec, chosen, 100) == bits


@pytest.mark.parametrize("bits", [32, 256])
def test_codec_named_sets_the_block_by_its_number(bits):
    writer = (
        codec_named(f"sparsamp:{bits}")
        .make(randomness=randomness_of(1))
        .writer(to_source([1], zeros))
    )
    while not writer.done:
        writer.choose(WEIGHTS)
    assert writer.settled == bits


@pytest.mark.parametrize("stop", ["exact", "paper"])
def test_make_takes_every_stop_rule_of_arithmetic(stop):
    codec = codec_named("arithmetic").make(stop)
    assert isinstance(codec, ArithmeticCodec)
    assert codec.stop == stop


@pytest.mark.parametrize("name", sorted(set(CODECS) - {"arithmetic"}))
def test_make_refuses_the_paper_rule_of_other_codecs(name):
    with pytest.raises(
        SettingsError, match="stop: expected 'exact' with this codec, found 'paper'"
    ):
        codec_named(name).make("paper", randomness_of(1))


@pytest.mark.parametrize(
    "name", ["discop", "mec", "mec:4", "meteor", "rrc", "sparsamp", "sparsamp:32"]
)
def test_make_needs_randomness_when_the_codec_is_keyed(name):
    assert codec_named(name).keyed
    with pytest.raises(CredentialError, match="neither key nor password"):
        codec_named(name).make()


@pytest.mark.parametrize("name", ["arithmetic", "huffman"])
def test_make_needs_no_randomness_when_the_codec_is_not_keyed(name):
    assert not codec_named(name).keyed
    assert codec_named(name).make() is not None


@pytest.mark.parametrize(
    ("name", "message"),
    [
        (
            "zip",
            "unknown codec 'zip': choose one of arithmetic, discop, huffman, mec, meteor",
        ),
        ("", "unknown codec '': choose one of arithmetic"),
        (":8", "unknown codec ''"),
        ("huffman:3", "codec 'huffman' takes no number, found 'huffman:3'; write 'huffman'"),
        ("huffman:", "codec 'huffman' takes no number"),
        ("sparsamp:x", r"a whole number .* after 'sparsamp:' \(block_bits\), found 'x'"),
        ("sparsamp:", r"a whole number .* after 'sparsamp:' \(block_bits\), found ''"),
        ("sparsamp:" + "9" * 5000, "at most 9 digits"),
        ("sparsamp:-8", "found '-8'"),
        ("sparsamp:٣", "found '٣'"),
        ("sparsamp:8:8", "found '8:8'"),
    ],
)
def test_codec_named_refuses_other_names(name, message):
    with pytest.raises(SettingsError, match=message):
        codec_named(name)


@pytest.mark.parametrize("bits", ["0", "1025"])
def test_codec_named_refuses_numbers_out_of_range(bits):
    with pytest.raises(SettingsError, match=f"block_bits: expected .* 1 to 1024, found {bits}"):
        codec_named(f"sparsamp:{bits}")


def test_codec_spec_takes_no_zeros_before_a_number():
    """Agreements with the two names differ. Those that have such a number are still read."""
    with pytest.raises(SettingsError, match="found 'sparsamp:032'; write 'sparsamp:32'"):
        codec_spec("sparsamp:032")
    spec = codec_named("sparsamp:032")
    assert codec_spec(spec) is spec
    with pytest.raises(SettingsError, match=r"texts of 'mec:04' give .*codec_named\('mec:04'\)"):
        codec_spec("mec:04")


@pytest.mark.parametrize(
    ("name", "build"),
    [
        ("sparsamp:32", partial(SparSampCodec, block_bits=8)),
        ("sparsamp", partial(SparSampCodec, block_bits=8)),
        ("sparsamp:32", SparSampCodec),
        ("arithmetic", partial(ArithmeticCodec, "paper")),
        ("arithmetic", SparSampCodec),
    ],
)
def test_codec_spec_refuses_another_codec_with_a_bundled_name(name, build):
    with pytest.raises(SettingsError, match=f"another name than '{name}', which a bundled codec"):
        codec_spec(CodecSpec(name, build, keyed=True))


@pytest.mark.parametrize("name", ["sparsamp", "sparsamp:32", "mec:4", "arithmetic"])
def test_codec_spec_takes_what_its_name_makes(name):
    spec = codec_named(name)
    assert codec_spec(spec) is spec


def test_codec_spec_takes_a_bundled_codec_that_is_made_alike():
    spec = CodecSpec("sparsamp:32", partial(SparSampCodec, block_bits=32), keyed=True)
    assert codec_spec(spec) is spec


def test_former_name_of_codec_specs_works_with_a_warning():
    with pytest.warns(DeprecationWarning, match="use ticore.codecs.CodecSpec"):
        assert codecs.CodecKind is codecs.CodecSpec
