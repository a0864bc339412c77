"""Added tokens: texts that a tokenizer looks for before anything else.

Ordinary tokens that spell such a text together come back as the added token. Example: if "<t>" is
an added token, the tokens "<", "t", ">" come back as "<t>".
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import AnyStr, Generic, NamedTuple

import numpy as np
import regex

from ..._support.caches import cached_method
from ..._support.token_heads import heads_of
from .._arrays import Ids

_HEAD = 2  # bytes
_CODES = 257  # of a byte, or none


class Texts(Generic[AnyStr]):
    """Some texts, which are searched for in other texts all at once. Thread-safe.

    A tokenizer may have thousands of added tokens and hundreds of thousands of ids. To search for
    one after the other in each id would take minutes.
    """

    def __init__(self, texts: Iterable[AnyStr]) -> None:
        self._texts: set[AnyStr] = set(texts)
        lengths: dict[AnyStr, set[int]] = {}
        for text in self._texts:
            lengths.setdefault(text[:2], set()).add(len(text))
        # By the first one or two characters of texts, how long these texts are.
        self._lengths: dict[AnyStr, tuple[int, ...]] = {
            head: tuple(sorted(found)) for head, found in lengths.items()
        }
        firsts = {text[:1] for text in self._texts}
        kinds = [regex.escape(first, special_only=False) for first in sorted(firsts)]
        self._first = None if not kinds else regex.compile(_any_of(kinds), regex.DOTALL)

    def found_in(self, text: AnyStr) -> Iterator[AnyStr]:
        """The texts that are part of `text`, once for each place, from left to right."""
        return (text[start:end] for start, end in self.spans_in(text))

    def spans_in(self, text: AnyStr) -> Iterator[tuple[int, int]]:
        """Where the texts stand in `text`: the start and the end of each, in order of the starts.

        They may overlap.
        """
        if self._first is None:
            return
        for match in self._first.finditer(text):
            at = match.start()
            for head in {text[at : at + 1], text[at : at + 2]}:
                for length in self._lengths.get(head, ()):
                    if (part := text[at : at + length]) in self._texts and len(part) == length:
                        yield at, at + length

    def are_in(self, text: AnyStr) -> bool:
        """Whether any of the texts is part of `text`."""
        return next(self.found_in(text), None) is not None


def _any_of(kinds: list[AnyStr]) -> AnyStr:
    """An expression for any of some characters, or bytes."""
    if isinstance(kinds[0], bytes):
        return b"[" + b"".join(kinds) + b"]"
    return "[" + "".join(kinds) + "]"


class _Rests(NamedTuple):
    """What completes the added tokens with one beginning.

    Attributes:
        each: in order.
        lengths: of these, in bytes.
    """

    each: dict[bytes, None]
    lengths: tuple[int, ...]


class AddedTokens:
    """Finds tokens that would complete the text of an added token. Thread-safe.

    Args:
        added: texts and their ids.
        spelled: the bytes of every id.

    Attributes:
        ids: of the added tokens.
        longest_beginning: characters of the longest beginning that is not a whole token. So no more
            of the end of a text matters.
    """

    def __init__(self, added: Mapping[str, int], spelled: Sequence[bytes]) -> None:
        self._texts = Texts(added)
        self.ids = frozenset(added.values())
        self._in_order = sorted(added)
        # There may be tens of thousands, and few are met.
        self._beginnings = {text[:n] for text in added for n in range(1, len(text))}
        self.longest_beginning = max(map(len, added), default=1) - 1
        self._firsts = {text[:1] for text in added}
        self._lasts = set[str]().union(*(text[:-1] for text in added))
        self._spelled = spelled

    def occurs_in(self, text: str) -> bool:
        """Whether the text of an added token is part of `text`."""
        return self._texts.are_in(text)

    def beginnings_at_end(self, text: str) -> tuple[str, ...]:
        """The beginnings of added tokens with which `text` ends."""
        if not text or text[-1] not in self._lasts:
            return ()
        ends = (text[-n:] for n in range(1, min(self.longest_beginning, len(text)) + 1))
        return tuple(end for end in ends if end in self._beginnings)

    def ends_in_beginning(self, text: str) -> bool:
        """Whether `text` ends with the beginning of an added token."""
        return bool(self.beginnings_at_end(text))

    def begins_with(self, character: str) -> bool:
        """Whether the text of an added token begins with `character`, or is nothing more."""
        return character in self._firsts

    def is_completed(self, text: str, data: bytes) -> bool:
        """Whether `data` completes an added token with whose beginning `text` ends."""
        return any(
            data[:length] in rests.each and length <= len(data)
            for rests in map(self._rests_of, self.beginnings_at_end(text))
            for length in rests.lengths
        )

    def completing(self, text: str, unfinished: bytes = b"") -> Ids:
        """All ids that complete an added token with whose beginning `text` ends.

        Args:
            text: whole characters.
            unfinished: the bytes of a character after them, which the id goes on with.
        """
        return self._completing(self.beginnings_at_end(text), unfinished)

    @cached_method(1 << 12)
    def _rests_of(self, beginning: str) -> _Rests:
        longer, size = self._in_order, len(beginning)
        begin = bisect_right(longer, beginning)
        end = bisect_right(longer, beginning, lo=begin, key=lambda text: text[:size])
        each = dict.fromkeys(text[size:].encode() for text in longer[begin:end])
        return _Rests(each, tuple(sorted(set(map(len, each)))))

    @cached_method(256)
    def _completing(self, beginnings: tuple[str, ...], unfinished: bytes) -> Ids:
        rests = (rest for each in beginnings for rest in self._rests_of(each).each)
        left = [rest[len(unfinished) :] for rest in rests if rest.startswith(unfinished)]
        found = [self.starting_with(rest) for rest in left]
        return np.unique(np.concatenate([np.array([], dtype=np.int64), *found]))

    def starting_with(self, data: bytes) -> Ids:
        """All ids whose bytes begin with `data`."""
        in_order, codes = self._by_head
        low, high = _head_codes(data)
        begin, end = np.searchsorted(codes, (low, high)).tolist()
        found = in_order[begin:end]
        if len(data) <= _HEAD:
            return found
        spelled = self._spelled
        return np.array([t for t in found.tolist() if spelled[t].startswith(data)], dtype=np.int64)

    @cached_property
    def _by_head(self) -> tuple[Ids, Ids]:
        """All ids in the order of their first two bytes, and these two as a number."""
        heads = heads_of(self._spelled)
        codes = (heads.first + 1) * _CODES + heads.second + 1
        in_order = np.argsort(codes, kind="stable")
        return in_order, codes[in_order].astype(np.int64)


def _head_codes(data: bytes) -> tuple[int, int]:
    """The range of `_by_head`'s numbers of texts that begin with the first two bytes of `data`."""
    if not data:
        return 0, _CODES * _CODES
    first = (data[0] + 1) * _CODES
    return (first, first + _CODES) if len(data) == 1 else (first + data[1] + 1, first + data[1] + 2)
