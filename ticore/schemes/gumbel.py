"""Gumbel: a keyed random number for each token picks one as if by chance.

Aaronson, "Watermarking of Large Language Models" (2022). Over all keys each token comes with the
very probability that the model gives it.
"""

from __future__ import annotations

from functools import cached_property
from typing import ClassVar

import numpy as np
from array_api_compat import array_namespace

from .base import Array
from .evidence import Evidence, draws
from .keyed import BITS, Key, number
from .significance import Exponential
from .tokens import SomeIds, contexts, words_like

_HIGHEST = (1 << BITS) - 1
_NUMBERS = float(1 << BITS)
_BELOW_ONE = 1 - 2.0**-24  # the next number in float32


class Gumbel:
    """The Gumbel scheme: argmax log(u) / p, where u are keyed numbers between 0 and 1.

    Args:
        key: 16 to 64 secret bytes, or their hex digits as a str.
        vocab_size: of the tokenizer.

    Attributes:
        name, context, null: see `ticore.schemes.Readable`.

    Raises:
        KeyFormatError: the key is too short or too long.
    """

    name: ClassVar[str] = "gumbel"
    context: ClassVar[int] = 5
    greedy = True

    def __init__(self, key: bytes | str, vocab_size: int) -> None:
        self.vocab_size = vocab_size
        self._key = Key.derive(key, f"ticore watermark {self.name}")

    @cached_property
    def null(self) -> Exponential:
        """-log(1 - u) of a uniform u."""
        return Exponential()

    def bias(self, context: Array, logits: Array) -> Array:
        """The logits with Gumbel noise -log(-log(u)): the highest is to be taken; see `Scheme`.

        Then log(p) - log(-log(u)) is greatest, which is to say log(u) / p.
        """
        xp = array_namespace(logits)
        size = min(self.vocab_size, logits.shape[-1])
        tokens = words_like(xp.arange(size), logits)
        before = words_like(context, logits)[..., None, :]
        numbers = number(self._key.seed([before[..., at] for at in range(self.context)]), tokens)
        # 1 - u, exact also in float32 where it is small, which is where it matters.
        left = (xp.astype(_HIGHEST - numbers, logits.dtype) + 0.5) / _NUMBERS
        # Where u is next to 0 it would be 1 in float32; no such token is chosen anyway.
        left = xp.clip(left, 0.0, _BELOW_ONE)
        noisy = logits[..., :size] - xp.log(-xp.log1p(-left))
        return xp.concat([noisy, logits[..., size:] - xp.inf], axis=-1)

    def evidence(self, ids: SomeIds) -> Evidence:
        """Scores -log(1 - u); see `Readable`."""
        before, tokens, positions = contexts(ids, self.context, self.vocab_size)
        seeds = self._key.seed([before[..., at] for at in range(self.context)])
        wide = seeds.astype(np.int64)
        left = (_HIGHEST - number(seeds, tokens).astype(np.float64) + 0.5) / _NUMBERS
        return Evidence(positions, wide, draws(wide, tokens.astype(np.int64)), -np.log(left))
