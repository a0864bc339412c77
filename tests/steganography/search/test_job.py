"""A text whose tokens the tokenizer would not find is read all the same, or is never sent."""

import textwrap
from collections import Counter
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import example, given, reject, settings
from hypothesis import strategies as st

import ticore
from tests.support.slow import examples, slow_unless
from tests.support.tokenizers import TRAINED
from tests.support.toy_models import ToyModel, ToyTokenizer
from ticore import Steganographer
from ticore.channels import Channel
from ticore.codecs import CODECS, CodecSpec, HuffmanCodec
from ticore.errors import CapacityError, ExtractionError, SettingsError
from ticore.steganography import _pasted, _sealed_writing
from ticore.steganography._checked_frame import SPACING
from ticore.steganography._search import allowance, job
from ticore.steganography._search.allowance import Allowance

KEY = bytes(range(32))
NESTED = ToyTokenizer(["", "a", "b", "ab", "ba", "aab", "c", " ", ".", "d", "e"])


def entropy(seed):
    return np.random.default_rng(seed).bytes


class WithHalfCharacter(ToyTokenizer):
    """ "½" stands for the first byte of a character."""

    def token_bytes(self, token):
        return b"\xc3" if self.pieces[token] == "½" else super().token_bytes(token)


class NoFork(HuffmanCodec):
    def reader(self):
        reader = super().reader()
        return type("Reader", (), {"observe": reader.observe, "remainder": reader.remainder})()


def toy(seed=0, *, sharpness=2.0, tokenizer=NESTED, **options):
    given = {"key": KEY, "entropy": entropy(seed), "pad": "none", "finish": "none"}
    model = ToyModel(tokenizer, seed, sharpness)
    return Steganographer(model, **{"disambiguation": "search"} | given | options)


def short(model, disambiguation, seed):
    """Writes short texts with any model."""
    return Steganographer(
        model,
        key=KEY,
        disambiguation=disambiguation,
        security="compact",
        compress="deflate",
        pad="none",
        finish="none",
        entropy=entropy(seed),
    )


def found_by(tokenizer, written, prompt):
    """Whether the tokenizer finds the written tokens."""
    return tokenizer.encode(str(written)) == [*tokenizer.encode(prompt), *written.ids]


@pytest.mark.parametrize("codec", slow_unless(["arithmetic"], [*CODECS, "sparsamp:8"]))
@settings(max_examples=4)
@given(
    message=st.binary(max_size=2),
    prompt=st.sampled_from(["", "c", "ab"]),
    view=st.sampled_from(["whole", "continuation"]),
    security=st.sampled_from(["standard", "compact"]),
    top_k=st.sampled_from([None, 2, 5]),
    sharpness=st.sampled_from([1.0, 4.0]),
    seed=st.integers(0, 999),
)
@example(b"", "ab", "whole", "standard", None, 4.0, 1)  # the text merges with the prompt
def test_what_is_written_is_read(codec, message, prompt, view, security, top_k, sharpness, seed):
    settings_ = {"view": view, "security": security, "top_k": top_k, "compress": "deflate"}
    stego = toy(seed, sharpness=sharpness, codec=codec, prompt=prompt, **settings_)
    try:
        written = stego.embed(message)
    except CapacityError:
        reject()
    assert stego.extract(written) == message


@pytest.mark.parametrize("name", slow_unless(["sp-bpe"], sorted(TRAINED)))
def test_what_is_written_is_read_with_every_tokenizer(name):
    tokenizer = TRAINED[name]()
    model = ToyModel(tokenizer, sharpness=8)
    for seed in range(2):
        stego = short(model, "search:invalid", seed)
        written = stego.embed(b"no")
        assert stego.extract(str(written)) == b"no"


def test_most_texts_of_a_toy_need_a_search_and_no_token_is_dropped():
    others = 0
    for seed in range(6):
        stego = toy(seed, sharpness=3.0, prompt="c", security="compact", compress="deflate")
        written = stego.embed(b"no")
        others += not found_by(NESTED, written, "c")
        assert written.kl_filter == 0
        assert stego.extract(str(written)) == b"no"
    assert others > 3


@pytest.mark.parametrize("seed", slow_unless([0], range(examples(2, thorough=8))))
def test_a_long_message_is_found_check_by_check(seed):
    """Without checks a search of this text takes minutes: it has other tokens at many places."""
    settings_ = {"disambiguation": "search:long", "security": "compact", "compress": "deflate"}
    stego = toy(seed, sharpness=6.0, prompt="c", **settings_)
    message = entropy(seed)(4 * SPACING)
    written = stego.embed(message)
    assert not found_by(NESTED, written, "c")
    assert stego.extract(str(written)) == message


def test_a_batch_reads_and_writes_what_one_text_does():
    model = ticore.load_model("tiny-en")
    stego = Steganographer(
        model, key=KEY, prompt="One day", numerics="portable", disambiguation="search"
    )
    texts = [str(each) for each in stego.embed_batch([b"a", b"b"])]
    assert stego.extract_batch([*texts, "One day it rained."])[:2] == [b"a", b"b"]


def test_a_text_that_was_changed_gives_the_error_of_its_place():
    stego = toy(prompt="c")
    written = str(stego.embed(b"noon"))
    with pytest.raises(ExtractionError):
        stego.extract(written[:9] + "cc" + written[9:])


@pytest.mark.parametrize(("saved", "least", "most"), [(1, 0, 2), (10**9, 3, 5)])
def test_a_text_under_another_key_is_refused_after_so_many_passes(monkeypatch, saved, least, most):
    stego, other = toy(prompt="c", pad="sizes"), toy(prompt="c", key=bytes(32))
    written = stego.embed(b"noon")
    used, use = Counter(), Allowance.use
    monkeypatch.setattr(job, "READER_PASSES", 3)
    monkeypatch.setattr(allowance, "SAVED", saved)
    monkeypatch.setattr(Allowance, "use", lambda self, n: (used.update({self: n}), use(self, n)))
    with pytest.raises(ExtractionError):
        other.extract(written)
    assert least < max(used.values()) / len(written.ids) < most


def test_a_search_tells_how_far_it_came_and_can_be_stopped():
    class StopError(Exception):
        """The reader has seen enough."""

    stego = toy(prompt="c", pad="sizes")
    written = stego.embed(b"noon")
    while found_by(NESTED, written, "c"):
        written = stego.embed(b"noon")
    told = []
    stego.extract(written, progress=lambda done, total: told.append((done, total)))
    assert all(done <= total for done, total in told)
    begun_again = [at for at, (before, after) in enumerate(pairwise(told)) if after < before]
    assert len(begun_again) == 1  # where the search began
    assert len(told) - begun_again[0] > len(written.ids) / 2

    def stopping(done, total):
        told.append((done, total))
        if len(told) == begun_again[0] + 9:
            raise StopError

    told.clear()
    with pytest.raises(StopError):
        stego.extract(written, progress=stopping)


def test_all_other_readings_of_an_altered_text_are_searched_for_so_many_passes(monkeypatch):
    lines = ToyTokenizer([*NESTED.pieces, "\n"])
    stego, other = (toy(prompt="c", tokenizer=lines, key=key) for key in (KEY, bytes(32)))
    wrapped = "\n".join(textwrap.wrap(str(stego.embed(b"noon")), 40))
    used, use = Counter(), Allowance.use
    monkeypatch.setattr(job, "READER_PASSES", 8)
    monkeypatch.setattr(Allowance, "use", lambda self, n: (used.update({self: n}), use(self, n)))
    with pytest.raises(ExtractionError):
        other.extract(wrapped)
    once, searches = used.total(), len(used)
    used.clear()
    with pytest.raises(ExtractionError):
        other.extract_pasted(wrapped)
    assert len(used) > searches
    assert used.total() <= once + _pasted.MOST_STEPS * len(wrapped) + 64


def test_a_writer_who_cannot_search_long_enough_says_so(monkeypatch):
    monkeypatch.setattr(job, "WRITER_PASSES", 0)
    monkeypatch.setattr(_sealed_writing, "MORE_TRIES", 3)
    stego = toy(sharpness=1.0, prompt="c")
    with pytest.raises(CapacityError, match="search"):
        stego.embed(bytes(16))  # three times the tokenizer finds other tokens


def test_a_channel_is_searched_as_well():
    without_d = Channel("no-d", "loses each d", lambda text: text.replace("d", ""), reach=1)
    stego = toy(3, sharpness=3.0, prompt="c", channel=without_d)
    written = str(stego.embed(b"no"))
    assert "d" not in written
    assert stego.extract("d".join(written)) == b"no"


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"key": None, "password": "secret"}, "expected a key"),
        ({"window": 4}, "window"),
        ({"codec": CodecSpec("no-fork", NoFork)}, "fork"),
        ({"mode": "viable"}, "mode"),
    ],
)
def test_settings_that_cannot_be_searched_are_refused(options, said):
    with pytest.raises(SettingsError, match=said):
        toy(**options)


def test_a_text_that_is_no_utf8_is_given_up_and_another_one_written():
    stego = short(
        ToyModel(WithHalfCharacter([*"abcdefghijklmnopqrstuvwx", "½"]), sharpness=1), "search", 0
    )
    lengths = []
    written = stego.embed(b"", follower=lambda text: lengths.append(len(text)))
    begun_again = sum(after < before for before, after in pairwise(lengths))
    assert written.given_up == ("character",) * begun_again != ()
    assert written.kl_filter == 0
    assert stego.extract(str(written)) == b""
