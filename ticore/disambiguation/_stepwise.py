"""Stepwise verification: drop every candidate that would not survive retokenization.

Both sides drop the same candidates. So the reader finds the writer's tokens, and extraction is
always right. (Yan & Murawaki, section 4.)
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ..candidates import Bools, Ints, Pool
from ..consistency import Method, Verification, Verifier
from ..interfaces import Tokenizer
from ._base import Choices, PromptContext
from ._fallback import keep_admitted
from ._retokenizing import ReceivedTokens, retokenized

# An agreement's digest covers its text, so these names never change.
METHODS_IN_AGREEMENTS: Mapping[str, Method] = {
    "mask": "table",
    "tail": "suffix",
    "oracle": "retokenize",
}


class Stepwise:
    """The reader retokenizes the text. That is exact: a text ends only where it is consistent.

    Args:
        context: where the text begins.
        method: how to verify: `mask`, `tail` or `oracle`, the spellings of agreements for the
            methods `table`, `suffix` and `retokenize` of `ticore.Verifier`; None picks the fastest.
    """

    def __init__(self, context: PromptContext, method: str | None = None) -> None:
        self._context = context
        self._verifier = Verifier(
            context.tokenizer,
            mode=context.mode,
            view=context.view,
            method=None if method is None else METHODS_IN_AGREEMENTS[method],
        )

    def start(self) -> _StepwiseSession:
        verification = self._verifier.start(self._context.prompt_ids)
        return _StepwiseSession(self._context.tokenizer, verification)

    def read(self, text: str) -> ReceivedTokens:
        return retokenized(self._context, text)


class _StepwiseSession:
    def __init__(self, tokenizer: Tokenizer, verification: Verification) -> None:
        self._tokenizer = tokenizer
        self._verification = verification

    def refine(self, pool: Pool, outside: Iterator[Pool]) -> Choices:
        return Choices.of(keep_admitted(pool, outside, self._admits))

    def _admits(self, ids: Ints) -> Bools:
        if 2 * len(ids) < self._tokenizer.vocab_size:
            return self._verification.admits(ids)
        mask: Bools = self._verification.mask()[ids]  # one row, instead of a place in it for each
        return mask

    def push(self, token: int) -> None:
        self._verification.push(token)

    def text(self) -> str:
        return self._tokenizer.decode(self._verification.ids)

    def may_end(self) -> bool:
        return self._verification.consistent
