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
from .numbers import LATEST, Version, numbers_of
from .significance import Exponential
from .tokens import SomeIds, columns, token_ids
from .words import BITS

_HIGHEST = (1 << BITS) - 1
_NUMBERS = float(1 << BITS)
_BELOW_ONE = 1 - 2.0**-24  # the next number in float32


class Gumbel:
    """The Gumbel scheme: argmax log(u) / p, where u are keyed numbers between 0 and 1.

    Args:
        key: 16 to 64 secret bytes, or their hex digits as a str.
        vocab_size: of the tokenizer.
        version: 2 is what is written: a context is marked where it comes first in a text, and
            whatever follows it again is sampled plainly. 1 reads what was written before: it marks
            them all, and falls into loops at low temperatures.

    Attributes:
        name, context, null: see `ticore.schemes.Readable`.

    Raises:
        SettingsError: there is no such version.
        KeyFormatError: the key is too short or too long.
    """

    name: ClassVar[str] = "gumbel"
    context: ClassVar[int] = 5
    greedy = True

    def __init__(self, key: bytes | str, vocab_size: int, *, version: Version = LATEST) -> None:
        self.vocab_size = vocab_size
        self.version = version
        self.once = version != 1
        self._numbers = numbers_of(version, key, self.name, vocab_size)

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
        before = [self._numbers.any_tokens(c) for c in columns(context, self.context, logits)]
        tokens = self._numbers.all_tokens(size, logits)
        numbers = self._numbers.number(self._numbers.seed(before), tokens)
        # 1 - u, exact also in float32 where it is small, which is where it matters.
        left = (xp.astype(_HIGHEST - numbers, logits.dtype) + 0.5) / _NUMBERS
        # Where u is next to 0 it would be 1 in float32; no such token is chosen anyway.
        left = xp.clip(left, 0.0, _BELOW_ONE)
        noisy = logits[..., :size] - xp.log(-xp.log1p(-left))
        return xp.concat([noisy, logits[..., size:] - xp.inf], axis=-1)

    def evidence(self, ids: SomeIds) -> Evidence:
        """Scores -log(1 - u); see `Readable`."""
        found = token_ids(ids, self.vocab_size)
        row = self._numbers.known_tokens(found.astype(np.uint32))
        count = max(0, len(found) - self.context)
        seed = self._numbers.seed([row[at : at + count] for at in range(self.context)])
        numbers = self._numbers.number(seed, row[self.context :])
        left = (_HIGHEST - numbers.astype(np.float64) + 0.5) / _NUMBERS
        seeds = self._numbers.identity(seed)
        positions = np.arange(self.context, self.context + count, dtype=np.int64)
        # Where a context comes again nothing was marked, whatever token follows it.
        counted = seeds if self.once else draws(seeds, found[self.context :])
        return Evidence(positions, seeds, counted, -np.log(left))
