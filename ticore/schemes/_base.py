"""What a watermarking scheme is, for a detector and for a writer.

A scheme derives random numbers from a key and from the tokens before a token (its *context*), and
prefers tokens with high numbers. With the key, the same numbers can be computed again.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from ._evidence import Evidence
from ._null_distributions import NullDistribution

Array = Any
"""An array of any library with the Python array API: NumPy, torch, JAX."""


class Detectable(Protocol):
    """A scheme as a detector sees it.

    Attributes:
        context: how many tokens before a token are its context. The first `context` tokens of a
            text have no score.
        null: the distribution of the scores of text without a watermark.

    It may also have the attributes `name`, `version` and `key_fingerprint`, which a detector shows
    beside its verdicts.
    """

    @property
    def context(self) -> int: ...

    @property
    def null(self) -> NullDistribution: ...

    def evidence(self, ids: Sequence[int] | npt.NDArray[np.integer[Any]]) -> Evidence:
        """The scores of a text's tokens: of all tokens at position `context` or later.

        The score of a token may depend on this token and the `context` tokens before it alone,
        since a detector joins many texts and scores them in one call.

        Args:
            ids: int[n], the tokens of the text.

        Raises:
            SettingsError: there is an id that the scheme does not know.
        """
        ...


class Scheme(Detectable, Protocol):
    """A scheme that can also write.

    Attributes:
        greedy: whether the token with the highest logit after `bias` is to be taken, since the
            bias already contains the random choice. Otherwise the token is sampled.

    A scheme may have an attribute `once`. If it is True, a context is marked only where it
    occurs first in a text, the prompt not included, and `evidence` counts it once.
    """

    @property
    def greedy(self) -> bool: ...

    def bias(self, context: Array, logits: Array) -> Array:
        """The logits to sample from, in their own library and on their own device.

        Args:
            context: int[..., context], the last tokens of the text so far; or a sequence of ints.
            logits: float[..., n], where n is `vocab_size` or more. They are not changed.

        Returns:
            An array of the shape of `logits`.
        """
        ...
