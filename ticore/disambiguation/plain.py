"""No disambiguation: the pool as it is, and a reader that retokenises and may find other tokens.

For experiments: it shows how often texts are misread where nothing is done about it, which is what
Yan & Murawaki start from.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..candidates import Pool
from ..consistency.modes import pending
from ..draws import Draws
from .base import Beginning, Choices
from .keeping import keep_those
from .retokenising import TokenReader, retokenised

_LONGEST_UNFINISHED = 3  # tokens, of a byte each; with a fourth, a character is finished


class Plain:
    """Nothing is dropped, so nothing is certain."""

    def __init__(self, beginning: Beginning) -> None:
        self._beginning = beginning

    def start(self) -> _PlainSession:
        return _PlainSession(self._beginning)

    def read(self, text: str) -> TokenReader:
        return retokenised(self._beginning, text)


class _PlainSession:
    def __init__(self, beginning: Beginning) -> None:
        self._tokenizer = beginning.tokenizer
        self._ids = list(beginning.prompt_ids) if beginning.view == "whole" else []

    def refine(self, pool: Pool, outside: Iterator[Pool]) -> Choices:
        return Choices.of(keep_those(pool, outside, lambda ids: np.ones(len(ids), dtype=bool)))

    def share(self, draws: Draws) -> None:
        """Nothing is drawn here."""

    def push(self, token: int) -> None:
        self._ids.append(token)

    def text(self) -> str:
        return self._tokenizer.decode(self._ids)

    def may_end(self) -> bool:
        last = map(self._tokenizer.token_bytes, self._ids[-_LONGEST_UNFINISHED:])
        return not pending(b"".join(last))
