"""Which tokens keep a text one that its channel leaves alone."""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace

import numpy as np

from .._support.caches import BoundedCache, cached_method
from .._support.utf8 import completed_code_points, is_continuation_byte, unfinished_suffix
from ..candidates import Bools, Ints
from ..interfaces import Tokenizer
from ._base import Channel

# A letter with which no channel has to do, in the place of text that is not looked at.
_LETTER = "q"
_MOST_PLACES = 4096
_FEW = 1024  # tokens that are asked about one by one
_MOST_ROWS = 64
_MOST_COMPLETIONS = 64
_FEW_COMPLETIONS = (
    8  # for each text: whether they may follow depends on what kind of character it is
)


@dataclass(frozen=True, slots=True)
class _Place:
    """The end of a text, as far as it decides what may follow.

    Attributes:
        tail: its last characters; all of them if it is shorter.
        cut: whether there is text before `tail`.
        unfinished: the bytes of an unfinished character.
        begun: whether there is a token at all. Some tokenizers drop the first space of a text.
    """

    tail: str = ""
    cut: bool = False
    unfinished: bytes = b""
    begun: bool = False

    @property
    def text(self) -> str:
        """The end of the text, with a letter for what is before it."""
        return _LETTER + self.tail if self.cut else self.tail


class PassingTexts:
    """The texts that a channel leaves alone, token by token. Thread-safe.

    A token may follow if three things hold, since a channel is local:

    1. The channel leaves the token alone between letters.
    2. It leaves the end of the text alone with the first characters of the token, `Channel.reach`
       of them at most.
    3. If the token ends inside a character, the channel leaves most characters alone that may come
       of it there.

    Args:
        channel: the channel.
        tokenizer: of the tokens.
        keeps_all: whether all tokens may follow, also those that break a character.
    """

    def __init__(self, channel: Channel, tokenizer: Tokenizer, keeps_all: bool = False) -> None:
        self.channel = channel
        self._tokenizer = tokenizer
        self._keeps_all = keeps_all
        self._answers = BoundedCache[_Place, dict[int, bool]](_MOST_PLACES)

    def start(self, sent: str = "") -> PassingText:
        """A text that begins with `sent`, which the channel must leave alone so far."""
        place = _Place()
        return PassingText(self, self._after(place, sent) if sent else place)

    def may_go_on(self, text: str) -> bool:
        """Whether the channel leaves a text alone that goes on after `text`."""
        return any(self.channel.leaves(text + filler) for filler in self.channel.fillers)

    def keeps(self, place: _Place, tokens: Ints) -> Bools:
        """For each token whether it may follow: int64[n] -> bool[n]."""
        if self._keeps_all:
            return np.ones(len(tokens), dtype=bool)
        if len(tokens) > _FEW:
            row: Bools = self._row(place)[tokens]
            return row
        known = self._answers.get(place, dict)
        answers = np.empty(len(tokens), dtype=bool)
        for n, token in enumerate(tokens.tolist()):
            if (answer := known.get(token)) is None:
                answer = known[token] = self._keeps(place, token)
            answers[n] = answer
        return answers

    def after(self, place: _Place, token: int) -> _Place:
        """The place after one more token."""
        text, unfinished = _split(place.unfinished + self._spelled(place, token))
        return replace(self._after(place, text), unfinished=unfinished)

    @cached_method(_MOST_ROWS)
    def _row(self, place: _Place) -> Bools:
        """The answers about all tokens: bool[vocab_size]."""
        if place.begun and not place.unfinished:
            alone, heads, head_of = self._vocabulary()
            follows = np.array([self.may_go_on(place.text + head) for head in heads])
            row: Bools = alone & follows[head_of]
            for token, text, unfinished in self._broken_tokens():
                row[token] &= self._may_complete_after(place.text + text, unfinished)
            return row
        count = self._tokenizer.vocab_size
        return np.fromiter((self._keeps(place, token) for token in range(count)), bool, count)

    @cached_method(1)
    def _vocabulary(self) -> tuple[Bools, list[str], Ints]:
        """Which tokens are left alone, the first characters of all, and which of these each has."""
        tokens = range(self._tokenizer.vocab_size)
        alone = np.array([self._is_left_alone(token) for token in tokens])
        numbers: dict[str, int] = {}
        heads = (_split(self._tokenizer.token_bytes(token))[0] for token in tokens)
        head_of = [numbers.setdefault(head[: self.channel.reach], len(numbers)) for head in heads]
        return alone, list(numbers), np.array(head_of)

    @cached_method(1)
    def _broken_tokens(self) -> list[tuple[int, str, bytes]]:
        """All tokens that end inside a character, with their text and the bytes of that."""
        tokens = range(self._tokenizer.vocab_size)
        split = ((token, *_split(self._tokenizer.token_bytes(token))) for token in tokens)
        return [each for each in split if each[2]]

    def _keeps(self, place: _Place, token: int) -> bool:
        spelled = self._spelled(place, token)
        if place.unfinished:
            # Another byte would break the character.
            if not (spelled and is_continuation_byte(spelled[0])):
                return False
            text, unfinished = _split(place.unfinished + spelled)
            head = text
        else:
            text, unfinished = _split(spelled)
            head = text[: self.channel.reach]
        if not (self._leaves(text, unfinished) and self.may_go_on(place.text + head)):
            return False
        return not unfinished or self._may_complete_after(place.text + text, unfinished)

    def _may_complete_after(self, text: str, unfinished: bytes) -> bool:
        reach = self.channel.reach
        end = text if len(text) <= reach else _LETTER + text[len(text) - reach :]
        return self._may_complete(end, unfinished, _FEW_COMPLETIONS)

    @cached_method(1 << 18)
    def _is_left_alone(self, token: int) -> bool:
        """Whether the channel leaves a token alone between letters."""
        return self._leaves(*_split(self._tokenizer.token_bytes(token)))

    def _leaves(self, text: str, unfinished: bytes) -> bool:
        if not self.may_go_on(_LETTER + text):
            return False
        return not unfinished or self._may_complete(_LETTER, unfinished, _MOST_COMPLETIONS)

    def _after(self, place: _Place, text: str) -> _Place:
        whole, reach = place.tail + text, self.channel.reach
        tail = whole[max(0, len(whole) - reach) :]
        return _Place(tail, place.cut or len(tail) < len(whole), begun=True)

    def _spelled(self, place: _Place, token: int) -> bytes:
        data = self._tokenizer.token_bytes(token)
        if not place.begun and data.startswith(b" "):
            return data if self._tokenizer.decode([token]).startswith(" ") else data[1:]
        return data

    @cached_method(1 << 14)
    def _may_complete(self, before: str, unfinished: bytes, most: int) -> bool:
        """Whether the channel leaves most characters alone that begin with these bytes.

        Args:
            before: the end of the text.
            unfinished: the bytes. An East Asian character, for example, may follow a letter in an
                email, but not a space.
            most: how many characters to try.

        Of many, some are tried. If a quarter is changed, they are those that are likely to come:
        where E2 80 stands by itself, the next byte makes a quotation mark or a dash of it.
        """
        every = completed_code_points(unfinished)
        some = every[:: max(1, len(every) // most)]
        tried = [chr(c) for c in some if c <= sys.maxunicode and not 0xD800 <= c < 0xE000]
        changed = sum(not self.may_go_on(before + character) for character in tried)
        return 4 * changed < len(tried)


class PassingText:
    """One text that grows. Made by `PassingTexts.start`."""

    def __init__(self, texts: PassingTexts, place: _Place) -> None:
        self._texts = texts
        self._place = place

    def keeps(self, tokens: Ints) -> Bools:
        """For each token whether the text may go on with it.

        Args:
            tokens: int64[n], ids.

        Returns:
            bool[n].
        """
        return self._texts.keeps(self._place, tokens)

    def push(self, token: int) -> None:
        """Go on with a token."""
        self._place = self._texts.after(self._place, token)

    def fork(self) -> PassingText:
        """The same text, to go on with in another way."""
        return PassingText(self._texts, self._place)

    def may_end(self) -> bool:
        """Whether the channel leaves the text alone if it ends here."""
        return not self._place.unfinished and self._texts.channel.leaves(self._place.text)


def _split(data: bytes) -> tuple[str, bytes]:
    """The text of some bytes, and those of an unfinished character at its end."""
    unfinished = unfinished_suffix(data)
    return data[: len(data) - len(unfinished)].decode(errors="replace"), unfinished
