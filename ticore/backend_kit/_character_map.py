"""The character maps of SentencePiece: which texts a normalizer replaces, and by what.

A map is the length of an index in bytes, the index, and the replacements, each of which ends with a
zero byte. The index is a double-array trie over the bytes of the texts.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Set

import numpy as np
import numpy.typing as npt

Units = npt.NDArray[np.int64]

_HEAD = 4  # bytes of the length
_LABEL, _IS_TEXT = 0x800000FF, 0x100
_ROOT = 0


class CharacterMap:
    """Which texts a map replaces.

    Args:
        content: the map, as a model file holds it.
    """

    def __init__(self, content: bytes) -> None:
        length = int.from_bytes(content[:_HEAD], "little")
        self._units: Units = np.frombuffer(content[_HEAD : _HEAD + length], "<u4").astype(np.int64)
        self._results = content[_HEAD + length :]
        self._bytes: Units = np.arange(1, 256)

    def replaced(
        self, firsts: Iterable[str] | None, alphabet: Set[str] | None
    ) -> Iterator[tuple[str, str]]:
        """The texts that are replaced, and by what.

        Args:
            firsts: the characters that the texts may begin with; None: any.
            alphabet: the other characters that they may hold; None: any.
        """
        if firsts is None:
            yield from self._below(_ROOT, "", alphabet)
            return
        for first in sorted(firsts):
            node: int | None = _ROOT
            for byte in first.encode():
                node = None if node is None else self._child(node, byte)
            if node is not None:
                yield from self._below(node, first, alphabet)

    def _below(self, node: int, first: str, alphabet: Set[str] | None) -> Iterator[tuple[str, str]]:
        waiting = [(node, first.encode())]
        while waiting:
            node, spelled = waiting.pop()
            try:
                text = spelled.decode()
            except UnicodeDecodeError:
                text = ""
            if alphabet is not None and set(text[1:]) - alphabet:
                continue
            if text and self._units[node] & _IS_TEXT:
                yield text, self._result(node)
            places = self._base(node) ^ self._bytes
            inside = places[places < len(self._units)]
            found = inside[self._units[inside] & _LABEL == self._base(node) ^ inside]
            for place in found.tolist():
                waiting.append((place, spelled + bytes([self._base(node) ^ place])))

    def _result(self, node: int) -> str:
        begin = int(self._units[self._base(node)]) & 0x7FFFFFFF
        return self._results[begin : self._results.index(0, begin)].decode()

    def _child(self, node: int, byte: int) -> int | None:
        place = self._base(node) ^ byte
        if place < len(self._units) and int(self._units[place]) & _LABEL == byte:
            return place
        return None

    def _base(self, node: int) -> int:
        unit = int(self._units[node])
        return node ^ (unit >> 10 << ((unit & 0x200) >> 6))
