"""Parts for which `ignore_merges` puts one token in the place of what merging gives.

If a part is itself a piece, such a tokenizer gives that piece and merges nothing. With the rules
0: a+b, 1: b+c and the piece abc, the list `ab c` is canonical inside the part "abcd". But the part
"abc" is the token abc. So two questions come up with every token:

1. Which ends of the list would be another token as a part of their own? (`find_replaced`)
2. Which next tokens would complete such a part? (`find_completing`)

Both look lists up by their last tokens, in a trie that is read backwards.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Generic, TypeVar

from ..._modes import Mode, beginnings
from ..chain import Chain
from .token_pairs import TokenPairs

V = TypeVar("V")


class ReplacedParts:
    """The replaced lists of one vocabulary.

    Args:
        pairs: the pair test of the vocabulary.
        mode: see `ticore.consistency._modes`.

    Attributes:
        completing_alone: ids that complete a replaced part after no token at all.
    """

    def __init__(self, pairs: TokenPairs, mode: Mode) -> None:
        completing = _completing(pairs, mode)
        self.completing_alone = completing.pop((), frozenset())
        self._completing = _BackwardTrie[frozenset[int]]()
        for tokens, completed in completing.items():
            self._completing.add(tokens, completed)
        self._replaced = _BackwardTrie[bool]()
        for tokens in pairs.replaced:
            self._replaced.add(tokens, True)

    def may_end_with(self, token: int) -> bool:
        """Whether `token` is the last one of a list that is, or may become, a replaced part."""
        return token in self._replaced or token in self._completing

    def find_replaced(self, tokens: Chain) -> Iterator[int]:
        """The lengths, in tokens, of the ends of `tokens` that are replaced as a part."""
        return (count for count, _ in _matching_ends(self._replaced, tokens))

    def find_completing(self, tokens: Chain) -> Iterator[tuple[int, frozenset[int]]]:
        """The ends of `tokens` that one more token makes a replaced part: length, and those ids."""
        return _matching_ends(self._completing, tokens)


class _BackwardTrie(dict[int, "_BackwardTrie[V]"], Generic[V]):
    """Lists of tokens with a value each, looked up from their last tokens on: one node of it."""

    value: V | None = None

    def add(self, tokens: Sequence[int], value: V) -> None:
        """Note the value of a list."""
        node = self
        for token in reversed(tokens):
            node = node.setdefault(token, _BackwardTrie())
        node.value = value


def _matching_ends(node: _BackwardTrie[V], tokens: Chain) -> Iterator[tuple[int, V]]:
    """The lists in a trie that `tokens` end with: their lengths and values."""
    if not node:
        return
    for count, token in enumerate(tokens.backwards(), start=1):
        if (below := node.get(token)) is None:
            return
        node = below
        if node.value is not None:
            yield count, node.value


def _completing(pairs: TokenPairs, mode: Mode) -> dict[tuple[int, ...], frozenset[int]]:
    """For lists of tokens, the ids that complete a replaced part with them.

    In mode `viable` what a text goes on with may complete the part as well, after the id.
    """
    followings: list[tuple[int, ...]] = [()]
    if mode == "viable":
        followings += [pairs.segment(text.encode()) for text in beginnings()]
    found: dict[tuple[int, ...], set[int]] = {}
    for whole in pairs.replaced:
        for following in followings:
            kept = len(whole) - len(following)
            if kept > 0 and whole[kept:] == following:
                found.setdefault(whole[: kept - 1], set()).add(whole[kept - 1])
    return {ids: frozenset(tokens) for ids, tokens in found.items()}
