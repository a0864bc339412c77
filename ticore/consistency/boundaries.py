"""Special tokens: which of them a receiver keeps, and where they cut a list.

Chats hold special tokens, such as `<|im_start|>` or an end of text. They stand for no text, and no
text gives them. A receiver that keeps them reads each *part* between two of them by itself:

    <|im_start|> user \\n Hi <|im_end|>      parts  (), (user \\n Hi), ()

So a list is consistent iff each of its parts is: encode(decode(part)) == part. This is what a
receiver gets who encodes part by part, or whose tokenizer finds the special tokens in a text and
encodes what is between them.

Two details:

- **The dummy prefix.** SentencePiece puts a space before a text and takes it away again. Here every
  part has one, as `encode` gives it. Byte-level BPE (GPT-2, Llama 3, Qwen2.5) has none. Llama 2's
  prompts are `<s>` and then encode(text), so their parts have one, too. A library that puts it at
  the beginning of the whole text alone (`prepend_scheme: first`) reads the parts after a special
  token otherwise; its lists are then found inconsistent at the first token of such a part.
- **Unknown text.** Some tokenizers give a special id, `<unk>`, for text that they do not know. That
  text is lost. So such an id is no boundary, and no list that holds one is consistent.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Literal

from ..interfaces import Tokenizer

Specials = Literal["boundaries", "refused"]
"""What special tokens do in a list: cut it into parts, or make it inconsistent."""


def unknown_ids(tokenizer: Tokenizer) -> frozenset[int]:
    """The ids that stand for unknown text, as far as the tokenizer says."""
    found: frozenset[int] = getattr(tokenizer, "unknown_ids", frozenset())
    return found


def special_name(tokenizer: Tokenizer, token: int) -> str:
    """What the tokenizer calls a special id, such as `<|im_start|>`; empty if it does not say."""
    name: Callable[[int], str] = getattr(tokenizer, "token_name", lambda _: "")
    return name(token)


def is_boundary(tokenizer: Tokenizer, token: int) -> bool:
    """Whether a receiver keeps this special id: it stands for no text, known or not."""
    return not tokenizer.token_bytes(token) and token not in unknown_ids(tokenizer)


def boundary_ids(tokenizer: Tokenizer) -> frozenset[int]:
    """The special ids that cut a list into parts."""
    return frozenset(i for i in tokenizer.special_ids if is_boundary(tokenizer, i))


def parts(ids: Sequence[int], boundaries: Collection[int]) -> Iterator[range]:
    """The positions of each part of a list, empty parts among them: one more than boundaries.

    >>> list(parts([7, 1, 2, 7], {7}))
    [range(0, 0), range(1, 3), range(4, 4)]
    """
    start = 0
    for at, token in enumerate(ids):
        if token in boundaries:
            yield range(start, at)
            start = at + 1
    yield range(start, len(ids))
