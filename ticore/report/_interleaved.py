"""A text with its special tokens shown in their places, where the text itself has nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from ..consistency import Comparison

TokenName = Callable[[int], str]
"""`f(id)`: the tokenizer's name of an id, such as `<|im_start|>`; empty if it has no name."""


def nameless(token: int) -> str:
    """A `TokenName` for a tokenizer without names."""
    return ""


def interleaved(comparison: Comparison, token_name: TokenName) -> Iterator[tuple[str, bool]]:
    """The pieces of the text and the special tokens between them, in order.

    Yields:
        A piece or a special token's name, which is never empty, and whether it is such a name.
    """
    data, at = comparison.text.encode(), 0
    for position in comparison.specials:
        start, end = comparison.spans[position]  # empty, unless its name is in the text
        if at < start:
            yield data[at:start].decode(), False
        yield shown_name(comparison.ids[position], token_name), True
        at = end
    if at < len(data):
        yield data[at:].decode(), False


def shown_name(token: int, token_name: TokenName) -> str:
    """The name of a special token, or its id if it has no name."""
    return token_name(token) or f"<{token}>"
