"""vLLM's Gumbel watermark: `--watermark-config '{"algorithm": "gumbel", "key": ...}'`.

Each token of the vocabulary gets a uniform number from Philox, keyed by the context, and the
engine takes the token whose Gumbel noise, made from it, lifts its logit the most (Aaronson and
Kirchner 2022). This is the mapping that vLLM calls "philox4x32-10-v1".

Sources: vLLM 0.30, vllm/v1/watermarking/ (gumbel.py, detector.py, prfs/philox.py, prfs/base.py)
and vllm/config/watermarking.py. Compared with vLLM 0.32: the scores of its detector.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from ...errors import SettingsError, shown
from .._base import Array
from .._evidence import Evidence, Floats, Ints, draw_ids
from .._null_distributions import ExponentialNull
from .._settings import MAX_CONTEXT, WHY_MAX_CONTEXT, checked_integer, selected_settings
from .._windows import SomeIds, token_ids, windows
from ._philox import UInt64Array, philox
from ._writing import context_rows, gumbel_noise, moved

_WORD = 0xFFFFFFFF
_CONTEXT_DOMAIN = 0x574D4358  # "WMCX"
_TOKEN_DOMAIN = 0x574D544B  # "WMTK"
WIDTH = 4  # the engine's default
_IGNORED = (
    "algorithm",
    "alpha",
    "prf",
    "deduplicate_contexts",
    "deduplicate_contexts_max_history",
    "allow_target_only_watermarking",
    "sbw_scheme",
    "sbw_gamma",
    "sbw_delta",
)


class VLLMGumbel:
    """Reads and writes as vLLM does with algorithm "gumbel", on any device. Thread-safe.

    Scores are -log(1 - u). Without a watermark they are exponentially distributed, except that u is
    one of 2^24 numbers. Where all contexts differ, their sum over all tokens is the score of vLLM's
    own `GumbelWatermarkDetector`. That detector scores only the first token after each context;
    `Evidence.distinct` counts each different token after a context once.

    The engine fills the context of a reply's first tokens with -1. Put `context` times -1 before a
    whole reply to have its first tokens scored, too. (A text that is written here begins with
    `context` tokens that have no mark.)

    Attributes:
        context: `context_width`.
        null: the exponential distribution.
        greedy, once: see `ticore.schemes.Scheme`.
    """

    name: ClassVar[str] = "vllm"
    greedy = True
    once = True

    def __init__(self, key: int, *, context_width: int = WIDTH) -> None:
        """
        Args:
            key: the writer's, from 0 to 2^64 - 1.
            context_width: the writer's, from 1 to 256.

        Raises:
            SettingsError: a value is out of range.
        """
        key = checked_integer("key", key, 0, (1 << 64) - 1, secret=True)
        self._key = np.uint64(key & _WORD), np.uint64(key >> 32)
        self.context = checked_integer(
            "context_width", context_width, 1, MAX_CONTEXT, why=WHY_MAX_CONTEXT
        )
        self.null = ExponentialNull()

    @classmethod
    def from_config(cls, config: Mapping[str, Any]) -> VLLMGumbel:
        """From the object that `--watermark-config` takes.

        Raises:
            SettingsError: there is no key, `algorithm` or `prf` is another one, or a setting is
                unknown or out of range.
        """
        return cls(**selected_vllm_settings(config, "gumbel"))

    @classmethod
    def of_two_keys(cls, key: int, *, context_width: int = WIDTH) -> tuple[VLLMGumbel, VLLMGumbel]:
        """The schemes of algorithm "dual_key_gumbel": of key A, then of key B.

        Which of the two wrote a token is random and cannot be known later. Each scheme gives a
        p-value of its own; `VLLMDualKeyGumbel` has one for both. In plain sampling key A writes all
        tokens but a share `alpha`; in speculative decoding it writes the drafts.

        Args:
            key, context_width: as of the constructor.

        Raises:
            SettingsError: a value is out of range.
        """
        data = checked_integer("key", key, 0, (1 << 64) - 1, secret=True).to_bytes(8, "big")
        a, b = (
            cls(
                int.from_bytes(sha256(name + data).digest()[:8], "big"), context_width=context_width
            )
            for name in (b"key_a", b"key_b")
        )
        return a, b

    def evidence(self, ids: SomeIds) -> Evidence:
        """Scores of -log(1 - u).

        Args:
            ids: int[n], below 2^32; the first `context` ids may be -1, see the class.

        Raises:
            SettingsError: an id is out of range.
        """
        ids = token_ids(ids, least=-1)
        token_ids(ids[self.context :])
        window = windows(ids, self.context + 1)
        tokens = window[:, -1].copy()
        seeds, words = self._words(window.astype(np.uint64) & np.uint64(_WORD))
        scores = -np.log1p(-_uniform(words))
        return Evidence.after_context(self.context, seeds, draw_ids(seeds, tokens), scores)

    def bias(self, context: Array, logits: Array) -> Array:
        """The logits with the noise that the engine adds to them; see `Scheme.bias`."""
        uniform = self.uniform(context_rows(context, self.context, logits), logits.shape[-1])
        return logits + moved(gumbel_noise(uniform), logits)

    def uniform(self, contexts: Ints, count: int) -> Floats:
        """The numbers of the first `count` tokens after each context: float64[rows, count].

        Args:
            contexts: int64[rows, context].
            count: 0 or more.
        """
        hashed = self._hashes(contexts.astype(np.uint64) & np.uint64(_WORD))
        counters = np.arange(-(-count // 4), dtype=np.uint64)
        four = self._four_words(tuple(one[:, None] for one in hashed), counters)
        return _uniform(np.stack(four, axis=-1).reshape(len(contexts), -1)[:, :count])

    def _words(self, window: UInt64Array) -> tuple[npt.NDArray[np.int64], UInt64Array]:
        """The hashes of the contexts (32 of their 128 bits), and the word of each last token."""
        hashed, tokens = self._hashes(window[:, :-1]), window[:, -1]
        four = np.stack(self._four_words(hashed, tokens >> np.uint64(2)), axis=1)
        which = (tokens & np.uint64(3)).astype(np.int64)
        return hashed[0].astype(np.int64), four[np.arange(len(four)), which]

    def _hashes(self, contexts: UInt64Array) -> tuple[UInt64Array, ...]:
        """Four words of each context.

        A context is absorbed four tokens at a time; the number of each block is mixed into the key.
        """
        low, high = self._key
        zero = np.zeros(len(contexts), np.uint64)
        a, b, c, d = zero + np.uint64(_CONTEXT_DOMAIN), zero + np.uint64(self.context), zero, zero
        for start in range(0, self.context, 4):
            block = [
                contexts[:, at] if at < self.context else zero + np.uint64(_WORD - at + start)
                for at in range(start, start + 4)
            ]
            counter = a ^ block[0], b ^ block[1], c ^ block[2], d ^ block[3]
            a, b, c, d = philox(counter, (zero + low ^ np.uint64(start), zero + high))
        return a, b, c, d

    def _four_words(
        self, hashed: tuple[UInt64Array, ...], counters: UInt64Array
    ) -> tuple[UInt64Array, ...]:
        """The words of four tokens: counter n serves the tokens 4 n to 4 n + 3."""
        low, high = self._key
        a, b, c, d = hashed
        zero = np.zeros_like(d)
        return philox((counters, a, b, c), (d ^ low, zero + high ^ np.uint64(_TOKEN_DOMAIN)))


def _uniform(words: UInt64Array) -> Floats:
    """24 bits, centred between 0 and 1, and rounded to float32 as in the engine."""
    numbers = ((words >> np.uint64(8)) + 1.0) / ((1 << 24) + 1)
    return numbers.astype(np.float32).astype(np.float64)


def selected_vllm_settings(
    config: Mapping[str, Any], algorithm: str, more: Sequence[str] = ()
) -> dict[str, Any]:
    """The settings of one algorithm, of the object that `--watermark-config` takes.

    Args:
        config: that object.
        algorithm: which one.
        more: the settings that it reads besides `key` and `context_width`.

    Raises:
        SettingsError: there is no key, `algorithm` or `prf` is another one, or a setting is
            unknown.
    """
    for name, only in (("algorithm", algorithm), ("prf", "philox")):
        if config.get(name, only) != only:
            raise SettingsError(
                f"{name}: expected {only!r}, found {shown(config[name])}; what can be detected is "
                f"gumbel, dual_key_gumbel and sbw, with philox"
            )
    ignored = [name for name in _IGNORED if name not in more]
    given = selected_settings(config, ("key", "context_width", *more), ignored)
    if "key" not in given:
        raise SettingsError("key: expected the writer's key, found none; add it")
    return given
