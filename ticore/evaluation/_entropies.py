"""How much choice a writer had: the entropy of a model's next token, by the length of a text.

A watermark needs choice. Where the next token is certain it can do nothing, so a text of low
entropy has to be longer until its mark is found.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence

import numpy as np

from ..errors import SettingsError
from ..interfaces import LanguageModel, Tokenizer
from ._metrics import entropy, softmax

EDGES = (0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0)
"""Bits per token. A bucket goes from one to the next, which is not in it; the last has no end."""

Bucket = tuple[float, float | None]
"""From, and to below, in bits per token; None: without an end."""


class EntropyMeter:
    """Measures texts with a model.

    Args:
        model: the one that wrote the marked texts, or a similar one.
        tokenizer: the detector's.

    Raises:
        SettingsError: the model has another tokenizer.
    """

    def __init__(self, model: LanguageModel, tokenizer: Tokenizer) -> None:
        if model.tokenizer.digest() != tokenizer.digest():
            raise SettingsError(
                "model: expected one with the tokenizer of the detector, found another tokenizer; "
                "give the tokenizer of the model"
            )
        self._model = model

    def buckets(self, ids: Sequence[int], lengths: Sequence[int]) -> list[Bucket]:
        """The bucket of the first tokens of a text, for each length.

        It is that of the mean entropy of the model's distribution before each of them. Tokens
        beyond what the model can read are left out of the mean.

        Args:
            ids: of the text, at least as many as the greatest length.
            lengths: each at least 1.
        """
        if not lengths:
            return []
        read = ids[: min(max(lengths), self._model.context_length + 1)]
        rows = self._model.score(read)  # one by one: a float64 copy of all would be large
        bits = np.cumsum([entropy(softmax(np.asarray(row, np.float64))) for row in rows])
        counts = [min(length, len(read)) for length in lengths]
        return [bucket_of(float(bits[count - 1]) / count) for count in counts]


def bucket_of(bits: float) -> Bucket:
    """The bucket of an entropy.

    >>> bucket_of(2.0), bucket_of(7.5)
    ((2.0, 3.0), (6.0, None))
    """
    at = bisect_right(EDGES, max(bits, 0.0))
    return EDGES[at - 1], EDGES[at] if at < len(EDGES) else None


def bits_said(bucket: Bucket) -> str:
    """A bucket for a person.

    >>> bits_said((2.0, 3.0)), bits_said((6.0, None))
    ('2 to 3 bits per token', '6 bits per token or more')
    """
    low, high = bucket
    if high is None:
        return f"{low:g} bits per token or more"
    return f"{low:g} to {high:g} bits per token"
