"""Special tokens in a list: which of them a receiver keeps, and how they divide the list.

Chats hold special tokens, such as `<|im_start|>` or an end of text. They stand for no text, and no
text gives them. A receiver that keeps them reads each *part* between two of them by itself:

    <|im_start|> user \\n Hi <|im_end|>      parts  (), (user \\n Hi), ()

So a list is consistent if and only if each of its parts is: encode(decode(part)) == part. This
holds for a receiver that encodes part by part, and for one whose tokenizer finds the special tokens
in a text and encodes what is between them.

Two details:

1. **The dummy prefix.** SentencePiece puts a space before a text, and removes it when it decodes.
   `encode` does this for each part. Byte-level BPE (GPT-2, Llama 3, Qwen2.5) has no dummy prefix.
   A prompt of Llama 2 is `<s>` followed by encode(text), so its part has one. A library that puts
   the dummy prefix only before the whole text (`prepend_scheme: first`) reads the later parts
   differently. A list of such a library is found inconsistent at the first token of a later part.
2. **Unknown text.** Some tokenizers give a special id, `<unk>`, for text that they do not know.
   That text is lost. So such an id is not a boundary, and a list that holds one is not consistent.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Literal

from ..interfaces import Tokenizer

Specials = Literal["boundaries", "refused"]
"""What special tokens do in a list: divide it into parts, or make it inconsistent."""


def unknown_ids(tokenizer: Tokenizer) -> frozenset[int]:
    """The ids for unknown text; empty if the tokenizer does not name them."""
    found: frozenset[int] = getattr(tokenizer, "unknown_ids", frozenset())
    return found


def special_name(tokenizer: Tokenizer, token: int) -> str:
    """The name of a special id, such as `<|im_start|>`; empty if the tokenizer gives no names."""
    name: Callable[[int], str] = getattr(tokenizer, "token_name", lambda _: "")
    return name(token)


def is_boundary(tokenizer: Tokenizer, token: int) -> bool:
    """Whether a receiver keeps this special id: it stands for no text, not even unknown text."""
    return not tokenizer.token_bytes(token) and token not in unknown_ids(tokenizer)


def boundary_ids(tokenizer: Tokenizer) -> frozenset[int]:
    """The special ids that divide a list into parts."""
    return frozenset(i for i in tokenizer.special_ids if is_boundary(tokenizer, i))


def parts(ids: Sequence[int], boundaries: Collection[int]) -> Iterator[range]:
    """The positions of each part of a list, empty parts included.

    There is one part more than there are boundaries.

    >>> list(parts([7, 1, 2, 7], {7}))
    [range(0, 0), range(1, 3), range(4, 4)]
    """
    start = 0
    for at, token in enumerate(ids):
        if token in boundaries:
            yield range(start, at)
            start = at + 1
    yield range(start, len(ids))
