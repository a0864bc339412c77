"""Normalizers that change whole clusters: what of a text matters to the marks that follow it.

A *cluster* is what a reader sees as one character, such as a letter and its marks. The library
replaces a short cluster as a whole if it begins with one of some texts. In this example "e" and
U+0301 are such a text:

    e, U+0301                       becomes one character
    U+06DD, e, U+0301               stays: U+06DD begins the cluster
    e, U+0301, U+0301, U+0301       stays: the cluster has 6 bytes or more

So what follows may bring back a text that was changed, as long as its last cluster is short; and
nothing before the cluster matters but one character that may begin it.

The library has its own version of Unicode. So it is asked which characters extend a cluster. After
a text that it replaces, such a character changes what it makes of that text.
"""

from __future__ import annotations

from collections.abc import Callable, Collection

from ..._support.caches import cached_method

LONGEST = 5
"""Bytes of a cluster that is replaced as a whole."""


class Clusters:
    """The clusters that one normalizer changes. Thread-safe if `read` is.

    Args:
        replaced: the texts that such clusters begin with.
        read: what the normalizer makes of a text in the middle of a longer one.
    """

    def __init__(self, replaced: Collection[str], read: Callable[[str], str]) -> None:
        self._firsts = frozenset(text[0] for text in replaced)
        self._some = min(replaced)
        self._read = read

    @cached_method(1 << 14)
    def extends(self, character: str) -> bool:
        """Whether a character belongs to the cluster of the character before it."""
        return self._are_joined(self._some, character)

    @cached_method(1 << 14)
    def _begins(self, character: str) -> bool:
        """Whether the character after this one belongs to its cluster."""
        return self._are_joined(character, self._some)

    def _are_joined(self, before: str, after: str) -> bool:
        return self._read(before + after) != self._read(before) + self._read(after)

    def head(self, text: str) -> str:
        """The characters at the beginning of `text` that extend the cluster before it."""
        end = 0
        while end < len(text) and self.extends(text[end]):
            end += 1
        return text[:end]

    def context(self, text: str) -> str:
        """The end of `text`: its last cluster if more marks decide about it, or one character.

        Marks after it are changed if and only if they are changed after `text`. When a text grows,
        the context so far followed by the new text has the same context as the whole.
        """
        start = len(text) - 1
        while start > 0 and self.extends(text[start]):
            start -= 1
        if start < 0 or text[start] not in self._firsts:
            return text[-1:]
        if start > 0 and self._begins(text[start - 1]):
            return text[start - 1 :] if start == len(text) - 1 else text[-1]
        return text[start:] if len(text[start:].encode()) <= LONGEST else text[-1]

    def holds_context(self, text: str) -> bool:
        """Whether the context of any text that ends with `text` is the one of `text`."""
        first = text[0]
        if self.extends(first):
            return False
        return first not in self._firsts or self.context(text) != text
