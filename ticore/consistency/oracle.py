"""The definition, computed as it is written: turn the list into text, read it back, compare.

This is Algorithm 1 of Yan & Murawaki. It is slow and it is right; every faster way is tested
against it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import numpy.typing as npt

from ..interfaces import Tokenizer

# Candidates are retokenised this many at a time: enough to occupy the library, little to hold.
_BATCH = 1024


def is_consistent(tokenizer: Tokenizer, ids: Sequence[int]) -> bool:
    """encode(decode(ids)) == ids."""
    return tokenizer.encode(tokenizer.decode(ids)) == list(ids)


def admits(
    tokenizer: Tokenizer, history: Sequence[int], candidates: Iterable[int]
) -> npt.NDArray[np.bool_]:
    """For each candidate, whether `history` followed by it is consistent: bool[n]."""
    lists = [[*history, int(token)] for token in candidates]
    answers = np.zeros(len(lists), dtype=bool)
    for start in range(0, len(lists), _BATCH):
        batch = lists[start : start + _BATCH]
        again = tokenizer.encode_batch([tokenizer.decode(ids) for ids in batch])
        answers[start : start + len(batch)] = [a == b for a, b in zip(again, batch, strict=True)]
    return answers
