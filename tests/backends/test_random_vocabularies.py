"""Structures are exact for vocabularies that no training would give: ties, detours, dead ends."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from sentencepiece import sentencepiece_model_pb2
from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers

from tests.support.reference_encoder import ReferenceEncoder, comparable
from ticore.backend_kit import byte_alphabet
from ticore.interfaces import Tokenizer as AnyTokenizer
from ticore_sentencepiece import SentencePieceTokenizer
from ticore_tiktoken import TiktokenTokenizer
from ticore_tokenizers import HuggingFaceTokenizer

ModelProto = sentencepiece_model_pb2.ModelProto
Piece, BPE, UNIGRAM = ModelProto.SentencePiece, 2, 1

MARK = "▁".encode()

words = st.text("ab▁", min_size=2, max_size=5)
vocabularies = st.lists(words, unique=True, min_size=1, max_size=12)
texts = st.lists(st.text("ab ", max_size=9) | st.sampled_from(["x", "xx", "é"]), max_size=6).map(
    "".join
)


# Each pair makes another token of two that there are.
rules = st.lists(st.tuples(st.integers(0, 30), st.integers(0, 30)), min_size=1, max_size=15)


def grown(
    letters: str, pairs: list[tuple[int, int]], order: Random
) -> tuple[list[str], list[tuple[str, str]]]:
    """Tokens, and rules in any order, so that some come too early and some are never reached."""
    tokens, merges = [*letters], []
    for left, right in pairs:
        rule = tokens[left % len(tokens)], tokens[right % len(tokens)]
        merges.append(rule)
        tokens.append("".join(rule))
    merges = list(dict.fromkeys(merges))
    order.shuffle(merges)
    return list(dict.fromkeys(tokens)), merges


def check(tokenizer: AnyTokenizer, text: str) -> None:
    structure = tokenizer.structure()
    assert structure is not None
    expected = comparable(tokenizer.encode(text), tokenizer, structure)
    assert ReferenceEncoder(tokenizer, structure).encode(text) == expected


def sentencepiece_model(
    kind: int, scores: dict[str, float], added: set[str], byte_fallback: bool, prefix: bool
) -> SentencePieceTokenizer:
    model = ModelProto()
    model.trainer_spec.model_type = kind
    model.trainer_spec.byte_fallback = byte_fallback
    model.normalizer_spec.add_dummy_prefix = prefix
    model.normalizer_spec.remove_extra_whitespaces = False
    model.pieces.add(piece="<unk>", type=Piece.UNKNOWN)
    for byte in range(256 * byte_fallback):
        model.pieces.add(piece=f"<0x{byte:02X}>", type=Piece.BYTE)
    for piece, score in scores.items():
        type_ = Piece.USER_DEFINED if piece in added else Piece.NORMAL
        model.pieces.add(piece=piece, score=score, type=type_)
    return SentencePieceTokenizer(model.SerializeToString())


@pytest.mark.slow
@given(
    scores=st.dictionaries(words, st.sampled_from([-1.0, -1.5, -2.0, 0.5]), min_size=1),
    added=st.sets(words, max_size=3),
    byte_fallback=st.booleans(),
    prefix=st.booleans(),
    text=texts,
)
def test_structure_of_random_sentencepiece_bpe_encodes_like_the_library(
    scores: dict[str, float], added: set[str], byte_fallback: bool, prefix: bool, text: str
) -> None:
    letters = dict.fromkeys("ab▁", -9.0)
    check(sentencepiece_model(BPE, letters | scores, added, byte_fallback, prefix), text)


PLAIN = {"byte_fallback": False, "prefix": False, "added": frozenset()}
probabilities = st.floats(-20, -0.125, width=32)


@given(
    letters=st.tuples(probabilities, probabilities, probabilities),
    # Without a score of its own, a piece is as probable as its letters, but for rounding.
    words=st.dictionaries(st.text("abx▁", min_size=2, max_size=5), st.none() | probabilities),
    added=st.sets(words, max_size=2),
    byte_fallback=st.booleans(),
    prefix=st.booleans(),
    text=texts,
)
# What a character costs that is no piece: 9 more than the least probable one would be too little.
@example(letters=(-1, -5, -12), words={"xb": -10.5, "b▁": -1}, text="xb ", **PLAIN)
# A tie in float32, and none in float64.
@example(letters=(-1, -3.910905599594116, -1), words={"ab": None}, text="ab", **PLAIN)
def test_structure_of_random_sentencepiece_unigram_encodes_like_the_library(
    letters: tuple[float, float, float],
    words: dict[str, float | None],
    added: set[str],
    byte_fallback: bool,
    prefix: bool,
    text: str,
) -> None:
    scores = dict(zip("ab▁", letters, strict=True))
    summed = {word: sum(scores.get(letter, -15.0) for letter in word) for word in words}
    scores |= {word: summed[word] if own is None else own for word, own in words.items()}
    scores |= dict.fromkeys(added, 0.0)
    tokenizer = sentencepiece_model(UNIGRAM, scores, added, byte_fallback, prefix)
    if added.issuperset(scores):
        assert tokenizer.structure() is None
        return
    check(tokenizer, text)


@pytest.mark.slow
@given(tokens=vocabularies, order=st.randoms(use_true_random=False), text=texts)
def test_structure_of_random_tiktoken_ranks_encodes_like_the_library(
    tokens: list[str], order: Random, text: str
) -> None:
    every = [bytes([byte]) for byte in range(256)] + [token.encode() for token in tokens]
    order.shuffle(every)
    ranks = {token.replace(MARK, b" "): rank for rank, token in enumerate(every)}
    check(TiktokenTokenizer(ranks, "gpt2"), text)


@given(pairs=rules, order=st.randoms(use_true_random=False), whole=st.booleans(), text=texts)
def test_structure_of_random_byte_level_bpe_encodes_like_the_library(
    pairs: list[tuple[int, int]], order: Random, whole: bool, text: str
) -> None:
    names, merges = grown("abĠ", pairs, order)
    names += sorted(byte_alphabet().keys() - {*names})
    vocab = {name: i for i, name in enumerate(names)}
    library = Tokenizer(models.BPE(vocab, merges, ignore_merges=whole))
    library.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split("x", "isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    library.decoder = decoders.ByteLevel()
    check(HuggingFaceTokenizer(library), text)


@given(
    pairs=rules,
    order=st.randoms(use_true_random=False),
    byte_fallback=st.booleans(),
    prefix=st.booleans(),
    text=texts,
)
def test_structure_of_random_space_marking_bpe_encodes_like_the_library(
    pairs: list[tuple[int, int]], order: Random, byte_fallback: bool, prefix: bool, text: str
) -> None:
    names, merges = grown("ab▁", pairs, order)
    names += ["<unk>", *(f"<0x{byte:02X}>" for byte in range(256 * byte_fallback))]
    vocab = {name: i for i, name in enumerate(names)}
    library = Tokenizer(models.BPE(vocab, merges, unk_token="<unk>", byte_fallback=byte_fallback))
    replace = normalizers.Replace(" ", "▁")
    if prefix:
        library.normalizer = normalizers.Sequence([normalizers.Prepend("▁"), replace])
    else:
        library.normalizer = replace
    steps = [decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse()]
    library.decoder = decoders.Sequence([*steps, *[decoders.Strip(" ", 1, 0)] * prefix])
    check(HuggingFaceTokenizer(library), text)
