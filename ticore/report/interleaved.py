"""A text with the special tokens of its list in their places, where the text itself has nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from ..consistency import Comparison

TokenName = Callable[[int], str]
"""`f(id)`: what a tokenizer calls an id, such as `<|im_start|>`; empty if it has no name."""


def nameless(token: int) -> str:
    """The name of any id where names are not known."""
    return ""


def interleaved(comparison: Comparison, token_name: TokenName) -> Iterator[tuple[str, bool]]:
    """The pieces of the text and the special tokens between them, in order.

    Yields:
        What is to be shown, and whether it is a special token's name. Pieces are not empty.
    """
    data, at = comparison.text.encode(), 0
    for position in comparison.specials:
        start, _ = comparison.spans[position]
        if at < start:
            yield data[at:start].decode(), False
        yield shown_name(comparison.ids[position], token_name), True
        at = start
    if at < len(data):
        yield data[at:].decode(), False


def shown_name(token: int, token_name: TokenName) -> str:
    """The name of a special token, or its id where it has none."""
    return token_name(token) or f"<{token}>"
