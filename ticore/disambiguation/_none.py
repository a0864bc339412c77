"""No disambiguation: all candidates stay, and the reader retokenizes and may find other tokens.

For experiments: it shows how often texts are misread without disambiguation, which is the starting
point of Yan & Murawaki.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from .._support.utf8 import LONGEST_UNFINISHED, unfinished_suffix
from ..candidates import Pool
from ._base import Choices, PromptContext
from ._fallback import keep_admitted
from ._retokenizing import ReceivedTokens, retokenized


class NoDisambiguation:
    """Drops no candidate, so that texts may be misread."""

    def __init__(self, context: PromptContext) -> None:
        self._context = context

    def start(self) -> _UnfilteredSession:
        return _UnfilteredSession(self._context)

    def read(self, text: str) -> ReceivedTokens:
        return retokenized(self._context, text)


class _UnfilteredSession:
    def __init__(self, context: PromptContext) -> None:
        self._tokenizer = context.tokenizer
        self._ids = list(context.prompt_ids) if context.view == "whole" else []

    def refine(self, pool: Pool, outside: Iterator[Pool]) -> Choices:
        return Choices.of(keep_admitted(pool, outside, lambda ids: np.ones(len(ids), dtype=bool)))

    def push(self, token: int) -> None:
        self._ids.append(token)

    def text(self) -> str:
        return self._tokenizer.decode(self._ids)

    def may_end(self) -> bool:
        last = map(self._tokenizer.token_bytes, self._ids[-LONGEST_UNFINISHED:])
        return not unfinished_suffix(b"".join(last))
