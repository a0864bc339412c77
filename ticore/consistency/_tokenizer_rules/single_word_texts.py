r"""Where in a text added tokens with the flag single_word occur, and where one may come to occur.

A text is given as bytes, as the tokens of a list spell it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from .._engines.base import Unsupported
from .._modes import AFTER_SPACE, Mode, beginnings
from .added_tokens import Texts
from .word_characters import begins_word, ends_word


class SingleWordTexts:
    """The texts of these tokens. Thread-safe.

    Args:
        texts: theirs.
        lasting: those that count wherever they occur, also inside a word.
        mode: of the lists.

    Attributes:
        longest: how many bytes one has at most.

    Raises:
        Unsupported: what a list goes on with in mode `viable` is one of the texts.
    """

    def __init__(self, texts: Iterable[str], lasting: Iterable[str], mode: Mode) -> None:
        spelled = [text.encode() for text in texts]
        self.longest = max(map(len, spelled))
        self._texts = Texts(spelled)
        self._lasting = frozenset(text.encode() for text in lasting)
        almost = {data: frozenset(_almost(data, mode)) for data in spelled}
        for data in spelled:
            if b"" in almost[data]:
                raise Unsupported(
                    f"its added token {data.decode()!r} (single_word) may be all that a text goes "
                    f"on with"
                )
        self._almost = tuple(frozenset[bytes]().union(*almost.values()))
        # By the beginning of a text: what makes a text of it, and what makes almost one.
        self._rests: dict[bytes, tuple[set[bytes], set[bytes]]] = {}
        for data in spelled:
            for n in range(1, len(data)):
                whole, part = self._rests.setdefault(data[:n], (set(), set()))
                whole.add(data[n:])
                part.update(beginning[n:] for beginning in almost[data] if len(beginning) > n)

    def occur_in(self, text: bytes) -> bool:
        """Whether `text` holds one of the texts."""
        return self._texts.are_in(text)

    def last_stop(self, text: bytes) -> int:
        """Where the last of the texts in `text` ends; 0 if there is none."""
        return max((stop for _, stop in self._texts.spans_in(text)), default=0)

    def occurrences(self, text: bytes, before: int) -> Iterator[bytes]:
        """The texts that the last token of `text` brings, once for each place.

        A text beside which the token itself has a character of a word does not count, unless it is
        lasting: it is not found, whatever stands before the token, and whatever follows.

        Args:
            text: whose last token is its end.
            before: how many bytes stand before this token.
        """
        for start, stop in self._texts.spans_in(text):
            if stop > before:
                data = text[start:stop]
                inside_word = begins_word(text[stop:]) or ends_word(text[before:start])
                if data in self._lasting or not inside_word:
                    yield data

    def is_lasting(self, data: bytes) -> bool:
        return data in self._lasting

    def may_change(self, text: bytes, before: int = 0) -> bool:
        """Whether the last token of `text` brings one of the texts, now or with what follows.

        For the arguments see `occurrences`.
        """
        return text.endswith(self._almost) or any(True for _ in self.occurrences(text, before))

    def begun_in(self, text: bytes) -> tuple[bytes, ...]:
        """The beginnings of texts with which `text` ends, the longest one last."""
        ends = (text[-n:] for n in range(1, min(self.longest, len(text) + 1)))
        return tuple(end for end in ends if end in self._rests)

    def rests(self, begun: Iterable[bytes]) -> Iterator[bytes]:
        """What makes one of the texts of such a beginning."""
        return (rest for one in begun for rest in self._rests[one][0])

    def rests_of_almost(self, begun: Iterable[bytes]) -> Iterator[bytes]:
        """What makes a text of it that ends where what follows completes one of the texts."""
        return (rest for one in begun for rest in self._rests[one][1])

    def may_begin(self, text: bytes) -> bool:
        """Whether one of the texts stands at the beginning of `text`, or of a longer one."""
        data = text[: self.longest]
        return data in self._rests or next(iter(self._texts.spans_in(data)), (1, 0))[0] == 0


def _almost(data: bytes, mode: Mode) -> Iterator[bytes]:
    """The beginnings of a text that what a list goes on with may complete; see `_modes`."""
    if mode == "prefix":
        return
    yield from _inside_last_character(data)
    if mode == "viable":
        for end in map(str.encode, beginnings()):
            if data.endswith(end):
                yield data[: len(data) - len(end)]
        if data.endswith(AFTER_SPACE.encode()):
            yield from _inside_last_character(data[: -len(AFTER_SPACE)])


def _inside_last_character(data: bytes) -> Iterator[bytes]:
    character = data.decode()[-1:].encode()
    return (data[:-n] for n in range(1, len(character)))
