"""Texts that other machines read, whose logits differ in the last digits."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ticore
from tests.support.slow import examples
from tests.support.toy_models import ToyModel, ToyTokenizer
from ticore.codecs import CODECS
from ticore.disambiguation import DISAMBIGUATIONS
from ticore.errors import CapacityError, ExtractionError, SettingsError
from ticore.steganography import Steganographer
from ticore.steganography import _prescored_decoder as prescored_decoder
from ticore.steganography._portability import TOLERANCE

KEY = bytes(range(32))
CERTAIN = [name for name, kind in DISAMBIGUATIONS.items() if kind.certain]
TOY = ToyTokenizer(["", "a", "b", "ab", "ba", "aab", "c", " ", ".", "d", "e"])


class Borderline(ToyModel):
    """A model of which one logit in `every` lies on a rounding boundary, or next to it.

    Its logits are off by `noise` x TOLERANCE, up or down at random; its digest is the same.
    """

    def __init__(self, seed=0, noise=0.0, every=50, width=None):
        super().__init__(TOY, seed, width=width)
        self._noise, self._every = noise, every

    def logits_after(self, ids):
        logits = np.rint(super().logits_after(ids) * 1024) / 1024
        rng = np.random.default_rng([len(ids), *ids[-3:]])
        if rng.random() < self.logit_width / self._every:
            near = rng.choice([-0.9, 0.0, 0.9]) * TOLERANCE
            logits[rng.integers(self.logit_width)] += 0.5 / 1024 + near
        other = np.random.default_rng(len(ids))
        return logits + other.choice([-1, 1], len(logits)) * self._noise * TOLERANCE

    def portable_digest(self):
        return f"borderline {self._seed}"

    def digest(self):
        return self.portable_digest()


def stego(model, numerics="portable", seed=1, **more):
    entropy = np.random.default_rng(seed).bytes
    return Steganographer(model, key=KEY, numerics=numerics, entropy=entropy, **more)


@pytest.mark.slow
@settings(max_examples=examples(25, thorough=200))
@given(
    message=st.binary(max_size=3),
    seed=st.integers(0, 9999),
    noise=st.sampled_from([0.0, 0.5, 0.999]),
    codec=st.sampled_from(sorted(CODECS)),
    disambiguation=st.sampled_from(CERTAIN),
    pool=st.fixed_dictionaries(
        {"top_k": st.sampled_from([None, 3, 8]), "top_p": st.sampled_from([0.9, 1.0])}
    ),
)
def test_extract_reads_the_text_when_logits_are_within_the_tolerance(
    message, seed, noise, codec, disambiguation, pool
):
    """Of 64 texts some avoids the boundaries, at one in 4000 logits."""
    more = {"codec": codec, "disambiguation": disambiguation, **pool}
    text = stego(Borderline(seed, every=4000), **more).embed(message).text
    assert stego(Borderline(seed, noise, every=4000), **more).extract(text) == message


@pytest.mark.slow
def test_extract_misreads_same_stack_texts_when_logits_differ():
    """The same without looking: the model is one that needs it."""
    failed = 0
    for seed in range(20):
        text = stego(Borderline(seed), "same-stack", seed).embed(b"noon").text
        try:
            assert stego(Borderline(seed, 0.999), "same-stack").extract(text) == b"noon"
        except ExtractionError:
            failed += 1
    assert failed > 5


def test_embed_raises_when_no_text_avoids_the_boundaries():
    with pytest.raises(CapacityError, match=r"64 texts .*another machine might round"):
        stego(Borderline(every=11)).embed(b"noon")


@pytest.mark.slow
@pytest.mark.parametrize("disambiguation", ["stepwise", "mwis"])
def test_extract_reads_alike_in_parallel_and_step_by_step(disambiguation, monkeypatch):
    writer = stego(Borderline(every=4000), disambiguation=disambiguation)
    text = writer.embed(b"noon").text
    passes = []
    original = Borderline.score
    monkeypatch.setattr(Borderline, "score", lambda *a: passes.append(1) or original(*a))
    assert writer.extract(text) == b"noon"
    # One for the first tokens, and one for all; else the tokens are not known before.
    assert len(passes) == 2 * (disambiguation == "stepwise")
    monkeypatch.setattr(prescored_decoder, "MOST_LOGITS", 0)
    assert writer.extract(text) == b"noon"
    assert len(passes) == 2 * (disambiguation == "stepwise")


@pytest.mark.slow
def test_extract_reads_to_the_end_of_the_context_when_the_text_is_longer():
    writer = stego(Borderline(every=4000))
    text = writer.embed(b"noon").text
    assert writer.extract(text + "a" * 9000) == b"noon"
    with pytest.raises(ExtractionError):
        writer.extract("a" * 9000)


def test_extract_reads_step_by_step_when_same_stack(monkeypatch):
    monkeypatch.setattr(ToyModel, "score", None)
    writer = stego(Borderline(), "same-stack")
    assert writer.extract(writer.embed(b"noon")) == b"noon"


def test_embed_bits_writes_one_text_when_portable():
    writer = stego(Borderline(every=11))
    assert writer.extract_bits(writer.embed_bits([1, 0, 1]), 3) == [1, 0, 1]


def test_steganographer_refuses_a_model_without_a_portable_digest():
    with pytest.raises(SettingsError, match="found ToyModel, which has no portable_digest"):
        stego(ToyModel(TOY))
    with pytest.raises(SettingsError, match="found float32; load it with dtype='float64'"):
        stego(ticore.load_model("tiny-en", dtype="float32"))


def test_from_agreement_checks_the_digest_of_its_numerics():
    model = Borderline(every=4000)
    portable, same = stego(model), stego(model, "same-stack")
    assert portable.agreement.digest() != same.agreement.digest()
    reader = Steganographer.from_agreement(portable.agreement, model=model, key=KEY)
    assert reader.extract(portable.embed(b"noon")) == b"noon"
    with pytest.raises(SettingsError, match="expected the model that was agreed on"):
        Steganographer.from_agreement(portable.agreement, model=Borderline(seed=1), key=KEY)


@pytest.mark.slow
def test_extract_reads_texts_of_every_other_backend():
    pytest.importorskip("torch", reason="one of the backends under test")
    pytest.importorskip("jax", reason="one of the backends under test")
    places = ["tiny-en", "torch:tiny-en", "jax:tiny-en"]
    sides = [stego(ticore.load_model(place, dtype="float64"), prompt="Now") for place in places]
    for writer in sides:
        text = writer.embed(b"noon").text
        assert [reader.extract(text) for reader in sides] == [b"noon"] * len(sides)
