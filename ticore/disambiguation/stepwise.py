"""Stepwise verification: drop every candidate that would not survive retokenisation.

Both sides drop the same ones, so the reader's tokens are the writer's tokens and extraction is
always right. (Yan & Murawaki, section 4.)
"""

from __future__ import annotations

from collections.abc import Iterator

from ..candidates import Pool
from ..consistency import Rung, Verification, Verifier
from ..draws import Draws
from ..interfaces import Tokenizer
from .base import Beginning, Choices
from .keeping import keep_those
from .retokenising import TokenReader, retokenised


class Stepwise:
    """The reader retokenises; consistency of every prefix makes that exact.

    Args:
        beginning: where the text begins.
        rung: how to verify, see `ticore.Verifier`; None picks the fastest way.
    """

    def __init__(self, beginning: Beginning, rung: Rung | None = None) -> None:
        self._beginning = beginning
        self._verifier = Verifier(beginning.tokenizer, beginning.mode, beginning.view, rung)

    def start(self) -> _StepwiseSession:
        verification = self._verifier.start(self._beginning.prompt_ids)
        return _StepwiseSession(self._beginning.tokenizer, verification)

    def read(self, text: str) -> TokenReader:
        return retokenised(self._beginning, text)


class _StepwiseSession:
    def __init__(self, tokenizer: Tokenizer, verification: Verification) -> None:
        self._tokenizer = tokenizer
        self._verification = verification

    def refine(self, pool: Pool, outside: Iterator[Pool]) -> Choices:
        return Choices.of(keep_those(pool, outside, self._verification.admits))

    def share(self, draws: Draws) -> None:
        """Nothing is drawn here."""

    def push(self, token: int) -> None:
        self._verification.push(token)

    def text(self) -> str:
        return self._tokenizer.decode(self._verification.ids)

    def may_end(self) -> bool:
        return self._verification.finished_ok()
