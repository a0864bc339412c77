"""What the schemes with green lists share: some tokens are green, and these are made likelier.

Source: Kirchenbauer et al., "A Watermark for Large Language Models" (2023). The schemes differ only
in what the list of green tokens depends on.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from functools import cached_property
from typing import Any, ClassVar, Literal, get_args

import numpy as np
import numpy.typing as npt
from array_api_compat import array_namespace

from .._support.checks import require_integer
from ..errors import SettingsError
from ._base import Array
from ._evidence import Evidence, Ints, draw_ids
from ._key import key_fingerprint
from ._keyed_numbers import LATEST, KeyedNumbers, PreparedTokens, Version, keyed_numbers
from ._null_distributions import BinomialNull, HypergeometricNull, usual_marked_share
from ._settings import checked_number
from ._windows import SomeIds, context_columns, token_ids
from ._word_arithmetic import BITS

GreensMode = Literal["independent", "exact"]

_LEAST_SHARE = 2.0**-BITS  # of a list that is told from an empty one


class GreenList(ABC):
    """A scheme with green lists. Thread-safe.

    Args:
        key: 16 to 64 secret bytes, or their hex digits as a str.
        vocab_size: of the tokenizer, at least 1.
        gamma: the share of the tokens that are green; at least 2^-31, at most 1 - 2^-31.
        delta: what is added to the logits of green tokens; above 0, below 100.
        greens: `independent`: each token is green with probability gamma, independently of the
            others; `exact`: exactly floor(gamma vocab_size) tokens of each list are green, which
            takes three times as long when writing.
        version: of the random numbers. 2 is the default. 1 is for texts that were written before
            there was a version 2; its lists can be found by trying 2^32 seeds.

    Attributes:
        name: of the scheme.
        key_fingerprint: see `ticore.schemes.key_fingerprint`.
        context, null, greedy: see `ticore.schemes.Scheme`.

    Raises:
        SettingsError: gamma, delta, greens, version or vocab_size is out of range, or no token
            would be green, or all.
        CredentialError: the key is too short or too long.
    """

    name: ClassVar[str]
    context: int
    greedy = False

    def __init__(
        self,
        key: bytes | str,
        vocab_size: int,
        *,
        gamma: float = 0.5,
        delta: float = 2.0,
        greens: GreensMode = "independent",
        version: Version = LATEST,
    ) -> None:
        gamma = checked_number("gamma", gamma, above=0, below=1)
        if not _LEAST_SHARE <= gamma <= 1 - _LEAST_SHARE:
            raise SettingsError(
                f"gamma: expected a share from 2^-{BITS} to 1 - 2^-{BITS}, found {gamma}; choose a "
                f"gamma nearer to 0.5"
            )
        if greens not in get_args(GreensMode):
            raise SettingsError(f"greens: expected independent or exact, found {greens!r}")
        self.vocab_size = vocab_size = require_integer("vocab_size", vocab_size, 1)
        self.gamma = gamma
        self.delta = checked_number("delta", delta, above=0, below=100)
        self.greens = greens
        self.version = version
        self.key_fingerprint = key_fingerprint(key)
        self._numbers = keyed_numbers(version, key, self.name, vocab_size)
        self._green = int(gamma * vocab_size)
        self._threshold = int(gamma * (1 << BITS))
        if greens == "exact" and not 0 < self._green < vocab_size:
            raise SettingsError(
                f"gamma: expected some green tokens and some others, found {self._green} green of "
                f"{vocab_size} for {gamma}; choose a gamma nearer to 0.5"
            )

    @cached_property
    def null(self) -> BinomialNull:
        """The distribution of text without a watermark, whose tokens are green by chance."""
        share = self.gamma if self.greens == "independent" else self._green / self.vocab_size
        marked = usual_marked_share(share, self.delta)
        if self.greens == "independent":
            return BinomialNull(share, marked)
        return HypergeometricNull(share, marked, self._green, self.vocab_size)

    def bias(self, context: Array, logits: Array) -> Array:
        """The logits with delta added to those of green tokens; see `Scheme.bias`."""
        xp = array_namespace(logits)
        size = min(self.vocab_size, logits.shape[-1])  # the rest are padding
        added = self._added(context, size, logits)
        if size == logits.shape[-1]:
            return logits + added
        return xp.concat([logits[..., :size] + added, logits[..., size:]], axis=-1)

    def evidence(self, ids: SomeIds) -> Evidence:
        """Scores of 1 for green tokens and 0 for others; see `Detectable.evidence`."""
        found = token_ids(ids, self.vocab_size)
        seed, green = self._scored(found)
        seeds = np.broadcast_to(self._numbers.identity(seed), green.shape)
        pairs = draw_ids(seeds, found[self.context :])
        return Evidence.after_context(self.context, seeds, pairs, green.astype(np.float64))

    def _scored(self, ids: Ints) -> tuple[Any, npt.NDArray[np.bool_]]:
        """The seeds of a text's tokens from position `context` on, and which of them are green.

        bool[n - context]; with the numbers of many keys bool[n - context, keys].
        """
        row = self._numbers.known_tokens(
            ids.astype(np.uint32),
            self_words=self._uses_candidate,
            lone_seeds=self.context == 1 or self._uses_candidate,
        )
        before, tokens = row.contexts_and_tokens(self.context)
        seed = self._seed(before, tokens)
        green: npt.NDArray[np.bool_]
        if self.greens == "independent":
            green = self._numbers.is_below(seed, tokens, self._threshold)
        else:
            green = self._numbers.is_ranked_below(seed, tokens, self._green)
        return seed, green

    _uses_candidate: ClassVar[bool] = False
    """Whether a token's list depends on the token itself."""

    @abstractmethod
    def _seed(self, before: Sequence[PreparedTokens], tokens: PreparedTokens) -> Any:
        """The seed of each token's list: see `KeyedNumbers`.

        Args:
            before: the `context` tokens of the context, or as many arrays of them.
            tokens: the tokens that are asked about.
        """

    def _added(self, context: Array | Sequence[int], size: int, like: Array) -> Array:
        """What `bias` adds to the logits of the first `size` tokens, in the library of `like`."""
        greens = self._greens(context, size, like)
        return array_namespace(like).astype(greens, like.dtype) * self.delta

    def _greens(self, context: Array | Sequence[int], size: int, like: Array) -> Array:
        """Which of the first `size` tokens are green: bool[..., size]."""
        numbers: KeyedNumbers = self._numbers
        before = [
            numbers.any_tokens(column) for column in context_columns(context, self.context, like)
        ]
        if self.greens == "independent" or self._uses_candidate:
            tokens = numbers.all_tokens(size, like, self_words=self._uses_candidate)
            seed = self._seed(before, tokens)
            if self.greens == "independent":
                return numbers.is_below(seed, tokens, self._threshold)
            return numbers.is_ranked_below(seed, tokens, self._green)
        # There is one list after each context, and all of it is wanted.
        seed = self._seed(before, numbers.all_tokens(0, like))
        return numbers.are_ranked_below(seed, size, like, self._green)
