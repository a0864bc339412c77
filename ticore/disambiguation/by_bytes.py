"""What disambiguations share whose reader walks along the text's bytes.

Where no choice's bytes begin another's, only one can stand in the text next. Such a reader needs no
tokenizer: it matters no more how the text would be retokenised, nor what is put behind it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from codecs import utf_8_decode
from collections.abc import Iterator, Sequence
from functools import cached_property

import numpy as np

from ..candidates import Bools, Ints, Pool
from ..consistency.modes import pending
from ..consistency.recent import Recent
from ..draws import Bits, Draws
from ..interfaces import Tokenizer
from .base import Beginning, Choices
from .keeping import keep_those
from .prefixes import Forest, Strings
from .retokenising import behind_prompt, outside_pool

_LONGEST_UNFINISHED = 3  # bytes; with a fourth, a character is finished


class ByBytes(ABC):
    """Offers choices of which no one's bytes begin another's.

    Args:
        beginning: where the text begins.
        strings: what may not begin another besides. With `decoded` it is the texts that `decode`
            gives single tokens, as the papers' own programs had it: SentencePiece drops a leading
            space there, and then the lone space begins everything.
    """

    def __init__(self, beginning: Beginning, strings: Strings = "bytes") -> None:
        tokenizer = beginning.tokenizer
        self.beginning = beginning
        self._vocabulary = _VOCABULARIES.get(id(tokenizer), lambda: Vocabulary(tokenizer))
        self._decoded = strings == "decoded"
        self._sent = beginning.prompt if beginning.view == "whole" else ""

    @abstractmethod
    def choose(self, pool: Pool, forests: Sequence[Forest], shared: Bits | None) -> Choices:
        """What a step offers.

        Args:
            pool: tokens that the text can go on with.
            forests: what no choice may be above another in; the last one is that of the bytes.
            shared: the step's random numbers, if both sides have them.
        """

    def start(self) -> BytesSession:
        return BytesSession(self, self._sent.encode())

    def read(self, text: str) -> BytesReader:
        return BytesReader(self, behind_prompt(self.beginning, text).encode())

    def spelling(self, step: int) -> Spelling:
        """What tokens write at a step, from 0 on."""
        return self._vocabulary.inside if step or self._sent else self._vocabulary.at_start

    def forests(self, step: int) -> Sequence[Forest]:
        """Of the strings that are compared at a step."""
        forest = self.spelling(step).forest
        return (self._vocabulary.decoded, forest) if self._decoded else (forest,)


class BytesSession:
    """A text that is spelled by its tokens' bytes."""

    def __init__(self, disambiguation: ByBytes, sent: bytes) -> None:
        self._disambiguation = disambiguation
        self._bytes = bytearray(sent)
        self._step = 0
        self._draws: Draws | None = None

    def refine(self, pool: Pool, outside: Iterator[Pool]) -> Choices:
        spelling, unfinished = self._disambiguation.spelling(self._step), self._unfinished()
        kept = keep_those(pool, outside, lambda ids: spelling.admits(ids, unfinished))
        shared = None if self._draws is None else self._draws.at(self._step)
        return self._disambiguation.choose(kept, self._disambiguation.forests(self._step), shared)

    def share(self, draws: Draws) -> None:
        self._draws = draws

    def push(self, token: int) -> None:
        self._bytes += self._disambiguation.spelling(self._step).tokens[token]
        self._step += 1

    def text(self) -> str:
        return self._bytes.decode(errors="replace")

    def may_end(self) -> bool:
        return not self._unfinished()

    def _unfinished(self) -> bytes:
        return pending(bytes(self._bytes[-_LONGEST_UNFINISHED:]))


class BytesReader:
    """Walks along bytes."""

    foreseen = None

    def __init__(self, disambiguation: ByBytes, data: bytes) -> None:
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


class Vocabulary:
    """What the tokens of one tokenizer write; special ones nothing.

    Attributes:
        inside: behind other text.
    """

    def __init__(self, tokenizer: Tokenizer) -> None:
        special = tokenizer.special_ids
        every = range(tokenizer.vocab_size)
        self._tokenizer = tokenizer
        self.inside = Spelling([b"" if i in special else tokenizer.token_bytes(i) for i in every])

    @cached_property
    def at_start(self) -> Spelling:
        """Where nothing stands before it, a token lacks the spaces that `decode` drops there."""
        tokens = list(self.inside.tokens)
        for token, spelled in enumerate(tokens):
            if spelled.startswith(b" "):
                shown = self._tokenizer.decode([token])
                spaces = len(shown) - len(shown.lstrip(" "))
                tokens[token] = b" " * spaces + spelled.lstrip(b" ")
        return Spelling(tokens) if tokens != self.inside.tokens else self.inside

    @cached_property
    def decoded(self) -> Forest:
        """Of the texts of single tokens."""
        decode = self._tokenizer.decode
        return Forest([decode([token]).encode() for token in range(self._tokenizer.vocab_size)])


class Spelling:
    """The bytes that each token writes.

    Attributes:
        tokens: the bytes by token.
        forest: which of them begin which.
    """

    def __init__(self, tokens: Sequence[bytes]) -> None:
        self.tokens = tokens
        self.forest = Forest(tokens)
        self._begin = np.array([bool(spelled) and _is_beginning(spelled) for spelled in tokens])
        self._go_on = np.array([0x80 <= (spelled or b"\0")[0] < 0xC0 for spelled in tokens])

    def admits(self, ids: Ints, unfinished: bytes) -> Bools:
        """Which tokens leave a text valid UTF-8 that ends with the character `unfinished`.

        It may be empty, and the text may end with an unfinished character again: bool[n].
        """
        if not unfinished:
            begin: Bools = self._begin[ids]
            return begin
        fit: Bools = self._go_on[ids]
        fit[fit] = [_is_beginning(unfinished + self.tokens[i]) for i in ids[fit].tolist()]
        return fit


def _is_beginning(data: bytes) -> bool:
    """Whether valid UTF-8 begins with `data`."""
    try:
        _, finished = utf_8_decode(data, "strict", False)
    except UnicodeDecodeError:
        return False
    # Python waits for a third byte to see that the first two begin a surrogate.
    return data[finished:] == pending(data)


# A vocabulary holds its tokenizer, so while it is kept no other one has the same identity.
_VOCABULARIES: Recent[int, Vocabulary] = Recent(4)
