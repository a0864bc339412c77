"""Search: nothing is dropped, and the reader looks for the tokens among all that spell the text.

    text      there           the writer may have chosen  " there"
                                                          " the", "re"
                                                          " t", "here"

Most texts are read as the tokenizer reads them. For the others the reader follows the candidates
that spell the text, the most probable first, until a message is authentic. So a search needs the
model and the key, and is done by `ticore.Steganographer`; here is what it follows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from typing import Literal, Protocol, runtime_checkable

import numpy as np

from ..candidates import Pool
from ..errors import BrokenCharacterError
from ._base import Choices, Disambiguation, PromptContext, Session
from ._fallback import keep_admitted
from ._retokenizing import ReceivedTokens, encoded, retokenized, text_after_prompt
from ._spelling import SpelledSession, SpelledTexts

Drops = Literal["nothing", "invalid"]


@runtime_checkable
class SearchableDisambiguation(Disambiguation, Protocol):
    """A Disambiguation whose reader looks for the writer's tokens."""

    def spellings(self, text: str) -> Spellings:
        """All that can have been written as this text. Raises ExtractionError as `read`."""
        ...


class Search:
    """`read` retokenizes. Where that finds other tokens, `spellings` has those that were written.

    Args:
        context: the prompt.
        drops: which candidates are dropped. `nothing`: none. A text that is not valid UTF-8 cannot
            be sent, so it is given up as soon as that shows. `invalid`: those after which no text
            is valid, for models that often write such texts, and for long messages.
    """

    def __init__(self, context: PromptContext, drops: Drops = "nothing") -> None:
        self._texts = SpelledTexts(context)
        self._session = _AnyToken if drops == "nothing" else _AnyText

    def start(self) -> Session:
        return self._session(self._texts)

    def read(self, text: str) -> ReceivedTokens:
        return retokenized(self._texts.context, text)

    def spellings(self, text: str) -> Spellings:
        return Spellings(self._texts, text, self._session)


class _AnyToken(SpelledSession):
    def refine(self, pool: Pool, outside: Iterator[Pool]) -> Choices:
        return Choices.of(keep_admitted(pool, outside, lambda ids: np.ones(len(ids), dtype=bool)))

    def push(self, token: int) -> None:
        """See `Session`. Raises BrokenCharacterError where no text goes on with these bytes."""
        if not self.admits(np.array([token])).all():
            raise BrokenCharacterError(
                f"no text goes on with token {token}, which breaks a character"
            )
        super().push(token)


class _AnyText(SpelledSession):
    def refine(self, pool: Pool, outside: Iterator[Pool]) -> Choices:
        return Choices.of(keep_admitted(pool, outside, self.admits))


class Spellings:
    """The lists of tokens that spell one text.

    Args:
        texts: which texts.
        text: the one that was received.
        session: makes the session of a text from its bytes.

    Attributes:
        size: bytes of the text after the prompt. Places are offsets in them, from 0 to `size`.

    Raises:
        ExtractionError: the text begins with another prompt, or is not valid Unicode.
    """

    def __init__(
        self, texts: SpelledTexts, text: str, session: Callable[[SpelledTexts, bytes], Session]
    ) -> None:
        self._texts = texts
        self._text = text
        self._session = session
        self._data = text_after_prompt(texts.context, text).encode()
        self.size = len(self._data)

    def session(self, place: int) -> Session:
        """A session that has written the text up to a place."""
        return self._session(self._texts, self._data[:place])

    def following(self, choices: Choices, place: int) -> list[tuple[int, int]]:
        """The choices that the text may go on with from a place: index and end of each."""
        spelling = self._texts.spelling(at_start=place == 0)
        found = spelling.beginning(choices.ids, self._data, place).tolist()
        return [(index, place + len(spelling.tokens[choices.ids[index]])) for index in found]

    @cached_property
    def _found(self) -> list[int]:
        """The tokens that the tokenizer finds in the whole text."""
        return encoded(self._texts.context, self._text)

    @property
    def tokens_per_byte(self) -> float:
        """About how many tokens a byte of the text takes."""
        return len(self._found) / max(1, len(self._text.encode()))

    @cached_property
    def usual(self) -> Mapping[int, int]:
        """By the place where it begins, each token that the tokenizer finds after the prompt.

        Empty if the tokens that it finds do not spell the text.
        """
        vocabulary, places, at = self._texts.vocabulary, {}, 0
        for number, token in enumerate(self._found):
            places[at] = token
            at += len((vocabulary.inside if number else vocabulary.at_start).tokens[token])
        whole = len(self._text.encode())
        before = whole - self.size
        found = {place - before: token for place, token in places.items() if place >= before}
        return found if at == whole else {}
