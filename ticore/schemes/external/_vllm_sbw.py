"""vLLM's Bernoulli watermark: `--watermark-config '{"algorithm": "sbw", "key": ...}'`.

Green lists as those of Kirchenbauer et al., but each token of the vocabulary is green by a number
of its own: word v of Philox, keyed by a seed, is below gamma. The seed comes from the context
(`lefthash`), or from the context and the token itself (`selfhash`).

Sources: Ceppi and Sanchez, "Flip, Don't Shuffle: Watermarking LLMs at the Speed of Inference"
(2026); vLLM, pull request 56859, vllm/v1/watermarking/sbw.py of September 2026, which no release
had by version 0.32. There the detector for `lefthash` sums hashes of the context's ids, and the
writer the ids: it does not find what its writer writes. This one reads what is written. It counts
each draw once, where vLLM's counts each context once: with `selfhash`, a token often has the same
seed after different contexts. With `lefthash` the seed is the key times the sum of the context's
ids. So after token 0 alone the green tokens are the same with every key, and p-values do not hold
for texts in which that token is frequent.

Compared with vLLM, pull request 56859: the writer's green tokens.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from ...errors import SettingsError, shown
from .._base import Array
from .._evidence import Evidence, Ints, draw_ids
from .._null_distributions import BinomialNull, usual_marked_share
from .._settings import MAX_CONTEXT, MOST_BIAS, WHY_MAX_CONTEXT, checked_integer, checked_number
from .._windows import SomeIds, token_ids, windows
from ._philox import UInt64Array, philox
from ._vllm import selected_vllm_settings
from ._writing import context_rows, moved

_WIDTHS = {"selfhash": 4, "lefthash": 1}  # the engine's defaults
_WORD = 0xFFFFFFFF
_HIGHEST = 0x7FFFFFFF
_MOST_IDS = 1 << 31


class VLLMBernoulli:
    """Reads and writes as vLLM does with algorithm "sbw", on any device. Thread-safe.

    The engine fills the context of a reply's first tokens with -1. Put `context` times -1 before a
    whole reply to have its first tokens scored, too.

    Attributes:
        context: `context_width`.
        null: the binomial distribution.
        greedy: see `ticore.schemes.Scheme`.
    """

    name: ClassVar[str] = "vllm"
    greedy = False

    def __init__(
        self,
        key: int,
        *,
        sbw_scheme: str = "selfhash",
        sbw_gamma: float = 0.5,
        sbw_delta: float = 2.0,
        context_width: int | None = None,
    ) -> None:
        """
        Args:
            key: the writer's, from 0 to 2^63 - 1.
            sbw_scheme: the writer's: `selfhash` or `lefthash`.
            sbw_gamma: the writer's: the share of green tokens, above 2^-31.
            sbw_delta: what is added to the logits of green tokens, 0 or more. Of detection only the
                search for a segment depends on it.
            context_width: the writer's, from 1 to 256; None: 4 for selfhash, 1 for lefthash.

        Raises:
            SettingsError: a value is out of range.
        """
        self._key = np.int64(checked_integer("key", key, 0, (1 << 63) - 1, secret=True))
        if sbw_scheme not in tuple(_WIDTHS):  # of a file, so perhaps no text
            raise SettingsError(
                f"sbw_scheme: expected 'selfhash' or 'lefthash', found {shown(sbw_scheme)}; give "
                f"the writer's"
            )
        self._includes_itself = sbw_scheme == "selfhash"
        width = _WIDTHS[sbw_scheme] if context_width is None else context_width
        self.context = checked_integer("context_width", width, 1, MAX_CONTEXT, why=WHY_MAX_CONTEXT)
        gamma = checked_number("sbw_gamma", sbw_gamma, above=1 / _HIGHEST, below=1)
        delta = checked_number("sbw_delta", sbw_delta, above=-1e-9, below=MOST_BIAS)
        self._delta = delta
        self._limit = np.uint64(int(gamma * _HIGHEST))
        share = float(self._limit) / (_HIGHEST + 1)
        self.null = BinomialNull(share, usual_marked_share(share, delta))

    @classmethod
    def from_config(cls, config: Mapping[str, Any]) -> VLLMBernoulli:
        """From the object that `--watermark-config` takes.

        Raises:
            SettingsError: there is no key, `algorithm` or `prf` is another one, or a setting is
                unknown or out of range.
        """
        names = ("sbw_scheme", "sbw_gamma", "sbw_delta")
        return cls(**selected_vllm_settings(config, "sbw", names))

    def evidence(self, ids: SomeIds) -> Evidence:
        """Scores of 1.0 for green tokens and 0.0 for others.

        Args:
            ids: int[n], below 2^31; the first `context` ids may be -1, see the class.

        Raises:
            SettingsError: an id is out of range.
        """
        ids = token_ids(ids, _MOST_IDS, least=-1)
        token_ids(ids[self.context :])
        window = windows(ids, self.context + 1)
        tokens = window[:, -1].copy()
        seeds = self._seeds(window[:, :-1], tokens)
        green = self._is_green(seeds, tokens)
        pairs = draw_ids(seeds, tokens)
        return Evidence.after_context(self.context, seeds, pairs, green.astype(np.float64))

    def bias(self, context: Array, logits: Array) -> Array:
        """The logits with `sbw_delta` added to those of green tokens; see `Scheme.bias`."""
        contexts = context_rows(context, self.context, logits)
        tokens = np.arange(logits.shape[-1])
        greens = [
            self._is_green(
                self._seeds(np.broadcast_to(one, (len(tokens), len(one))), tokens), tokens
            )
            for one in contexts
        ]
        return logits + self._delta * moved(np.stack(greens), logits)

    def _seeds(self, contexts: Ints, tokens: Ints) -> Ints:
        """int64[n], of products that wrap around.

        lefthash: the product with the sum of a context; selfhash: the least product with a hash of
        the token and of another one, but for the context's first.
        """
        if not self._includes_itself:
            products: Ints = self._key * contexts.sum(axis=1)
            return products
        last = _hashes(tokens)[:, None]
        hashes = np.concatenate([_hashes(contexts[:, 1:]), last], axis=1)
        least: Ints = (self._key * hashes * last).min(axis=1)
        return least

    def _is_green(self, seeds: Ints, tokens: Ints) -> npt.NDArray[np.bool_]:
        return self._words(seeds, tokens.astype(np.uint64)) & np.uint64(_HIGHEST) < self._limit

    @staticmethod
    def _words(seeds: Ints, tokens: UInt64Array) -> UInt64Array:
        """The word of each token: counters serve four tokens each."""
        key = seeds.astype(np.uint64)
        zero = np.zeros(len(tokens), np.uint64)
        halves = key & np.uint64(_WORD), key >> np.uint64(32)
        four = np.stack(philox((tokens >> np.uint64(2), zero, zero, zero), halves), axis=1)
        words: UInt64Array = four[np.arange(len(four)), (tokens & np.uint64(3)).astype(np.int64)]
        return words


def _hashes(ids: Ints) -> Ints:
    """Jenkins' hash of each id plus 1, in 32 bits with a sign."""
    i = (ids + 1).astype(np.int32)
    i = i - (i << 6)
    i ^= i >> 17
    i = i - (i << 9)
    i ^= i << 4
    i = i - (i << 3)
    i ^= i << 10
    i ^= i >> 15
    return i.astype(np.int64)
