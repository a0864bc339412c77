"""What the schemes with green lists share: some tokens are green, and these are made likelier.

Kirchenbauer et al., "A Watermark for Large Language Models" (2023). The schemes differ only in what
a token's list is drawn from.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import cached_property
from math import exp
from typing import ClassVar, Literal, get_args

import numpy as np
from array_api_compat import array_namespace

from ..errors import SettingsError
from .base import Array
from .evidence import Evidence, draws
from .keyed import BITS, Key, Words, number, place
from .settings import a_number
from .significance import ExactGreens, Greens
from .tokens import SomeIds, contexts, words_like

Greening = Literal["independent", "exact"]


class GreenList(ABC):
    """A scheme with green lists.

    Args:
        key: 16 to 64 secret bytes, or their hex digits as a str.
        vocab_size: of the tokenizer.
        gamma: share of the tokens that are green; above 0, below 1.
        delta: what is added to the logits of green tokens; above 0.
        greens: `independent`: each token is green with probability gamma, by a coin of its own;
            `exact`: of every list floor(gamma vocab_size) tokens are green, which costs ten times
            as much time when writing.

    Attributes:
        name, context, null: see `ticore.schemes.Readable`.

    Raises:
        SettingsError: gamma, delta or greens is out of range, or no token would be green, or all.
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
    ) -> None:
        gamma = a_number("gamma", gamma, above=0, below=1)
        if greens not in get_args(Greening):
            raise SettingsError(f"greens: expected independent or exact, found {greens!r}")
        self.vocab_size = vocab_size
        self.gamma = gamma
        self.delta = a_number("delta", delta, above=0, below=100)
        self.greens = greens
        self._key = Key.derive(key, f"ticore watermark {self.name}")
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
        tokens = words_like(xp.arange(size), logits)
        before = words_like(context, logits)[..., None, :]
        green = self._is_green(self._seeds(before, tokens), tokens)
        added = xp.astype(green, logits.dtype) * self.delta
        if size == logits.shape[-1]:
            return logits + added
        return xp.concat([logits[..., :size] + added, logits[..., size:]], axis=-1)

    def evidence(self, ids: SomeIds) -> Evidence:
        """Scores 1 for green tokens and 0 for others; see `Readable`."""
        before, tokens, positions = contexts(ids, self.context, self.vocab_size)
        seeds = np.broadcast_to(self._seeds(before, tokens), tokens.shape)
        scores = self._is_green(seeds, tokens).astype(np.float64)
        wide = seeds.astype(np.int64)
        return Evidence(positions, wide, draws(wide, tokens.astype(np.int64)), scores)

    @abstractmethod
    def _seeds(self, before: Words, tokens: Words) -> Words:
        """What each token's list is drawn from.

        Args:
            before: words[..., context], the tokens before each.
            tokens: words, of a shape that this one broadcasts to.
        """

    def _is_green(self, seeds: Words, tokens: Words) -> Array:
        if self.greens == "independent":
            return number(seeds, tokens) < self._threshold
        return place(seeds, tokens, self.vocab_size) < self._green
