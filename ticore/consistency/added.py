"""Added tokens: texts that are found before the algorithm looks at anything.

Ordinary tokens that spell one of them together come back as that one token.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Collection, Mapping, Sequence
from functools import cached_property

import numpy as np

from .engine import Ids
from .modes import Mode, beginnings


def obstacle(added: Mapping[str, int], special: Collection[int], mode: Mode) -> str:
    """Why added tokens keep a mode from being decided here; empty if they do not.

    Args:
        added: texts and their ids.
        special: ids that no text may hold.
    """
    for text, token in added.items():
        around = (other for other in added if text != other and text in other)
        if token not in special and (other := next(around, None)):
            return f"the added token {text!r} is part of another one, {other!r}"
        if mode != "prefix" and (not text.isascii() or text.endswith(tuple(beginnings()))):
            return f"the added token {text!r} may be completed by what a text goes on with"
    return ""


class AddedTokens:
    """Finds tokens that would complete the text of an added one.

    Args:
        added: texts and their ids.
        spelled: the bytes of every id.
    """

    def __init__(self, added: Mapping[str, int], spelled: Sequence[bytes]) -> None:
        self._texts = tuple(added)
        self.ids = frozenset(added.values())
        self._rests: dict[str, list[bytes]] = {}
        for text in added:
            for n in range(1, len(text)):
                self._rests.setdefault(text[:n], []).append(text[n:].encode())
        self.longest = max(map(len, added), default=1) - 1
        self._lasts = {beginning[-1] for beginning in self._rests}
        self._spelled = spelled

    def occurs_in(self, text: str) -> bool:
        """Whether the text of an added token is part of `text`."""
        return any(added in text for added in self._texts)

    def begun(self, text: str) -> list[bytes]:
        """What is missing of the added tokens with whose beginnings `text` ends.

        A beginning that is missing something has `longest` characters at most, and ends in the
        last character of one: no more of the text matters.
        """
        if not text or text[-1] not in self._lasts:
            return []
        ends = (text[-n:] for n in range(1, min(self.longest, len(text)) + 1))
        return [rest for end in ends for rest in self._rests.get(end, ())]

    def starting_with(self, data: bytes) -> Ids:
        """All ids whose bytes begin with `data`."""
        start = bisect_left(self._sorted, data, key=self._spelled.__getitem__)
        end = start
        while end < len(self._sorted) and self._spelled[self._sorted[end]].startswith(data):
            end += 1
        return np.array(self._sorted[start:end], dtype=np.int64)

    @cached_property
    def _sorted(self) -> list[int]:
        """All ids in the order of their bytes; seldom needed."""
        return sorted(range(len(self._spelled)), key=self._spelled.__getitem__)
