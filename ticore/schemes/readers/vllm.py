"""vLLM's Gumbel watermark: `--watermark-config '{"algorithm": "gumbel", "key": ...}'`.

Each token of the vocabulary gets a uniform number from Philox, keyed by the context, and the
engine takes the token whose Gumbel noise, made from it, lifts its logit the most (Aaronson and
Kirchner 2022). This is the mapping that vLLM calls "philox4x32-10-v1".

Sources: vLLM 0.30, vllm/v1/watermarking/ (gumbel.py, detector.py, prfs/philox.py, prfs/base.py)
and vllm/config/watermarking.py.
"""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import sha256
from typing import Any

import numpy as np
import numpy.typing as npt

from ...errors import SettingsError, shown
from ..evidence import Evidence, draws
from ..settings import MOST_CONTEXT, MOST_WHY, an_integer, chosen
from ..significance import Exponential
from ..tokens import SomeIds, token_ids, windows
from .philox import Words, philox

_WORD = 0xFFFFFFFF
_CONTEXT_DOMAIN = 0x574D4358  # "WMCX"
_TOKEN_DOMAIN = 0x574D544B  # "WMTK"
_WIDTH = 4  # where a configuration says nothing
_DOES_NOT_CONCERN_READERS = (
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
    """What vLLM writes with algorithm "gumbel", on any device.

    Scores are -log(1 - u), exponentially distributed without a watermark but for the grid of 2^24
    numbers that u lies on. Their sum over all tokens is the score of vLLM's own
    `GumbelWatermarkDetector`, where the contexts differ; that one scores only the first token
    behind each context, `Evidence.distinct` each token behind it once.

    The engine fills the context of a reply's first tokens with -1. Those who have a whole reply may
    put `context` times -1 before it, and its first tokens are scored, too.

    Attributes:
        context: `context_width`.
        null: the exponential distribution.
    """

    def __init__(self, key: int, *, context_width: int = _WIDTH) -> None:
        """
        Args:
            key: the writer's, from 0 to 2^64 - 1.
            context_width: the writer's, 1 or more.

        Raises:
            SettingsError: a value out of these ranges.
        """
        key = an_integer("key", key, 0, (1 << 64) - 1, secret=True)
        self._key = np.uint64(key & _WORD), np.uint64(key >> 32)
        self.context = an_integer("context_width", context_width, 1, MOST_CONTEXT, why=MOST_WHY)
        self.null = Exponential()

    @classmethod
    def from_config(cls, config: Mapping[str, Any]) -> VLLMGumbel:
        """From the object that `--watermark-config` takes.

        Raises:
            SettingsError: another algorithm or function than this one, an unknown setting, or what
                the constructor raises.
        """
        for name, only in (("algorithm", "gumbel"), ("prf", "philox")):
            if config.get(name, only) != only:
                raise SettingsError(
                    f"{name}: expected {only!r}, found {shown(config[name])}; for "
                    f"'dual_key_gumbel' read with both of VLLMGumbel.of_two_keys, others are not "
                    f"known here"
                )
        given = chosen(config, ("key", "context_width"), _DOES_NOT_CONCERN_READERS)
        if "key" not in given:
            raise SettingsError("key: expected the writer's key, found none; add it")
        return cls(**given)

    @classmethod
    def of_two_keys(cls, key: int, *, context_width: int = _WIDTH) -> tuple[VLLMGumbel, VLLMGumbel]:
        """The readers of algorithm "dual_key_gumbel": of key A, then of key B.

        Which of the two wrote a token is decided by chance and cannot be found out again. Each
        reader gives a p-value of its own; who looks at both should double the lesser one. In plain
        sampling key A writes all but a share `alpha` of the tokens; in speculative decoding it
        writes the drafts.

        Raises:
            SettingsError: as the constructor.
        """
        data = an_integer("key", key, 0, (1 << 64) - 1, secret=True).to_bytes(8, "big")
        a, b = (
            cls(
                int.from_bytes(sha256(name + data).digest()[:8], "big"), context_width=context_width
            )
            for name in (b"key_a", b"key_b")
        )
        return a, b

    def evidence(self, ids: SomeIds) -> Evidence:
        """-log(1 - u).

        Args:
            ids: int[n], below 2^32; of the first `context`, some may be -1, see above.

        Raises:
            SettingsError: other ids.
        """
        ids = token_ids(ids, least=-1)
        token_ids(ids[self.context :])
        window = windows(ids, self.context + 1)
        tokens = window[:, -1].copy()
        seeds, words = self._words(window.astype(np.uint64) & np.uint64(_WORD))
        # 24 bits, centred between 0 and 1, and rounded to float32 as in the engine.
        uniform = ((words >> np.uint64(8)) + 1.0) / ((1 << 24) + 1)
        scores = -np.log1p(-uniform.astype(np.float32).astype(np.float64))
        positions = np.arange(self.context, self.context + len(tokens))
        return Evidence(positions, seeds, draws(seeds, tokens), scores)

    def _words(self, window: Words) -> tuple[npt.NDArray[np.int64], Words]:
        """What the contexts are hashed to (32 of 128 bits of it), and each last token's word.

        A context of h tokens is absorbed four at a time; each block's number is mixed into the
        key. One counter serves four tokens, one for each of its output words.
        """
        low, high = self._key
        zero = np.zeros(len(window), np.uint64)
        a, b, c, d = zero + np.uint64(_CONTEXT_DOMAIN), zero + np.uint64(self.context), zero, zero
        for start in range(0, self.context, 4):
            block = [
                window[:, at] if at < self.context else zero + np.uint64(_WORD - at + start)
                for at in range(start, start + 4)
            ]
            counter = a ^ block[0], b ^ block[1], c ^ block[2], d ^ block[3]
            a, b, c, d = philox(counter, (zero + low ^ np.uint64(start), zero + high))
        tokens = window[:, -1]
        key = d ^ low, zero + high ^ np.uint64(_TOKEN_DOMAIN)
        four = np.stack(philox((tokens >> np.uint64(2), a, b, c), key), axis=1)
        which = (tokens & np.uint64(3)).astype(np.int64)
        return a.astype(np.int64), four[np.arange(len(four)), which]
