"""The base of disambiguations whose choices are prefix-free.

If no choice's bytes begin another's, only one choice can come next in the text. So the reader
follows the bytes and needs no tokenizer. It does not matter how the text would be retokenized, nor
what is appended to it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from functools import cached_property

import numpy as np

from .._support.caches import BoundedCache
from .._support.utf8 import (
    LONGEST_UNFINISHED,
    is_continuation_byte,
    may_begin_text,
    unfinished_suffix,
)
from ..candidates import Bools, Ints, Pool
from ..interfaces import Tokenizer
from ._base import Choices, PromptContext
from ._fallback import keep_admitted
from ._prefixes import PrefixForest, Strings
from ._retokenizing import outside_pool, text_after_prompt


class PrefixFree(ABC):
    """Offers choices of which none begins another in bytes.

    Args:
        context: the prompt.
        strings: which strings may not begin one another. `bytes`: those that the choices write.
            `decoded`: also the texts that `decode` gives for single tokens, as in the papers' own
            programs. SentencePiece drops a leading space there, so that the lone space begins every
            string.
    """

    def __init__(self, context: PromptContext, strings: Strings = "bytes") -> None:
        tokenizer = context.tokenizer
        self.context = context
        self._vocabulary = _VOCABULARIES.get_once(
            id(tokenizer), lambda: VocabularySpellings(tokenizer)
        )
        self._decoded = strings == "decoded"
        self.sent = context.prompt if context.view == "whole" else ""

    @abstractmethod
    def choose(self, pool: Pool, forests: Sequence[PrefixForest]) -> Choices:
        """The choices of a step.

        Args:
            pool: tokens that can come next.
            forests: no choice may begin another in any of them; the last one is of the bytes.
        """

    def start(self) -> PrefixFreeSession:
        return PrefixFreeSession(self, self.sent.encode())

    def read(self, text: str) -> ReceivedBytes:
        return ReceivedBytes(self, text_after_prompt(self.context, text).encode())

    def spelling(self, step: int) -> Spelling:
        """What tokens write at a step, from 0 on."""
        return self._vocabulary.inside if step or self.sent else self._vocabulary.at_start

    def forests(self, step: int) -> Sequence[PrefixForest]:
        """Of the strings that are compared at a step."""
        forest = self.spelling(step).forest
        return (self._vocabulary.decoded, forest) if self._decoded else (forest,)


class PrefixFreeSession:
    """A Session of a text that is the bytes of its tokens."""

    def __init__(self, disambiguation: PrefixFree, sent: bytes) -> None:
        self._disambiguation = disambiguation
        self._bytes = bytearray(sent)
        self._step = 0

    def refine(self, pool: Pool, outside: Iterator[Pool]) -> Choices:
        spelling, unfinished = self._disambiguation.spelling(self._step), self._unfinished()
        kept = keep_admitted(pool, outside, lambda ids: spelling.admits(ids, unfinished))
        return self._choose(kept, self._disambiguation.forests(self._step))

    def _choose(self, pool: Pool, forests: Sequence[PrefixForest]) -> Choices:
        return self._disambiguation.choose(pool, forests)

    def push(self, token: int) -> None:
        self._bytes += self._disambiguation.spelling(self._step).tokens[token]
        self._step += 1

    def text(self) -> str:
        return self._bytes.decode(errors="replace")

    def may_end(self) -> bool:
        return not self._unfinished()

    def _unfinished(self) -> bytes:
        return unfinished_suffix(bytes(self._bytes[-LONGEST_UNFINISHED:]))


class ReceivedBytes:
    """A ReceivedText that is read byte by byte."""

    known_ids = None

    def __init__(self, disambiguation: PrefixFree, data: bytes) -> None:
        self._disambiguation = disambiguation
        self._data = data
        self._at = self._step = 0

    @property
    def exhausted(self) -> bool:
        return self._at == len(self._data)

    def locate(self, choices: Choices) -> int:
        spelling = self._disambiguation.spelling(self._step)
        self._step += 1
        rest = self._data[self._at : self._at + spelling.forest.longest]
        found = spelling.forest.find(choices.ids, rest)
        if found is None:
            raise outside_pool(self._step)
        self._at += len(spelling.tokens[choices.ids[found]])
        return found


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
