"""What every tokenizer keeps."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import ClassVar

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from .._support.utf8 import is_complete
from ..errors import SettingsError
from ..interfaces import ExplainingTokenizer, LossyTokenizer, NamingTokenizer, Tokenizer
from ._same import require_same

# Pieces of text that some tokenizer treats in a way of its own, and ordinary words.
_PIECES = (
    *(" ", "  ", "\n", "\r\n", "\t", "\x00", "\u2581", "\u3000", "\ufffd", "\ufeff"),
    *("'s", "<s>", "don't", "12345", "naïve", "e\u0301", "東京", "あ", "🙂", "</s>"),
    *("The", "the", "quick", "brown", "fox", "jumps", "over", "lazy", "dog.", "def f(x):"),
)

_WORDS = ("a", "The quick brown fox", "x = 1")

texts = st.text() | st.lists(
    st.sampled_from(_PIECES) | st.characters(exclude_categories=["Cs"]), max_size=12
).map("".join)
"""Short texts of all kinds, all of them valid Unicode."""

numbers = st.lists(st.integers(0, 300) | st.integers(0, 2**20), max_size=12)
"""Numbers that `any_ids` turns into ids; low ones reach special ids and single bytes."""

# Long enough that a library uses threads for it.
_LONG = 40_000
_LONG_LIST = 300  # ids


def any_ids(tokenizer: Tokenizer, drawn: Sequence[int]) -> list[int]:
    """Arbitrary ids of a tokenizer. `encode` would give hardly any of these lists."""
    return [number % tokenizer.vocab_size for number in drawn]


def joined_bytes(tokenizer: Tokenizer, ids: Sequence[int]) -> bytes:
    """The bytes of all tokens, one after the other."""
    return b"".join(tokenizer.token_bytes(i) for i in ids)


def _unknown_ids(tokenizer: Tokenizer) -> frozenset[int]:
    return tokenizer.unknown_ids if isinstance(tokenizer, NamingTokenizer) else frozenset()


class TokenizerContract:
    """What every tokenizer keeps. Needs a fixture `tokenizer`.

    Attributes:
        removes_all_leading_spaces: whether `decode` removes all leading spaces; else it may remove
            one, which is then a dummy prefix.
        examples: lists of numbers that are tried first, as ids modulo the vocabulary size.

    A complete test file, for a tokenizer of one token per byte:

        import pytest

        from ticore.errors import SettingsError
        from ticore.testing import TokenizerContract


        class Bytes:
            vocab_size, special_ids = 257, frozenset({256})

            def encode(self, text):
                try:
                    return list(text.encode())
                except UnicodeEncodeError as error:
                    raise SettingsError("expected valid Unicode, found a lone surrogate") from error

            def encode_batch(self, texts):
                return [self.encode(text) for text in texts]

            def decode(self, ids):
                return b"".join(map(self.token_bytes, ids)).decode(errors="replace")

            def token_bytes(self, token):
                return bytes([token]) if token < 256 else b""

            def structure(self):
                return None

            def digest(self):
                return "one token per byte"


        class TestBytes(TokenizerContract):
            @pytest.fixture
            def tokenizer(self):
                return Bytes()
    """

    removes_all_leading_spaces: ClassVar[bool] = False
    examples: ClassVar[Sequence[Sequence[int]]] = ()

    def test_tokenizer_has_the_interface(self, tokenizer: Tokenizer) -> None:
        assert isinstance(tokenizer, Tokenizer)
        assert tokenizer.vocab_size > 0
        assert tokenizer.digest() == tokenizer.digest() != ""

    def test_special_ids_are_ids_and_include_those_without_bytes(
        self, tokenizer: Tokenizer
    ) -> None:
        every = range(tokenizer.vocab_size)
        assert tokenizer.special_ids <= set(every)
        assert {i for i in every if not tokenizer.token_bytes(i)} <= tokenizer.special_ids

    def test_decode_writes_the_bytes_of_the_tokens(self, tokenizer: Tokenizer) -> None:
        """Malformed UTF-8 becomes U+FFFD."""

        self._try(tokenizer, lambda ids: self._check_decode(tokenizer, ids))

    def test_decode_writes_the_bytes_of_all_tokens_in_long_lists(
        self, tokenizer: Tokenizer
    ) -> None:
        """Of all tokens that are whole characters."""
        whole = [i for i in range(tokenizer.vocab_size) if is_complete(tokenizer.token_bytes(i))]
        for start in range(0, len(whole), _LONG_LIST):
            self._check_decode(tokenizer, whole[start : start + _LONG_LIST])

    def _check_decode(self, tokenizer: Tokenizer, ids: Sequence[int]) -> None:
        joined, text = joined_bytes(tokenizer, ids), tokenizer.decode(ids)
        if not is_complete(joined):
            assert "\ufffd" in text, ids
        elif self.removes_all_leading_spaces:
            assert text.encode().lstrip(b" ") == joined.lstrip(b" "), ids
        else:
            assert text.encode() in (joined, joined.removeprefix(b" ")), ids

    def test_decode_is_the_same_without_ids_that_have_no_bytes(self, tokenizer: Tokenizer) -> None:
        def check(ids: Sequence[int]) -> None:
            spoken = [i for i in ids if tokenizer.token_bytes(i)]
            assert tokenizer.decode(ids) == tokenizer.decode(spoken), ids

        self._try(tokenizer, check)

    def test_encode_gives_ids_and_never_one_without_bytes_for_plain_words(
        self, tokenizer: Tokenizer
    ) -> None:
        unknown = _unknown_ids(tokenizer)
        for word in _WORDS:
            ids = tokenizer.encode(word)
            assert set(ids) <= set(range(tokenizer.vocab_size)), word
            assert all(type(token) is int for token in ids), word
            assert all(tokenizer.token_bytes(i) for i in ids if i not in unknown), word
        assert tokenizer.encode("") == []

    def test_encode_gives_tokens_that_spell_plain_words(self, tokenizer: Tokenizer) -> None:
        """But for upper case, and spaces at the ends.

        A tokenizer that has `losses` passes; so does one with `unknown_ids` that gives one of them.
        """
        if isinstance(tokenizer, LossyTokenizer) and tokenizer.losses:
            return
        for word in _WORDS:
            ids = tokenizer.encode(word)
            if _unknown_ids(tokenizer).isdisjoint(ids):
                spelled = joined_bytes(tokenizer, ids)
                assert spelled.strip(b" ").lower() == word.lower().encode(), word

    def test_encode_gives_the_same_ids_again(self, tokenizer: Tokenizer) -> None:
        """A tokenizer that encodes at random (dropout, sampling) cannot be verified."""

        @settings(deadline=None)
        @given(text=texts)
        def check(text: str) -> None:
            assert tokenizer.encode(text) == tokenizer.encode(text)

        check()

    def test_encode_batch_is_encode_for_each_text(self, tokenizer: Tokenizer) -> None:
        @settings(deadline=None)
        @given(batch=st.lists(texts, max_size=5))
        def check(batch: list[str]) -> None:
            each = [tokenizer.encode(text) for text in batch]
            require_same(tokenizer.encode_batch(batch), each, "the lists of ids")

        check()
        long = ["a word " * (_LONG // 7), "or more " * (_LONG // 8)]
        for found, text in zip(tokenizer.encode_batch(long), long, strict=True):
            require_same(found, tokenizer.encode(text), "ids")

    @pytest.mark.parametrize("text", ["\ud800", "a\udfffb"])
    def test_encode_refuses_a_lone_surrogate(self, tokenizer: Tokenizer, text: str) -> None:
        with pytest.raises(SettingsError, match="lone surrogate"):
            tokenizer.encode(text)
        for batch in (["fine", text], ["fine" * (_LONG // 4), text]):
            with pytest.raises(SettingsError, match="lone surrogate"):
                tokenizer.encode_batch(batch)

    def test_structure_agrees_with_the_bytes_of_the_tokens(self, tokenizer: Tokenizer) -> None:
        """A tokenizer without a structure passes: it says nothing that could be wrong."""
        structure, size = tokenizer.structure(), tokenizer.vocab_size
        assert structure is tokenizer.structure()
        if structure is None:
            return
        spelled = [tokenizer.token_bytes(i) for i in range(size)]
        pieces = set(np.flatnonzero(structure.pieces).tolist())
        added = structure.added_tokens

        assert structure.pieces.shape == (size,)
        assert len({spelled[i] for i in pieces}) == len(pieces), "two pieces have the same bytes"
        assert pieces.isdisjoint({*tokenizer.special_ids, *added.values(), *structure.byte_ids})
        assert len(structure.byte_ids) in (0, 256)
        assert tokenizer.special_ids.isdisjoint(structure.byte_ids)
        assert all(i < 0 or spelled[i] == bytes([b]) for b, i in enumerate(structure.byte_ids))
        for text, token in added.items():
            assert token in tokenizer.special_ids or spelled[token] == text.encode(), text
        if structure.atoms == "bytes":
            assert {bytes([byte]) for byte in range(256)} <= {spelled[i] for i in pieces}

        tables = [structure.merges, structure.ranks, structure.scores]
        assert sum(table is not None for table in tables) == 1, "one table must be given"
        if structure.merges is not None:
            assert structure.merges.dtype == np.int32
            assert pieces | set(added.values()) >= set(structure.merges.ravel().tolist())
            for a, b, c in structure.merges.tolist():
                assert spelled[a] + spelled[b] == spelled[c], (a, b, c)
        for table, dtype in (
            (structure.ranks, np.int32),
            (structure.scores, np.dtype(structure.score_sums)),
        ):
            if table is not None:
                assert table.shape == (size,)
                assert table.dtype == dtype

    def test_no_structure_has_a_reason(self, tokenizer: Tokenizer) -> None:
        """A tokenizer without the property passes: it is optional."""
        if isinstance(tokenizer, ExplainingTokenizer):
            reason = tokenizer.no_structure_reason
            assert bool(reason) == (tokenizer.structure() is None), reason

    def test_encode_and_decode_give_the_same_from_several_threads(
        self, tokenizer: Tokenizer
    ) -> None:
        tried = [" ".join(_PIECES[at:] + _PIECES[:at]) * 5 for at in range(len(_PIECES))]
        expected = [tokenizer.encode(text) for text in tried]

        def both(text: str) -> tuple[list[int], str]:
            ids = tokenizer.encode(text)
            return ids, tokenizer.decode(ids)

        with ThreadPoolExecutor(4) as pool:
            found = list(pool.map(both, tried * 4))
        again = [(ids, tokenizer.decode(ids)) for ids in expected]
        assert found == again * 4

    def test_a_copy_encodes_alike(self, tokenizer: Tokenizer) -> None:
        """Worker processes get a pickled copy."""
        text = "The quick brown fox, 12 naïve 東京!\n"
        for copied in (pickle.loads(pickle.dumps(tokenizer)), copy.deepcopy(tokenizer)):
            assert copied.encode(text) == tokenizer.encode(text)
            assert copied.digest() == tokenizer.digest()

    def _try(self, tokenizer: Tokenizer, check: object) -> None:
        """Check the examples, then random lists of ids."""
        assert callable(check)
        for example in self.examples:
            check(any_ids(tokenizer, example))

        @settings(deadline=None)
        @given(drawn=numbers)
        def check_random(drawn: list[int]) -> None:
            check(any_ids(tokenizer, drawn))

        check_random()
