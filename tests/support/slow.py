"""How much of a test with many parameters or examples a run takes.

The fast run takes a few parameters, the whole run all but those of the thorough one, which runs
each night: `HYPOTHESIS_PROFILE=thorough`.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Sequence
from itertools import product
from typing import Any

import pytest

THOROUGH = os.environ.get("HYPOTHESIS_PROFILE") == "thorough"

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


def some_pairs(
    firsts: Iterable[Any], seconds: Iterable[Any], *, one_in: int
) -> list[tuple[Any, Any]]:
    """Pairs in which each value meets one in `one_in` of the other ones; all in a thorough run."""
    return [
        (first, second)
        for (row, first), (column, second) in product(enumerate(firsts), enumerate(seconds))
        if THOROUGH or (row + column) % one_in == 0
    ]


def pairs_of(few: Collection[Any], pairs: Iterable[tuple[Any, Any]]) -> list[tuple[Any, Any]]:
    """The pairs whose first value is one of `few`."""
    return [pair for pair in pairs if pair[0] in few]


def few_or_many(few: int, many: int) -> Sequence[Any]:
    """How many examples a test takes: `few` in the fast run, else `many`, of which those are some.

    The runs do not share a parameter, since each would take the time of both.
    """
    return [
        pytest.param(few, id="few", marks=pytest.mark.quick),
        pytest.param(many, id="many", marks=pytest.mark.slow),
    ]


def examples(usual: int, *, thorough: int) -> int:
    """How much a test takes of what has no end: examples of Hypothesis, seeds, tokens."""
    return thorough if THOROUGH else usual
