"""TextSeal's watermarks by Gumbel noise: `WatermarkConfig`, types "gumbelmax" and "textseal".

A hash of the context, a token and a secret key gives a number below 8191, and this number divided
by 8191 is the token's u. The token with the highest log(u) / p is taken. With type "textseal" there
are two keys, of which one is drawn for each token: key A with probability `mixing_alpha`. Which key
it was cannot be known later, so a token's scores under both are added with these weights.

Where u is uniform between 0 and 1, floor(8191 u) / 8191 is smaller. So scores are a little lower
than exponential ones, and a p-value from the exponential distribution is never too small for that.

Sources: facebookresearch/textseal, textseal/watermarking/ (core.py, detector.py, generator.py,
config.py). Its detector takes a gamma distribution with the same mean and variance for the weighted
sum; here the p-value is exact. Compared with TextSeal of 2026: scores, by the formulas of its
source.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from ...errors import SettingsError, shown
from .._base import Array
from .._evidence import Evidence, Floats, Ints, draw_ids
from .._null_distributions import NullDistribution
from .._settings import checked_integer, checked_number, selected_settings
from .._two_key_null import LEAST_WEIGHT, null_of_two_keys
from .._windows import SomeIds, token_ids, windows
from ._writing import context_rows, gumbel_noise, moved, one_of_two

# One factor for each token of a context, the last token's at the end; of the token; of the key.
_FACTORS = (
    10000019, 10000247, 10000439, 10000643, 10000747,
    10000867, 10000993, 10001213, 10001357, 10001501,
)  # fmt: skip
_OF_TOKEN, _OF_KEY = 100000007, 500001713
_MIXING = 15485863, 40499
_SHIFT = 13
_NUMBERS = 8191
_HIGHEST_SCORE = math.log(_NUMBERS)  # -log(1 - 8190 / 8191)
_OFFSET = 12345  # of key B where none is given
_TINY = 1e-30  # in the place of u = 0, whose noise is infinite; as in the engine
_TYPES = ("gumbelmax", "textseal")
_IGNORED = (
    "method", "gamma", "delta", "alpha", "depth", "after_topp", "k_morphmark", "p_0", "chunk_size",
    "num_drafts", "base_watermark", "attenuation", "attenuation_weight", "backprop_on_nonzero",
    "scoring_method", "key_routing",
)  # fmt: skip


class TextSealGumbel:
    """Reads and writes as TextSeal does with "gumbelmax" or "textseal". Thread-safe.

    The engine marks every token, also after a context that has occurred before, and so does this
    scheme. Scores are those of TextSeal's detectors, where its entropy weights are not used;
    `Evidence.distinct` counts each different token after a context once, as its method "v2".

    Attributes:
        context: `ngram`.
        null: the exponential distribution, or that of weighted sums of two exponential scores.
        greedy: see `ticore.schemes.Scheme`.
    """

    name: ClassVar[str] = "textseal"

    def __init__(
        self,
        secret_key: int,
        *,
        watermark_type: str = "gumbelmax",
        ngram: int = 1,
        secret_key_b: int = -1,
        mixing_alpha: float = 0.5,
    ) -> None:
        """
        Args:
            secret_key: the writer's, a signed integer of 64 bits.
            watermark_type: the writer's: `gumbelmax`, with one key, or `textseal`, with two.
            ngram: how many tokens are hashed before a token, from 1 to 10.
            secret_key_b: the writer's second key; negative: the first one plus 12345.
            mixing_alpha: with two keys, how often the first one is used; above 0.0001 and below
                0.9999.

        Raises:
            SettingsError: a value is out of range.
        """
        if watermark_type not in _TYPES:
            raise SettingsError(
                f"watermark_type: expected one of {', '.join(_TYPES)}, found "
                f"{shown(watermark_type)}; other types cannot be read"
            )
        key = checked_integer("secret_key", secret_key, -(1 << 63), (1 << 63) - 1, secret=True)
        other = checked_integer(
            "secret_key_b", secret_key_b, -(1 << 63), (1 << 63) - 1, secret=True
        )
        self._keys = [key]
        self._share = 1.0  # of the first key
        if watermark_type == "textseal":
            share = checked_number(
                "mixing_alpha", mixing_alpha, above=LEAST_WEIGHT, below=1 - LEAST_WEIGHT
            )
            second = key + _OFFSET if other < 0 else other
            if second != key:  # Two equal keys give equal scores, which are those of one key.
                self._keys.append(second)
                self._share = share
        self.context = checked_integer("ngram", ngram, 1, len(_FACTORS))
        self.greedy = len(self._keys) == 1

    @classmethod
    def from_config(cls, config: Mapping[str, Any]) -> TextSealGumbel:
        """From the settings of a `WatermarkConfig`.

        Raises:
            SettingsError: there is no key, or a setting is unknown or out of range.
        """
        read = ("secret_key", "watermark_type", "ngram", "secret_key_b", "mixing_alpha")
        given = selected_settings(config, read, _IGNORED)
        if "secret_key" not in given:
            raise SettingsError("secret_key: expected the writer's key, found none; add it")
        return cls(**given)

    @property
    def null(self) -> NullDistribution:
        return null_of_two_keys(self._share, _HIGHEST_SCORE)

    def evidence(self, ids: SomeIds) -> Evidence:
        """Scores of -log(1 - u), or the weighted sum of those under both keys.

        Args:
            ids: int[n], below 2^32.

        Raises:
            SettingsError: an id is out of range.
        """
        ids = token_ids(ids)
        window = windows(ids, self.context + 1)
        tokens = window[:, -1].copy()
        seeds = self._sums(window[:, :-1])
        weights = self._share, 1 - self._share
        scores = np.zeros(len(tokens))
        for key, weight in zip(self._keys, weights, strict=False):
            scores += weight * -np.log1p(-_uniform(seeds, tokens, key))
        return Evidence.after_context(self.context, seeds, draw_ids(seeds, tokens), scores)

    def bias(self, context: Array, logits: Array) -> Array:
        """The logits with Gumbel noise of the engine's numbers, or the tokens that the two keys
        choose with the keys' probabilities; see `Scheme.bias`."""
        seeds = self._sums(context_rows(context, self.context, logits))[:, None]
        tokens = np.arange(logits.shape[-1])
        noisy = [
            logits + moved(gumbel_noise(np.maximum(_uniform(seeds, tokens, key), _TINY)), logits)
            for key in self._keys
        ]
        return noisy[0] if self.greedy else one_of_two(noisy[0], noisy[1], 1 - self._share)

    def _sums(self, contexts: Ints) -> Ints:
        """int64[n]: the weighted sums of contexts, int64[n, context]."""
        sums: Ints = (contexts * np.array(_FACTORS[: self.context])).sum(axis=-1)
        return sums


def _uniform(sums: Ints, tokens: Ints, key: int) -> Floats:
    """The numbers u of tokens after contexts, which broadcast: from 0 to 8190 / 8191, float64.

    Products wrap around in int64, as in the engine, which rounds u to float32.
    """
    hashed = sums + _OF_TOKEN * tokens + np.int64(_wrapped(_OF_KEY * key))
    hashed = hashed * np.int64(_MIXING[0]) * np.int64(_MIXING[1])
    hashed = (hashed ^ hashed >> _SHIFT) % _NUMBERS
    numbers = hashed.astype(np.float32) / np.float32(_NUMBERS)
    return numbers.astype(np.float64)


def _wrapped(number: int) -> int:
    """A number of any size as a signed integer of 64 bits."""
    return (number + (1 << 63)) % (1 << 64) - (1 << 63)
