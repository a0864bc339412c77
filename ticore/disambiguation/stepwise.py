"""Stepwise verification: drop every candidate that would not survive retokenisation.

Both sides drop the same ones, so the reader's tokens are the writer's tokens and extraction is
always right. (Yan & Murawaki, section 4.)
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from ..candidates import Pool
from ..consistency import Verifier
from ..errors import CapacityError, ExtractionError, OutsidePoolError


class Stepwise:
    """The reader retokenises; consistency of every prefix makes that exact."""

    def __init__(self, verifier: Verifier, prompt: str, prompt_ids: Sequence[int]) -> None:
        self._verifier = verifier
        self._prompt = prompt
        self._prompt_ids = list(prompt_ids)

    def start(self) -> _StepwiseSession:
        return _StepwiseSession(self._verifier, self._prompt_ids)

    def read(self, text: str) -> _TokenReader:
        ids = self._verifier.tokenizer.encode(text)
        if self._verifier.view == "continuation":
            return _TokenReader(ids)
        if not text.startswith(self._prompt):
            raise ExtractionError(
                f"expected a text that begins with the prompt {_start_of(self._prompt)}, found "
                f"{_start_of(text)}; the prompt differs, or the text's beginning is missing"
            )
        count = len(self._prompt_ids)
        if ids[:count] != self._prompt_ids:
            raise ExtractionError(
                "the text goes on so that the end of the prompt reads as other tokens; "
                "the text was altered or written with other settings"
            )
        return _TokenReader(ids[count:])


class _StepwiseSession:
    def __init__(self, verifier: Verifier, prompt_ids: Sequence[int]) -> None:
        self._tokenizer = verifier.tokenizer
        self._verification = verifier.start(prompt_ids)

    def refine(self, pool: Pool, outside: Iterator[Pool]) -> Pool:
        kept = pool.keep(self._verification.admits(pool.ids))
        if len(kept):
            return kept
        # The paper's fallback: the most probable consistent token from outside the pool.
        for others in outside:
            consistent = others.keep(self._verification.admits(others.ids))
            if len(consistent):
                return consistent.keep(slice(1))
        raise CapacityError(
            "no token of the vocabulary keeps the text consistent here; "
            "try another prompt or more candidates (top_k, temperature)"
        )

    def push(self, token: int) -> None:
        self._verification.push(token)

    def text(self) -> str:
        return self._tokenizer.decode(self._verification.ids)

    def may_end(self) -> bool:
        return self._verification.finished_ok()


class _TokenReader:
    def __init__(self, ids: Sequence[int]) -> None:
        self._ids = ids
        self._at = 0

    @property
    def exhausted(self) -> bool:
        return self._at == len(self._ids)

    def locate(self, pool: Pool) -> int:
        found = np.flatnonzero(pool.ids == self._ids[self._at])
        self._at += 1
        if len(found):
            return int(found[0])
        raise OutsidePoolError(
            f"token {self._at} of the text is none that could have been written there; the "
            f"text was altered or cut, or written with another model, prompt or other settings"
        )


def _start_of(text: str) -> str:
    return repr(text if len(text) <= 40 else text[:40] + "…")
