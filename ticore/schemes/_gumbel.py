"""Gumbel: keyed random numbers take the place of the random choice of a token.

Source: Aaronson, "Watermarking of Large Language Models" (2022). Over all keys, each token occurs
with exactly the probability that the model gives it.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from array_api_compat import array_namespace

from .._support.checks import require_integer
from ._base import Array
from ._evidence import Evidence, Floats, Ints, draw_ids
from ._key import key_fingerprint
from ._keyed_numbers import LATEST, PreparedTokens, Version, keyed_numbers
from ._null_distributions import ExponentialNull
from ._settings import checked_context
from ._windows import SomeIds, context_columns, token_ids
from ._word_arithmetic import BITS

_HIGHEST = (1 << BITS) - 1
_NUMBERS = float(1 << BITS)
_BELOW_ONE = 1 - 2.0**-24  # the greatest number below 1 in float32


class Gumbel:
    """The Gumbel scheme: the token with the highest log(u) / p, for keyed u between 0 and 1.

    Thread-safe.

    Args:
        key: 16 to 64 secret bytes, or their hex digits as a str.
        vocab_size: of the tokenizer, at least 1.
        context: how many tokens before a token decide its random numbers, 1 to 256. With fewer of
            them an edit changes fewer scores, and more contexts are repeated.
        version: 2 is the default: a context is marked where it occurs first in a text, and a token
            after a repeated context is sampled by the model's probabilities. 1 is for texts that
            were written before there was a version 2: it marks every context, and repeats itself at
            low temperatures.

    Attributes:
        name: of the scheme.
        key_fingerprint: see `ticore.schemes.key_fingerprint`.
        context, null, greedy, once: see `ticore.schemes.Scheme`.

    Raises:
        SettingsError: there is no such version, or `vocab_size` or `context` is out of range.
        CredentialError: the key is too short or too long.
    """

    name: ClassVar[str] = "gumbel"
    greedy = True

    def __init__(
        self, key: bytes | str, vocab_size: int, *, context: int = 5, version: Version = LATEST
    ) -> None:
        self.vocab_size = vocab_size = require_integer("vocab_size", vocab_size, 1)
        self.context = checked_context(context)
        self.version = version
        self.once = version != 1
        self.key_fingerprint = key_fingerprint(key)
        self._numbers = keyed_numbers(version, key, self.name, vocab_size)

    @cached_property
    def null(self) -> ExponentialNull:
        """The distribution of -log(1 - u) for a uniform u."""
        return ExponentialNull()

    def bias(self, context: Array, logits: Array) -> Array:
        """The logits with Gumbel noise -log(-log(u)) added; see `Scheme.bias`.

        The highest log(p) - log(-log(u)) belongs to the token with the highest log(u) / p.
        """
        xp = array_namespace(logits)
        size = min(self.vocab_size, logits.shape[-1])
        before = [
            self._numbers.any_tokens(c) for c in context_columns(context, self.context, logits)
        ]
        tokens = self._numbers.all_tokens(size, logits)
        numbers = self._numbers.uniform(self._seed(before), tokens)
        # Half precision has no room for the numbers.
        wide = xp.float32 if xp.finfo(logits.dtype).bits < 32 else logits.dtype
        # This is 1 - u. It matters where it is small, and there it is exact in float32, too.
        left = (xp.astype(_HIGHEST - numbers, wide) + 0.5) / _NUMBERS
        # Where u is next to 0 it would round to 1 in float32. Such a token is never chosen.
        left = xp.clip(left, 0.0, _BELOW_ONE)
        noise = xp.astype(xp.log(-xp.log1p(-left)), logits.dtype)
        return xp.concat([logits[..., :size] - noise, logits[..., size:] - xp.inf], axis=-1)

    def evidence(self, ids: SomeIds) -> Evidence:
        """Scores of -log(1 - u); see `Detectable.evidence`."""
        found = token_ids(ids, self.vocab_size)
        seed, scores = self._scored(found)
        seeds = self._numbers.identity(seed)
        # After a repeated context nothing was marked, whatever token follows.
        counted = seeds if self.once else draw_ids(seeds, found[self.context :])
        return Evidence.after_context(self.context, seeds, counted, scores)

    def _scored(self, ids: Ints) -> tuple[Any, Floats]:
        """The seeds and the scores of a text's tokens from position `context` on.

        float64[n - context]; with the numbers of many keys float64[n - context, keys].
        """
        row = self._numbers.known_tokens(ids.astype(np.uint32))
        before, tokens = row.contexts_and_tokens(self.context)
        seed = self._numbers.seed(before)
        return seed, exponential_scores(self._numbers.uniform(seed, tokens))

    def _seed(self, before: Sequence[PreparedTokens]) -> Any:
        """The seed of the numbers with which a token is written."""
        return self._numbers.seed(before)


def exponential_scores(numbers: Any) -> Floats:
    """-log(1 - u) for numbers from 0 to 2^31 - 1, which stand for u from 0 to 1: float64."""
    left = (_HIGHEST - numbers.astype(np.float64) + 0.5) / _NUMBERS
    scores: Floats = -np.log(left)
    return scores
