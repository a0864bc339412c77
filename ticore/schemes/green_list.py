"""What the schemes with green lists share: some tokens are green, and these are made likelier.

Kirchenbauer et al., "A Watermark for Large Language Models" (2023). The schemes differ only in what
a token's list is drawn from.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from functools import cached_property
from math import exp
from typing import Any, ClassVar, Literal, get_args

import numpy as np
from array_api_compat import array_namespace

from ..errors import SettingsError
from .base import Array
from .evidence import Evidence, draws
from .numbers import LATEST, Numbers, Tokens, Version, numbers_of
from .settings import a_number
from .significance import ExactGreens, Greens
from .tokens import SomeIds, columns, token_ids
from .words import BITS

Greening = Literal["independent", "exact"]


class GreenList(ABC):
    """A scheme with green lists.

    Args:
        key: 16 to 64 secret bytes, or their hex digits as a str.
        vocab_size: of the tokenizer.
        gamma: share of the tokens that are green; above 0, below 1.
        delta: what is added to the logits of green tokens; above 0.
        greens: `independent`: each token is green with probability gamma, by a coin of its own;
            `exact`: of every list floor(gamma vocab_size) tokens are green, which costs three times
            as much time when writing.
        version: of the random numbers. 2 is what is written; 1 reads what was written when there
            was no other, and can be found out by trying 2^32 lists.

    Attributes:
        name, context, null: see `ticore.schemes.Readable`.

    Raises:
        SettingsError: gamma, delta, greens or version is out of range, or no token would be green,
            or all.
        KeyFormatError: the key is too short or too long.
    """

    name: ClassVar[str]
    context: ClassVar[int]
    greedy = False

    def __init__(
        self,
        key: bytes | str,
        vocab_size: int,
        *,
        gamma: float = 0.5,
        delta: float = 2.0,
        greens: Greening = "independent",
        version: Version = LATEST,
    ) -> None:
        gamma = a_number("gamma", gamma, above=0, below=1)
        if greens not in get_args(Greening):
            raise SettingsError(f"greens: expected independent or exact, found {greens!r}")
        self.vocab_size = vocab_size
        self.gamma = gamma
        self.delta = a_number("delta", delta, above=0, below=100)
        self.greens = greens
        self.version = version
        self._numbers = numbers_of(version, key, self.name, vocab_size)
        self._green = int(gamma * vocab_size)
        self._threshold = int(gamma * (1 << BITS))
        if greens == "exact" and not 0 < self._green < vocab_size:
            raise SettingsError(
                f"gamma: expected some green tokens and some others, found {self._green} green of "
                f"{vocab_size} for {gamma}; choose a gamma nearer to 0.5"
            )

    @cached_property
    def null(self) -> Greens:
        """Each token of a text that is not watermarked is green by chance."""
        share = self.gamma if self.greens == "independent" else self._green / self.vocab_size
        # At the most, where the model has no preference; half-way there is more usual.
        most = share * exp(self.delta) / (share * exp(self.delta) + 1 - share)
        marked = (share + most) / 2
        if self.greens == "independent":
            return Greens(share, marked)
        return ExactGreens(share, marked, self._green, self.vocab_size)

    def bias(self, context: Array, logits: Array) -> Array:
        """The logits with delta added to those of green tokens; see `Scheme`."""
        xp = array_namespace(logits)
        size = min(self.vocab_size, logits.shape[-1])  # a padded vocabulary has no tokens there
        added = self._added(context, size, logits)
        if size == logits.shape[-1]:
            return logits + added
        return xp.concat([logits[..., :size] + added, logits[..., size:]], axis=-1)

    def evidence(self, ids: SomeIds) -> Evidence:
        """Scores 1 for green tokens and 0 for others; see `Readable`."""
        found = token_ids(ids, self.vocab_size)
        row = self._numbers.known_tokens(
            found.astype(np.uint32), own=self._needs_own, alone=self.context > 0
        )
        count = max(0, len(found) - self.context)
        before = [row[at : at + count] for at in range(self.context)]
        tokens = row[self.context :]
        seed = self._seed(before, tokens)
        if self.greens == "independent":
            green = self._numbers.is_below(seed, tokens, self._threshold)
        else:
            green = self._numbers.is_placed_below(seed, tokens, self._green)
        seeds = np.broadcast_to(self._numbers.identity(seed), (count,))
        positions = np.arange(self.context, self.context + count, dtype=np.int64)
        pairs = draws(seeds, found[self.context :])
        return Evidence(positions, seeds, pairs, green.astype(np.float64))

    _needs_own: ClassVar[bool] = False

    @abstractmethod
    def _seed(self, before: Sequence[Tokens], tokens: Tokens) -> Any:
        """What each token's list is drawn from: see `Numbers`.

        Args:
            before: `context` tokens, or as many arrays of them.
            tokens: what a list is wanted for.
        """

    def _added(self, context: Array | Sequence[int], size: int, like: Array) -> Array:
        """What is added to the logits of the first `size` tokens, in the library of `like`."""
        greens = self._greens(context, size, like)
        return array_namespace(like).astype(greens, like.dtype) * self.delta

    def _greens(self, context: Array | Sequence[int], size: int, like: Array) -> Array:
        """Which of the first `size` tokens are green: bool[..., size]."""
        numbers: Numbers = self._numbers
        before = [numbers.any_tokens(column) for column in columns(context, self.context, like)]
        if self.greens == "independent" or self._needs_own:
            tokens = numbers.all_tokens(size, like, own=self._needs_own)
            seed = self._seed(before, tokens)
            if self.greens == "independent":
                return numbers.is_below(seed, tokens, self._threshold)
            return numbers.is_placed_below(seed, tokens, self._green)
        # There is one list, and all of it is wanted.
        seed = self._seed(before, numbers.all_tokens(0, like))
        return numbers.are_placed_below(seed, size, like, self._green)
