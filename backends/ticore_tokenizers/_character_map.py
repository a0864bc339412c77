"""The character maps of SentencePiece, as a tokenizer.json holds them.

A map replaces texts of one character or more. It is the length of an index in bytes, the index,
and the replacements. The index is a double-array trie over the bytes of the texts.
"""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Iterator, Set

import numpy as np
import numpy.typing as npt

Units = npt.NDArray[np.int64]

_HEAD = 4  # bytes of the length
_LABEL, _IS_TEXT = 0x800000FF, 0x100
_ROOT = 0


class CharacterMap:
    """Which texts a map replaces.

    Args:
        encoded: the field `precompiled_charsmap`.
    """

    def __init__(self, encoded: str) -> None:
        content = b64decode(encoded)
        length = int.from_bytes(content[:_HEAD], "little")
        self._units: Units = np.frombuffer(content[_HEAD : _HEAD + length], "<u4").astype(np.int64)
        self._results = content[_HEAD + length :]
        self._bytes: Units = np.arange(1, 256)

    def replaced(self, alphabet: Set[str]) -> Iterator[tuple[str, str]]:
        """The texts that consist of characters of an alphabet, and by what they are replaced."""
        for first in sorted(alphabet):
            node: int | None = _ROOT
            for byte in first.encode():
                node = None if node is None else self._child(node, byte)
            if node is not None:
                yield from self._below(node, first.encode(), alphabet)

    def _below(self, node: int, spelled: bytes, alphabet: Set[str]) -> Iterator[tuple[str, str]]:
        waiting = [(node, spelled)]
        while waiting:
            node, spelled = waiting.pop()
            try:
                if set(spelled.decode()) - alphabet:
                    continue
                is_whole = True
            except UnicodeDecodeError:
                is_whole = False
            if is_whole and self._units[node] & _IS_TEXT:
                yield spelled.decode(), self._result(node)
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
