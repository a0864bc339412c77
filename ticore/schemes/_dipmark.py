"""DiPmark: the model's own probabilities, moved towards one end of a keyed order of the tokens.

Sources: Wu et al., "A Resilient and Accessible Distribution-Preserving Watermark for Large Language
Models" (2023); with alpha = 1/2 it is the gamma-reweight of Hu et al., "Unbiased Watermark for
Large Language Models" (2023).

A seed puts all tokens in a random order. Lay their probabilities p end to end in that order: token
t covers the interval from a to b = a + p(t), within 0 to 1. Its new probability is

    p'(t) = G(b) - G(a)     with G(x) = max(x - alpha, 0) + max(x - (1 - alpha), 0)

So what lies below alpha has none, what lies above 1 - alpha has twice its own.

Over all orders the mean of p' is p. Take an order and its reverse, which is equally likely: there t
covers 1 - b to 1 - a. For 0 < alpha <= 1/2 and every x

    G(x) - G(1 - x) = 2 x - 1

(below alpha: 0 - (1 - 2x); above 1 - alpha the same by symmetry; between: (x - alpha) -
(1 - x - alpha)). So the two probabilities sum to [G(b) - G(1 - b)] - [G(a) - G(1 - a)] = 2 (b - a),
which is 2 p(t).
"""

from __future__ import annotations

from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from array_api_compat import array_namespace

from .._support.checks import require_integer, require_number
from ._base import Array
from ._evidence import Evidence, Ints
from ._key import key_fingerprint
from ._keyed_numbers import LATEST, keyed_numbers
from ._null_distributions import BinomialNull
from ._probabilities import probabilities
from ._settings import checked_context
from ._windows import SomeIds, context_columns, token_ids


class DiPmark:
    """The alpha-reweighting of DiPmark. Thread-safe.

    Averaged over all keys, a text has exactly the probability that the model gives it: a context
    is marked where it occurs first in a text, and a token after a repeated context is sampled by
    the model's probabilities.

    Args:
        key: 16 to 64 secret bytes, or their hex digits as a str.
        vocab_size: of the tokenizer; at least 2.
        alpha: above 0, at most 0.5. With 0.5 the mark is the strongest.
        context: how many tokens before a token decide its order of the tokens, 1 to 256.

    Attributes:
        name: of the scheme.
        version: of the random numbers.
        key_fingerprint: see `ticore.schemes.key_fingerprint`.
        context, null, greedy, once: see `ticore.schemes.Scheme`.

    Raises:
        SettingsError: alpha, context or vocab_size is out of range.
        CredentialError: the key is too short or too long.
    """

    name: ClassVar[str] = "dipmark"
    greedy = False
    once = True
    version = LATEST

    def __init__(
        self, key: bytes | str, vocab_size: int, *, alpha: float = 0.5, context: int = 5
    ) -> None:
        self.vocab_size = vocab_size = require_integer("vocab_size", vocab_size, 2)
        self.alpha = require_number("alpha", alpha, above=0, most=0.5)
        self.context = checked_context(context)
        self.key_fingerprint = key_fingerprint(key)
        self._numbers = keyed_numbers(LATEST, key, self.name, vocab_size)
        self._red = vocab_size // 2  # ranks below are of the half that is made rarer

    @cached_property
    def null(self) -> BinomialNull:
        """Each list is drawn from once, so tokens are green independently of each other."""
        share = (self.vocab_size - self._red) / self.vocab_size
        return BinomialNull(share, share + (1 - share) * self.alpha)

    def bias(self, context: Array, logits: Array) -> Array:
        """The logits with log(p' / p) added; see `Scheme.bias`. -inf where p' is 0."""
        xp = array_namespace(logits)
        size = min(self.vocab_size, logits.shape[-1])
        before = [
            self._numbers.any_tokens(c) for c in context_columns(context, self.context, logits)
        ]
        ranks = self._numbers.ranks(self._numbers.seed(before), size, logits)
        return xp.concat(
            [reweighted(logits[..., :size], ranks, self.alpha), logits[..., size:]], axis=-1
        )

    def evidence(self, ids: SomeIds) -> Evidence:
        """Scores of 1 for the later half of a token's order, 0 for the other half; see
        `Detectable.evidence`."""
        found = token_ids(ids, self.vocab_size)
        seed, green = self._scored(found)
        seeds = self._numbers.identity(seed)
        return Evidence.after_context(self.context, seeds, seeds, green.astype(np.float64))

    def _scored(self, ids: Ints) -> tuple[Any, npt.NDArray[np.bool_]]:
        row = self._numbers.known_tokens(ids.astype(np.uint32))
        before, tokens = row.contexts_and_tokens(self.context)
        seed = self._numbers.seed(before)
        return seed, ~self._numbers.is_ranked_below(seed, tokens, self._red)


def reweighted(logits: Array, ranks: Array, alpha: float) -> Array:
    """The logits of p': see the module.

    Args:
        logits: float[..., n].
        ranks: int[..., n], different in each row: the order of the tokens.
        alpha: above 0, at most 0.5.
    """
    xp = array_namespace(logits)
    ranks = xp.broadcast_to(ranks, logits.shape)
    order = xp.argsort(ranks, axis=-1)
    places = xp.argsort(order, axis=-1)
    shares = probabilities(logits)
    ends = xp.cumulative_sum(xp.take_along_axis(shares, order, axis=-1), axis=-1)
    ends = xp.take_along_axis(ends, places, axis=-1)
    # (G(b) - G(a)) / p, written so that rounding matters only for a token that alpha or 1 - alpha
    # falls into: all others have a factor of exactly 0, 1 or 2.
    some = xp.where(shares > 0, shares, 1.0)
    factor = xp.clip((ends - alpha) / some, 0.0, 1.0)
    factor = factor + xp.clip((ends - (1 - alpha)) / some, 0.0, 1.0)
    kept = (shares > 0) & (factor > 0)
    return xp.where(kept, logits + xp.log(xp.where(kept, factor, 1.0)), -xp.inf)
