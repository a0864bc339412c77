"""Of tests with many parameters the fast run takes a few, the whole run all."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

import pytest

# Tokenizers for the fast run: one of each kind that is verified in a way of its own.
FEW_TOKENIZERS = ("hf-cl100k", "hf-gpt2", "sp-bpe", "sp-unigram")


def slow_unless(few: Collection[Any], values: Iterable[Any]) -> list[Any]:
    """The values as parameters of a test, with the marker `slow` on those that are not in `few`.

    A tuple stands for several parameters.
    """
    marks = {True: (), False: (pytest.mark.slow,)}
    return [
        pytest.param(*(v if isinstance(v, tuple) else (v,)), marks=marks[v in few]) for v in values
    ]


def every_other_pair(firsts: Iterable[Any], seconds: Iterable[Any]) -> list[tuple[Any, Any]]:
    """Pairs in which each value meets half of the other ones."""
    some = list(seconds)
    return [
        (first, second)
        for row, first in enumerate(firsts)
        for column, second in enumerate(some)
        if (row + column) % 2 == 0
    ]
