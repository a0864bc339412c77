"""SGLang's Gumbel watermark: `--enable-watermark --watermark-key ...`.

As in Aaronson and Kirchner 2022: each token of the vocabulary gets a uniform number u, the
MurmurHash3 of the key, the context's hash and the token. The engine takes the token with the
highest log(u) / p. With two keys, a hash of both and of the context decides which one is used.

Sources: SGLang, python/sglang/srt/sampling/watermarking/ (config.py, core.py, detector.py) and
docs/docs/advanced_features/text_watermarking.mdx. Compared with SGLang 0.5.23: the p-values of its
detector, and the tokens that its sampler chooses.
"""

from __future__ import annotations

import string
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from ...errors import SettingsError
from .._base import Array
from .._evidence import Evidence, Floats, draw_ids
from .._null_distributions import ExponentialNull
from .._settings import checked_integer, checked_number, selected_settings
from .._windows import SomeIds, token_ids, windows
from ._murmur import UInt64Array, murmur3
from ._writing import context_rows, gumbel_noise, moved

_MOST_DIGITS = 16
_WIDTH = 4  # the engine's default


class SGLangGumbel:
    """Reads and writes as SGLang does, with one key or two. Thread-safe.

    Scores are -log(1 - u). Without a watermark they are exponentially distributed, except that u is
    one of 2^32 numbers. Where all contexts differ, `null.strength` and `null.p_value` over all
    tokens are those of SGLang's own `WatermarkDetector`. That detector scores only the first token
    after each context, and only the first 4096 contexts; `Evidence.distinct` counts each different
    token after a context once.

    Attributes:
        context: `context_window`.
        null: the exponential distribution.
        greedy, once: see `ticore.schemes.Scheme`.
    """

    name: ClassVar[str] = "sglang"
    greedy = True
    once = True

    def __init__(
        self,
        key: str,
        *,
        key_b: str | None = None,
        mixing_probability: float = 0.5,
        context_window: int = _WIDTH,
    ) -> None:
        """
        Args:
            key: the writer's: 1 to 16 hexadecimal digits, with "0x" before them or without.
            key_b: the writer's second key, or None.
            mixing_probability: with two keys, how often the first one is used; above 0, below 1.
            context_window: the writer's, from 1 to 64.

        Raises:
            SettingsError: a value is out of range.
        """
        self._key = _parsed("key", key)
        self._other = None if key_b is None else _parsed("key_b", key_b)
        share = checked_number("mixing_probability", mixing_probability, above=0, below=1)
        self._threshold = np.uint64(int(share * (1 << 32)))
        self.context = checked_integer("context_window", context_window, 1, 64)
        self.null = ExponentialNull()

    @classmethod
    def from_config(cls, config: Mapping[str, Any]) -> SGLangGumbel:
        """From the object that `--watermark-config` takes.

        Raises:
            SettingsError: there is no key, or a setting is unknown or out of range.
        """
        read = ("key", "key_b", "mixing_probability", "context_window")
        ignored = ("max_probability", "default_enabled", "enforce_all")
        given = selected_settings(config, read, ignored)
        if "key" not in given:
            raise SettingsError("key: expected the writer's key, found none; add it")
        return cls(**given)

    def evidence(self, ids: SomeIds) -> Evidence:
        """Scores of -log(1 - u).

        Args:
            ids: int[n], below 2^32. If the last `context` tokens of the prompt stand before a
                reply, the reply is scored from its first token on.

        Raises:
            SettingsError: an id is out of range.
        """
        ids = token_ids(ids)
        window = windows(ids, self.context + 1)
        tokens = window[:, -1].copy()
        columns = window.T.astype(np.uint64)
        seeds = murmur3(columns[:-1])
        scores = -np.log1p(-self._uniform(seeds, columns[-1]))
        wide = seeds.astype(np.int64)
        return Evidence.after_context(self.context, wide, draw_ids(wide, tokens), scores)

    def bias(self, context: Array, logits: Array) -> Array:
        """The logits with Gumbel noise of the engine's numbers; see `Scheme.bias`."""
        contexts = context_rows(context, self.context, logits).astype(np.uint64)
        tokens = np.arange(logits.shape[-1], dtype=np.uint64)
        uniform = self._uniform(murmur3(contexts.T)[:, None], tokens)
        return logits + moved(gumbel_noise(uniform), logits)

    def _uniform(self, seeds: UInt64Array, tokens: UInt64Array) -> Floats:
        """The numbers of tokens, between 0 and 1: float64, of the seeds and tokens broadcast."""
        words = murmur3((*self._key, seeds, tokens))
        if self._other is not None:
            coin = murmur3((*self._key, *self._other, seeds))
            other = murmur3((*self._other, seeds, tokens))
            words = np.where(coin < self._threshold, words, other)
        uniform: Floats = (words + 0.5) / (1 << 32)
        return uniform


def _parsed(name: str, key: object) -> tuple[UInt64Array, UInt64Array]:
    """A key's lower and upper word."""
    digits = key.removeprefix("0x").removeprefix("0X") if isinstance(key, str) else ""
    if not 1 <= len(digits) <= _MOST_DIGITS or not set(digits) <= set(string.hexdigits):
        raise SettingsError(
            f"{name}: expected a string of 1 to {_MOST_DIGITS} hexadecimal digits, found another "
            f"text or type; give the writer's key as its configuration has it"
        )
    value = int(digits, 16)
    return np.array(value & 0xFFFFFFFF, np.uint64), np.array(value >> 32, np.uint64)
