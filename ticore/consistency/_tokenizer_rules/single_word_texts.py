r"""Where in a text added tokens with the flag single_word occur, and where one may come to occur.

A text is given as bytes, as the tokens of a list spell it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from .._modes import AFTER_SPACE, Mode, beginnings
from .._unsupported import Unsupported
from .added_tokens import Texts
from .word_characters import begins_word, ends_word

ADDED = b"\xff"  # no character has this byte


class Place(NamedTuple):
    """Where one of the texts stands.

    Attributes:
        text: it.
        stop: where it ends.
        is_sure: no character of a word stands before it; else one may.
    """

    text: bytes
    stop: int
    is_sure: bool


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

    def occurrences(self, text: bytes, before: int) -> Iterator[Place]:
        """Where the last token of `text` completes one of the texts, from left to right.

        One with a character of a word beside it is not found, and does not count; unless it is
        lasting. Nobody knows what stands beside an added token.

        Args:
            text: the end of a list's text; all of it, or more than `longest` bytes before its last
                token. `ADDED` stands after an added token.
            before: how many bytes stand before the last token.
        """
        plain, known = _unmarked(text), len(_unmarked(text[:before]))
        for start, stop in self._texts.spans_in(plain):
            if stop > known and (data := plain[start:stop]) in self._lasting:
                yield Place(data, stop, True)
        # The others overlap no added token.
        for start, stop in self._texts.spans_in(text):
            if stop > before and (data := text[start:stop]) not in self._lasting:
                after_word = ends_word(text[:start]) if start else False
                if not (after_word or begins_word(text[stop:])):
                    yield Place(data, stop, after_word is False)

    def is_lasting(self, data: bytes) -> bool:
        return data in self._lasting

    def may_change(self, text: bytes, before: int = 0) -> bool:
        """Whether the last token of `text` brings one of the texts, now or with what follows.

        For the arguments see `occurrences`.
        """
        almost = _unmarked(text).endswith(self._almost)
        return almost or any(True for _ in self.occurrences(text, before))

    def begun_in(self, text: bytes) -> tuple[bytes, ...]:
        """The beginnings of texts with which `text` ends, the longest one last."""
        text = _unmarked(text)
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


def _unmarked(text: bytes) -> bytes:
    return text.replace(ADDED, b"")


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
