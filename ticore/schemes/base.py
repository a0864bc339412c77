"""What a watermarking scheme is: to a detector, and to whoever writes with it.

A scheme derives random numbers from a key and from the tokens before a token (its *context*), and
prefers tokens with high ones. Who knows the key computes the same numbers again.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from .evidence import Evidence
from .significance import Null

Array = Any
"""An array of any library with the Python array API: NumPy, torch, JAX."""


class Readable(Protocol):
    """A scheme as a detector sees it.

    Attributes:
        context: how many tokens before a token decide about it; a text's first ones have no score.
        null: the distribution of scores without a watermark.
    """

    @property
    def context(self) -> int: ...

    @property
    def null(self) -> Null: ...

    def evidence(self, ids: Sequence[int] | npt.NDArray[np.integer[Any]]) -> Evidence:
        """The scores of a text's tokens, all of those at `context` or later. None is left out.

        What it says of a token depends on this token and the `context` tokens before it alone, so
        that many texts can be read in a row.
        """
        ...


class Scheme(Readable, Protocol):
    """A scheme that can also write.

    Attributes:
        greedy: the likeliest token is to be taken; what chance there is, is in the bias.

    A scheme that is greedy may have an attribute `once`: where it is true, a context is marked the
    first time that it comes in a text, the prompt not included, and its evidence counts it once.
    """

    @property
    def greedy(self) -> bool: ...

    def bias(self, context: Array, logits: Array) -> Array:
        """The logits to sample from, in their own library and on their own device.

        Args:
            context: int[..., context], the last tokens before; a sequence of ints will do.
            logits: float[..., vocab_size], which are not changed.
        """
        ...
