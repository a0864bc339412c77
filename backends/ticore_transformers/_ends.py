"""Ends of texts that have a text of their own."""

from __future__ import annotations

from collections.abc import Iterable

from ticore.interfaces import Tokenizer


def spelled_ends(tokenizer: Tokenizer, end_ids: Iterable[int]) -> frozenset[int]:
    """Those of the ids that end a text that have a text, such as a line end.

    They are part of what is returned, and so of what must be consistent. The others, special ids
    and those without a token, may end a text wherever it is consistent.
    """
    return frozenset(
        token
        for token in end_ids
        if token < tokenizer.vocab_size and token not in tokenizer.special_ids
    )
