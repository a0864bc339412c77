"""The bytes that tokens write, and texts that are the bytes of their tokens."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np

from .._support.caches import BoundedCache
from .._support.utf8 import (
    LONGEST_UNFINISHED,
    is_continuation_byte,
    may_begin_text,
    unfinished_suffix,
)
from ..candidates import Bools, Ints
from ..interfaces import Tokenizer
from ._base import PromptContext
from ._prefixes import PrefixForest


class SpelledTexts:
    """Texts after one prompt that are the bytes of their tokens.

    Args:
        context: the prompt.

    Attributes:
        context: as given.
        sent: what a text begins with.
        vocabulary: the bytes of the tokens.
    """

    def __init__(self, context: PromptContext) -> None:
        tokenizer = context.tokenizer
        self.context = context
        self.sent = context.prompt if context.view == "whole" else ""
        self.vocabulary = _VOCABULARIES.get_once(
            id(tokenizer), lambda: VocabularySpellings(tokenizer)
        )

    def spelling(self, at_start: bool) -> Spelling:
        """What tokens write after the prompt, or after other tokens."""
        inside = not at_start or self.sent
        return self.vocabulary.inside if inside else self.vocabulary.at_start


class SpelledSession:
    """The part of a Session that knows a text's bytes.

    Args:
        texts: which texts.
        written: the bytes of the tokens that the text has already.
    """

    def __init__(self, texts: SpelledTexts, written: bytes = b"") -> None:
        self._texts = texts
        self._bytes = bytearray(texts.sent.encode())
        self._start = len(self._bytes)
        self._bytes += written

    @property
    def spelling(self) -> Spelling:
        """What the next token may write."""
        return self._texts.spelling(at_start=len(self._bytes) == self._start)

    def admits(self, ids: Ints) -> Bools:
        """Which tokens, int64[n], keep the text valid UTF-8: bool[n]."""
        return self.spelling.admits(ids, self._unfinished())

    def push(self, token: int) -> None:
        self._bytes += self.spelling.tokens[token]

    def text(self) -> str:
        return self._bytes.decode(errors="replace")

    def may_end(self) -> bool:
        return not self._unfinished()

    def _unfinished(self) -> bytes:
        return unfinished_suffix(bytes(self._bytes[-LONGEST_UNFINISHED:]))


class VocabularySpellings:
    """The bytes that the tokens of one tokenizer write; special tokens write none.

    Attributes:
        inside: after other text.
    """

    def __init__(self, tokenizer: Tokenizer) -> None:
        special = tokenizer.special_ids
        every = range(tokenizer.vocab_size)
        self._tokenizer = tokenizer
        self.inside = Spelling([b"" if i in special else tokenizer.token_bytes(i) for i in every])

    @cached_property
    def at_start(self) -> Spelling:
        """At the start of a text, where `decode` drops the leading spaces of some tokens."""
        tokens = list(self.inside.tokens)
        for token, spelled in enumerate(tokens):
            if spelled.startswith(b" "):
                shown = self._tokenizer.decode([token])
                spaces = len(shown) - len(shown.lstrip(" "))
                tokens[token] = b" " * spaces + spelled.lstrip(b" ")
        return Spelling(tokens) if tokens != self.inside.tokens else self.inside

    @cached_property
    def decoded(self) -> PrefixForest:
        """Of the texts of single tokens."""
        decode = self._tokenizer.decode
        return PrefixForest(
            [decode([token]).encode() for token in range(self._tokenizer.vocab_size)]
        )


class Spelling:
    """The bytes that each token writes.

    Attributes:
        tokens: the bytes by token.
        forest: which of them begin which.
    """

    def __init__(self, tokens: Sequence[bytes]) -> None:
        self.tokens = tokens
        self.forest = PrefixForest(tokens)
        self._begin = np.array([bool(spelled) and may_begin_text(spelled) for spelled in tokens])
        self._go_on = np.array(
            [bool(spelled) and is_continuation_byte(spelled[0]) for spelled in tokens]
        )

    def beginning(self, ids: Ints, data: bytes, at: int) -> Ints:
        """Indices in `ids` of the tokens that `data` may go on with from offset `at`: int64[n]."""
        return self.forest.beginning(ids, data[at : at + self.forest.longest])

    def admits(self, ids: Ints, unfinished: bytes) -> Bools:
        """Which tokens keep a text valid UTF-8 that ends with `unfinished`: bool[n].

        Args:
            ids: int64[n].
            unfinished: the first bytes of a character; empty if the text ends with a whole one.
                After the token the text may end inside a character again.
        """
        if not unfinished:
            begin: Bools = self._begin[ids]
            return begin
        fit: Bools = self._go_on[ids]
        fit[fit] = [may_begin_text(unfinished + self.tokens[i]) for i in ids[fit].tolist()]
        return fit


# A vocabulary holds its tokenizer, so while it is kept no other one has the same identity.
_VOCABULARIES: BoundedCache[int, VocabularySpellings] = BoundedCache(4)
