"""SGLang's Gumbel watermark: `--enable-watermark --watermark-key ...`.

As in Aaronson and Kirchner 2022: each token of the vocabulary gets a uniform number u from
MurmurHash3 over the key, the context's hash and the token, and the engine takes the token with the
largest log(u) / p. With two keys a hash of both and of the context says which one writes.

Sources: SGLang, python/sglang/srt/sampling/watermarking/ (config.py, core.py, detector.py) and
docs/docs/advanced_features/text_watermarking.mdx, of September 2026.
"""

from __future__ import annotations

import string
from collections.abc import Mapping
from typing import Any

import numpy as np

from ...errors import SettingsError
from ..evidence import Evidence, draws
from ..settings import a_number, an_integer, chosen
from ..significance import Exponential
from ..tokens import SomeIds, token_ids, windows
from .murmur import Words, murmur3

_MOST_DIGITS = 16
_WIDTH = 4  # where a configuration says nothing


class SGLangGumbel:
    """What SGLang writes, with one key or two.

    Scores are -log(1 - u), exponentially distributed without a watermark but for the grid of 2^32
    numbers that u lies on. `null.strength` and `null.p_value` over all tokens are those of SGLang's
    own `WatermarkDetector`, where the contexts differ; that one scores only the first token behind
    each context, and only the first 4096 contexts, `Evidence.distinct` each token behind a context
    once.

    Attributes:
        context: `context_window`.
        null: the exponential distribution.
    """

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
            key: the writer's: 1 to 16 hexadecimal digits, "0x" before them or not.
            key_b: its second key, or None.
            mixing_probability: with two keys, how often the first one writes; above 0, below 1.
            context_window: the writer's, from 1 to 64.

        Raises:
            SettingsError: a value out of these ranges.
        """
        self._key = _parsed("key", key)
        self._other = None if key_b is None else _parsed("key_b", key_b)
        share = a_number("mixing_probability", mixing_probability, above=0, below=1)
        self._threshold = np.uint64(int(share * (1 << 32)))
        self.context = an_integer("context_window", context_window, 1, 64)
        self.null = Exponential()

    @classmethod
    def from_config(cls, config: Mapping[str, Any]) -> SGLangGumbel:
        """From the object that `--watermark-config` takes.

        Raises:
            SettingsError: no key, an unknown setting, or what the constructor raises.
        """
        read = ("key", "key_b", "mixing_probability", "context_window")
        ignored = ("max_probability", "default_enabled", "enforce_all")
        given = chosen(config, read, ignored)
        if "key" not in given:
            raise SettingsError("key: expected the writer's key, found none; add it")
        return cls(**given)

    def evidence(self, ids: SomeIds) -> Evidence:
        """-log(1 - u).

        Args:
            ids: int[n], below 2^32. With the prompt's last `context` tokens before it, a reply is
                scored from its first token on.

        Raises:
            SettingsError: other ids.
        """
        ids = token_ids(ids)
        window = windows(ids, self.context + 1)
        tokens = window[:, -1].copy()
        columns = window.T.astype(np.uint64)
        seeds = murmur3(columns[:-1])
        words = murmur3((*self._key, seeds, columns[-1]))
        if self._other is not None:
            coin = murmur3((*self._key, *self._other, seeds))
            other = murmur3((*self._other, seeds, columns[-1]))
            words = np.where(coin < self._threshold, words, other)
        scores = -np.log1p(-(words + 0.5) / (1 << 32))
        positions = np.arange(self.context, self.context + len(tokens))
        wide = seeds.astype(np.int64)
        return Evidence(positions, wide, draws(wide, tokens), scores)


def _parsed(name: str, key: object) -> tuple[Words, Words]:
    """A key's lower and upper word."""
    digits = key.removeprefix("0x").removeprefix("0X") if isinstance(key, str) else ""
    if not 1 <= len(digits) <= _MOST_DIGITS or not set(digits) <= set(string.hexdigits):
        raise SettingsError(
            f"{name}: expected a string of 1 to {_MOST_DIGITS} hexadecimal digits, found another "
            f"text or type; give the writer's key as its configuration has it"
        )
    value = int(digits, 16)
    return np.array(value & 0xFFFFFFFF, np.uint64), np.array(value >> 32, np.uint64)
