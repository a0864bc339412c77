"""The base of disambiguations whose choices are prefix-free.

If no choice's bytes begin another's, only one choice can come next in the text. So the reader
follows the bytes and needs no tokenizer. It does not matter how the text would be retokenized, nor
what is appended to it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence

from ..candidates import Pool
from ._base import Choices, PromptContext
from ._fallback import keep_admitted
from ._prefixes import PrefixForest, Strings
from ._retokenizing import outside_pool, text_after_prompt
from ._spelling import SpelledSession, SpelledTexts, Spelling


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
        self.texts = SpelledTexts(context)
        self._decoded = strings == "decoded"

    @abstractmethod
    def choose(self, pool: Pool, forests: Sequence[PrefixForest]) -> Choices:
        """The choices of a step.

        Args:
            pool: tokens that can come next.
            forests: no choice may begin another in any of them; the last one is of the bytes.
        """

    def start(self) -> PrefixFreeSession:
        return PrefixFreeSession(self)

    def read(self, text: str) -> ReceivedBytes:
        return ReceivedBytes(self.texts, text_after_prompt(self.texts.context, text).encode())

    def forests(self, spelling: Spelling) -> Sequence[PrefixForest]:
        """Of the strings that are compared where tokens write what `spelling` says."""
        forest = spelling.forest
        return (self.texts.vocabulary.decoded, forest) if self._decoded else (forest,)


class PrefixFreeSession(SpelledSession):
    """A Session of a text that is the bytes of its tokens."""

    def __init__(self, disambiguation: PrefixFree) -> None:
        super().__init__(disambiguation.texts)
        self._disambiguation = disambiguation

    def refine(self, pool: Pool, outside: Iterator[Pool]) -> Choices:
        forests = self._disambiguation.forests(self.spelling)
        return self._choose(keep_admitted(pool, outside, self.admits), forests)

    def _choose(self, pool: Pool, forests: Sequence[PrefixForest]) -> Choices:
        return self._disambiguation.choose(pool, forests)


class ReceivedBytes:
    """A ReceivedText that is read byte by byte."""

    known_ids = None

    def __init__(self, texts: SpelledTexts, data: bytes) -> None:
        self._texts = texts
        self._data = data
        self._at = self._step = 0

    @property
    def exhausted(self) -> bool:
        return self._at == len(self._data)

    def locate(self, choices: Choices) -> int:
        spelling = self._texts.spelling(at_start=self._step == 0)
        self._step += 1
        found = spelling.beginning(choices.ids, self._data, self._at)
        if not len(found):
            raise outside_pool(self._step)
        self._at += len(spelling.tokens[choices.ids[found[0]]])
        return int(found[0])
