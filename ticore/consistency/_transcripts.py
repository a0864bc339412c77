"""What a receiver reads who has the messages of a rollout, and writes them again by a template.

Most templates write white space after the last reply, such as the line end in `<|im_end|>\\n`. The
model stops at its end token, so no rollout has that white space, and the next turn brings it
anyway: where the ids end with the template's last special token, it is no difference.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from .._support.checks import checked_ids
from ..chat import Transcript, rendered_transcripts
from ..errors import PromptError, TicoreError
from ..interfaces import SpecialWritingTokenizer, Tokenizer

Reread = str | Sequence[int] | Transcript
"""What a receiver has of a rollout: a text, ids, or messages with the template that writes them."""


def read_text(tokenizer: Tokenizer, text: str) -> list[int]:
    """The ids of a text in which special tokens stand by their names, where names can be read."""
    if isinstance(tokenizer, SpecialWritingTokenizer):
        return tokenizer.encode_with_specials(text)
    return tokenizer.encode(text)


def read_transcripts(
    tokenizer: Tokenizer, lists: Sequence[Iterable[int]], rereads: Sequence[object]
) -> dict[int, list[int] | PromptError]:
    """The ids of each transcript among `rereads`, by its position there.

    Args:
        tokenizer: the receiver's.
        lists: the ids that were sampled.
        rereads: what the receiver has of each list.

    Returns:
        The ids, or why the template does not write the messages.

    Raises:
        MissingExtraError: there is a transcript, and the package jinja2 is not installed.
    """
    given = {n: one for n, one in enumerate(rereads) if isinstance(one, Transcript)}
    texts = rendered_transcripts([*given.values()])
    return {
        n: text
        if isinstance(text, PromptError)
        else _until(tokenizer, read_text(tokenizer, text), _last(tokenizer, lists[n]))
        for n, text in zip(given, texts, strict=True)
    }


def _last(tokenizer: Tokenizer, ids: Iterable[int]) -> int | None:
    """The last id; None if there is none, or if this is no list of ids."""
    try:
        return next(reversed(checked_ids(ids, tokenizer.vocab_size)), None)
    except TicoreError:
        return None


def _until(tokenizer: Tokenizer, ids: list[int], end: int | None) -> list[int]:
    """The ids without white space after the last special token, if that is `end`."""
    special = tokenizer.special_ids
    if end not in special:
        return ids
    last = next((n for n in range(len(ids) - 1, -1, -1) if ids[n] in special), None)
    if last is None or ids[last] != end:
        return ids
    rest = b"".join(map(tokenizer.token_bytes, ids[last + 1 :]))
    return ids if rest.strip() else ids[: last + 1]
