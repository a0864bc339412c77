"""Masks with one bit per token are the masks, for one text and for many."""

import random
from functools import cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.random_bpe import (
    MODES,
    Bpe,
    byte_level,
    character_level,
    cuts_of,
    engine_of,
    few_characters,
    with_text,
)
from tests.support.sample_texts import PASSAGES
from tests.support.threads import THREADS, run_together
from tests.support.tokenizers import TRAINED
from tests.support.toy_models import ToyTokenizer
from ticore.consistency import Verification, Verifier, packed_masks
from ticore.consistency._engines.build import table_engine
from ticore.consistency._engines.retokenizing import Oracle
from ticore.errors import InconsistentStateError, SettingsError, WrongTypeError

TOY = ToyTokenizer(["", "a", "b", "ab", "ba", "aab", "c"])
KINDS = {
    "pretokenized BPE": ("hf-cl100k-nfc", {}),
    "whole parts": ("hf-ignore-merges", {"mode": "open"}),
    "continuation": ("hf-gpt2", {"mode": "viable", "view": "continuation"}),
    "unsplit BPE": ("sp-bpe", {"mode": "open"}),
    "unsplit BPE, normalized": ("sp-bpe-nfkc", {"mode": "viable"}),
    "unigram": ("sp-unigram-nfkc", {"mode": "viable"}),
    "channel": ("hf-gpt2", {"channel": "spaces"}),
}
any_kind = pytest.mark.parametrize("kind", sorted(KINDS))


@cache
def verifier_of(kind):
    name, settings = KINDS[kind]
    return Verifier(TRAINED[name](), **settings)


def texts_of(verifier, count=7, length=12):
    """Admissible lists of the beginnings of texts."""
    draw, found = random.Random(1), [verifier.start()]
    passages = [verifier.tokenizer.encode(text) for text in PASSAGES.values()]
    while len(found) < count:
        ids = draw.choice(passages)
        text = verifier.start()
        for token in ids[: draw.randrange(length)]:
            text.push(token)
        while not text.admissible:
            text.rewind(1)
        found.append(text)
    return found


def bits_of(words, size):
    """bool[..., size], read bit by bit."""
    bits = words[..., :, None] >> np.arange(32, dtype=np.uint32) & 1
    return bits.reshape(*words.shape[:-1], -1)[..., :size].astype(bool)


@any_kind
def test_packed_masks_are_the_answers_about_each_token(kind):
    verifier = verifier_of(kind)
    texts, size = texts_of(verifier), verifier.tokenizer.vocab_size
    packed = packed_masks(texts)
    assert packed.dtype == np.uint32
    assert packed.shape == (len(texts), -(-size // 32))
    assert np.array_equal(bits_of(packed, size), [text.mask() for text in texts])
    assert np.array_equal(bits_of(packed, size), [text.admits(range(size)) for text in texts])
    assert not bits_of(packed, 32 * packed.shape[1])[:, size:].any()
    assert all(map(np.array_equal, packed, [text.packed_mask() for text in texts]))


def check_packed(engine, judge, tokenizer, ids, tokens):
    verification = Verification(engine, judge, cuts_of(tokenizer), ids)
    if not verification.admissible:
        with pytest.raises(InconsistentStateError, match="rewind it"):
            verification.packed_mask()
        return
    size = tokenizer.vocab_size
    packed = verification.packed_mask()
    expected = judge.admits(ids, tokens).tolist()
    assert bits_of(packed, size)[tokens].tolist() == expected
    assert verification.mask()[tokens].tolist() == expected
    padded = packed_masks([None, verification], np.full((2, len(packed) + 2), 7, dtype=np.int32))
    assert (padded[0] == -1).all()
    assert np.array_equal(padded[1].view(np.uint32), [*packed, 0, 0])


@pytest.mark.slow
@pytest.mark.parametrize("mode", MODES)
@given(case=with_text(byte_level() | character_level()), choices=st.lists(st.integers(0, 500)))
def test_packed_mask_equals_the_definition_for_random_tokenizers(mode, case, choices):
    model, text = case
    tokenizer, tokens = model.open(), model.ids_to_compare()
    ids = [i for i in tokenizer.encode(text) if i not in tokenizer.special_ids][:6]
    with few_characters():
        engine, judge = engine_of(tokenizer, mode)
        judge.boundaries = frozenset()
        for length in range(len(ids) + 1):
            check_packed(engine, judge, tokenizer, ids[:length], tokens)
        for choice in choices[:3]:
            check_packed(engine, judge, tokenizer, [*ids, tokens[choice % len(tokens)]], tokens)


@pytest.mark.parametrize("mode", ["prefix", "open"])
@pytest.mark.parametrize("name", ["hf-cl100k-nfc", "hf-ignore-merges", "sp-bpe-added"])
def test_masks_of_many_new_texts_are_those_made_one_by_one(name, mode):
    """With empty caches the rows of many last tokens are made together."""
    oracle = Oracle(TRAINED[name](), mode)
    size = oracle.tokenizer.vocab_size
    together, alone = table_engine(oracle), table_engine(oracle)
    lists = [text.ids for text in texts_of(Verifier(oracle.tokenizer, mode=mode), count=40)]
    packed = packed_masks(Verification(together, oracle, None, ids) for ids in lists)
    expected = [Verification(alone, oracle, None, ids).mask() for ids in lists]
    assert np.array_equal(bits_of(packed, size), expected)


@pytest.mark.parametrize("size", [1, 31, 32, 33, 64, 70])
def test_rows_have_a_word_for_each_32_tokens(size):
    tokenizer = ToyTokenizer(["", *(chr(0x4E00 + n) for n in range(size - 1))])
    text = Verifier(tokenizer).start()
    packed = text.packed_mask()
    assert len(packed) == -(-size // 32)
    assert bits_of(packed, size).tolist() == text.mask().tolist()


def test_rows_and_words_beyond_the_texts():
    text = Verifier(TOY).start([1])
    buffer = np.full((3, 4), 9, dtype=np.uint32)
    assert packed_masks([text, None], buffer) is buffer
    assert buffer[0, 0] == text.packed_mask()[0]
    assert buffer.tolist() == [[buffer[0, 0], 0, 0, 0], [0xFFFFFFFF] * 4, [9] * 4]


def test_rows_of_several_tokenizers_have_the_words_of_the_largest():
    larger = ToyTokenizer(["", *(chr(0x4E00 + n) for n in range(40))])
    texts = [Verifier(TOY).start(), Verifier(larger).start()]
    packed = packed_masks(texts)
    assert packed.shape == (2, 2)
    assert packed[0].tolist() == [*texts[0].packed_mask().tolist(), 0]
    assert packed_masks([]).shape == (0, 0)
    assert packed_masks([None]).shape == (1, 0)


def test_buffers_that_are_views_of_others():
    texts = [Verifier(TOY).start(ids) for ids in ([], [1], [2])]
    expected = packed_masks(texts)
    whole = np.zeros((6, 8), dtype=np.uint32)
    packed_masks(texts, whole[::2, 1::3])
    assert np.array_equal(whole[::2, 1:2], expected)
    assert not whole[1::2].any()
    assert not whole[:, [0, 2, 3, 5, 6]].any()
    packed_masks(texts, transposed := np.zeros((2, 3), dtype=np.int32).T)
    assert np.array_equal(transposed[:, :1].view(np.uint32), expected)


def test_end_ids_are_set_where_the_text_may_end():
    tokenizer = TRAINED["hf-gpt2"]()
    (end, *_) = sorted(tokenizer.special_ids)
    verifier = Verifier(tokenizer, mode="open")
    inside = verifier.start(tokenizer.encode("a \U00012000")[:-1])
    texts = [verifier.start(tokenizer.encode("a b")), inside, None]
    assert [texts[0].consistent, inside.consistent] == [True, False]
    size = tokenizer.vocab_size
    assert not bits_of(packed_masks(texts[:2]), size)[:, end].any()
    packed = packed_masks(texts, end_ids=[end])
    assert bits_of(packed, size)[:, end].tolist() == [True, False, True]
    packed[0, end // 32] ^= np.uint32(1 << end % 32)
    assert np.array_equal(packed, packed_masks(texts))


def test_no_row_is_written_if_one_list_is_inconsistent():
    verifier = Verifier(TOY)
    buffer = np.full((2, 1), 5, dtype=np.uint32)
    with pytest.raises(InconsistentStateError, match="row 1: expected a list that a text may begi"):
        packed_masks([verifier.start(), verifier.start([1, 2])], buffer)
    assert (buffer == 5).all()


READ_ONLY = np.zeros((1, 1), dtype=np.uint32)
READ_ONLY.flags.writeable = False


@pytest.mark.parametrize(
    ("out", "error", "text"),
    [
        (np.zeros((1, 1), dtype=np.int64), SettingsError, "uint32 or int32, found int64"),
        (np.zeros((1, 1), dtype=bool), SettingsError, "uint32 or int32, found bool"),
        (np.zeros((0, 1), dtype=np.int32), SettingsError, r"at least 1 rows of 1 words.*\(0, 1\)"),
        (np.zeros((1, 0), dtype=np.int32), SettingsError, r"at least 1 rows of 1 words.*\(1, 0\)"),
        (np.zeros(1, dtype=np.uint32), SettingsError, r"of shape \(1,\)"),
        (READ_ONLY, SettingsError, "found a read-only one"),
        ([[0]], WrongTypeError, "expected an array of NumPy or a tensor of PyTorch.* found list"),
    ],
)
def test_other_buffers_are_refused(out, error, text):
    with pytest.raises(error, match=text):
        packed_masks([Verifier(TOY).start()], out)


@pytest.mark.parametrize(("ends", "error"), [([7], SettingsError), (["a"], WrongTypeError)])
def test_wrong_end_ids_are_refused(ends, error):
    with pytest.raises(error, match="expected token ids"):
        packed_masks([Verifier(TOY).start()], end_ids=ends)


@pytest.mark.parametrize("kind", ["int32", "uint32"])
def test_tensor_of_pytorch_is_written_in_place(kind):
    torch = pytest.importorskip("torch", reason="torch is not installed")
    texts = [Verifier(TOY).start(ids) for ids in ([], [1])]
    out = torch.zeros((3, 2), dtype=getattr(torch, kind))
    assert packed_masks(texts, out) is out
    assert np.array_equal(out.numpy()[:2, :1].view(np.uint32), packed_masks(texts))
    assert not out.numpy()[2].any()


def test_tensor_on_a_device_is_written_in_one_copy(monkeypatch):
    torch = pytest.importorskip("torch", reason="torch is not installed")
    from ticore.consistency import _packed_masks  # noqa: PLC0415  # to patch it

    monkeypatch.setattr(_packed_masks, "_is_elsewhere", lambda tensor: True)
    texts = [Verifier(TOY).start(ids) for ids in ([], [1])]
    for kind in (torch.int32, torch.uint32):
        out = torch.full((3, 2), 9, dtype=torch.int64).to(kind)
        packed_masks(texts, out)
        assert np.array_equal(out.numpy()[:2, :1].view(np.uint32), packed_masks(texts))
        assert out.numpy()[2].tolist() == [9, 9]


def test_array_of_jax_is_refused_and_made_of_the_result():
    jax = pytest.importorskip("jax", reason="jax is not installed")
    text = Verifier(TOY).start()
    with pytest.raises(WrongTypeError, match="give none, and make an array of the result"):
        packed_masks([text], jax.numpy.zeros((1, 1), dtype="uint32"))
    assert np.array_equal(jax.numpy.asarray(packed_masks([text])), packed_masks([text]))


@any_kind
def test_threads_that_share_a_verifier_get_the_masks_of_one_thread(kind):
    verifier = verifier_of(kind)
    texts = texts_of(verifier, count=5)
    expected = packed_masks(texts)
    copies = [[text.__copy__() for text in texts] for _ in range(THREADS)]
    found = run_together(lambda number: packed_masks(copies[number]))
    assert all(np.array_equal(one, expected) for one in found)


def test_answers_about_a_letter_of_unsure_class_depend_on_the_added_tokens_that_have_begun():
    """Libraries disagree on a long s, so the tokenizer is asked, and the answers are kept."""
    model = Bpe(pattern="gpt2", rules=((b"\xc5", b"\xbf"),), added=("xa\u017f",))
    tokenizer = model.open()
    (long_s,) = tokenizer.encode("\u017f")
    engine, judge = engine_of(tokenizer, "prefix")
    for text, admitted in (("xa", False), ("ya", True), ("xa", False), ("'", True), ("x", True)):
        ids = tokenizer.encode(text)
        verification = Verification(engine, judge, cuts_of(tokenizer), ids)
        assert judge.admits(ids, [long_s]).tolist() == [admitted]
        assert verification.mask()[long_s] == admitted
        assert verification.admits([long_s]).tolist() == [admitted]


def test_what_is_no_list_is_refused():
    text = Verifier(TOY).start()
    for texts, more in (("ab", {}), (text, {}), ([text], {"end_ids": 2})):
        with pytest.raises(WrongTypeError, match=r"expected a list of .*; give \[it\]"):
            packed_masks(texts, **more)
    for row in ([1, 2], Verifier(TOY), 0):
        with pytest.raises(WrongTypeError, match=r"row 1: expected what Verifier\.start gives"):
            packed_masks([text, row])
